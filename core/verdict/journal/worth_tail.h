/*
 * worth_tail - counts the worth of rules and lists (worth.h) in a thread that follows the journal.
 *
 * The thread reads the files of the last WORTH_DAYS days once, and then what is added, every
 * WORTH_TAIL_MS. When the log of reports changes, it is read again; messages that were counted
 * before they were reported are sought in the journal. Both take at most one part of WORTH_SHARE
 * of the time. Erasure of a person changes nothing: no text of mail is kept.
 * Threads: any, but one makes and frees it.   Owns: the numbers and the thread.   ADR 0089.
 */
#ifndef CORE_VERDICT_JOURNAL_WORTH_TAIL_H
#define CORE_VERDICT_JOURNAL_WORTH_TAIL_H

#include "core/base/err.h"
#include "core/verdict/journal/worth.h"

enum { WORTH_TAIL_MS = 500, WORTH_SHARE = 20 };

struct worth_tail;
enum err worth_tail_new(const char *state_dir, struct worth_tail **ret,
                        struct errinfo *reterr);
/* Accepts NULL. */
void worth_tail_free(struct worth_tail **t);

/* The numbers, which do not change until the release; counting waits. *retwhole: the journal was
 * read to its end since the start. */
const struct worth *worth_tail_acquire(struct worth_tail *t, bool *retwhole);
void worth_tail_release(struct worth_tail *t);

#endif
