/*
 * ham_keys - the keys under which good mail is remembered: names, addresses, URLs and files of a
 * message, as they are looked up in lists, with the few lengths of networks that feeds list.
 *
 * Features that are looked up but not counted (bare words, fields of lists) are left out.
 * Depends: base.   Threads: pure.   Allocates: from the scratch arena.
 */
#ifndef CORE_MESSAGE_FEATURE_HAM_KEYS_H
#define CORE_MESSAGE_FEATURE_HAM_KEYS_H

#include "core/message/feature/feature.h"
#include "core/telemetry/ham_log.h"

enum { HAM_KEYS_SCRATCH_BYTES = 256 * 1024 };

/* Fills in keys and network of *ret from the features `from` on, until it is full; returns the
 * first that was not looked at. key: of the lists' digests. */
size_t ham_keys_gather(const struct featureset *features, size_t from,
                       const struct hashkey *key, struct arena *scratch,
                       struct ham_log_message *ret);

#endif
