/*
 * report_request - requests about reports, from the control socket and the spool folder.
 *
 * A report is read like mail and kept by core/report. It is on the disk before the answer is sent,
 * and its votes hold for the next message. gillnetd may not change lists: the answer to a report of
 * ham names entries, and the client revokes them and notes that ("say=changed").
 * root and gillnetd's own user speak as the administrator, or for the reporter that they give. So
 * does a request with a right seal (core/report/report_seal.h). Any other user of the socket speaks
 * as LOGIN, or as LOGIN/NAME for a name that it gives. In a namespace that hides users LOGIN is
 * "user".
 * Threads: report_answer from any; report_spool_start makes one.   ADR 0071.
 */
#ifndef MILTER_REPORT_REQUEST_H
#define MILTER_REPORT_REQUEST_H

#include <jansson.h>

#include "core/base/err.h"
#include "core/config/config.h"
#include "core/list/listset.h"
#include "core/report/reports.h"
#include "core/telemetry/scan_request.h"

/* The answer to a request of the client at fd, as JSON that the caller frees. NULL: reterr says
 * why. */
char *report_answer(const struct scan_request *line, struct slice bytes, int fd,
                    struct errinfo *reterr);

/* Keeps a report by this reporter: an object {id, changed, ...}. NULL: reterr says why. */
json_t *report_keep(const struct scan_request *line, struct slice reporter,
                    struct slice bytes, struct errinfo *reterr);

/* Opens the reports of the state folder; *ret NULL: there can be none. */
enum err report_open(const struct config *config, const struct keyring *keys,
                     struct reports **ret, struct errinfo *reterr);

/* ---- STATE/reports/spool (report_spool.c) ---- */

enum {
    REPORT_SPOOL_WAIT_MS = 1000,
    REPORT_SPOOL_FILES = 1000, /* of one look */
    REPORT_SPOOL_SETTLED_S = 1 /* age from which a file is taken: it may be under way */
};
/* Takes reports from the folders spam and ham until report_spool_stop. False: no thread. */
bool report_spool_start(void);
void report_spool_stop(void);

/* ---- lists that confirm reports (report_listed.c) ---- */

enum {
    REPORT_LISTED_QUEUE =
        64, /* hits that wait; more are dropped, the next message has them */
    REPORT_LISTED_EVERY_S =
        3600 /* entries that taught trust are looked up again; also when
                                    a list changed */
};
struct verdict;
struct list_hits;
/* Mail's path: notes confirmed hits whose values were reported before. */
void report_listed_note(const struct config *config, const struct featureset *features,
                        const struct listset *lists, const struct list_hits *hits,
                        const struct verdict *v);
/* Writes the waiting entries into the log, and takes back those whose list dropped the value.
 * One thread. */
void report_listed_take(void);

#endif
