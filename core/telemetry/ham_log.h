/*
 * ham_log - a sample of recent mail with its digests, to protect known names from errors in feeds.
 *
 * A ring of HAM_LOG_SLOTS messages in a mmapped file of gillnetd. A record has the time, a keyed
 * hash of the network, a flag for good mail, and 64 bits of each keyed digest that was looked up. A
 * busy site keeps a sample that is even over time, so that the ring covers days on every site. A
 * record torn by a crash has a wrong checksum and is skipped.
 * Depends: base.   Threads: any may add; readers are other processes, without locks.   Owns: the
 * mapping.
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
    HAM_LOG_BURST = 2000                                 /* largest burst */
};

struct ham_log_message {
    uint32_t time_s;
    bool is_good;     /* examined, without any hit */
    uint64_t network; /* keyed hash of the client's; 0: not known */
    size_t n;
    uint64_t key[HAM_LOG_KEYS]; /* ham_log_key() of digests */
};
uint64_t ham_log_key(const struct digest *d);

struct ham_log;
/* Opens the file at path. Makes a new one if it is missing or damaged, or has another version or
 * another key_id (of the digests). */
enum err ham_log_open(const char *path, uint32_t key_id, struct ham_log **ret,
                      struct errinfo *reterr);
void ham_log_close(struct ham_log **j); /* accepts NULL */
/* To be called every second or so; accepts NULL. Makes the file again if it was cut, with the
 * records that are left. */
void ham_log_keep(struct ham_log *j);
/* The id of the key that digests are made with. */
uint32_t ham_log_key_id(const struct ham_log *j);
/* True if the next message is to be kept. Call it once for each message. now_us: of a monotonic
 * clock. */
bool ham_log_wants(struct ham_log *j, uint64_t now_us);
void ham_log_add(struct ham_log *j, const struct ham_log_message *m);

typedef void ham_log_read_fn(void *context, const struct ham_log_message *m);
/* Calls fn for every whole record of since_s and later, in no order. ERR_CORRUPT, perhaps after
 * some calls: no ham log, or it was cut meanwhile. */
enum err ham_log_read(const char *path, uint32_t since_s, ham_log_read_fn *fn,
                      void *context, uint32_t *retkey_id, struct errinfo *reterr);

#endif
