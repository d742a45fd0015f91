/* size - presets of the counts, reckoned from the traffic model. */
#include "core/count/size.h"

#include <math.h>

#include "core/count/traffic.h"

/* Properties of the structures (totals.h, live.h, run.h); the shares are plans, not limits. */
enum {
    DOOR_DAYS = TRAFFIC_DAYS + 1, /* today is one more */
    DOOR_USED = 24,               /* entries of a line, of 31 */
    DOOR_FINGERPRINTS = 4369,     /* values of an entry, times 15 days */
    CELLS = 10,                   /* of a line */
    CELLS_OF_KEY = 3,
    DAY_BUCKETS = 144,
    SLOT_BYTES = 16,
    LIVE_TABLES = 2, /* the running bucket's and the one before it */
    LIVE_SLOTS_LEAST = 4096,
    SHARD_MESSAGES = 1000 /* a day, before there are twice as many shards */
};

static const double block_overhead =
    1.02;                            /* sums, block heads and the index of a run */
static const double spill_bytes = 6; /* of one cell's share of a bucket */

/* Lines of cells for repeated keys that the model lacks (footers, signatures, hosts), times the
 * square root of the messages a day: the vocabulary of a language grows like that with its texts
 * (Heaps 1978). The ham of the test corpus has 2 recurring keys a message where the model has 0.14
 * (ADR 28). */
static const double repeated_lines = 1600;

/* Buckets or days that a window covers at most, in seconds of traffic. */
static const double window_days[COUNT_SIZE_WINDOWS] = {
    2.0 / DAY_BUCKETS, 7.0 / DAY_BUCKETS, 145.0 / DAY_BUCKETS, DOOR_DAYS};

/* Share of the doorkeeper's days of which an entry, whose day is all that is known of it, counts in
 * the window. In the fortnight that one is allowed for. */
static const double door_days[COUNT_SIZE_WINDOWS] = {0, 1.0 / DOOR_DAYS,
                                                     2.0 / DOOR_DAYS, 0};

struct traffic_day {
    double first; /* first sights */
    double draws; /* of keys that come again */
    uint64_t ranks;
};

static double keys_in(const struct traffic_day *d, double days)
{
    return d->first * days + traffic_expected_ranks(d->ranks, d->draws * days);
}

static uint64_t rounded_up(double n, uint64_t to)
{
    uint64_t v = (uint64_t)ceil(n);

    return (v + to - 1) / to * to;
}

static unsigned shards_for(uint64_t messages)
{
    unsigned n = COUNT_SIZE_SHARDS_LEAST;

    while (n < COUNT_SIZE_SHARDS_MOST && messages / n > SHARD_MESSAGES) {
        n *= 2;
    }
    return n;
}

/* The slots of one shard are a power of two. */
static uint64_t slots_for(double keys, unsigned nshards)
{
    uint64_t one = LIVE_SLOTS_LEAST / COUNT_SIZE_SHARDS_LEAST;

    while ((double)one * nshards < 2 * keys) {
        one *= 2;
    }
    return one * nshards;
}

/* Bytes of a run with this number of keys: a record is the gap to the key before as a varint, and a
 * count of one byte. */
static double run_bytes(double keys)
{
    double gap_bits = 64 - log2(fmax(keys, 1));

    return keys * (ceil(gap_bits / 7) + 1) * block_overhead;
}

static double choose(double n, unsigned k)
{
    double v = 1;

    for (unsigned i = 0; i < k; i++) {
        v *= (n - i) / (k - i);
    }
    return v;
}

/* How likely all the cells of a key are raised by others of its line, of which there are `keys` on
 * average (Poisson): inclusion and exclusion over the cells that none of them raised. */
static double all_cells_raised(double keys)
{
    double sum = 0;

    for (unsigned i = 0; i <= CELLS_OF_KEY; i++) {
        double spared = choose(CELLS - i, CELLS_OF_KEY) / choose(CELLS, CELLS_OF_KEY);
        double term = choose(CELLS_OF_KEY, i) * exp(-keys * (1 - spared));
        sum += i % 2 == 0 ? term : -term;
    }
    return fmax(sum, 0);
}

static void expect(const struct traffic_day *d, struct count_size *ret)
{
    double in_line = keys_in(d, DOOR_DAYS) / (double)ret->doorkeeper_lines;

    ret->doorkeeper_false = -expm1(-in_line / DOOR_FINGERPRINTS);
    for (unsigned w = 0; w < COUNT_SIZE_WINDOWS; w++) {
        double days = window_days[w];
        double inside = traffic_expected_ranks(d->ranks, d->draws * days) +
                        ret->doorkeeper_false * d->first * days;
        double raised = all_cells_raised(inside / (double)ret->cell_lines);
        ret->error[w] = w == 0 ? 0 : raised; /* the first window is counted exactly */
        ret->noise_floor[w] = w == 0 ? 0
                                     : ret->doorkeeper_false *
                                           (door_days[w] + (1 - door_days[w]) * raised);
    }
}

static void weigh(const struct traffic_day *d, struct count_size *ret)
{
    double bucket = run_bytes((double)ret->bucket_keys);
    double day = run_bytes((double)ret->day_keys);
    double again = traffic_expected_ranks(d->ranks, d->draws / DAY_BUCKETS) +
                   ret->doorkeeper_false * d->first / DAY_BUCKETS;
    double shares = again * CELLS_OF_KEY * spill_bytes * DAY_BUCKETS * DOOR_DAYS;
    double journal = (double)ret->bucket_keys * SLOT_BYTES;
    double live = (double)ret->live_slots * SLOT_BYTES * LIVE_TABLES;

    ret->memory_bytes =
        (ret->doorkeeper_lines + ret->cell_lines) * COUNT_SIZE_LINE + (uint64_t)live;
    /* One more day and bucket: a merged run and its parts exist at the same time. */
    ret->disk_bytes = (uint64_t)(bucket * (2 * DAY_BUCKETS) + day * (DOOR_DAYS + 1) +
                                 shares + 2 * journal + live);
}

enum err count_size_for(uint64_t messages_per_day, struct count_size *ret)
{
    if (messages_per_day == 0 || messages_per_day > COUNT_SIZE_MESSAGES_MOST) {
        return ERR_RANGE;
    }
    uint64_t messages = messages_per_day < COUNT_SIZE_MESSAGES_LEAST
                            ? COUNT_SIZE_MESSAGES_LEAST
                            : messages_per_day;
    double keys = (double)messages * TRAFFIC_KEYS;
    struct traffic_day d = {
        .first = keys * TRAFFIC_FIRST_PERCENT / 100,
        .draws = keys * (100 - TRAFFIC_FIRST_PERCENT) / 100,
        .ranks = messages * TRAFFIC_REPEATED,
    };
    struct count_size size = {.messages_per_day = messages_per_day,
                              .nshards = shards_for(messages)};

    size.bucket_keys = (uint64_t)keys_in(&d, 1.0 / DAY_BUCKETS);
    size.day_keys = (uint64_t)keys_in(&d, 1);
    size.fortnight_keys = (uint64_t)keys_in(&d, TRAFFIC_DAYS);
    size.doorkeeper_lines =
        rounded_up(keys_in(&d, DOOR_DAYS) / DOOR_USED, size.nshards);
    /* A line for each key that comes again, and for each that the doorkeeper takes for one. */
    double again =
        (double)d.ranks + d.first * DOOR_DAYS * DOOR_USED / DOOR_FINGERPRINTS;
    size.cell_lines =
        rounded_up(again + repeated_lines * sqrt((double)messages), size.nshards);
    size.live_slots = slots_for((double)size.bucket_keys, size.nshards);
    expect(&d, &size);
    weigh(&d, &size);
    *ret = size;
    return ERR_OK;
}
