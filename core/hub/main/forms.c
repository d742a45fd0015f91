/* forms - a thread that looks at CURRENT of each list. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/main/hub_internal.h"
#include "core/list/configured.h"

enum { NAMES_ARENA = 256 * 1024, FORMS_NICE = 5 };

struct forms {
    pthread_t thread;
    pthread_mutex_t mutex; /* guards config */
    pthread_cond_t wake;
    atomic_bool stops;
    struct config *config;
    uint64_t again_mono_us; /* after a failure */
};

/* Rebuilds the list: opening it for writing does that. */
static void make_anew(struct forms *f, const struct config *config, struct slice name)
{
    struct keyring keys;
    struct list_writer *w = NULL;
    struct errinfo why = {.text = ""};
    const struct list_opening opening = {
        .config = config,
        .keys = &keys,
        .wait = {.most_s = LIST_LOCK_WAIT_S, .stop = &f->stops}};
    enum err e = keyring_load(config->state_dir, &keys, &why);

    THEN(e, list_writer_open_configured(&opening, name, &w, &why));
    list_writer_close(&w);
    explicit_bzero(&keys, sizeof(keys));
    if (e != ERR_OK && !atomic_load(&f->stops)) {
        log_errinfo("list_form", &why);
    }
    if (e != ERR_OK || !list_is_formed(config, name)) {
        f->again_mono_us = clock_mono_us() + (uint64_t)FORMS_AGAIN_S * 1000000;
    }
}

static void rewrite_lists(struct forms *f, const struct config *config)
{
    struct arena *arena = arena_new(NAMES_ARENA);
    struct slice *names = NULL;
    size_t n = 0;

    if (arena != NULL &&
        list_names(config->state_dir, arena, &names, &n, NULL) == ERR_OK) {
        for (size_t i = 0; i < n && !atomic_load(&f->stops); i++) {
            if (clock_mono_us() >= f->again_mono_us &&
                !list_is_formed(config, names[i])) {
                make_anew(f, config, names[i]);
            }
        }
    }
    arena_free(&arena);
}

static void *watch_forms(void *context)
{
    struct forms *f = context;

    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), FORMS_NICE);
    (void)pthread_mutex_lock(&f->mutex);
    while (!atomic_load(&f->stops)) {
        struct config *config = config_acquire(f->config);
        struct timespec until;

        (void)pthread_mutex_unlock(&f->mutex);
        rewrite_lists(f, config);
        config_release(&config);
        (void)pthread_mutex_lock(&f->mutex);
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += FORMS_LOOK_S;
        if (!atomic_load(&f->stops)) {
            (void)pthread_cond_clockwait(&f->wake, &f->mutex, CLOCK_MONOTONIC, &until);
        }
    }
    (void)pthread_mutex_unlock(&f->mutex);
    return NULL;
}

enum err forms_new(const struct config *config, struct forms **ret,
                   struct errinfo *reterr)
{
    struct forms *f = calloc(1, sizeof(*f));

    if (f == NULL) {
        return errinfo_nomem(reterr, "");
    }
    (void)pthread_mutex_init(&f->mutex, NULL);
    (void)pthread_cond_init(&f->wake, NULL);
    f->config = config_acquire(config);
    if (pthread_create(&f->thread, NULL, watch_forms, f) != 0) {
        config_release(&f->config);
        (void)pthread_cond_destroy(&f->wake);
        (void)pthread_mutex_destroy(&f->mutex);
        free(f);
        return errinfo_set(reterr, ERR_NOMEM, "", 0,
                           "the thread that rebuilds lists cannot be started");
    }
    *ret = f;
    return ERR_OK;
}

void forms_renew(struct forms *f, const struct config *config)
{
    struct config *fresh = config_acquire(config);

    (void)pthread_mutex_lock(&f->mutex);
    struct config *old = f->config;

    f->config = fresh;
    (void)pthread_cond_signal(&f->wake);
    (void)pthread_mutex_unlock(&f->mutex);
    config_release(&old);
}

void forms_free(struct forms **f)
{
    struct forms *x = *f;

    if (x == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&x->mutex);
    atomic_store(&x->stops, true);
    (void)pthread_cond_signal(&x->wake);
    (void)pthread_mutex_unlock(&x->mutex);
    (void)pthread_join(x->thread, NULL);
    config_release(&x->config);
    (void)pthread_cond_destroy(&x->wake);
    (void)pthread_mutex_destroy(&x->mutex);
    free(x);
    *f = NULL;
}
