/*
 * shared_totals - the file of totals of the shared store: the hub writes it, gillnetd maps it.
 *
 * STATE/peers/shared/totals, native byte order, for one boot of the machine and one digest key: a
 * header page; then for each set a line of tags, one for each of its entries; then the entries
 * of all sets, 256 bytes each. A key has one set; where that is full, the entry that was not heard
 * of for the longest time goes. Most keys of mail are in no entry: a question for such a key costs
 * one cache line. An entry is read while it is written: its number is odd then, and another
 * afterwards. The reader trusts nothing: sizes are checked against the file when it is mapped, and
 * a file that is cut short reads as ones, which are no entry.
 * Depends: base, filter, shared_part.   Threads: one writes, any read.   Owns: a mapping.
 * ADR 0080.
 */
#ifndef CORE_COUNT_SHARED_TOTALS_H
#define CORE_COUNT_SHARED_TOTALS_H

#include "core/base/err.h"
#include "core/count/shared_part.h"

enum {
    SHARED_TOTALS_WAYS = 16, /* entries of a set */
    SHARED_TOTALS_SETS_MIN = 1 << 8,
    SHARED_TOTALS_SETS_MAX = 1 << 16
};

struct shared_totals;

/* Returns the number of sets for a number of messages a day: an entry for every four. */
uint64_t shared_totals_sets(uint64_t messages_per_day);

/* ---- the hub ---- */

/* Opens the file, or makes a new one where it is missing, damaged, of another size, key or boot.
 * Makes its folder. */
enum err shared_totals_make(const char *state_dir, uint64_t nsets, uint32_t key_id,
                            struct shared_totals **ret, struct errinfo *reterr);
/* False: there is none; then *ret is one without counts, with this key. */
bool shared_totals_find(const struct shared_totals *t, uint64_t key,
                        struct shared_total *ret);
/* Puts the entry in the place of the one with its key, or of the oldest. */
void shared_totals_put(struct shared_totals *t, const struct shared_total *entry);
/* The store has answered at that time. */
void shared_totals_beat(struct shared_totals *t, uint64_t now_s);

/* ---- gillnetd and the commands ---- */

/* Maps the file. ERR_NOT_FOUND: there is none. ERR_KEY: it has another digest key. ERR_CORRUPT: it
 * is no such file. */
enum err shared_totals_open(const char *state_dir, uint32_t key_id,
                            struct shared_totals **ret, struct errinfo *reterr);
/* True if the hub has put another file in its place, or removed it. */
bool shared_totals_is_replaced(const struct shared_totals *t);
/* Asks the processor for the key's set; then, once that is here, for its entry. */
void shared_totals_prefetch(const struct shared_totals *t, uint64_t key);
void shared_totals_prefetch_entry(const struct shared_totals *t, uint64_t key);
/* False: no entry, or it is being written at this moment. */
bool shared_totals_read(const struct shared_totals *t, uint64_t key,
                        struct shared_total *ret);
/* Seconds since the store has answered; UINT64_MAX: never, or later than now_s. */
uint64_t shared_totals_age(const struct shared_totals *t, uint64_t now_s);

void shared_totals_close(struct shared_totals **t);

#endif
