/*
 * summary - state and mail of a server, as records of a list that others of its owner read.
 *
 * A server of a ring of kind own publishes the list LIST_SUMMARY: its headline, its mail by ten
 * minutes of a day, by hour of a month and by day of two years. So the exchange of lists
 * (core/ring/sync), or the store that the servers share, carries it: signed, in order, bounded. In
 * a federation nothing is published. A record is a digest of two halves: kind (1 byte), number (1),
 * index (6, big-endian), then a value (8, little-endian).
 *
 *   kind            number                index        value
 *   SUMMARY_STATE   enum summary_field    0            the field
 *   SUMMARY_TEXT    0: version; n: alert  piece        8 bytes of it, zeros behind its end
 *   SUMMARY_TEN     enum history_number   time / 600   messages; 0 is left out
 *   SUMMARY_HOUR    the same              time / 3600
 *   SUMMARY_DAY     the same              time / 86400
 *
 * A reader believes nothing: number of records, values, texts and times are bounded, and two values
 * for one thing are refused. Kinds and numbers of later versions are ignored.
 * Depends: base, list, telemetry.   Threads: pure.   ADR 0087.
 */
#ifndef CORE_SUMMARY_SUMMARY_H
#define CORE_SUMMARY_SUMMARY_H

#include "core/list/mirror.h"
#include "core/summary/headline.h"

enum {
    SUMMARY_EVERY_S = 60,  /* between two publications */
    SUMMARY_STALE_S = 300, /* an older summary is not counted in totals */
    SUMMARY_SKEW_S = 120,  /* that another server's clock may be ahead */
    SUMMARY_NUMBERS =
        HISTORY_DISCARD + 1,    /* of enum history_number: messages, actions */
    SUMMARY_TYPE = 64,          /* of the records */
    SUMMARY_RECORDS_MAX = 16384 /* of one server */
};
#define SUMMARY_VALUE_MAX (UINT64_C(1) << 53) /* more than anybody counts */

enum summary_kind {
    SUMMARY_STATE = 1,
    SUMMARY_TEXT = 2,
    SUMMARY_TEN = 3,
    SUMMARY_HOUR = 4,
    SUMMARY_DAY = 5
};
enum summary_field {                /* of SUMMARY_STATE */
                     SUMMARY_AT,    /* when it was made */
                     SUMMARY_FLAGS, /* 1: has run, 2: runs, 4: has feeds */
                     SUMMARY_NEEDS,
                     SUMMARY_FEED, /* headline.feed_good_s */
                     SUMMARY_FIELDS
};

/* The summary that this server publishes. */
struct summary {
    struct headline headline;
    struct period_view day;
    struct period_view month; /* hours */
    struct period_view years; /* days */
};
/* Prints at most SUMMARY_RECORDS_MAX records, sorted by digest. Returns their number. */
size_t summary_print(const struct summary *s, struct mirror_entry *ret);

/* A summary that is being read, record by record. */
struct summary_reading {
    uint64_t now_s;
    struct headline headline; /* today from SUMMARY_TEN, the rest as sent */
    struct period_view *view; /* as period_view_init left it; NULL: not wanted */
    struct period_view *day;  /* of its SUMMARY_TEN */
    uint64_t last;            /* first half of the digest before */
    size_t n;
    bool has_time;
};
/* Takes the next record, in order of digest. ERR_LIMIT, ERR_RANGE, ERR_CORRUPT: the
 * record cannot be true, and the reading ends. */
enum err summary_take(struct summary_reading *r, const struct mirror_entry *e,
                      struct errinfo *reterr);
/* Reads the summary below STATE/peers/lists/ORIGIN. view: filled with its messages, or NULL.
 * ERR_NOT_FOUND: it has none; ERR_LIMIT, ERR_RANGE, ERR_CORRUPT: it is refused. */
enum err summary_read(const char *folder, const struct keyring *keys, uint64_t now_s,
                      struct period_view *view, struct headline *ret,
                      struct errinfo *reterr);

#endif
