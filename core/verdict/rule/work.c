/* work - the pool of work spaces: one for each message that is judged or read at a time. */
#include "core/verdict/rule/rule_internal.h"

static void work_free(struct work **w)
{
    struct work *was = *w;

    *w = NULL;
    if (was == NULL) {
        return;
    }
    pattern_work_free(&was->patterns);
    free(was->state);
    free(was->given_up);
    free(was->hits);
    free(was->first);
    free(was->met);
    free(was->met_of);
    free(was->seen);
    free(was->candidates);
    free(was->held);
    free(was);
}

static size_t words_of(size_t bits)
{
    return bits / 64 + 1;
}

static struct work *work_new(const struct ruleset *s)
{
    struct work *w = calloc(1, sizeof(*w));
    size_t n = s->natoms + 1;

    if (w == NULL) {
        return NULL;
    }
    w->patterns = pattern_work_clone(s->model);
    w->state = malloc(n);
    w->given_up = malloc(n);
    w->hits = malloc(n * sizeof(w->hits[0]));
    w->first = malloc(n * sizeof(w->first[0]));
    w->met = malloc(n * sizeof(w->met[0]));
    w->met_of = malloc(n * sizeof(w->met_of[0]));
    w->seen = malloc((s->ntests + 1) * sizeof(w->seen[0]));
    w->candidates = malloc(words_of(s->nrules) * sizeof(w->candidates[0]));
    w->held = malloc(words_of(s->nrules) * sizeof(w->held[0]));
    if (w->patterns == NULL || w->state == NULL || w->given_up == NULL ||
        w->hits == NULL || w->first == NULL || w->met == NULL || w->met_of == NULL ||
        w->seen == NULL || w->candidates == NULL || w->held == NULL) {
        work_free(&w);
    }
    return w;
}

void work_clear(const struct ruleset *s, struct work *w)
{
    size_t n = s->natoms + 1;

    memset(w->state, IS_FALSE, n);
    memset(w->given_up, 0, n);
    memset(w->hits, 0, n * sizeof(w->hits[0]));
    memset(w->first, 0xff, n * sizeof(w->first[0]));
    memset(w->met_of, 0, n * sizeof(w->met_of[0]));
    memset(w->seen, 0, (s->ntests + 1) * sizeof(w->seen[0]));
    memset(w->candidates, 0, words_of(s->nrules) * sizeof(w->candidates[0]));
    memset(w->held, 0, words_of(s->nrules) * sizeof(w->held[0]));
    pattern_work_begin(w->patterns);
}

struct work *work_take(struct ruleset *s)
{
    struct work *w = NULL;

    pthread_mutex_lock(&s->lock);
    w = s->pool;
    if (w != NULL) {
        s->pool = w->next;
    }
    pthread_mutex_unlock(&s->lock);
    return w != NULL ? w : work_new(s);
}

void work_give(struct ruleset *s, struct work *w)
{
    pthread_mutex_lock(&s->lock);
    w->next = s->pool;
    s->pool = w;
    pthread_mutex_unlock(&s->lock);
}

void work_free_all(struct ruleset *s)
{
    while (s->pool != NULL) {
        struct work *w = s->pool;

        s->pool = w->next;
        work_free(&w);
    }
}
