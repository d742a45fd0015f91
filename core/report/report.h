/*
 * report - one entry of the log of reports, and its bytes.
 *
 * A report says spam or ham. It votes on the items of the message (keyed digests of its counted
 * features), it may teach the model (a vector without text), and it can be undone. The log keeps
 * all reports for reports.keep; every effect follows from the log, so nothing is lost or doubled
 * when a process is killed. A report lists no domain, host or sender.
 * Files in reading order: report (one entry), report_log (the files), report_items (items of a
 * message), votes (what the entries of the log say about an item), reports (all of it, for the
 * process that writes), vote_stream and report_peers (votes of other servers), report_cases (what
 * was said about the messages of the journal), report_json.
 * Example of a change: a new field of a report is a field of struct report and a line in
 * report_print and report_parse; old entries end before it.
 * Depends: base, config, url, feature, extract, learn, list, count.   Threads: pure.   ADR 0071.
 */
#ifndef CORE_REPORT_REPORT_H
#define CORE_REPORT_REPORT_H

#include "core/base/buf.h"
#include "core/base/digest.h"
#include "core/base/err.h"
#include "core/base/slice.h"

#define STATE_REPORTS_DIR    "reports"
#define REPORT_ADMINISTRATOR "administrator" /* reporters that are no persons */
#define REPORT_TRAP          "trap"

enum {
    REPORT_ITEMS_MAX = 256,    /* of one report; the first ones */
    REPORT_NAME_MAX = 255,     /* bytes of a reporter, a way or a queue id */
    REPORT_VECTOR_MAX = 8192,  /* bytes */
    REPORT_CHANGED_MAX = 32768 /* bytes of the JSON that says what was changed */
};

enum report_entry {
    REPORT_GIVEN = 1,
    REPORT_UNDONE = 2,  /* the report with this id no longer holds */
    REPORT_CHANGED = 3, /* entries of lists that were revoked for this report */
    REPORT_LISTED = 4 /* a list has a value of reported messages, or (is_spam false) no
                           longer: the items are the digests of the value, way is the list */
};

struct report_item {
    uint64_t digest; /* the beginning of a keyed digest (count_digest) */
    uint16_t type;   /* enum feature_type */
    uint8_t proof;   /* enum report_proof: of the message alone, or not */
};

struct report {
    uint64_t number; /* rises from entry to entry; report_log_add sets it */
    uint8_t entry;   /* enum report_entry */
    bool is_spam;
    uint64_t id;       /* printed as a case id */
    uint64_t time_s;   /* wall clock */
    uint64_t case_id;  /* of the message; 0: unknown */
    uint64_t replaces; /* number of the reporter's opposite report; 0: none */
    uint64_t message;  /* digest of the message; 0: none, as in a report by id */
    struct slice reporter;
    struct slice way; /* "command", "api", "spool", ... */
    struct slice queue_id;
    struct slice changed; /* JSON, of REPORT_CHANGED */
    struct slice vector;  /* of core/learn; may be empty */
    uint64_t known_s;     /* REPORT_LISTED: since when the value is listed */
    struct digest listed; /* and the name of its entry in the list */
    size_t nitems;
    struct report_item items[REPORT_ITEMS_MAX];
};

/* Appends the bytes of the entry. */
void report_print(const struct report *r, struct buf *ret);
/* Reads hostile bytes; texts point into them. False: they make no sense. */
bool report_parse(struct slice bytes, struct report *ret);

#endif
