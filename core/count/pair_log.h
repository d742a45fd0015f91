/*
 * pair_log - files of (key, number) pairs to which records are appended: journals and streams.
 *
 * A header of PAIR_LOG_HEADER bytes {magic u64, version u32, 0 u32, run id, XXH3-64 of these}, then
 * records {magic u32, n u32, seq u64, n times (key u64, number u64), checksum u64}, little-endian.
 * The checksum is XXH3-64 of the record, mixed with a salt from the header, so that a record of
 * another file is damage. A record that the file ends within is not there yet.
 * Not for other rooms. Depends: base, store.   Threads: one object, one thread.   ADR 0025, 0033.
 */
#ifndef CORE_COUNT_PAIR_LOG_H
#define CORE_COUNT_PAIR_LOG_H

#include "core/base/buf.h"
#include "core/base/cursor.h"
#include "core/base/err.h"
#include "core/store/run.h"

enum {
    PAIR_LOG_HEADER = 64,
    PAIR_LOG_SUM = 8, /* at the end of the header and of each record */
    PAIR_RECORD_HEAD = 16,
    PAIR_BYTES = 16
};

struct pair_log_form {
    uint64_t magic;        /* of the file */
    uint32_t record_magic; /* of each record */
    uint32_t pairs_max;    /* in a record */
    bool is_dense;         /* seq is 1, 2, 3, ...; else seq rises */
};

/* ---- writing ---- */

/* RUN_ORIGIN_BYTES + 24 bytes. */
void pair_log_id_print(const struct run_id *id, struct buf *ret);
void pair_log_header_print(const struct pair_log_form *form, const struct run_id *id,
                           struct buf *ret);
uint64_t pair_log_salt(struct slice header);

/* A record in an empty ret: begin, pairs, end. A failure is the buffer's (buf_failed). */
void pair_record_begin(struct buf *ret);
void pair_record_add(struct buf *ret, uint64_t key, uint64_t number);
void pair_record_end(struct buf *ret, const struct pair_log_form *form, uint64_t seq,
                     uint64_t salt);

/* ---- reading ---- */

/* An open file, for one look at it. */
struct pair_log {
    const char *path; /* the caller's */
    int fd;
    uint64_t size;
    uint64_t inode;
    struct buf bytes; /* of the last record */
};

/* How far a file was read; it stays from one look to the next. */
struct pair_log_place {
    struct run_id id;
    uint64_t inode;
    uint64_t at;  /* bytes read */
    uint64_t seq; /* of the last record read */
    uint64_t salt;
};

struct run_id pair_log_id_parse(struct cursor *c);
/* ERR_NOT_FOUND: there is no such file. */
enum err pair_log_open(const char *path, struct pair_log *ret, struct errinfo *reterr);
void pair_log_close(struct pair_log *l);
/* Reads the header; *ret is the place of the first record. ERR_CORRUPT: damaged, or another kind of
 * file. ERR_VERSION: *retversion is unknown. The caller explains these two. */
enum err pair_log_begin(struct pair_log *l, const struct pair_log_form *form,
                        struct pair_log_place *ret, uint32_t *retversion,
                        struct errinfo *reterr);
/* Reads the record at the place and moves the place behind it. *retpairs stays until the next call.
 * ERR_NOT_FOUND: there is no whole record. ERR_CORRUPT: it is damaged. Only other errors (memory,
 * the system) fill reterr. After an error the place is unchanged. */
enum err pair_log_next(struct pair_log *l, const struct pair_log_form *form,
                       struct pair_log_place *p, struct slice *retpairs,
                       struct errinfo *reterr);

#endif
