/*
 * active_segment - the last segment of the log, to which single changes are appended and synced.
 *
 * Depends: base, segment.   Threads: one at a time.   Owns: its descriptor.
 */
#ifndef CORE_LIST_ACTIVE_SEGMENT_H
#define CORE_LIST_ACTIVE_SEGMENT_H

#include "core/base/err.h"
#include "core/list/list.h"
#include "core/list/segment.h"

/* A longer segment is compacted, however few entries it has. */
enum {
    ACTIVE_SEGMENT_BYTES_MAX = 32 * 1024 * 1024,
    ACTIVE_SEGMENT_STAGED_MAX = 1024 * 1024, /* and a record more */
    ACTIVE_SEGMENT_SOURCES = 8
};

/* Where a source's name stands in this segment. */
struct active_segment_source {
    char name[LIST_SOURCE_MAX];
    uint32_t at;
};

struct active_segment {
    int fd; /* -1 when not open */
    uint32_t number;
    uint64_t bytes;
    bool failed; /* a write or sync failed: the contents of the file are unknown */
    struct active_segment_source source[ACTIVE_SEGMENT_SOURCES];
    unsigned nsources; /* ever noted; the slots are used in turn */
    struct buf staged;
};

/* Opens segment number, cuts it to `good` bytes when it is longer, and syncs it. */
enum err active_segment_open(struct active_segment *t, const char *dir, uint32_t number,
                             uint64_t good, struct errinfo *reterr);
void active_segment_close(struct active_segment *t);
/* Stages r for the next active_segment_sync. Sets segment, offset and source_at of r. */
enum err active_segment_stage(struct active_segment *t, struct log_record *r,
                              struct slice source, struct errinfo *reterr);
/* Appends what was staged and syncs it: all or nothing. After a failed sync every further call
 * fails, because the kernel may have dropped the data. */
enum err active_segment_sync(struct active_segment *t, struct errinfo *reterr);

#endif
