/* textlist - linear merges of sorted lists, and a list with its place in the chain as a file. */
#include "core/ring/publish/textlist.h"

#include "core/base/array.h"
#include "core/ring/trust/peer_file.h"

#define MARK "GNTL\1\0\0\0" /* of a file, with its version */

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

static enum err room_for_records(struct textlist *t, size_t n)
{
    return array_room(&t->v, &t->size, n, SIZE_MAX / sizeof(*t->v), sizeof(*t->v))
               ? ERR_OK
               : ERR_NOMEM;
}

static enum err push_record(struct textlist *t, const struct list_record *r)
{
    enum err e = t->n == t->size ? room_for_records(t, t->n + 1) : ERR_OK;
    if (e == ERR_OK) {
        t->bytes += textlist_cost(r);
        t->v[t->n++] = *r;
    }
    return e;
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
    return push_record(t, r);
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
    if (e == ERR_OK && room_for_records(&t, (size_t)records + 1) != ERR_OK) {
        e = errinfo_nomem(reterr, "records");
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
    return push_record(to, &r); /* steps may be twice as many as entries */
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

bool textlist_pair_next(struct textlist_pair *p)
{
    const bool has_from = p->a < p->from->n;
    const bool has_to = p->b < p->to->n;
    if (!has_from && !has_to) {
        return false;
    }
    p->order = !has_from ? 1
               : !has_to ? -1
                         : textlist_compare(&p->from->v[p->a], &p->to->v[p->b]);
    p->x = p->order <= 0 ? &p->from->v[p->a++] : NULL;
    p->y = p->order >= 0 ? &p->to->v[p->b++] : NULL;
    return true;
}

enum err textlist_diff(const struct textlist *from, const struct textlist *to,
                       struct textlist *retfirst, struct textlist *retsecond)
{
    struct textlist_pair p = {.from = from, .to = to};
    enum err e = ERR_OK;
    while (e == ERR_OK && textlist_pair_next(&p)) {
        if (p.order < 0) {
            e = add_step(retfirst, p.x, p.x->after, ENTRY_ABSENT);
        } else if (p.order > 0) {
            e = add_step(retfirst, p.y, ENTRY_ABSENT, p.y->after);
        } else {
            e = diff_same(p.x, p.y, retfirst, retsecond);
        }
    }
    return e;
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
    struct textlist_pair p = {.from = from, .to = steps};
    enum err e = room_for_records(&t, from->n + steps->n + 1);
    reterr->code = ERR_OK;
    while (e == ERR_OK && textlist_pair_next(&p)) {
        e = p.order < 0 ? textlist_add(&t, p.x) : take_step(p.x, p.y, &t, reterr);
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

enum err textlist_pack(const struct textlist *t, struct buf *ret, uint64_t *retraw)
{
    struct buf raw;
    buf_init(&raw, TEXTLIST_BYTES_MAX);
    textlist_print(t, &raw);
    enum err e = buf_failed(&raw) ? ERR_NOMEM : ERR_OK;
    THEN(e, raw.n > 0 ? payload_pack(buf_slice(&raw), ret) : ERR_OK);
    *retraw = raw.n;
    buf_fini(&raw);
    return e;
}

enum err textlist_unpack(struct slice packed, uint64_t raw_len, uint64_t records,
                         bool is_snap, struct textlist *ret, struct errinfo *reterr)
{
    struct buf raw;
    enum err e = ERR_OK;
    buf_init(&raw, TEXTLIST_BYTES_MAX);
    THEN(e, raw_len > 0 ? payload_unpack(packed, raw_len, &raw, reterr) : ERR_OK);
    THEN(e, textlist_read(&raw, records, is_snap, ret, reterr));
    buf_fini(&raw);
    return e;
}

enum err textfile_write(const char *dir, const char *name, const struct textfile *f,
                        struct errinfo *reterr)
{
    struct buf packed;
    struct buf all;
    uint64_t raw_len = 0;
    buf_init(&packed, TEXTLIST_PACKED_MAX);
    buf_init(&all, (size_t)TEXTLIST_PACKED_MAX + 1024);
    enum err e = textlist_pack(&f->list, &packed, &raw_len);
    buf_add(&all, SLICE_LIT(MARK));
    buf_add(&all, slice_of(f->header, sizeof(f->header)));
    for (unsigned i = 0; i < TEXTFILE_NUMBERS; i++) {
        buf_add_u64(&all, f->number[i]);
    }
    buf_add_u64(&all, f->list.n);
    buf_add_u64(&all, raw_len);
    buf_add_u64(&all, packed.n);
    buf_add(&all, buf_slice(&packed));
    e = e == ERR_OK ? peer_file_write_hashed(dir, name, &all, reterr)
                    : errinfo_set(reterr, e, dir, 0, "no memory to write %s", name);
    buf_fini(&packed);
    buf_fini(&all);
    return e;
}

static enum err parse_file(struct cursor *c, struct textfile *ret,
                           struct errinfo *reterr)
{
    struct slice header = cursor_bytes(c, OBJECT_HEADER_BYTES);
    for (unsigned i = 0; i < TEXTFILE_NUMBERS; i++) {
        ret->number[i] = cursor_u64(c);
    }
    uint64_t records = cursor_u64(c);
    uint64_t raw_len = cursor_u64(c);
    struct slice packed = cursor_bytes(c, (size_t)cursor_u64(c));
    if (!cursor_done(c) || raw_len > TEXTLIST_BYTES_MAX) {
        return ERR_CORRUPT;
    }
    memcpy(ret->header, header.p, sizeof(ret->header));
    enum err e = object_parse(header, &ret->object, reterr);
    THEN(e, textlist_unpack(packed, raw_len, records, true, &ret->list, reterr));
    return e == ERR_OK || e == ERR_NOMEM ? e : ERR_CORRUPT;
}

enum err textfile_read(const char *dir, const char *name, struct textfile *ret,
                       struct errinfo *reterr)
{
    struct textfile f = {.number = {0}};
    struct cursor c;
    struct buf bytes;
    buf_init(&bytes, (size_t)TEXTLIST_PACKED_MAX + 1024);
    enum err e = peer_file_read_hashed(dir, name, SLICE_LIT(MARK), &bytes, &c, reterr);
    if (e == ERR_OK && (e = parse_file(&c, &f, reterr)) == ERR_CORRUPT) {
        (void)errinfo_set(reterr, e, dir, 0, "%s is damaged", name);
    }
    buf_fini(&bytes);
    if (e != ERR_OK) {
        textfile_fini(&f);
        return e;
    }
    *ret = f;
    return ERR_OK;
}
