/* invite_join - the joining server: checks of the answer, and the ring that it stores. */
#include <openssl/crypto.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/ring/trust/digest_key.h"
#include "core/ring/trust/invite_internal.h"

enum { MS = 1000, US_PER_S = 1000000 };

static enum err refuse_answer(const char *why, struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_DENIED, "answer", 0,
                       "%s; nothing was taken from it. Ask the administrator of the "
                       "ring for a new invitation",
                       why);
}

/* Checks that the manifest belongs to the server that made the token, and has this server. */
static enum err check_ring(const struct manifest *m, const struct invite_token *t,
                           const struct identity *self, uint64_t now_s,
                           struct errinfo *reterr)
{
    const struct manifest_key *key = NULL;
    const struct manifest_member *inviter =
        manifest_find_key(m, object_key_id(t->server_key), now_s * MS, &key);
    const struct manifest_member *own =
        manifest_find_key(m, object_key_id(self->signing.key), now_s * MS, &key);
    enum err e = manifest_may_replace(m, NULL, reterr);

    if (e != ERR_OK) {
        return e;
    }
    if (inviter == NULL || inviter->state != MEMBER_ACTIVE) {
        return refuse_answer("the server that answered is no member of its own ring",
                             reterr);
    }
    if (own == NULL || own->state != MEMBER_ACTIVE ||
        !object_id_equal(&own->origin, &self->origin)) {
        return refuse_answer(
            "this server with its key is not in the ring that was sent", reterr);
    }
    if (m->expires_ms <= now_s * MS) {
        return errinfo_set(reterr, ERR_TIMEOUT, "ring", 0,
                           "the ring's manifest has expired; let an administrator run "
                           "`gillnet peer renew` and join again (or set this clock)");
    }
    return ERR_OK;
}

/* Accepts no ring yet, the same ring, or a file that cannot be read. */
static enum err check_former(const char *dir, const struct manifest *m,
                             bool *retis_newer, struct errinfo *reterr)
{
    struct manifest old = {.version = 0};
    enum err e = manifest_load(dir, &old, reterr);

    *retis_newer = true;
    if (e == ERR_NOT_FOUND) {
        return ERR_OK;
    }
    if (e != ERR_OK) {
        return e;
    }
    if (!object_id_equal(&old.ring, &m->ring)) {
        e = errinfo_set(reterr, ERR_EXISTS, dir, 0,
                        "this server is in another ring; to leave that one let it be "
                        "dropped there, then move the files manifest and "
                        "manifest.next away");
    } else if (old.version >= m->version) {
        *retis_newer = false;
    } else {
        e = manifest_may_replace(m, &old, reterr);
    }
    manifest_fini(&old);
    return e;
}

static enum err take_membership(const char *state_dir, const struct invite_token *t,
                                const struct identity *self,
                                const struct invite_response *r,
                                struct invite_answer *ret, struct errinfo *reterr)
{
    uint64_t now_s = clock_wall_us() / US_PER_S;
    char dir[FILE_PATH_MAX];
    struct manifest m = {.version = 0};
    struct hashkey key;
    bool is_newer = false;
    enum err e = manifest_parse(r->manifest, &m, reterr);

    if (e != ERR_OK) {
        return e;
    }
    e = path_make(dir, reterr, "%s/peers", state_dir);
    THEN(e, check_ring(&m, t, self, now_s, reterr));
    if (e == ERR_OK && (invite_token_open(t, r->seal, &key) != ERR_OK ||
                        !manifest_has_ring_key(&m, key.id))) {
        e = refuse_answer("the digest key in the token could not be opened", reterr);
    }
    THEN(e, check_former(dir, &m, &is_newer, reterr));
    if (e == ERR_OK) { /* the key first: without it a member is useless */
        e = digest_key_put(state_dir, &key,
                           key.id == digest_key_in_force(&m, now_s * MS), reterr);
    }
    if (e == ERR_OK && is_newer) {
        e = manifest_store(dir, &m, reterr);
    }
    if (e == ERR_OK) {
        ret->version = m.version;
        ret->ring_key = key.id;
    }
    OPENSSL_cleanse(&key, sizeof(key));
    manifest_fini(&m);
    return e;
}

enum err invite_accept(const char *state_dir, const struct invite_token *t,
                       const struct identity *self, struct slice response,
                       struct invite_answer *ret, struct errinfo *reterr)
{
    struct invite_response r;
    struct invite_answer answer = {.is_member = false};
    enum err e = invite_response_parse(response, &r);

    if (e != ERR_OK) {
        return errinfo_set(reterr, e, "answer", 0,
                           "what answered is no gillnet hub of this version");
    }
    answer.is_member = r.is_member;
    answer.version = r.version;
    memcpy(answer.name, r.name, sizeof(answer.name));
    if (r.is_member) {
        e = take_membership(state_dir, t, self, &r, &answer, reterr);
    }
    OPENSSL_cleanse(r.seal, sizeof(r.seal));
    if (e == ERR_OK) {
        *ret = answer;
    }
    return e;
}
