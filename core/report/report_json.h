/*
 * report_json - reports as JSON, for answers, lists and the API.
 *
 * Depends: base, reports.   Threads: pure.   Allocates: jansson's values, which the caller owns;
 * NULL without memory.
 */
#ifndef CORE_REPORT_REPORT_JSON_H
#define CORE_REPORT_REPORT_JSON_H

#include <jansson.h>

#include "core/list/listset.h"
#include "core/report/reports.h"

/* {"id", "kind", "reporter", "way", "again", "standing", "trust", "changed": [{"status": "voted",
 * "items"}, {"status": "taught"}, {"status": "replaced", "report"}, {"status": "overruled",
 * "reports"}], "detail"}. The process that revokes entries of lists adds them to "changed". */
json_t *report_outcome_json(const struct report *r, const struct reports_outcome *o);

/* The listed values that a report of this message as ham revokes: [{"list", "type", "value"}], each
 * once. The caller has pinned lists. */
json_t *report_listed_json(const struct listset *lists, struct featureset *features,
                           struct arena *arena);

/* {"id", "time", "kind", "reporter", "way", "case", "queue_id", "items", "undone", "changed"} of an
 * entry REPORT_GIVEN; undone and changed as found later in the log. */
json_t *report_entry_json(const struct report *r);

/* Reports of the log that are wanted. */
struct report_wanted {
    const char *state_dir;
    uint64_t since_s;
    uint64_t id;      /* this report alone; 0: all */
    uint64_t case_id; /* those about this message; 0: all */
    struct slice
        queue_id; /* or by its queue id, where a report has no case; empty: none */
    size_t most;  /* the newest of them */
};
/* Adds to each row the trust of its reporter at that time: 1 of the administrator and of traps,
 * null without votes. */
void report_trust_json(json_t *rows, struct votes *votes, uint64_t now_s);
/* The newest last. *ret is an array, also after a failure. */
enum err report_list_json(const struct report_wanted *wanted, json_t **ret,
                          struct errinfo *reterr);

#endif
