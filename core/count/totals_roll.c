/* totals_roll - buckets end, and leave the windows one by one. */

#include "core/base/array.h"
#include "core/count/totals_internal.h"

unsigned totals_windows_of(uint64_t bucket, uint64_t now)
{
    unsigned windows = 0;

    if (bucket + TOTALS_BUCKETS_1H >= now) {
        windows |= 1U << TOTALS_1H;
    }
    if (bucket + TOTALS_BUCKETS_1D >= now) {
        windows |= 1U << TOTALS_1D;
    }
    if (totals_day(bucket) + TOTALS_DAYS >= totals_day(now)) {
        windows |= 1U << TOTALS_14D;
    }
    return windows;
}

static void lose(struct totals_shard *s)
{
    __atomic_store_n(&s->has_lost, true, __ATOMIC_RELAXED);
}

struct taking {
    struct cells *cells;
    unsigned windows;
};

static void take_from_cell(void *context, uint64_t line, unsigned cell, uint64_t value)
{
    const struct taking *k = context;

    cells_take(k->cells, line, cell, value, k->windows);
}

/* Takes a share off windows. One that cannot be read again stays in the sums: too much is counted,
 * never too little. */
static void take_off(struct totals *t, struct totals_shard *s,
                     const struct totals_share *share, unsigned windows)
{
    struct taking k = {&s->cells, windows};
    char *bytes = malloc(share->ref.n);
    bool is_done = bytes && spill_get(t->spill, &share->ref, bytes) == ERR_OK &&
                   contribution_each(slice_of(bytes, share->ref.n), take_from_cell, &k);

    free(bytes);
    if (!is_done) {
        lose(s);
    }
}

static bool make_share_room(struct totals_shard *s)
{
    size_t room = s->shares_room;
    bool ok =
        array_room(&s->shares, &room, s->nshares + 1, SIZE_MAX, sizeof(*s->shares));
    __atomic_store_n(&s->shares_room, room, __ATOMIC_RELAXED);
    return ok;
}

static void remove_share(struct totals *t, struct totals_shard *s, size_t i)
{
    spill_drop(t->spill, &s->shares[i].ref);
    s->nshares--;
    for (; i < s->nshares; i++) {
        s->shares[i] = s->shares[i + 1];
    }
}

/* Frees memory for a share: the oldest one of the shard that is held there leaves early. */
static bool sacrifice(struct totals *t, struct totals_shard *s)
{
    for (size_t i = 0; i < s->nshares; i++) {
        if (spill_in_memory(&s->shares[i].ref)) {
            take_off(t, s, &s->shares[i], s->shares[i].windows);
            remove_share(t, s, i);
            lose(s);
            return true;
        }
    }
    return false;
}

static bool keep_share(struct totals *t, struct totals_shard *s, struct slice bytes,
                       struct totals_share *share)
{
    enum err e = ERR_NOMEM;

    if (!make_share_room(s)) {
        return false;
    }
    do {
        e = spill_put(t->spill, totals_day(share->bucket), bytes, &share->ref);
    } while (e != ERR_OK && sacrifice(t, s));
    if (e == ERR_OK) {
        s->shares[s->nshares++] = *share;
    }
    return e == ERR_OK;
}

static void take_bytes(struct totals_shard *s, struct slice bytes, unsigned windows)
{
    struct taking k = {&s->cells, windows};

    (void)contribution_each(bytes, take_from_cell, &k);
}

void totals_keep_share(struct totals *t, struct totals_shard *s, struct buf *bytes,
                       uint64_t bucket, unsigned windows)
{
    struct totals_share share = {.bucket = (uint32_t)bucket, .windows = windows};

    if (bytes->n > 0 && !keep_share(t, s, buf_slice(bytes), &share)) {
        take_bytes(s, buf_slice(bytes), windows);
        lose(s);
    }
    buf_fini(bytes);
}

void totals_end_bucket(struct totals *t, struct totals_shard *s, uint64_t bucket,
                       unsigned windows)
{
    struct buf bytes;

    buf_init(&bytes, UINT32_MAX);
    if (!contribution_make(&s->cells, &bytes)) {
        lose(s); /* its counts stay in the windows */
        buf_clear(&bytes);
    }
    totals_keep_share(t, s, &bytes, bucket, windows);
}

void totals_begin_bucket(struct totals *t, struct totals_shard *s, uint64_t now)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->nshares; i++) {
        struct totals_share *share = &s->shares[i];
        unsigned stay = share->windows & totals_windows_of(share->bucket, now);
        if (stay != share->windows) {
            take_off(t, s, share, share->windows & ~stay);
            share->windows = stay;
        }
        if (stay == 0) {
            spill_drop(t->spill, &share->ref);
            continue;
        }
        if ((stay & totals_windows_of(share->bucket, now + 1)) != stay) {
            spill_advise(t->spill, &share->ref);
        }
        s->shares[kept++] = *share;
    }
    s->nshares = kept;
    s->now = now;
    doorkeeper_begin_day(&s->door, totals_day(now));
}

void totals_drop_shares(struct totals *t, struct totals_shard *s)
{
    for (size_t i = 0; i < s->nshares; i++) {
        spill_drop(t->spill, &s->shares[i].ref);
    }
    free(s->shares);
    s->shares = NULL;
    s->nshares = 0;
    __atomic_store_n(&s->shares_room, 0, __ATOMIC_RELAXED);
}

void totals_roll(struct totals *t, unsigned shard, uint64_t now)
{
    struct totals_shard *s = &t->shards[shard];
    uint64_t next = now < UINT32_MAX ? now : UINT32_MAX;

    if (!s->is_ready) {
        s->pending = next > s->pending ? next : s->pending;
        return;
    }
    if (next > s->now) {
        totals_end_bucket(t, s, s->now, CELLS_ALL_WINDOWS);
        totals_begin_bucket(t, s, next);
    }
}
