/*
 * feed_diff - the changes of an update, on disk before they are made to the list.
 *
 * In order of digest. The file stays until the list holds all of it, so that an update which a
 * crash interrupted is completed by applying it again.
 * Depends: base, list.   Threads: one at a time.   Owns: its file, its mapping.
 */
#ifndef CORE_FEED_FEED_DIFF_H
#define CORE_FEED_FEED_DIFF_H

#include "core/base/file.h"
#include "core/list/feed_apply.h"

struct feed_diff_out {
    struct file_out out;
    uint64_t n;
    uint64_t sum;
    struct buf record;
};
enum err feed_diff_out_open(struct feed_diff_out *o, const char *path,
                            struct errinfo *reterr);
/* A failure is kept for the commit. */
void feed_diff_out_add(struct feed_diff_out *o, const struct refresh_item *item);
enum err feed_diff_out_commit(struct feed_diff_out *o, struct errinfo *reterr);
void feed_diff_out_abort(struct feed_diff_out *o);

struct feed_diff {
    struct filemap map;
    struct slice bytes;
    size_t at;
    uint64_t n; /* in all */
    uint64_t given;
    uint64_t sum;
    uint64_t wanted;
};
enum err feed_diff_open(struct feed_diff *c, const char *path, struct errinfo *reterr);
/* As feed_diff_open, of bytes that stay. */
enum err feed_diff_parse(struct feed_diff *c, struct slice bytes, const char *path,
                         struct errinfo *reterr);
void feed_diff_close(struct feed_diff *c);
/* A refresh_next_fn with a struct changes as its context: ERR_CORRUPT when a record is damaged. */
bool feed_diff_next(void *context, struct refresh_item *ret, enum err *retfail);

#endif
