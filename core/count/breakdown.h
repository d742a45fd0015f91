/*
 * breakdown - how much of a key's count each server brings, and how much of that may do harm.
 *
 * Depends: store, runset.   Threads: one at a time.   Owns: its arrays.   ADR 0033.
 */
#ifndef CORE_COUNT_BREAKDOWN_H
#define CORE_COUNT_BREAKDOWN_H

#include "core/count/runset.h"
#include "core/store/origins.h"

enum {
    COUNT_PART_WINDOWS = 4, /* 10 min, 1 h, 1 d, 14 d: those of enum count_window */
    COUNT_BREAKDOWN_LIARS =
        3, /* peers that may lie together, see count_breakdown_bounded */
    COUNT_ROWS_MAX = ORIGINS_MAX + 1 /* all peers, and the store */
};

/* The part of one server in the windows of one key. */
struct count_part {
    const struct origin_row *origin; /* in rows; NULL: this server */
    uint64_t w[COUNT_PART_WINDOWS];
    struct count_history history;
    uint64_t age_s; /* of what is known of it; 0 for peers */
};

struct count_breakdown {
    struct count_part *v; /* [0]: this server; then those that counted it */
    unsigned n;
    size_t room;
    unsigned quorum;         /* peers that must have counted it */
    bool is_own;             /* all peers belong to one owner and are trusted */
    uint64_t fresh_s;        /* older parts do no harm */
    unsigned npeers;         /* with a say, whether or not they counted it */
    struct origin_row *rows; /* of them */
};

/* Makes [0], all zeros; now: its bucket. False: no memory. */
bool count_breakdown_init(struct count_breakdown *s, uint64_t now);
void count_breakdown_fini(struct count_breakdown *s);
/* Sets the peers whose counts may be added. False: no memory; then no peer may. */
bool count_breakdown_set_origins(struct count_breakdown *s, const struct origins *o);
/* Returns the part of an origin, and makes it if needed. NULL: the origin does not count here, or
 * there is no memory. */
struct count_part *count_breakdown_of(struct count_breakdown *s,
                                      const uint8_t origin[ORIGIN_BYTES]);
/* Returns a new part, named "store", for the servers that are known through the shared store only.
 * NULL: no memory. */
struct count_part *count_breakdown_add_store(struct count_breakdown *s);
/* Makes the windows from the histories, which are complete. */
void count_breakdown_end(struct count_breakdown *s);

/* True if the counts of an origin are used: it is an active member, or a former one whose counts
 * stay, and not this server. */
bool count_has_say(const struct origins *o, const struct origin_row *row);

/* Applies the limits of the configuration: a lower cap for each peer, a higher quorum (0: no
 * change), and the age up to which the store's part may do harm. The store is no peer: it has
 * neither cap nor quorum, because only servers of one owner share it. */
void count_breakdown_limit(struct count_breakdown *s, uint64_t cap, unsigned quorum,
                           uint64_t fresh_s);

/* Returns the count that may harm a message: our own count, and the counts of peers up to their
 * caps, if at least quorum peers counted the key. The store's part counts unless it is too old.
 * Unless the peers belong to one owner, the COUNT_BREAKDOWN_LIARS largest counts are left out, but
 * always fewer than half of the peers. So this number of liars cannot raise the sum above the
 * truth: each false count that is added has pushed out a true one at least as large. */
uint64_t count_breakdown_bounded(const struct count_breakdown *s, unsigned window);
/* Returns the count that may help a message: the counts of all servers, each up to its cap. */
uint64_t count_breakdown_all(const struct count_breakdown *s, unsigned window);
/* Returns the sum of all counts without caps, for display. */
uint64_t count_breakdown_sum(const struct count_breakdown *s, unsigned window);
/* Times of the first and the last count of any server; 0: no count. Only periods are known: a
 * running period ends at now_s. */
void count_breakdown_seen(const struct count_breakdown *s, uint64_t now_s,
                          uint64_t *retfirst_s, uint64_t *retlast_s);

#endif
