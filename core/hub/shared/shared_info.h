/*
 * shared_info - parser of a server's answer to INFO.
 *
 * Lines are "name:value". Unknown lines are skipped. A line without a number leaves its field as it
 * was.
 * Depends: base.   Threads: pure.   Source: INFO of Redis 6.0 to 7.4 and Valkey 7.2 to 8.1.
 */
#ifndef CORE_HUB_SHARED_SHARED_INFO_H
#define CORE_HUB_SHARED_SHARED_INFO_H

#include "core/hub/shared/shared_status.h"

enum { SHARED_RUN_ID_MAX = 64 };

struct shared_info {
    char run_id
        [SHARED_RUN_ID_MAX]; /* tells two addresses of one server; "": not known */
    uint64_t time_us;        /* its wall clock; 0: not known */
};
/* Sets the fields that INFO has: role, product, version, memory, policy, replicas, persistence by
 * an append-only file, whether it can write, evicted keys. */
void shared_info_read(struct slice text, struct shared_server_status *ret,
                      struct shared_info *retinfo);
/* Copies a text of a server, cut to size, with '?' for bytes that are not printable. */
void shared_info_copy(char *ret, size_t size, struct slice text);

#endif
