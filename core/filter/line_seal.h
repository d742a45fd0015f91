/*
 * line_seal - a line of a filter that travels alone, with a proof of which line of which filter it
 * is.
 *
 * A store of others keeps the lines (BLOOMFILE_REMOTE). The seal is keyed: a lost, shifted, stale
 * or forged line is told from an empty one. Whoever has the digest key can make seals.
 * Depends: base, bloom.   Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_FILTER_LINE_SEAL_H
#define CORE_FILTER_LINE_SEAL_H

#include "core/filter/bloomfile.h"

enum { LINE_SEALED_BYTES = BLOOM_LINE_BYTES + 4 };

/* Line `number` of the filter of this id, whose digests have this key. */
struct line_name {
    const struct hashkey *key;
    const uint8_t *id; /* BLOOMFILE_ID_BYTES */
    uint64_t number;
};
void line_seal(const struct line_name *name, const void *line,
               uint8_t ret[LINE_SEALED_BYTES]);
/* False: these bytes are not that line. */
bool line_unseal(const struct line_name *name, const uint8_t sealed[LINE_SEALED_BYTES],
                 uint64_t retline[BLOOM_LINE_BYTES / 8]);

#endif
