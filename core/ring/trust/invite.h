/*
 * invite - a server joins a ring with one short token.
 *
 * The token has the inviter's address and signing key (which the joining server pins), an id, a
 * secret, and the digest key, sealed with a key that the token does not have. The inviter's server
 * gives that sealing key to the first identity that shows id and secret over the pinned connection,
 * once it is a member. A token that leaks after its use is worthless; before, it ends with one use
 * or with its time. STATE/peers/invites (lock: invites.lock) has only hashes of the secrets. The
 * sealing key is derived from the identity's secret and the id whenever it is needed.
 * Depends: base, OpenSSL, ring, digest_key.   Threads: one.   Owns: nothing.   ADR 0031.
 */
#ifndef CORE_RING_TRUST_INVITE_H
#define CORE_RING_TRUST_INVITE_H

#include "core/base/keyring.h"
#include "core/ring/trust/ring.h"

enum {
    INVITE_ID_BYTES = 8,
    INVITE_SECRET_BYTES = 16,
    INVITE_SEALED_BYTES = HASHKEY_BYTES + 16,
    INVITE_TOKEN_MAX = 512,
    INVITES_MAX = 64, /* kept at once */
    INVITE_EXPIRY_S = 86400,
    INVITE_EXPIRY_MAX_S = 30 * 86400,
    INVITE_ANSWER_S = 7 * 86400, /* its user may ask again this long after its end */
    INVITE_REQUEST_MAX = 2048,
    INVITE_RESPONSE_MAX = MANIFEST_BYTES_MAX + 1024
};

struct invite_token {
    char address[MANIFEST_ADDRESS_MAX + 1]; /* of the inviter */
    uint8_t server_key
        [OBJECT_KEY_BYTES]; /* Ed25519, of the certificate that must be shown there */
    uint32_t expires_s;
    uint8_t id[INVITE_ID_BYTES];
    uint8_t secret[INVITE_SECRET_BYTES];
    uint8_t sealed[INVITE_SEALED_BYTES];
};

/* ---- the inviter ---- */

struct invite_server {
    const char *dir; /* STATE/peers */
    const struct identity *self;
    const struct keyring *keys;
};
/* Appends a token for a new member of this name, valid until expires_s; an unused token of that
 * name becomes invalid. ERR_EXISTS: a member has the name; ERR_TIMEOUT: m has expired;
 * ERR_NOT_FOUND: this server has no address in m. */
enum err invite_make(const struct invite_server *s, const struct manifest *m,
                     const char *name, uint64_t expires_s, struct buf *rettoken,
                     struct errinfo *reterr);
/* Whether an invitation can still be used; else the port need not answer strangers. */
bool invite_is_open(const char *dir);
/* Handles a request that came over a connection whose client showed tls_key, and appends the
 * answer. It may change the manifest: *io is then the new one, stored. ERR_DENIED: no such
 * invitation, or it has ended; the peer does not learn which. ERR_SYNTAX: the request is malformed.
 * ERR_TIMEOUT: the manifest has expired. ERR_EXISTS: another member has the name or address; the
 * peer may read reterr. Others: internal errors. */
enum err invite_redeem(const struct invite_server *s,
                       const uint8_t tls_key[OBJECT_KEY_BYTES], struct slice request,
                       struct manifest *io, struct buf *ret, struct errinfo *reterr);
/* Withdraws the invitations of that name. ERR_NOT_FOUND */
enum err invite_withdraw(const char *dir, const char *name, struct errinfo *reterr);

struct invite_row {
    uint64_t expires_s;
    bool is_used;
    char name[OBJECT_NAME_BYTES + 1];
};
/* The invitations of the file, at most INVITES_MAX. */
size_t invite_rows(const char *dir, struct invite_row ret[INVITES_MAX]);

/* ---- the server that joins ---- */

/* ERR_SYNTAX: not a token, or a letter is wrong. ERR_VERSION. */
enum err invite_parse(struct slice token, struct invite_token *ret,
                      struct errinfo *reterr);
/* Appends the request. address: of this server for others; may be empty. */
enum err invite_request(const struct invite_token *t, const struct identity *self,
                        const char *address, struct buf *ret);

struct invite_answer {
    bool is_member; /* else the administrators sign first: try again with the token */
    char name[OBJECT_NAME_BYTES + 1]; /* of this server in the ring */
    uint64_t version;                 /* of the manifest; of the waiting one */
    uint32_t ring_key;
};
/* Handles the answer. A member stores manifest and digest key (first of keys/digest.key, which is
 * created where it is missing; the former key becomes the second). The caller holds
 * STATE/peers/LOCK. ERR_EXISTS: this server is in another ring. */
enum err invite_accept(const char *state_dir, const struct invite_token *t,
                       const struct identity *self, struct slice response,
                       struct invite_answer *ret, struct errinfo *reterr);

#endif
