/*
 * boilerplate - shingles that many senders write: footers, boilerplate, quoted headers.
 *
 * It learns (shingle, sender) pairs and remembers up to BOILERPLATE_SENDERS different senders of
 * each shingle. A shingle with that many senders that is BOILERPLATE_DAYS old is common: it does
 * not show that two messages are near-duplicates. Boilerplate is used for years and passes these
 * days easily; a campaign ends earlier. The table is bounded: a full bucket replaces the shingle
 * with the fewest senders, of these the oldest, so that common ones stay. Two senders are confused
 * once in 65,535 times. The footers of mailing lists are in the same table, each line for its list
 * (boilerplate_learn_footer).
 * Threads: any may look up while any learns. A look-up may miss a pair that is just being learnt,
 * or see the shingle that replaces its own at that moment.
 * Owns: its table, in memory only.   Depends: base.   ADR 0015, 0027, 0050.
 */
#ifndef CORE_MESSAGE_EXTRACT_BOILERPLATE_H
#define CORE_MESSAGE_EXTRACT_BOILERPLATE_H

#include "core/base/std.h"

enum {
    BOILERPLATE_SENDERS = 3, /* that make a shingle common */
    BOILERPLATE_DAYS = 2,    /* that it must be known */
    BOILERPLATE_FRONTS = 8, /* messages that make the line of a footer common at once */
    BOILERPLATE_WAYS = 4,   /* shingles of a bucket */
    BOILERPLATE_SHINGLES_MAX = 1 << 26
};

struct boilerplate;

/* For how many shingles, by the messages a day: 2 MB at 10,000, 64 MB at the most. */
size_t boilerplate_size(uint64_t messages_per_day);
/* NULL: no memory, or too many; else for about nshingles different ones, 16 bytes each. */
struct boilerplate *boilerplate_new(size_t nshingles);
void boilerplate_free(struct boilerplate **u);

/* sender: a hash of the sender. True when the shingle is common by now, whatever its age: for texts
 * that are known to be wanted. */
bool boilerplate_learn(struct boilerplate *u, uint64_t shingle, uint64_t sender);
/* All shingles of one message of that day (unix time / 86400). */
void boilerplate_learn_message(struct boilerplate *u, const uint64_t *shingles,
                               size_t n, uint64_t sender, uint64_t day);
bool boilerplate_has(const struct boilerplate *u, uint64_t shingle);
/* Loads the bucket that boilerplate_has will soon read. */
void boilerplate_prefetch(const struct boilerplate *u, uint64_t shingle);

/* Learns the last lines of a message of a mailing list on that day. A line is a hash that includes
 * its list. front: near-duplicate keys of the text before the lines; a message with a known one
 * teaches nothing, because the copies of a campaign differ little. A line is common after
 * BOILERPLATE_FRONTS messages, or after BOILERPLATE_SENDERS over BOILERPLATE_DAYS. */
void boilerplate_learn_footer(struct boilerplate *u, const uint64_t *front,
                              size_t nfront, const uint64_t *lines, size_t nlines,
                              uint64_t day);

#endif
