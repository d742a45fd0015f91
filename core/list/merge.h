/*
 * merge - one new level from the newest levels, the recent entries and perhaps an import.
 *
 * Takes in the levels from..n-1. The older levels stay and are read to find imported entries that
 * are known already. Reads only its input, so it can run while the writer continues.
 * Depends: base, store, level_build, import_log.   Threads: one at a time.
 */
#ifndef CORE_LIST_MERGE_H
#define CORE_LIST_MERGE_H

#include "core/list/import_log.h"
#include "core/list/level_build.h"
#include "core/list/memtable.h"
#include "core/list/merged_index.h"
#include "core/list/mirror.h"
#include "core/store/sorter.h"

enum { LEVEL_GROWTH = 4 };

/* The first level that a merge of `incoming` records takes in: the small ones, so that each level
 * is more than LEVEL_GROWTH times the next and a list has a dozen at most. Levels of another period
 * stay, unless the list has LIST_LEVELS_MAX. */
uint32_t merge_from(const struct list_current *c, uint64_t incoming, uint64_t period_s);

struct refresh;

/* Entries of an import: sorted, with data made by merge_data_print; or steps; or changes of a
 * feed. */
struct merge_input {
    struct sorter *sorter; /* finished; NULL: one of the others */
    mirror_next_fn *next;
    void *next_context;
    struct refresh *refresh;
    uint64_t nsteps; /* or changes, at most */
    struct slice source;
    uint32_t time_s;
};
/* Prints the data of an entry for the sorter. */
void merge_data_print(uint16_t class_type, uint32_t expiry_s, struct slice text,
                      struct buf *ret);

struct merge {
    /* given */
    struct build_order order; /* expected is found here */
    struct merged_index stack;
    uint64_t period_s[LIST_LEVELS_MAX]; /* of its levels */
    uint32_t from;
    struct memtable_entry *recent; /* sorted; freed by merge_fini */
    size_t nrecent;
    const struct merge_input *in; /* NULL: no import */
    struct import_log bulk;       /* with an import */
    struct entry_totals totals;   /* of the list before */
    uint64_t now_s;
    list_progress_fn *progress; /* may be NULL */
    void *context;
    /* what came of it */
    bool is_made; /* false: an import without a change */
    struct entry_totals totals_after;
    struct list_import_result result;
    struct list_level level;
    struct feature_classes classes; /* of its entries */
    struct index *index; /* open; the commit takes it, else merge_fini closes it */
};

/* The classes of a list whose levels were those of c before. */
struct feature_classes merge_classes(const struct merge *m,
                                     const struct list_current *c);
enum err merge_run(struct merge *m, struct errinfo *reterr);
void merge_fini(struct merge *m);

#endif
