/*
 * digest_key - the ring's secret key: its text between members, its place in keys/digest.key.
 *
 * An installation has at most two keys (core/base/keyring.h): the one that writers use, and the one
 * before or after it. A key is removed only when no local list needs it.
 * Depends: base, list, manifest.   Threads: one.   Owns: nothing.   ADR 0031.
 */
#ifndef CORE_RING_TRUST_DIGEST_KEY_H
#define CORE_RING_TRUST_DIGEST_KEY_H

#include "core/base/keyring.h"
#include "core/ring/trust/manifest.h"

enum { DIGEST_KEY_TEXT_MAX = 64 };

/* Appends the key with this id as the line that a member receives. ERR_NOT_FOUND. */
enum err digest_key_print(const struct keyring *keys, uint32_t id, struct buf *ret);
/* Reads such a line. ERR_KEY: the key has another id. */
enum err digest_key_parse(struct slice line, uint32_t id, struct hashkey *ret,
                          struct errinfo *reterr);

/* Puts key into keys/digest.key, as the writers' key or as the second. ERR_LIMIT: lists need both
 * keys of the file; reterr names one list and the command that helps. */
enum err digest_key_put(const char *state_dir, const struct hashkey *key, bool is_first,
                        struct errinfo *reterr);

/* The key that writers use at now_ms: the newest of the manifest that is in force. */
uint32_t digest_key_in_force(const struct manifest *m, uint64_t now_ms);
/* A missing key that the manifest has in force now or later. False: every key is here. */
bool digest_key_wanted(const struct manifest *m, const struct keyring *keys,
                       uint64_t now_ms, uint32_t *retid);
/* Makes the key in force the first of keys/digest.key, once this server has it. *retchanged: the
 * caller has to load the keys again. Call it from time to time. */
enum err digest_key_turn(const char *state_dir, const struct manifest *m,
                         const struct keyring *keys, uint64_t now_ms, bool *retchanged,
                         struct errinfo *reterr);

#endif
