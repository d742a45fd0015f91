/*
 * shared_counts_internal - the writer and its calls, for the two files of shared_counts.
 */
#ifndef CORE_HUB_SHARED_SHARED_COUNTS_INTERNAL_H
#define CORE_HUB_SHARED_SHARED_COUNTS_INTERNAL_H

#include <sys/queue.h>

#include "core/count/follow.h"
#include "core/hub/shared/shared_counts.h"
#include "core/hub/shared/shared_writer.h"

LIST_HEAD(counts_calls, counts_call);

struct shared_counts {
    struct shared_counts_options o;
    struct object_id origin;
    struct follow *follow;
    struct shared_writer *writer;
    struct counts_calls calls;  /* under way */
    struct counts_calls parked; /* batches whose buckets are closed, until their turn */
    unsigned nopening;          /* batches whose turn it is */
    uint64_t changes;           /* of the connection, as seen last */
    uint64_t doubt_until_us;
    enum shared_counts_state state;
    char why[REDIS_TEXT_MAX];
    uint64_t sent;
    uint64_t batches;
    uint64_t repeated; /* as logged */
    uint64_t answered_us;
    char trouble[ERRINFO_TEXT_MAX]; /* the last one that was logged */
};

/* ---- shared_calls.c ---- */

bool counts_ask(void *context, unsigned cell, uint64_t inc);
bool counts_add(void *context, unsigned cell, const struct shared_batch *batch);
/* Later answers to the open calls are ignored. */
void counts_forget_calls(struct shared_counts *c);

#endif
