/*
 * replay - the whole log sorted by digest, for rebuild and verify.
 *
 * Depends: base, store, segment.   Threads: one at a time.
 */
#ifndef CORE_LIST_REPLAY_H
#define CORE_LIST_REPLAY_H

#include "core/list/entry.h"
#include "core/list/list.h"
#include "core/store/sorter.h"

/* Memory of the sort of all records before it goes to disk. */
enum { REPLAY_SORT_BYTES = 192 * 1024 * 1024 };

struct replay {
    const char *dir;
    uint32_t key_id;            /* 0: the first segment's */
    list_finding_fn *on_damage; /* may be NULL */
    void *context;
    struct sorter *sorter;
    uint64_t order;
    uint64_t updated_s;
    uint64_t bytes;  /* of log read */
    unsigned damage; /* places that were skipped */
    struct log_record next;
    bool has_next;
};

enum err replay_begin(struct replay *r, struct errinfo *reterr);
/* Reads a segment; damage in it is reported and counted, not a failure. With is_tail bytes after
 * the last whole record are not damage (after a crash, or while a writer runs). limit: bytes to
 * read (0: all). */
enum err replay_segment(struct replay *r, uint32_t number, bool is_tail, uint64_t limit,
                        struct errinfo *reterr);
/* Ends the reading; then replay_next gives records in order of digest and log. */
enum err replay_finish(struct replay *r, struct errinfo *reterr);
bool replay_peek(const struct replay *r, struct log_record *ret);
enum err replay_next(struct replay *r, struct errinfo *reterr);
void replay_end(struct replay *r);

#endif
