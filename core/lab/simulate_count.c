/* simulate_count - a fortnight in the sketch of the counts, beside an exact count. */
#include <math.h>

#include "core/base/prng.h"
#include "core/count/live.h"
#include "core/count/runset.h"
#include "core/count/size.h"
#include "core/count/totals.h"
#include "core/count/traffic.h"
#include "core/lab/simulate.h"

enum {
    NEVER_COUNTED = 100000, /* keys that are asked for the noise floor */
    BUCKETS = TRAFFIC_DAYS * COUNT_DAY_BUCKETS,
    FIRST_BUCKET = BUCKETS, /* the begin of some day */
    STREAM_NODE = 1,
    STREAM_NEVER = 2
};

/* The fill that presets plan for. A fuller site needs a larger preset (core/count/size.c). */
static const double planned_fill = 24.0 / 31;

/* Buckets that a window covers at the end of the last one. */
static const uint64_t window_buckets[TOTALS_WINDOWS] = {7, COUNT_DAY_BUCKETS + 1,
                                                        BUCKETS};

struct sketch {
    struct totals *totals;
    unsigned nshards;
    struct exact *exact; /* nslots; owned */
    uint64_t nslots;     /* a power of two, at least twice the events */
};

/* A key and its exact count until now; key 0: a free place. */
struct exact {
    uint64_t key;
    uint64_t count;
};

/* Errors at the time of counting. */
struct tally {
    uint64_t wrong;
    uint64_t below_threshold;
    uint64_t false_threshold;
};

static uint64_t bucket_of(const struct simulation_mail *m, uint32_t message)
{
    return FIRST_BUCKET + (uint64_t)message * BUCKETS / m->messages;
}

/* The preset's density for as many messages as are simulated. */
static const double suggest_step = 1.1; /* between the sizes that are tried */

static enum err make_sketch(const struct simulation_mail *m, struct sketch *ret,
                            struct errinfo *reterr)
{
    struct count_size size;
    struct count_size least;
    struct totals_size lines = {.nshards = COUNT_SIZE_SHARDS_LEAST};
    struct hashkey node = {.id = 0};
    struct prng p;

    if (count_size_for(m->messages_per_day, &size) != ERR_OK) {
        return errinfo_set(reterr, ERR_RANGE, "--messages-per-day", 0,
                           "give 1 to %.0f messages", (double)COUNT_SIZE_MESSAGES_MOST);
    }
    double planned =
        fmax((double)m->messages_per_day, (double)COUNT_SIZE_MESSAGES_LEAST);
    double share = (double)m->messages / TRAFFIC_DAYS / planned;
    lines.doorkeeper_lines = (uint64_t)ceil((double)size.doorkeeper_lines * share);
    if (share < 1 && count_size_for(COUNT_SIZE_MESSAGES_LEAST, &least) == ERR_OK) {
        /* what mail repeats grows with the root of its amount, as presets have it (size.h) */
        double root = sqrt(fmax(share * planned / COUNT_SIZE_MESSAGES_LEAST, 0));
        size.cell_lines =
            (uint64_t)fmin((double)least.cell_lines * root, (double)size.cell_lines);
    }
    lines.cell_lines = size.cell_lines;
    prng_init(&p, m->seed, STREAM_NODE);
    for (unsigned i = 0; i < HASHKEY_BYTES; i++) {
        node.bytes[i] = (uint8_t)prng_next(&p);
    }
    ret->nshards = lines.nshards;
    return totals_new(&lines, &node, P_tmpdir, FIRST_BUCKET, &ret->totals, reterr);
}

static uint64_t count_exactly(const struct sketch *s, uint64_t key)
{
    uint64_t at = prng_mix(key) & (s->nslots - 1);

    while (s->exact[at].key != 0 && s->exact[at].key != key) {
        at = (at + 1) & (s->nslots - 1);
    }
    s->exact[at].key = key;
    return ++s->exact[at].count;
}

static void roll(const struct sketch *s, uint64_t from, uint64_t to)
{
    for (uint64_t bucket = from + 1; bucket <= to; bucket++) {
        for (unsigned shard = 0; shard < s->nshards; shard++) {
            totals_roll(s->totals, shard, bucket);
        }
    }
}

static void fill_sketch(const struct simulation_mail *m, const struct sketch *s,
                        struct tally *t)
{
    uint64_t now = FIRST_BUCKET;
    uint64_t sums[TOTALS_WINDOWS];

    for (size_t i = 0; i < m->nevents; i++) {
        const struct simulation_event *e = &m->events[i];
        uint64_t bucket = bucket_of(m, e->message);
        roll(s, now, bucket);
        now = bucket;
        (void)totals_add(s->totals, live_shard_of(e->key, s->nshards), e->key, 1, sums);
        uint64_t truth = count_exactly(s, e->key);
        t->wrong += sums[TOTALS_14D] != truth;
        t->below_threshold += truth < m->threshold;
        t->false_threshold += truth < m->threshold && sums[TOTALS_14D] >= m->threshold;
    }
    roll(s, now, FIRST_BUCKET + BUCKETS - 1);
}

static int compare_events(const void *a, const void *b)
{
    const struct simulation_event *x = a;
    const struct simulation_event *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

static void compare_key(const struct sketch *s, uint64_t key,
                        const uint64_t exact[TOTALS_WINDOWS],
                        uint64_t too_high[TOTALS_WINDOWS],
                        struct simulation_counts *ret)
{
    uint64_t sums[TOTALS_WINDOWS] = {0};
    bool is_again = exact[TOTALS_14D] > 1;

    (void)totals_read(s->totals, live_shard_of(key, s->nshards), key, sums);
    for (unsigned w = 0; w < TOTALS_WINDOWS; w++) {
        too_high[w] += is_again && sums[w] > exact[w] + 1;
        ret->undercounts += sums[w] < exact[w];
    }
    ret->distinct++;
    ret->again += is_again;
}

static double share_of(uint64_t part, uint64_t all)
{
    return all > 0 ? (double)part / (double)all : 0;
}

/* Sorts the events and asks for each key once. */
static void compare(struct simulation_mail *m, const struct sketch *s,
                    struct simulation_counts *ret)
{
    uint64_t too_high[TOTALS_WINDOWS] = {0};

    qsort(m->events, m->nevents, sizeof(m->events[0]), compare_events);
    for (size_t i = 0; i < m->nevents;) {
        uint64_t exact[TOTALS_WINDOWS] = {0};
        uint64_t key = m->events[i].key;
        for (; i < m->nevents && m->events[i].key == key; i++) {
            uint64_t age =
                FIRST_BUCKET + BUCKETS - 1 - bucket_of(m, m->events[i].message);
            for (unsigned w = 0; w < TOTALS_WINDOWS; w++) {
                exact[w] += age < window_buckets[w];
            }
        }
        compare_key(s, key, exact, too_high, ret);
    }
    ret->first_share = share_of(ret->distinct, m->nevents);
    for (unsigned w = 0; w < TOTALS_WINDOWS; w++) {
        ret->too_high[w] = share_of(too_high[w], ret->again);
    }
}

static void ask_never_counted(const struct simulation_mail *m, const struct sketch *s,
                              struct simulation_counts *ret)
{
    struct prng p;

    prng_init(&p, m->seed, STREAM_NEVER);
    for (unsigned i = 0; i < NEVER_COUNTED; i++) {
        uint64_t sums[TOTALS_WINDOWS] = {0};
        uint64_t key = prng_next(&p);
        (void)totals_read(s->totals, live_shard_of(key, s->nshards), key, sums);
        for (unsigned w = 0; w < TOTALS_WINDOWS; w++) {
            /* As the canaries' (count.h): in the fortnight the doorkeeper's one is allowed. */
            bool is_noise = sums[w] > (w == TOTALS_14D ? 1 : 0);
            ret->noise_floor[w] += is_noise ? 1.0 / NEVER_COUNTED : 0;
        }
    }
}

/* The share of first occurrences in the model. */
static double model_share(const struct simulation_mail *m)
{
    double keys = (double)m->messages * TRAFFIC_KEYS;
    double first = keys * TRAFFIC_FIRST_PERCENT / 100;
    uint64_t a_day = m->messages / TRAFFIC_DAYS;
    uint64_t ranks = TRAFFIC_REPEATED * (a_day > 0 ? a_day : 1);

    return (first + traffic_expected_ranks(ranks, keys - first)) / keys;
}

static void tell_fill(const struct sketch *s, struct simulation_counts *ret)
{
    struct totals_stat stat;

    totals_stat(s->totals, &stat);
    ret->doorkeeper_fill = share_of(stat.doorkeeper_entries, stat.doorkeeper_capacity);
    ret->cells_used = share_of(stat.cell_lines_used, stat.cell_lines);
}

/* The messages a day whose preset has room for as many first sights, and for the keys that come
 * again in a whole fortnight of such mail: as many more than in this as the root of how much more
 * mail it is. Doors are planned for 15 days, of which 14 were simulated. */
static void suggest(const struct simulation_mail *m, struct simulation_counts *ret)
{
    double door =
        ret->doorkeeper_fill * (TRAFFIC_DAYS + 1) / TRAFFIC_DAYS / planned_fill;
    double whole = (double)m->messages_per_day * TRAFFIC_DAYS;
    double again = (double)ret->again * sqrt(fmax(1, whole / (double)m->messages));
    double n = fmax(1, (double)m->messages_per_day * fmax(1, door));
    struct count_size size;

    while (n < (double)COUNT_SIZE_MESSAGES_MOST &&
           count_size_for((uint64_t)ceil(n), &size) == ERR_OK &&
           (double)size.cell_lines < again) {
        n *= suggest_step;
    }
    ret->suggested = (uint64_t)ceil(n);
}

static enum err make_exact(const struct simulation_mail *m, struct sketch *s,
                           struct errinfo *reterr)
{
    s->nslots = 2;
    while (s->nslots < 2 * m->nevents) {
        s->nslots *= 2;
    }
    s->exact = calloc(s->nslots, sizeof(*s->exact));
    return s->exact != NULL ? ERR_OK
                            : errinfo_set(reterr, ERR_NOMEM, "simulate mail", 0,
                                          "out of memory; give fewer messages");
}

enum err simulation_count(struct simulation_mail *m, struct simulation_counts *ret,
                          struct errinfo *reterr)
{
    struct sketch s = {.totals = NULL};
    struct tally t = {.wrong = 0};
    enum err e = make_exact(m, &s, reterr);

    THEN(e, make_sketch(m, &s, reterr));
    if (e == ERR_OK) {
        *ret = (struct simulation_counts){.model_share = model_share(m)};
        fill_sketch(m, &s, &t);
        ret->wrong_share = share_of(t.wrong, m->nevents);
        ret->false_share = share_of(t.false_threshold, t.below_threshold);
        tell_fill(&s, ret);
        compare(m, &s, ret);
        ask_never_counted(m, &s, ret);
        suggest(m, ret);
        totals_free(&s.totals);
    }
    free(s.exact);
    return e;
}
