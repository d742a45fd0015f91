/*
 * line_query - the lines of one message: gathered from all lists, asked for at once, then tested.
 *
 * For readers with remote levels (level.h). Gather every digest to be tested, ask once, then test.
 * A missing line decides nothing, and the test returns that. While the hub puts a new filter into
 * the store, lines are read from the filter's file if they are in the page cache, so without any
 * waiting.
 * Depends: base, filter, list.   Threads: one.   Owns: its memory.   ADR 0082.
 */
#ifndef CORE_LIST_LINE_QUERY_H
#define CORE_LIST_LINE_QUERY_H

#include "core/list/line_client.h"
#include "core/list/reader.h"

struct line_query;
/* NULL: no memory. */
struct line_query *line_query_new(void);
void line_query_free(struct line_query **q); /* accepts NULL */

/* Adds the lines that the remote levels of r need for n digests. Lines beyond LINE_WIRE_LINES and
 * lines of filters beyond LINE_WIRE_FILTERS are not requested and stay without an answer. */
void line_query_add(struct line_query *q, const struct list_reader *r,
                    const struct digest *d, size_t n);
/* Requests all lines at once, within budget_us. Reports faults to the client. */
void line_query_ask(struct line_query *q, struct line_client *client,
                    uint64_t budget_us);
/* As list_reader_test, with the remote levels: rethit[i] is 0 or 1. False: a line of some digest
 * without a hit is missing, so that digest is undecided. */
bool line_query_test(const struct line_query *q, const struct list_reader *r,
                     const struct digest *d, size_t n, uint8_t *rethit);

#endif
