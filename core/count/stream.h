/*
 * stream - counts of a peer's bucket that is still open: increments as they came, appended to a
 * file.
 *
 * STATE/peers/counts/ORIGIN/START-INC-KEY.stream (hexadecimal): a pair_log of keys and increments.
 * Written by the hub alone, followed by gillnetd. Once the stream is closed its run is in
 * STATE/peers/counts/runs and the file goes.
 * Depends: base, store.   Threads: one object, one thread.   ADR 0033.
 */
#ifndef CORE_COUNT_STREAM_H
#define CORE_COUNT_STREAM_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/file.h"
#include "core/base/slice.h"
#include "core/count/pair_log.h"
#include "core/store/run.h"

enum { STREAM_RECORD_MAX = 8 << 20 /* pairs in one record */ };

/* The file's path below dir (STATE/peers/counts). */
enum err stream_path(char dst[FILE_PATH_MAX], const char *dir, const struct run_id *id);
/* Whether a file of this name in an origin's folder is a stream; ret->origin is not touched. */
bool stream_name_parse(struct slice name, struct run_id *ret);

/* ---- the hub ---- */

struct stream_writer;
/* Opens or makes it; cuts a torn end. *retseq: of its last whole record; 0: none. ERR_CORRUPT:
 * another file is in its place; it may be removed and made again from the objects. */
enum err stream_writer_open(const char *dir, const struct run_id *id,
                            struct stream_writer **ret, uint64_t *retseq,
                            struct errinfo *reterr);
/* Appends one record, not synced: it is made again from the objects. seq rises, keys and increments
 * are not 0. ERR_LIMIT: more than STREAM_RECORD_MAX. A failure leaves the file as it was. */
enum err stream_writer_add(struct stream_writer *w, uint64_t seq,
                           const struct run_record *v, size_t n,
                           struct errinfo *reterr);
/* Makes durable what was added. */
enum err stream_writer_sync(const struct stream_writer *w, struct errinfo *reterr);
/* Bytes of the file, and so the place of the next record. */
uint64_t stream_writer_size(const struct stream_writer *w);
void stream_writer_close(struct stream_writer **w);

/* ---- readers ---- */

/* ERR_NOT_FOUND: there is no such file. */
enum err stream_reader_open(const char *path, struct pair_log_place *ret,
                            struct errinfo *reterr);
/* Passes the pairs of new whole records to fn. A torn record at the end waits. ERR_CORRUPT: the
 * file is damaged, or was replaced; stop reading it. ERR_NOT_FOUND: there is no file. */
typedef void stream_fn(void *context, const struct run_record *record);
enum err stream_reader_next(struct pair_log_place *r, const char *path, stream_fn *fn,
                            void *context, struct errinfo *reterr);
/* Passes the new whole records to fn as wholes, with their numbers and places, until it returns
 * false. */
struct stream_record {
    uint64_t seq;
    uint64_t at;
    struct slice pairs; /* for stream_pair, until fn returns */
};
typedef bool stream_record_fn(void *context, const struct stream_record *record);
enum err stream_reader_records(struct pair_log_place *r, const char *path,
                               stream_record_fn *fn, void *context,
                               struct errinfo *reterr);
size_t stream_npairs(struct slice pairs);
struct run_record stream_pair(struct slice pairs, size_t i);

#endif
