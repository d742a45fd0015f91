/* count - the facade: counting and answering. The work of the thread is in count_tick.c. */
#include "core/count/count.h"

#include "core/count/count_internal.h"

enum { PREFETCH_AHEAD = 64 };

uint64_t count_key64(const struct digest *d)
{
    uint64_t key;

    memcpy(&key, d->b, sizeof(key));
    key = __builtin_bswap64(key);
    return key == 0 ? 1 : key;
}

struct count_keys count_keys_of(const struct keyring *ring,
                                const struct digest digest[KEYRING_MAX])
{
    struct count_keys k = {.n = ring->n};

    for (unsigned i = 0; i < k.n; i++) {
        k.key[i] = count_key64(&digest[i]);
        k.id[i] = ring->ring[i].id;
    }
    return k;
}

/* ---- asking for the truth ---- */

/* The key under the writers' digest key: only that is in the tables of this process. */
void count_exact_inside(struct count *c, const struct digest digest[KEYRING_MAX],
                        struct count_history *ret)
{
    const struct count_keys k = count_keys_of(&c->keys, digest);
    unsigned shard = live_shard_of(k.key[0], c->size.nshards);
    struct count_shard *s = &c->shards[shard];

    pthread_rwlock_rdlock(&c->sealed);
    count_lock(s);
    const struct live *live = s->live;
    const struct live *prev = s->is_prev_sealed ? NULL : s->prev;
    uint64_t now = s->bucket;
    uint64_t in_live = live_get(live, shard, k.key[0]);
    uint64_t in_prev = prev == NULL ? 0 : live_get(prev, shard, k.key[0]);
    count_unlock(s);
    runset_history(c->runset, k.key, k.id, k.n, now, ret);
    pthread_rwlock_unlock(&c->sealed);
    if (prev != NULL) {
        count_history_add(ret, live_id(prev)->start_s, in_prev);
    }
    count_history_add(ret, live_id(live)->start_s, in_live);
}

void count_exact(struct count *c, const struct digest digest[KEYRING_MAX],
                 struct count_history *ret)
{
    pthread_rwlock_rdlock(&c->use);
    count_exact_inside(c, digest, ret);
    pthread_rwlock_unlock(&c->use);
}

void count_shares_inside(struct count *c, const struct digest digest[KEYRING_MAX],
                         struct count_breakdown *ret)
{
    if (!count_breakdown_init(ret, 0)) {
        return;
    }
    const struct count_keys k = count_keys_of(&c->keys, digest);
    count_exact_inside(c, digest, &ret->v[0].history);
    remote_ask(c->remote, k.key, k.id, k.n, ret->v[0].history.now, ret);
    count_shared_add(c->shared, &k, ret);
}

void count_exact_shares(struct count *c, const struct digest digest[KEYRING_MAX],
                        struct count_breakdown *ret)
{
    pthread_rwlock_rdlock(&c->use);
    count_shares_inside(c, digest, ret);
    pthread_rwlock_unlock(&c->use);
}

/* ---- one batch ---- */

/* Some items of a call, with what is known of each. */
struct batch {
    struct count_item *items;
    size_t n; /* at most PREFETCH_AHEAD */
    uint64_t key[PREFETCH_AHEAD];
    uint8_t shard[PREFETCH_AHEAD];
    bool is_done[PREFETCH_AHEAD];
    bool is_ready[PREFETCH_AHEAD]; /* the sketch answered */
    uint64_t w[PREFETCH_AHEAD][COUNT_WINDOWS];
};

_Static_assert(LIVE_SHARDS_MAX <= UINT8_MAX + 1, "a shard's number is a byte");

static void prefetch(const struct count *c, struct batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        uint64_t key = count_key64(&b->items[i].digest[0]);
        unsigned shard = live_shard_of(key, c->size.nshards);
        /* acquire, partner of the release in roll_shards: a thread that sees a table sees all of
         * it. A table that is replaced meanwhile costs a needless prefetch; it is not freed while
         * this thread holds `use` */
        const struct live *live =
            atomic_load_explicit(&c->shards[shard].live, memory_order_acquire);
        const struct live *prev =
            atomic_load_explicit(&c->shards[shard].prev, memory_order_acquire);
        live_prefetch(live, shard, key);
        if (prev != NULL) {
            live_prefetch(prev, shard, key);
        }
        for (unsigned k = 0; k < COUNT_PAST; k++) {
            if (c->past[k] != NULL) {
                live_prefetch(c->past[k], shard, key);
            }
        }
        totals_prefetch(c->totals, shard, key);
        if (c->shared != NULL) {
            shared_totals_prefetch(c->shared, key);
        }
        b->key[i] = key;
        b->shard[i] = (uint8_t)shard;
        b->is_done[i] = false;
    }
}

/* Returns the count of a key in the bucket before, in this bucket before the start of the process,
 * and by peers in both. */
static uint64_t count_before(const struct count *c, const struct count_shard *s,
                             unsigned shard, uint64_t key)
{
    const struct live *const tables[] = {s->prev, c->past[0], c->past[1]};
    uint64_t sum = 0;

    for (unsigned i = 0; i < COUNT_NEAR; i++) {
        if (c->near[i] != NULL && c->near[i]->bucket + 1 >= s->bucket) {
            sum += tally_get(&c->near[i]->shard[shard], key);
        }
    }

    for (size_t i = 0; i < LENGTH(tables); i++) {
        if (tables[i] != NULL &&
            live_id(tables[i])->start_s / COUNT_BUCKET_S + 1 >= s->bucket) {
            sum += live_get(tables[i], shard, key);
        }
    }
    return sum;
}

/* Adds and reads with the shard's lock. False: the running table has no room for the key. */
static bool count_one(struct count *c, unsigned shard, uint64_t key, uint64_t amount,
                      bool *retready, uint64_t ret[COUNT_WINDOWS])
{
    struct count_shard *s = &c->shards[shard];

    if (amount == 0) {
        ret[COUNT_10M] = live_get(s->live, shard, key);
    } else if (!live_add(s->live, shard, key, amount, &ret[COUNT_10M])) {
        return false;
    }
    ret[COUNT_10M] += count_before(c, s, shard, key);
    bool has_sums = amount > 0
                        ? totals_add(c->totals, shard, key, amount, &ret[COUNT_1H])
                        : totals_read(c->totals, shard, key, &ret[COUNT_1H]);
    *retready = has_sums && s->is_ready; /* else its past is missing */
    return true;
}

/* The next item of i's shard after it; b->n: none. */
static size_t next_of_shard(const struct batch *b, size_t i)
{
    const uint8_t *next = memchr(&b->shard[i + 1], b->shard[i], b->n - i - 1);

    return next != NULL ? (size_t)(next - b->shard) : b->n;
}

/* Returns the sum of the amounts of item i and of all items with its key from `next` on. */
static uint64_t amount_of_key(const struct batch *b, size_t i, size_t next)
{
    uint64_t sum = b->items[i].amount;

    for (size_t k = next; k < b->n; k = next_of_shard(b, k)) {
        uint64_t amount = b->key[k] == b->key[i] ? b->items[k].amount : 0;
        sum = run_sum(sum, amount);
    }
    return sum;
}

/* Marks item i and the items of amount_of_key as done, with one answer for all. */
static void set_done(struct batch *b, size_t i, size_t next)
{
    b->is_done[i] = true;
    for (size_t k = next; k < b->n; k = next_of_shard(b, k)) {
        if (b->key[k] == b->key[i]) {
            b->is_done[k] = true;
            b->is_ready[k] = b->is_ready[i];
            memcpy(b->w[k], b->w[i], sizeof(b->w[k]));
        }
    }
}

/* All items of the shard of item i, from i on: one lock for them and one step for each key, which
 * matters when much of the mail is one mailing. Returns the item for which there is no room; b->n:
 * all were counted. */
static size_t count_shard_of(struct count *c, struct batch *b, size_t i)
{
    unsigned shard = b->shard[i];

    count_lock(&c->shards[shard]);
    for (size_t next; i < b->n; i = next) {
        next = next_of_shard(b, i);
        if (b->is_done[i]) {
            continue;
        }
        if (!count_one(c, shard, b->key[i], amount_of_key(b, i, next), &b->is_ready[i],
                       b->w[i])) {
            break;
        }
        set_done(b, i, next);
    }
    count_unlock(&c->shards[shard]);
    return i;
}

/* Room for one key more, that of item i. Leaves `use` for that moment. */
static void make_key_room(struct count *c, struct batch *b, size_t i)
{
    pthread_rwlock_unlock(&c->use);
    bool has_grown = count_grow(c);
    pthread_rwlock_rdlock(&c->use);
    if (has_grown) {
        return;
    }
    /* no memory: it is not counted, only read */
    atomic_fetch_add_explicit(&c->nlost, amount_of_key(b, i, next_of_shard(b, i)),
                              memory_order_relaxed);
    for (size_t k = i; k < b->n; k = next_of_shard(b, k)) {
        if (b->key[k] == b->key[i]) {
            b->items[k].amount = 0;
        }
    }
}

/* A shorter window cannot hold more than a longer one: of two bounds the lower is right. */
static void add_windows(struct count_value *value, uint64_t w[COUNT_WINDOWS])
{
    for (unsigned i = COUNT_14D; i > COUNT_10M; i--) {
        if (i < COUNT_14D && w[i] > w[i + 1]) {
            w[i] = w[i + 1];
        }
    }
    for (unsigned i = 0; i < COUNT_WINDOWS; i++) {
        value->w[i] += w[i];
    }
}

/* Adds the counts under the former digest key. */
static void add_other_keys(struct count *c, struct count_item *item, bool *retready)
{
    for (unsigned i = 1; i < c->keys.n && *retready; i++) {
        uint64_t w[COUNT_WINDOWS] = {0};
        uint64_t key = count_key64(&item->digest[i]);
        unsigned shard = live_shard_of(key, c->size.nshards);
        count_lock(&c->shards[shard]);
        (void)count_one(c, shard, key, 0, retready, w);
        count_unlock(&c->shards[shard]);
        add_windows(&item->value, w);
    }
}

/* Peers' counts, whatever they are worth, are in the sketch too. */
static void answer_exact(struct count *c, struct count_item *item)
{
    struct count_breakdown shares;
    struct count_history history;

    count_shares_inside(c, item->digest, &shares);
    for (unsigned w = 0; shares.n > 0 && w < COUNT_WINDOWS; w++) {
        item->value.w[w] = count_breakdown_sum(&shares, w);
    }
    if (shares.n == 0) { /* no memory for them: our own needs none */
        count_exact_inside(c, item->digest, &history);
        count_history_windows(&history, item->value.w);
    }
    count_breakdown_fini(&shares);
}

static void answer_item(struct count *c, struct batch *b, size_t i)
{
    struct count_item *item = &b->items[i];

    item->value = (struct count_value){.w = {0}};
    if (b->is_ready[i]) {
        add_windows(&item->value, b->w[i]);
        add_other_keys(c, item, &b->is_ready[i]);
    }
    if (b->is_ready[i] && c->shared != NULL) {
        count_shared_raise(c->shared, &c->keys, atomic_load(&c->now), item);
    }
    if (!b->is_ready[i]) {
        answer_exact(c, item);
    }
}

static void count_some(struct count *c, struct batch *b)
{
    prefetch(c, b);
    for (size_t i = 0; i < b->n; i++) {
        while (!b->is_done[i]) {
            size_t full = count_shard_of(c, b, i);
            if (full < b->n) {
                make_key_room(c, b, full);
            }
        }
    }
    for (size_t i = 0; c->shared != NULL && i < b->n; i++) {
        shared_totals_prefetch_entry(c->shared, b->key[i]);
    }
    for (size_t i = 0; i < b->n; i++) {
        answer_item(c, b, i);
    }
}

void count_batch(struct count *c, struct count_item *items, size_t n)
{
    struct batch b;

    pthread_rwlock_rdlock(&c->use);
    for (size_t i = 0; i < n; i += b.n) {
        b.items = items + i;
        b.n = n - i < PREFETCH_AHEAD ? n - i : PREFETCH_AHEAD;
        count_some(c, &b);
    }
    pthread_rwlock_unlock(&c->use);
}

/* ---- as a port ---- */

static void port_batch(void *context, struct count_item *items, size_t n)
{
    count_batch(context, items, n);
}

static void port_exact(void *context, const struct digest digest[KEYRING_MAX],
                       struct count_history *ret)
{
    count_exact(context, digest, ret);
}

static bool port_is_sound(void *context, enum count_window w, double bound)
{
    return count_window_is_sound(context, w, bound);
}

static void port_shares(void *context, const struct digest digest[KEYRING_MAX],
                        struct count_breakdown *ret)
{
    count_exact_shares(context, digest, ret);
}

static void port_member(void *context, const struct digest *key,
                        const struct digest *number, const struct digest *pair)
{
    const struct count *c = context;
    const struct distinct_triple t = {count_key64(key), count_key64(number),
                                      count_key64(pair)};

    distinct_writer_add(c->members, &t);
}

struct count_port count_port_of(struct count *c)
{
    return (struct count_port){.context = c,
                               .batch = port_batch,
                               .exact = port_exact,
                               .is_sound = port_is_sound,
                               .shares = port_shares,
                               .member = c->members != NULL ? port_member : NULL};
}

/* ---- numbers ---- */

bool count_window_is_sound(const struct count *c, enum count_window w, double bound)
{
    /* relaxed: a figure that stands for itself */
    uint32_t noisy = atomic_load_explicit(&c->noise[w], memory_order_relaxed);
    return (double)noisy <= bound * COUNT_CANARIES;
}

void count_stat(struct count *c, struct count_stat *ret)
{
    struct totals_stat sketch;

    *ret = (struct count_stat){
        .now = atomic_load(&c->now),
        .memory_bytes = totals_memory(c->totals),
        .is_noise_known = atomic_load(&c->is_noise_known),
        .nready = atomic_load(&c->nready),
        .nshards = c->size.nshards,
        .rebuild_us = atomic_load(&c->rebuild_us),
        .is_volatile = atomic_load(&c->is_volatile),
        .is_clock_suspended = atomic_load(&c->is_suspended),
        .messages_per_day = c->size.messages_per_day,
        .nlost = atomic_load(&c->nlost),
    };
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        ret->noise[w] = (double)atomic_load(&c->noise[w]) / COUNT_CANARIES;
    }
    pthread_rwlock_rdlock(&c->use);
    const struct live *live = atomic_load(&c->shards[0].live);
    ret->live_keys = live_used(live);
    ret->live_slots = live_slots(live);
    ret->memory_bytes += 2 * sizeof(struct run_record) * ret->live_slots;
    pthread_rwlock_unlock(&c->use);
    totals_stat(c->totals, &sketch);
    ret->doorkeeper_entries = sketch.doorkeeper_entries;
    ret->doorkeeper_capacity = sketch.doorkeeper_capacity;
    ret->cell_lines_used = sketch.cell_lines_used;
    ret->cell_lines = sketch.cell_lines;
    ret->overflowed = sketch.overflowed;
    ret->cells_over_1h = atomic_load(&c->over[TOTALS_1H]);
    ret->cells_over_1d = atomic_load(&c->over[TOTALS_1D]);
    ret->cells_over_14d = atomic_load(&c->over[TOTALS_14D]);
    runset_stat(c->runset, &ret->runs);
    remote_stat(c->remote, &ret->remote);
    ret->memory_bytes += 2 * ret->remote.memory_bytes; /* near has them once more */
}
