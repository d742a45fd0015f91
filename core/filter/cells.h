/*
 * cells - lines of small cells that count a running bucket and the windows it belongs to.
 *
 * A key has CELLS_OF_KEY cells, all in one line of 64 bytes; each cell has a column for the running
 * bucket and one for each window. Rules H1 and H2 hold for the running column: only cells below the
 * new minimum are raised, to it; the windows rise by as much as the running cell did. So the cell
 * of a window is the sum of the running cell over its buckets, and the least cell of a key is at
 * least its count. A count too large for its cell goes on in a table; where that has no room the
 * cell is saturated: it reads as CELLS_SATURATED and stays so. Lines touched in the running bucket
 * are chained, for cells_next.
 * Depends: base.   Threads: one at a time; the figures at the end from any.
 * Owns: the table, the lines are the caller's.   ADR 0026.
 * Source: Yan, Cho 2006 (H1, H2); Estan, Varghese 2002 (conservative update).
 */
#ifndef CORE_FILTER_CELLS_H
#define CORE_FILTER_CELLS_H

#include "core/base/std.h"
#include "core/filter/tally.h"

enum { CELLS_LINE_BYTES = 64, CELLS_OF_LINE = 10, CELLS_OF_KEY = 3, CELLS_WINDOWS = 3 };

/* The running bucket, and the windows from the shortest on: window w is column w + 1. */
enum cells_column {
    CELLS_RUNNING,
    CELLS_HOUR,
    CELLS_DAY,
    CELLS_FORTNIGHT,
    CELLS_COLUMNS
};
#define CELLS_SATURATED UINT64_MAX

/* A set of windows: bit w. */
enum { CELLS_ALL_WINDOWS = (1 << CELLS_WINDOWS) - 1 };

struct cells_line {
    uint8_t running[CELLS_OF_LINE];
    uint8_t hour[CELLS_OF_LINE];
    uint16_t day[CELLS_OF_LINE];
    uint16_t fortnight[CELLS_OF_LINE];
    uint32_t next; /* in the chain of touched lines; 0: not in it */
};

/* Written with most keys; the caller's, so that they may lie beside what else is. */
struct cells_figures {
    uint64_t nused; /* lines with a count in the longest window */
    uint32_t first; /* of the chain */
    uint32_t ntouched;
};

struct cells {
    struct cells_line *lines; /* zeroed when new, aligned to 64 */
    uint64_t nlines;          /* at least 1, below 2^32 - 1 */
    struct tally large;
    struct cells_figures *figures;
};

void cells_init(struct cells *c, struct cells_line *lines, uint64_t nlines,
                struct cells_figures *figures);
void cells_fini(struct cells *c); /* frees the table */
void cells_clear(struct cells *c);

/* hash: 64 evenly spread bits of the key. */
void cells_prefetch(const struct cells *c, uint64_t hash);
/* Adds amount to the running bucket and to these windows; ret: the key's count in each window. */
void cells_add(struct cells *c, uint64_t hash, uint64_t amount, unsigned windows,
               uint64_t ret[CELLS_WINDOWS]);
void cells_read(const struct cells *c, uint64_t hash, uint64_t ret[CELLS_WINDOWS]);

/* Adds late counts of an ended bucket by the same rules, with late[] in place of the running cells
 * of the key's line. Add the keys of one line one after the other with the same late[], zeros at
 * first. In the end late[] holds the amounts that went into the windows. */
uint64_t cells_line(const struct cells *c, uint64_t hash);
void cells_add_late(struct cells *c, uint64_t hash, uint64_t amount, unsigned windows,
                    uint64_t late[CELLS_OF_LINE]);

/* The value of one cell, for tests and for subtracting a share. */
uint64_t cells_value(const struct cells *c, uint64_t line, unsigned cell,
                     enum cells_column column);
/* Takes amount off these windows of a cell; not below 0, and not off a saturated one. */
void cells_take(struct cells *c, uint64_t line, unsigned cell, uint64_t amount,
                unsigned windows);

/* The running bucket ends: takes a line off the chain. False: the chain is empty. *ret: the values
 * of its running cells, which become 0 (a saturated cell gives 0, because its windows are saturated
 * too). */
bool cells_next(struct cells *c, uint64_t *retline, uint64_t ret[CELLS_OF_LINE]);

/* Adds how many cells of a line are above the threshold in each window. */
void cells_over(const struct cells *c, uint64_t line, uint64_t threshold,
                uint64_t ret[CELLS_WINDOWS]);

uint64_t cells_used(const struct cells *c);
uint64_t cells_overflowed(const struct cells *c); /* counts in the table */

#endif
