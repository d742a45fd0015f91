/*
 * manifest - the members of a ring, their keys and limits, signed by the ring's administrators.
 *
 * The room trust decides which keys count. It has the keys of this server (identity), the members
 * of its ring (manifest), changes to them (ring), the token for a new member (invite), and the
 * ring's digest key. It sends nothing and knows no streams.
 *
 * Text: the line "gillnet-ring-manifest 1", a line of JSON (the body), then lines "signature KEY
 * SIGNATURE" (hexadecimal) over "gillnet-manifest/1\0" and the body's line without its end. A newer
 * manifest replaces an older one only with a higher version, the same ring, and enough signatures
 * of the OLD one's administrators and of its own. An expired one freezes membership and alarms;
 * exchange and filtering continue with its members.
 *
 * Files, in reading order: peer_file (files in STATE/peers), peer_identity with identity_key and
 * identity_cert, manifest with manifest_body, ring with ring_edit and ring_admin, invite with
 * invite_token, invite_file and invite_join, digest_key.
 * To add a setting of a member: a field of struct manifest_member; in manifest_body.c parse_member,
 * print_member and MEMBER_FIELDS; in ring_edit.c ring_edit_terms; in
 * tests/unit/trust/test_manifest.c.
 * Depends: base, jansson.   Threads: constant once parsed.   Owns: its arrays.   ADR 0031.
 */
#ifndef CORE_RING_TRUST_MANIFEST_H
#define CORE_RING_TRUST_MANIFEST_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/ring/stream/object.h"
#include "core/ring/trust/peer_identity.h"

enum {
    MANIFEST_BYTES_MAX = 1 << 20,
    MANIFEST_ADMINS_MAX = 16,
    MANIFEST_MEMBERS_MAX = 256,
    MANIFEST_KEYS_MAX = 4, /* of one member */
    MANIFEST_RING_KEYS_MAX = 4,
    MANIFEST_ADDRESS_MAX = 128,
    MANIFEST_EXPIRY_DAYS = 90,
    MANIFEST_CAP_DEFAULT = 10,
    MANIFEST_QUORUM_DEFAULT = 2,
    MANIFEST_RECORDS_DEFAULT = 50000000 /* of one origin and day */
};

enum member_state { MEMBER_ACTIVE, MEMBER_LEFT, MEMBER_DROPPED };

/* Servers of several owners, whose counts are capped and need a quorum; or of one owner, whose
 * counts add up. */
enum ring_kind { RING_FEDERATION, RING_OWN };

/* A signing key of a member. Its signatures from before until_ms stay valid; until_ms 0: no end. */
struct manifest_key {
    struct key_binding binding;
    uint64_t until_ms;
    bool is_revoked; /* it leaked: none of its signatures counts */
};

struct manifest_member {
    char name[OBJECT_NAME_BYTES + 1]; /* [a-z0-9][a-z0-9_-]*, unique */
    uint8_t identity[OBJECT_KEY_BYTES];
    struct object_id origin;
    enum member_state state;
    uint64_t since_ms; /* of the state */
    struct manifest_key keys[MANIFEST_KEYS_MAX];
    unsigned nkeys;
    char address[MANIFEST_ADDRESS_MAX +
                 1]; /* HOST:PORT or [IPV6]:PORT; empty: it only calls others */
    uint64_t cap; /* of its counts in a verdict, over a whole window; 0: the policy's */
    uint64_t records_per_day; /* quota of count records; 0: the policy's */
};

struct manifest_ring_key {
    uint32_t id;
    uint64_t from_ms; /* writers use the newest one in force */
};

struct manifest {
    struct object_id ring;
    enum ring_kind
        kind;         /* in the text only when it is own: older readers know no kinds */
    uint64_t version; /* from 1 */
    uint64_t created_ms;
    uint64_t expires_ms;
    unsigned threshold; /* signatures needed */
    uint8_t admins[MANIFEST_ADMINS_MAX][OBJECT_KEY_BYTES];
    unsigned nadmins;
    struct manifest_member *members;
    unsigned nmembers;
    struct manifest_ring_key ring_keys[MANIFEST_RING_KEYS_MAX];
    unsigned nring_keys;
    uint64_t default_cap; /* 10 */
    unsigned quorum;      /* 2: peers needed before their counts add up */
    uint64_t default_records_per_day;
    char *text; /* as signed, so far */
    size_t text_len;
};

void manifest_fini(struct manifest *m);
/* A deep copy. */
enum err manifest_copy(const struct manifest *m, struct manifest *ret);

/* Checks everything that the bytes can show: form, bounds, unique names, identities and addresses,
 * bindings that hold, signatures that are right (a wrong one is an error; missing ones are for
 * manifest_signatures). */
enum err manifest_parse(struct slice text, struct manifest *ret,
                        struct errinfo *reterr);
/* The body from the fields; without signatures. */
enum err manifest_print(const struct manifest *m, struct buf *ret);
/* Adds the signature of an administrator's key to text. */
enum err manifest_sign(const uint8_t secret[OBJECT_KEY_BYTES], struct buf *text,
                       struct errinfo *reterr);
/* Distinct administrators' keys of `of` that signed m, which was parsed. */
unsigned manifest_signatures(const struct manifest *m, const struct manifest *of);
/* Whether m may replace old (NULL: m is the first of a joined ring). ERR_EXISTS: not newer. */
enum err manifest_may_replace(const struct manifest *m, const struct manifest *old,
                              struct errinfo *reterr);

/* dir/manifest (STATE/peers), written atomically and durably before it is used; the former one
 * stays as manifest.old. Load: ERR_NOT_FOUND: no ring. Store: ERR_EXISTS: a newer one is there;
 * storing the same again changes nothing. */
enum err manifest_load(const char *dir, struct manifest *ret, struct errinfo *reterr);
enum err manifest_store(const char *dir, const struct manifest *m,
                        struct errinfo *reterr);

const struct manifest_member *manifest_find(const struct manifest *m,
                                            const struct object_id *origin);
const struct manifest_member *manifest_find_name(const struct manifest *m,
                                                 struct slice name);
/* The member, in any state, with this signing key, good at created_ms and not revoked. */
const struct manifest_member *manifest_find_key(const struct manifest *m,
                                                uint64_t key_id, uint64_t created_ms,
                                                const struct manifest_key **retkey);
/* The member's signing key with this id, or of these bytes; NULL: it has none. */
const struct manifest_key *manifest_key_by_id(const struct manifest_member *member,
                                              uint64_t key_id);
const struct manifest_key *manifest_key_of(const struct manifest_member *member,
                                           const uint8_t key[OBJECT_KEY_BYTES]);
bool manifest_has_ring_key(const struct manifest *m, uint32_t id);
bool manifest_is_admin(const struct manifest *m, const uint8_t key[OBJECT_KEY_BYTES]);
/* Cap of a member's counts: its own, else the ring's, else (own ring) ORIGIN_NO_CAP. */
uint64_t manifest_cap(const struct manifest *m, const struct manifest_member *member);
const char *ring_kind_name(enum ring_kind k);
/* False: there is no such kind. */
bool ring_kind_by_name(struct slice name, enum ring_kind *ret);
const char *member_state_name(enum member_state s);
/* A name of a member; HOST:PORT or [IPV6]:PORT. */
static inline bool manifest_name_is_valid(struct slice name)
{
    return object_name_is_valid(name);
}
bool manifest_address_is_valid(struct slice address);

#endif
