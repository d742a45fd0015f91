/*
 * case_id - the short name of one judged message: 12 characters, such as "d3k7p0vq9x2m".
 *
 * 32 bits are the second, so the ids of a server sort by time. The other 28 are a number that
 * counts on and goes through a secret permutation: no two messages of a second share one, and
 * nobody outside learns how much mail a server gets. The permutation comes from the installation's
 * key and the number starts at the microsecond of the process's start. So a process that starts in
 * the second in which the last one was killed repeats no id, as long as a server judges less than a
 * million messages a second. Letters: Crockford's base32, lower case.
 * Threads: any.   Allocates: nothing.   ADR 0064.
 */
#ifndef CORE_BASE_CASE_ID_H
#define CORE_BASE_CASE_ID_H

#include "core/base/digest.h"

enum { CASE_ID_CHARS = 12, CASE_ID_SIZE = CASE_ID_CHARS + 1 };

/* Before the first id. Without it the key is random. */
void case_id_begin(const struct hashkey *key, uint64_t now_us);
/* The id of a message of now. Never 0. */
uint64_t case_id_next(uint64_t now_s);
/* The second in which it was given out. */
uint64_t case_id_time_s(uint64_t id);
/* Returns ret. */
const char *case_id_print(uint64_t id, char ret[CASE_ID_SIZE]);
/* Takes either case, and o, i and l for the digits that they look like. False: no case id. */
bool case_id_read(struct slice text, uint64_t *ret);

#endif
