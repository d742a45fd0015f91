/* subscribe_round - the requests to a publisher's web server and its mirrors, one after the
 * other. */
#include "core/base/clock.h"
#include "core/base/dir_walk.h"
#include "core/base/log.h"
#include "core/hub/fetch/subscribe_internal.h"

static void add_traffic(struct subscribe *s, struct follower *f,
                        const struct fetch_answer *a, unsigned objects)
{
    (void)pthread_mutex_lock(&s->mutex);
    f->bytes += a->bytes;
    f->objects += objects;
    (void)pthread_mutex_unlock(&s->mutex);
}

static enum err url_of(const struct follower *f, unsigned place, const char *path,
                       char ret[FETCH_URL_MAX], struct errinfo *reterr)
{
    const char *url = f->config->urls.v[place];
    int n = snprintf(ret, FETCH_URL_MAX, "%s/%s", url, path);

    return n < FETCH_URL_MAX
               ? ERR_OK
               : errinfo_set(reterr, ERR_LIMIT, url, 0, "the address is too long");
}

/* answer->etag: of the known body, or "". */
static enum err get(struct subscribe *s, struct follower *f, const char *url,
                    struct buf *ret, struct fetch_answer *answer,
                    struct errinfo *reterr)
{
    const struct fetch_answer known = *answer;
    enum err e = fetch_small(&s->fetch, url, known.etag, ret, answer, reterr);

    add_traffic(s, f, answer, 0);
    return e;
}

/* The key, and then the heads again. */
static enum subscription_answer get_key(struct subscribe *s, struct follower *f,
                                        unsigned place, struct slice heads,
                                        struct errinfo *reterr)
{
    struct fetch_answer answer = {.etag = ""};
    char url[FETCH_URL_MAX];
    struct buf key;
    enum subscription_answer a = SUBSCRIPTION_REFUSED;

    buf_init(&key, REPOSITORY_KEY_BYTES);
    if (url_of(f, place, "v1/key", url, reterr) == ERR_OK &&
        get(s, f, url, &key, &answer, reterr) == ERR_OK &&
        subscription_key(f->subscription, buf_slice(&key), reterr) == ERR_OK) {
        a = subscription_hear(f->subscription, place, heads, reterr);
    }
    buf_fini(&key);
    return a;
}

/* Gets the heads of one place. ERR_OK: they are signed, new or old. */
static enum err hear(struct subscribe *s, struct follower *f, unsigned place,
                     struct errinfo *reterr)
{
    struct fetch_answer answer = {.status = 0};
    char url[FETCH_URL_MAX];
    struct buf heads;
    enum subscription_answer a = SUBSCRIPTION_REFUSED;

    buf_init(&heads, REPOSITORY_HEADS_BYTES);
    memcpy(answer.etag, f->etag[place], sizeof(answer.etag));
    enum err e = url_of(f, place, "v1/heads", url, reterr);
    THEN(e, get(s, f, url, &heads, &answer, reterr));
    if (e == ERR_OK && answer.status == FETCH_NOT_MODIFIED) {
        subscription_hear_same(f->subscription, place);
        a = SUBSCRIPTION_SAME;
    } else if (e == ERR_OK) {
        a = subscription_hear(f->subscription, place, buf_slice(&heads), reterr);
        if (a == SUBSCRIPTION_KEY) {
            a = get_key(s, f, place, buf_slice(&heads), reterr);
        }
        f->etag[place][0] = '\0';
        if (a == SUBSCRIPTION_NEWER || a == SUBSCRIPTION_SAME) {
            memcpy(f->etag[place], answer.etag, sizeof(answer.etag));
        }
    }
    buf_fini(&heads);
    log_debug("event=subscribe name=%s place=%u heads=%s", f->config->name, place,
              e == ERR_OK ? subscription_answer_name(a) : "none");
    return e != ERR_OK ? e : a == SUBSCRIPTION_REFUSED ? ERR_DENIED : ERR_OK;
}

/* ---- objects ---- */

static enum err take_small(struct subscribe *s, struct follower *f, unsigned place,
                           const struct subscription_want *w, struct errinfo *reterr)
{
    struct fetch_answer answer = {.etag = ""};
    char url[FETCH_URL_MAX];
    struct buf object;

    buf_init(&object, (size_t)w->most_bytes);
    enum err e = url_of(f, place, w->path, url, reterr);
    THEN(e, get(s, f, url, &object, &answer, reterr));
    if (e == ERR_OK) {
        e = subscription_take(f->subscription, buf_slice(&object), reterr);
        add_traffic(s, f, &(struct fetch_answer){.bytes = 0}, 1);
        e = e == ERR_OK ? ERR_OK : ERR_CORRUPT; /* other places are not tried */
    }
    buf_fini(&object);
    return e;
}

/* STREAM-SEQ.part in the subscription's folder. Removes the parts of other objects. */
static enum err part_path(const struct subscribe *s, const struct follower *f,
                          const struct subscription_want *want, char ret[FILE_PATH_MAX],
                          struct errinfo *reterr)
{
    char name[REPOSITORY_PATH_MAX + 8];
    char dir[FILE_PATH_MAX];

    (void)snprintf(name, sizeof(name), "%s.part", want->path + strlen("v1/s/"));
    for (char *p = name; *p != '\0'; p++) {
        if (*p == '/') {
            *p = '-';
        }
    }
    enum err e = path_make(dir, reterr, "%s/%s", s->dir, f->config->name);
    THEN(e, path_make(ret, reterr, "%s/%s", dir, name));
    if (e != ERR_OK) {
        return e;
    }
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);
    while (dir_walk_next(&w)) {
        char other[FILE_PATH_MAX];

        if (slice_has_suffix_nocase(slice_str(w.name), SLICE_LIT(".part")) &&
            strcmp(w.name, name) != 0 &&
            path_make(other, NULL, "%s/%s", dir, w.name) == ERR_OK) {
            (void)unlink(other);
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    return ERR_OK;
}

static enum err take_large(struct subscribe *s, struct follower *f, unsigned place,
                           const struct subscription_want *w, struct errinfo *reterr)
{
    struct fetch_answer answer = {.status = 0};
    struct filemap map = {.p = NULL};
    char url[FETCH_URL_MAX];
    char path[FILE_PATH_MAX];
    enum err e = url_of(f, place, w->path, url, reterr);

    THEN(e, part_path(s, f, w, path, reterr));
    if (e == ERR_OK) {
        e = fetch_large(&s->fetch, url, path, w->most_bytes, &answer, reterr);
        add_traffic(s, f, &answer, 0);
    }
    THEN(e, filemap_open(&map, path, FILEMAP_READ, reterr));
    if (e != ERR_OK) {
        return e;
    }
    e = subscription_take(f->subscription, slice_of((const char *)map.p, map.n),
                          reterr);
    THEN(e, filemap_check(&map, path, reterr));
    filemap_close(&map);
    (void)unlink(path);
    add_traffic(s, f, &(struct fetch_answer){.bytes = 0}, 1);
    return e == ERR_OK ? ERR_OK : ERR_CORRUPT;
}

/* Tries the place with the newest heads first, then the others: objects never change. False: no
 * place has it, or it was refused. */
static bool take_object(struct subscribe *s, struct follower *f,
                        const struct subscription_want *w)
{
    const unsigned n = (unsigned)f->config->urls.n;
    struct errinfo why = {.text = ""};

    for (unsigned i = 0; i < n && !atomic_load(&s->stop); i++) {
        unsigned place = (w->place + i) % n;
        enum err e = w->is_snap ? take_large(s, f, place, w, &why)
                                : take_small(s, f, place, w, &why);
        if (e == ERR_OK) {
            return true;
        }
        if (e == ERR_CORRUPT) {
            return false; /* the subscription has the reason */
        }
        log_debug("event=subscribe name=%s place=%u object=%s error=\"%s\"",
                  f->config->name, place, w->path, why.text);
    }
    subscription_give_up(f->subscription);
    return false;
}

enum err subscribe_round(struct subscribe *s, struct follower *f,
                         struct errinfo *reterr)
{
    const unsigned n = (unsigned)f->config->urls.n;
    struct subscription_want want;
    struct errinfo why = {.text = ""};
    struct errinfo last = {.text = ""};
    unsigned answered = 0;

    subscription_begin(f->subscription, clock_wall_us() / 1000);
    for (unsigned i = 0; i < n && !atomic_load(&s->stop); i++) {
        if (hear(s, f, i, &why) == ERR_OK) {
            answered++;
        } else {
            last = why;
        }
    }
    while (!atomic_load(&s->stop) && subscription_wants(f->subscription, &want)) {
        (void)take_object(s, f, &want);
    }
    enum err e = subscription_end(f->subscription, reterr);
    if (e == ERR_OK && answered == 0) {
        *reterr = last;
        e = last.code != ERR_OK ? last.code : ERR_IO;
    }
    return e;
}
