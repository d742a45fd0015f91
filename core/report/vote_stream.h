/*
 * vote_stream - votes as records of a list, as servers of a ring exchange them.
 *
 * The list LIST_VOTES of a server holds the newest reports that hold there, as a set of records
 * {digest, type, expiry}. So the exchange of lists (core/ring/sync) carries votes as they are:
 * signed, in order, once, with snapshots; an undone report is a removed record, and a server that
 * was restored from a backup begins its list anew. The digest is the report's id and a value:
 *
 *   VOTE_ITEM + proof            the digest of an item (enum report_proof)
 *   VOTE_REPORT + 2 voice + spam the reporter (trust_reporter under the key of the ring), or 0 in a
 *   + 256 * items                federation, where nobody learns who reported
 *   VOTE_TIME                    when it was given
 *   VOTE_LISTED                  the digest of a value that a list names; its id is since when
 *
 * The expiry is VOTE_TRAVEL_S later, in whole hours. A report whose items are not all there is
 * being written, and is left out.
 * Own items travel, and values by which lists confirm reports; names of people do not.
 * Depends: base, list, report.   Threads: pure.   ADR 0077.
 */
#ifndef CORE_REPORT_VOTE_STREAM_H
#define CORE_REPORT_VOTE_STREAM_H

#include "core/list/mirror.h"
#include "core/report/ballot.h"
#include "core/report/report_items.h"

enum {
    VOTE_TRAVEL_S = 60 * 86400, /* older votes are no longer sent */
    VOTE_RECORDS_MAX = 65536,   /* of one server: the newest ones */
    VOTE_REPORTS_MAX = 8192,
    VOTE_LISTED_MAX = 4096,
    VOTE_ITEMS_MAX = 64, /* of one report */
    VOTE_ITEM = 16,
    VOTE_REPORT = 32,
    VOTE_TIME = 47,
    VOTE_LISTED = 48
};

/* One record, taken apart. */
struct vote_record {
    uint64_t id; /* of the report; VOTE_LISTED: seconds since 1970 */
    uint64_t value;
    uint16_t type;   /* VOTE_ITEM + proof, ... */
    uint8_t nitems;  /* of VOTE_REPORT; else 0 */
    uint64_t time_s; /* to be printed: the expiry follows from it */
};
void vote_record_print(const struct vote_record *r, struct mirror_entry *ret);
/* Reads a peer's record, but for time_s. False: it makes no sense. */
bool vote_record_parse(const struct mirror_entry *e, struct vote_record *ret);

#endif
