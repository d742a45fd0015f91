/*
 * build - makes the next generation of a list and puts it in place.
 *
 * Records come in digest order; build_publish then makes index, filter, an empty tail and an
 * empty recent table, and replaces CURRENT: before that nothing has changed, after it all has.
 * Depends: base, filter, store, writer.   Threads: one at a time.
 */
#ifndef CORE_LIST_BUILD_H
#define CORE_LIST_BUILD_H

#include "core/list/writer.h"

/* Base filter: 16 bits a key and 9 probes keep the error below a tenth of a percent. */
#define LIST_FILTER_BITS  16.0
#define LIST_FILTER_ERROR 0.001
enum { LIST_FILTER_K = 9, BUILD_PROGRESS_EVERY = 32768 };

struct build {
    struct list_writer *w;
    uint64_t generation;
    struct index_builder *index;
    struct entry_totals totals;
    uint64_t count;
    uint64_t now_s;
    list_progress_fn *progress; /* may be NULL */
    void *context;
};

/* generation must be above every one on disk. expected: about how many records will come. */
enum err build_begin(struct build *b, uint64_t generation, uint64_t expected,
                     struct errinfo *reterr);
/* Takes a record; an expired one is left out. */
enum err build_add(struct build *b, const struct digest *d,
                   const struct index_record *r, struct errinfo *reterr);
/* Publishes with the tail of this number, still to be made; the writer goes on with it. On
 * failure the former generation stays and the build is aborted. */
enum err build_publish(struct build *b, uint32_t tail, uint64_t updated_s,
                       struct errinfo *reterr);
void build_abort(struct build *b);

#endif
