/*
 * shared_verify_internal - the state of a comparison, for the two files of shared_verify.
 */
#ifndef CORE_HUB_SHARED_SHARED_VERIFY_INTERNAL_H
#define CORE_HUB_SHARED_SHARED_VERIFY_INTERNAL_H

#include <event2/event.h>

#include "core/hub/shared/shared_verify.h"

enum stage { STAGE_CELLS, STAGE_CHOOSE, STAGE_ASK, STAGE_ADD, STAGE_DONE };

struct verify_key {
    uint64_t key;
    uint64_t own; /* added by this server, up to the position of its cell */
    uint64_t total;
    bool is_answered;
};

struct shared_verify {
    struct shared *shared;
    struct shared_counts *counts; /* NULL: stopped */
    struct event *timer;
    uint64_t until_us;
    enum stage stage;
    unsigned next_cell;
    unsigned nasked;                  /* calls under way */
    uint64_t positions[SHARED_CELLS]; /* as the last answer of the stage had them */
    uint64_t buckets[SHARED_VERIFY_BUCKETS];
    size_t nbuckets;
    size_t bucket;  /* whose turn it is */
    uint64_t after; /* the last record that was read of it */
    struct verify_key keys[SHARED_VERIFY_KEYS]; /* of the bucket, rising */
    size_t nkeys;
    uint64_t salt;
    uint64_t share; /* one key in `share` is taken; a power of two */
    json_t *findings;
    struct {
        uint64_t cells;
        uint64_t behind;
        uint64_t parts;
        uint64_t gone;
        uint64_t endless;
        uint64_t largest;
        uint64_t keys;
        uint64_t low;
        uint64_t lacking;
        uint64_t strangers;
        uint64_t failed;
    } sum;
};

/* ---- shared_verify_sample.c; for shared_reading ---- */

/* Takes keys of a record into the sample of the bucket. */
void verify_choose(void *context, uint64_t number, const struct run_record *pairs,
                   size_t n);
/* Adds up the sample's counts that the store has acknowledged. */
void verify_add_own(void *context, uint64_t number, const struct run_record *pairs,
                    size_t n);

#endif
