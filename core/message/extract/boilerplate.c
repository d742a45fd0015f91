#include "core/message/extract/boilerplate.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/std.h"

/* Both words are written under the lock, and read without: relaxed, they tell of nothing else. */
struct slot {
    _Atomic uint64_t shingle; /* 0: free */
    _Atomic uint64_t senders; /* see struct senders */
};
_Static_assert(sizeof(struct slot) == 16, "a slot is as large as the header says");

struct bucket {
    struct slot slot[BOILERPLATE_WAYS];
};

/* A slot's second word: three tags of 16 bits, how many there are, and the day of the first. */
struct senders {
    uint16_t tag[BOILERPLATE_SENDERS];
    uint8_t n; /* COMMON: enough, and long enough */
    uint8_t day;
};

enum { SIZE_A_MESSAGE = 8, SIZE_LEAST = 1 << 16, SIZE_MOST = 1 << 22 };

enum { COMMON = UINT8_MAX, SENDERS_SHIFT = 48, DAY_SHIFT = 56 };

struct boilerplate {
    pthread_mutex_t learning; /* guards: writing to slot[] */
    size_t mask;              /* of buckets */
    unsigned char *memory;    /* of the buckets, with room to align them */
    struct bucket *bucket;    /* each a line of the cache */
    /* A bit for each bucket: a shingle in it is or was common. Few buckets have one, and these
     * bits stay in the cache where the buckets do not. */
    _Atomic uint64_t *has_common;
};

size_t boilerplate_size(uint64_t messages_per_day)
{
    if (messages_per_day >= SIZE_MOST / SIZE_A_MESSAGE) {
        return SIZE_MOST;
    }
    size_t n = (size_t)messages_per_day * SIZE_A_MESSAGE;
    return n < SIZE_LEAST ? SIZE_LEAST : n;
}

static void drop(struct boilerplate *u)
{
    free(u->memory);
    free(u->has_common);
    free(u);
}

struct boilerplate *boilerplate_new(size_t nshingles)
{
    size_t nbuckets = 1;
    if (nshingles > BOILERPLATE_SHINGLES_MAX) {
        return NULL;
    }
    while (nbuckets * BOILERPLATE_WAYS < nshingles) {
        nbuckets *= 2;
    }
    struct boilerplate *u = calloc(1, sizeof(*u));
    if (u == NULL) {
        return NULL;
    }
    /* Not aligned_alloc: pages of calloc cost no memory before they are used. */
    u->memory = calloc(1, nbuckets * sizeof(u->bucket[0]) + sizeof(u->bucket[0]));
    u->has_common = calloc((nbuckets + 63) / 64, sizeof(u->has_common[0]));
    if (u->memory == NULL || u->has_common == NULL) {
        drop(u);
        return NULL;
    }
    size_t past = (uintptr_t)u->memory % sizeof(u->bucket[0]);
    u->bucket = (struct bucket *)(void *)(u->memory + (sizeof(u->bucket[0]) - past));
    if (pthread_mutex_init(&u->learning, NULL) != 0) {
        drop(u);
        return NULL;
    }
    u->mask = nbuckets - 1;
    return u;
}

void boilerplate_free(struct boilerplate **u)
{
    if (*u != NULL) {
        pthread_mutex_destroy(&(*u)->learning);
        drop(*u);
    }
    *u = NULL;
}

static size_t index_of(const struct boilerplate *u, uint64_t shingle)
{
    return (size_t)(shingle >> 20) & u->mask;
}

static struct slot *bucket_of(const struct boilerplate *u, uint64_t shingle)
{
    return u->bucket[index_of(u, shingle)].slot;
}

static bool may_be_common(const struct boilerplate *u, uint64_t shingle)
{
    size_t i = index_of(u, shingle);
    uint64_t word = atomic_load_explicit(&u->has_common[i / 64], memory_order_relaxed);
    return (word >> i % 64 & 1) != 0;
}

static void note_common(struct boilerplate *u, uint64_t shingle)
{
    size_t i = index_of(u, shingle);
    atomic_fetch_or_explicit(&u->has_common[i / 64], UINT64_C(1) << i % 64,
                             memory_order_relaxed);
}

static struct senders senders_of(const struct slot *slot)
{
    uint64_t word = atomic_load_explicit(&slot->senders, memory_order_relaxed);
    return (struct senders){
        .tag = {(uint16_t)word, (uint16_t)(word >> 16), (uint16_t)(word >> 32)},
        .n = (uint8_t)(word >> SENDERS_SHIFT),
        .day = (uint8_t)(word >> DAY_SHIFT)};
}

static void put_senders(struct slot *slot, const struct senders *s)
{
    uint64_t word = s->tag[0] | (uint64_t)s->tag[1] << 16 | (uint64_t)s->tag[2] << 32 |
                    (uint64_t)s->n << SENDERS_SHIFT | (uint64_t)s->day << DAY_SHIFT;
    atomic_store_explicit(&slot->senders, word, memory_order_relaxed);
}

static uint64_t shingle_of(const struct slot *slot)
{
    return atomic_load_explicit(&slot->shingle, memory_order_relaxed);
}

bool boilerplate_has(const struct boilerplate *u, uint64_t shingle)
{
    if (!may_be_common(u, shingle)) {
        return false;
    }
    const struct slot *bucket = bucket_of(u, shingle);
    for (size_t i = 0; i < BOILERPLATE_WAYS; i++) {
        if (shingle_of(&bucket[i]) == shingle) {
            return senders_of(&bucket[i]).n == COMMON;
        }
    }
    return false;
}

void boilerplate_prefetch(const struct boilerplate *u, uint64_t shingle)
{
    if (may_be_common(u, shingle)) {
        __builtin_prefetch(bucket_of(u, shingle));
    }
}

/* Days are kept modulo 256: after 256 days without a sender a shingle counts as new. */
static bool add_sender(struct slot *slot, uint16_t tag, uint8_t day, unsigned wait)
{
    struct senders s = senders_of(slot);
    bool is_known = s.n == COMMON;
    for (size_t i = 0; !is_known && i < s.n; i++) {
        is_known = s.tag[i] == tag;
    }
    if (!is_known && s.n < BOILERPLATE_SENDERS) {
        s.tag[s.n++] = tag;
    }
    if (s.n == BOILERPLATE_SENDERS && (uint8_t)(day - s.day) >= wait) {
        s.n = COMMON;
    }
    put_senders(slot, &s);
    return s.n == COMMON;
}

/* Whether a is replaced before b. */
static bool is_worth_less(const struct slot *a, const struct slot *b, uint8_t day)
{
    struct senders sa = senders_of(a);
    struct senders sb = senders_of(b);
    if (sa.n != sb.n) {
        return sa.n < sb.n;
    }
    return (uint8_t)(day - sa.day) > (uint8_t)(day - sb.day);
}

/* The slot of a shingle; NULL: it has none and may replace *retleast. */
static struct slot *find(struct boilerplate *u, uint64_t shingle, uint8_t day,
                         struct slot **retleast)
{
    struct slot *bucket = bucket_of(u, shingle);
    struct slot *least = &bucket[0];
    for (size_t i = 0; i < BOILERPLATE_WAYS; i++) {
        if (shingle_of(&bucket[i]) == shingle) {
            return &bucket[i];
        }
        if (is_worth_less(&bucket[i], least, day)) {
            least = &bucket[i];
        }
    }
    *retleast = least;
    return NULL;
}

static void put_new(struct slot *slot, uint64_t shingle, uint16_t tag, uint8_t day)
{
    put_senders(slot, &(struct senders){.tag = {tag}, .n = 1, .day = day});
    atomic_store_explicit(&slot->shingle, shingle, memory_order_relaxed);
}

static bool learn(struct boilerplate *u, uint64_t shingle, uint16_t tag, uint8_t day,
                  unsigned wait)
{
    struct slot *least = NULL;
    struct slot *slot = shingle != 0 ? find(u, shingle, day, &least) : NULL;
    if (slot != NULL) {
        bool is_common = add_sender(slot, tag, day, wait);
        if (is_common) {
            note_common(u, shingle);
        }
        return is_common;
    }
    if (least != NULL) {
        put_new(least, shingle, tag, day);
    }
    return false;
}

/* One more message with this line, its front unlike those before. */
static void learn_line(struct boilerplate *u, uint64_t line, uint8_t day)
{
    struct slot *least = NULL;
    struct slot *slot = find(u, line, day, &least);
    if (slot == NULL) {
        put_new(least, line, 0, day);
        return;
    }
    struct senders s = senders_of(slot);
    if (s.n != COMMON) {
        s.n++;
        bool is_old = (uint8_t)(day - s.day) >= BOILERPLATE_DAYS;
        if (s.n >= BOILERPLATE_FRONTS || (is_old && s.n >= BOILERPLATE_SENDERS)) {
            s.n = COMMON;
            note_common(u, line);
        }
        put_senders(slot, &s);
    }
}

static uint16_t tag_of(uint64_t sender)
{
    return (uint16_t)(sender ^ (sender >> 16) ^ (sender >> 32) ^ (sender >> 48));
}

bool boilerplate_learn(struct boilerplate *u, uint64_t shingle, uint64_t sender)
{
    pthread_mutex_lock(&u->learning);
    bool is_common = learn(u, shingle, tag_of(sender), 0, 0);
    pthread_mutex_unlock(&u->learning);
    return is_common;
}

void boilerplate_learn_message(struct boilerplate *u, const uint64_t *shingles,
                               size_t n, uint64_t sender, uint64_t day)
{
    pthread_mutex_lock(&u->learning);
    for (size_t i = 0; i < n; i++) {
        (void)learn(u, shingles[i], tag_of(sender), (uint8_t)day, BOILERPLATE_DAYS);
    }
    pthread_mutex_unlock(&u->learning);
}

static bool is_any_known(struct boilerplate *u, const uint64_t *v, size_t n)
{
    struct slot *least = NULL;
    for (size_t i = 0; i < n; i++) {
        if (find(u, v[i], 0, &least) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_among(const uint64_t *v, size_t n, uint64_t value)
{
    for (size_t i = 0; i < n; i++) {
        if (v[i] == value) {
            return true;
        }
    }
    return false;
}

void boilerplate_learn_footer(struct boilerplate *u, const uint64_t *front,
                              size_t nfront, const uint64_t *lines, size_t nlines,
                              uint64_t day)
{
    pthread_mutex_lock(&u->learning);
    if (!is_any_known(u, front, nfront)) {
        for (size_t i = 0; i < nfront; i++) {
            (void)learn(u, front[i], 0, (uint8_t)day, BOILERPLATE_DAYS);
        }
        for (size_t i = 0; i < nlines; i++) {
            if (lines[i] != 0 && !is_among(lines, i, lines[i])) {
                learn_line(u, lines[i], (uint8_t)day);
            }
        }
    }
    pthread_mutex_unlock(&u->learning);
}
