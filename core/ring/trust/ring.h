/*
 * ring - changes to a ring's manifest: made here, signed with this server's administrator's key, in force at once when that
 * is enough, else kept as manifest.next until other administrators have signed it too.
 *
 * Files in STATE/peers: self (name and address that this server gives itself), admin.key (Ed25519, PEM, mode 0600;
 * it may be kept elsewhere, then each change waits until it was signed with it).
 * Whoever changes something holds STATE/peers/LOCK.
 * Depends: base, identity, manifest.   Threads: one.   Owns: nothing.   ADR 0031.
 */
#ifndef CORE_RING_TRUST_RING_H
#define CORE_RING_TRUST_RING_H

#include "core/ring/trust/manifest.h"

enum { RING_KEY_KEEP_DAYS = 15 }; /* longer than anything is counted */

/* What this server calls itself until a manifest says it. */
struct ring_self {
    char name[OBJECT_NAME_BYTES + 1];
    char address[MANIFEST_ADDRESS_MAX + 1];
};
/* Without a file: the host's name, and it with `port`. */
enum err ring_self_load(const char *dir, unsigned port, struct ring_self *ret,
                        struct errinfo *reterr);
enum err ring_self_store(const char *dir, const struct ring_self *s,
                         struct errinfo *reterr);

/* Of path, or of dir/admin.key where path is NULL. ERR_NOT_FOUND: there is none. create: make one then. */
enum err ring_admin_key(const char *dir, const char *path, bool create,
                        uint8_t retsecret[OBJECT_KEY_BYTES],
                        uint8_t retpublic[OBJECT_KEY_BYTES], struct errinfo *reterr);

/* Changes m; its version, times and text are made afterwards. */
typedef enum err ring_edit_fn(struct manifest *m, void *context,
                              struct errinfo *reterr);

struct ring_outcome {
    uint64_t version;
    bool is_in_force; /* else it waits as manifest.next */
    unsigned signatures;
    unsigned needed;
};
/* The next version after io, with 90 days from now: edited on top of what waits already, signed, and stored. In
 * force, it replaces io. */
enum err ring_change(const char *dir, ring_edit_fn *edit, void *context,
                     struct manifest *io, struct ring_outcome *ret,
                     struct errinfo *reterr);
/* The first version, for self alone, from *m with its admins and threshold set. ERR_EXISTS: this server is in a ring. */
enum err ring_create(const char *dir, const struct manifest *m,
                     struct ring_outcome *ret, struct errinfo *reterr);

/* What waits. ERR_NOT_FOUND: nothing. */
enum err ring_next(const char *dir, struct manifest *ret, struct errinfo *reterr);
/* Takes a manifest that somebody brought: in force when it may replace ours, else its signatures join those of
 * manifest.next when that is the same one. */
enum err ring_accept(const char *dir, struct slice text, struct ring_outcome *ret,
                     struct errinfo *reterr);

/* Adds the signature of the administrator's key (ring_admin_key) to a text of m. old: what is in force; NULL: not known here, then whether
 * the signature counts is not either. ERR_DENIED: the key is none of the administrators' of both; ERR_EXISTS: it has signed. */
enum err ring_sign(const char *dir, const char *key_file, const struct manifest *m,
                   const struct manifest *old, struct buf *text,
                   struct errinfo *reterr);
/* Gives up what waits. */
enum err ring_discard(const char *dir, struct errinfo *reterr);
/* Goes over to the signing key that waits, once m lists it and its time has come; *retchanged: who uses the old one begins
 * anew. To be called now and then. */
enum err ring_turn_identity(const char *dir, const struct manifest *m,
                            struct identity *io, uint64_t now_ms, bool *retchanged,
                            struct errinfo *reterr);

/* ---- edits ---- */

struct ring_join { /* a member that joins, or comes back */
    const char *name;
    const char *address;
    const uint8_t *identity;
    struct key_binding binding;
    uint64_t now_ms;
};
ring_edit_fn ring_edit_join; /* ERR_EXISTS: the name is another's */

struct ring_state {
    const char *name;
    enum member_state state;
    uint64_t now_ms;
};
ring_edit_fn ring_edit_state; /* ERR_NOT_FOUND */

struct
    ring_rotation { /* a new signing key of a member; the former ones end at until_ms */
    struct object_id origin;
    struct key_binding binding;
    uint64_t until_ms;
    uint64_t now_ms;
    bool is_leaked; /* the former ones are revoked at once */
};
ring_edit_fn ring_edit_rotate;

struct ring_revocation {
    const char *name;
    uint64_t key_id; /* 0: all that it has */
};
ring_edit_fn ring_edit_revoke;

struct ring_address {
    struct object_id origin;
    const char *address;
};
ring_edit_fn ring_edit_address;

/* What is given changes. Bounds are the manifest's. ERR_NOT_FOUND: no such member. */
struct ring_terms {
    const char *name;    /* NULL: of the whole ring */
    const char *address; /* of a member; NULL: as it is */
    bool has_cap;
    uint64_t cap; /* of a member, 0: the ring's */
    bool has_records;
    uint64_t records_per_day; /* likewise */
    bool has_quorum;
    uint64_t quorum; /* of the ring */
    bool has_kind;
    enum ring_kind kind; /* of the ring; an own one takes neither cap nor quorum */
};
ring_edit_fn ring_edit_terms;

ring_edit_fn ring_edit_nothing;  /* renewal */
ring_edit_fn ring_edit_ring_key; /* context: struct manifest_ring_key to add */

struct ring_admins {
    uint8_t (*keys)[OBJECT_KEY_BYTES];
    unsigned n;
    unsigned threshold;
};
ring_edit_fn ring_edit_admins;

#endif
