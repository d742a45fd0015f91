#include "core/learn/learner.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/dir_walk.h"
#include "core/base/file.h"
#include "core/base/prng.h"
#include "core/learn/build.h"
#include "core/learn/prior.h"
#include "core/learn/vector_store.h"

enum { FOLDER_MODE = 02750, SCRATCH = 64 << 10, US_PER_S = 1000000 };

#define RATED_SHARE 0.001 /* model.url_false_positives, of the term of an example */

struct learner {
    struct filelock lock;
    char dir[FILE_PATH_MAX];
    char model_path[FILE_PATH_MAX];
    char prior_path[FILE_PATH_MAX]; /* empty: the model does without a prior */
    pthread_mutex_t
        writing; /* guards: store, weights, random, since, is_dirty, has_prior;
                                taken before reading */
    struct store store;
    struct weights weights;
    struct prng random;
    bool has_prior;          /* the prior is in data, or the model does without one */
    unsigned since;          /* examples since the thresholds were measured */
    bool is_dirty;           /* the model's file is older than the model */
    pthread_mutex_t reading; /* guards: *data; a leaf */
    struct model_data *data;
};

const char *learner_source_name(enum learner_source source)
{
    static const char *const names[LEARNER_SOURCES] = {
        "report", "train", "trap", "listed", "outgoing", "known", "newsletters"};
    return source < LEARNER_SOURCES ? names[source] : "unknown";
}

/* The writing lock is held, or nobody else has l. */
static enum err calibrate(struct learner *l)
{
    struct model_kind *fresh = calloc(VECTOR_KINDS + 1, sizeof(*fresh));
    enum err e = fresh != NULL ? build_windows(l->data, &l->store, fresh) : ERR_NOMEM;
    l->since = 0;
    (void)pthread_mutex_lock(&l->reading);
    for (unsigned k = 0; e == ERR_OK && k < VECTOR_KINDS; k++) {
        l->data->head.kind[k].window = fresh[k].window;
        l->data->head.kind[k].odds = fresh[k].odds;
    }
    if (e == ERR_OK) {
        l->data->head.urls.window = fresh[VECTOR_KINDS].window;
        l->data->head.urls.odds = fresh[VECTOR_KINDS].odds;
    }
    (void)pthread_mutex_unlock(&l->reading);
    free(fresh);
    return e;
}

/* Likewise. */
static enum err rebuild(struct learner *l)
{
    enum err e = build_weights(&l->weights, l->data, &l->store);
    (void)pthread_mutex_lock(&l->reading);
    THEN(e, build_publish(&l->weights, &l->store, l->data));
    (void)pthread_mutex_unlock(&l->reading);
    THEN(e, calibrate(l));
    l->is_dirty = true;
    return e;
}

static enum err refuse_prior(const struct learner *l, enum err e, const char *why,
                             struct errinfo *reterr)
{
    return errinfo_set(reterr, e, l->prior_path, 0,
                       "the prior cannot be used (%s), and the model does without it; "
                       "install gillnet again, or change model.prior (empty: none)",
                       why);
}

/* Reads the prior into l. The writing lock is held, or nobody else has l. */
static enum err take_prior(struct learner *l, struct errinfo *reterr)
{
    struct errinfo why = {.code = ERR_OK};

    if (l->has_prior) {
        return ERR_OK;
    }
    if (access(l->prior_path, F_OK) != 0) { /* asked each second: without memory */
        return refuse_prior(l, ERR_NOT_FOUND, "no such file", reterr);
    }
    struct model_data *read = calloc(1, sizeof(*read));
    if (read == NULL) {
        return errinfo_nomem(reterr, l->prior_path);
    }
    enum err e = prior_read(l->prior_path, read, &why);
    if (e != ERR_OK) {
        free(read);
        return refuse_prior(l, e, why.text, reterr);
    }
    (void)pthread_mutex_lock(&l->reading);
    memcpy(l->data->prior, read->prior, sizeof(l->data->prior));
    l->data->prior_unit = read->prior_unit;
    for (unsigned k = 0; k < VECTOR_KINDS; k++) {
        l->data->head.kind[k].prior = read->head.kind[k].prior;
    }
    (void)pthread_mutex_unlock(&l->reading);
    free(read);
    l->has_prior = true;
    return ERR_OK;
}

static enum err take_folder(struct learner *l, const char *state_dir,
                            struct errinfo *reterr)
{
    char *dir = l->dir;
    char path[FILE_PATH_MAX];
    enum err e = path_make(l->dir, reterr, "%s/%s", state_dir, STATE_MODEL_DIR);
    THEN(e, file_make_dir(dir, FOLDER_MODE, reterr));
    THEN(e, path_make(path, reterr, "%s/LOCK", dir));
    THEN(e, filelock_take(&l->lock, path, reterr));
    THEN(e, file_sweep_temps(dir, reterr));
    THEN(e, path_make(l->model_path, reterr, "%s/%s", state_dir, STATE_MODEL_FILE));
    THEN(e, path_make(path, reterr, "%s/vectors", dir));
    THEN(e, store_open(&l->store, path, reterr));
    return e;
}

/* Takes the files of the inbox, then removes them: what a crash leaves is in the store already, and
 * is not learnt twice. The writing lock is held, or nobody else has l. */
static bool take_inbox(struct learner *l)
{
    char path[FILE_PATH_MAX];
    bool is_changed = false;
    struct dir_walk w = dir_walk_begin(l->dir, DIR_OPTIONAL);
    while (dir_walk_next(&w)) {
        if (strncmp(w.name, "inbox.", sizeof "inbox." - 1) != 0 ||
            slice_has_suffix_nocase(slice_str(w.name), SLICE_LIT(FILE_TEMP_SUFFIX)) ||
            path_make(path, NULL, "%s/%s", l->dir, w.name) != ERR_OK) {
            continue;
        }
        is_changed = store_take_inbox(&l->store, path) || is_changed;
        if (store_save(&l->store, NULL) == ERR_OK) {
            (void)unlink(path);
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    return is_changed;
}

enum err learner_open(const char *state_dir, const struct learner_options *options,
                      struct learner **ret, struct errinfo *reterr)
{
    struct learner *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        return errinfo_nomem(reterr, state_dir);
    }
    l->lock.fd = -1;
    prng_init(&l->random, 1, 0);
    (void)pthread_mutex_init(&l->writing, NULL);
    (void)pthread_mutex_init(&l->reading, NULL);
    l->data = calloc(1, sizeof(*l->data));
    enum err e = l->data != NULL ? ERR_OK : errinfo_nomem(reterr, state_dir);
    THEN(e, weights_init(&l->weights));
    l->has_prior = options->prior == NULL || *options->prior == '\0';
    if (!l->has_prior) {
        THEN(e, prior_path(l->prior_path, options->prior, reterr));
    }
    THEN(e, take_folder(l, state_dir, reterr));
    if (e == ERR_OK) {
        (void)take_prior(l, NULL); /* learner_prior says why */
        (void)take_inbox(l);
        e = rebuild(l);
        /* without examples the model is the prior alone, and readers need no file */
        l->is_dirty = l->store.n > 0 || access(l->model_path, F_OK) == 0;
    }
    if (e != ERR_OK) {
        l->is_dirty = false;
        learner_close(&l);
        return e;
    }
    *ret = l;
    return ERR_OK;
}

void learner_close(struct learner **l)
{
    if (*l == NULL) {
        return;
    }
    struct learner *o = *l;
    if (o->is_dirty) {
        (void)learner_tick(o, NULL);
    }
    store_close(&o->store);
    weights_fini(&o->weights);
    free(o->data);
    filelock_drop(&o->lock);
    (void)pthread_mutex_destroy(&o->writing);
    (void)pthread_mutex_destroy(&o->reading);
    free(o);
    *l = NULL;
}

/* ---- examples ---- */

/* The example with the rating of its URLs as a term, by the model before it. The bytes are in to,
 * or as they were. The writing lock is held. */
static struct slice rate_urls(struct learner *l, struct slice vector,
                              struct arena *scratch, struct buf *to)
{
    static const struct model_options options = {.url_false_positives = RATED_SHARE};
    struct model_answer answer = {.nurls = 0};
    uint32_t room[VECTOR_TERMS];
    struct vector v;

    if (vector_decode(scratch, vector, &v) != ERR_OK || v.nurls == 0) {
        return vector;
    }
    size_t n = v.n;
    model_judge_urls(l->data, &options, &v, room, &answer);
    return v.n > n && vector_encode(&v, to) ? buf_slice(to) : vector;
}

/* The writing lock is held. */
static enum err keep_example(struct learner *l, const struct learner_example *e,
                             struct arena *scratch, struct vector *ret)
{
    if (e->number != 0 && e->number <= l->store.applied) {
        return ERR_EXISTS;
    }
    enum err err = vector_decode(scratch, e->vector, ret);
    if (err == ERR_OK && store_add(&l->store, e) == NULL) {
        err = ERR_NOMEM;
    }
    return err;
}

/* Learns a few older examples again, of both classes by turns, none with more than one message's
 * weight. */
static void replay(struct learner *l, struct arena *scratch)
{
    for (unsigned i = 0; i < LEARNER_REPLAY && l->store.n > 0; i++) {
        const struct kept *k = NULL;
        for (unsigned j = 0; j < LEARNER_REPLAY; j++) {
            k = &l->store.kept[prng_below(&l->random, l->store.n)];
            if (k->is_spam == i % 2) {
                break;
            }
        }
        struct vector v;
        if (vector_decode(scratch, slice_of(k->bytes, k->n), &v) == ERR_OK) {
            weights_learn(&l->weights, &v, k->is_spam, fminf(k->weight, 1));
            (void)pthread_mutex_lock(&l->reading);
            build_publish_terms(&l->weights, &v, l->data);
            (void)pthread_mutex_unlock(&l->reading);
        }
        arena_reset(scratch);
    }
}

/* The writing lock is held. v is in scratch. */
static void learn_example(struct learner *l, const struct learner_example *e,
                          const struct vector *v, struct arena *scratch)
{
    struct vector again;
    weights_learn(&l->weights, v, e->is_spam, e->weight);
    (void)pthread_mutex_lock(&l->reading);
    build_publish_terms(&l->weights, v, l->data);
    build_count(l->data, v, e->is_spam, e->weight);
    struct model_kind *k = &l->data->head.kind[v->kind];
    *(e->is_spam ? &k->nspam : &k->nham) += 1;
    *(e->is_spam ? &l->data->head.nspam : &l->data->head.nham) += 1;
    l->data->head.applied = l->store.applied;
    (void)pthread_mutex_unlock(&l->reading);
    arena_reset(scratch);
    replay(l, scratch);
    if (vector_decode(scratch, e->vector, &again) == ERR_OK) {
        weights_learn(&l->weights, &again, e->is_spam, e->weight);
        (void)pthread_mutex_lock(&l->reading);
        build_publish_terms(&l->weights, &again, l->data);
        (void)pthread_mutex_unlock(&l->reading);
    }
    l->since++;
    l->is_dirty = true;
}

enum err learner_add(struct learner *l, const struct learner_example *example)
{
    struct arena *scratch = arena_new(SCRATCH);
    struct learner_example rated = *example;
    struct buf bytes;
    struct vector v;
    if (scratch == NULL) {
        return ERR_NOMEM;
    }
    buf_init(&bytes, VECTOR_BYTES);
    (void)pthread_mutex_lock(&l->writing);
    rated.vector = rate_urls(l, example->vector, scratch, &bytes);
    arena_reset(scratch);
    enum err e = keep_example(l, &rated, scratch, &v);
    if (e == ERR_OK) {
        learn_example(l, &rated, &v, scratch);
    }
    (void)pthread_mutex_unlock(&l->writing);
    buf_fini(&bytes);
    arena_free(&scratch);
    return e;
}

enum err learner_put(struct learner *l, const struct learner_example *example)
{
    struct arena *scratch = arena_new(SCRATCH);
    struct vector v;
    if (scratch == NULL) {
        return ERR_NOMEM;
    }
    (void)pthread_mutex_lock(&l->writing);
    enum err e = keep_example(l, example, scratch, &v);
    (void)pthread_mutex_unlock(&l->writing);
    arena_free(&scratch);
    return e;
}

enum err learner_rebuild(struct learner *l)
{
    (void)pthread_mutex_lock(&l->writing);
    enum err e = rebuild(l);
    (void)pthread_mutex_unlock(&l->writing);
    return e;
}

enum err learner_calibrate(struct learner *l)
{
    (void)pthread_mutex_lock(&l->writing);
    enum err e = calibrate(l);
    (void)pthread_mutex_unlock(&l->writing);
    return e;
}

enum err learner_remove(struct learner *l, uint64_t number)
{
    enum err e = ERR_NOT_FOUND;
    (void)pthread_mutex_lock(&l->writing);
    if (store_remove(&l->store, number)) {
        e = rebuild(l);
    }
    (void)pthread_mutex_unlock(&l->writing);
    return e;
}

size_t learner_remove_source(struct learner *l, enum learner_source source)
{
    (void)pthread_mutex_lock(&l->writing);
    size_t n = store_remove_source(&l->store, source);
    if (n > 0) {
        (void)rebuild(l);
    }
    (void)pthread_mutex_unlock(&l->writing);
    return n;
}

enum err learner_prior(struct learner *l, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    (void)pthread_mutex_lock(&l->writing);
    if (!l->has_prior) {
        e = take_prior(l, reterr);
        THEN(e, rebuild(l));
    }
    (void)pthread_mutex_unlock(&l->writing);
    return e;
}

uint64_t learner_applied(struct learner *l)
{
    (void)pthread_mutex_lock(&l->writing);
    uint64_t applied = l->store.applied;
    (void)pthread_mutex_unlock(&l->writing);
    return applied;
}

void learner_counts(struct learner *l, uint32_t ret[VECTOR_KINDS][2])
{
    (void)pthread_mutex_lock(&l->writing);
    memcpy(ret, l->store.count, sizeof(l->store.count));
    (void)pthread_mutex_unlock(&l->writing);
}

/* ---- the model ---- */

void learner_judge(struct learner *l, const struct model_options *options,
                   const struct vector *v, struct model_answer *ret)
{
    (void)pthread_mutex_lock(&l->reading);
    model_judge(l->data, options, v, ret);
    (void)pthread_mutex_unlock(&l->reading);
}

enum err learner_tick(struct learner *l, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    (void)pthread_mutex_lock(&l->writing);
    if (take_inbox(l)) {
        e = rebuild(l);
    } else if (l->since >= LEARNER_CALIBRATE) {
        e = calibrate(l);
    } else {
        /* the windows are new enough */
    }
    if (l->is_dirty) {
        l->data->head.time_s = clock_wall_us() / US_PER_S;
        THEN(e, store_save(&l->store, reterr));
        THEN(e, model_write(l->model_path, l->data, reterr));
        l->is_dirty = e != ERR_OK;
    }
    (void)pthread_mutex_unlock(&l->writing);
    return e;
}

const struct model_data *learner_model(const struct learner *l)
{
    return l->data;
}
