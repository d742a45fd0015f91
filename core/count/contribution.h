/*
 * contribution - the amounts that a bucket added to the cells, subtracted from a window when the
 * bucket leaves it.
 *
 * Bytes: for each line touched, the way from the line before (zigzag varint), 10 bits of its cells
 * and a bit that all their values are 1 (16 bits, little-endian), else the values (varints); a
 * checksum32 at the end. For the memory of one process only, never read by another.
 * Depends: base, filter.   Threads: those of the cells.   ADR 0026.
 */
#ifndef CORE_COUNT_CONTRIBUTION_H
#define CORE_COUNT_CONTRIBUTION_H

#include "core/base/buf.h"
#include "core/base/slice.h"
#include "core/filter/cells.h"

/* The running bucket of the cells ends: appends its share to ret, nothing when it is empty. False:
 * no memory; the bucket still ends, and its counts stay in the windows. */
bool contribution_make(struct cells *c, struct buf *ret);

/* The same line by line, for a bucket whose cells are not the running ones: add the lines in rising
 * order, with *last 0 at first, then end the part of ret that begins at byte `from`. */
void contribution_add_line(struct buf *ret, uint64_t line,
                           const uint64_t value[CELLS_OF_LINE], uint64_t *last);
bool contribution_end(struct buf *ret, size_t from);

/* One value of a share. */
typedef void contribution_fn(void *context, uint64_t line, unsigned cell,
                             uint64_t value);
/* False: the bytes are damaged; fn was called for none. */
bool contribution_each(struct slice bytes, contribution_fn *fn, void *context);

#endif
