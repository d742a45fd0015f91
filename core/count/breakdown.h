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
        3 /* peers that may lie together, see count_shares_bounded */
};

/* What one server adds to the windows of one key. */
struct count_part {
    const struct origin_row *origin; /* in rows; NULL: this server */
    uint64_t w[COUNT_PART_WINDOWS];
    struct count_history history;
};

struct count_breakdown {
    struct count_part *v; /* [0]: this server; then those that counted it */
    unsigned n;
    unsigned room;
    unsigned quorum;         /* peers that must have counted it */
    bool is_own;             /* the peers are one owner's: none is taken for a liar */
    unsigned npeers;         /* with a say, whether or not they counted it */
    struct origin_row *rows; /* of them */
};

/* Empty but for [0], zeros. False: no memory. */
bool count_breakdown_init(struct count_breakdown *s, uint64_t now);
void count_breakdown_fini(struct count_breakdown *s);
/* Who may be in it. False: no memory; then nobody is. */
bool count_breakdown_set_origins(struct count_breakdown *s, const struct origins *o);
/* The share of an origin, made when it is not there; NULL: it has no say, or no memory. */
struct count_part *count_breakdown_of(struct count_breakdown *s,
                                      const uint8_t origin[ORIGIN_BYTES]);
/* All histories are full: makes the windows of them. */
void count_breakdown_end(struct count_breakdown *s);

/* Whether an origin has a say: it is a member, or was one whose counts still stand, and not we. */
bool count_has_say(const struct origins *o, const struct origin_row *row);

/* What the configuration allows, if it is less: a cap for each peer and more peers for the quorum. 0: as it is. */
void count_breakdown_limit(struct count_breakdown *s, uint64_t cap, unsigned quorum);

/* What may be used for harm: our own count, and what peers add, each up to its cap, where at least quorum of them
 * counted it. All of it where they are one owner's servers. Else of these the COUNT_SHARES_LIARS largest are left out, or fewer: always less than half of the peers.
 * So that many liars can never bring it above what is true: each of theirs that is in has pushed out one at least
 * as large. */
uint64_t count_breakdown_bounded(const struct count_breakdown *s, unsigned window);
/* What may be used to spare: all that all of them say, each up to its cap. */
uint64_t count_breakdown_all(const struct count_breakdown *s, unsigned window);
/* The sum of all, without caps: what is shown. */
uint64_t count_breakdown_sum(const struct count_breakdown *s, unsigned window);
/* When any of them counted it first and last; 0: none did. Periods are known, not moments: those that run are cut at now_s. */
void count_breakdown_seen(const struct count_breakdown *s, uint64_t now_s,
                          uint64_t *retfirst_s, uint64_t *retlast_s);

#endif
