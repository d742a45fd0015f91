#include "core/hub/ring.h"

#include <string.h>

#include "core/base/clock.h"

enum err ring_init(struct ring *r, const char *state_dir, struct errinfo *reterr)
{
    enum err e;

    memset(r, 0, sizeof *r);
    e = file_path(r->state_dir, "%s", state_dir);
    if (e == ERR_OK) {
        e = file_path(r->dir, "%s/peers", state_dir);
    }
    return e == ERR_OK
               ? e
               : errinfo_set(reterr, e, state_dir, 0,
                             "the path is too long; choose a shorter state_dir");
}

static enum err open_sync(struct ring *r, struct errinfo *reterr)
{
    const struct sync_options options = {.state_dir = r->state_dir,
                                         .self = &r->self,
                                         .keys = &r->keys,
                                         .manifest = &r->manifest};

    return sync_open(&options, &r->sync, reterr);
}

enum err ring_open(struct ring *r, struct errinfo *reterr)
{
    enum err e = identity_load(r->dir, &r->self, reterr);

    if (e != ERR_OK) {
        return e;
    }
    e = manifest_load(r->dir, &r->manifest, reterr);
    if (e != ERR_OK) {
        identity_wipe(&r->self);
        return e;
    }
    e = keyring_load(r->state_dir, &r->keys, reterr);
    if (e == ERR_OK) {
        e = open_sync(r, reterr);
    }
    if (e != ERR_OK) {
        manifest_fini(&r->manifest);
        identity_wipe(&r->self);
        return e;
    }
    r->is_open = true;
    r->epoch++;
    return ERR_OK;
}

void ring_close(struct ring *r)
{
    if (!r->is_open) {
        return;
    }
    sync_close(&r->sync);
    manifest_fini(&r->manifest);
    identity_wipe(&r->self);
    r->is_open = false;
    r->epoch++;
}

/* Takes fresh, on success and on failure. */
static enum err put_in_force(struct ring *r, struct manifest *fresh,
                             struct errinfo *reterr)
{
    enum err e;

    manifest_fini(&r->manifest);
    r->manifest = *fresh;
    r->epoch++;
    e = sync_set_manifest(r->sync, &r->manifest, reterr);
    return e;
}

enum err ring_take_manifest(struct ring *r, struct slice text, struct errinfo *reterr)
{
    struct manifest fresh;
    enum err e = manifest_parse(text, &fresh, reterr);

    if (e != ERR_OK) {
        return e;
    }
    e = manifest_may_replace(&fresh, &r->manifest, reterr);
    if (e == ERR_OK) {
        e = manifest_store(r->dir, &fresh, reterr);
    }
    if (e != ERR_OK) {
        manifest_fini(&fresh);
        return e;
    }
    return put_in_force(r, &fresh, reterr);
}

enum err ring_reread_manifest(struct ring *r, struct errinfo *reterr)
{
    struct manifest fresh;
    enum err e = manifest_load(r->dir, &fresh, reterr);

    return e == ERR_OK ? put_in_force(r, &fresh, reterr) : e;
}

const struct manifest_member *ring_self(const struct ring *r)
{
    const struct manifest_member *m = manifest_find(&r->manifest, &r->self.origin);

    return m != NULL && m->state == MEMBER_ACTIVE ? m : NULL;
}

const struct manifest_member *ring_member_of_key(const struct ring *r,
                                                 const uint8_t key[OBJECT_KEY_BYTES],
                                                 const char **retwhy)
{
    const struct manifest_key *found = NULL;
    const struct manifest_member *m;

    if (!r->is_open) {
        *retwhy = "no ring is open here";
        return NULL;
    }
    m = manifest_find_key(&r->manifest, object_key_id(key), clock_wall_us() / 1000,
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
