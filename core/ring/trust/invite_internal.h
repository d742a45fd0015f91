/*
 * invite_internal - the seal of a token, its forms as bytes, and the file; private to invite.
 *
 * Depends: base, OpenSSL.   Threads: any.   Owns: nothing.
 */
#ifndef CORE_RING_TRUST_INVITE_INTERNAL_H
#define CORE_RING_TRUST_INVITE_INTERNAL_H

#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/ring/trust/invite.h"

enum { INVITE_SEAL_BYTES = 32 };

/* Seals key into t, whose other fields are set; the text of t to ret. */
enum err invite_token_print(struct invite_token *t,
                            const uint8_t seal[INVITE_SEAL_BYTES],
                            const struct hashkey *key, struct buf *ret);
/* The key in t. ERR_KEY: seal is another key, or t was changed. */
enum err invite_token_open(const struct invite_token *t,
                           const uint8_t seal[INVITE_SEAL_BYTES], struct hashkey *ret);
/* The sealing key of the invitation id, derived from the identity's secret: no file has it. */
void invite_seal_key(const struct identity *self, const uint8_t id[INVITE_ID_BYTES],
                     uint8_t ret[INVITE_SEAL_BYTES]);
void invite_secret_hash(const uint8_t id[INVITE_ID_BYTES],
                        const uint8_t secret[INVITE_SECRET_BYTES], struct hash256 *ret);

struct invite_request {
    uint8_t id[INVITE_ID_BYTES];
    uint8_t secret[INVITE_SECRET_BYTES];
    uint8_t identity[OBJECT_KEY_BYTES];
    struct key_binding binding;
    char address[MANIFEST_ADDRESS_MAX + 1];
};
enum err invite_request_parse(struct slice bytes, struct invite_request *ret);

struct invite_response {
    bool is_member;
    char name[OBJECT_NAME_BYTES + 1];
    uint8_t seal[INVITE_SEAL_BYTES];
    uint64_t version;
    struct slice manifest;
};
void invite_response_print(const struct invite_response *r, struct buf *ret);
enum err invite_response_parse(struct slice bytes, struct invite_response *ret);

/* ---- the file ---- */

struct invite_line {
    uint8_t id[INVITE_ID_BYTES];
    struct hash256 hash; /* of the secret */
    uint64_t expires_s;
    uint32_t ring_key; /* the sealed one */
    bool is_used;
    uint8_t identity[OBJECT_KEY_BYTES]; /* that used it; else zeros */
    char name[OBJECT_NAME_BYTES + 1];
};
struct invite_file {
    struct invite_line v[INVITES_MAX];
    size_t n;
};

/* The lock of the file, which the hub and commands hold for a moment; waits for it. */
enum err invite_lock(const char *dir, struct filelock *l, struct errinfo *reterr);
/* A missing file has no rows. */
enum err invite_rows_read(const char *dir, struct invite_file *ret,
                          struct errinfo *reterr);
enum err invite_rows_write(const char *dir, const struct invite_file *rows,
                           struct errinfo *reterr);
bool invite_row_is_over(const struct invite_line *r, uint64_t now_s);
/* Removes rows that have ended, and open ones of this name (may be NULL). */
void invite_rows_forget(struct invite_file *rows, uint64_t now_s,
                        const char *open_name);

#endif
