#include "milter/learn.h"

#include <pthread.h>

#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/thread.h"
#include "core/telemetry/stats.h"
#include "core/verdict/verdict.h"

#include "milter/learn_self.h"
#include "milter/learn_url.h"

#define MODEL_FAULT "model"
#define PRIOR_FAULT "prior"

static struct {
    pthread_mutex_t lock; /* guards: learner, is_ending, has_thread */
    pthread_cond_t ends;
    struct learner *learner;
    bool is_ending;
    bool has_thread;
    pthread_t thread;
    bool has_fault;     /* of the thread, and before it of learn_open */
    enum err prior_why; /* why the prior is not in use, as it was said; likewise */
    char state_dir[FILE_PATH_MAX];
    char prior[FILE_PATH_MAX];
} own = {.lock = PTHREAD_MUTEX_INITIALIZER, .ends = PTHREAD_COND_INITIALIZER};

static void show_fault(enum err e, const struct errinfo *why)
{
    char text[STATS_FAULT_TEXT];
    if (e != ERR_OK && !own.has_fault) {
        (void)errinfo_format(why, text, sizeof(text));
        log_warn(
            "event=model error=\"%s\": messages are judged without what was learnt",
            text);
        stats_fault(MODEL_FAULT, text);
    } else if (e == ERR_OK && own.has_fault) {
        stats_fault(MODEL_FAULT, NULL);
    } else {
        return;
    }
    own.has_fault = e != ERR_OK;
}

/* Says once why the prior is not in use, and when it is. A missing file is no fault: the site may
 * not want it. */
static void look_at_prior(struct learner *l)
{
    struct errinfo why = {.code = ERR_OK};
    char text[STATS_FAULT_TEXT];
    enum err e = learner_prior(l, &why);

    if (e == own.prior_why) {
        return;
    }
    (void)errinfo_format(&why, text, sizeof(text));
    if (e == ERR_OK) {
        log_info("event=model prior=read");
    } else {
        log_warn("event=model error=\"%s\"", text);
    }
    stats_fault(PRIOR_FAULT, e == ERR_OK || e == ERR_NOT_FOUND ? NULL : text);
    own.prior_why = e;
}

static void try_open(void)
{
    struct errinfo why = {.code = ERR_OK};
    const struct learner_options options = {.prior = own.prior};
    struct learner *fresh = NULL;
    enum err e = learner_open(own.state_dir, &options, &fresh, &why);
    show_fault(e, &why);
    if (e == ERR_OK) {
        look_at_prior(fresh);
    }
    (void)pthread_mutex_lock(&own.lock);
    own.learner = fresh;
    (void)pthread_mutex_unlock(&own.lock);
}

void learn_open(const struct config *config)
{
    (void)path_make(own.state_dir, NULL, "%s", config->state_dir);
    (void)path_make(own.prior, NULL, "%s", config->model.prior);
    own.is_ending = false;
    own.prior_why = ERR_OK;
    if (config->model.enabled) {
        try_open();
        learn_url_open(own.state_dir);
    }
}

struct learner *learn_learner(void)
{
    (void)pthread_mutex_lock(&own.lock);
    struct learner *l = own.learner;
    (void)pthread_mutex_unlock(&own.lock);
    return l;
}

/* False: the thread is to end. */
static bool wait_a_second(void)
{
    const struct timespec until = thread_deadline(1000);
    (void)pthread_mutex_lock(&own.lock);
    if (!own.is_ending) {
        (void)thread_wait(&own.ends, &own.lock, &until);
    }
    bool goes_on = !own.is_ending;
    (void)pthread_mutex_unlock(&own.lock);
    return goes_on;
}

static void *learn_in_time(void *context)
{
    (void)context;
    while (wait_a_second()) {
        struct learner *l = learn_learner();
        learn_url_tick();
        if (l == NULL) {
            try_open();
            continue;
        }
        struct errinfo why = {.code = ERR_OK};
        learn_self_take(l);
        enum err e = learner_tick(l, &why);
        if (e != ERR_OK || own.has_fault) {
            show_fault(e, &why);
        }
        look_at_prior(l);
    }
    return NULL;
}

bool learn_start(void)
{
    if (own.state_dir[0] == '\0') {
        return true;
    }
    own.has_thread = pthread_create(&own.thread, NULL, learn_in_time, NULL) == 0;
    return own.has_thread;
}

void learn_stop(void)
{
    (void)pthread_mutex_lock(&own.lock);
    own.is_ending = true;
    (void)pthread_cond_broadcast(&own.ends);
    (void)pthread_mutex_unlock(&own.lock);
    if (own.has_thread) {
        (void)pthread_join(own.thread, NULL);
        own.has_thread = false;
    }
}

void learn_close(void)
{
    learn_self_end();
    learn_url_close();
    learner_close(&own.learner);
}

struct vector_reader *learn_reader(const struct config *config, struct arena *arena,
                                   struct extract_limits *limits)
{
    return config->model.enabled ? vector_reader_new(arena, limits) : NULL;
}

const struct model_answer *learn_judge(const struct config *config,
                                       struct vector_reader *r, const struct extract *x,
                                       const struct featureset *set,
                                       struct vector *retvector,
                                       struct model_answer *ret)
{
    struct model_options options;
    struct learner *l = learn_learner();
    if (r == NULL || !vector_reader_finish(r, x, set, retvector) || l == NULL) {
        return NULL;
    }
    verdict_model_options(config, &options);
    learner_judge(l, &options, retvector, ret);
    return ret;
}
