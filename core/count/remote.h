/*
 * remote - what peers counted: their closed streams as runs, their open ones as tables in memory.
 *
 * Follows STATE/peers/counts (the hub writes, see stream.h) and tells the sketch what is new; the exact
 * history is told by origin. A stream or an origin that is gone from the folder is gone from every answer at the next
 * refresh, and the sketch is to be rebuilt (remote_take_rebuild).
 * Depends: base, store, runset.   Threads: one refreshes, any may ask.   ADR 0033.
 */
#ifndef CORE_COUNT_REMOTE_H
#define CORE_COUNT_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/count/runset.h"
#include "core/store/origins.h"

/* What each origin adds to the windows of one key (10 min, 1 h, 1 d, 14 d). */
struct count_share {
    const struct origin_row *origin; /* NULL: this server */
    uint64_t w[4];
    struct count_history history;
};
struct count_shares {
    struct count_share *v; /* [0]: this server; then those that counted it */
    unsigned n;
    unsigned quorum;
};
void count_shares_fini(struct count_shares *s);
/* What may be used for harm: our own count, and what peers add, each up to its cap, where at least
 * quorum of them counted it. */
uint64_t count_shares_bounded(const struct count_shares *s, unsigned window);

#endif
