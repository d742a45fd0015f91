/*
 * doorkeeper - which keys were seen in the last 15 days, and when last, in about 21 bits a key.
 *
 * A doorkeeper: lines of 64 bytes hold one of 4,369 values of a key's hash and the day of its last
 * sight (modulo 15). A key goes into its home line, else into one of two others, and the home line
 * notes the day. If all are full, the key is rejected, and its home line answers "unsure" until
 * that day expires. A key is kept until its day expires; it is taken for another with a probability
 * of about (entries of a line) / 4369.
 * Depends: base.   Threads: one at a time; doorkeeper_entries and doorkeeper_turned_away from any.
 * Owns: nothing, the lines are the caller's.   ADR 0026.
 * Source: Fan et al. 2014 (fingerprints); Einziger, Friedman 2017 (doorkeeper).
 */
#ifndef CORE_FILTER_DOORKEEPER_H
#define CORE_FILTER_DOORKEEPER_H

#include "core/base/std.h"

enum {
    DOORKEEPER_LINE_BYTES = 64,
    DOORKEEPER_ENTRIES = 31, /* of a line */
    DOORKEEPER_VECTORS = 4,
    DOORKEEPER_LANES = 8,
    DOORKEEPER_DAYS = 15 /* today and 14 before */
};

struct doorkeeper_vector {
    uint16_t lane __attribute__((vector_size(2 * DOORKEEPER_LANES)));
};

/* An entry is 0 (free), or 1 + day modulo 15 + 15 * (0..4368, of the key's hash). The last is no
 * entry: bit d is set when a key of this home had to go elsewhere on a day d (modulo 15), bit 15
 * when one of them went to the second of the other lines. */
union doorkeeper_line {
    uint16_t entry[DOORKEEPER_ENTRIES + 1];
    struct doorkeeper_vector vector[DOORKEEPER_VECTORS];
};

/* Written with every new key; the caller's, so that they may lie beside what else is. */
struct doorkeeper_figures {
    uint64_t nentries;
    uint64_t nturned_away; /* occurrences, since the last clear */
};

struct doorkeeper {
    union doorkeeper_line *lines; /* zeroed when new, aligned to 64 */
    uint16_t *away;  /* of each line: days on which a key of this home was rejected */
    uint64_t nlines; /* at least 1, below 2^32 */
    uint64_t today;  /* day number */
    struct doorkeeper_figures *figures;
};

enum doorkeeper_answer {
    DOORKEEPER_NEW,    /* certainly not seen; doorkeeper_see has added it */
    DOORKEEPER_PLACED, /* added, but an earlier occurrence may have been rejected */
    DOORKEEPER_SEEN,   /* it is in */
    DOORKEEPER_AWAY    /* no room, or from doorkeeper_find: it may have been rejected */
};

/* hash: 64 evenly spread bits of the key. */
void doorkeeper_prefetch(const struct doorkeeper *d, uint64_t hash);
/* Adds an occurrence on `day`, which is today or one of the 14 days before. DOORKEEPER_SEEN: the
 * newest of its days is kept. */
enum doorkeeper_answer doorkeeper_see(struct doorkeeper *d, uint64_t hash,
                                      uint64_t day);
/* Returns DOORKEEPER_NEW, DOORKEEPER_SEEN or DOORKEEPER_AWAY; with DOORKEEPER_SEEN *retage is today
 * minus its last day. */
enum doorkeeper_answer doorkeeper_find(const struct doorkeeper *d, uint64_t hash,
                                       unsigned *retage);

/* Another day begins: entries that leave the 15 days are free. An earlier day does nothing. */
void doorkeeper_begin_day(struct doorkeeper *d, uint64_t today);
void doorkeeper_clear(struct doorkeeper *d, uint64_t today);

uint64_t doorkeeper_entries(const struct doorkeeper *d);
uint64_t doorkeeper_turned_away(const struct doorkeeper *d);

#endif
