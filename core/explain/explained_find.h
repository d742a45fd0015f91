/*
 * explained_find - the newest record of a case id, queue id or Message-ID.
 *
 * Threads: any; one call, one thread.
 */
#ifndef CORE_EXPLAIN_EXPLAINED_FIND_H
#define CORE_EXPLAIN_EXPLAINED_FIND_H

#include "core/base/keyring.h"
#include "core/verdict/journal/journal_read.h"

struct explained_search {
    const char *state_dir;
    struct slice id;
    const struct keyring *keys; /* of Message-IDs; NULL: no Message-ID is found */
    /* The record's number, from a caller that knows it: that file alone is read. 0: unknown. */
    uint64_t number;
    uint64_t until_us; /* of clock_mono_us, then the search ends; 0: never */
    /* Called once, with the record found. */
    void (*fn)(void *context, const struct record *r,
               const struct journal_names *names);
    void *context;
};
/* *retfound false with ERR_OK: the journal has none. ERR_TIMEOUT: the
 * newest records have none, and the time is over. Errors of journal_read. */
enum err explained_find(const struct explained_search *s, struct journal_numbers *ret,
                        bool *retfound, struct errinfo *reterr);

#endif
