/*
 * counting - the paper's counting filters: how often a key was seen, never less than the truth.
 *
 * k cells of a key rise with it, and its count is the least of them. INTUITIVE raises all of them,
 * REFINED only those at the minimum (H1), which is closer to the truth but cannot delete; positions
 * that coincide rise once in both (H2). A cell at its cap stays there and its count says so; no
 * count wraps. FLAT has cells of 4, 5, 6, 8 or 16 bits. SPLIT, the paper's section 4, has cells
 * of count bits and one flag bit; the high part of a flagged cell lies in its chunk's own small
 * table, where ceil(log2(chunk_cells)) bits name the cell: counts to 2^35 and far beyond.
 *
 * A chunk is the unit of locking too: all positions of a key lie in its chunk and chunks share no
 * cache line, so whoever holds the chunk's lock has the key for itself (counting_shared.h; ADR
 * 0024). Pure functions on memory that the caller gives, all zero at first.
 * Equations (3) and (4), for keys that were never added, are in plan.h.
 * Depends: base (digest, err).   Threads: any readers, or one writer, for each chunk; for
 * functions that take positions or whole filters, for the filter.   Allocates: nothing.
 * Source: Yan, Cho 2006, sections 4 and 5; Estan, Varghese 2002 (the same rule as H1).
 */
#ifndef CORE_LAB_COUNTING_H
#define CORE_LAB_COUNTING_H

#include "core/base/digest.h"
#include "core/base/err.h"

enum counting_variant { COUNTING_INTUITIVE = 1, COUNTING_REFINED = 2 };
enum counting_layout { COUNTING_FLAT = 1, COUNTING_SPLIT = 2 };

enum { COUNTING_K_MAX = 16, COUNTING_BATCH = 32, COUNTING_CHUNKS_MAX = 1 << 20 };

#define COUNTING_CHUNK_CELLS_MAX ((uint64_t)1 << 32)
#define COUNTING_WORDS_MAX       ((uint64_t)1 << 37) /* 1 TiB of cells, or of slots */

struct counting_shape {
    enum counting_variant variant;
    enum counting_layout layout;
    unsigned
        cell_bits;    /* 4, 5, 6, 8 or 16; of a split filter the flag is one of them */
    unsigned k;       /* positions of a key, 1..COUNTING_K_MAX */
    uint64_t nchunks; /* at least 1 */
    uint64_t chunk_cells; /* the filter's m is nchunks * chunk_cells */
    uint64_t
        chunk_slots; /* split: 7/8 of this are the high parts of a chunk; flat: 0 */
};

struct counting {
    struct counting_shape shape;
    uint64_t *words; /* counting_words, 64-byte aligned, owner: the caller */
    uint64_t *slots; /* counting_slots of them; NULL for a flat filter */
    uint64_t mix[2]; /* from the key */
    uint64_t cap;    /* what a saturated cell reads */
    /* derived from the shape */
    uint64_t
        chunk_stride; /* packed index of a chunk's first cell, from that of the one before */
    uint64_t slots_stride;
    unsigned index_bits; /* that name a cell within its chunk */
};

struct counting_read {
    uint64_t count;
    bool is_saturated; /* the count is at its cap: it may be more */
};

/* ERR_OK, or why no filter may have this shape: ERR_UNSUPPORTED (no such variant, layout or width),
 * ERR_RANGE (a number outside its limits; both are named). Shapes from outside must
 * pass it first; the functions below rely on it. reterr may be NULL. */
enum err counting_check(const struct counting_shape *s, struct errinfo *reterr);
/* 8-byte words of cells, and of high parts (0 for a flat filter). */
uint64_t counting_words(const struct counting_shape *s);
uint64_t counting_slots(const struct counting_shape *s);
/* The shape is copied, the memory borrowed. key: NULL where only positions are given. */
void counting_init(struct counting *c, const struct counting_shape *s, uint64_t *words,
                   uint64_t *slots, const struct hashkey *key);

/* The chunk where all positions of the key lie. */
uint64_t counting_chunk(const struct counting *c, const struct digest *d);
/* Writes k positions below nchunks * chunk_cells; some may be equal. */
void counting_positions(const struct counting *c, const struct digest *d,
                        uint64_t ret[COUNTING_K_MAX]);

/* Adds amount at once, as if one by one in a row, and returns the count with it. */
struct counting_read counting_add(struct counting *c, const struct digest *d,
                                  uint64_t amount);
struct counting_read counting_get(const struct counting *c, const struct digest *d);
/* Adds in order, with prefetch. amounts: NULL for 1 each. ret: the count of each after its
 * own addition; NULL: nobody asks. */
void counting_add_batch(struct counting *c, const struct digest *d,
                        const uint64_t *amounts, size_t n, struct counting_read *ret);
void counting_get_batch(const struct counting *c, const struct digest *d, size_t n,
                        struct counting_read *ret);
/* Takes amount away: only what was added. ERR_UNSUPPORTED: the filter is refined, whose cells
 * do not hold all that was added, so others would fall below their truth. ERR_NOT_FOUND: it was
 * surely added less often. Nothing is changed then. A saturated cell stays. */
enum err counting_remove(struct counting *c, const struct digest *d, uint64_t amount,
                         struct errinfo *reterr);

/* The same on k positions below nchunks * chunk_cells that the caller computes (scheme.h). */
struct counting_read counting_add_at(struct counting *c, const uint64_t *positions,
                                     uint64_t amount);
struct counting_read counting_get_at(const struct counting *c,
                                     const uint64_t *positions);
enum err counting_remove_at(struct counting *c, const uint64_t *positions,
                            uint64_t amount, struct errinfo *reterr);
/* One cell; c->cap: saturated. */
uint64_t counting_cell(const struct counting *c, uint64_t position);

/* Adds src to dst cell by cell, each at most at its cap. Exact for intuitive filters below their
 * caps (what one filter would hold that saw everything); of refined ones no count is below the
 * truth or above what one intuitive filter would say. Both must be alike except for
 * chunk_slots; else ERR_UNSUPPORTED (another variant, layout or width), ERR_RANGE (another size or
 * k) or ERR_KEY (another key), and dst is unchanged. */
enum err counting_merge(struct counting *dst, const struct counting *src,
                        struct errinfo *reterr);

/* Split filters. Share of the places in use in the fullest chunk's table, 0..1; at 1 the next
 * high part finds no place and its cell is saturated. Reads all slots' heads. */
double counting_table_load(const struct counting *c);
/* Copies src into dst, which is empty and alike except for chunk_slots: so the tables grow.
 * ERR_RANGE: dst's tables are too small, or the two are not alike; dst is useless then. */
enum err counting_copy(struct counting *dst, const struct counting *src,
                       struct errinfo *reterr);

#endif
