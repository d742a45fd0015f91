/*
 * run_internal - the format of runs, for the files that write, read and merge them.
 *
 * Header (A at 0, B at RUN_HEADER, the same bytes): magic, version, key id, origin, inc, start, len,
 * reserved, records, total, blocks, sources, XXH3-64 of all behind the blocks; zeros; XXH3-64 of
 * what precedes in the last 8 bytes. Then the blocks; then the first key of each block (8 bytes
 * each); then the sources (start, inc: 8 bytes each). All little-endian.
 * A block: XXH3-64 of the rest, records u16, bytes used u16, number of the block u32, first key;
 * then the first record's count, then for each further one a gap and perhaps a count; zeros.
 * Not for other rooms.
 */
#ifndef CORE_STORE_RUN_INTERNAL_H
#define CORE_STORE_RUN_INTERNAL_H

#include "core/base/file.h"
#include "core/store/run.h"

#define RUN_MAGIC UINT64_C(0x31544e55524e4747) /* "GGNRUNT1" */
enum {
    RUN_VERSION = 1,
    RUN_HEADER = 4096,
    RUN_DATA_AT = 2 * RUN_HEADER,
    RUN_SUM_BYTES = 8,
    RUN_BLOCK_HEAD = 24,
    RUN_KEY_BYTES = 8,
    RUN_SOURCE_BYTES = 16,
    RUN_FILE_MODE = 0640,
    /* a gap: low 3 bits its bytes less one, then whether a count follows, then gap - 1 */
    RUN_GAP_TAG_BITS = 4,
    RUN_COUNT_BYTES_MAX = 10
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
    uint64_t sum;    /* of all behind the blocks */
    uint64_t *index; /* first keys, then the sources as pairs */
    int fd;          /* -1: run_rest */
    char *path;      /* behind the struct */
};

/* Reads and verifies block i into bytes (RUN_BLOCK + RUN_SLACK). */
enum err run_block_read(const struct run *r, uint64_t i,
                        uint8_t bytes[RUN_BLOCK + RUN_SLACK]);
/* The block that would have key; nblocks must not be 0. */
uint64_t run_block_of(const struct run *r, uint64_t key);
/* The record at c->at; false where the bytes cannot be right. */
bool run_record_decode(struct run_cursor *c, struct run_record *ret);
/* Points c at the begin of the block in c->bytes. */
void run_block_begin(struct run_cursor *c);
/* a + b, or the largest number. */
uint64_t run_sum(uint64_t a, uint64_t b);
struct run_source run_source_at(const struct run *r, uint64_t i);
/* The records of n runs in rising order of key; equal keys stand together. ERR_CORRUPT: run *retbad has a damaged
 * block. */
typedef void run_merge_fn(void *context, size_t which, const struct run_record *r);
enum err run_merge_each(const struct run *const *runs, size_t n, run_merge_fn *fn,
                        void *context, size_t *retbad);

#endif
