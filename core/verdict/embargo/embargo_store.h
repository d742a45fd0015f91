/*
 * embargo_store - messages and senders that were answered 451, in one file; private to this room.
 *
 * The file has a header of EMBARGO_HEADER bytes, then EMBARGO_BUCKETS buckets of EMBARGO_SLOTS
 * entries. A key may stand in any slot of its bucket. Every call reads or writes the file, so an
 * entry survives kill -9 when embargo_store_put has returned, and two gillnetd (one that hands
 * over to the next) see the same entries. Power loss may take the last half minute. An entry whose
 * sum is wrong is a free slot. The file is sparse and never larger than EMBARGO_FILE_BYTES.
 * Threads: one at a time.   Owns: the descriptor.
 */
#ifndef CORE_VERDICT_EMBARGO_EMBARGO_STORE_H
#define CORE_VERDICT_EMBARGO_EMBARGO_STORE_H

#include "core/base/err.h"

enum {
    EMBARGO_SLOTS = 64,
    EMBARGO_ENTRY = 16, /* bytes */
    EMBARGO_BUCKETS = 16384,
    EMBARGO_HEADER = 4096,
    EMBARGO_FILE_BYTES =
        EMBARGO_HEADER + EMBARGO_BUCKETS * EMBARGO_SLOTS * EMBARGO_ENTRY,
    EMBARGO_HOURS_MAX = 0x7fff
};

struct embargo_entry {
    uint64_t key;    /* keyed hash; not 0 */
    uint32_t time_s; /* of the 451 */
    uint16_t hours;  /* that it is kept after time_s, at most EMBARGO_HOURS_MAX */
    bool is_back;    /* came again after that */
};

struct embargo_store;
/* Makes the file if it is missing. One that is damaged or of another version is replaced by an
 * empty one. */
enum err embargo_store_open(const char *path, struct embargo_store **ret,
                            struct errinfo *reterr);
void embargo_store_close(struct embargo_store **s); /* accepts NULL */

/* ERR_NOT_FOUND: no entry, or it was kept long enough. Other errors: the file cannot be read. */
enum err embargo_store_find(const struct embargo_store *s, uint64_t key, uint32_t now_s,
                            struct embargo_entry *ret);
/* Adds the entry or replaces that of its key. ERR_NOSPACE: its bucket is full. Other errors: the
 * file cannot be written. */
enum err embargo_store_put(struct embargo_store *s, const struct embargo_entry *entry,
                           uint32_t now_s);

#endif
