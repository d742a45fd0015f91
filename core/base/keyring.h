/*
 * keyring - the secret keys of an installation: one or two digest keys and the filter key.
 *
 * Stored in STATE/keys/digest.key (one line "HEX32" per digest key, the first is the one writers
 * use) and STATE/keys/filter.key (one line), mode 0640, folder 0750. Text, so that a person can
 * copy a digest key; lines beginning with # are comments.
 * Threads: a loaded keyring is constant.   Allocates: nothing.
 */
#ifndef CORE_BASE_KEYRING_H
#define CORE_BASE_KEYRING_H

#include "core/base/digest.h"
#include "core/base/err.h"

enum { KEYRING_MAX = 2 };

struct keyring {
    unsigned n;                       /* digest keys in use, 1 or 2 */
    struct hashkey ring[KEYRING_MAX]; /* [0] is the one that writers use */
    struct hashkey node; /* positions of filters built here; never leaves */
};

/* Reads the keys of state_dir. Without key files: ERR_NOT_FOUND. */
enum err keyring_load(const char *state_dir, struct keyring *ret,
                      struct errinfo *reterr);
/* Like keyring_load, but makes state_dir, the folder and random keys where there are none (two
 * processes doing so at once end up with the same keys). ERR_DENIED: strangers may write to
 * state_dir (statedir.h). */
enum err keyring_load_or_create(const char *state_dir, struct keyring *ret,
                                struct errinfo *reterr);
/* Makes v[0..n) the digest keys of keys/digest.key; writers use the first. The file is replaced
 * atomically and keeps its user and group. */
enum err keyring_store_ring(const char *state_dir, const struct hashkey *v, unsigned n,
                            struct errinfo *reterr);
/* A key from its HASHKEY_BYTES bytes. */
void keyring_key_of(const uint8_t bytes[HASHKEY_BYTES], struct hashkey *ret);
/* The digest key with this id, or NULL. */
const struct hashkey *keyring_find(const struct keyring *k, uint32_t id);

enum { KEYRING_DERIVED_BYTES = 32 };
/* A key for another purpose, of which there may be many by number: keyed BLAKE2b of number (8
 * bytes, LE) and purpose. It tells nothing of key, nor of the others. */
void keyring_derive(const struct hashkey *key, const char *purpose, uint64_t number,
                    uint8_t ret[KEYRING_DERIVED_BYTES]);

#endif
