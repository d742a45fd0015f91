/*
 * ham_record - what the ham log (core/telemetry/ham_log.h) is told of a message: its names, addresses,
 * URLs and files as lists are asked for them, and whether anything spoke against it.
 *
 * Threads: any.   Allocates: a scratch arena, for the sample of messages that the ham log keeps.
 */
#ifndef MILTER_HAM_RECORD_H
#define MILTER_HAM_RECORD_H

#include "core/message/feature/feature.h"
#include "core/telemetry/ham_log.h"
#include "core/verdict/verdict.h"

/* Before the first message: the ham log and the key of its digests, both borrowed; NULL: none. */
void ham_record_use(struct ham_log *j, const struct hashkey *key);
/* An examined message. */
void ham_record_message(const struct featureset *features, const struct verdict *v);

#endif
