/*
 * node - this server as a member of its ring: identity, manifest, keys and the state of all
 * streams.
 *
 * All are opened together, and opened again after a change of a file. `gillnet peer` changes the
 * files while the hub has closed them (hub_control.h, pause).
 * Depends: base, ring, store.   Threads: one.   Owns: STATE/peers while it is open.   ADR 0034.
 */
#ifndef CORE_HUB_EXCHANGE_NODE_H
#define CORE_HUB_EXCHANGE_NODE_H

#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/ring/sync/sync.h"
#include "core/ring/trust/manifest.h"
#include "core/ring/trust/peer_identity.h"

struct node {
    char state_dir[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX]; /* STATE/peers */
    bool is_open;
    struct identity self;
    struct manifest manifest;
    struct keyring keys;
    struct sync *sync;
    bool has_store; /* set before node_open: sync_options */
    uint64_t epoch; /* rises with every change of manifest or identity */
};

/* Opens nothing. ERR_LIMIT: the path is too long. */
enum err node_init(struct node *n, const char *state_dir, struct errinfo *reterr);
/* ERR_NOT_FOUND: there is no identity or no ring yet. ERR_LOCKED: a command works there. */
enum err node_open(struct node *n, struct errinfo *reterr);
void node_close(struct node *n);
/* Checks, stores and activates a manifest from a peer. ERR_EXISTS: it is not newer. */
enum err node_take_manifest(struct node *n, struct slice text, struct errinfo *reterr);
/* Call this after n->manifest was replaced and stored. */
enum err node_use_manifest(struct node *n, struct errinfo *reterr);

/* This server in the manifest; NULL: it is not an active member. */
const struct manifest_member *node_self(const struct node *n);
/* The active member whose signing key this is; NULL: none, for the reason *retwhy. */
const struct manifest_member *node_member_of_key(const struct node *n,
                                                 const uint8_t key[OBJECT_KEY_BYTES],
                                                 const char **retwhy);

#endif
