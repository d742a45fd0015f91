/*
 * shared_totals - the file of totals of the shared store: the hub writes it, gillnetd maps it.
 *
 * STATE/peers/shared/totals, native byte order, for one boot of the machine and one digest key: a
 * header page; then for each set a line of tags, one for each of its entries; then the entries
 * of all sets, 256 bytes each. A key belongs to one set. A full set drops the entry with the oldest
 * answer. Most keys of mail have no entry; a look-up of such a key costs one cache line. An entry
 * may be read while it is written: its number is odd then, and has changed afterwards. The reader
 * trusts nothing. It checks sizes against the file when it maps it, and a file that is cut short
 * reads as ones, which are no entry.
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

/* Returns the number of sets for a number of messages a day: one entry for four messages. */
uint64_t shared_totals_sets(uint64_t messages_per_day);

/* ---- the hub ---- */

/* Opens the file. Makes a new one if it is missing or damaged, or has another size, key or boot.
 * Makes its folder. */
enum err shared_totals_make(const char *state_dir, uint64_t nsets, uint32_t key_id,
                            struct shared_totals **ret, struct errinfo *reterr);
/* Copies the entry of a key. False: no entry; *ret then has the key and no counts. */
bool shared_totals_find(const struct shared_totals *t, uint64_t key,
                        struct shared_total *ret);
/* Replaces the entry with the same key, or the oldest entry of the set. */
void shared_totals_put(struct shared_totals *t, const struct shared_total *entry);
/* Notes that the store has answered at that time. Makes the file again if it was cut. */
void shared_totals_beat(struct shared_totals *t, uint64_t now_s);

/* ---- gillnetd and the commands ---- */

/* Maps the file. ERR_NOT_FOUND: no file. ERR_KEY: it has another digest key. ERR_CORRUPT: it has no
 * totals. */
enum err shared_totals_open(const char *state_dir, uint32_t key_id,
                            struct shared_totals **ret, struct errinfo *reterr);
/* True if the hub has replaced the file or removed it. */
bool shared_totals_is_replaced(const struct shared_totals *t);
/* Asks the processor for the key's set; then, once that is here, for its entry. */
void shared_totals_prefetch(const struct shared_totals *t, uint64_t key);
void shared_totals_prefetch_entry(const struct shared_totals *t, uint64_t key);
/* Copies the entry of a key. False: no entry, or the hub is writing it at this moment. */
bool shared_totals_read(const struct shared_totals *t, uint64_t key,
                        struct shared_total *ret);
/* Returns the seconds since the last answer of the store; UINT64_MAX: never, or after now_s. */
uint64_t shared_totals_age(const struct shared_totals *t, uint64_t now_s);

void shared_totals_close(struct shared_totals **t);

#endif
