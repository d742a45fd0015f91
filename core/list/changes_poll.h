/*
 * changes_poll - changes of a list since the caller's last position in its log.
 *
 * A position is a segment and an offset of the log; imports and single changes stand there alike.
 * The log does not record entries that expire or age out. Callers that need those compare the whole
 * list from time to time.
 * Depends: base, list.   Threads: one object, one thread.
 */
#ifndef CORE_LIST_CHANGES_POLL_H
#define CORE_LIST_CHANGES_POLL_H

#include "core/list/list.h"

struct list_position {
    uint64_t created_s; /* of the list: a recreated list has another log */
    uint64_t period_s;  /* the oldest that the list holds; 0: it does not age */
    uint32_t segment;
    uint32_t offset;
    bool has_more; /* the log goes on behind it */
};

/* The end of the log that r knows. */
void list_changes_end(const struct list_reader *r, struct list_position *ret);

/* Calls fn with the digest of each record after *io, until `most` records or the end that r knows,
 * and moves *io there. A digest can come more than once. ERR_NOT_FOUND: another log, or a period
 * was dropped. Compare the whole list. */
typedef void list_change_fn(void *context, const struct digest *d);
enum err list_changes(const struct list_reader *r, struct list_position *io,
                      uint64_t most, list_change_fn *fn, void *context,
                      struct errinfo *reterr);

/* Opens the list again if it changed; *io is then another reader. *io_seen: the state seen last,
 * zeros at first. */
struct list_cursor {
    uint64_t generation;
    uint64_t updated_s; /* its last change */
    uint32_t segment;
    uint32_t offset;
    bool is_changed; /* since the look before */
};
enum err list_changes_poll(const char *state_dir, struct slice name,
                           const struct keyring *keys, struct list_reader **io,
                           struct list_cursor *io_seen, struct errinfo *reterr);

#endif
