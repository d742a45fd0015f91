/*
 * message_log - the log line of a message and the counters that go with it.
 *
 * The line: logline.h. Threads: any.
 */
#ifndef MILTER_MESSAGE_LOG_H
#define MILTER_MESSAGE_LOG_H

#include "core/verdict/verdict.h"

#include "milter/reply.h"
#include "milter/session.h"

/* One message that got its final answer. v NULL: it was not examined, for this reason. */
void message_log_write(const struct session *s, const struct verdict *v,
                       const char *reason, const struct outcome *o, uint64_t us);
/* The counters of a look-up. */
void message_log_add_hits(const struct list_hits *hits);

#endif
