/* sync_proof - heartbeats, and proofs that an origin signed two histories. */

#include "core/base/log.h"
#include "core/ring/sync/sync_modules.h"

/* ---- heartbeats ---- */

enum sync_result sync_take_heartbeat(struct sync *s, const struct offer *f,
                                     struct errinfo *reterr)
{
    struct origin *o = f->origin;
    if (o->heartbeat_ms != 0 && f->o.created_ms == o->heartbeat_ms) {
        return SYNC_DUPLICATE;
    }
    if (f->o.created_ms < o->heartbeat_ms) {
        (void)errinfo_set(reterr, ERR_RANGE, o->name, 0, "a newer heartbeat is known");
        return SYNC_DUPLICATE;
    }
    if (sync_is_self(s, &o->id) && f->o.created_ms > s->opened_ms) {
        return (void)errinfo_set(reterr, ERR_EXISTS, o->name, 0,
                                 "another server runs with this server's identity "
                                 "(restored twice, or copied), or the clock went back; "
                                 "stop one of the two"),
               SYNC_FORK;
    }
    const bool is_rolled_back = f->o.seq < o->heartbeat_seq;
    memcpy(o->heartbeat, f->header.p, OBJECT_HEADER_BYTES);
    o->heartbeat_ms = f->o.created_ms;
    o->heartbeat_seq = f->o.seq;
    o->expires_ms = f->o.expires_ms;
    o->heartbeat_version = sync_bump(s);
    if (is_rolled_back) {
        (void)errinfo_set(reterr, ERR_RANGE, o->name, 0,
                          "its number of publications went back: it was restored "
                          "from an older state");
        return SYNC_OLD;
    }
    return SYNC_APPLIED;
}

static int by_id(const void *a, const void *b)
{
    const struct stream *const *x = a;
    const struct stream *const *y = b;
    return memcmp((*x)->id.b, (*y)->id.b, OBJECT_ID_BYTES);
}

/* The hash of the own heads in a heartbeat. False: no memory. */
static bool own_heads(const struct origin *o, struct hash256 *ret)
{
    struct stream **v = malloc((o->nstreams + 1) * sizeof(struct stream *));
    struct slice *parts = malloc((2 * o->nstreams + 1) * sizeof(*parts));
    size_t n = 0;
    const bool is_good = v && parts;
    for (struct stream *st = o->streams; is_good && st; st = st->of_origin) {
        v[n] = st;
        n += st->seq > 0;
    }
    if (is_good && n > 1) {
        qsort(v, n, sizeof(struct stream *), by_id);
    }
    for (size_t i = 0; is_good && i < n; i++) {
        parts[2 * i] = slice_of(v[i]->id.b, OBJECT_ID_BYTES);
        parts[2 * i + 1] = slice_of(v[i]->hash.b, HASH256_BYTES);
    }
    if (is_good) {
        hash256_make(parts, 2 * n, ret);
    }
    free(v);
    free(parts);
    return is_good;
}

/* Completes and signs an own header that is in no stream. */
static enum err sign_header(const struct sync *s, struct object *o,
                            uint8_t ret[OBJECT_HEADER_BYTES])
{
    struct buf header;
    o->ring = s->manifest.ring;
    o->key_id = object_key_id(s->self->signing.key);
    o->stream.origin = s->self->origin;
    buf_init(&header, OBJECT_HEADER_BYTES);
    enum err e = object_sign(o, s->self->signing_secret, &header);
    if (e == ERR_OK) {
        memcpy(ret, header.p, OBJECT_HEADER_BYTES);
    }
    buf_fini(&header);
    return e;
}

enum err sync_heartbeat(struct sync *s, struct errinfo *reterr)
{
    struct origin *self = sync_origin(s, &s->self->origin);
    const uint64_t now = sync_now_ms();
    if (!self) {
        return ERR_OK; /* not in the manifest yet */
    }
    struct object o = {.type = OBJECT_HEARTBEAT,
                       .seq = s->nsigned + 1,
                       .created_ms =
                           now > self->heartbeat_ms ? now : self->heartbeat_ms + 1};
    o.expires_ms = o.created_ms + SYNC_LIFE_S * UINT64_C(1000);
    hash256_of(SLICE_NONE, &o.payload);
    enum err e =
        own_heads(self, &o.root) ? sign_header(s, &o, self->heartbeat) : ERR_NOMEM;
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, s->dir, 0, "cannot sign a heartbeat: %s",
                           err_text(e));
    }
    self->heartbeat_ms = o.created_ms;
    self->heartbeat_seq = o.seq;
    self->expires_ms = o.expires_ms;
    self->heartbeat_version = sync_bump(s);
    return ERR_OK;
}

/* ---- proofs ---- */

/* Whether two headers are from two histories of one stream: an honest origin signs each place once,
 * with the hash of the object before. */
static bool contradict(const struct object *a, const struct hash256 *a_hash,
                       const struct object *b, const struct hash256 *b_hash)
{
    if (!stream_key_equal(&a->stream, &b->stream) || a->stream.kind == OBJECT_NONE) {
        return false;
    }
    return (a->seq == b->seq && !hash256_equal(a_hash, b_hash)) ||
           (a->seq + 1 == b->seq && !hash256_equal(a_hash, &b->prev));
}

/* The origin whose fork the two headers prove; NULL: they prove no fork. */
static struct origin *proven(const struct sync *s, struct slice proof,
                             uint64_t *retkey_id)
{
    struct object o[2];
    struct hash256 hash[2];
    for (unsigned i = 0; i < 2; i++) {
        struct slice header = slice_from(proof, (size_t)i * OBJECT_HEADER_BYTES);
        header = slice_head(header, OBJECT_HEADER_BYTES);
        if (object_parse(header, &o[i], NULL) != ERR_OK ||
            !object_id_equal(&o[i].ring, &s->manifest.ring)) {
            return NULL;
        }
        const struct manifest_member *m =
            manifest_find(&s->manifest, &o[i].stream.origin);
        const struct manifest_key *k = m ? manifest_key_by_id(m, o[i].key_id) : NULL;
        if (!k || !object_is_signed_by(header, k->binding.key)) {
            return NULL;
        }
        object_hash(header, &hash[i]);
    }
    *retkey_id = o[0].key_id;
    return contradict(&o[0], &hash[0], &o[1], &hash[1])
               ? sync_origin(s, &o[0].stream.origin)
               : NULL;
}

static enum err store_proof(struct sync *s, const struct origin *o, struct slice proof,
                            struct errinfo *reterr)
{
    char key[SYNC_KEY_BYTES];
    struct table_txn *x = NULL;
    enum err e = table_begin(s->table, true, &x, reterr);
    if (e != ERR_OK) {
        return e;
    }
    (void)table_put(x, sync_table_key('p', &o->id, key), proof);
    return table_commit(&x, reterr);
}

/* Stores the proof, then removes the origin's objects; the next start repeats the removal. */
static enum sync_result distrust(struct sync *s, struct origin *o, struct slice proof,
                                 struct errinfo *reterr)
{
    struct errinfo why;
    const struct object_id id = o->id;
    if (store_proof(s, o, proof, reterr) != ERR_OK) {
        return SYNC_TROUBLE;
    }
    memcpy(o->proof, proof.p, SYNC_PROOF_BYTES);
    o->is_distrusted = true;
    o->has_proof_header = false;
    o->proof_version = sync_bump(s);
    if (!sync_is_self(s, &id) && sync_drop_origin(s, &id, &why) != ERR_OK) {
        log_errinfo("peers", &why);
    }
    if (sync_write_origins(s, &why) != ERR_OK) {
        log_errinfo("peers", &why);
    }
    return SYNC_FORK;
}

enum sync_result sync_fork(struct sync *s, struct offer *f, uint64_t seq,
                           struct errinfo *reterr)
{
    struct buf stored;
    struct buf proof;
    uint64_t key_id = 0;
    enum sync_result r = SYNC_OLD;
    struct origin *o = f->origin;
    if (!o) {
        return r;
    }
    buf_init(&stored, (size_t)OBJECT_SNAP_MAX + OBJECT_HEADER_BYTES);
    buf_init(&proof, SYNC_PROOF_BYTES);
    if (sync_object_read(s, f->stream, seq, &stored, reterr) == ERR_OK) {
        buf_add(&proof, slice_head(buf_slice(&stored), OBJECT_HEADER_BYTES));
        buf_add(&proof, f->header);
        if (!buf_failed(&proof) && proven(s, buf_slice(&proof), &key_id) == o) {
            (void)errinfo_set(reterr, ERR_RANGE, o->name, 0,
                              "it signed two histories of one stream; it is "
                              "distrusted until the manifest has a new key for it");
            r = distrust(s, o, buf_slice(&proof), reterr);
            f->stream = NULL;
        } else {
            (void)errinfo_set(reterr, ERR_RANGE, "prev", 0,
                              "it does not follow what is held");
        }
    }
    buf_fini(&stored);
    buf_fini(&proof);
    return r;
}

enum sync_result sync_take_proof(struct sync *s, const struct offer *f,
                                 struct errinfo *reterr)
{
    uint64_t key_id = 0;
    if (!object_has_payload(&f->o, f->payload)) {
        (void)errinfo_set(reterr, ERR_RANGE, "payload", 0, "it is not what was signed");
        return SYNC_PAYLOAD;
    }
    struct origin *o = proven(s, f->payload, &key_id);
    if (!o) {
        (void)errinfo_set(reterr, ERR_RANGE, "payload", 0,
                          "the two headers prove nothing");
        return SYNC_PAYLOAD;
    }
    const struct manifest_key *k =
        manifest_key_by_id(manifest_find(&s->manifest, &o->id), key_id);
    if ((k && k->is_revoked) || o->is_distrusted) {
        return SYNC_DUPLICATE; /* known, or the key is revoked */
    }
    (void)errinfo_set(reterr, ERR_RANGE, o->name, 0,
                      "another server proves that it signed two histories; it is "
                      "distrusted until the manifest has a new key for it");
    return distrust(s, o, f->payload, reterr) == SYNC_FORK ? SYNC_APPLIED
                                                           : SYNC_TROUBLE;
}

bool sync_tell_proof(struct sync *s, struct origin *o, struct slice ret[3])
{
    const char *proof = (const char *)o->proof;
    if (!o->has_proof_header) {
        struct object told = {.type = OBJECT_PROOF,
                              .seq = 1,
                              .records = 2,
                              .raw_len = SYNC_PROOF_BYTES,
                              .sent_len = SYNC_PROOF_BYTES,
                              .created_ms = sync_now_ms()};
        hash256_of(slice_of(proof, SYNC_PROOF_BYTES), &told.payload);
        o->has_proof_header = sign_header(s, &told, o->proof_header) == ERR_OK;
    }
    ret[0] = slice_of(o->proof_header, OBJECT_HEADER_BYTES);
    ret[1] = slice_of(proof, OBJECT_HEADER_BYTES);
    ret[2] = slice_of(proof + OBJECT_HEADER_BYTES, OBJECT_HEADER_BYTES);
    return o->has_proof_header;
}

/* A proof counts until the manifest revokes or removes the key that signed the fork. */
static bool still_counts(const struct sync *s, const struct origin *o,
                         struct slice proof)
{
    struct object first;
    const struct manifest_member *m = manifest_find(&s->manifest, &o->id);
    if (proof.n != SYNC_PROOF_BYTES || !m ||
        object_parse(slice_head(proof, OBJECT_HEADER_BYTES), &first, NULL) != ERR_OK) {
        return false;
    }
    const struct manifest_key *k = manifest_key_by_id(m, first.key_id);
    return k && !k->is_revoked;
}

enum err sync_load_proofs(struct sync *s, struct errinfo *reterr)
{
    struct table_txn *x = NULL;
    enum err e = table_begin(s->table, false, &x, reterr);
    for (unsigned i = 0; e == ERR_OK && i < s->norigins; i++) {
        struct origin *o = s->origins[i];
        char key[SYNC_KEY_BYTES];
        struct slice proof;
        o->is_distrusted =
            table_get(x, sync_table_key('p', &o->id, key), &proof) == ERR_OK &&
            still_counts(s, o, proof);
        if (o->is_distrusted) {
            memcpy(o->proof, proof.p, SYNC_PROOF_BYTES);
            o->has_proof_header = false;
            o->proof_version = sync_bump(s);
        }
    }
    table_abort(&x);
    return e;
}
