/*
 * ham_log - by which names the mail of late was known: what protects them from a feed's mistakes.
 *
 * The last HAM_LOG_SLOTS messages in a mmapped file of gillnetd. Of each only what is needed: when, from
 * which network (a keyed hash), whether anything spoke against it, and 64 bits of the keyed digests that
 * lists were asked for. Not every message of a busy site is kept but a sample even over time, so that
 * the sample reaches back days everywhere. A record torn by a crash has a wrong checksum and is left out.
 * Depends: base.   Threads: any may add; readers are other processes, without locks.   Owns: the mapping.
 */
#ifndef CORE_TELEMETRY_HAM_LOG_H
#define CORE_TELEMETRY_HAM_LOG_H

#include "core/base/digest.h"
#include "core/base/err.h"

/* In the state folder. */
#define STATE_HAM_LOG_FILE "counts/ham.log"

enum {
    HAM_LOG_SLOTS = 50000,
    HAM_LOG_KEYS = 64, /* of one message; more are not kept */
    HAM_LOG_AGE_S = 14 * 86400,
    HAM_LOG_EVERY_S = HAM_LOG_AGE_S / 2 / HAM_LOG_SLOTS, /* between two, on average */
    HAM_LOG_BURST = 2000 /* so many may come at once before that */
};

struct ham_log_message {
    uint32_t time_s;
    bool is_good;     /* examined, and nothing spoke against it */
    uint64_t network; /* keyed hash of the client's; 0: not known */
    size_t n;
    uint64_t key[HAM_LOG_KEYS]; /* ham_log_key() of digests */
};
uint64_t ham_log_key(const struct digest *d);

struct ham_log;
/* Goes on with the file at path, or begins a new one: when there is none, when it is damaged or of another
 * version, when key_id (of the digests) is another. */
enum err ham_log_open(const char *path, uint32_t key_id, struct ham_log **ret,
                      struct errinfo *reterr);
void ham_log_close(struct ham_log **j); /* accepts NULL */
/* The id of the key that digests are made with. */
uint32_t ham_log_key_id(const struct ham_log *j);
/* Whether the next message is to be kept; to be asked once for each. now_us: of a clock that rises. */
bool ham_log_wants(struct ham_log *j, uint64_t now_us);
void ham_log_add(struct ham_log *j, const struct ham_log_message *m);

typedef void ham_log_read_fn(void *context, const struct ham_log_message *m);
/* Every whole record of since_s and later, in no order. */
enum err ham_log_read(const char *path, uint32_t since_s, ham_log_read_fn *fn,
                      void *context, uint32_t *retkey_id, struct errinfo *reterr);

#endif
