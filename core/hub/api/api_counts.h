/*
 * api_counts - counts of a value, from gillnetd.
 *
 * Blocking, within a deadline: for a worker's thread.
 * Depends: base, config, feature, count, gillnetd.h.   Threads: one for a struct.   Owns: nothing.
 */
#ifndef CORE_HUB_API_API_COUNTS_H
#define CORE_HUB_API_API_COUNTS_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/keyring.h"
#include "core/config/config.h"
#include "core/count/count.h"

enum { API_COUNTS_VALUES = 20 /* of one request */, API_COUNTS_WAIT_MS = 2000 };

struct api_counts {
    const struct config *config;
    struct keyring keys;
    uint64_t deadline_us;
    bool is_answering; /* false: gillnetd is down or too slow */
};
void api_counts_begin(struct api_counts *c, const struct config *config);
void api_counts_end(struct api_counts *c);
/* Counts of gillnetd, to read and to add to (batch and exact alone); after a failure it does nothing,
 * and all numbers are 0. */
struct count_port api_counts_port(struct api_counts *c);
/* Appends an array with one row for each counted feature that the value may stand for, or null if
 * gillnetd does not answer. */
void api_counts_add(struct api_counts *c, struct slice value, struct arena *arena,
                    struct buf *ret);

#endif
