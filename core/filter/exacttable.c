/*
 * exacttable - slots whose checksum is their publication.
 */
#include "core/filter/exacttable.h"

#include "core/base/checksum.h"

enum {
    DIGEST_WORDS = 2,
    CHECK_WORD = DIGEST_WORDS + EXACT_VALUE_WORDS,
    /* a writer that was preempted in the middle of a slot goes on by then */
    READ_ATTEMPTS = 2000,
    READ_FAULTS = 40, /* as often wrong without a writer about: damage */
    READ_SLEEP_NS = 100000,
    CHECK_WRITING = 1 /* stands in for the checksum while a slot is being replaced */
};

_Static_assert(CHECK_WORD + 1 == EXACT_SLOT_WORDS, "slot layout");

struct slot_copy {
    uint64_t word[EXACT_SLOT_WORDS];
};

/* Checksum of digest and value; 0 and CHECK_WRITING mark slots without one. */
static uint64_t slot_check(const struct slot_copy *s)
{
    char bytes[CHECK_WORD * sizeof(uint64_t)];
    memcpy(bytes, s->word, sizeof(bytes));
    uint64_t sum = checksum64(slice_of(bytes, sizeof(bytes)));
    return sum <= CHECK_WRITING ? sum + 2 : sum;
}

static const uint64_t *slot_words(const struct exact_table *t, uint64_t i)
{
    return t->words + (i & (t->capacity - 1)) * EXACT_SLOT_WORDS;
}

/* The check is loaded with acquire, partner of the release store in slot_store: a reader that sees
 * a checksum sees at least the words it was made of. Each word is loaded with acquire, partner of
 * its own release store: a reader that sees a word of a replacement sees CHECK_WRITING, or a later
 * value, when it loads the check again. *retstable: both loads of the check were equal. */
static void slot_load(const uint64_t *words, struct slot_copy *ret, bool *retstable)
{
    ret->word[CHECK_WORD] = __atomic_load_n(&words[CHECK_WORD], __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < CHECK_WORD; i++) {
        ret->word[i] = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
    }
    *retstable =
        __atomic_load_n(&words[CHECK_WORD], __ATOMIC_RELAXED) == ret->word[CHECK_WORD];
}

/* A new slot keeps its 0 until it is whole: a writer that dies leaves it empty.
 * NOLINTNEXTLINE(readability-non-const-parameter): the atomic builtins write through it */
static void slot_store(uint64_t *words, const struct slot_copy *s, bool is_new)
{
    if (!is_new) {
        __atomic_store_n(&words[CHECK_WORD], CHECK_WRITING, __ATOMIC_RELAXED);
    }
    for (unsigned i = 0; i < CHECK_WORD; i++) {
        __atomic_store_n(&words[i], s->word[i], __ATOMIC_RELEASE);
    }
    __atomic_store_n(&words[CHECK_WORD], s->word[CHECK_WORD], __ATOMIC_RELEASE);
}

/* Reads a slot until checksum and words agree. ERR_NOT_FOUND: empty. */
static enum err slot_read(const uint64_t *words, struct slot_copy *ret)
{
    static const struct timespec pause = {.tv_nsec = READ_SLEEP_NS};
    unsigned faults = 0;
    for (unsigned i = 0; i < READ_ATTEMPTS && faults < READ_FAULTS; i++) {
        bool is_stable = false;
        slot_load(words, ret, &is_stable);
        if (ret->word[CHECK_WORD] == 0) {
            return ERR_NOT_FOUND;
        }
        if (ret->word[CHECK_WORD] == slot_check(ret)) {
            return ERR_OK;
        }
        if (ret->word[CHECK_WORD] == CHECK_WRITING) {
            (void)nanosleep(&pause, NULL);
        } else {
            faults += is_stable;
        }
    }
    return ERR_CORRUPT;
}

static bool has_digest(const uint64_t *words, const uint64_t digest[DIGEST_WORDS])
{
    return __atomic_load_n(&words[0], __ATOMIC_RELAXED) == digest[0] &&
           __atomic_load_n(&words[1], __ATOMIC_RELAXED) == digest[1];
}

static bool is_slot_empty(const uint64_t *words)
{
    return __atomic_load_n(&words[CHECK_WORD], __ATOMIC_ACQUIRE) == 0;
}

/* In a page of a file that was cut (sigbus.h): the digest may have been here, or behind. */
static bool is_slot_lost(const uint64_t *words)
{
    return __atomic_load_n(&words[0], __ATOMIC_RELAXED) == UINT64_MAX &&
           __atomic_load_n(&words[CHECK_WORD], __ATOMIC_RELAXED) == UINT64_MAX;
}

/* Index of the digest's slot or of the first empty or lost one on its way; false when all are
 * taken by others. */
static bool find_slot(const struct exact_table *t, const uint64_t digest[DIGEST_WORDS],
                      uint64_t *reti)
{
    for (uint64_t step = 0; step < t->capacity; step++) {
        const uint64_t *words = slot_words(t, digest[0] + step);
        if (is_slot_empty(words) || has_digest(words, digest) || is_slot_lost(words)) {
            *reti = (digest[0] + step) & (t->capacity - 1);
            return true;
        }
    }
    return false;
}

enum err exact_get(const struct exact_table *t, const struct digest *d,
                   struct exact_value *ret)
{
    uint64_t digest[DIGEST_WORDS];
    memcpy(digest, d->b, sizeof(digest));
    uint64_t i = 0;
    if (!find_slot(t, digest, &i)) {
        return ERR_NOT_FOUND;
    }
    struct slot_copy s;
    enum err e = slot_read(slot_words(t, i), &s);
    if (e != ERR_OK) {
        return e;
    }
    /* a slot seen empty may have been filled since with another digest. An entry for d can only
     * come after it, so "not there" was true at the time of the question */
    if (memcmp(s.word, digest, sizeof(digest)) != 0) {
        return ERR_NOT_FOUND;
    }
    memcpy(ret->word, &s.word[DIGEST_WORDS], sizeof(ret->word));
    return ERR_OK;
}

enum err exact_put(struct exact_table *t, const struct digest *d,
                   const struct exact_value *v, bool *retnew)
{
    struct slot_copy s;
    memcpy(s.word, d->b, DIGEST_BYTES);
    memcpy(&s.word[DIGEST_WORDS], v->word, sizeof(v->word));
    s.word[CHECK_WORD] = slot_check(&s);
    uint64_t i = 0;
    if (!find_slot(t, s.word, &i)) {
        return ERR_NOSPACE;
    }
    uint64_t *words = t->words + i * EXACT_SLOT_WORDS;
    if (is_slot_lost(words)) {
        return ERR_CORRUPT;
    }
    *retnew = is_slot_empty(words);
    slot_store(words, &s, *retnew);
    return ERR_OK;
}

enum err exact_at(const struct exact_table *t, uint64_t i, struct digest *retdigest,
                  struct exact_value *ret)
{
    struct slot_copy s;
    enum err e = slot_read(slot_words(t, i), &s);
    if (e != ERR_OK) {
        return e;
    }
    memcpy(retdigest->b, s.word, DIGEST_BYTES);
    memcpy(ret->word, &s.word[DIGEST_WORDS], sizeof(ret->word));
    return ERR_OK;
}
