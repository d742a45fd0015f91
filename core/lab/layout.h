/*
 * layout - the filters of this room side by side: size and time of each for n keys.
 *
 * Sizes and errors are those of the layouts' own formulas (bloom.h, cuckoo.h). Times are estimates
 * from a table of measured figures (layout_time.def names the machine): good for a choice,
 * too rough for a promise.
 * Depends: base, bloom, cuckoo, plan.   Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_LAB_LAYOUT_H
#define CORE_LAB_LAYOUT_H

#include "core/base/err.h"
#include "core/filter/bloom.h"

/* The numbers of enum bloom_layout, and one more. */
enum layout {
    LAYOUT_ONE_LINE = BLOOM_ONE_LINE,
    LAYOUT_TWO_LINES = BLOOM_TWO_LINES,
    LAYOUT_CLASSIC = BLOOM_CLASSIC,
    LAYOUT_PARTITIONED = BLOOM_PARTITIONED,
    LAYOUT_CUCKOO = 5
};
enum { LAYOUT_FIRST = LAYOUT_ONE_LINE, LAYOUT_END = LAYOUT_CUCKOO + 1 };

/* Where the table was measured, for people. */
extern const char layout_time_origin[];

/* The wishes for a filter. */
struct layout_wish {
    uint64_t items; /* 1..PLAN_ITEMS_MAX */
    double error;   /* 0: as good as bits_per_key allow */
    double
        bits_per_key; /* 0: as many as error takes; it decides where both are given */
    unsigned k;       /* 0: the best; cuckoo has none */
};

struct layout_time {
    double miss_ns; /* one batched test of a key that is not inside, one thread */
    double hit_ns;
    double add_ns;
};

struct layout_size {
    enum layout layout;
    uint64_t bits;
    uint64_t bytes;
    unsigned k; /* probes; 0: the layout has none */
    double bits_per_key;
    double error; /* with all items inside */
    bool deletes; /* keys can be taken away again */
};

/* "one-line", ..., "cuckoo"; NULL for another number. */
const char *layout_name(unsigned layout);
/* False: none has this name. */
bool layout_of_name(const char *name, enum layout *ret);

/* Sizes one layout. ERR_RANGE with the reason where it cannot be had: the wish is impossible, or
 * this layout does not reach it. */
enum err layout_plan(enum layout layout, const struct layout_wish *wish,
                     struct layout_size *ret, struct errinfo *reterr);

/* Between the figures of the table by the size of the memory; beyond its ends as at the ends. */
void layout_time(const struct layout_size *size, struct layout_time *ret);

#endif
