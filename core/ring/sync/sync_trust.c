/* sync_trust - applies the manifest: removes objects of distrusted origins and keys. */
#include "core/base/dir_walk.h"
#include "core/base/log.h"
#include "core/ring/sync/peerlist.h"
#include "core/ring/sync/sync_modules.h"
#include "core/store/origins.h"

/* ---- dropping an origin ---- */

/* Entries of an origin, whose values begin with it. */
struct picking {
    const struct object_id *origin; /* NULL: of all that the manifest does not have */
    const struct sync *s;
};

static bool is_picked(const void *context, struct slice value)
{
    const struct picking *p = context;
    struct object_id origin;
    if (value.n < OBJECT_ID_BYTES) {
        return false;
    }
    memcpy(origin.b, value.p, OBJECT_ID_BYTES);
    return p->origin ? object_id_equal(&origin, p->origin)
                     : !sync_origin(p->s, &origin);
}

static enum err remove_entries(struct sync *s, const struct object_id *origin,
                               struct errinfo *reterr)
{
    static const char *const letters[] = {"s", "t"};
    const struct picking p = {.origin = origin, .s = s};
    enum err e = ERR_OK;
    for (unsigned i = 0; i < LENGTH(letters); i++) {
        size_t n = SYNC_KEYS_MAX;
        while (e == ERR_OK && n == SYNC_KEYS_MAX) {
            e = sync_remove_due(s, letters[i], is_picked, &p, &n, reterr);
        }
    }
    return e;
}

enum err sync_drop_origin(struct sync *s, const struct object_id *id,
                          struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct origin *o = sync_origin(s, id);
    while (o && o->streams) {
        sync_forget(s, o->streams);
    }
    /* objects last: while they exist the next start drops the origin again */
    enum err e = peerlists_drop(s->lists, id, reterr);
    THEN(e, sync_count_drop(s, id, reterr));
    THEN(e, remove_entries(s, id, reterr));
    THEN(e, sync_path(s, path, reterr, "objects/%s", object_id_hex(id).digits));
    return e == ERR_OK ? file_remove_tree(path, reterr) : e;
}

/* Drops origins that have files here and are no longer in the manifest. */
static enum err drop_strangers(struct sync *s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = sync_path(s, path, reterr, "objects");
    if (e != ERR_OK) {
        return e;
    }
    struct dir_walk w = dir_walk_begin(path, DIR_NEEDED);
    while (e == ERR_OK && dir_walk_next(&w)) {
        struct object_id id;
        if (hex_parse(slice_str(w.name), id.b, OBJECT_ID_BYTES) &&
            !sync_origin(s, &id) && !sync_is_self(s, &id)) {
            e = sync_drop_origin(s, &id, reterr);
        }
    }
    e = dir_walk_end(&w, e, reterr);
    return e == ERR_OK ? remove_entries(s, NULL, reterr) : e;
}

/* ---- revoked keys ---- */

static bool is_revoked(const struct manifest_member *m, uint64_t key_id)
{
    const struct manifest_key *k = manifest_key_by_id(m, key_id);
    return !k || k->is_revoked; /* or the member no longer has the key */
}

/* Removes streams that a revoked key signed, and then all lists of the origin: an older incarnation
 * could become visible. */
static enum err drop_revoked(struct sync *s, struct origin *o,
                             const struct manifest_member *m, struct errinfo *reterr)
{
    bool has_list = false;
    enum err e = ERR_OK;
    for (const struct stream *st = o->streams; st; st = st->of_origin) {
        has_list =
            has_list || (st->key.kind != OBJECT_COUNT && is_revoked(m, st->key_id));
    }
    if (has_list) {
        e = peerlists_drop(s->lists, &o->id, reterr);
    }
    struct stream *next = NULL;
    for (struct stream *st = o->streams; st && e == ERR_OK; st = next) {
        next = st->of_origin;
        const bool is_count = st->key.kind == OBJECT_COUNT;
        if (is_count ? is_revoked(m, st->key_id) : has_list) {
            sync_count_remove(s, st);
            e = sync_erase(s, st, false, reterr);
        }
    }
    return e;
}

/* ---- the manifest as a whole ---- */

static struct origin *make_origin(const struct manifest_member *m)
{
    struct origin *o = calloc(1, sizeof(*o));
    if (o) {
        o->id = m->origin;
        o->usual = UINT64_MAX;
    }
    return o;
}

/* Makes the members the origins; known ones keep their state. Nothing changes on ERR_NOMEM. */
static enum err update_origins(struct sync *s)
{
    const unsigned n = s->manifest.nmembers;
    struct origin **v = calloc(n ? n : 1, sizeof(struct origin *));
    bool is_whole = v != NULL;
    for (unsigned i = 0; is_whole && i < n; i++) {
        v[i] = sync_origin(s, &s->manifest.members[i].origin);
        v[i] = v[i] ? v[i] : make_origin(&s->manifest.members[i]);
        is_whole = v[i] != NULL;
    }
    if (!is_whole) {
        for (unsigned i = 0; v && i < n && v[i]; i++) {
            free(sync_origin(s, &v[i]->id) ? NULL : v[i]);
        }
        free(v);
        return ERR_NOMEM;
    }
    for (unsigned i = 0; i < n; i++) {
        const struct manifest_member *m = &s->manifest.members[i];
        memcpy(v[i]->name, m->name, sizeof(v[i]->name));
        v[i]->state = m->state;
    }
    for (unsigned i = 0; i < s->norigins; i++) {
        struct origin *o = s->origins[i];
        if (!manifest_find(&s->manifest, &o->id)) {
            while (o->streams) {
                sync_forget(s, o->streams);
            }
            free(o);
        }
    }
    free(s->origins);
    s->origins = v;
    s->norigins = n;
    return ERR_OK;
}

enum err sync_write_origins(struct sync *s, struct errinfo *reterr)
{
    static const enum origin_state states[] = {[MEMBER_ACTIVE] = ORIGIN_ACTIVE,
                                               [MEMBER_LEFT] = ORIGIN_LEFT,
                                               [MEMBER_DROPPED] = ORIGIN_DROPPED};
    bool is_own = s->manifest.kind == RING_OWN;
    struct origins out = {.quorum = is_own ? 0 : s->manifest.quorum};
    out.v = calloc(s->norigins ? s->norigins : 1, sizeof(*out.v));
    if (!out.v) {
        return errinfo_nomem(reterr, s->dir);
    }
    memcpy(out.self, s->self->origin.b, OBJECT_ID_BYTES);
    for (unsigned i = 0; i < s->norigins; i++) {
        const struct origin *o = s->origins[i];
        const struct manifest_member *m = manifest_find(&s->manifest, &o->id);
        if (!m || sync_is_self(s, &o->id)) {
            continue;
        }
        struct origin_row *row = &out.v[out.n++];
        memcpy(row->origin, o->id.b, OBJECT_ID_BYTES);
        memcpy(row->name, o->name, sizeof(row->name));
        row->cap = manifest_cap(&s->manifest, m);
        row->state = o->is_distrusted ? ORIGIN_DISTRUSTED : states[o->state];
    }
    enum err e = origins_write(s->state_dir, &out, reterr);
    free(out.v);
    return e;
}

static enum err drop_untrusted(struct sync *s, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (unsigned i = 0; i < s->norigins && e == ERR_OK; i++) {
        struct origin *o = s->origins[i];
        const struct manifest_member *m = manifest_find(&s->manifest, &o->id);
        if (sync_is_self(s, &o->id)) {
            continue;
        }
        if (o->state == MEMBER_DROPPED || o->is_distrusted) {
            o->heartbeat_ms = 0;
            e = sync_drop_origin(s, &o->id, reterr);
        } else {
            e = drop_revoked(s, o, m, reterr);
        }
    }
    return e;
}

enum err sync_trust(struct sync *s, struct errinfo *reterr)
{
    enum err e = update_origins(s);
    sync_work_wait(s); /* its files may be removed next */
    if (e != ERR_OK) {
        return errinfo_nomem(reterr, s->dir);
    }
    e = sync_load_proofs(s, reterr);
    THEN(e, sync_quota_load(s, reterr));
    /* gillnetd stops trusting them before the files are removed */
    THEN(e, sync_write_origins(s, reterr));
    THEN(e, drop_untrusted(s, reterr));
    return e == ERR_OK ? drop_strangers(s, reterr) : e;
}
