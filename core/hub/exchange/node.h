/*
 * node - what this server is in its ring: identity, manifest, keys and the state of all streams, opened together.
 *
 * Closed and opened again whenever a file of these changed under it: `gillnet peer` works on the files, and asks
 * for the folder meanwhile (control.h, hold).
 * Depends: base, peer, store.   Threads: one.   Owns: STATE/peers while it is open.   ADR 0034.
 */
#ifndef CORE_HUB_EXCHANGE_NODE_H
#define CORE_HUB_EXCHANGE_NODE_H

#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/ring/sync/sync.h"
#include "core/ring/trust/identity.h"
#include "core/ring/trust/manifest.h"

struct node {
    char state_dir[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX]; /* STATE/peers */
    bool is_open;
    struct identity self;
    struct manifest manifest;
    struct keyring keys;
    struct sync *sync;
    uint64_t
        epoch; /* rises with every change of manifest or identity: what was pinned is to be looked at again */
};

/* Nothing is opened. ERR_LIMIT: the path is too long. */
enum err node_init(struct node *n, const char *state_dir, struct errinfo *reterr);
/* ERR_NOT_FOUND: there is no identity or no ring yet. ERR_LOCKED: a command works there. */
enum err node_open(struct node *n, struct errinfo *reterr);
void node_close(struct node *n);
/* A manifest that came from a peer: checked, stored, in force when ERR_OK. ERR_EXISTS: not newer. */
enum err node_take_manifest(struct node *n, struct slice text, struct errinfo *reterr);
/* n->manifest was replaced (and stored): all that depends on it follows. */
enum err node_use_manifest(struct node *n, struct errinfo *reterr);

/* Ourselves in the manifest; NULL: we are not (any more) a member. */
const struct manifest_member *node_self(const struct node *n);
/* The member that signs with this key now and is to be talked to; NULL: nobody. *retwhy says why, in words. */
const struct manifest_member *node_member_of_key(const struct node *n,
                                                 const uint8_t key[OBJECT_KEY_BYTES],
                                                 const char **retwhy);

#endif
