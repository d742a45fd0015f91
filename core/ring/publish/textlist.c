/* textlist - linear merges of two sorted sequences, and a signed place in the chain with its state in one file. */
#include "core/ring/publish/textlist.h"

#include "core/base/cursor.h"
#include "core/ring/trust/peer_file.h"

enum { FIRST_SIZE = 64, FILE_VERSION = 1 };

static const char magic[4] = {'G', 'N', 'T', 'L'};

void textlist_fini(struct textlist *t)
{
    free(t->v);
    buf_fini(&t->held);
    *t = (struct textlist){0};
}

int textlist_compare(const struct list_record *a, const struct list_record *b)
{
    if (a->type != b->type) {
        return a->type < b->type ? -1 : 1;
    }
    return slice_cmp(a->text, b->text);
}

static enum err make_room(struct textlist *t, size_t n)
{
    if (n <= t->size) {
        return ERR_OK;
    }
    struct list_record *v = reallocarray(t->v, n, sizeof(*v));
    if (!v) {
        return ERR_NOMEM;
    }
    t->v = v;
    t->size = n;
    return ERR_OK;
}

static enum err push(struct textlist *t, const struct list_record *r)
{
    if (t->n == t->size) {
        enum err e = make_room(t, t->size == 0 ? FIRST_SIZE : 2 * t->size);
        if (e != ERR_OK) {
            return e;
        }
    }
    t->bytes += textlist_cost(r);
    t->v[t->n++] = *r;
    return ERR_OK;
}

size_t textlist_cost(const struct list_record *r)
{
    return r->text.n + (PAYLOAD_TEXT_MAX - PAYLOAD_TEXT_BYTES_MAX);
}

enum err textlist_add(struct textlist *t, const struct list_record *r)
{
    if (t->n >= TEXTLIST_ENTRIES_MAX || r->text.n > PAYLOAD_TEXT_BYTES_MAX ||
        t->bytes + textlist_cost(r) > TEXTLIST_BYTES_MAX) {
        return ERR_LIMIT;
    }
    return push(t, r);
}

/* ---- order ---- */

static void merge_halves(const struct list_record *from, size_t half, size_t n,
                         struct list_record *to)
{
    size_t a = 0;
    size_t b = half;
    for (size_t i = 0; i < n; i++) {
        bool takes_b = a == half || (b < n && textlist_compare(&from[b], &from[a]) < 0);
        to[i] = from[takes_b ? b++ : a++];
    }
}

/* Stable, bottom up. False without memory for a copy. */
static bool sort_records(struct textlist *t)
{
    struct list_record *other = calloc(t->n + 1, sizeof(*other));
    if (!other) {
        return false;
    }
    for (size_t width = 1; width < t->n; width *= 2) {
        for (size_t at = 0; at < t->n; at += 2 * width) {
            size_t left = t->n - at;
            size_t n = left < 2 * width ? left : 2 * width;
            merge_halves(t->v + at, n < width ? n : width, n, other + at);
        }
        struct list_record *swap = t->v;
        t->v = other;
        other = swap;
        t->size = t->n + 1;
    }
    free(other);
    return true;
}

enum err textlist_sort(struct textlist *t)
{
    if (t->n < 2) {
        return ERR_OK;
    }
    if (!sort_records(t)) {
        return ERR_NOMEM;
    }
    size_t kept = 1;
    for (size_t i = 1; i < t->n; i++) {
        if (textlist_compare(&t->v[i], &t->v[kept - 1]) != 0) {
            t->v[kept++] = t->v[i];
        }
    }
    t->n = kept;
    return ERR_OK;
}

/* ---- as bytes ---- */

enum err textlist_read(struct buf *raw, uint64_t records, bool is_snap,
                       struct textlist *ret, struct errinfo *reterr)
{
    struct textlist t = {.held = *raw};
    struct payload_reader reader;
    struct list_record r;
    buf_init(raw, raw->max);
    enum err e = records <= TEXTLIST_ENTRIES_MAX
                     ? ERR_OK
                     : errinfo_set(reterr, ERR_LIMIT, "records", 0,
                                   "a published list has at most %d entries",
                                   TEXTLIST_ENTRIES_MAX);
    THEN(e, payload_reader_init(&reader, OBJECT_TEXT, is_snap, records,
                                buf_slice(&t.held), reterr));
    if (e == ERR_OK && make_room(&t, (size_t)records + 1) != ERR_OK) {
        e = errinfo_set(reterr, ERR_NOMEM, "", 0, "no memory for a published list");
    }
    while (e == ERR_OK && payload_next_list(&reader, &r)) {
        e = textlist_add(&t, &r);
        if (e != ERR_OK) {
            (void)errinfo_set(reterr, e, "records", 0,
                              "a published list is larger than %d bytes",
                              TEXTLIST_BYTES_MAX);
        }
    }
    if (e != ERR_OK) {
        textlist_fini(&t);
        return e;
    }
    *ret = t;
    return ERR_OK;
}

void textlist_print(const struct textlist *t, struct buf *ret)
{
    payload_print_texts(t->v, t->n, ret);
}

void textlist_root(const struct textlist *t, const struct object_id *ring,
                   struct hash256 *ret)
{
    struct root root = {{0}};
    root_steps(&root, ring, OBJECT_TEXT, t->v, t->n);
    root_print(&root, ret);
}

/* ---- differences ---- */

static enum err add_step(struct textlist *to, const struct list_record *entry,
                         unsigned before, unsigned after)
{
    struct list_record r = *entry;
    r.before = (uint8_t)before;
    r.after = (uint8_t)after;
    return push(to, &r); /* steps may be twice as many as entries */
}

static enum err diff_same(const struct list_record *a, const struct list_record *b,
                          struct textlist *first, struct textlist *second)
{
    if (a->expiry_h == b->expiry_h) {
        return a->after == b->after ? ERR_OK : add_step(first, a, a->after, b->after);
    }
    enum err e = add_step(first, a, a->after, ENTRY_ABSENT);
    return e == ERR_OK ? add_step(second, b, ENTRY_ABSENT, b->after) : e;
}

enum err textlist_diff(const struct textlist *from, const struct textlist *to,
                       struct textlist *retfirst, struct textlist *retsecond)
{
    struct textlist first = {0};
    struct textlist second = {0};
    enum err e = ERR_OK;
    size_t a = 0;
    size_t b = 0;
    while (e == ERR_OK && (a < from->n || b < to->n)) {
        int order = a == from->n ? 1
                    : b == to->n ? -1
                                 : textlist_compare(&from->v[a], &to->v[b]);
        if (order < 0) {
            e = add_step(&first, &from->v[a], from->v[a].after, ENTRY_ABSENT);
        } else if (order > 0) {
            e = add_step(&first, &to->v[b], ENTRY_ABSENT, to->v[b].after);
        } else {
            e = diff_same(&from->v[a], &to->v[b], &first, &second);
        }
        a += order <= 0;
        b += order >= 0;
    }
    if (e != ERR_OK) {
        textlist_fini(&first);
        textlist_fini(&second);
        return e;
    }
    *retfirst = first;
    *retsecond = second;
    return ERR_OK;
}

/* held: NULL when the list has no such entry. */
static bool step_fits(const struct list_record *held, const struct list_record *step)
{
    if (!held) {
        return step->before == ENTRY_ABSENT;
    }
    return step->before == held->after && step->expiry_h == held->expiry_h;
}

static enum err take_step(const struct list_record *held,
                          const struct list_record *step, struct textlist *to,
                          struct errinfo *reterr)
{
    struct list_record r = *step;
    if (!step_fits(held, step)) {
        return errinfo_set(reterr, ERR_RANGE, "step", 0,
                           "a step begins at a state that the entry does not have");
    }
    r.before = ENTRY_ABSENT;
    return r.after == ENTRY_ABSENT ? ERR_OK : textlist_add(to, &r);
}

enum err textlist_apply(const struct textlist *from, const struct textlist *steps,
                        struct textlist *ret, struct errinfo *reterr)
{
    struct textlist t = {0};
    enum err e = make_room(&t, from->n + steps->n + 1);
    size_t a = 0;
    size_t b = 0;
    reterr->code = ERR_OK;
    while (e == ERR_OK && (a < from->n || b < steps->n)) {
        int order = a == from->n    ? 1
                    : b == steps->n ? -1
                                    : textlist_compare(&from->v[a], &steps->v[b]);
        if (order < 0) {
            e = textlist_add(&t, &from->v[a]);
        } else {
            e = take_step(order == 0 ? &from->v[a] : NULL, &steps->v[b], &t, reterr);
        }
        a += order <= 0;
        b += order >= 0;
    }
    if (e != ERR_OK) {
        textlist_fini(&t);
        return reterr->code != ERR_OK
                   ? e
                   : errinfo_set(reterr, e, "", 0,
                                 "a published list has at most %d entries",
                                 TEXTLIST_ENTRIES_MAX);
    }
    *ret = t;
    return ERR_OK;
}

enum err textlist_copy(const struct textlist *from, struct textlist *ret)
{
    struct textlist t = {0};
    struct errinfo why;
    buf_init(&t.held, TEXTLIST_BYTES_MAX);
    textlist_print(from, &t.held);
    if (buf_failed(&t.held)) {
        buf_fini(&t.held);
        return ERR_NOMEM;
    }
    return textlist_read(&t.held, from->n, true, ret, &why);
}

/* ---- in a file ---- */

void textfile_fini(struct textfile *f)
{
    textlist_fini(&f->list);
    *f = (struct textfile){0};
}

static void print_file(const struct textfile *f, struct slice packed, size_t raw,
                       struct buf *ret)
{
    struct hash256 hash;
    buf_add(ret, slice_of(magic, sizeof(magic)));
    buf_add_u32(ret, FILE_VERSION);
    buf_add(ret, slice_of(f->header, sizeof(f->header)));
    for (unsigned i = 0; i < TEXTFILE_NUMBERS; i++) {
        buf_add_u64(ret, f->number[i]);
    }
    buf_add_u64(ret, f->list.n);
    buf_add_u64(ret, raw);
    buf_add_u64(ret, packed.n);
    buf_add(ret, packed);
    hash256_of(buf_slice(ret), &hash);
    buf_add(ret, slice_of(hash.b, sizeof(hash.b)));
}

enum err textfile_write(const char *dir, const char *name, const struct textfile *f,
                        struct errinfo *reterr)
{
    struct buf raw;
    struct buf packed;
    struct buf all;
    buf_init(&raw, TEXTLIST_BYTES_MAX);
    buf_init(&packed, TEXTLIST_PACKED_MAX);
    buf_init(&all, (size_t)TEXTLIST_PACKED_MAX + 1024);
    textlist_print(&f->list, &raw);
    enum err e = buf_failed(&raw) ? ERR_NOMEM : ERR_OK;
    THEN(e, raw.n > 0 ? payload_pack(buf_slice(&raw), &packed) : ERR_OK);
    if (e == ERR_OK) {
        print_file(f, buf_slice(&packed), raw.n, &all);
        e = buf_failed(&all) ? ERR_NOMEM : ERR_OK;
    }
    if (e != ERR_OK) {
        e = errinfo_set(reterr, e, dir, 0, "no memory to write %s", name);
    } else {
        e = peer_file_write(dir, name, buf_slice(&all), PEER_FILE_MODE, reterr);
    }
    buf_fini(&raw);
    buf_fini(&packed);
    buf_fini(&all);
    return e;
}

static enum err damaged(const char *dir, const char *name, struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_CORRUPT, dir, 0, "%s is damaged", name);
}

static enum err parse_file(struct slice bytes, struct textfile *ret,
                           struct errinfo *reterr)
{
    struct hash256 hash;
    if (bytes.n < HASH256_BYTES) {
        return ERR_CORRUPT;
    }
    size_t n = bytes.n - HASH256_BYTES;
    hash256_of(slice_head(bytes, n), &hash);
    if (memcmp(hash.b, bytes.p + n, HASH256_BYTES) != 0) {
        return ERR_CORRUPT;
    }
    struct cursor c = cursor_of(slice_head(bytes, n));
    struct slice mark = cursor_bytes(&c, sizeof(magic));
    if (!slice_eq(mark, slice_of(magic, sizeof(magic))) ||
        cursor_u32(&c) != FILE_VERSION) {
        return ERR_CORRUPT;
    }
    struct slice header = cursor_bytes(&c, OBJECT_HEADER_BYTES);
    for (unsigned i = 0; i < TEXTFILE_NUMBERS; i++) {
        ret->number[i] = cursor_u64(&c);
    }
    uint64_t records = cursor_u64(&c);
    uint64_t raw_len = cursor_u64(&c);
    struct slice packed = cursor_bytes(&c, (size_t)cursor_u64(&c));
    if (!cursor_done(&c) || raw_len > TEXTLIST_BYTES_MAX) {
        return ERR_CORRUPT;
    }
    memcpy(ret->header, header.p, sizeof(ret->header));
    enum err e = object_parse(header, &ret->object, reterr);
    struct buf raw;
    buf_init(&raw, TEXTLIST_BYTES_MAX);
    THEN(e, raw_len > 0 ? payload_unpack(packed, raw_len, &raw, reterr) : ERR_OK);
    THEN(e, textlist_read(&raw, records, true, &ret->list, reterr));
    buf_fini(&raw);
    return e == ERR_OK || e == ERR_NOMEM ? e : ERR_CORRUPT;
}

enum err textfile_read(const char *dir, const char *name, struct textfile *ret,
                       struct errinfo *reterr)
{
    struct textfile f = {.number = {0}};
    struct buf bytes;
    buf_init(&bytes, (size_t)TEXTLIST_PACKED_MAX + 1024);
    enum err e = peer_file_read(dir, name, &bytes, reterr);
    if (e == ERR_OK) {
        e = parse_file(buf_slice(&bytes), &f, reterr);
        if (e == ERR_CORRUPT) {
            (void)damaged(dir, name, reterr);
        }
    }
    buf_fini(&bytes);
    if (e != ERR_OK) {
        textfile_fini(&f);
        return e;
    }
    *ret = f;
    return ERR_OK;
}
