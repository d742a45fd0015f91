/*
 * run - final counts: an immutable sorted file of (key, count) records.
 *
 * A record is a 64-bit key (the first 8 bytes of a digest, big-endian, never 0) and how much it was
 * counted. Records stand in rising order of key, in blocks of RUN_BLOCK bytes with gaps and counts
 * as variable-length integers; each block has its own checksum, which every look-up verifies. The
 * header stands twice. A damaged block is named and is that block's trouble alone. Blocks are read,
 * not mapped: a file that is cut short under a running program is damage, no SIGBUS.
 * Depends: base.   Threads: an open run is constant; a writer is for one thread.
 * Owns: the index in memory, the open file, or the file being written.   Format and why: ADR 0025.
 */
#ifndef CORE_STORE_RUN_H
#define CORE_STORE_RUN_H

#include "core/base/err.h"

enum {
    RUN_BLOCK = 4096,
    RUN_SLACK = 8, /* bytes behind a block that a decoder may load, not use */
    RUN_ORIGIN_BYTES = 16
};

/* The server and the time of counts: there is one stream for each (origin, incarnation, bucket). */
struct run_id {
    uint8_t origin[RUN_ORIGIN_BYTES]; /* the server that counted */
    uint64_t inc;                     /* its incarnation; 0: several, merged */
    uint64_t start_s;                 /* unix time of the bucket's begin */
    uint32_t len_s;                   /* seconds of the bucket */
    uint32_t key_id;                  /* the digest key that the keys were made with */
};

struct run_record {
    uint64_t key;
    uint64_t count; /* at least 1 */
};

/* Adds two counts; a sum that does not fit becomes UINT64_MAX. */
static inline uint64_t run_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* ---- writing ---- */

struct run_writer;
/* For the file path, which appears whole at the commit or not at all. */
enum err run_writer_new(const char *path, const struct run_id *id,
                        struct run_writer **ret, struct errinfo *reterr);
/* Of a merged run: that the run of (start_s, inc) is in it. */
void run_writer_source(struct run_writer *w, uint64_t start_s, uint64_t inc);
/* Keys must rise; a failure is kept for the commit. */
void run_writer_add(struct run_writer *w, const struct run_record *record);
/* Durable when ERR_OK. Frees the writer in any case. */
enum err run_writer_commit(struct run_writer **w, struct errinfo *reterr);
void run_writer_abort(struct run_writer **w); /* accepts NULL */

/* ---- reading ---- */

struct run;
/* Verifies header, sizes and index, not the blocks. ERR_CORRUPT names what is wrong; ERR_VERSION:
 * another version of gillnet wrote it. */
enum err run_open(const char *path, struct run **ret, struct errinfo *reterr);
void run_close(struct run **r); /* accepts NULL */
/* Opens the file again for each block from now on, to keep fewer files open. Call this before
 * threads share the run. */
void run_rest(struct run *r);
const struct run_id *run_id(const struct run *r);
uint64_t run_records(const struct run *r);
uint64_t run_total(const struct run *r); /* of all counts */
uint64_t run_bytes(const struct run *r); /* of the file */
/* Whether the run of (start_s, inc) was merged into this one. */
bool run_has_source(const struct run *r, uint64_t start_s, uint64_t inc);

/* ERR_NOT_FOUND: not in it. ERR_CORRUPT: the block that would have it is damaged; ERR_IO and
 * others: the system refused to open the file again (run_rest). */
enum err run_get(const struct run *r, uint64_t key, uint64_t *retcount);
/* Verifies every block. */
enum err run_verify(const struct run *r, struct errinfo *reterr);

/* Reads the records with first <= key <= last in order. */
struct run_cursor {
    const struct run *run;
    uint64_t first;
    uint64_t last;
    uint64_t block; /* that is read next */
    unsigned at;    /* offset in the one being read */
    unsigned left;  /* records left in it */
    uint64_t key;   /* of the record before; of the block's begin, the first key */
    bool is_begin;  /* the next record is the block's first */
    uint8_t bytes[RUN_BLOCK + RUN_SLACK];
};
void run_cursor_init(struct run_cursor *c, const struct run *r, uint64_t first,
                     uint64_t last);
/* ERR_NOT_FOUND: the end. ERR_CORRUPT: a damaged block; the next call goes on behind it. */
enum err run_cursor_next(struct run_cursor *c, struct run_record *ret);

/* Adds the records of n runs to w in order, counts of equal keys added up, and the runs themselves
 * (or the sources that they have) as sources. Streams: 4 KiB a run. Skips damaged blocks:
 * *retdamaged is their number. */
enum err run_merge(const struct run *const *runs, size_t n, struct run_writer *w,
                   uint64_t *retdamaged);

#endif
