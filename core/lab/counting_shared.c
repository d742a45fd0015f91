/*
 * counting_shared - the keys of a batch by chunk, each chunk under its lock once.
 *
 * Keys of different chunks share no cell, so that their order means nothing: a batch with one key
 * many times takes its lock once for all of them.
 */
#include "core/lab/counting_shared.h"

#include <sched.h>

#include "core/base/uninitialized.h"
#include "core/lab/counting_cell.h"

enum { SPINS = 64, HEADS = 64, NONE = 0xff };

/* Acquire: partner of the release in unlock, so the next holder sees the cells of the last one. The
 * lock is held for a few hundred ns, so spinning wins; if its holder lost the processor, this
 * thread yields. */
static void lock(struct counting_lock *l)
{
    unsigned spins = 0;
    while (__atomic_exchange_n(&l->taken, 1, __ATOMIC_ACQUIRE) != 0) {
        while (__atomic_load_n(&l->taken, __ATOMIC_RELAXED) != 0) {
            if (++spins % SPINS == 0) {
                (void)sched_yield();
            }
        }
    }
}

static void unlock(struct counting_lock *l)
{
    __atomic_store_n(&l->taken, 0, __ATOMIC_RELEASE);
}

/* A batch in groups of one chunk: in each the keys are in order. */
struct groups {
    struct counting_place places[COUNTING_BATCH];
    uint8_t next[COUNTING_BATCH];  /* the following key of the group, or NONE */
    bool is_first[COUNTING_BATCH]; /* of its group */
};

/* Chunks that share a head only make more groups. The lock was perhaps another processor's last:
 * its line must be on its way as much as those of the cells. */
static void group(struct groups *g, struct counting_lock *locks, size_t n)
{
    uint8_t last[HEADS];
    memset(last, NONE, sizeof(last));
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(&locks[g->places[i].chunk], 1);
        uint8_t *head = &last[g->places[i].chunk % HEADS];
        g->is_first[i] = *head == NONE || g->places[*head].chunk != g->places[i].chunk;
        if (!g->is_first[i]) {
            g->next[*head] = (uint8_t)i;
        }
        g->next[i] = NONE;
        *head = (uint8_t)i;
    }
}

struct additions {
    const uint64_t *amounts; /* NULL: 1 each */
    struct counting_read *ret;
};

/* All keys of the group that begins with `at`, its chunk's lock held. */
static void add_group(struct counting *c, const struct groups *g, size_t at,
                      const struct additions *a)
{
    for (; at != NONE; at = g->next[at]) {
        uint64_t amount = a->amounts ? a->amounts[at] : 1;
        uint64_t count = counting_add_place(c, &g->places[at], amount);
        if (a->ret) {
            a->ret[at] = counting_read_of(c, count);
        }
    }
}

static void get_group(const struct counting *c, const struct groups *g, size_t at,
                      struct counting_read *ret)
{
    for (; at != NONE; at = g->next[at]) {
        ret[at] = counting_read_of(c, counting_get_place(c, &g->places[at]));
    }
}

static void add_some(struct counting *c, struct counting_lock *locks,
                     const struct digest *d, size_t n, const struct additions *a)
{
    struct groups g UNINITIALIZED;
    group(&g, locks, counting_place_batch(c, d, n, g.places));
    for (size_t i = 0; i < n; i++) {
        if (g.is_first[i]) {
            struct counting_lock *l = &locks[g.places[i].chunk];
            lock(l);
            add_group(c, &g, i, a);
            unlock(l);
        }
    }
}

static void get_some(const struct counting *c, struct counting_lock *locks,
                     const struct digest *d, size_t n, struct counting_read *ret)
{
    struct groups g UNINITIALIZED;
    group(&g, locks, counting_place_batch(c, d, n, g.places));
    for (size_t i = 0; i < n; i++) {
        if (g.is_first[i]) {
            struct counting_lock *l = &locks[g.places[i].chunk];
            lock(l);
            get_group(c, &g, i, ret);
            unlock(l);
        }
    }
}

void counting_shared_add(struct counting *c, struct counting_lock *locks,
                         const struct digest *d, const uint64_t *amounts, size_t n,
                         struct counting_read *ret)
{
    for (size_t done = 0; done < n; done += COUNTING_BATCH) {
        size_t batch = n - done < COUNTING_BATCH ? n - done : COUNTING_BATCH;
        struct additions a = {.amounts = amounts ? amounts + done : NULL,
                              .ret = ret ? ret + done : NULL};
        add_some(c, locks, d + done, batch, &a);
    }
}

void counting_shared_get(const struct counting *c, struct counting_lock *locks,
                         const struct digest *d, size_t n, struct counting_read *ret)
{
    for (size_t done = 0; done < n; done += COUNTING_BATCH) {
        size_t batch = n - done < COUNTING_BATCH ? n - done : COUNTING_BATCH;
        get_some(c, locks, d + done, batch, ret + done);
    }
}

enum err counting_shared_remove(struct counting *c, struct counting_lock *locks,
                                const struct digest *d, uint64_t amount,
                                struct errinfo *reterr)
{
    struct counting_lock *l = &locks[counting_chunk(c, d)];
    lock(l);
    enum err e = counting_remove(c, d, amount, reterr);
    unlock(l);
    return e;
}
