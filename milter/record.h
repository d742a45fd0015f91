/*
 * record - the log line of a message and the counters that go with it.
 *
 * "QUEUEID: action=header score=6.0 symbols=LIST_PHISH(6.0) client=[192.0.2.1] from=<a@b>
 * nrcpt=1 mid=<x@y> size=1234 limits=- config=0 us=340", and only where they apply: reason (why it
 * was not examined), wanted (the action that the MTA could not do), stripped and forged (fields
 * that were forged). Keys are stable. Threads: any.
 */
#ifndef MILTER_RECORD_H
#define MILTER_RECORD_H

#include "core/verdict/verdict.h"

#include "milter/reply.h"
#include "milter/session.h"

/* One message that got its final answer. v NULL: it was not examined, for this reason. */
void record_message(const struct session *s, const struct verdict *v,
                    const char *reason, const struct outcome *o, uint64_t us);
/* The counters of a look-up. */
void record_hits(const struct list_hits *hits);

#endif
