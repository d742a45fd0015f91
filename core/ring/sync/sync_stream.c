/* sync_stream - streams in a hash table, and their cursors in the table on disk. */

#include "core/base/cursor.h"
#include "core/base/log.h"
#include "core/ring/stream/object_internal.h"
#include "core/ring/sync/sync_modules.h"

enum {
    SLOTS_MIN = 1024,
    CURSOR_BYTES = 512,
    CURSOR_LEFT = 1, /* flags of a cursor */
    GRAVE_BYTES = OBJECT_ID_BYTES + 8
};

/* ---- in memory ---- */

static size_t stream_slot(const struct sync *s, const struct object_id *id)
{
    return (size_t)hash_local(slice_of(id->b, OBJECT_ID_BYTES)) & (s->nslots - 1);
}

struct stream *sync_find(const struct sync *s, const struct object_id *id)
{
    struct stream *st = s->nslots ? s->slots[stream_slot(s, id)] : NULL;
    while (st && !object_id_equal(&st->id, id)) {
        st = st->next;
    }
    return st;
}

struct origin *sync_origin(const struct sync *s, const struct object_id *id)
{
    for (unsigned i = 0; i < s->norigins; i++) {
        if (object_id_equal(&s->origins[i]->id, id)) {
            return s->origins[i];
        }
    }
    return NULL;
}

static bool grow_slots(struct sync *s)
{
    const size_t n = s->nslots ? 2 * s->nslots : SLOTS_MIN;
    struct stream **old = s->slots;
    const size_t nold = s->nslots;
    struct stream **slots = calloc(n, sizeof(struct stream *));
    if (!slots) {
        return false;
    }
    s->slots = slots;
    s->nslots = n;
    for (size_t i = 0; i < nold; i++) {
        while (old[i]) {
            struct stream *st = old[i];
            old[i] = st->next;
            struct stream **slot = &slots[stream_slot(s, &st->id)];
            st->next = *slot;
            *slot = st;
        }
    }
    free(old);
    return true;
}

struct stream *sync_add(struct sync *s, const struct stream_key *key,
                        struct origin *origin)
{
    struct stream *st = NULL;
    if (s->nstreams < s->nslots || grow_slots(s)) {
        st = calloc(1, sizeof(*st));
    }
    if (!st) {
        return NULL;
    }
    st->key = *key;
    stream_key_id(key, &st->id);
    st->from = 1;
    st->origin = origin;
    st->of_origin = origin->streams;
    origin->streams = st;
    origin->nstreams++;
    struct stream **slot = &s->slots[stream_slot(s, &st->id)];
    st->next = *slot;
    *slot = st;
    s->nstreams++;
    return st;
}

void sync_forget(struct sync *s, struct stream *st)
{
    struct stream **p = &s->slots[stream_slot(s, &st->id)];
    while (*p != st) {
        p = &(*p)->next;
    }
    *p = st->next;
    p = &st->origin->streams;
    while (*p != st) {
        p = &(*p)->of_origin;
    }
    *p = st->of_origin;
    st->origin->nstreams--;
    st->origin->bytes -= st->bytes;
    s->nstreams--;
    if (st->writer) {
        stream_writer_close(&st->writer);
        s->nwriters--;
    }
    free(st);
}

struct stream *sync_newest(const struct origin *o, uint16_t kind, const char *list)
{
    struct stream *best = NULL;
    for (struct stream *st = o->streams; st; st = st->of_origin) {
        if (st->key.kind == kind && strcmp(st->key.list, list) == 0 &&
            (!best || st->key.inc > best->key.inc)) {
            best = st;
        }
    }
    return best;
}

/* ---- on disk ---- */

struct slice sync_table_key(char letter, const struct object_id *id,
                            char ret[SYNC_KEY_BYTES])
{
    ret[0] = letter;
    memcpy(ret + 1, id->b, OBJECT_ID_BYTES);
    return slice_of(ret, SYNC_KEY_BYTES);
}

enum err sync_put_number(struct table_txn *x, const char *name, uint64_t v)
{
    struct buf b;
    buf_init(&b, sizeof(v));
    buf_add_u64(&b, v);
    enum err e =
        buf_failed(&b) ? ERR_NOMEM : table_put(x, slice_str(name), buf_slice(&b));
    buf_fini(&b);
    return e;
}

uint64_t sync_get_number(struct table_txn *x, const char *name)
{
    struct slice value = SLICE_NONE;
    (void)table_get(x, slice_str(name), &value);
    struct cursor c = cursor_of(value);
    return cursor_u64(&c);
}

struct removal {
    sync_due_fn *is_due;
    const void *context;
    char (*keys)[SYNC_KEY_BYTES];
    size_t n;
};

static bool note_due(void *context, struct slice key, struct slice value,
                     bool is_damaged)
{
    struct removal *r = context;
    if (key.n == SYNC_KEY_BYTES && !is_damaged && r->is_due(r->context, value)) {
        memcpy(r->keys[r->n++], key.p, key.n);
    }
    return r->n < SYNC_KEYS_MAX;
}

enum err sync_remove_due(struct sync *s, const char *letter, sync_due_fn *is_due,
                         const void *context, size_t *retn, struct errinfo *reterr)
{
    struct table_txn *x = NULL;
    struct removal r = {.is_due = is_due,
                        .context = context,
                        .keys = calloc(SYNC_KEYS_MAX, sizeof(*r.keys))};
    enum err e = r.keys ? table_begin(s->table, true, &x, reterr)
                        : errinfo_nomem(reterr, s->dir);
    if (e == ERR_OK) {
        e = table_each(x, slice_str(letter), note_due, &r);
        for (size_t i = 0; i < r.n && e == ERR_OK; i++) {
            e = table_remove(x, slice_of(r.keys[i], SYNC_KEY_BYTES));
        }
        e = e == ERR_OK
                ? table_commit(&x, reterr)
                : errinfo_set(reterr, e, s->dir, 0,
                              "cannot remove entries of the table: %s", err_text(e));
        table_abort(&x);
    }
    *retn = r.n;
    free(r.keys);
    return e;
}

enum err sync_put_cursor(struct table_txn *x, const struct stream *st)
{
    struct buf b;
    struct hash256 root;
    char key[SYNC_KEY_BYTES];
    buf_init(&b, CURSOR_BYTES);
    stream_key_print(&st->key, &b);
    root_print(&st->root, &root);
    buf_add_u16(&b, st->flags);
    buf_add_u16(&b, st->is_left ? CURSOR_LEFT : 0);
    buf_add(&b, slice_of(st->hash.b, HASH256_BYTES));
    buf_add(&b, slice_of(root.b, HASH256_BYTES));
    buf_add(&b, slice_of(st->snap.b, HASH256_BYTES));
    const uint64_t numbers[] = {st->key_id,     st->seq,     st->from,   st->snap_seq,
                                st->records,    st->total,   st->bytes,  st->snap_bytes,
                                st->changed_ms, st->applied, st->own_seq};
    for (size_t i = 0; i < LENGTH(numbers); i++) {
        buf_add_u64(&b, numbers[i]);
    }
    enum err e = buf_failed(&b)
                     ? ERR_NOMEM
                     : table_put(x, sync_table_key('s', &st->id, key), buf_slice(&b));
    buf_fini(&b);
    return e;
}

/* ret: zeros. */
static bool read_cursor(struct slice bytes, struct stream *ret)
{
    struct cursor c = cursor_of(bytes);
    struct hash256 root = {{0}};
    bool is_good = stream_key_read(&c, &ret->key);
    ret->flags = cursor_u16(&c);
    ret->is_left = (cursor_u16(&c) & CURSOR_LEFT) != 0;
    cursor_copy(&c, ret->hash.b, HASH256_BYTES);
    cursor_copy(&c, root.b, HASH256_BYTES);
    cursor_copy(&c, ret->snap.b, HASH256_BYTES);
    root_parse(&root, &ret->root);
    uint64_t *const numbers[] = {&ret->key_id,   &ret->seq,        &ret->from,
                                 &ret->snap_seq, &ret->records,    &ret->total,
                                 &ret->bytes,    &ret->snap_bytes, &ret->changed_ms,
                                 &ret->applied,  &ret->own_seq};
    for (size_t i = 0; i < LENGTH(numbers); i++) {
        *numbers[i] = cursor_u64(&c);
    }
    return is_good && cursor_done(&c);
}

struct loading {
    struct sync *s;
    enum err e;
    size_t ndamaged;
};

static bool load_one(void *context, struct slice key, struct slice value,
                     bool is_damaged)
{
    struct loading *l = context;
    struct stream read = {0};
    struct origin *o = NULL;
    if (key.n != SYNC_KEY_BYTES) {
        return true;
    }
    if (is_damaged || !read_cursor(value, &read) || !sync_is_exchanged(read.key.kind)) {
        l->ndamaged++;
        return true;
    }
    o = sync_origin(l->s, &read.key.origin);
    if (!o) {
        return true; /* a dropped origin: its files are removed next */
    }
    struct stream *st = sync_add(l->s, &read.key, o);
    if (!st) {
        l->e = ERR_NOMEM;
        return false;
    }
    read.id = st->id;
    read.origin = o;
    read.next = st->next;
    read.of_origin = st->of_origin;
    read.version = sync_bump(l->s);
    *st = read;
    o->bytes += st->bytes;
    return true;
}

enum err sync_load_streams(struct sync *s, struct errinfo *reterr)
{
    struct loading l = {.s = s};
    struct table_txn *x = NULL;
    enum err e = table_begin(s->table, false, &x, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = table_each(x, SLICE_LIT("s"), load_one, &l);
    table_abort(&x);
    THEN(e, l.e);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, s->dir, 0, "cannot read the cursors: %s",
                           err_text(e));
    }
    if (l.ndamaged > 0) {
        struct errinfo why;
        (void)errinfo_set(&why, ERR_CORRUPT, s->dir, 0,
                          "%zu cursors in the table are damaged: their streams are "
                          "fetched again",
                          l.ndamaged);
        log_errinfo("peers", &why);
    }
    return ERR_OK;
}

enum err sync_save(struct sync *s, const struct stream *st, struct errinfo *reterr)
{
    struct table_txn *x = NULL;
    enum err e = table_begin(s->table, true, &x, reterr);
    if (e != ERR_OK) {
        return e;
    }
    (void)sync_put_cursor(x, st); /* kept for the commit */
    return table_commit(&x, reterr);
}

enum err sync_erase(struct sync *s, struct stream *st, bool has_grave,
                    struct errinfo *reterr)
{
    char key[SYNC_KEY_BYTES];
    struct table_txn *x = NULL;
    enum err e = table_begin(s->table, true, &x, reterr);
    if (e != ERR_OK) {
        return e;
    }
    (void)table_remove(x, sync_table_key('s', &st->id, key));
    if (has_grave) {
        struct buf b;
        buf_init(&b, GRAVE_BYTES);
        buf_add(&b, slice_of(st->key.origin.b, OBJECT_ID_BYTES));
        buf_add_u64(&b, st->key.start_s);
        e = buf_failed(&b)
                ? ERR_NOMEM
                : table_put(x, sync_table_key('t', &st->id, key), buf_slice(&b));
        buf_fini(&b);
    }
    if (e != ERR_OK) {
        table_abort(&x);
        return errinfo_set(reterr, e, s->dir, 0,
                           "cannot remove the cursor of a stream: %s", err_text(e));
    }
    e = table_commit(&x, reterr);
    if (e == ERR_OK) {
        sync_remove_objects(s, st);
        sync_forget(s, st);
    }
    return e;
}

bool sync_is_buried(struct sync *s, const struct object_id *id)
{
    char key[SYNC_KEY_BYTES];
    struct slice value;
    struct table_txn *x = NULL;
    if (table_begin(s->table, false, &x, NULL) != ERR_OK) {
        return true; /* a missing stream is better than one that counts twice */
    }
    enum err e = table_get(x, sync_table_key('t', id, key), &value);
    table_abort(&x);
    return e != ERR_NOT_FOUND;
}
