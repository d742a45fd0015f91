/*
 * report_read - a message that somebody reports, read like mail: its items, and the digest by which
 * the same message is known again.
 *
 * Depends: config, feature, extract, report_items.   Threads: one for a call.   Allocates: from the
 * arena.
 */
#ifndef CORE_REPORT_REPORT_READ_H
#define CORE_REPORT_REPORT_READ_H

#include "core/message/extract/extract.h"
#include "core/report/report_items.h"

/* Adds the items, the vector and the digest of a message to ret. limits: as for mail, changed here.
 * *retfeatures lives in the arena. ERR_NOMEM. */
enum err report_read(const struct report_naming *how, struct arena *arena,
                     struct extract_limits *limits, struct slice bytes,
                     struct report *ret, struct featureset **retfeatures);

/* The case id in the X-Gillnet-Status field of a message that gillnetd delivered: the text; empty:
 * there is none. */
struct slice report_case_of(struct slice message);

#endif
