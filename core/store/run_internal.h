/*
 * run_internal - the format of runs, for the files that write, read and merge them.
 *
 * A block_file with two equal headers: magic, version, key id, origin, inc, start, len, reserved,
 * records, total, blocks, sources, XXH3-64 of the tail. Behind the keys the tail has the sources
 * (start, inc: 8 bytes each).
 * Records of a block: the first one's count, then for each further one a gap and perhaps a count.
 * Not for other rooms.
 */
#ifndef CORE_STORE_RUN_INTERNAL_H
#define CORE_STORE_RUN_INTERNAL_H

#include "core/store/block_file.h"
#include "core/store/run.h"

#define RUN_MAGIC UINT64_C(0x31544e55524e4747) /* "GGNRUNT1" */
enum {
    RUN_VERSION = 1,
    RUN_DATA_AT = 2 * BLOCK_FILE_HEADER,
    RUN_SOURCE_BYTES = 16,
    /* a gap: low 3 bits its bytes less one, then whether a count follows, then gap - 1 */
    RUN_GAP_TAG_BITS = 4
};
/* A larger gap begins a new block, whose first key stands in full. */
#define RUN_GAP_MAX (UINT64_C(1) << 60)

struct run_source {
    uint64_t start_s;
    uint64_t inc;
};

struct run {
    struct run_id id;
    uint64_t records;
    uint64_t total;
    uint64_t bytes;
    uint64_t nblocks;
    uint64_t nsources;
    uint64_t sum;    /* of the tail */
    uint64_t *index; /* the tail: first keys, then the sources as pairs */
    int fd;          /* -1: run_rest */
    char *path;      /* behind the struct */
};

struct run_source run_source_at(const struct run *r, uint64_t i);
/* The records of n runs in rising order of key; equal keys stand together. ERR_CORRUPT: run *retbad
 * has a damaged block. */
typedef void run_merge_fn(void *context, size_t which, const struct run_record *r);
enum err run_merge_each(const struct run *const *runs, size_t n, run_merge_fn *fn,
                        void *context, size_t *retbad);

#endif
