/*
 * held_list - held messages that were found, by their time.
 *
 * Threads: one.   Owns: the messages; their values lie in its arena.
 */
#ifndef CORE_QUARANTINE_QUEUE_HELD_LIST_H
#define CORE_QUARANTINE_QUEUE_HELD_LIST_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/quarantine/held.h"

struct held_list {
    struct held *v;
    size_t n;
    size_t room;
    struct arena *arena;
};

/* ERR_NOMEM. */
enum err held_list_init(struct held_list *l, struct errinfo *reterr);
void held_list_fini(struct held_list *l);
/* The place behind the last message, which counts when the caller raises n; NULL: no memory, or
 * QUEUE_LISTED_MAX messages are there. */
struct held *held_list_next(struct held_list *l);
/* Sorts the oldest first. */
void held_list_sort(struct held_list *l);
/* Appends a row of JSON a line. */
enum err held_list_print(const struct held_list *l, struct buf *ret,
                         struct errinfo *reterr);

#endif
