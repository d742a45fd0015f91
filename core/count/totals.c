/* totals - the sketch: how often each key was counted in the last hour, day and fortnight. */
#include <sys/mman.h>

#include "core/base/pages.h"
#include "core/base/prng.h"
#include "core/count/totals_internal.h"

enum { SHARDS_MAX = 65536, HOT_ALIGN = 64 };
#define LINES_MAX (UINT64_C(1) << 31) /* of a shard */

_Static_assert(sizeof(union doorkeeper_line) == DOORKEEPER_LINE_BYTES,
               "a line of memory");
_Static_assert(sizeof(struct cells_line) == CELLS_LINE_BYTES, "a line of memory");
_Static_assert((int)TOTALS_WINDOWS == (int)CELLS_WINDOWS, "the same windows");
_Static_assert(TOTALS_DAYS + 1 == DOORKEEPER_DAYS, "the same days");

uint64_t totals_hash(const struct totals *t, uint64_t key)
{
    return prng_mix(key ^ t->position_key);
}

uint64_t totals_day(uint64_t bucket)
{
    return bucket / TOTALS_DAY_BUCKETS;
}

/* ---- memory ---- */

static size_t door_bytes(const struct totals_size *size)
{
    return size->doorkeeper_lines / size->nshards * DOORKEEPER_LINE_BYTES;
}

static size_t cell_bytes(const struct totals_size *size)
{
    return size->cell_lines / size->nshards * CELLS_LINE_BYTES;
}

/* Rounded up to a whole line of memory for each shard. */
static size_t away_bytes(const struct totals_size *size)
{
    size_t n = size->doorkeeper_lines / size->nshards * sizeof(uint16_t);

    return (n + HOT_ALIGN - 1) / HOT_ALIGN * HOT_ALIGN;
}

static void place_shards(struct totals *t, const struct totals_size *size, uint64_t now)
{
    char *door = t->memory;
    char *cells = door + door_bytes(size) * size->nshards;
    char *away = cells + cell_bytes(size) * size->nshards;

    for (unsigned i = 0; i < t->nshards; i++) {
        struct totals_shard *s = &t->shards[i];
        s->door = (struct doorkeeper){
            .lines = (void *)(door + i * door_bytes(size)),
            .away = (void *)(away + i * away_bytes(size)),
            .nlines = size->doorkeeper_lines / size->nshards,
            .today = totals_day(now),
            .figures = &t->hot[i].door,
        };
        cells_init(&s->cells, (void *)(cells + i * cell_bytes(size)),
                   size->cell_lines / size->nshards, &t->hot[i].cells);
        (void)pthread_spin_init(&t->hot[i].lock, PTHREAD_PROCESS_PRIVATE);
        s->now = now;
        s->is_ready = true;
    }
}

static enum err check_size(const struct totals_size *size)
{
    unsigned n = size->nshards;
    bool is_power = n > 0 && n <= SHARDS_MAX && (n & (n - 1)) == 0;

    if (!is_power || size->doorkeeper_lines == 0 || size->cell_lines == 0 ||
        size->doorkeeper_lines / n > LINES_MAX || size->cell_lines / n > LINES_MAX) {
        return ERR_RANGE;
    }
    return ERR_OK;
}

static uint64_t position_key_of(const struct hashkey *node)
{
    uint64_t half[2];

    memcpy(half, node->bytes, sizeof(half));
    return prng_mix(prng_mix(half[0]) ^ half[1]);
}

static enum err fill_new(struct totals *t, const struct totals_size *size,
                         const char *spill_dir, uint64_t now)
{
    size_t shards_bytes = sizeof(*t->shards) * size->nshards;

    t->shards = aligned_alloc(HOT_ALIGN, shards_bytes);
    t->hot = aligned_alloc(HOT_ALIGN, sizeof(*t->hot) * size->nshards);
    if (!t->shards || !t->hot) {
        return ERR_NOMEM;
    }
    memset(t->shards, 0, shards_bytes);
    memset(t->hot, 0, sizeof(*t->hot) * size->nshards);
    t->memory_bytes =
        (door_bytes(size) + cell_bytes(size) + away_bytes(size)) * size->nshards;
    void *p = pages_new(t->memory_bytes);
    if (p == NULL) {
        return ERR_NOMEM;
    }
    t->memory = p;
    /* only faster; the memory of rejected keys is seldom used, so it stays in small pages */
    (void)madvise(p, (door_bytes(size) + cell_bytes(size)) * size->nshards,
                  MADV_HUGEPAGE);
    t->nshards = size->nshards;
    place_shards(t, size, now);
    return spill_new(spill_dir, &t->spill);
}

enum err totals_new(const struct totals_size *size, const struct hashkey *node,
                    const char *spill_dir, uint64_t now, struct totals **ret,
                    struct errinfo *reterr)
{
    struct totals_size whole = *size;

    if (whole.nshards && whole.doorkeeper_lines < whole.nshards) {
        whole.doorkeeper_lines = whole.nshards;
    }
    if (whole.nshards && whole.cell_lines < whole.nshards) {
        whole.cell_lines = whole.nshards;
    }
    if (check_size(&whole) != ERR_OK || size->doorkeeper_lines == 0 ||
        size->cell_lines == 0 || now > UINT32_MAX) {
        return errinfo_set(reterr, ERR_RANGE, "", 0,
                           "counts of %u parts, %llu and %llu lines cannot be",
                           size->nshards, (unsigned long long)size->doorkeeper_lines,
                           (unsigned long long)size->cell_lines);
    }
    struct totals *t = calloc(1, sizeof(*t));
    enum err e = ERR_NOMEM;
    if (t) {
        t->position_key = position_key_of(node);
        e = fill_new(t, &whole, spill_dir, now);
    }
    if (e != ERR_OK) {
        totals_free(&t);
        return errinfo_set(reterr, e, "", 0,
                           "there is no memory for the counts' sums; plan for fewer "
                           "messages a day");
    }
    *ret = t;
    return ERR_OK;
}

void totals_free(struct totals **t)
{
    struct totals *old = *t;

    if (!old) {
        return;
    }
    for (unsigned i = 0; i < old->nshards; i++) {
        (void)pthread_spin_destroy(&old->hot[i].lock);
        totals_drop_shares(old, &old->shards[i]);
        cells_fini(&old->shards[i].cells);
    }
    spill_free(&old->spill);
    pages_free(old->memory, old->memory_bytes);
    free(old->shards);
    free(old->hot);
    free(old);
    *t = NULL;
}

/* ---- counting ---- */

pthread_spinlock_t *totals_lock(const struct totals *t, unsigned shard)
{
    return &t->hot[shard].lock;
}

void totals_prefetch(const struct totals *t, unsigned shard, uint64_t key)
{
    const struct totals_shard *s = &t->shards[shard];
    uint64_t hash = totals_hash(t, key);

    __builtin_prefetch(&t->hot[shard], 1);
    doorkeeper_prefetch(&s->door, hash);
    cells_prefetch(&s->cells, hash);
}

static void set_all(uint64_t ret[TOTALS_WINDOWS], uint64_t v)
{
    for (unsigned w = 0; w < TOTALS_WINDOWS; w++) {
        ret[w] = v;
    }
}

/* The one that the doorkeeper stands for, in these windows; saturated stays so. */
static void add_one(uint64_t ret[TOTALS_WINDOWS], unsigned windows)
{
    for (unsigned w = 0; w < TOTALS_WINDOWS; w++) {
        ret[w] += (windows >> w & 1) && ret[w] != CELLS_SATURATED ? 1 : 0;
    }
}

bool totals_add(struct totals *t, unsigned shard, uint64_t key, uint64_t amount,
                uint64_t ret[TOTALS_WINDOWS])
{
    struct totals_shard *s = &t->shards[shard];
    uint64_t hash = totals_hash(t, key);

    if (!s->is_ready) {
        return false;
    }
    enum doorkeeper_answer door = doorkeeper_see(&s->door, hash, s->door.today);
    uint64_t rest =
        door == DOORKEEPER_NEW || door == DOORKEEPER_PLACED ? amount - 1 : amount;
    if (rest > 0) {
        cells_add(&s->cells, hash, rest, CELLS_ALL_WINDOWS, ret);
    } else if (door != DOORKEEPER_NEW) {
        cells_read(&s->cells, hash, ret);
    }
    if (door == DOORKEEPER_NEW) {
        set_all(ret, amount); /* its full count; its cells hold other keys */
    } else if (door != DOORKEEPER_AWAY) {
        add_one(ret, CELLS_ALL_WINDOWS);
    }
    return true;
}

/* Windows that may contain an occurrence of this age in days. */
static unsigned windows_of_age(unsigned age, uint64_t now)
{
    if (age == 0) {
        return CELLS_ALL_WINDOWS;
    }
    if (age > 1) {
        return 1U << TOTALS_14D;
    }
    bool is_in_hour = now % TOTALS_DAY_BUCKETS < TOTALS_BUCKETS_1H;
    return CELLS_ALL_WINDOWS & ~(is_in_hour ? 0U : 1U << TOTALS_1H);
}

bool totals_read(const struct totals *t, unsigned shard, uint64_t key,
                 uint64_t ret[TOTALS_WINDOWS])
{
    const struct totals_shard *s = &t->shards[shard];
    uint64_t hash = totals_hash(t, key);
    unsigned age = 0;

    if (!s->is_ready) {
        return false;
    }
    enum doorkeeper_answer door = doorkeeper_find(&s->door, hash, &age);
    if (door == DOORKEEPER_NEW) {
        set_all(ret, 0);
        return true;
    }
    cells_read(&s->cells, hash, ret);
    if (door == DOORKEEPER_SEEN) {
        add_one(ret, windows_of_age(age, s->now));
    }
    return true;
}

/* ---- figures ---- */

uint64_t totals_memory(const struct totals *t)
{
    uint64_t n = t->memory_bytes + spill_memory(t->spill);

    for (unsigned i = 0; i < t->nshards; i++) {
        const struct totals_shard *s = &t->shards[i];
        n += sizeof(*s) + tally_memory(&s->cells.large) +
             __atomic_load_n(&s->shares_room, __ATOMIC_RELAXED) * sizeof(*s->shares);
    }
    return n;
}

void totals_over(const struct totals *t, unsigned shard, uint64_t step,
                 uint64_t threshold, uint64_t ret[TOTALS_WINDOWS])
{
    const struct cells *c = &t->shards[shard].cells;

    for (uint64_t line = 0; line < c->nlines; line += step) {
        cells_over(c, line, threshold, ret);
    }
}

void totals_stat(const struct totals *t, struct totals_stat *ret)
{
    struct totals_stat st = {.spilled_bytes = spill_bytes(t->spill)};

    for (unsigned i = 0; i < t->nshards; i++) {
        const struct totals_shard *s = &t->shards[i];
        st.doorkeeper_entries += doorkeeper_entries(&s->door);
        st.doorkeeper_capacity += s->door.nlines * DOORKEEPER_ENTRIES;
        st.doorkeeper_turned_away += doorkeeper_turned_away(&s->door);
        st.cell_lines_used += cells_used(&s->cells);
        st.cell_lines += s->cells.nlines;
        st.overflowed += cells_overflowed(&s->cells);
        st.nready += __atomic_load_n(&s->is_ready, __ATOMIC_RELAXED) ? 1 : 0;
        st.has_lost_shares |= __atomic_load_n(&s->has_lost, __ATOMIC_RELAXED);
    }
    *ret = st;
}
