/*
 * lookup_stats - counters of the look-ups in each list: a small mmapped file of gillnetd.
 *
 * A row counts for one list and period. The row of period 0 (LOOKUP_STATS_WHOLE) is the list as a
 * whole; rows of other periods, of lists whose entries age by period, count confirmations of that
 * period's entries alone. Derived data (class E): without a sound file counting starts at zero, and
 * only these numbers are lost.
 * Depends: base.   Threads: counting from any; rows are made by one thread at a time.
 * Owns: the mapping.   Model: core/telemetry/stats.c.
 */
#ifndef CORE_LIST_LOOKUP_STATS_H
#define CORE_LIST_LOOKUP_STATS_H

#include "core/base/err.h"
#include "core/base/slice.h"

/* The file of gillnetd, in the state folder. */
#define STATE_LOOKUP_STATS_FILE "counts/lists.lookups"

enum {
    LOOKUP_STATS_WHOLE = 0, /* the period that stands for the list as a whole */
    LOOKUP_STATS_ROWS = 4096,
    LOOKUP_STATS_ROWS_USED = 3072, /* more are refused: searches stay short */
    LOOKUP_STATS_KEEP_S =
        2 * 365 * 24 * 60 * 60 /* a row not used for this time is dropped */
};

enum lookup_stats_number {
    LOOKUP_STATS_TESTED,        /* digests tested in the filters */
    LOOKUP_STATS_FILTER,        /* of these, those that a filter did not rule out */
    LOOKUP_STATS_CONFIRMED,     /* the exact index knows them */
    LOOKUP_STATS_FALSE,         /* the exact index does not */
    LOOKUP_STATS_FALSE_NEW,     /* of these, not in the confirmation cache */
    LOOKUP_STATS_REVOKED,       /* known as revoked */
    LOOKUP_STATS_CANARY_TESTED, /* gauge: random digests tested in the last minutes */
    LOOKUP_STATS_CANARY_HITS,   /* gauge: of these, not ruled out */
    LOOKUP_STATS_ALARMS,        /* gauge: bits of enum lookup_stats_alarms */
    LOOKUP_STATS_NUMBERS
};

/* Faults of the filters of a list (core/list/health.h). */
enum lookup_stats_alarms {
    LOOKUP_STATS_ALARM_TRAFFIC = 1, /* more new false positives than designed, by far */
    LOOKUP_STATS_ALARM_CANARY =
        2, /* the same for random digests: a fault of the filter, not of the senders */
    LOOKUP_STATS_ALARM_TARGET = 4 /* the estimated error is above the target */
};

/* ---- gillnetd's side ---- */

struct lookup_stats;     /* the open file */
struct lookup_stats_row; /* lives as long as the file is open */

/* Makes or takes over the file: rows go on from their last numbers. */
enum err lookup_stats_open(const char *path, uint64_t now_s, struct lookup_stats **ret,
                           struct errinfo *reterr);
/* To be called every second or so; accepts NULL. Makes the file again if it was cut. Rows stay
 * where they are; those that were lost begin at 0. */
void lookup_stats_keep(struct lookup_stats *h, uint64_t now_s);
/* Call this when no thread counts. Accepts NULL. */
void lookup_stats_close(struct lookup_stats **h);

/* The row, made when there is none; NULL when the file is full (the list is not counted). */
struct lookup_stats_row *lookup_stats_row(struct lookup_stats *h, struct slice list,
                                          uint64_t period, uint64_t now_s);
/* The row if there is one. From any thread. */
struct lookup_stats_row *lookup_stats_row_find(struct lookup_stats *h,
                                               struct slice list, uint64_t period);
/* Sums of a batch of digests, ready to be added; last_hit_s 0: nothing was confirmed. */
struct lookup_stats_sums {
    uint64_t number[LOOKUP_STATS_NUMBERS]; /* gauges must be 0 */
    uint64_t last_hit_s;
};
/* One atomic addition for each number that is not 0. */
void lookup_stats_add(struct lookup_stats_row *row,
                      const struct lookup_stats_sums *sums);
void lookup_stats_set(struct lookup_stats_row *row, enum lookup_stats_number number,
                      uint64_t value);
/* Notes that gillnetd runs, for readers that compute how long a period had no hit. */
void lookup_stats_alive(struct lookup_stats *h, uint64_t now_s);

/* ---- every reader's side ---- */

struct lookup_stats_counts {
    uint64_t number[LOOKUP_STATS_NUMBERS];
    uint64_t last_hit_s; /* newest confirmation; 0: none yet */
    uint64_t since_s;    /* when counting began */
};
void lookup_stats_row_read(const struct lookup_stats_row *row,
                           struct lookup_stats_counts *ret);

struct hits_view; /* a copy of a file */
/* ERR_NOT_FOUND: gillnetd has not counted yet. Others: the file is damaged, not readable, ... */
enum err lookup_stats_read(const char *path, struct hits_view **ret,
                           struct errinfo *reterr);
void lookup_stats_view_free(struct hits_view **v);
/* Last time that gillnetd was known to run. Later look-ups were not
 * counted. */
uint64_t lookup_stats_view_alive_s(const struct hits_view *v);
/* False: no row, so the number of hits is unknown. */
bool lookup_stats_view_find(const struct hits_view *v, struct slice list,
                            uint64_t period, struct lookup_stats_counts *ret);

/* (false positives) / (tested - confirmed - revoked); negative when nothing was tested. */
double lookup_stats_observed_error(const struct lookup_stats_counts *c);

#endif
