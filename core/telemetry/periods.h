/*
 * periods - mail by hour of a month and by day of two years, in a mmapped file of its own.
 *
 * The page of history (history.h) has ten minutes of a day and becomes empty with each change of
 * its layout. Two years must outlive that: the head of this file says how many numbers, hours and
 * days it has, so every release reads the file of any other one. Numbers are only appended to enum
 * history_number. A missing or damaged file begins with what the page of history has.
 * Hours and days are those of UTC. A slot belongs to the time that its stamp names, so a clock that
 * jumps spoils only the slots that were written under the wrong time.
 * Threads: any may add; one opens and closes.   ADR 0087.
 */
#ifndef CORE_TELEMETRY_PERIODS_H
#define CORE_TELEMETRY_PERIODS_H

#include "core/telemetry/history.h"

/* The file of gillnetd, in the state folder. */
#define STATE_PERIODS_FILE "counts/gillnetd.periods"

enum period {
    PERIOD_DAY,   /* HISTORY_BUCKETS times ten minutes */
    PERIOD_WEEK,  /* hours */
    PERIOD_MONTH, /* hours of 31 days */
    PERIOD_YEAR,  /* days */
    PERIOD_YEARS, /* days of two years */
    PERIOD_COUNT
};
enum {
    PERIOD_HOURS = 31 * 24 + 1, /* the current one and those before it */
    PERIOD_DAYS = 2 * 366 + 1,
    PERIOD_BUCKETS_MAX = PERIOD_HOURS
};
const char *period_name(enum period p); /* "day", ... */
/* False: no period has this name. */
bool period_find(struct slice name, enum period *ret);
uint64_t period_bucket_s(enum period p);
size_t period_buckets(enum period p);

/* ---- gillnetd's side ---- */

/* Opens the file at path, or makes it; history_path is the page of history. Damage is logged. On
 * failure the numbers go to anonymous memory. */
enum err periods_open(const char *path, const char *history_path,
                      struct errinfo *reterr);
void periods_close(void);
/* Makes the file again if it was cut, with what is left of it; history_keep calls this. */
void periods_keep(void);
/* A message of now; history_message calls this. */
void periods_message(uint64_t now_s, const uint64_t number[HISTORY_NUMBERS]);

/* ---- every reader's side ---- */

struct period_view {
    enum period period;
    size_t n;
    struct history_bucket bucket[PERIOD_BUCKETS_MAX]; /* oldest first, without gaps */
};
/* The buckets of the period before now_s, the current one last; all are zero. */
void period_view_init(struct period_view *v, enum period p, uint64_t now_s);
/* Reads PERIOD_DAY from the page of history, all others from the file of periods.
 * ERR_NOT_FOUND: gillnetd has not run yet. On failure *ret has no messages. */
enum err period_read(const char *state_dir, enum period p, uint64_t now_s,
                     struct period_view *ret, struct errinfo *reterr);
void period_sum(const struct period_view *v, uint64_t ret[HISTORY_NUMBERS]);

#endif
