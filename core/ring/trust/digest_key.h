/*
 * digest_key - the ring's secret key on its way between members, and its place in keys/digest.key.
 *
 * The keys of an installation are two at most (core/base/keyring.h): what writers use, and the one before or after it.
 * A key goes out only when no list of ours needs it any more.
 * Depends: base, list, manifest.   Threads: one.   Owns: nothing.   ADR 0031.
 */
#ifndef CORE_RING_TRUST_DIGEST_KEY_H
#define CORE_RING_TRUST_DIGEST_KEY_H

#include "core/base/keyring.h"
#include "core/ring/trust/manifest.h"

enum { DIGEST_KEY_TEXT_MAX = 64 };

/* Appends the line that a member may have: the key with this id. ERR_NOT_FOUND. */
enum err digest_key_print(const struct keyring *keys, uint32_t id, struct buf *ret);
/* Such a line; ERR_KEY: it is not the key with this id. */
enum err digest_key_parse(struct slice line, uint32_t id, struct hashkey *ret,
                          struct errinfo *reterr);

/* Puts key into keys/digest.key: as the one that writers use, or as the second. ERR_LIMIT: lists need both that are
 * there; reterr names one and what to do. */
enum err digest_key_put(const char *state_dir, const struct hashkey *key, bool is_first,
                        struct errinfo *reterr);

/* The key that writers use at now_ms, by the manifest: the newest in force. */
uint32_t digest_key_in_force(const struct manifest *m, uint64_t now_ms);
/* A key of the manifest that is in force or will be and that we lack; false: none. */
bool digest_key_wanted(const struct manifest *m, const struct keyring *keys,
                       uint64_t now_ms, uint32_t *retid);
/* Makes the key in force the first of keys/digest.key when we hold it and it is not; *retchanged: keys must be loaded anew.
 * To be called now and then. */
enum err digest_key_turn(const char *state_dir, const struct manifest *m,
                         const struct keyring *keys, uint64_t now_ms, bool *retchanged,
                         struct errinfo *reterr);

#endif
