/*
 * boilerplate - which shingles many senders write: footers, boilerplate, quoted headers.
 *
 * Told (shingle, sender) pairs, it remembers of each shingle up to UBIQUITY_SENDERS different
 * senders; one that has so many, and is UBIQUITY_DAYS old, is common and tells no two messages to be
 * replicas: what is written for years waits these days easily, a campaign is over by then. Bounded:
 * in a full bucket the shingle of the fewest senders gives way, of these the oldest, so that common
 * ones stay. A sender may be taken for another one in 65,535 times. It keeps the lines of mailing
 * lists' footers in the same table, each for its list (ubiquity_learn_footer).
 * Threads: any may ask while any learns; who asks may miss what is being learnt (or, when its
 * shingle gives way in that moment, hear of the one that takes its place).
 * Owns: its table, in memory only.   Depends: base.   ADR 0015, 0027, 0050.
 */
#ifndef CORE_MESSAGE_EXTRACT_BOILERPLATE_H
#define CORE_MESSAGE_EXTRACT_BOILERPLATE_H

#include "core/base/std.h"

enum {
    BOILERPLATE_SENDERS = 3, /* so many make a shingle common */
    BOILERPLATE_DAYS = 2,    /* once they have known it so long */
    UBIQUITY_FRONTS = 8,  /* messages that make the line of a footer common at once */
    BOILERPLATE_WAYS = 4, /* shingles of a bucket */
    BOILERPLATE_SHINGLES_MAX = 1 << 26
};

struct boilerplate;

/* For how many shingles, by the messages a day: 2 MB at 10,000, 64 MB at the most. */
size_t boilerplate_size(uint64_t messages_per_day);
/* NULL: no memory, or too many; else for about nshingles different ones, 16 bytes each. */
struct boilerplate *boilerplate_new(size_t nshingles);
void boilerplate_free(struct boilerplate **u);

/* sender: a hash of who sent it. True when the shingle is common by now, however old: for texts that
 * are known to be wanted. */
bool boilerplate_learn(struct boilerplate *u, uint64_t shingle, uint64_t sender);
/* All shingles of one message of that day (unix time / 86400). */
void boilerplate_learn_message(struct boilerplate *u, const uint64_t *shingles,
                               size_t n, uint64_t sender, uint64_t day);
bool boilerplate_has(const struct boilerplate *u, uint64_t shingle);
/* What ubiquity_has will soon be asked for. */
void ubiquity_prefetch(const struct boilerplate *u, uint64_t shingle);

/* The lines at the end of a message of a mailing list, all as hashes that its list is part of (as
 * of that day). front: what tells near replicas of the text before them; a message of which one of
 * these is known teaches nothing, as a campaign's copies differ little. A line is common, and
 * ubiquity_has says so, after UBIQUITY_FRONTS messages, or UBIQUITY_SENDERS over UBIQUITY_DAYS. */
void ubiquity_learn_footer(struct boilerplate *u, const uint64_t *front, size_t nfront,
                           const uint64_t *lines, size_t nlines, uint64_t day);

#endif
