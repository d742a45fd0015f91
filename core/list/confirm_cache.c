/*
 * confirm_cache - sets of slots in anonymous memory; a slot's checksum tells whether it is whole.
 */
#include "core/list/confirm_cache.h"

#include "core/base/checksum.h"
#include "core/base/pages.h"
#include "core/list/entry.h"

enum {
    SLOT_WORDS = CONFIRM_CACHE_SLOT_BYTES / 8,
    WORD_VALUE = 2, /* after the digest */
    WORD_PERIOD = WORD_VALUE + EXACT_VALUE_WORDS,
    WORD_THERE = WORD_PERIOD + 1,
    WORD_CHECK = WORD_THERE + 1,
    THERE = 1,
    ABSENT = 2 /* neither is what an empty slot holds */
};

_Static_assert(WORD_CHECK + 1 == SLOT_WORDS, "a slot is one cache line");

struct slot {
    uint64_t word[SLOT_WORDS];
};

struct confirm_cache {
    struct slot *slots; /* sets of CONFIRM_CACHE_WAYS, aligned to pages */
    size_t sets;        /* a power of two */
};

static size_t sets_for(size_t entries)
{
    size_t sets = 1;
    while (sets * CONFIRM_CACHE_WAYS < entries &&
           sets * CONFIRM_CACHE_WAYS < CONFIRM_CACHE_SLOTS_MAX) {
        sets *= 2;
    }
    return sets;
}

size_t confirm_cache_bytes_for(size_t entries)
{
    return entries == 0 ? 0
                        : sets_for(entries) * CONFIRM_CACHE_WAYS * sizeof(struct slot);
}

struct confirm_cache *confirm_cache_new(size_t entries)
{
    struct confirm_cache *c = entries == 0 ? NULL : calloc(1, sizeof(*c));
    if (!c) {
        return NULL;
    }
    c->sets = sets_for(entries);
    c->slots = pages_new(confirm_cache_bytes(c));
    if (c->slots == NULL) {
        free(c);
        return NULL;
    }
    return c;
}

void confirm_cache_free(struct confirm_cache **c)
{
    if (*c) {
        pages_free((*c)->slots, confirm_cache_bytes(*c));
        free(*c);
    }
    *c = NULL;
}

size_t confirm_cache_bytes(const struct confirm_cache *c)
{
    return c ? c->sets * CONFIRM_CACHE_WAYS * sizeof(struct slot) : 0;
}

/* Of everything before the checksum; never 0, which an empty slot holds. */
static uint64_t slot_check(const struct slot *s)
{
    uint64_t sum =
        checksum64(slice_of((const char *)s->word, WORD_CHECK * sizeof(uint64_t)));
    return sum == 0 ? 1 : sum;
}

/* The last bytes of the digest: the first ones order the index and place the filter's lines. */
static struct slot *set_of(const struct confirm_cache *c, const struct digest *d)
{
    uint64_t at = 0;
    memcpy(&at, d->b + DIGEST_BYTES - sizeof(at), sizeof(at));
    return c->slots + (at & (c->sets - 1)) * CONFIRM_CACHE_WAYS;
}

/* Relaxed, like the stores of slot_store: the checksum, not an order, tells whether these words
 * were written together. */
static bool slot_load(const struct slot *s, const uint64_t digest[2], struct slot *ret)
{
    for (unsigned i = 0; i < 2; i++) {
        ret->word[i] = __atomic_load_n(&s->word[i], __ATOMIC_RELAXED);
        if (ret->word[i] != digest[i]) {
            return false;
        }
    }
    for (unsigned i = 2; i < SLOT_WORDS; i++) {
        ret->word[i] = __atomic_load_n(&s->word[i], __ATOMIC_RELAXED);
    }
    return ret->word[WORD_CHECK] == slot_check(ret);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the atomic builtins write through it */
static void slot_store(struct slot *s, const struct slot *fresh)
{
    for (unsigned i = 0; i < SLOT_WORDS; i++) {
        __atomic_store_n(&s->word[i], fresh->word[i], __ATOMIC_RELAXED);
    }
}

bool confirm_cache_get(const struct confirm_cache *c, const struct digest *d,
                       struct confirm_cache_answer *ret)
{
    uint64_t digest[2];
    struct slot copy;
    if (!c) {
        return false;
    }
    memcpy(digest, d->b, sizeof(digest));
    const struct slot *set = set_of(c, d);
    for (unsigned way = 0; way < CONFIRM_CACHE_WAYS; way++) {
        if (!slot_load(&set[way], digest, &copy)) {
            continue;
        }
        struct exact_value v;
        memcpy(v.word, &copy.word[WORD_VALUE], sizeof(v.word));
        *ret = (struct confirm_cache_answer){.is_there = copy.word[WORD_THERE] == THERE,
                                             .period = copy.word[WORD_PERIOD]};
        if (ret->is_there) {
            ret->record = entry_unpack(&v);
        }
        return true;
    }
    return false;
}

/* The slot to fill: one of this digest, an empty one, or else one chosen by bits of the digest. The
 * last choice is as good as the oldest slot and needs no ages. */
static struct slot *slot_choose(struct slot *half, const struct slot *fresh)
{
    for (unsigned way = 0; way < CONFIRM_CACHE_WAYS_EACH; way++) {
        uint64_t first = __atomic_load_n(&half[way].word[0], __ATOMIC_RELAXED);
        uint64_t check = __atomic_load_n(&half[way].word[WORD_CHECK], __ATOMIC_RELAXED);
        if (check == 0 || first == fresh->word[0]) {
            return &half[way];
        }
    }
    return &half[(fresh->word[0] >> 32) % CONFIRM_CACHE_WAYS_EACH];
}

void confirm_cache_put(struct confirm_cache *c, const struct digest *d,
                       const struct confirm_cache_answer *a)
{
    struct slot fresh = {0};
    if (!c) {
        return;
    }
    memcpy(fresh.word, d->b, DIGEST_BYTES);
    if (a->is_there) {
        struct exact_value v = entry_pack(&a->record);
        memcpy(&fresh.word[WORD_VALUE], v.word, sizeof(v.word));
    }
    fresh.word[WORD_PERIOD] = a->period;
    fresh.word[WORD_THERE] = a->is_there ? THERE : ABSENT;
    fresh.word[WORD_CHECK] = slot_check(&fresh);
    unsigned from = a->is_there ? CONFIRM_CACHE_WAYS_EACH : 0;
    slot_store(slot_choose(set_of(c, d) + from, &fresh), &fresh);
}
