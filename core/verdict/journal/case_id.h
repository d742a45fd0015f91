/*
 * case_id - the short name of one judged message: 12 characters, such as "d3k7p0vq9x2m".
 *
 * 32 bits are the second, so the ids of a server sort by time. The other 28 are a number that
 * counts on and goes through a secret permutation: no two messages of a second share one, and
 * nobody outside learns how much mail a server gets. Letters: Crockford's base32, lower case.
 * Threads: any.   Allocates: nothing.   ADR 0064.
 */
#ifndef CORE_VERDICT_JOURNAL_CASE_ID_H
#define CORE_VERDICT_JOURNAL_CASE_ID_H

#include "core/base/slice.h"

enum { CASE_ID_CHARS = 12, CASE_ID_SIZE = CASE_ID_CHARS + 1 };

/* The id of a message of now. Never 0. */
uint64_t case_id_next(uint64_t now_s);
/* The second in which it was given out. */
uint64_t case_id_time_s(uint64_t id);
/* Returns ret. */
const char *case_id_print(uint64_t id, char ret[CASE_ID_SIZE]);
/* Takes either case, and o, i and l for the digits that they look like. False: no case id. */
bool case_id_read(struct slice text, uint64_t *ret);

#endif
