/*
 * import_log - the segments of one import, made as they are needed.
 *
 * Depends: base, segment.   Threads: one at a time.   Owns: the file being written.
 */
#ifndef CORE_LIST_IMPORT_LOG_H
#define CORE_LIST_IMPORT_LOG_H

#include "core/base/file.h"
#include "core/list/segment.h"

struct import_log {
    const char *dir;
    uint32_t key_id;
    uint32_t number; /* of the last one begun; at first the one before */
    struct slice source;
    uint32_t time_s;
    uint32_t source_at;
    bool is_open;
    struct file_out out;
    struct buf scratch;
};

/* Set dir, key_id, number, source and time_s first. */
void import_log_init(struct import_log *b);
/* Writes r and says in it where. */
enum err import_log_add(struct import_log *b, struct log_record *r,
                        struct errinfo *reterr);
/* Makes durable what was added. */
enum err import_log_end(struct import_log *b, struct errinfo *reterr);
/* Drops a segment that was not ended. */
void import_log_fini(struct import_log *b);

#endif
