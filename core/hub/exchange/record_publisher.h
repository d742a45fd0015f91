/*
 * record_publisher - publishes a set of records as an own list of the ring.
 *
 * The difference between the wanted records and the published ones is computed each time. So
 * nothing else is stored, and a crash or a restored disk is only another difference.
 * Depends: base, list, sync.   Threads: that of sync.   ADR 0077.
 */
#ifndef CORE_HUB_EXCHANGE_RECORD_PUBLISHER_H
#define CORE_HUB_EXCHANGE_RECORD_PUBLISHER_H

#include "core/list/mirror.h"
#include "core/ring/sync/sync.h"

struct records_wanted {
    const char *list;
    const struct mirror_entry *v; /* digests rise strictly */
    size_t n;
};
/* Publishes the difference. *retagain is set if another call is needed: a record that differs in
 * type or time alone is removed now, and added by the next call. ERR_EXISTS: an object that was
 * signed before went first; call again. */
enum err records_publish(struct sync *sync, const struct records_wanted *wanted,
                         bool *retagain, struct errinfo *reterr);

#endif
