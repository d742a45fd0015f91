/*
 * index - the exact index: an immutable LMDB file of fixed-size records under 128-bit digests.
 *
 * Built once from records in digest order (MDB_APPEND), published by rename, then only read, by
 * any number of processes, without locks. LMDB has no checksums: each record carries its own,
 * and PATH.sum beside the file holds XXH3-64 of every 1 MiB, verified before it is opened, so
 * that a flipped bit is found and never makes LMDB walk a broken tree.
 * Depends: base, lmdb.   Threads: reads from any thread (MDB_NOTLS, short transactions).
 */
#ifndef CORE_STORE_INDEX_H
#define CORE_STORE_INDEX_H

#include "core/base/digest.h"
#include "core/base/err.h"

/* Facts about one entry. On disk: little-endian fields in this order and a checksum32 over
 * digest and fields. */
struct index_record {
    uint8_t status; /* enum entry_status of core/list/list.h */
    uint8_t flags; /* bit 0: an explicit add or revoke, which imports do not override */
    uint16_t class_type; /* enum feature_type */
    uint32_t segment; /* where in the log it stands: segment number and byte offset */
    uint32_t offset;
    uint32_t first_seen_s;
    uint32_t expiry_s; /* 0: never */
};

struct index;

/* Verifies the file against PATH.sum and opens it. The mapping uses no heap. */
enum err index_open(const char *path, struct index **ret, struct errinfo *reterr);
void index_close(struct index **ix);
uint64_t index_count(const struct index *ix);
/* Whether the file was cut short, or a page could not be read, since it was opened. */
bool index_is_damaged(const struct index *ix);
/* ERR_NOT_FOUND: not there. ERR_CORRUPT: there, but its checksum is wrong; or index_is_damaged,
 * then nothing is known. */
enum err index_get(const struct index *ix, const struct digest *d,
                   struct index_record *ret);

/* Walks all records in digest order. */
struct index_walk;
enum err index_walk_new(const struct index *ix, struct index_walk **ret);
/* False at the end; *reterr then tells a clean end (ERR_OK) from damage. */
bool index_walk_next(struct index_walk *w, struct digest *retdigest,
                     struct index_record *ret, enum err *reterr);
/* Goes to d, from where index_walk_next goes on; as index_get, but that many digests in rising
 * order cost less: those of one page are found without beginning at the root. */
enum err index_walk_find(struct index_walk *w, const struct digest *d,
                         struct index_record *ret);
void index_walk_free(struct index_walk **w);

/* Blocks of the file that is open, as PATH.sum counts them. */
uint64_t index_blocks(const struct index *ix);
/* Verifies up to nblocks of them from block `from` on against PATH.sum. Constant memory; any
 * thread, beside index_get. ERR_OK also past the end. ERR_CORRUPT: *retbad is the first bad block.
 * ERR_NOT_FOUND: PATH is gone or another file now: the list has changed, open the index again.
 * ERR_IO, ERR_NOMEM: it could not be read. */
enum err index_scrub(const struct index *ix, uint64_t from, uint64_t nblocks,
                     uint64_t *retbad);

struct index_builder;
/* Builds under a temporary name beside path. expected sizes the map; it grows as needed. */
enum err index_builder_new(const char *path, uint64_t expected,
                           struct index_builder **ret, struct errinfo *reterr);
/* Digests must rise strictly; otherwise ERR_RANGE. */
enum err index_builder_add(struct index_builder *b, const struct digest *d,
                           const struct index_record *r, struct errinfo *reterr);
/* Syncs, writes PATH.sum, renames both into place. Frees the builder either way. */
enum err index_builder_commit(struct index_builder **b, struct errinfo *reterr);
void index_builder_abort(struct index_builder **b);

#endif
