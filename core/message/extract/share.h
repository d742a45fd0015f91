/*
 * share - the processor time of one message, divided so that no part of the message uses it up.
 *
 * The visible text has one share and attachments have another; neither can use the other's. Each
 * leaf (a part, or a file in a file) may take three quarters of the time left in its share, so that
 * there is always time for the next leaf. When a leaf has used its time, the rest of its text is
 * skimmed for links (skim.c). Skimming has separate shares. Only the total bounds structure and
 * checksums.
 * Threads: one at a time.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_EXTRACT_SHARE_H
#define CORE_MESSAGE_EXTRACT_SHARE_H

#include "core/base/std.h"

enum share {
    SHARE_STRUCTURE, /* bounded by SHARES_STOP only */
    SHARE_TEXT,
    SHARE_FILES,
    SHARE_SKIM_TEXT,
    SHARE_SKIM_FILES,
    SHARES
};

enum {
    SHARE_STEP = 64 * 1024, /* bytes between two readings of the clock */
    SHARES_STOP =
        145, /* per cent of the budget; beyond it the message is read no further */
};

struct shares {
    uint64_t budget_us; /* 0: no bound */
    uint64_t used_us[SHARES];
    uint64_t all_us;
    uint64_t leaf_us; /* left for the open leaf */
    uint64_t since_us;
    size_t bytes;     /* since the last reading of the clock */
    bool is_timed;    /* since_us is known */
    uint64_t wall_us; /* of all work, by the monotonic clock */
    uint64_t wall_since_us;
    enum share now;
};

void shares_init(struct shares *s, uint64_t budget_us);
/* Call these before and after the work on a chunk. Time between two chunks is not counted. A small
 * chunk is not timed: the clock would cost more than the work. */
void shares_begin(struct shares *s, size_t bytes);
void shares_end(struct shares *s);
/* A new leaf begins; its time is counted on this share. */
void shares_spend_on(struct shares *s, enum share share);
/* Adds bytes of work that was done. */
void shares_step(struct shares *s, size_t bytes);
/* True if the time of the leaf, or of its share, is used up. */
bool shares_leaf_is_over(const struct shares *s);
/* True if the message must be read no further. */
bool shares_all_is_over(const struct shares *s);

#endif
