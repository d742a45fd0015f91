#include "core/lab/cuckoo.h"

#include <math.h>

#include "core/filter/mix.h"

enum {
    KEY_LABEL_TYPE = 0xffff
}; /* no feature type: the label cannot be a list entry */

/* Additions fail at 0.965 to 0.97 (ADR 0018). In small filters a few keys that share both buckets
 * weigh more: spare buckets leave one fill of some 4,000 that fails. */
static const double load_max = 0.95;
enum { BUCKETS_SPARE = 8 };

static const uint64_t lanes_one = 0x0001000100010001;
static const uint64_t lanes_high = 0x8000800080008000;
/* From the digits of pi: keeps the fingerprint's mix apart from the bucket's. */
static const uint64_t mix_fingerprint = 0xa4093822299f31d0;

struct home {
    uint64_t bucket[2];
    uint16_t fingerprint;
};

/* The fingerprint determines the sum of its two buckets, modulo their count. So each bucket leads
 * to the other without the key, for any count. */
static uint64_t other_bucket(const struct cuckoo *c, uint64_t bucket,
                             uint16_t fingerprint)
{
    uint64_t sum = mix_scale(
        mix_product(fingerprint ^ c->mix[1], c->mix[0] ^ mix_fingerprint), c->nbuckets);

    return sum >= bucket ? sum - bucket : sum + c->nbuckets - bucket;
}

static struct home home_of(const struct cuckoo *c, const struct digest *d)
{
    uint64_t half[2];
    struct home h;

    memcpy(half, d->b, sizeof(half));
    uint64_t mixed = mix_product(half[0] ^ c->mix[0], half[1] ^ c->mix[1]);
    uint64_t second = mix_product(mixed ^ c->mix[1], half[0] ^ mix_fingerprint);
    h.fingerprint = (uint16_t)(1 + mix_scale(second, CUCKOO_FINGERPRINTS));
    h.bucket[0] = mix_scale(mixed, c->nbuckets);
    h.bucket[1] = other_bucket(c, h.bucket[0], h.fingerprint);
    return h;
}

/* ---- one bucket: four lanes of 16 bits ---- */

static bool has_zero_lane(uint64_t word)
{
    return ((word - lanes_one) & ~word & lanes_high) != 0;
}

static bool has_lane(uint64_t bucket, uint16_t fingerprint)
{
    return has_zero_lane(bucket ^ fingerprint * lanes_one);
}

static uint16_t lane(uint64_t bucket, unsigned place)
{
    return (uint16_t)(bucket >> (place * CUCKOO_FINGERPRINT_BITS));
}

static uint64_t with_lane(uint64_t bucket, unsigned place, uint16_t fingerprint)
{
    unsigned shift = place * CUCKOO_FINGERPRINT_BITS;

    return (bucket & ~(UINT64_C(0xffff) << shift)) | (uint64_t)fingerprint << shift;
}

static unsigned count_lane(uint64_t bucket, uint16_t fingerprint)
{
    unsigned n = 0;

    for (unsigned i = 0; i < CUCKOO_BUCKET_ENTRIES; i++) {
        n += lane(bucket, i) == fingerprint;
    }
    return n;
}

static unsigned count_used(uint64_t bucket)
{
    const uint64_t low = ~lanes_high;

    return (unsigned)__builtin_popcountll((((bucket & low) + low) | bucket) &
                                          lanes_high);
}

/* Replaces the first lane that holds old; false: none does. */
static bool replace_lane(uint64_t *bucket, uint16_t old, uint16_t new)
{
    for (unsigned i = 0; i < CUCKOO_BUCKET_ENTRIES; i++) {
        if (lane(*bucket, i) == old) {
            *bucket = with_lane(*bucket, i, new);
            return true;
        }
    }
    return false;
}

/* ---- the filter ---- */

uint64_t cuckoo_buckets_for(uint64_t n)
{
    if (n > CUCKOO_KEYS_MAX) {
        return 0;
    }
    return BUCKETS_SPARE +
           (uint64_t)ceil((double)n / (CUCKOO_BUCKET_ENTRIES * load_max));
}

void cuckoo_key(struct cuckoo *c, const struct hashkey *key)
{
    struct digest d;

    digest_make(key, KEY_LABEL_TYPE, SLICE_LIT("cuckoo positions 1"), &d);
    memcpy(c->mix, d.b, sizeof(c->mix));
}

/* xorshift64*: any start but 0, which the addition mends. */
static uint64_t next_walk(struct cuckoo *c)
{
    uint64_t x = c->walk != 0 ? c->walk : mix_fingerprint;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    c->walk = x;
    return (x * UINT64_C(0x2545f4914f6cdd1d)) >> 32;
}

/* Puts everyone back where they were, the last displaced first. */
static void undo(struct cuckoo *c, const uint64_t *steps, unsigned n, uint16_t homeless)
{
    while (n-- > 0) {
        uint64_t *bucket = &c->buckets[steps[n] / CUCKOO_BUCKET_ENTRIES];
        unsigned place = steps[n] % CUCKOO_BUCKET_ENTRIES;
        uint16_t intruder = lane(*bucket, place);

        *bucket = with_lane(*bucket, place, homeless);
        homeless = intruder;
    }
}

/* Moves one of a full bucket to its other one, where there is room, and puts homeless in its
 * place. retother: where each of the four would go. */
static bool move_one(struct cuckoo *c, uint64_t at, unsigned first, uint16_t homeless,
                     uint64_t retother[CUCKOO_BUCKET_ENTRIES])
{
    uint64_t bucket = c->buckets[at];

    for (unsigned i = 0; i < CUCKOO_BUCKET_ENTRIES; i++) {
        retother[i] = other_bucket(c, at, lane(bucket, i));
        __builtin_prefetch(&c->buckets[retother[i]], 1);
    }
    for (unsigned i = 0; i < CUCKOO_BUCKET_ENTRIES; i++) {
        unsigned place = (first + i) % CUCKOO_BUCKET_ENTRIES;
        if (replace_lane(&c->buckets[retother[place]], 0, lane(bucket, place))) {
            c->buckets[at] = with_lane(bucket, place, homeless);
            return true;
        }
    }
    return false;
}

/* Bucket `at` is full, as the key's other one is: someone of it moves to its own other bucket,
 * or, where all four of these are full, drives someone out of there, and so on. */
static enum err displace(struct cuckoo *c, uint64_t at, uint16_t homeless)
{
    uint64_t steps[CUCKOO_KICKS_MAX]; /* places where someone was displaced */

    for (unsigned n = 0; n < CUCKOO_KICKS_MAX; n++) {
        uint64_t other[CUCKOO_BUCKET_ENTRIES];
        unsigned place = next_walk(c) % CUCKOO_BUCKET_ENTRIES;
        uint16_t victim = lane(c->buckets[at], place);

        if (move_one(c, at, place, homeless, other)) {
            c->entries++;
            return ERR_OK;
        }
        steps[n] = at * CUCKOO_BUCKET_ENTRIES + place;
        c->buckets[at] = with_lane(c->buckets[at], place, homeless);
        homeless = victim;
        at = other[place];
    }
    undo(c, steps, CUCKOO_KICKS_MAX, homeless);
    return ERR_NOSPACE;
}

/* The emptier of the two takes it: fewer buckets fill up early, fewer entries must move. */
static enum err add_home(struct cuckoo *c, const struct home *h)
{
    unsigned first =
        count_used(c->buckets[h->bucket[1]]) < count_used(c->buckets[h->bucket[0]]);

    if (replace_lane(&c->buckets[h->bucket[first]], 0, h->fingerprint)) {
        c->entries++;
        return ERR_OK;
    }
    /* Where the two are one bucket, four copies fill it. */
    if (count_lane(c->buckets[h->bucket[0]], h->fingerprint) +
            count_lane(c->buckets[h->bucket[1]], h->fingerprint) >=
        CUCKOO_COPIES_MAX) {
        return ERR_LIMIT;
    }
    return displace(c, h->bucket[next_walk(c) % 2], h->fingerprint);
}

enum err cuckoo_add(struct cuckoo *c, const struct digest *d)
{
    struct home h = home_of(c, d);

    return add_home(c, &h);
}

/* Where n digests (at most CUCKOO_BATCH) live, their buckets on the way into the cache. */
static void find_homes(const struct cuckoo *c, const struct digest *d, size_t n,
                       struct home *ret)
{
    for (size_t i = 0; i < n; i++) {
        ret[i] = home_of(c, &d[i]);
        __builtin_prefetch(&c->buckets[ret[i].bucket[0]]);
        __builtin_prefetch(&c->buckets[ret[i].bucket[1]]);
    }
}

enum err cuckoo_add_batch(struct cuckoo *c, const struct digest *d, size_t n,
                          size_t *retadded)
{
    struct home homes[CUCKOO_BATCH];
    enum err e = ERR_OK;
    size_t added = 0;

    while (added < n && e == ERR_OK) {
        size_t batch = n - added < CUCKOO_BATCH ? n - added : CUCKOO_BATCH;

        find_homes(c, d + added, batch, homes);
        for (size_t i = 0; i < batch && e == ERR_OK; i++) {
            e = add_home(c, &homes[i]);
            added += e == ERR_OK;
        }
    }
    *retadded = added;
    return e;
}

enum err cuckoo_remove(struct cuckoo *c, const struct digest *d)
{
    struct home h = home_of(c, d);

    for (unsigned i = 0; i < 2; i++) {
        if (replace_lane(&c->buckets[h.bucket[i]], h.fingerprint, 0)) {
            c->entries--;
            return ERR_OK;
        }
    }
    return ERR_NOT_FOUND;
}

static bool is_home(const struct cuckoo *c, const struct home *h)
{
    return has_lane(c->buckets[h->bucket[0]], h->fingerprint) ||
           has_lane(c->buckets[h->bucket[1]], h->fingerprint);
}

bool cuckoo_test(const struct cuckoo *c, const struct digest *d)
{
    struct home h = home_of(c, d);

    return is_home(c, &h);
}

void cuckoo_test_batch(const struct cuckoo *c, const struct digest *d, size_t n,
                       uint8_t *rethit)
{
    struct home homes[CUCKOO_BATCH];

    for (size_t done = 0; done < n; done += CUCKOO_BATCH) {
        size_t batch = n - done < CUCKOO_BATCH ? n - done : CUCKOO_BATCH;

        find_homes(c, d + done, batch, homes);
        for (size_t i = 0; i < batch; i++) {
            rethit[done + i] = is_home(c, &homes[i]) ? 1 : 0;
        }
    }
}

double cuckoo_error(uint64_t nbuckets, uint64_t entries)
{
    double met = 2.0 * (double)entries / (double)nbuckets;

    return -expm1(met * log1p(-1.0 / CUCKOO_FINGERPRINTS));
}

double cuckoo_load(const struct cuckoo *c)
{
    return (double)c->entries / ((double)c->nbuckets * CUCKOO_BUCKET_ENTRIES);
}
