/* peer_sign - one change of the ring, also signed with an administrator's key in another place. */

#include "core/cli/peer_commands.h"

static enum err check_key(const struct peer_hold *hold, const struct manifest *m,
                          struct errinfo *reterr)
{
    uint8_t secret[OBJECT_KEY_BYTES];
    uint8_t key[OBJECT_KEY_BYTES];
    enum err e = ring_admin_key(hold->dir, hold->admin_key, false, secret, key, reterr);

    explicit_bzero(secret, sizeof(secret));
    if (e != ERR_OK) {
        return e;
    }
    for (unsigned i = 0; i < m->nadmins; i++) {
        if (memcmp(m->admins[i], key, sizeof(key)) == 0) {
            return ERR_OK;
        }
    }
    return errinfo_set(reterr, ERR_DENIED, hold->admin_key, 0,
                       "this key is none of the ring's administrators'; `gillnet peer "
                       "manifest show` names theirs");
}

enum err peer_sign_waiting(const struct peer_hold *hold, struct ring_outcome *ret,
                           struct errinfo *reterr)
{
    struct manifest next = {.version = 0};
    struct manifest old = {.version = 0};
    struct buf text;
    enum err e = ring_next(hold->dir, &next, reterr);

    if (e != ERR_OK) {
        return e;
    }
    bool has_old = manifest_load(hold->dir, &old, NULL) == ERR_OK;
    buf_init(&text, (size_t)2 * MANIFEST_BYTES_MAX);
    buf_add(&text, slice_of(next.text, next.text_len));
    e = ring_sign(hold->dir, hold->admin_key, &next, has_old ? &old : NULL, &text,
                  reterr);
    THEN(e, ring_accept(hold->dir, buf_slice(&text), ret, reterr));
    buf_fini(&text);
    manifest_fini(&old);
    manifest_fini(&next);
    return e;
}

enum err peer_sign_change(const struct peer_hold *hold, ring_edit_fn *edit,
                          void *context, struct manifest *io, struct ring_outcome *ret,
                          struct errinfo *reterr)
{
    enum err e = hold->admin_key != NULL ? check_key(hold, io, reterr) : ERR_OK;

    THEN(e, ring_change(hold->dir, edit, context, io, ret, reterr));
    if (e != ERR_OK || ret->is_in_force || hold->admin_key == NULL) {
        return e;
    }
    e = peer_sign_waiting(hold, ret, reterr);
    if (e == ERR_EXISTS) { /* this key is that of the folder and has signed */
        return ERR_OK;
    }
    if (e == ERR_OK && ret->is_in_force) {
        manifest_fini(io);
        e = manifest_load(hold->dir, io, reterr);
    }
    return e;
}

int peer_change_begin(struct peer_change *c, struct cli *cli)
{
    c->cli = cli;
    int status = peer_hold_take(cli, false, &c->hold);

    return status == 0 ? peer_load(c->hold.dir, &c->self, &c->m) : status;
}

void peer_change_end(struct peer_change *c)
{
    manifest_fini(&c->m);
    identity_wipe(&c->self);
    peer_hold_drop(&c->hold);
}

int peer_change_make(struct peer_change *c, ring_edit_fn *edit, void *context,
                     const char *what)
{
    struct errinfo why = {.code = ERR_OK};

    if (peer_sign_change(&c->hold, edit, context, &c->m, &c->outcome, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    peer_print_outcome(&c->outcome, c->hold.dir, what);
    return 0;
}
