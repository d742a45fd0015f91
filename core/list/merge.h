/*
 * merge - the next generation from the present one, its tail, and perhaps an import.
 *
 * Depends: base, store, build.   Threads: one at a time.
 */
#ifndef CORE_LIST_MERGE_H
#define CORE_LIST_MERGE_H

#include "core/list/build.h"
#include "core/store/sorter.h"

/* Entries of an import: sorted, with data made by merge_data_print. */
struct merge_input {
    struct sorter *sorter; /* finished */
    struct slice source;
    uint32_t time_s;
};
/* What the sorter carries of an entry. */
void merge_data_print(uint16_t class_type, uint32_t expiry_s, struct slice text,
                      struct buf *ret);

/* in NULL: only the tail goes into the base. Nothing changed: no new generation is made.
 * progress may be NULL. */
enum err list_merge(struct list_writer *w, const struct merge_input *in,
                    list_progress_fn *progress, void *context,
                    struct list_import_result *ret, struct errinfo *reterr);

#endif
