/*
 * embargo_keys - the keyed hashes by which a message is remembered; private to this room.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_VERDICT_EMBARGO_EMBARGO_KEYS_H
#define CORE_VERDICT_EMBARGO_EMBARGO_KEYS_H

#include "core/verdict/embargo/embargo.h"

/* One key for each recipient; 0: it has no body, or too many recipients. */
size_t embargo_copies(const struct hashkey *key, const struct embargo_case *c,
                      uint64_t ret[EMBARGO_COPIES_MAX]);
/* Keys of the kind; of a text with near-duplicate keys, those of both epochs, the newer first. The
 * first *retnew are to be remembered. 0: the sender has no domain. */
size_t embargo_kinds(const struct hashkey *key, const struct embargo_case *c,
                     uint64_t ret[EMBARGO_KINDS_MAX], size_t *retnew);

#endif
