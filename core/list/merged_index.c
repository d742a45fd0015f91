/*
 * merged_index - a few sorted streams; with one level it costs what that level's walk costs.
 */
#include "core/list/merged_index.h"

struct source {
    struct index_walk *walk;
    struct digest digest; /* next */
    struct index_record record;
    bool has;
};

struct stack_walk {
    uint32_t n;
    struct source source[LIST_LEVELS_MAX]; /* oldest first */
};

enum err merged_index_get(const struct merged_index *s, const struct digest *d,
                          struct index_record *ret, uint32_t *retlevel)
{
    enum err e = ERR_NOT_FOUND;
    uint32_t i = s->n;
    while (e == ERR_NOT_FOUND && i > 0) {
        e = index_get(s->index[--i], d, ret);
    }
    if (retlevel) {
        *retlevel = i;
    }
    return e;
}

struct stack_look {
    uint32_t n;
    struct index_walk *walk[LIST_LEVELS_MAX]; /* oldest first */
};

enum err merged_lookup_new(const struct merged_index *s, struct stack_look **ret)
{
    struct stack_look *l = calloc(1, sizeof(*l));
    enum err e = l ? ERR_OK : ERR_NOMEM;
    for (uint32_t i = 0; e == ERR_OK && i < s->n; i++) {
        e = index_walk_new(s->index[i], &l->walk[i]);
        l->n += e == ERR_OK;
    }
    if (e != ERR_OK) {
        merged_lookup_free(&l);
        return e;
    }
    *ret = l;
    return ERR_OK;
}

enum err merged_lookup_get(const struct stack_look *l, const struct digest *d,
                           struct index_record *ret, uint32_t *retlevel)
{
    enum err e = ERR_NOT_FOUND;
    uint32_t i = l->n;
    while (e == ERR_NOT_FOUND && i > 0) {
        e = index_walk_find(l->walk[--i], d, ret);
    }
    if (retlevel) {
        *retlevel = i;
    }
    return e;
}

void merged_lookup_free(struct stack_look **l)
{
    if (*l) {
        for (uint32_t i = 0; i < (*l)->n; i++) {
            index_walk_free(&(*l)->walk[i]);
        }
        free(*l);
    }
    *l = NULL;
}

static enum err advance(struct source *s)
{
    enum err e = ERR_OK;
    s->has = index_walk_next(s->walk, &s->digest, &s->record, &e);
    return e;
}

enum err merged_iter_new(const struct merged_index *s, uint32_t from,
                         struct stack_walk **ret)
{
    struct stack_walk *w = calloc(1, sizeof(*w));
    enum err e = w ? ERR_OK : ERR_NOMEM;
    for (uint32_t i = from; e == ERR_OK && i < s->n; i++) {
        e = index_walk_new(s->index[i], &w->source[w->n].walk);
        THEN(e, advance(&w->source[w->n++]));
    }
    if (e != ERR_OK) {
        merged_iter_free(&w);
        return e;
    }
    *ret = w;
    return ERR_OK;
}

/* The newest source among those with the smallest digest, or NULL at the end. */
static struct source *smallest(struct stack_walk *w)
{
    struct source *least = NULL;
    for (uint32_t i = w->n; i > 0; i--) {
        struct source *s = &w->source[i - 1];
        if (s->has && (!least || digest_cmp(&s->digest, &least->digest) < 0)) {
            least = s;
        }
    }
    return least;
}

bool merged_iter_next(struct stack_walk *w, struct digest *retdigest,
                      struct index_record *ret, enum err *reterr)
{
    const struct source *least = smallest(w);
    *reterr = ERR_OK;
    if (!least) {
        return false;
    }
    struct digest d = least->digest;
    *ret = least->record;
    for (uint32_t i = 0; i < w->n && *reterr == ERR_OK; i++) {
        struct source *s = &w->source[i];
        if (s->has && digest_cmp(&s->digest, &d) == 0) {
            *reterr = advance(s);
        }
    }
    *retdigest = d;
    return *reterr == ERR_OK;
}

void merged_iter_free(struct stack_walk **w)
{
    if (*w) {
        for (uint32_t i = 0; i < LIST_LEVELS_MAX; i++) {
            index_walk_free(&(*w)->source[i].walk);
        }
        free(*w);
    }
    *w = NULL;
}
