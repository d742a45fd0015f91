/*
 * message_tail - follows the files of the journal into a message_ring, for searches by any thread.
 *
 * A thread of its own fills the ring from the newest files and then reads what is added, every
 * MESSAGE_TAIL_MS. Records that gillnetd has not moved to a file yet (JOURNAL_MOVE_MS) come after
 * that. Rows of a file that is removed go with it. `gillnet journal forget` makes the next
 * search drop all rows first. The thread then fills the ring again from the erased files.
 * Threads: any, but one makes and frees it.   Owns: the ring and the thread.   ADR 0085.
 */
#ifndef CORE_VERDICT_JOURNAL_MESSAGE_TAIL_H
#define CORE_VERDICT_JOURNAL_MESSAGE_TAIL_H

#include "core/base/err.h"
#include "core/verdict/journal/message_query.h"
#include "core/verdict/journal/message_ring.h"

enum { MESSAGE_TAIL_MS = 250 };

struct message_tail;

/* rows: 0 to MESSAGE_RING_ROWS_MAX; 0: none are kept. */
enum err message_tail_new(const char *state_dir, size_t rows, struct message_tail **ret,
                          struct errinfo *reterr);
/* Accepts NULL. */
void message_tail_free(struct message_tail **t);
/* Another number of rows, soon. */
void message_tail_set_rows(struct message_tail *t, size_t rows);

/* A row that matches, until the function returns. False stops. */
typedef bool message_tail_fn(void *context, const struct message_view *v);

struct message_search {
    const struct message_query *query;
    uint64_t before; /* rows with a number below it; 0: all */
    uint64_t after;  /* rows with a number above it */
    bool oldest_first;
    size_t most; /* rows that are looked at; 0: all */
    message_tail_fn *fn;
    void *context;
};
struct message_searched {
    size_t rows;   /* looked at */
    uint64_t last; /* number of the last of them; 0: none */
    bool is_whole; /* the newest messages are all there: the ring is not being filled */
    bool has_more; /* rows in this order behind the last one */
};
/* Calls fn for each row that matches. */
void message_tail_search(struct message_tail *t, const struct message_search *s,
                         struct message_searched *ret);
/* The same without waiting. False: the ring is being changed or filled. */
bool message_tail_try(struct message_tail *t, const struct message_search *s,
                      struct message_searched *ret);
/* Number of the newest row, without waiting; 0: there is none. UINT64_MAX: the ring is being
 * filled. */
uint64_t message_tail_newest(struct message_tail *t);

#endif
