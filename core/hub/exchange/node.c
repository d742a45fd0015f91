#include "core/hub/exchange/node.h"

#include "core/base/clock.h"

enum err node_init(struct node *n, const char *state_dir, struct errinfo *reterr)
{
    enum err e;

    memset(n, 0, sizeof(*n));
    e = path_make(n->state_dir, reterr, "%s", state_dir);
    THEN(e, path_make(n->dir, reterr, "%s/peers", state_dir));
    return e;
}

static enum err open_sync(struct node *n, struct errinfo *reterr)
{
    const struct sync_options options = {.state_dir = n->state_dir,
                                         .self = &n->self,
                                         .keys = &n->keys,
                                         .manifest = &n->manifest,
                                         .has_store = n->has_store};

    enum err e = sync_open(&options, &n->sync, reterr);

    if (e == ERR_OK) {
        sync_work_behind(n->sync);
    }
    return e;
}

/* A command may have changed the files after they were read and before the lock was taken. */
static bool is_overtaken(const struct node *n)
{
    struct keyring keys;
    struct manifest m;
    bool is = true;

    if (keyring_load(n->state_dir, &keys, NULL) == ERR_OK &&
        manifest_load(n->dir, &m, NULL) == ERR_OK) {
        is = m.version != n->manifest.version || keys.n != n->keys.n ||
             keys.ring[0].id != n->keys.ring[0].id;
        manifest_fini(&m);
    }
    return is;
}

enum err node_open(struct node *n, struct errinfo *reterr)
{
    enum err e = identity_load(n->dir, &n->self, reterr);

    if (e != ERR_OK) {
        return e;
    }
    e = manifest_load(n->dir, &n->manifest, reterr);
    if (e != ERR_OK) {
        identity_wipe(&n->self);
        return e;
    }
    e = keyring_load(n->state_dir, &n->keys, reterr);
    THEN(e, open_sync(n, reterr));
    if (e == ERR_OK && is_overtaken(n)) {
        sync_close(&n->sync);
        e = errinfo_set(reterr, ERR_LOCKED, n->dir, 0, "a command changed the ring");
    }
    if (e != ERR_OK) {
        manifest_fini(&n->manifest);
        identity_wipe(&n->self);
        return e;
    }
    n->is_open = true;
    n->epoch++;
    return ERR_OK;
}

void node_close(struct node *n)
{
    if (!n->is_open) {
        return;
    }
    sync_close(&n->sync);
    manifest_fini(&n->manifest);
    identity_wipe(&n->self);
    n->is_open = false;
    n->epoch++;
}

enum err node_use_manifest(struct node *n, struct errinfo *reterr)
{
    n->epoch++;
    return sync_set_manifest(n->sync, &n->manifest, reterr);
}

enum err node_take_manifest(struct node *n, struct slice text, struct errinfo *reterr)
{
    struct manifest fresh;
    enum err e = manifest_parse(text, &fresh, reterr);

    if (e != ERR_OK) {
        return e;
    }
    e = manifest_may_replace(&fresh, &n->manifest, reterr);
    THEN(e, manifest_store(n->dir, &fresh, reterr));
    if (e != ERR_OK) {
        manifest_fini(&fresh);
        return e;
    }
    manifest_fini(&n->manifest);
    n->manifest = fresh;
    return node_use_manifest(n, reterr);
}

const struct manifest_member *node_self(const struct node *n)
{
    const struct manifest_member *m = manifest_find(&n->manifest, &n->self.origin);

    return m != NULL && m->state == MEMBER_ACTIVE ? m : NULL;
}

const struct manifest_member *node_member_of_key(const struct node *n,
                                                 const uint8_t key[OBJECT_KEY_BYTES],
                                                 const char **retwhy)
{
    const struct manifest_key *found = NULL;
    const struct manifest_member *m;

    if (!n->is_open) {
        *retwhy = "no ring is open here";
        return NULL;
    }
    m = manifest_find_key(&n->manifest, object_key_id(key), clock_wall_us() / 1000,
                          &found);
    if (m == NULL || found == NULL ||
        memcmp(found->binding.key, key, OBJECT_KEY_BYTES) != 0) {
        *retwhy = "the key is not a signing key of a member, or was revoked";
        return NULL;
    }
    if (m->state != MEMBER_ACTIVE) {
        *retwhy = "the member left the ring or was dropped";
        return NULL;
    }
    return m;
}
