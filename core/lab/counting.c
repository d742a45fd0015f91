/*
 * counting - keys to cells, and the rules by which cells rise and fall.
 */
#include "core/lab/counting.h"

#include "core/base/uninitialized.h"
#include "core/filter/mix.h"
#include "core/lab/counting_cell.h"

enum {
    KEY_LABEL_TYPE = 0xffff, /* no feature type: the label cannot be a counted key */
    LINE_WORDS = 8           /* a chunk begins on its own 64-byte line */
};

/* Digits of pi keep the mixes of one key apart; the multiplier is that of Knuth's MMIX. */
static const uint64_t mix_first = 0x082efa98ec4e6c89;
static const uint64_t mix_second = 0x452821e638d01377;
static const uint64_t step = 6364136223846793005;

#define INLINE static inline __attribute__((always_inline))

/* ---- shapes ---- */

static enum err check_range(const char *what, uint64_t value, uint64_t least,
                            uint64_t most, struct errinfo *reterr)
{
    if (value >= least && value <= most) {
        return ERR_OK;
    }
    return errinfo_set(reterr, ERR_RANGE, what, 0, "%llu is outside %llu to %llu",
                       (unsigned long long)value, (unsigned long long)least,
                       (unsigned long long)most);
}

static enum err check_kind(const struct counting_shape *s, struct errinfo *reterr)
{
    if (s->variant != COUNTING_INTUITIVE && s->variant != COUNTING_REFINED) {
        return errinfo_set(reterr, ERR_UNSUPPORTED, "variant", 0,
                           "no counting filter has the variant %u: 1 is intuitive, 2 "
                           "refined",
                           (unsigned)s->variant);
    }
    if (s->layout != COUNTING_FLAT && s->layout != COUNTING_SPLIT) {
        return errinfo_set(reterr, ERR_UNSUPPORTED, "layout", 0,
                           "no counting filter has the layout %u: 1 is flat, 2 split",
                           (unsigned)s->layout);
    }
    switch (s->cell_bits) {
    case 4:
    case 5:
    case 6:
    case 8:
    case 16:
        return ERR_OK;
    default:
        return errinfo_set(reterr, ERR_UNSUPPORTED, "cell_bits", 0,
                           "cells have 4, 5, 6, 8 or 16 bits, not %u", s->cell_bits);
    }
}

/* Rounded up to whole lines. */
static uint64_t lines_of(uint64_t nwords)
{
    return (nwords + LINE_WORDS - 1) / LINE_WORDS * LINE_WORDS;
}

static uint64_t chunk_words(const struct counting_shape *s)
{
    unsigned per = counting_per(s->cell_bits);
    return lines_of((s->chunk_cells + per - 1) / per);
}

/* The slots and their head. */
static uint64_t slots_stride(const struct counting_shape *s)
{
    return s->layout == COUNTING_SPLIT ? lines_of(s->chunk_slots + 1) : 0;
}

enum err counting_check(const struct counting_shape *s, struct errinfo *reterr)
{
    enum err e = check_kind(s, reterr);
    bool is_split = s->layout == COUNTING_SPLIT;
    THEN(e, check_range("k", s->k, 1, COUNTING_K_MAX, reterr));
    THEN(e, check_range("nchunks", s->nchunks, 1, COUNTING_CHUNKS_MAX, reterr));
    THEN(e, check_range("chunk_cells", s->chunk_cells, 1, COUNTING_CHUNK_CELLS_MAX,
                        reterr));
    THEN(e, check_range("chunk_slots", s->chunk_slots, is_split ? 1 : 0,
                        is_split ? COUNTING_CHUNK_CELLS_MAX : 0, reterr));
    if (e == ERR_OK) { /* each factor is below 2^33: no overflow */
        e = check_range("words of cells", chunk_words(s) * s->nchunks, 1,
                        COUNTING_WORDS_MAX, reterr);
    }
    THEN(e, check_range("words of high parts", slots_stride(s) * s->nchunks, 0,
                        COUNTING_WORDS_MAX, reterr));
    return e;
}

uint64_t counting_words(const struct counting_shape *s)
{
    return chunk_words(s) * s->nchunks;
}

uint64_t counting_slots(const struct counting_shape *s)
{
    return slots_stride(s) * s->nchunks;
}

/* Bits that name any of n things. */
static unsigned bits_for(uint64_t n)
{
    unsigned bits = 1;
    while (((uint64_t)1 << bits) < n) {
        bits++;
    }
    return bits;
}

/* A split cell's high part has what the index leaves of 64 bits. */
static uint64_t cap_of(const struct counting_shape *s, unsigned index_bits)
{
    if (s->layout == COUNTING_FLAT) {
        return counting_mask(s->cell_bits);
    }
    unsigned low_bits = s->cell_bits - 1;
    unsigned bits = 64 - index_bits + low_bits;
    return counting_mask(bits < 63 ? bits : 63);
}

void counting_init(struct counting *c, const struct counting_shape *s, uint64_t *words,
                   uint64_t *slots, const struct hashkey *key)
{
    unsigned index_bits = bits_for(s->chunk_cells);
    *c = (struct counting){
        .shape = *s,
        .cap = cap_of(s, index_bits),
        .chunk_stride = chunk_words(s) * counting_per(s->cell_bits),
        .slots_stride = slots_stride(s),
        .index_bits = index_bits,
    };
    c->words = words;
    c->slots = slots;
    if (key) {
        struct digest d;
        digest_make(key, KEY_LABEL_TYPE, SLICE_LIT("counting positions 1"), &d);
        memcpy(c->mix, d.b, sizeof(c->mix));
    }
}

/* ---- keys to cells ---- */

/* Positions within the chunk by linear congruential steps, each scaled: unlike i * b, no short
 * cycles in small chunks. */
struct steps {
    uint64_t chunk;
    uint64_t at;
    uint64_t add;
};

static inline struct steps steps_of(const struct counting *c, const struct digest *d)
{
    uint64_t half[2];
    memcpy(half, d->b, sizeof(half));
    uint64_t h = mix_product(half[0] ^ c->mix[0], half[1] ^ c->mix[1]);
    return (struct steps){
        .chunk = mix_scale(h, c->shape.nchunks),
        .at = mix_product(h ^ c->mix[1], half[0] ^ mix_first),
        .add = mix_product(h ^ c->mix[0], half[1] ^ mix_second),
    };
}

static inline uint64_t next_step(struct steps *s, uint64_t cells)
{
    uint64_t at = mix_scale(s->at, cells);
    s->at = s->at * step + s->add;
    return at;
}

uint64_t counting_chunk(const struct counting *c, const struct digest *d)
{
    return steps_of(c, d).chunk;
}

void counting_positions(const struct counting *c, const struct digest *d,
                        uint64_t ret[COUNTING_K_MAX])
{
    struct steps s = steps_of(c, d);
    for (unsigned j = 0; j < c->shape.k; j++) {
        ret[j] = s.chunk * c->shape.chunk_cells + next_step(&s, c->shape.chunk_cells);
    }
}

static inline void place_digest(const struct counting *c, const struct digest *d,
                                struct counting_place *ret)
{
    struct steps s = steps_of(c, d);
    uint64_t first = s.chunk * c->chunk_stride;
    ret->chunk = s.chunk;
    for (unsigned j = 0; j < c->shape.k; j++) {
        ret->at[j] = first + next_step(&s, c->shape.chunk_cells);
    }
}

static inline uint64_t place_position(const struct counting *c, uint64_t position)
{
    if (c->shape.nchunks == 1) {
        return position;
    }
    return position / c->shape.chunk_cells * c->chunk_stride +
           position % c->shape.chunk_cells;
}

static inline void place_positions(const struct counting *c, const uint64_t *positions,
                                   struct counting_place *ret)
{
    for (unsigned j = 0; j < c->shape.k; j++) {
        ret->at[j] = place_position(c, positions[j]);
    }
}

/* ---- cells of one kind: bits and is_split are constants in each use ---- */

/* Whether the base cell of a split filter can hold value without its table. */
INLINE bool is_low(uint64_t value, unsigned bits)
{
    return value >> (bits - 1) == 0;
}

INLINE uint64_t load(const struct counting *c, uint64_t at, unsigned bits,
                     bool is_split)
{
    uint64_t raw = counting_load(c->words, at, bits);
    return is_split && !is_low(raw, bits) ? counting_split_load(c, at) : raw;
}

/* old: the value of the cell. */
INLINE void store(struct counting *c, uint64_t at, unsigned bits, bool is_split,
                  uint64_t old, uint64_t value)
{
    if (is_split && !(is_low(old, bits) && is_low(value, bits))) {
        counting_split_store(c, at, value);
    } else {
        counting_store(c->words, at, bits, value);
    }
}

/* H2 needs no search for positions that coincide: all are read before the first is written, so
 * such a cell is written twice with one value. */
INLINE uint64_t load_all(const struct counting *c, const struct counting_place *p,
                         unsigned bits, bool is_split, uint64_t *ret)
{
    const unsigned k = c->shape.k;
    uint64_t least = UINT64_MAX;
    for (unsigned j = 0; j < k; j++) {
        ret[j] = load(c, p->at[j], bits, is_split);
        least = ret[j] < least ? ret[j] : least;
    }
    return least;
}

/* H1 for an amount at once: one by one the least cells rise until all are at least least +
 * amount, and no cell above that is touched. k and cap are copies, since a cell could lie where
 * they do for all that the compiler knows. */
INLINE uint64_t add_to(struct counting *c, const struct counting_place *p,
                       uint64_t amount, unsigned bits, bool is_split)
{
    uint64_t old[COUNTING_K_MAX] UNINITIALIZED;
    const uint64_t cap = c->cap;
    const unsigned k = c->shape.k;
    const bool is_refined = c->shape.variant == COUNTING_REFINED;
    uint64_t count = counting_sum(load_all(c, p, bits, is_split, old), amount, cap);
    for (unsigned j = 0; j < k; j++) {
        uint64_t value = is_refined ? (old[j] > count ? old[j] : count)
                                    : counting_sum(old[j], amount, cap);
        if (value != old[j]) {
            store(c, p->at[j], bits, is_split, old[j], value);
        }
    }
    return count;
}

INLINE uint64_t least_of(const struct counting *c, const struct counting_place *p,
                         unsigned bits, bool is_split)
{
    uint64_t least = UINT64_MAX;
    for (unsigned j = 0; j < c->shape.k; j++) {
        uint64_t value = load(c, p->at[j], bits, is_split);
        least = value < least ? value : least;
    }
    return least;
}

/* False: some cell is below amount. A cell at its cap may stand for more: it stays. */
INLINE bool remove_from(struct counting *c, const struct counting_place *p,
                        uint64_t amount, unsigned bits, bool is_split)
{
    uint64_t old[COUNTING_K_MAX] UNINITIALIZED;
    const uint64_t cap = c->cap;
    const unsigned k = c->shape.k;
    uint64_t least = load_all(c, p, bits, is_split, old);
    if (least < amount && least < cap) {
        return false;
    }
    for (unsigned j = 0; j < k; j++) {
        if (old[j] < cap) {
            store(c, p->at[j], bits, is_split, old[j], old[j] - amount);
        }
    }
    return true;
}

/* Places n keys, their words on the way into the cache; returns n. */
INLINE size_t place_all(const struct counting *c, const struct digest *d, size_t n,
                        struct counting_place *ret, unsigned bits)
{
    const unsigned k = c->shape.k;
    for (size_t i = 0; i < n; i++) {
        place_digest(c, &d[i], &ret[i]);
        for (unsigned j = 0; j < k; j++) {
            __builtin_prefetch(&c->words[ret[i].at[j] / counting_per(bits)], 1);
        }
    }
    return n;
}

/* One switch for each function: within a case width and layout are constants. */
#define OF_WIDTH(bits, use)      \
    case (bits)*2:               \
        return use(bits, false); \
    case (bits)*2 + 1:           \
        return use(bits, true)

#define WITH_KIND(c, use, otherwise)                           \
    switch ((c)->shape.cell_bits * 2 + counting_is_split(c)) { \
        OF_WIDTH(4, use);                                      \
        OF_WIDTH(5, use);                                      \
        OF_WIDTH(6, use);                                      \
        OF_WIDTH(8, use);                                      \
        OF_WIDTH(16, use);                                     \
    default: /* counting_check lets none pass */               \
        return otherwise;                                      \
    }

uint64_t counting_add_place(struct counting *c, const struct counting_place *p,
                            uint64_t amount)
{
#define ADD(bits, is_split) add_to(c, p, amount, bits, is_split)
    WITH_KIND(c, ADD, c->cap);
}

uint64_t counting_get_place(const struct counting *c, const struct counting_place *p)
{
#define GET(bits, is_split) least_of(c, p, bits, is_split)
    WITH_KIND(c, GET, c->cap);
}

static bool remove_place(struct counting *c, const struct counting_place *p,
                         uint64_t amount)
{
#define REMOVE(bits, is_split) remove_from(c, p, amount, bits, is_split)
    WITH_KIND(c, REMOVE, false);
}

size_t counting_place_batch(const struct counting *c, const struct digest *d, size_t n,
                            struct counting_place *ret)
{
    switch (c->shape.cell_bits) {
    case 4:
        return place_all(c, d, n, ret, 4);
    case 5:
        return place_all(c, d, n, ret, 5);
    case 6:
        return place_all(c, d, n, ret, 6);
    case 8:
        return place_all(c, d, n, ret, 8);
    default:
        return place_all(c, d, n, ret, 16);
    }
}

/* ---- the interface ---- */

struct counting_read counting_add(struct counting *c, const struct digest *d,
                                  uint64_t amount)
{
    struct counting_place p UNINITIALIZED;
    place_digest(c, d, &p);
    return counting_read_of(c, counting_add_place(c, &p, amount));
}

struct counting_read counting_get(const struct counting *c, const struct digest *d)
{
    struct counting_place p UNINITIALIZED;
    place_digest(c, d, &p);
    return counting_read_of(c, counting_get_place(c, &p));
}

void counting_add_batch(struct counting *c, const struct digest *d,
                        const uint64_t *amounts, size_t n, struct counting_read *ret)
{
    struct counting_place p[COUNTING_BATCH] UNINITIALIZED;
    for (size_t done = 0; done < n; done += COUNTING_BATCH) {
        size_t batch = n - done < COUNTING_BATCH ? n - done : COUNTING_BATCH;
        (void)counting_place_batch(c, d + done, batch, p);
        for (size_t i = 0; i < batch; i++) {
            uint64_t count =
                counting_add_place(c, &p[i], amounts ? amounts[done + i] : 1);
            if (ret) {
                ret[done + i] = counting_read_of(c, count);
            }
        }
    }
}

void counting_get_batch(const struct counting *c, const struct digest *d, size_t n,
                        struct counting_read *ret)
{
    struct counting_place p[COUNTING_BATCH] UNINITIALIZED;
    for (size_t done = 0; done < n; done += COUNTING_BATCH) {
        size_t batch = n - done < COUNTING_BATCH ? n - done : COUNTING_BATCH;
        (void)counting_place_batch(c, d + done, batch, p);
        for (size_t i = 0; i < batch; i++) {
            ret[done + i] = counting_read_of(c, counting_get_place(c, &p[i]));
        }
    }
}

static enum err remove_checked(struct counting *c, const struct counting_place *p,
                               uint64_t amount, struct errinfo *reterr)
{
    if (c->shape.variant == COUNTING_REFINED) {
        return errinfo_set(
            reterr, ERR_UNSUPPORTED, "refined counting filter", 0,
            "a refined filter cannot delete: its cells miss some additions, so "
            "other keys would be counted too low; use the intuitive variant, or build "
            "the filter anew without the key");
    }
    if (!remove_place(c, p, amount)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, "counting filter", 0,
                           "the key was added fewer than %llu times: nothing deleted",
                           (unsigned long long)amount);
    }
    return ERR_OK;
}

enum err counting_remove(struct counting *c, const struct digest *d, uint64_t amount,
                         struct errinfo *reterr)
{
    struct counting_place p UNINITIALIZED;
    place_digest(c, d, &p);
    return remove_checked(c, &p, amount, reterr);
}

struct counting_read counting_add_at(struct counting *c, const uint64_t *positions,
                                     uint64_t amount)
{
    struct counting_place p UNINITIALIZED;
    place_positions(c, positions, &p);
    return counting_read_of(c, counting_add_place(c, &p, amount));
}

struct counting_read counting_get_at(const struct counting *c,
                                     const uint64_t *positions)
{
    struct counting_place p UNINITIALIZED;
    place_positions(c, positions, &p);
    return counting_read_of(c, counting_get_place(c, &p));
}

enum err counting_remove_at(struct counting *c, const uint64_t *positions,
                            uint64_t amount, struct errinfo *reterr)
{
    struct counting_place p UNINITIALIZED;
    place_positions(c, positions, &p);
    return remove_checked(c, &p, amount, reterr);
}

uint64_t counting_cell(const struct counting *c, uint64_t position)
{
    uint64_t at = place_position(c, position);
    return counting_is_split(c) ? counting_split_load(c, at)
                                : counting_load(c->words, at, c->shape.cell_bits);
}
