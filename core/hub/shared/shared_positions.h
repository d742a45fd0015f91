/*
 * shared_positions - how far each cell of the store has this server's records, and what is next.
 *
 * Records have rising numbers. The position of a cell in the store is the number of the last record
 * whose pairs were added there. A batch has the pairs of one cell, of one record or of several that
 * follow each other; it is added only where the cell still stands at the position that the batch
 * follows. So a position that was heard is the whole truth about a cell: what comes after it is
 * sent, again or for the first time. A cell has one batch under way.
 * After a start nothing is sent before the positions of all cells are known: a position above the
 * newest record tells that the log is an old copy, whose numbers were used for other pairs.
 * No input or output: tests/unit/shared drives it. Depends: base.   Threads: one.   ADR 0079.
 */
#ifndef CORE_HUB_SHARED_SHARED_POSITIONS_H
#define CORE_HUB_SHARED_SHARED_POSITIONS_H

#include "core/hub/shared/shared.h"

enum { SHARED_MASK_WORDS = SHARED_CELLS / 64 };

struct shared_record {
    uint64_t number;
    uint64_t start_s; /* its bucket */
    uint64_t at;      /* where the log has it */
    uint64_t
        logged_us; /* clock_mono_us; of an earlier process: when its log was opened */
    uint64_t cells[SHARED_MASK_WORDS]; /* that it has pairs of */
};

struct shared_positions {
    struct shared_record *v; /* numbers rise */
    size_t n;
    size_t room;
    uint64_t last;        /* the newest number ever given */
    uint64_t last_at_ask; /* the same when the asking began */
    bool is_asking;       /* some cell was not heard since positions_init */
    struct shared_cell {
        uint64_t position;
        uint64_t scanned; /* from the position to this number it has no record */
        bool is_known;    /* false: ask before the next batch */
        bool was_heard;
        bool is_busy; /* a batch is under way */
    } cells[SHARED_CELLS];
};

/* last: the newest number that the log ever gave. */
void positions_init(struct shared_positions *p, uint64_t last);
void positions_fini(struct shared_positions *p);
/* A new incarnation: no record, and all cells stand at 0. */
void positions_restart(struct shared_positions *p);
/* The number must be above `last`, or this is the first record. False: no memory. */
bool positions_add(struct shared_positions *p, const struct shared_record *record);
/* Forgets the records of a bucket. */
void positions_forget(struct shared_positions *p, uint64_t start_s);

/* The store said that the cell stands there; a busy cell does not listen. False: it is ahead of the
 * log, and a new incarnation must begin, but not before all cells were heard once. */
bool positions_hear(struct shared_positions *p, unsigned cell, uint64_t position);
/* What is known of the cells may be wrong: all are asked for again. */
void positions_doubt(struct shared_positions *p);

/* Whether the cell has a batch to send now; *ret: the index of its first record. */
bool positions_next(struct shared_positions *p, unsigned cell, size_t *ret);
/* The record of the cell after record i, if it is of the same bucket; else p->n. */
size_t positions_following(const struct shared_positions *p, unsigned cell, size_t i);
void positions_sent(struct shared_positions *p, unsigned cell);
/* The batch up to this number was added. */
void positions_added(struct shared_positions *p, unsigned cell, uint64_t number);
/* Leaves out record i, which cannot be read. */
void positions_skip(struct shared_positions *p, unsigned cell, size_t i);
/* The batch was not added, or nobody knows; is_known: the store still stands at the position. */
void positions_failed(struct shared_positions *p, unsigned cell, bool is_known);

bool record_has(const struct shared_record *record, unsigned cell);
/* The oldest record of the cell that is not known to be in the store; NULL: none. */
const struct shared_record *positions_oldest(const struct shared_positions *p,
                                             unsigned cell);
/* A pair of the record is not known to be in the store. */
bool positions_is_waiting(const struct shared_positions *p,
                          const struct shared_record *record);
/* The same of any record of a bucket. */
bool positions_is_bucket_waiting(const struct shared_positions *p, uint64_t start_s);

#endif
