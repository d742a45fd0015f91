/*
 * ham_log - by which names the mail of late was known: what protects them from a feed's mistakes.
 *
 * A ring of JOURNAL_SLOTS messages in a mmapped file of gillnetd. Of each only what is needed: when, from
 * which network (a keyed hash), whether anything spoke against it, and 64 bits of the keyed digests that
 * lists were asked for. Not every message of a busy site is kept but a sample even over time, so that
 * the ring reaches back days everywhere. A record torn by a crash has a wrong checksum and is left out.
 * Depends: base.   Threads: any may add; readers are other processes, without locks.   Owns: the mapping.
 */
#ifndef CORE_TELEMETRY_HAM_LOG_H
#define CORE_TELEMETRY_HAM_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/digest.h"
#include "core/base/err.h"

/* In the state folder. */
#define STATE_JOURNAL_FILE "counts/journal"

enum {
    JOURNAL_SLOTS = 50000,
    JOURNAL_KEYS = 64, /* of one message; more are not kept */
    JOURNAL_AGE_S = 14 * 86400,
    JOURNAL_EVERY_S = JOURNAL_AGE_S / 2 / JOURNAL_SLOTS, /* between two, on average */
    JOURNAL_BURST = 2000 /* so many may come at once before that */
};

struct journal_message {
    uint32_t time_s;
    bool is_good;     /* examined, and nothing spoke against it */
    uint64_t network; /* keyed hash of the client's; 0: not known */
    size_t n;
    uint64_t key[JOURNAL_KEYS]; /* journal_key() of digests */
};
uint64_t journal_key(const struct digest *d);

struct journal;
/* Goes on with the file at path, or begins a new one: when there is none, when it is damaged or of another
 * version, when key_id (of the digests) is another. */
enum err journal_open(const char *path, uint32_t key_id, struct journal **ret,
                      struct errinfo *reterr);
void journal_close(struct journal **j); /* accepts NULL */
/* The id of the key that digests are made with. */
uint32_t journal_key_id(const struct journal *j);
/* Whether the next message is to be kept; to be asked once for each. now_us: of a clock that rises. */
bool journal_wants(struct journal *j, uint64_t now_us);
void journal_add(struct journal *j, const struct journal_message *m);

typedef void journal_read_fn(void *context, const struct journal_message *m);
/* Every whole record of since_s and later, in no order. */
enum err journal_read(const char *path, uint32_t since_s, journal_read_fn *fn,
                      void *context, uint32_t *retkey_id, struct errinfo *reterr);

#endif
