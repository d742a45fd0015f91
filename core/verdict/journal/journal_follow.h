/*
 * journal_follow - reads a file of the journal from a place on, also while gillnetd appends to it.
 *
 * The file is read in pieces of JOURNAL_CHUNK bytes, not mapped: a file that is cut meanwhile is no
 * SIGBUS. The bytes of a piece are overwritten after use.
 * Threads: any; one place, one thread.
 */
#ifndef CORE_VERDICT_JOURNAL_JOURNAL_FOLLOW_H
#define CORE_VERDICT_JOURNAL_JOURNAL_FOLLOW_H

#include "core/verdict/journal/journal_file.h"

enum { JOURNAL_CHUNK = 256 << 10 };

/* Frames from a place on. *retdone: bytes of whole frames among them. False stops. */
typedef bool journal_piece_fn(void *context, struct slice frames, size_t *retdone);

struct journal_follow {
    const char *dir; /* of the journal */
    char *chunk;     /* JOURNAL_CHUNK bytes */
    journal_piece_fn *fn;
    void *context;
};
/* Reads from *at (JOURNAL_HEAD: the beginning) to the end of the last whole frame, and moves *at
 * there. Skips damage. A missing file has no frames. */
enum err journal_follow_file(const struct journal_follow *f,
                             const struct journal_name_of *name, uint64_t *at,
                             struct errinfo *reterr);

#endif
