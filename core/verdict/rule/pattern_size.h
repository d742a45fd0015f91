/*
 * pattern_size - how large a regular expression grows when its repeats are written out.
 *
 * vectorscan's time and memory to compile grow with it, without a bound of their own. A character
 * or a class of ASCII counts 1, a class that takes other characters 4 (it is a graph of bytes), and
 * a property (\p) 80; x{m,n} counts n times, and x{m,} m + 1 times. An item outside all repeats
 * that counts 1 is left out at the end: words cost little.
 * Threads: no state.   Allocates: nothing.   ADR 0059.
 */
#ifndef CORE_VERDICT_RULE_PATTERN_SIZE_H
#define CORE_VERDICT_RULE_PATTERN_SIZE_H

#include "core/base/slice.h"

enum {
    PATTERN_SIZE_MAX = 400, /* of one pattern: .{0,100} once, or .{0,40} twice */
    PATTERN_SIZES_MAX =
        100 * 1000, /* of all patterns of a feature type, or of the text */
    PATTERN_SIZE_BEYOND = 1000 * 1000 /* larger ones are as large */
};

/* Of any text; one that is no expression has some size. */
unsigned pattern_size(struct slice text);

#endif
