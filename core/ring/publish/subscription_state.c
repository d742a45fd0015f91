/* subscription_state - the files of a subscription, and updates as entries of a list. */

#include "core/base/hash256.h"
#include "core/message/feature/list_keys.h"
#include "core/ring/publish/subscription_internal.h"
#include "core/ring/trust/peer_file.h"

enum {
    SEEN_BYTES = 4096,
    NUMBER_REFUSED = 0, /* in LIST.state */
    ENTRY_ARENA_BYTES = 256 << 10,
    EXPIRY_MAX_H = (int)(UINT32_MAX / 3600),
    FILE_NAME_BYTES = LIST_NAME_MAX + 8
};

#define SEEN_MARK "GNSB\1\0\0\0" /* with its version */

/* ---- seen ---- */

enum err seen_write(const struct subscription *s, struct errinfo *reterr)
{
    const struct seen *seen = &s->seen;
    struct buf b;
    buf_init(&b, SEEN_BYTES);
    buf_add(&b, SLICE_LIT(SEEN_MARK));
    buf_add(&b, slice_of(s->key, sizeof(s->key)));
    buf_add(&b, slice_of(seen->binding.key, OBJECT_KEY_BYTES));
    buf_add_u64(&b, seen->binding.not_before_ms);
    buf_add(&b, slice_of(seen->binding.signature, OBJECT_SIGNATURE_BYTES));
    buf_add_u64(&b, seen->created_ms);
    buf_add_u64(&b, seen->expires_ms);
    buf_add_u64(&b, seen->seq);
    buf_add(&b, slice_of(seen->heads.b, HASH256_BYTES));
    enum err e = peer_file_write_hashed(s->dir, "seen", &b, reterr);
    buf_fini(&b);
    return e;
}

static bool parse_seen(struct cursor *c, uint8_t retkey[OBJECT_KEY_BYTES],
                       struct seen *ret)
{
    cursor_copy(c, retkey, OBJECT_KEY_BYTES);
    cursor_copy(c, ret->binding.key, OBJECT_KEY_BYTES);
    ret->binding.not_before_ms = cursor_u64(c);
    cursor_copy(c, ret->binding.signature, OBJECT_SIGNATURE_BYTES);
    ret->created_ms = cursor_u64(c);
    ret->expires_ms = cursor_u64(c);
    ret->seq = cursor_u64(c);
    cursor_copy(c, ret->heads.b, HASH256_BYTES);
    return cursor_done(c);
}

enum err seen_read(const char *dir, uint8_t retkey[OBJECT_KEY_BYTES], struct seen *ret,
                   struct errinfo *reterr)
{
    struct cursor c;
    struct buf b;
    buf_init(&b, SEEN_BYTES);
    enum err e =
        peer_file_read_hashed(dir, "seen", SLICE_LIT(SEEN_MARK), &b, &c, reterr);
    if (e == ERR_CORRUPT || (e == ERR_OK && !parse_seen(&c, retkey, ret))) {
        e = errinfo_set(reterr, ERR_CORRUPT, dir, 0,
                        "the file seen is damaged; remove it: the next heads of the "
                        "publisher are then taken for the first");
    }
    buf_fini(&b);
    return e;
}

/* ---- records of texts as records of digests ---- */

struct making {
    const struct hashkey *key;
    struct arena *arena;
    struct list_record *v;
    size_t n;
    uint64_t refused; /* of the new texts */
    uint64_t gone;    /* of the removed texts, refused before */
};

/* A text is an entry if the reader of entries returns it unchanged (or is a skeleton). */
static bool is_entry(struct arena *arena, const struct list_record *r)
{
    struct feature_entry e;
    arena_reset(arena);
    return feature_entry_parse(r->text, (enum feature_type)r->type, arena, &e, NULL) ==
               ERR_OK &&
           e.class_type == r->type &&
           (slice_eq(e.text, r->text) || r->type == FEATURE_subject_skeleton);
}

static void make_one(struct making *m, const struct list_record *r, unsigned after)
{
    struct list_record *to = &m->v[m->n];
    *to = (struct list_record){
        .before = after == ENTRY_ABSENT ? ENTRY_STANDS : ENTRY_ABSENT,
        .after = (uint8_t)after,
        .type = r->type,
        .expiry_h = r->expiry_h < EXPIRY_MAX_H ? r->expiry_h : (uint32_t)EXPIRY_MAX_H};
    digest_make(m->key, r->type, r->text, &to->digest);
    m->n++;
}

/* from NULL: added; to NULL: removed. */
static void make_step(struct making *m, const struct list_record *from,
                      const struct list_record *to)
{
    const struct list_record *r = to ? to : from;
    if (!r) {
        return; /* one of both is set */
    }
    if (is_entry(m->arena, r)) {
        make_one(m, r, to ? to->after : (unsigned)ENTRY_ABSENT);
    } else {
        m->refused += from == NULL;
        m->gone += to == NULL;
    }
}

static int compare_digests(const void *a, const void *b)
{
    const struct list_record *x = a;
    const struct list_record *y = b;
    return digest_cmp(&x->digest, &y->digest);
}

/* The differences of both, sorted by digest. Different texts have different digests. */
static void make_difference(struct making *m, const struct textlist *from,
                            const struct textlist *to)
{
    struct textlist_pair p = {.from = from, .to = to};
    while (textlist_pair_next(&p)) {
        if (p.order != 0 || p.x->after != p.y->after ||
            p.x->expiry_h != p.y->expiry_h) {
            make_step(m, p.x, p.y);
        }
    }
    qsort(m->v, m->n, sizeof(m->v[0]), compare_digests);
}

static enum err give_records(const struct subscription *s, const struct stream_key *k,
                             bool is_snap, struct making *m, struct errinfo *reterr)
{
    struct object o = {.type = is_snap ? OBJECT_SNAP : OBJECT_DELTA,
                       .stream = *k,
                       .seq = 1,
                       .records = m->n};
    struct payload_reader records;
    struct buf raw;
    if (m->n == 0 && !is_snap) {
        return ERR_OK;
    }
    buf_init(&raw, m->n * PAYLOAD_LIST_MAX + 1);
    payload_print_list(m->v, m->n, &raw);
    enum err e = buf_failed(&raw) ? errinfo_nomem(reterr, s->name) : ERR_OK;
    THEN(e, payload_reader_init(&records, OBJECT_LIST, is_snap, m->n, buf_slice(&raw),
                                reterr));
    THEN(e, peerlist_apply(s->lists, &o, s->name, &records, reterr));
    buf_fini(&raw);
    return e;
}

/* The stream of the list in peerlist, with digests under the writers' key. */
static struct stream_key list_of(const struct subscription *s, const struct follow *f,
                                 uint64_t inc)
{
    struct stream_key k = {.origin = s->kept_as,
                           .inc = inc,
                           .ring_key = s->keys->ring[0].id,
                           .kind = OBJECT_LIST};
    memcpy(k.list, f->map.ours, strnlen(f->map.ours, OBJECT_NAME_BYTES));
    return k;
}

static bool list_is_held(const struct subscription *s, const struct stream_key *k)
{
    struct list_record any = {.after = ENTRY_ABSENT};
    return peerlist_get(s->lists, k, &any, NULL) == ERR_OK;
}

struct change {
    uint64_t inc;                /* of the publisher's stream */
    const struct textlist *from; /* NULL: unknown */
    const struct textlist *to;   /* all entries afterwards */
};
static enum err change_list(const struct subscription *s, const struct follow *f,
                            const struct change *c, uint64_t *retrefused,
                            struct errinfo *reterr)
{
    const struct textlist none = {0};
    const struct stream_key k = list_of(s, f, c->inc);
    bool is_snap = !c->from || !list_is_held(s, &k);
    const struct textlist *before = is_snap ? &none : c->from;
    struct making m = {.key = &s->keys->ring[0],
                       .arena = arena_new(ENTRY_ARENA_BYTES),
                       .v = calloc(before->n + c->to->n + 1, sizeof(*m.v))};
    if (!m.arena || !m.v) {
        arena_free(&m.arena);
        free(m.v);
        return errinfo_nomem(reterr, s->name);
    }
    make_difference(&m, before, c->to);
    enum err e = give_records(s, &k, is_snap, &m, reterr);
    *retrefused = (is_snap ? 0 : f->refused) + m.refused - m.gone;
    arena_free(&m.arena);
    free(m.v);
    return e;
}

/* ---- files of a list ---- */

static void file_name_of(const struct follow *f, const char *suffix,
                         char ret[FILE_NAME_BYTES])
{
    (void)snprintf(ret, FILE_NAME_BYTES, "%s.%s", f->map.ours, suffix);
}

static void know(struct follow *f, const struct textfile *t)
{
    f->is_known = true;
    f->stream = t->object.stream;
    f->seq = t->object.seq;
    f->entries = t->list.n;
    f->refused = t->number[NUMBER_REFUSED];
    object_hash(slice_of(t->header, OBJECT_HEADER_BYTES), &f->hash);
}

enum err follow_load(const struct subscription *s, struct follow *f,
                     struct textfile *ret, struct errinfo *reterr)
{
    char name[FILE_NAME_BYTES];
    file_name_of(f, "state", name);
    enum err e = textfile_read(s->dir, name, ret, reterr);
    if (e == ERR_OK) {
        know(f, ret);
    }
    return e;
}

/* LIST.next, which is durable, becomes LIST.state. */
static enum err take_place(const struct subscription *s, const struct follow *f,
                           struct errinfo *reterr)
{
    char next[FILE_NAME_BYTES];
    char state[FILE_NAME_BYTES];
    file_name_of(f, "next", next);
    file_name_of(f, "state", state);
    return peer_file_rename(s->dir, next, state, reterr);
}

enum err follow_apply(struct subscription *s, struct work *w, struct errinfo *reterr)
{
    struct follow *f = w->f;
    char name[FILE_NAME_BYTES];
    file_name_of(f, "next", name);
    /* the number of refused texts is known after the change; a crash before repeats it */
    w->now.number[NUMBER_REFUSED] = f->refused;
    enum err e = textfile_write(s->dir, name, &w->now, reterr);
    if (e == ERR_OK) {
        const struct change c = {.inc = w->now.object.stream.inc,
                                 .from = f->is_known ? &w->from.list : NULL,
                                 .to = &w->now.list};
        e = change_list(s, f, &c, &w->now.number[NUMBER_REFUSED], reterr);
    }
    if (e == ERR_OK && w->now.number[NUMBER_REFUSED] != f->refused) {
        e = textfile_write(s->dir, name, &w->now, reterr);
    }
    THEN(e, take_place(s, f, reterr));
    if (e == ERR_OK) {
        know(f, &w->now);
    }
    return e;
}

enum err follow_recover(struct subscription *s, struct follow *f,
                        struct errinfo *reterr)
{
    char name[FILE_NAME_BYTES];
    struct textfile t;
    bool is_next = true;
    file_name_of(f, "next", name);
    enum err e = textfile_read(s->dir, name, &t, reterr);
    if (e == ERR_NOT_FOUND || e == ERR_CORRUPT) {
        is_next = false;
        e = follow_load(s, f, &t, reterr);
    }
    if (e == ERR_NOT_FOUND || e == ERR_CORRUPT) {
        return ERR_OK; /* a SNAP will bring the whole list */
    }
    if (e != ERR_OK) {
        return e;
    }
    const struct stream_key k = list_of(s, f, t.object.stream.inc);
    if (is_next || !list_is_held(s, &k)) {
        const struct change c = {.inc = t.object.stream.inc, .to = &t.list};
        e = change_list(s, f, &c, &t.number[NUMBER_REFUSED], reterr);
    }
    if (e == ERR_OK && is_next) {
        e = take_place(s, f, reterr);
    }
    if (e == ERR_OK) {
        know(f, &t);
    }
    textfile_fini(&t);
    return e;
}
