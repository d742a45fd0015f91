/*
 * feed_diff - what an update does to the feed's list, on disk before the list is touched.
 *
 * In order of digest. Kept until the list holds all of it, so that an update which a crash broke off is
 * made whole by applying it again.
 * Depends: base, list.   Threads: one at a time.   Owns: its file, its mapping.
 */
#ifndef CORE_FEED_FEED_DIFF_H
#define CORE_FEED_FEED_DIFF_H

#include "core/base/file.h"
#include "core/list/feed_apply.h"

struct changes_out {
    struct file_out out;
    uint64_t n;
    uint64_t sum;
    struct buf record;
};
enum err changes_out_open(struct changes_out *o, const char *path,
                          struct errinfo *reterr);
/* A failure is kept for the commit. */
void changes_out_add(struct changes_out *o, const struct refresh_item *item);
enum err changes_out_commit(struct changes_out *o, struct errinfo *reterr);
void changes_out_abort(struct changes_out *o);

struct changes {
    struct filemap map;
    struct slice bytes;
    size_t at;
    uint64_t n; /* in all */
    uint64_t given;
    uint64_t sum;
    uint64_t wanted;
};
enum err changes_open(struct changes *c, const char *path, struct errinfo *reterr);
/* As changes_open, of bytes that stay. */
enum err changes_parse(struct changes *c, struct slice bytes, const char *path,
                       struct errinfo *reterr);
void changes_close(struct changes *c);
/* A refresh_next_fn with a struct changes as its context: ERR_CORRUPT when a record is damaged. */
bool changes_next(void *context, struct refresh_item *ret, enum err *retfail);

#endif
