/*
 * journal_read - the records of a journal, also while gillnetd writes it, and without gillnetd.
 *
 * Damage costs the damaged records alone; it is counted, and its first place is named.
 * Threads: any; one call, one thread.
 */
#ifndef CORE_VERDICT_JOURNAL_JOURNAL_READ_H
#define CORE_VERDICT_JOURNAL_JOURNAL_READ_H

#include "core/base/err.h"
#include "core/verdict/journal/journal_head.h"
#include "core/verdict/journal/record.h"

/* A record, and the names of its file; both until the function returns. False stops. */
typedef bool journal_read_fn(void *context, const struct record *r,
                             const struct journal_names *names);

struct journal_query {
    const char *state_dir;
    uint64_t since_us; /* 0: from the beginning */
    uint64_t until_us; /* 0: to the end */
    bool newest_first;
    /* Only records of a higher number, and no older file is read; not with newest_first. */
    uint64_t after;
    journal_read_fn *fn;
    void *context;
};

enum { JOURNAL_DAMAGE_TEXT = 512 };
struct journal_numbers {
    uint64_t records; /* whole ones, before fn */
    uint64_t files;
    uint64_t bytes;    /* of files */
    uint64_t waiting;  /* records that are still in the ring */
    uint64_t first_us; /* time of the oldest record; 0: there is none */
    uint64_t last_us;
    uint64_t damaged;                 /* places where records are damaged */
    char damage[JOURNAL_DAMAGE_TEXT]; /* the first one, or a file that cannot be read */
};

/* ERR_NOT_FOUND: there is no journal. ERR_DENIED: this user may not read it. */
enum err journal_read(const struct journal_query *q, struct journal_numbers *ret,
                      struct errinfo *reterr);

#endif
