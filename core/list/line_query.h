/*
 * line_query - the lines of one message: gathered from all lists, asked for at once, then tested.
 *
 * For readers with remote levels (level.h). Gather every digest that is going to be tested, ask
 * once, then test. A line that did not come says neither yes nor no: the test says so. While the
 * hub puts a new filter into the store, lines are taken from the filter's file as far as it is in
 * the page cache, which takes no waiting.
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

/* Of n digests the lines that the remote levels of r need. Lines beyond LINE_WIRE_LINES, or of
 * filters beyond LINE_WIRE_FILTERS, are not asked for, and have no answer. */
void line_query_add(struct line_query *q, const struct list_reader *r,
                    const struct digest *d, size_t n);
/* Asks once for all, within budget_us. Tells faults. */
void line_query_ask(struct line_query *q, struct line_client *client,
                    uint64_t budget_us);
/* As list_reader_test, with the remote levels: rethit[i] is 0 or 1. False: for some of the digests
 * that have no hit, a level could not say no. */
bool line_query_test(const struct line_query *q, const struct list_reader *r,
                     const struct digest *d, size_t n, uint8_t *rethit);

#endif
