/*
 * level - an unchanged level is never opened twice, because opening a large one is expensive.
 */
#include "core/list/level.h"

static bool is_failure(enum err e)
{
    return e == ERR_DENIED || e == ERR_NOMEM;
}

static enum err open_index(struct level *l, const char *dir, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = list_file_path(path, dir, LIST_FILE_INDEX, l->names.number, reterr);
    if (e != ERR_OK) {
        return e;
    }
    l->index_mark = file_mark_of(path);
    e = index_open(path, &l->index, &l->index_why);
    if (e != ERR_OK) {
        l->index = NULL;
        l->index_why.code = e;
    }
    return is_failure(e)
               ? errinfo_set(reterr, e, l->index_why.source, 0, "%s", l->index_why.text)
               : ERR_OK;
}

enum bloomfile_hold level_base_hold(const char *path, enum bloomfile_hold hold)
{
    struct bloomfile_shape shape;
    if (hold != BLOOMFILE_REMOTE ||
        bloomfile_peek(path, NULL, &shape, NULL) != ERR_OK ||
        shape.nlines < LEVEL_REMOTE_LINES) {
        return hold == BLOOMFILE_REMOTE ? BLOOMFILE_COPY : hold;
    }
    return bloom_is_of_lines(shape.layout) ? BLOOMFILE_REMOTE : BLOOMFILE_MAP;
}

bool level_is_remote(const struct level *l)
{
    return l->has_base && l->base.hold == BLOOMFILE_REMOTE;
}

bool level_is_damaged(const struct level *l)
{
    return (l->index && index_is_damaged(l->index)) ||
           (l->has_base && bloomfile_is_damaged(&l->base));
}

static enum err open_base(struct level *l, const struct level_open *how,
                          struct errinfo *reterr)
{
    struct bloomfile_want want = {.key = how->node,
                                  .other_key = how->digest,
                                  .digest_key = how->key_id,
                                  .role = BLOOMFILE_BASE};
    char path[FILE_PATH_MAX];
    enum err e =
        list_file_path(path, how->dir, LIST_FILE_BASE, l->names.number, reterr);
    if (e != ERR_OK) {
        return e;
    }
    want.hold = level_base_hold(path, how->hold);
    l->base_mark = file_mark_of(path);
    e = bloomfile_open(&l->base, path, &want, &l->base_why);
    l->has_base = e == ERR_OK;
    return is_failure(e)
               ? errinfo_set(reterr, e, l->base_why.source, 0, "%s", l->base_why.text)
               : ERR_OK;
}

/* Without a sound prefilter the base answers alone. */
static void open_front(struct level *l, const struct level_open *how)
{
    char path[FILE_PATH_MAX];
    struct bloomfile_want want = {.key = how->node,
                                  .other_key = how->digest,
                                  .digest_key = how->key_id,
                                  .role = BLOOMFILE_BASE,
                                  .hold = BLOOMFILE_COPY};
    if (how->has_front && l->has_base &&
        list_file_path(path, how->dir, LIST_FILE_FRONT, l->names.number, NULL) ==
            ERR_OK) {
        enum err e = bloomfile_open(&l->front, path, &want, &l->front_why);
        l->has_front = e == ERR_OK;
        l->front_why.code = e;
    }
}

enum err level_open(const struct level_open *how, const struct list_level *names,
                    struct level **ret, struct errinfo *reterr)
{
    struct level *l = calloc(1, sizeof(*l));
    if (!l) {
        return errinfo_nomem(reterr, how->dir);
    }
    l->users = 1;
    l->names = *names;
    l->hold = how->hold;
    enum err e = open_index(l, how->dir, reterr);
    THEN(e, open_base(l, how, reterr));
    open_front(l, how);
    if (e != ERR_OK) {
        level_release(&l);
        return e;
    }
    *ret = l;
    return ERR_OK;
}

struct level *level_share(struct level *l, const char *dir, enum bloomfile_hold hold)
{
    if (!l->index || !l->has_base || l->hold != hold ||
        !list_file_is_same(&l->index_mark, dir, LIST_FILE_INDEX, l->names.number) ||
        !list_file_is_same(&l->base_mark, dir, LIST_FILE_BASE, l->names.number)) {
        return NULL;
    }
    __atomic_fetch_add(&l->users, 1, __ATOMIC_RELAXED);
    return l;
}

void level_release(struct level **l)
{
    /* acquire and release: the closing thread sees all earlier uses */
    if (*l && __atomic_sub_fetch(&(*l)->users, 1, __ATOMIC_ACQ_REL) == 0) {
        index_close(&(*l)->index);
        bloomfile_close(&(*l)->base);
        bloomfile_close(&(*l)->front);
        free(*l);
    }
    *l = NULL;
}

struct merged_index levels_stack(struct level *const *level, uint32_t n)
{
    struct merged_index s = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (level[i] && level[i]->index) {
            s.index[s.n++] = level[i]->index;
        }
    }
    return s;
}

/* Tests in the base only the digests that pass the prefilter. */
static void test_behind(const struct level *l, const struct digest *d, size_t n,
                        uint8_t *rethit)
{
    struct digest passed[LEVEL_BATCH];
    uint8_t at[LEVEL_BATCH];
    uint8_t hit[LEVEL_BATCH];
    size_t npassed = 0;
    bloom_test_batch(&l->front.bloom, d, n, hit);
    for (size_t i = 0; i < n; i++) {
        if (hit[i] && !rethit[i]) {
            at[npassed] = (uint8_t)i;
            passed[npassed++] = d[i];
        }
    }
    bloom_test_batch(&l->base.bloom, passed, npassed, hit);
    for (size_t i = 0; i < npassed; i++) {
        rethit[at[i]] |= hit[i];
    }
}

_Static_assert(LEVEL_BATCH <= UINT8_MAX + 1, "places fit a byte");

void level_test(const struct level *l, const struct digest *d, size_t n,
                uint8_t *rethit)
{
    uint8_t hit[LEVEL_BATCH];
    if (l->has_front) {
        test_behind(l, d, n, rethit);
        return;
    }
    if (level_is_remote(l)) {
        return;
    }
    bloom_test_batch(&l->base.bloom, d, n, hit);
    for (size_t i = 0; i < n; i++) {
        rethit[i] |= hit[i];
    }
}
