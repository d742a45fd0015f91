/* lookup - values in bulk against the lists on disk. */
#include "core/cli/lookup.h"

#include "core/base/clock.h"
#include "core/list/rating_input.h"

struct lookup {
    struct query_lists lists;
    struct query_list *v;
    lookup_match_fn *on_match;
    void *context;
    struct query *ask;
};

struct lookup *lookup_new(const struct state_lists *lists, lookup_match_fn *on_match,
                          void *context)
{
    struct lookup *l = calloc(1, sizeof(*l));

    if (l == NULL) {
        return NULL;
    }
    l->on_match = on_match;
    l->context = context;
    l->ask = query_new();
    l->v = calloc(lists->n + 1, sizeof(*l->v));
    if (l->ask == NULL || l->v == NULL) {
        lookup_free(&l);
        return NULL;
    }
    const struct rating_sources voices = {.config = lists->config, .view = lists->hits};

    for (size_t i = 0; i < lists->n; i++) {
        const struct list_reader *r = lists->v[i];
        const char *origin = i < lists->nown ? NULL : lists->origin[i];

        l->v[i] = (struct query_list){
            .reader = r,
            .origin = origin,
            .share = ask_share(lists->config, slice_str(list_reader_name(r)), origin),
            .voice = rating_input_of(&voices, r)};
    }
    l->lists = (struct query_lists){.v = l->v,
                                    .n = lists->n,
                                    .nown = lists->nown,
                                    .nlists = lists->nlists,
                                    .config = lists->config,
                                    .derived = lists->derived};
    query_begin(l->ask, &l->lists);
    return l;
}

void lookup_free(struct lookup **l)
{
    if (*l != NULL) {
        query_free(&(*l)->ask);
        free((*l)->v);
        free(*l);
        *l = NULL;
    }
}

static bool is_shown(const struct query_match *m)
{
    return m->answer != LIST_FALSE_POSITIVE;
}

/* False stops. */
static bool show_result(struct lookup *l, const struct query_result *r)
{
    size_t left = 0;

    for (size_t i = 0; i < r->n; i++) {
        left += is_shown(&r->v[i]);
    }
    if (left == 0) {
        struct lookup_match none = {
            .value = r->value, .standing = &r->standing, .is_last = true};
        return l->on_match(l->context, &none);
    }
    for (size_t i = 0; i < r->n; i++) {
        const struct query_match *f = &r->v[i];
        const struct query_list *its = &l->v[f->list];

        if (!is_shown(f)) {
            continue;
        }
        struct lookup_match m = {.value = r->value,
                                 .list = list_reader_name(its->reader),
                                 .origin = its->origin,
                                 .silence = f->silence,
                                 .has_weight = its->share > 0,
                                 .answer = f->answer,
                                 .class_type = f->key->class_type,
                                 .key = f->key->text,
                                 .from = &f->from,
                                 .standing = &r->standing,
                                 .is_last = --left == 0};
        if (!l->on_match(l->context, &m)) {
            return false;
        }
    }
    return true;
}

static enum err ask_batch(struct lookup *l)
{
    uint64_t now_s = clock_wall_us() / 1000000;
    enum err e = ERR_OK;

    query_test(l->ask);
    for (size_t i = 0; i < query_count(l->ask) && e == ERR_OK; i++) {
        struct query_result r;

        e = query_answer(l->ask, i, now_s, &r);
        if (e == ERR_OK && !show_result(l, &r)) {
            e = ERR_TIMEOUT;
        }
    }
    query_begin(l->ask, &l->lists);
    return e;
}

enum err lookup_add(struct lookup *l, struct slice value, struct errinfo *reterr)
{
    enum err e = query_add(l->ask, value, FEATURE_NONE, reterr);

    return e == ERR_OK && query_is_full(l->ask) ? ask_batch(l) : e;
}

enum err lookup_finish(struct lookup *l)
{
    return query_count(l->ask) == 0 ? ERR_OK : ask_batch(l);
}
