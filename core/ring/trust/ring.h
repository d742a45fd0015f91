/*
 * ring - changes to a ring's manifest. A change is made here and signed with this server's
 * administrator's key. It is in force at once if that is enough; else it waits as manifest.next
 * until other administrators have signed it.
 *
 * Files in STATE/peers: self (name and address that this server gives itself), admin.key (Ed25519,
 * PEM, mode 0600; if it is kept elsewhere, each change waits until it is signed with it).
 * The caller of a change holds STATE/peers/LOCK.
 * Depends: base, identity, manifest.   Threads: one.   Owns: nothing.   ADR 0031.
 */
#ifndef CORE_RING_TRUST_RING_H
#define CORE_RING_TRUST_RING_H

#include "core/ring/trust/manifest.h"

enum { RING_KEY_KEEP_DAYS = 15 }; /* longer than anything is counted */

/* Name and address of this server before a manifest has them. */
struct ring_self {
    char name[OBJECT_NAME_BYTES + 1];
    char address[MANIFEST_ADDRESS_MAX + 1];
};
/* Without a file: the host's name, and this name with `port`. */
enum err ring_self_load(const char *dir, unsigned port, struct ring_self *ret,
                        struct errinfo *reterr);
enum err ring_self_store(const char *dir, const struct ring_self *s,
                         struct errinfo *reterr);

/* The key in path, or in dir/admin.key (path NULL). create: makes one, else ERR_NOT_FOUND. */
enum err ring_admin_key(const char *dir, const char *path, bool create,
                        uint8_t retsecret[OBJECT_KEY_BYTES],
                        uint8_t retpublic[OBJECT_KEY_BYTES], struct errinfo *reterr);

/* Changes m; ring_change sets version, times and text afterwards. */
typedef enum err ring_edit_fn(struct manifest *m, void *context,
                              struct errinfo *reterr);

struct ring_outcome {
    uint64_t version;
    bool is_in_force; /* else it waits as manifest.next */
    unsigned signatures;
    unsigned needed;
};
/* Makes the next version after io, valid for 90 days: edits the version that waits, if there is
 * one, signs and stores it. In force, it replaces io. */
enum err ring_change(const char *dir, ring_edit_fn *edit, void *context,
                     struct manifest *io, struct ring_outcome *ret,
                     struct errinfo *reterr);
/* Makes the first version, with this server alone, from *m with its admins and threshold set.
 * ERR_EXISTS: this server is in a ring. */
enum err ring_create(const char *dir, const struct manifest *m,
                     struct ring_outcome *ret, struct errinfo *reterr);

/* The version that waits. ERR_NOT_FOUND: none does. */
enum err ring_next(const char *dir, struct manifest *ret, struct errinfo *reterr);
/* Accepts a manifest from elsewhere: in force if it may replace the local one; else its signatures
 * are added to those of manifest.next, if that has the same body. */
enum err ring_accept(const char *dir, struct slice text, struct ring_outcome *ret,
                     struct errinfo *reterr);

/* Adds the signature of the administrator's key (ring_admin_key) to text, which is m. old: the
 * version in force; NULL: unknown here, so that the administrators of m and old are not checked.
 * ERR_DENIED: the key belongs to no administrator of either; ERR_EXISTS: it has signed. */
enum err ring_sign(const char *dir, const char *key_file, const struct manifest *m,
                   const struct manifest *old, struct buf *text,
                   struct errinfo *reterr);
/* Removes the version that waits. */
enum err ring_discard(const char *dir, struct errinfo *reterr);
/* Changes to the signing key that waits, once m has it and its time has come. *retchanged: users of
 * the old key have to start again. Call it from time to time. */
enum err ring_turn_identity(const char *dir, const struct manifest *m,
                            struct identity *io, uint64_t now_ms, bool *retchanged,
                            struct errinfo *reterr);

/* ---- edits ---- */

/* A member that joins, or returns. */
struct ring_join {
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

/* A new signing key of a member; the former ones end at until_ms. */
struct ring_rotation {
    struct object_id origin;
    struct key_binding binding;
    uint64_t until_ms;
    uint64_t now_ms;
    bool is_leaked; /* the former keys are revoked at once */
};
ring_edit_fn ring_edit_rotate;

struct ring_revocation {
    const char *name;
    uint64_t key_id; /* 0: all its keys */
};
ring_edit_fn ring_edit_revoke;

struct ring_address {
    struct object_id origin;
    const char *address;
};
ring_edit_fn ring_edit_address;

/* Changes the fields that are set. The manifest bounds them. ERR_NOT_FOUND: no such member. */
struct ring_terms {
    const char *name;    /* NULL: of the whole ring */
    const char *address; /* of a member; NULL: unchanged */
    bool has_cap;
    uint64_t cap; /* of a member, 0: the ring's */
    bool has_records;
    uint64_t records_per_day; /* the same */
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
