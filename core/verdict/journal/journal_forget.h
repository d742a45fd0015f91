/*
 * journal_forget - erasure of a person in the journal.
 *
 * A person is forgotten in place: the texts that name the address become bytes of 0, their sum
 * follows them, and the evidence has another sum. A crash in between costs the texts of one record.
 * STATE/journal/forgotten is another file after each erasure, also after one that failed in part.
 * Readers that keep texts of the journal in memory drop them then.
 * Threads: any.   ADR 0064, 0085.
 */
#ifndef CORE_VERDICT_JOURNAL_JOURNAL_FORGET_H
#define CORE_VERDICT_JOURNAL_JOURNAL_FORGET_H

#include "core/base/err.h"
#include "core/base/slice.h"

#define JOURNAL_FORGOTTEN "forgotten"

struct journal_forgotten {
    uint64_t records; /* in which something was erased */
    uint64_t files;   /* that were looked through */
};
/* Erases an address in all files. If gillnetd runs, its ring must empty first: ERR_TIMEOUT, if that
 * takes longer than JOURNAL_FORGET_WAIT_S. */
enum { JOURNAL_FORGET_WAIT_S = 10 };
enum err journal_forget(const char *state_dir, struct slice address,
                        struct journal_forgotten *ret, struct errinfo *reterr);

#endif
