/* invite - the inviter: making tokens, and admitting servers that show one. */
#include "core/ring/trust/invite.h"

#include <openssl/crypto.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/random.h"
#include "core/ring/trust/digest_key.h"
#include "core/ring/trust/invite_internal.h"

enum { MS = 1000, US_PER_S = 1000000 };

/* ---- inviting ---- */

/* An expired manifest freezes membership until an administrator renews it. */
static enum err check_expiry(const struct manifest *m, uint64_t now_s,
                             struct errinfo *reterr)
{
    if (m->expires_ms > now_s * MS) {
        return ERR_OK;
    }
    return errinfo_set(
        reterr, ERR_TIMEOUT, "ring", 0,
        "its manifest has expired, so nobody can join; run `gillnet peer "
        "renew`");
}

static enum err check_invitation(const struct invite_server *s,
                                 const struct manifest *m, const char *name,
                                 struct errinfo *reterr)
{
    const struct manifest_member *self = manifest_find(m, &s->self->origin);
    const struct manifest_member *named = manifest_find_name(m, slice_str(name));

    if (!manifest_name_is_valid(slice_str(name))) {
        return errinfo_set(reterr, ERR_SYNTAX, "name", 0,
                           "use up to %d of a-z, 0-9, - and _, beginning with a letter "
                           "or digit",
                           OBJECT_NAME_BYTES);
    }
    if (self == NULL || self->state != MEMBER_ACTIVE) {
        return errinfo_set(reterr, ERR_DENIED, "ring", 0,
                           "this server is no longer a member of its ring");
    }
    if (self->address[0] == '\0') {
        return errinfo_set(reterr, ERR_NOT_FOUND, "ring", 0,
                           "this server has no address at which others reach it; give "
                           "it one with `gillnet peer init --address HOST:PORT`");
    }
    if (named != NULL && named->state == MEMBER_ACTIVE) {
        return errinfo_set(reterr, ERR_EXISTS, name, 0,
                           "a member is called that already; take another name, or "
                           "drop it first");
    }
    return ERR_OK;
}

static enum err add_row(const char *dir, const struct invite_line *row, uint64_t now_s,
                        struct errinfo *reterr)
{
    struct filelock lock;
    struct invite_file rows;
    enum err e = invite_lock(dir, &lock, reterr);

    if (e != ERR_OK) {
        return e;
    }
    e = invite_rows_read(dir, &rows, reterr);
    if (e == ERR_OK) {
        invite_rows_forget(&rows, now_s, row->name);
        if (rows.n == INVITES_MAX) {
            e = errinfo_set(reterr, ERR_LIMIT, dir, 0,
                            "there are %d invitations; wait until some have ended, or "
                            "withdraw one with `gillnet peer drop NAME`",
                            INVITES_MAX);
        } else {
            rows.v[rows.n++] = *row;
            e = invite_rows_write(dir, &rows, reterr);
        }
    }
    filelock_drop(&lock);
    return e;
}

enum err invite_make(const struct invite_server *s, const struct manifest *m,
                     const char *name, uint64_t expires_s, struct buf *rettoken,
                     struct errinfo *reterr)
{
    uint64_t now_s = clock_wall_us() / US_PER_S;
    struct invite_line row = {.expires_s = expires_s};
    struct invite_token t = {.expires_s = (uint32_t)expires_s};
    uint8_t seal[INVITE_SEAL_BYTES];
    enum err e = check_invitation(s, m, name, reterr);

    THEN(e, check_expiry(m, now_s, reterr));

    if (e == ERR_OK &&
        (expires_s <= now_s || expires_s > now_s + INVITE_EXPIRY_MAX_S)) {
        e = errinfo_set(reterr, ERR_RANGE, "expiry", 0,
                        "an invitation can last up to %d days",
                        INVITE_EXPIRY_MAX_S / 86400);
    }
    const struct hashkey *key =
        keyring_find(s->keys, digest_key_in_force(m, now_s * MS));
    if (e == ERR_OK && key == NULL) {
        e = errinfo_set(reterr, ERR_KEY, "ring", 0,
                        "this server does not hold the digest key yet; let the hub run "
                        "until it has fetched it");
    }
    if (e != ERR_OK || key == NULL) {
        return e;
    }
    random_bytes(t.id, sizeof(t.id));
    random_bytes(t.secret, sizeof(t.secret));
    memcpy(t.server_key, s->self->signing.key, OBJECT_KEY_BYTES);
    (void)snprintf(t.address, sizeof(t.address), "%s",
                   manifest_find(m, &s->self->origin)->address);
    memcpy(row.id, t.id, sizeof(row.id));
    (void)snprintf(row.name, sizeof(row.name), "%s", name);
    row.ring_key = key->id;
    invite_secret_hash(t.id, t.secret, &row.hash);
    invite_seal_key(s->self, t.id, seal);
    e = invite_token_print(&t, seal, key, rettoken);
    if (e != ERR_OK) {
        e = errinfo_nomem(reterr, "token");
    } else {
        e = add_row(s->dir, &row, now_s, reterr);
    }
    OPENSSL_cleanse(seal, sizeof(seal));
    OPENSSL_cleanse(&t, sizeof(t));
    return e;
}

/* ---- granting ---- */

static enum err deny(struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_DENIED, "invitation", 0,
                       "the token is not valid here, or no longer valid; ask for a new "
                       "invitation");
}

/* The row that the request may use, or NULL. An unknown id takes as long as a wrong secret. */
static struct invite_line *find_row(struct invite_file *rows,
                                    const struct invite_request *r, uint64_t now_s)
{
    struct hash256 hash;
    struct invite_line *found = NULL;

    invite_secret_hash(r->id, r->secret, &hash);
    for (size_t i = 0; i < rows->n; i++) {
        bool is_it = CRYPTO_memcmp(rows->v[i].hash.b, hash.b, HASH256_BYTES) == 0 &&
                     CRYPTO_memcmp(rows->v[i].id, r->id, INVITE_ID_BYTES) == 0;
        found = is_it ? &rows->v[i] : found;
    }
    if (found == NULL || invite_row_is_over(found, now_s) ||
        (found->is_used &&
         memcmp(found->identity, r->identity, OBJECT_KEY_BYTES) != 0)) {
        return NULL;
    }
    return found;
}

static bool is_member_with(const struct manifest *m, const struct invite_request *r)
{
    struct object_id origin;

    identity_origin(r->identity, &origin);
    const struct manifest_member *member = manifest_find(m, &origin);
    const struct manifest_key *k =
        member != NULL ? manifest_key_of(member, r->binding.key) : NULL;
    return k != NULL && member->state == MEMBER_ACTIVE && !k->is_revoked;
}

/* Whether the change that waits makes it a member. Making it again would lose its signatures. */
static bool waits_already(const char *dir, const struct manifest *m,
                          const struct invite_request *r, uint64_t *retversion)
{
    struct manifest next = {.version = 0};
    bool waits = false;

    if (ring_next(dir, &next, NULL) == ERR_OK) {
        waits = next.version > m->version && is_member_with(&next, r);
        *retversion = next.version;
        manifest_fini(&next);
    }
    return waits;
}

struct redemption {
    const struct invite_server *s;
    struct invite_request r;
    struct invite_file rows;
    uint64_t now_s;
    struct manifest *io;
    struct errinfo *reterr;
};

/* Makes the server a member, once for each invitation: a dropped member needs another. */
static enum err admit(struct redemption *x, const struct invite_line *row,
                      bool was_used, uint64_t *retversion)
{
    struct object_id origin;
    struct ring_outcome outcome = {.version = 0};
    struct ring_join join = {.name = row->name,
                             .address = x->r.address,
                             .identity = x->r.identity,
                             .binding = x->r.binding,
                             .now_ms = x->now_s * MS};

    if ((is_member_with(x->io, &x->r) && was_used) ||
        waits_already(x->s->dir, x->io, &x->r, retversion)) {
        return ERR_OK;
    }
    identity_origin(x->r.identity, &origin);
    if (was_used && manifest_find(x->io, &origin) != NULL) {
        return deny(x->reterr);
    }
    enum err e = check_expiry(x->io, x->now_s, x->reterr);
    THEN(e, ring_change(x->s->dir, ring_edit_join, &join, x->io, &outcome, x->reterr));
    *retversion = outcome.version;
    return e;
}

/* The manifest refused the new member, and nothing was written. */
static bool is_without_change(enum err e)
{
    return e == ERR_DENIED || e == ERR_EXISTS || e == ERR_SYNTAX || e == ERR_TIMEOUT;
}

static enum err redeem_row(struct redemption *x, struct invite_line *row,
                           struct buf *ret)
{
    struct invite_response response = {.is_member = false};
    bool was_used = row->is_used;
    enum err e = ERR_OK;

    if (!was_used) { /* durable first: from here on no other server can use it */
        row->is_used = true;
        memcpy(row->identity, x->r.identity, OBJECT_KEY_BYTES);
        e = invite_rows_write(x->s->dir, &x->rows, x->reterr);
    }
    if (e == ERR_OK) {
        e = admit(x, row, was_used, &response.version);
        if (!was_used &&
            is_without_change(e)) { /* it may try again with a better request */
            row->is_used = false;
            memset(row->identity, 0, sizeof(row->identity));
            (void)invite_rows_write(x->s->dir, &x->rows, NULL);
        }
    }
    if (e != ERR_OK) {
        return e;
    }
    memcpy(response.name, row->name, sizeof(response.name));
    response.is_member = is_member_with(x->io, &x->r);
    if (response.is_member) {
        invite_seal_key(x->s->self, row->id, response.seal);
        response.manifest = slice_of(x->io->text, x->io->text_len);
    }
    invite_response_print(&response, ret);
    OPENSSL_cleanse(response.seal, sizeof(response.seal));
    return buf_failed(ret) ? errinfo_nomem(x->reterr, "invitation") : ERR_OK;
}

enum err invite_redeem(const struct invite_server *s,
                       const uint8_t tls_key[OBJECT_KEY_BYTES], struct slice request,
                       struct manifest *io, struct buf *ret, struct errinfo *reterr)
{
    struct redemption x = {
        .s = s, .now_s = clock_wall_us() / US_PER_S, .io = io, .reterr = reterr};
    struct filelock lock;
    enum err e = invite_request_parse(request, &x.r);

    if (e != ERR_OK) {
        return errinfo_set(reterr, e, "invitation", 0, "the request has another form");
    }
    if (CRYPTO_memcmp(x.r.binding.key, tls_key, OBJECT_KEY_BYTES) != 0 ||
        !key_binding_holds(&x.r.binding, x.r.identity)) {
        return deny(reterr);
    }
    e = invite_lock(s->dir, &lock, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = invite_rows_read(s->dir, &x.rows, reterr);
    if (e == ERR_OK) {
        struct invite_line *row = find_row(&x.rows, &x.r, x.now_s);
        e = row != NULL && manifest_has_ring_key(io, row->ring_key)
                ? redeem_row(&x, row, ret)
                : deny(reterr);
    }
    filelock_drop(&lock);
    OPENSSL_cleanse(&x.r, sizeof(x.r));
    return e;
}
