#include "core/message/extract/shingle.h"

#include "core/base/keyring.h"

enum { EMPTY_TRIES = 64, KEY_BYTES = 32, AHEAD = 8, TURN = 23 };
#define EMPTY UINT64_MAX

/* Both halves of the product, one over the other: every bit of a and b matters. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 p = a;
    p *= b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t turn(uint64_t v)
{
    return v << TURN | v >> (64 - TURN);
}

static void derive(const struct hashkey *ring, const char *purpose, uint64_t number,
                   uint64_t ret[4])
{
    uint8_t bytes[KEY_BYTES];
    keyring_derive(ring, purpose, number, bytes);
    for (size_t i = 0; i < 4; i++) {
        ret[i] = 0;
        for (size_t k = 0; k < 8; k++) {
            ret[i] |= (uint64_t)bytes[8 * i + k] << (8 * k);
        }
    }
}

void shingle_keys_make(const struct hashkey *ring, uint64_t unix_s,
                       struct shingle_keys *ret)
{
    uint64_t now = unix_s / SHINGLE_EPOCH_S;
    ret->is_set = true;
    derive(ring, "fingerprint words", 0, ret->word);
    for (size_t i = 0; i < SHINGLE_EPOCHS; i++) {
        uint64_t number = now >= i ? now - i : 0;
        ret->epoch[i].number = (uint32_t)number;
        derive(ring, "fingerprint epoch", number, ret->epoch[i].key);
    }
}

void sketch_init(struct sketch *s)
{
    memset(s->least, 0xff, sizeof(s->least));
    memset(s->seen, 0, sizeof(s->seen));
}

/* The first n bytes of 8, in the order of the machine: nothing of this is stored elsewhere. */
static uint64_t load(const char *p, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, p, sizeof(v));
    return v & (UINT64_MAX >> (64 - 8 * n));
}

static uint64_t hash_word(const struct shingle_keys *keys, struct slice text)
{
    uint64_t h = keys->word[0] ^ text.n;
    size_t i = 0;
    for (; text.n - i > 8; i += 8) {
        h = mix(h ^ load(text.p + i, 8), keys->word[1]);
    }
    return mix(h ^ load(text.p + i, text.n - i), keys->word[2]);
}

static void add_shingle(struct sketch *sketch, const struct shingle_keys *keys,
                        uint64_t shingle)
{
    sketch->seen[shingle / 64 % (SHINGLE_SEEN_BITS / 64)] |= (uint64_t)1
                                                             << (shingle % 64);
    uint64_t turned = shingle << 32 | shingle >> 32;
    for (size_t e = 0; e < SHINGLE_EPOCHS; e++) {
        const uint64_t *key = keys->epoch[e].key;
        uint64_t value = mix(shingle ^ key[0], turned ^ key[1]);
        uint64_t *least =
            &sketch->least[e][(size_t)((value >> 32) * SHINGLE_BINS >> 32)];
        *least =
            value < *least ? value : *least; /* no branch: it could not be guessed */
    }
}

void sketch_add(struct sketch *s, const struct shingle_keys *keys,
                const struct boilerplate *guard, const uint64_t *shingles, size_t n)
{
    if (guard == NULL) {
        for (size_t i = 0; i < n; i++) {
            add_shingle(s, keys, shingles[i]);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            boilerplate_prefetch(guard, shingles[i + AHEAD]);
        }
        if (!boilerplate_has(guard, shingles[i])) {
            add_shingle(s, keys, shingles[i]);
        }
    }
}

static bool is_unspoken(enum fold_kind kind)
{
    return kind == FOLD_NUMBER || kind == FOLD_MIXED || kind == FOLD_URL ||
           kind == FOLD_ADDRESS;
}

bool shingler_word(struct shingler *s, struct wordsum *sum,
                   const struct fold_word *word, uint64_t *retshingle)
{
    const uint64_t *key = s->keys->word;
    uint64_t hash = hash_word(s->keys, fold_skeleton(word));
    uint64_t own = hash;
    bool is_run = s->nrun == SHINGLE_WORDS - 1;

    s->line = turn(s->line) + hash;
    if (sum != NULL) {
        sum->nwords++;
        sum->sum[0] = mix(sum->sum[0] ^ hash, key[1]) + key[3];
        sum->sum[1] = turn(sum->sum[1]) + hash;
    }
    if (word->kind == FOLD_ALONE) { /* with the one before: a shingle is of one more */
        hash = mix(hash ^ key[3], s->alone ^ key[0]);
        s->alone = own;
    } else {
        s->alone = 0;
    }
    s->nunspoken = is_unspoken(word->kind) ? s->nunspoken + 1 : 0;
    if (is_run) {
        *retshingle = mix(mix(s->last[0] ^ key[0], s->last[1] ^ key[2]) + hash, key[3]);
    } else {
        s->nrun++;
    }
    s->last[0] = s->last[1];
    s->last[1] = hash;
    return is_run && s->nunspoken < SHINGLE_WORDS;
}

void shingler_break(struct shingler *s)
{
    s->nrun = 0;
    s->nunspoken = 0;
    s->alone = 0;
}

void wordsum_merge(struct wordsum *into, const struct wordsum *from)
{
    into->nwords += from->nwords;
    into->sum[0] += from->sum[0];
    into->sum[1] ^= from->sum[1];
}

void sketch_merge(struct sketch *into, const struct sketch *from)
{
    for (size_t e = 0; e < SHINGLE_EPOCHS; e++) {
        for (size_t i = 0; i < SHINGLE_BINS; i++) {
            if (from->least[e][i] < into->least[e][i]) {
                into->least[e][i] = from->least[e][i];
            }
        }
    }
    for (size_t i = 0; i < SHINGLE_SEEN_BITS / 64; i++) {
        into->seen[i] |= from->seen[i];
    }
}

unsigned sketch_distinct(const struct sketch *s)
{
    unsigned n = 0;
    for (size_t i = 0; i < SHINGLE_SEEN_BITS / 64; i++) {
        for (uint64_t bits = s->seen[i]; bits != 0; bits &= bits - 1) {
            n++;
        }
    }
    return n;
}

/* The value of a bin: an empty one has that of a full one, chosen by its number alone, so that
 * like texts choose alike. */
static uint64_t bin_value(const uint64_t least[SHINGLE_BINS], const uint64_t key[4],
                          size_t bin)
{
    size_t from = bin;
    for (uint64_t i = 1; least[from] == EMPTY && i <= EMPTY_TRIES; i++) {
        uint64_t at = mix((bin + 1) * 0x9e3779b97f4a7c15u ^ key[1], i ^ key[2]);
        from = (size_t)((at >> 32) * SHINGLE_BINS >> 32);
    }
    for (size_t i = 0; least[from] == EMPTY && i < SHINGLE_BINS; i++) {
        from = (from + 1) % SHINGLE_BINS;
    }
    return least[from];
}

bool sketch_bands(const struct sketch *s, const struct shingle_keys *keys,
                  unsigned epoch, uint64_t retbands[SHINGLE_BANDS])
{
    const uint64_t *key = keys->epoch[epoch].key;
    if (sketch_distinct(s) < SHINGLE_DISTINCT_MIN) {
        return false;
    }
    for (size_t band = 0; band < SHINGLE_BANDS; band++) {
        uint64_t hash = key[3] ^ band;
        for (size_t row = 0; row < SHINGLE_ROWS; row++) {
            size_t bin = band * SHINGLE_ROWS + row;
            hash = mix(hash ^ bin_value(s->least[epoch], key, bin), key[0]) + key[2];
        }
        retbands[band] = hash;
    }
    return true;
}
