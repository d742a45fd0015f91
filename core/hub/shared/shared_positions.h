/*
 * shared_positions - positions of this server in the cells of the store, and its next batches.
 *
 * Records have rising numbers. The position of a cell in the store is the number of the last record
 * whose pairs were added there. A batch has the pairs of one cell, from one record or from several
 * in a row. It is added only if the cell is still at the position that the batch follows. So a
 * position that the store returned is the whole truth about a cell: the records after it are sent,
 * again or for the first time. A cell has one batch under way.
 * After a start nothing is sent before the positions of all cells are known. A position above the
 * newest record shows that the log is an old copy, whose numbers were used for other pairs.
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
    uint64_t cells[SHARED_MASK_WORDS]; /* with pairs in this record */
};

struct shared_positions {
    struct shared_record *v; /* numbers rise */
    size_t n;
    size_t room;
    uint64_t last;        /* the newest number ever given */
    uint64_t last_at_ask; /* the same when the asking began */
    bool is_asking;       /* some cell has not answered since positions_init */
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
/* Begins a new incarnation: no records, and all positions are 0. */
void positions_restart(struct shared_positions *p);
/* Adds a record. Its number must be above `last`, unless it is the first. False: no memory. */
bool positions_add(struct shared_positions *p, const struct shared_record *record);
/* Forgets the records of a bucket. */
void positions_forget(struct shared_positions *p, uint64_t start_s);

/* Takes a position that the store returned; a busy cell ignores it. False: the position is ahead of
 * the log. Then a new incarnation must begin, once the positions of all cells came. */
bool positions_hear(struct shared_positions *p, unsigned cell, uint64_t position);
/* The known positions may be wrong: marks those of cells without a batch under way as unknown. */
void positions_doubt(struct shared_positions *p);

/* True if the cell has a batch to send now; *ret: the index of its first record. */
bool positions_next(struct shared_positions *p, unsigned cell, size_t *ret);
/* Returns the record of the cell after record i, if both belong to one bucket; else p->n. */
size_t positions_following(const struct shared_positions *p, unsigned cell, size_t i);
void positions_sent(struct shared_positions *p, unsigned cell);
/* The batch up to this number was added. */
void positions_added(struct shared_positions *p, unsigned cell, uint64_t number);
/* Leaves out record i, which cannot be read. */
void positions_skip(struct shared_positions *p, unsigned cell, size_t i);
/* The batch was not added, or its fate is unknown. is_known: the position has not changed. */
void positions_failed(struct shared_positions *p, unsigned cell, bool is_known);

bool record_has(const struct shared_record *record, unsigned cell);
/* Returns the oldest record of the cell that is not known to be in the store; NULL: none. */
const struct shared_record *positions_oldest(const struct shared_positions *p,
                                             unsigned cell);
/* True if a pair of the record is not known to be in the store. */
bool positions_is_waiting(const struct shared_positions *p,
                          const struct shared_record *record);
/* True if this holds for any record of a bucket. */
bool positions_is_bucket_waiting(const struct shared_positions *p, uint64_t start_s);

#endif
