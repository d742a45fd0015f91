/*
 * feed_apply - applies the changes of a feed to its list.
 *
 * Entries are added, get another expiry, or leave the feed and end at the time that the item gives.
 * Entries that a person added or revoked stay. Repeated changes write nothing, so an interrupted
 * refresh is simply repeated. A few changes are appended to the log and visible at once;
 * REFRESH_BULK or more are merged as an import.
 * Depends: base, list.   Threads: the writer's.
 */
#ifndef CORE_LIST_FEED_APPLY_H
#define CORE_LIST_FEED_APPLY_H

#include "core/base/arena.h"
#include "core/list/reader.h"
#include "core/list/segment.h"

enum { REFRESH_BULK = 8192 /* this many changes or more are merged */ };

struct refresh_item {
    struct digest digest;
    uint16_t class_type; /* of what entered */
    bool has_left;
    uint32_t expiry_s; /* 0: never; with has_left at once, else no later than this */
    uint32_t first_seen_s; /* as the feed says; 0: it does not */
    struct slice text;     /* of what entered; valid until the next item */
};
/* Gives the next one; digests rise strictly. False: that was all, or *retfail says why not. */
typedef bool refresh_next_fn(void *context, struct refresh_item *ret,
                             enum err *retfail);

struct refresh_result {
    uint64_t entered; /* listed now, and not before */
    uint64_t changed; /* end at another time */
    uint64_t left;
    uint64_t known; /* listed already, or not listed when it left */
    uint64_t kept;  /* a person decided otherwise */
};

struct refresh_input {
    refresh_next_fn *next;
    void *context;
    uint64_t n; /* items at most */
    struct slice source;
    list_progress_fn *progress; /* may be NULL */
    void *progress_context;
};
/* Durable when it returns ERR_OK, and seen by readers at once; on failure a part may be. ERR_RANGE:
 * the digests do not rise. */
enum err list_refresh(struct list_writer *w, const struct refresh_input *in,
                      struct refresh_result *ret, struct errinfo *reterr);

/* ---- within the room ---- */

struct refresh {
    const struct refresh_input *in;
    uint32_t time_s;
    bool keep_text;
    struct log_texts texts; /* of what leaves */
    struct arena *arena;
    struct refresh_result done;
};
/* Counts item and makes its record from the known entry (NULL: unknown). False: no change. The
 * record's text is valid until the next call. */
bool refresh_record(struct refresh *r, const struct refresh_item *item,
                    const struct index_record *known, struct log_record *ret);

#endif
