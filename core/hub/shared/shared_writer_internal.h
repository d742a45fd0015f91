/*
 * shared_writer_internal - the writer's state, for the files that change it and that show it.
 *
 * Not for other rooms.   ADR 0079.
 */
#ifndef CORE_HUB_SHARED_SHARED_WRITER_INTERNAL_H
#define CORE_HUB_SHARED_SHARED_WRITER_INTERNAL_H

#include "core/hub/shared/shared_writer.h"

struct shared_writer {
    struct shared_port port;
    uint64_t spool;
    struct shared_log *log;
    struct shared_pending *pending;
    struct shared_positions positions;
    struct shared_record *unsynced; /* appended, not yet durable */
    size_t nunsynced;
    size_t unsynced_room;
    struct run_record *batch;
    size_t batch_room;
    struct shared_now now; /* of the last call */
    uint64_t newest_inc;   /* of this server in the store */
    uint64_t newest_s;     /* bucket that was reported */
    uint64_t next_ask_us;
    uint64_t next_look_us; /* at removals */
    bool is_asked[SHARED_CELLS];
    bool must_begin; /* another incarnation */
    bool is_lost;    /* because the log is an old copy, or lost */
    uint64_t repeated;
    uint64_t dropped;
    uint64_t incarnations;
};

#endif
