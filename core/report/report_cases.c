#include "core/report/report_cases.h"

#include "core/base/array.h"

enum { CASES_MAX = 1 << 22 };

struct reading {
    struct report_cases *all;
    uint64_t *undone; /* ids of reports */
    size_t nundone;
    size_t room;
};

static bool note_undone(struct reading *d, uint64_t id)
{
    if (!array_room(&d->undone, &d->room, d->nundone + 1, CASES_MAX,
                    sizeof(*d->undone))) {
        return false;
    }
    d->undone[d->nundone++] = id;
    return true;
}

static bool note_case(void *context, const struct report *r)
{
    struct reading *d = context;
    struct report_cases *all = d->all;

    if (r->entry == REPORT_UNDONE) {
        return note_undone(d, r->id);
    }
    if (r->entry != REPORT_GIVEN || r->case_id == 0) {
        return true;
    }
    if (!array_room(&all->v, &all->room, all->n + 1, CASES_MAX, sizeof(*all->v))) {
        return false;
    }
    all->v[all->n++] = (struct report_case){r->case_id, r->id, r->number, r->is_spam};
    return true;
}

static int by_case(const void *a, const void *b)
{
    const struct report_case *x = a;
    const struct report_case *y = b;

    if (x->case_id != y->case_id) {
        return x->case_id < y->case_id ? -1 : 1;
    }
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool is_undone(const struct reading *d, uint64_t id)
{
    return d->nundone > 0 &&
           bsearch(&id, d->undone, d->nundone, sizeof(id), array_u64_cmp) != NULL;
}

/* Keeps the last one of each case that holds. */
static void keep_last(const struct reading *d)
{
    struct report_cases *all = d->all;
    size_t kept = 0;

    for (size_t i = 0; i < all->n; i++) {
        if (is_undone(d, all->v[i].report)) {
            continue;
        }
        if (kept > 0 && all->v[kept - 1].case_id == all->v[i].case_id) {
            kept--;
        }
        all->v[kept++] = all->v[i];
    }
    all->n = kept;
}

enum err report_cases_read(const char *state_dir, struct report_cases *ret,
                           struct errinfo *reterr)
{
    struct reading d = {.all = ret};

    *ret = (struct report_cases){.v = NULL};
    enum err e = report_log_each(state_dir, note_case, &d, NULL, reterr);
    if (e == ERR_OK && ret->n > 0) {
        if (d.nundone > 0) {
            qsort(d.undone, d.nundone, sizeof(*d.undone), array_u64_cmp);
        }
        qsort(ret->v, ret->n, sizeof(*ret->v), by_case);
        keep_last(&d);
    }
    free(d.undone);
    return e;
}

void report_cases_fini(struct report_cases *c)
{
    free(c->v);
    *c = (struct report_cases){.v = NULL};
}

enum report_opinion report_of_case(const struct report_cases *c, uint64_t case_id)
{
    size_t low = 0;
    size_t high = c->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->v[middle].case_id < case_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == c->n || c->v[low].case_id != case_id) {
        return REPORT_NONE;
    }
    return c->v[low].is_spam ? REPORT_SPAM : REPORT_HAM;
}
