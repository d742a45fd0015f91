/* ring_edit - the possible changes of a manifest; each reads the manifest alone. */

#include "core/base/keyring.h"
#include "core/ring/trust/ring.h"

static const uint64_t day_ms = 86400000;

static struct manifest_member *member_of(struct manifest *m,
                                         const struct manifest_member *found)
{
    return found != NULL ? &m->members[found - m->members] : NULL;
}

static enum err unknown(const char *name, struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_NOT_FOUND, name, 0,
                       "no member of the ring is called that; `gillnet peer list` "
                       "shows them");
}

static enum err set_address(struct manifest *m, struct manifest_member *member,
                            const char *address, struct errinfo *reterr)
{
    size_t n = strlen(address);

    if (n > 0 && !manifest_address_is_valid(slice_str(address))) {
        return errinfo_set(reterr, ERR_SYNTAX, "address", 0,
                           "write it as HOST:PORT or [IPV6]:PORT");
    }
    for (unsigned i = 0; n > 0 && i < m->nmembers; i++) {
        struct manifest_member *other = &m->members[i];
        if (other == member || strcmp(other->address, address) != 0) {
            continue;
        }
        if (other->state != MEMBER_ACTIVE) { /* it no longer needs one */
            memset(other->address, 0, sizeof(other->address));
        } else {
            return errinfo_set(reterr, ERR_EXISTS, address, 0,
                               "member \"%s\" has this address; give this server its "
                               "own with `gillnet peer init --address HOST:PORT`",
                               m->members[i].name);
        }
    }
    memcpy(member->address, address, n + 1);
    return ERR_OK;
}

/* ---- keys of a member ---- */

/* No object that the key signed is kept now, or it was replaced before its time began. */
static bool is_forgettable(const struct manifest_key *k, uint64_t now_ms)
{
    return (k->until_ms != 0 && k->until_ms + RING_KEY_KEEP_DAYS * day_ms < now_ms) ||
           k->binding.not_before_ms > now_ms;
}

static void forget_old_keys(struct manifest_member *member, uint64_t now_ms)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < member->nkeys; i++) {
        if (!is_forgettable(&member->keys[i], now_ms)) {
            member->keys[kept++] = member->keys[i];
        }
    }
    member->nkeys = kept;
}

/* Makes binding the member's key without end; the others end at until_ms at the latest. */
static enum err add_member_key(struct manifest_member *member,
                               const struct key_binding *binding, uint64_t until_ms,
                               uint64_t now_ms, struct errinfo *reterr)
{
    struct manifest_key *found = NULL;

    forget_old_keys(member, now_ms);
    for (unsigned i = 0; i < member->nkeys; i++) {
        struct manifest_key *k = &member->keys[i];
        if (memcmp(k->binding.key, binding->key, OBJECT_KEY_BYTES) == 0) {
            found = k;
        } else if (k->until_ms == 0 || k->until_ms > until_ms) {
            uint64_t least = k->binding.not_before_ms;
            k->until_ms = until_ms > least ? until_ms : least;
        }
    }
    if (found != NULL && found->is_revoked) {
        return errinfo_set(reterr, ERR_EXISTS, member->name, 0,
                           "the signing key of that server is revoked; there move "
                           "peers/manifest (and peers/manifest.next) in the state "
                           "folder away, run `gillnet peer rotate`, and join again "
                           "with the same token");
    }
    if (found == NULL && member->nkeys == MANIFEST_KEYS_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, member->name, 0,
                           "this member has had %d signing keys within %d days; wait "
                           "until the oldest is forgotten",
                           MANIFEST_KEYS_MAX, RING_KEY_KEEP_DAYS);
    }
    if (found == NULL) {
        found = &member->keys[member->nkeys++];
    }
    *found = (struct manifest_key){.binding = *binding};
    return ERR_OK;
}

/* ---- members ---- */

static struct manifest_member *append_member(struct manifest *m)
{
    struct manifest_member *more =
        realloc(m->members, (m->nmembers + 1) * sizeof(*m->members));

    if (more == NULL) {
        return NULL;
    }
    m->members = more;
    memset(&more[m->nmembers], 0, sizeof(*more));
    return &more[m->nmembers++];
}

/* A former member stays in the manifest, under a name that no member needs. */
static void give_up_name(struct manifest_member *member)
{
    memset(member->name, 0, sizeof(member->name));
    (void)snprintf(member->name, sizeof(member->name), "gone-%.24s",
                   object_id_hex(&member->origin).digits);
}

enum err ring_edit_join(struct manifest *m, void *context, struct errinfo *reterr)
{
    const struct ring_join *j = context;
    const struct manifest_member *named = manifest_find_name(m, slice_str(j->name));
    struct object_id origin;

    identity_origin(j->identity, &origin);
    struct manifest_member *member = member_of(m, manifest_find(m, &origin));
    if (named != NULL && named != member && named->state != MEMBER_ACTIVE) {
        give_up_name(member_of(m, named));
    } else if (named != NULL && named != member) {
        return errinfo_set(reterr, ERR_EXISTS, j->name, 0,
                           "another server is a member by this name");
    }
    if (member == NULL && m->nmembers >= MANIFEST_MEMBERS_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, "ring", 0, "it has %d members already",
                           MANIFEST_MEMBERS_MAX);
    }
    if (member == NULL) {
        member = append_member(m);
        if (member == NULL) {
            return errinfo_nomem(reterr, "ring");
        }
        memcpy(member->identity, j->identity, OBJECT_KEY_BYTES);
        member->origin = origin;
        member->state = MEMBER_DROPPED;
    }
    (void)snprintf(member->name, sizeof(member->name), "%s", j->name);
    if (member->state != MEMBER_ACTIVE) {
        member->state = MEMBER_ACTIVE;
        member->since_ms = j->now_ms;
    }
    enum err e = add_member_key(member, &j->binding, j->now_ms, j->now_ms, reterr);
    return e == ERR_OK ? set_address(m, member, j->address, reterr) : e;
}

enum err ring_edit_state(struct manifest *m, void *context, struct errinfo *reterr)
{
    const struct ring_state *s = context;
    struct manifest_member *member =
        member_of(m, manifest_find_name(m, slice_str(s->name)));

    if (member == NULL) {
        return unknown(s->name, reterr);
    }
    if (member->state != s->state) {
        member->state = s->state;
        member->since_ms = s->now_ms;
    }
    return ERR_OK;
}

static enum err not_a_member(struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_NOT_FOUND, "ring", 0,
                       "this server is no longer a member of it");
}

enum err ring_edit_address(struct manifest *m, void *context, struct errinfo *reterr)
{
    const struct ring_address *a = context;
    struct manifest_member *member = member_of(m, manifest_find(m, &a->origin));

    return member != NULL ? set_address(m, member, a->address, reterr)
                          : not_a_member(reterr);
}

static enum err edit_ring_terms(struct manifest *m, const struct ring_terms *t,
                                struct errinfo *reterr)
{
    if ((t->has_cap && t->cap == 0) || (t->has_records && t->records_per_day == 0) ||
        (t->has_quorum && (t->quorum == 0 || t->quorum > MANIFEST_MEMBERS_MAX))) {
        return errinfo_set(reterr, ERR_RANGE, "ring", 0,
                           "its cap and records a day are at least 1, its quorum 1 to "
                           "%d",
                           MANIFEST_MEMBERS_MAX);
    }
    m->kind = t->has_kind ? t->kind : m->kind;
    if (m->kind == RING_OWN && (t->has_cap || t->has_quorum)) {
        return errinfo_set(reterr, ERR_DENIED, "ring", 0,
                           "its kind is own, so it has neither cap nor quorum; they "
                           "come with --kind federation");
    }
    m->default_cap = t->has_cap ? t->cap : m->default_cap;
    m->quorum = t->has_quorum ? (unsigned)t->quorum : m->quorum;
    m->default_records_per_day =
        t->has_records ? t->records_per_day : m->default_records_per_day;
    return ERR_OK;
}

enum err ring_edit_terms(struct manifest *m, void *context, struct errinfo *reterr)
{
    const struct ring_terms *t = context;

    if (t->name == NULL) {
        return edit_ring_terms(m, t, reterr);
    }
    struct manifest_member *member =
        member_of(m, manifest_find_name(m, slice_str(t->name)));
    if (member == NULL) {
        return unknown(t->name, reterr);
    }
    member->cap = t->has_cap ? t->cap : member->cap;
    member->records_per_day =
        t->has_records ? t->records_per_day : member->records_per_day;
    return t->address != NULL ? set_address(m, member, t->address, reterr) : ERR_OK;
}

enum err ring_edit_rotate(struct manifest *m, void *context, struct errinfo *reterr)
{
    const struct ring_rotation *r = context;
    struct manifest_member *member = member_of(m, manifest_find(m, &r->origin));

    for (unsigned i = 0; r->is_leaked && member != NULL && i < member->nkeys; i++) {
        member->keys[i].is_revoked = true;
    }
    return member != NULL
               ? add_member_key(member, &r->binding, r->until_ms, r->now_ms, reterr)
               : not_a_member(reterr);
}

enum err ring_edit_revoke(struct manifest *m, void *context, struct errinfo *reterr)
{
    const struct ring_revocation *r = context;
    struct manifest_member *member =
        member_of(m, manifest_find_name(m, slice_str(r->name)));
    bool is_found = false;

    if (member == NULL) {
        return unknown(r->name, reterr);
    }
    for (unsigned i = 0; i < member->nkeys; i++) {
        struct manifest_key *k = &member->keys[i];
        if (r->key_id == 0 || object_key_id(k->binding.key) == r->key_id) {
            k->is_revoked = true;
            is_found = true;
        }
    }
    return is_found
               ? ERR_OK
               : errinfo_set(reterr, ERR_NOT_FOUND, r->name, 0,
                             "the member has no signing key %016" PRIx64, r->key_id);
}

/* ---- the ring ---- */

enum err ring_edit_nothing(struct manifest *m, void *context, struct errinfo *reterr)
{
    (void)m;
    (void)context;
    (void)reterr;
    return ERR_OK;
}

/* Whether another key has been in force for RING_KEY_KEEP_DAYS, so nothing under k is kept. */
static bool is_superseded(const struct manifest *m, const struct manifest_ring_key *k,
                          uint64_t now_ms)
{
    for (unsigned i = 0; i < m->nring_keys; i++) {
        if (m->ring_keys[i].from_ms > k->from_ms &&
            m->ring_keys[i].from_ms + RING_KEY_KEEP_DAYS * day_ms < now_ms) {
            return true;
        }
    }
    return false;
}

enum err ring_edit_ring_key(struct manifest *m, void *context, struct errinfo *reterr)
{
    const struct manifest_ring_key *key = context;
    struct manifest before = *m;
    unsigned kept = 0;

    for (unsigned i = 0; i < before.nring_keys; i++) {
        if (!is_superseded(&before, &before.ring_keys[i], key->from_ms)) {
            m->ring_keys[kept++] = before.ring_keys[i];
        }
    }
    m->nring_keys = kept;
    for (unsigned i = 0; i < kept; i++) {
        if (m->ring_keys[i].id == key->id) {
            return errinfo_set(reterr, ERR_EXISTS, "ring", 0,
                               "this is a digest key already");
        }
    }
    /* keys/digest.key has two: with a third no member would have the time to follow */
    if (kept >= KEYRING_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, "ring", 0,
                           "the digest key was changed within the last %d days; wait "
                           "until nothing is kept under the one before it",
                           RING_KEY_KEEP_DAYS);
    }
    m->ring_keys[m->nring_keys++] = *key;
    return ERR_OK;
}

enum err ring_edit_admins(struct manifest *m, void *context, struct errinfo *reterr)
{
    const struct ring_admins *a = context;

    if (a->n == 0 || a->n > MANIFEST_ADMINS_MAX || a->threshold == 0 ||
        a->threshold > a->n) {
        return errinfo_set(reterr, ERR_RANGE, "threshold", 0,
                           "there can be 1 to %d administrators' keys, and at most as "
                           "many signatures can be asked for",
                           MANIFEST_ADMINS_MAX);
    }
    memset(m->admins, 0, sizeof(m->admins));
    memcpy(m->admins, a->keys, a->n * sizeof(m->admins[0]));
    m->nadmins = a->n;
    m->threshold = a->threshold;
    return ERR_OK;
}
