/*
 * structure - a checksum over the tags of HTML in order, rows that repeat taken once.
 *
 * Threads: one at a time.   Owns: the running checksum, until structure_end or structure_fini.
 * Depends: base.
 */
#ifndef CORE_MESSAGE_EXTRACT_STRUCTURE_H
#define CORE_MESSAGE_EXTRACT_STRUCTURE_H

#include "core/base/checksum.h"
#include "core/base/slice.h"

enum { STRUCTURE_PERIOD_MAX = 24, STRUCTURE_WINDOW = 128 };

struct structure {
    struct sha256 sum;
    bool has_sum;
    size_t ntags; /* that are kept, in all */
    size_t n;     /* in the window */
    uint32_t window[STRUCTURE_WINDOW];
    uint8_t run[STRUCTURE_PERIOD_MAX + 1]; /* tags equal to the one this many before */
};

/* An object of zero bytes is a new one. */
void structure_tag(struct structure *s, struct slice name);
/* False: fewer than min tags were kept, or there was no memory. */
bool structure_end(struct structure *s, size_t min, char rethex[SHA256_HEX + 1]);
void structure_fini(struct structure *s);

#endif
