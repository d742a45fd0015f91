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

/* The reports of the log since this time, the newest last, at most `most` of them (the newest).
 * id: this one alone; 0: all. *ret is an array, also after a failure. */
enum err report_list_json(const char *state_dir, uint64_t since_s, uint64_t id,
                          size_t most, json_t **ret, struct errinfo *reterr);

#endif
