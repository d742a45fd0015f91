/* breakdown - shares of servers in a key's count. */
#include "core/count/breakdown.h"

#include "core/base/array.h"

/* No identity of a ring: those are hashes. */
static const struct origin_row store_row = {.origin = "shared store",
                                            .cap = ORIGIN_NO_CAP,
                                            .state = ORIGIN_ACTIVE,
                                            .name = "store"};

static bool is_store(const struct origin_row *row)
{
    return memcmp(row->origin, store_row.origin, ORIGIN_BYTES) == 0;
}

bool count_breakdown_init(struct count_breakdown *s, uint64_t now)
{
    *s = (struct count_breakdown){.n = 0};
    if (!array_room(&s->v, &s->room, 1, COUNT_ROWS_MAX + 1, sizeof(s->v[0]))) {
        return false;
    }
    s->n = 1;
    s->is_own = true;
    s->fresh_s = UINT64_MAX;
    s->v[0] = (struct count_part){.history.now = now};
    return true;
}

void count_breakdown_fini(struct count_breakdown *s)
{
    free(s->v);
    free(s->rows);
    *s = (struct count_breakdown){.n = 0};
}

bool count_has_say(const struct origins *o, const struct origin_row *row)
{
    return row != NULL && (row->state == ORIGIN_ACTIVE || row->state == ORIGIN_LEFT) &&
           memcmp(row->origin, o->self, ORIGIN_BYTES) != 0;
}

bool count_breakdown_set_origins(struct count_breakdown *s, const struct origins *o)
{
    s->quorum = o->quorum;
    s->is_own = o->quorum == 0;
    if (o->n == 0) {
        return true;
    }
    s->rows = calloc(o->n + 1, sizeof(s->rows[0])); /* one for the store */
    for (unsigned i = 0; s->rows != NULL && i < o->n; i++) {
        if (count_has_say(o, &o->v[i])) {
            s->rows[s->npeers++] = o->v[i];
        }
    }
    return s->rows != NULL;
}

struct count_part *count_breakdown_of(struct count_breakdown *s,
                                      const uint8_t origin[ORIGIN_BYTES])
{
    for (unsigned i = 1; i < s->n; i++) {
        if (memcmp(s->v[i].origin->origin, origin, ORIGIN_BYTES) == 0) {
            return &s->v[i];
        }
    }
    const struct origins peers = {.v = s->rows, .n = s->npeers};
    const struct origin_row *row = origins_find(&peers, origin);
    if (row == NULL || s->n == 0) {
        return NULL;
    }
    if (!array_room(&s->v, &s->room, s->n + 1, COUNT_ROWS_MAX + 1, sizeof(s->v[0]))) {
        return NULL;
    }
    s->v[s->n] = (struct count_part){.origin = row, .history.now = s->v[0].history.now};
    return &s->v[s->n++];
}

struct count_part *count_breakdown_add_store(struct count_breakdown *s)
{
    if (s->rows == NULL) {
        s->rows = calloc(1, sizeof(s->rows[0]));
    }
    if (s->n == 0 || s->rows == NULL ||
        !array_room(&s->v, &s->room, s->n + 1, COUNT_ROWS_MAX + 1, sizeof(s->v[0]))) {
        return NULL;
    }
    struct origin_row *row = &s->rows[s->npeers++];
    *row = store_row;
    s->v[s->n] = (struct count_part){.origin = row, .history.now = s->v[0].history.now};
    return &s->v[s->n++];
}

void count_breakdown_end(struct count_breakdown *s)
{
    for (unsigned i = 0; i < s->n; i++) {
        count_history_windows(&s->v[i].history, s->v[i].w);
    }
}

void count_breakdown_limit(struct count_breakdown *s, uint64_t cap, unsigned quorum,
                           uint64_t fresh_s)
{
    s->fresh_s = fresh_s;
    for (unsigned i = 0; cap > 0 && i < s->npeers; i++) {
        uint64_t *io = &s->rows[i].cap;
        *io = cap < *io && !is_store(&s->rows[i]) ? cap : *io;
    }
    s->quorum = quorum > s->quorum ? quorum : s->quorum;
}

static uint64_t capped(const struct count_part *share, unsigned window)
{
    uint64_t w = share->w[window];

    return w < share->origin->cap ? w : share->origin->cap;
}

static int larger_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return x > y ? -1 : x < y;
}

/* Peers whose word may count for anything here. */
static unsigned peers_of(const struct count_breakdown *s)
{
    unsigned n = 0;

    for (unsigned i = 0; i < s->npeers; i++) {
        n += s->rows[i].cap > 0 && !is_store(&s->rows[i]);
    }
    return n;
}

static uint64_t fresh_store(const struct count_breakdown *s, unsigned window)
{
    for (unsigned i = 1; i < s->n; i++) {
        if (is_store(s->v[i].origin)) {
            return s->v[i].age_s > s->fresh_s ? 0 : s->v[i].w[window];
        }
    }
    return 0;
}

uint64_t count_breakdown_bounded(const struct count_breakdown *s, unsigned window)
{
    uint64_t parts[COUNT_ROWS_MAX];
    unsigned n = 0;

    if (s->n == 0) {
        return 0;
    }
    for (unsigned i = 1; i < s->n && n < COUNT_ROWS_MAX; i++) {
        parts[n] = capped(&s->v[i], window);
        n += parts[n] > 0 && !is_store(s->v[i].origin);
    }
    uint64_t sum = run_sum(s->v[0].w[window], fresh_store(s, window));
    if (n == 0 || n < s->quorum) {
        return sum;
    }
    unsigned npeers = peers_of(s);
    unsigned liars = s->is_own || npeers == 0 ? 0 : (npeers - 1) / 2;
    liars = liars < COUNT_BREAKDOWN_LIARS ? liars : COUNT_BREAKDOWN_LIARS;
    qsort(parts, n, sizeof(parts[0]), larger_first);
    for (unsigned i = liars; i < n; i++) {
        sum = run_sum(sum, parts[i]);
    }
    return sum;
}

uint64_t count_breakdown_all(const struct count_breakdown *s, unsigned window)
{
    uint64_t sum = s->n == 0 ? 0 : s->v[0].w[window];

    for (unsigned i = 1; i < s->n; i++) {
        sum = run_sum(sum, capped(&s->v[i], window));
    }
    return sum;
}

uint64_t count_breakdown_sum(const struct count_breakdown *s, unsigned window)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < s->n; i++) {
        sum = run_sum(sum, s->v[i].w[window]);
    }
    return sum;
}

void count_breakdown_seen(const struct count_breakdown *s, uint64_t now_s,
                          uint64_t *retfirst_s, uint64_t *retlast_s)
{
    uint64_t first = 0;
    uint64_t last = 0;

    for (unsigned i = 0; i < s->n; i++) {
        const struct count_history *h = &s->v[i].history;
        bool is_first = h->first_s != 0 && (first == 0 || h->first_s < first);

        first = is_first ? h->first_s : first;
        last = h->last_s > last ? h->last_s : last;
    }
    *retfirst_s = first < now_s ? first : now_s;
    *retlast_s = last < now_s ? last : now_s;
}
