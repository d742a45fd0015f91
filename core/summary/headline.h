/*
 * headline - one server in a sentence: whether it is well, its mail of today, its oldest feed.
 *
 * "Today" is the last 24 hours and the running ten minutes, here and in every other place. So it is
 * never empty after midnight, and servers of several time zones add up.
 * The room summary has what one server, or all servers of a ring, did and how they are. Files in
 * reading order: headline; summary, its records as they travel; servers; summary_json.
 * Depends: base, telemetry, jansson.   Threads: pure.   ADR 0087.
 */
#ifndef CORE_SUMMARY_HEADLINE_H
#define CORE_SUMMARY_HEADLINE_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/telemetry/periods.h"

enum { HEADLINE_ALERTS = 16, HEADLINE_ALERT_MAX = 48, HEADLINE_VERSION_MAX = 32 };

enum headline_state {
    HEADLINE_WELL,
    HEADLINE_NEEDS, /* something needs the administrator */
    HEADLINE_DOWN,  /* gillnetd does not run */
    HEADLINE_NEW,   /* gillnetd has not run yet */
    HEADLINE_STATES
};
const char *headline_state_name(enum headline_state s); /* "well", ... */

struct headline {
    uint64_t at_s; /* when it was made */
    bool has_run;
    bool is_running;
    uint64_t needs; /* faults of gillnetd and firing alerts */
    uint64_t today[HISTORY_NUMBERS];
    bool has_feeds;       /* feeds that are enabled */
    uint64_t feed_good_s; /* the last good update of the oldest of them; 0: never */
    char version[HEADLINE_VERSION_MAX];
    unsigned nalerts; /* the first of those that fire */
    char alert[HEADLINE_ALERTS][HEADLINE_ALERT_MAX];
};
/* Reads the pages of gillnetd; alerts and feeds are not in them. */
void headline_read(const char *state_dir, uint64_t now_s, struct headline *ret);
/* Adds what rows of `gillnet feed list` say; NULL: no feeds. */
void headline_add_feeds(struct headline *h, const json_t *rows);
/* Adds the alerts that fire, of rows of the board's section. */
void headline_add_alerts(struct headline *h, const json_t *rows);
enum headline_state headline_state(const struct headline *h);
/* Refused for good: rejected or discarded. */
uint64_t headline_refused(const struct headline *h);
/* "Well. 7,000 messages today, 2,471 refused, 400 marked. Oldest feed: 14 min." */
void headline_print(const struct headline *h, uint64_t now_s, struct buf *ret);

#endif
