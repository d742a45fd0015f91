/*
 * changes_poll - what changed in a list since one looked last, from its log.
 *
 * A position is a segment and an offset of the log; imports and single changes stand there alike. What expires or
 * ages out is in no log: who wants to know compares the whole list now and then.
 * Depends: base, list.   Threads: one object, one thread.
 */
#ifndef CORE_LIST_CHANGES_POLL_H
#define CORE_LIST_CHANGES_POLL_H

#include "core/list/list.h"

struct list_position {
    uint64_t created_s; /* of the list: one made anew has another log */
    uint64_t period_s;  /* the oldest that the list holds; 0: it does not age */
    uint32_t segment;
    uint32_t offset;
    bool has_more; /* the log goes on behind it */
};

/* Where the log ends that r knows. */
void list_news_end(const struct list_reader *r, struct list_position *ret);

/* Tells each digest of a record behind *io, some more than once, until `most` were told or the end that r knows;
 * moves *io there. ERR_NOT_FOUND: the log is not the one, or a period was dropped: compare
 * the whole list. */
typedef void list_news_fn(void *context, const struct digest *d);
enum err list_news(const struct list_reader *r, struct list_position *io, uint64_t most,
                   list_news_fn *fn, void *context, struct errinfo *reterr);

/* Opens the list anew when it changed: *io is then another reader. *io_seen: what was seen of it, zeros at first. */
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
