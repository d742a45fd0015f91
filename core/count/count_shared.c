/* count_shared - the totals of the shared store, as gillnetd and the commands see them. */
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/count/count_internal.h"

enum { US_PER_S = 1000000 };

/* ---- the file ---- */

void count_shared_refresh(struct count *c)
{
    struct shared_totals *fresh = NULL;
    struct errinfo why = {.code = ERR_OK};

    if (!c->has_store || (c->shared != NULL && !shared_totals_is_replaced(c->shared))) {
        return;
    }
    enum err e = shared_totals_open(c->state_dir, c->keys.ring[0].id, &fresh, &why);
    if (e != ERR_OK && e != ERR_NOT_FOUND && !c->is_shared_refused) {
        log_errinfo("store-counts", &why);
    }
    c->is_shared_refused = e != ERR_OK && e != ERR_NOT_FOUND;
    pthread_rwlock_wrlock(&c->use);
    struct shared_totals *old = c->shared;
    c->shared = fresh;
    pthread_rwlock_unlock(&c->use);
    shared_totals_close(&old);
}

enum err count_shared_begin(struct count *c, struct errinfo *reterr)
{
    struct run_id id = {.inc = c->inc, .key_id = c->keys.ring[0].id};

    if (!c->has_store) {
        return ERR_OK;
    }
    memcpy(id.origin, c->origin, sizeof(id.origin));
    c->members = distinct_writer_new(c->dir, &id);
    count_shared_refresh(c);
    return c->members != NULL ? ERR_OK : errinfo_nomem(reterr, c->dir);
}

void count_shared_flush(struct count *c)
{
    struct errinfo why = {.code = ERR_OK};

    if (c->members != NULL &&
        distinct_writer_flush(c->members, atomic_load(&c->now), &why) != ERR_OK) {
        log_errinfo("counts", &why); /* numbers in the store are low by these */
    }
}

/* ---- a part of a key's count ---- */

/* The totals under each digest key; how many there are. */
static size_t totals_of(const struct shared_totals *t, const struct count_keys *k,
                        struct shared_total ret[KEYRING_MAX])
{
    size_t n = 0;

    for (unsigned i = 0; i < k->n; i++) {
        n += shared_totals_read(t, k->key[i], &ret[n]);
    }
    return n;
}

/* Sums the counts that are known without the store: own ones, and those that peers sent while no
 * store was shared. */
static void sum_parts(const struct count_breakdown *s, struct count_history *ret)
{
    *ret = (struct count_history){.now = s->v[0].history.now};
    for (unsigned i = 0; i < s->n; i++) {
        const struct count_history *h = &s->v[i].history;
        for (unsigned b = 0; b <= COUNT_BUCKETS; b++) {
            ret->bucket[b] = run_sum(ret->bucket[b], h->bucket[b]);
        }
        for (unsigned d = 0; d <= COUNT_DAYS; d++) {
            ret->day[d] = run_sum(ret->day[d], h->day[d]);
        }
    }
}

/* Members of several servers do not add up: the store's number of them is of all servers. */
static void part_of_number(const struct shared_total *t, size_t n,
                           const struct count_history *known, struct count_history *ret)
{
    uint64_t here = 0;
    uint64_t all = 0;

    for (unsigned d = 0; d <= COUNT_DAYS; d++) {
        here = run_sum(here, known->day[d]);
    }
    for (size_t i = 0; i < n; i++) {
        for (unsigned d = 0; d < SHARED_DAYS; d++) {
            all = t[i].day[d] > all ? t[i].day[d] : all;
        }
    }
    *ret = (struct count_history){.now = known->now};
    ret->day[0] = all > here ? all - here : 0;
}

void count_shared_add(const struct shared_totals *t, const struct count_keys *k,
                      struct count_breakdown *io)
{
    struct shared_total totals[KEYRING_MAX];
    struct count_history known;

    if (t == NULL || io->n == 0) {
        return;
    }
    size_t n = totals_of(t, k, totals);
    sum_parts(io, &known);
    struct count_part *part = count_breakdown_add_store(io);
    if (part != NULL && n > 0) {
        part->age_s = shared_totals_age(t, clock_wall_us() / US_PER_S);
        if (count_is_member_key(k->key[0])) {
            part_of_number(totals, n, &known, &part->history);
        } else {
            bool is_of_writers = n == 1 && totals[0].key == k->key[0];
            shared_total_part(totals, n, is_of_writers ? &io->v[0].history : NULL,
                              &known, &part->history);
        }
        count_breakdown_end(io);
    }
}

/* ---- the sketch ---- */

void count_shared_raise(const struct shared_totals *t, const struct keyring *keys,
                        uint64_t now, struct count_item *io)
{
    const struct count_keys k = count_keys_of(keys, io->digest);
    struct shared_total totals[KEYRING_MAX];
    size_t n = totals_of(t, &k, totals);
    for (size_t i = 0; i < n; i++) {
        uint64_t windows[COUNT_WINDOWS];
        shared_total_windows(&totals[i], now, windows);
        for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
            io->value.w[w] = run_sum(io->value.w[w], windows[w]);
        }
    }
}
