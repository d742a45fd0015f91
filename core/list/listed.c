#include "core/list/listed.h"

#include "core/base/clock.h"
#include "core/list/listset_internal.h"

enum {
    LISTED_ARENA = 8 << 20,
    LISTED_US = 500000 /* of confirmations, all questions of a message together */
};

void listed_init(struct listed *l, struct list_manager *hold)
{
    *l = (struct listed){.hold = hold};
}

void listed_fini(struct listed *l)
{
    arena_free(&l->arena);
    free(l->kept);
    l->kept = NULL;
}

static bool listed_begin(struct listed *l)
{
    if (l->hold != NULL && l->arena == NULL) {
        l->arena = arena_new(LISTED_ARENA);
        l->kept = calloc(LISTSET_MAX, sizeof(*l->kept));
    }
    return l->arena != NULL && l->kept != NULL;
}

/* True if the hit keeps its feature: its list has kept fewer than LISTED_MOST. */
static bool counts(struct listed *l, const struct list_hit *hit)
{
    if ((hit->answer != LIST_CONFIRMED && hit->answer != LIST_POSSIBLE) ||
        l->kept[hit->list] == LISTED_MOST) {
        return false;
    }
    l->kept[hit->list]++;
    return true;
}

/* Hits come by lists; the features are wanted in their own order, each once. */
static size_t in_order(struct listed *l, const struct list_hits *hits, size_t nfeatures,
                       uint32_t *ret)
{
    bool *is_listed = arena_array(l->arena, nfeatures, sizeof(*is_listed));
    size_t n = 0;

    for (size_t i = 0; is_listed != NULL && i < hits->n; i++) {
        is_listed[hits->v[i].feature] =
            counts(l, &hits->v[i]) || is_listed[hits->v[i].feature];
    }
    for (uint32_t i = 0; is_listed != NULL && i < nfeatures; i++) {
        if (is_listed[i]) {
            ret[n++] = i;
        }
    }
    return n;
}

size_t listed_find(void *context, const struct featureset *features, uint32_t *ret)
{
    struct listed *l = context;
    struct list_hits hits = {.lines_us = l->lines_us};
    uint64_t begin_us = clock_mono_us();
    uint64_t left_us = l->used_us < LISTED_US ? LISTED_US - l->used_us : 1;
    size_t n = 0;

    if (!listed_begin(l)) {
        return 0;
    }
    const struct listset *lists = list_manager_acquire(l->hold);
    (void)listset_lookup(lists, features, begin_us + left_us, l->arena, &hits);
    list_manager_release(l->hold, &lists);
    l->used_us += clock_mono_us() - begin_us;
    l->lines_us = hits.lines_us;
    n = in_order(l, &hits, featureset_count(features), ret);
    arena_reset(l->arena);
    return n;
}
