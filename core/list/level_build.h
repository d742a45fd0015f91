/*
 * level_build - makes one level: an exact index and the filter over it, from records in digest
 * order.
 *
 * Uses no state of the writer, so that a level can be built while the writer runs (merge.h). A new
 * level is not used until CURRENT lists it.
 * Depends: base, filter, store.   Threads: one at a time.
 */
#ifndef CORE_LIST_LEVEL_BUILD_H
#define CORE_LIST_LEVEL_BUILD_H

#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/filter/bloomfile.h"
#include "core/list/entry.h"
#include "core/list/files.h"
#include "core/list/list.h"

#define LIST_FILTER_ERROR 0.001
/* Of a list's target the oldest level takes this share, and each of the few small ones after it
 * the other: a bit more for each of their keys costs little. */
#define OLDEST_LEVEL_SHARE 0.9
#define NEWER_LEVEL_SHARE  0.01

/* Error of a small filter before a large one that is mapped: five bits a key keep nine of ten
 * foreign digests from it. */
#define BLOOM_FRONT_ERROR 0.1

enum {
    BUILD_PROGRESS_EVERY = 32768,
    BUILD_SOME =
        256 /* digests that are added to the filter at once: lines are fetched ahead */
};

/* Description of the level to build. */
struct build_order {
    const char *dir;
    struct hashkey node; /* of the filter's positions */
    uint32_t key_id;     /* of the digests */
    struct filter_wish filter;
    uint64_t number;
    uint64_t expected; /* records at most */
    bool is_oldest;
    uint64_t period_s;
};

struct build {
    struct build_order order;
    struct index_builder *index;
    struct bloomfile filter;
    struct bloomfile front;         /* with filter.has_front, of the oldest level */
    struct digest some[BUILD_SOME]; /* counted, not in the filters yet */
    unsigned nsome;
    uint64_t count;
    struct feature_classes classes;
    uint32_t first; /* segments that the records stand in */
    uint32_t last;
};

enum err build_begin(struct build *b, const struct build_order *order,
                     struct errinfo *reterr);
/* Digests must rise strictly. */
enum err build_add(struct build *b, const struct digest *d,
                   const struct index_record *r, struct errinfo *reterr);
/* Writes both files durably and opens the index again, verified. After a failure build_abort. */
enum err build_finish(struct build *b, struct list_level *ret, struct index **retindex,
                      struct errinfo *reterr);
/* Frees everything and removes the files of an unfinished level. */
void build_abort(struct build *b);

#endif
