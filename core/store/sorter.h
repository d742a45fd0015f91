/*
 * sorter - sorts more records than memory should hold: runs on disk, merged in one pass.
 *
 * A record is a 128-bit digest, a 64-bit order number and some bytes. Records come back in
 * order of digest, equal digests in order of their order number. Up to half of memory_bytes are
 * kept in memory; beyond that sorted runs go to unlinked temporary files in dir, each sorted and
 * written on a thread of the sorter's own while the other half is filled.
 * Depends: base.   Threads: one at a time.   Owns: its memory, files and thread.
 */
#ifndef CORE_STORE_SORTER_H
#define CORE_STORE_SORTER_H

#include "core/base/digest.h"
#include "core/base/err.h"
#include "core/base/slice.h"

enum { SORTER_DATA_MAX = 16384 };

struct sorter_record {
    struct digest digest;
    uint64_t order;
    struct slice data; /* at most SORTER_DATA_MAX bytes */
};

struct sorter;
enum err sorter_new(const char *dir, size_t memory_bytes, struct sorter **ret,
                    struct errinfo *reterr);
void sorter_free(struct sorter **s);
enum err sorter_add(struct sorter *s, const struct sorter_record *r,
                    struct errinfo *reterr);
uint64_t sorter_count(const struct sorter *s);
/* Ends the additions; sorter_next then returns the records. */
enum err sorter_finish(struct sorter *s, struct errinfo *reterr);
/* False at the end. The record's data is valid until the next call. On a read error *retfail
 * is set and false returned. */
bool sorter_next(struct sorter *s, struct sorter_record *ret, enum err *retfail);

#endif
