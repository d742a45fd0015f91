/* subscription_take - one list at a time, by the chain or by a SNAP, up to its head. */

#include "core/ring/publish/subscription_internal.h"

static const struct object_id no_ring;

/* No object was taken yet: both are one array. */
static bool now_is_from(const struct work *w)
{
    return w->now.list.v == w->from.list.v;
}

void work_end(struct work *w)
{
    if (now_is_from(w)) {
        w->now.list = (struct textlist){0};
    }
    textfile_fini(&w->now);
    textfile_fini(&w->from);
    for (size_t i = 0; i < w->ntaken; i++) {
        textlist_fini(&w->taken[i]);
    }
    *w = (struct work){.f = NULL};
}

static bool is_behind(const struct follow *f, const struct head *row)
{
    if (f->is_given_up || hash256_equal(&f->held, &row->hash)) {
        return false;
    }
    return !f->is_known || !stream_key_equal(&f->stream, &row->stream) ||
           f->seq < row->seq;
}

static bool may_follow(const struct follow *f, const struct head *row)
{
    return f->is_known && stream_key_equal(&f->stream, &row->stream) &&
           f->seq + 1 >= row->from && row->seq - f->seq <= SUBSCRIPTION_CHAIN_MAX;
}

static void fail_list(struct follow *f, const struct errinfo *why)
{
    f->why = *why;
    f->is_given_up = true;
}

/* Loads the list. With a damaged LIST.state a SNAP is taken. */
static void begin_work(struct subscription *s, struct follow *f, const struct head *row)
{
    struct work *w = &s->work;
    struct errinfo why;
    work_end(w);
    w->f = f;
    w->head = *row;
    if (!f->is_known) {
        return;
    }
    enum err e = follow_load(s, f, &w->from, &why);
    if (e == ERR_NOT_FOUND || e == ERR_CORRUPT) {
        f->is_known = false;
    } else if (e != ERR_OK) {
        fail_list(f, &why);
    } else if (may_follow(f, row)) {
        w->has_now = true;
        w->now.object = w->from.object;
        memcpy(w->now.header, w->from.header, sizeof(w->now.header));
        w->now.list = (struct textlist){
            .v = w->from.list.v, .n = w->from.list.n, .bytes = w->from.list.bytes};
    }
}

static bool choose(struct subscription *s)
{
    for (size_t i = 0; s->has_heads && i < s->nfollow; i++) {
        struct follow *f = &s->follow[i];
        const struct head *row = heads_find(s->rows, s->nrows, f->map.theirs);
        if (row && is_behind(f, row)) {
            begin_work(s, f, row);
            if (!f->is_given_up) {
                return true;
            }
            work_end(&s->work);
        } else if (row && !f->is_given_up && !hash256_equal(&f->held, &row->hash)) {
            f->why = (struct errinfo){.code = ERR_OK};
        }
    }
    return false;
}

bool subscription_wants(struct subscription *s, struct subscription_want *ret)
{
    struct work *w = &s->work;
    struct object_id id;
    if (!w->f && !choose(s)) {
        return false;
    }
    stream_key_id(&w->head.stream, &id);
    *ret = (struct subscription_want){.place = s->place, .is_snap = !w->has_now};
    if (w->has_now) {
        repository_path('o', &id, w->now.object.seq + 1, ret->path);
        ret->most_bytes = (uint64_t)OBJECT_HEADER_BYTES + OBJECT_PACKED_MAX;
    } else {
        repository_path('s', &id, w->head.snap_seq, ret->path);
        ret->most_bytes = (uint64_t)OBJECT_HEADER_BYTES + OBJECT_SNAP_PACKED_MAX;
    }
    return true;
}

/* ---- objects ---- */

static enum err refuse_update(struct errinfo *reterr, enum err e, const char *field,
                              const char *why)
{
    return errinfo_set(reterr, e, field, 0, "%s", why);
}

static enum err check_header(const struct subscription *s, struct slice bytes,
                             const struct object *o, struct errinfo *reterr)
{
    const struct head *head = &s->work.head;
    struct hash256 hash;
    if (o->type != OBJECT_DELTA && o->type != OBJECT_SNAP) {
        return refuse_update(reterr, ERR_SYNTAX, "type", "no object of a list");
    }
    if (!stream_key_equal(&o->stream, &head->stream)) {
        return refuse_update(reterr, ERR_RANGE, "stream",
                             "an object of another stream");
    }
    if (!object_id_equal(&o->ring, &no_ring)) {
        return refuse_update(reterr, ERR_RANGE, "ring", "a publisher is of no ring");
    }
    if (o->key_id != object_key_id(s->seen.binding.key) ||
        !object_is_signed_by(bytes, s->seen.binding.key)) {
        return refuse_update(reterr, ERR_KEY, "signature",
                             "the signature is not the publisher's");
    }
    object_hash(bytes, &hash);
    if (o->seq == head->seq && !hash256_equal(&hash, &head->hash)) {
        return refuse_update(reterr, ERR_RANGE, "seq",
                             "not the object that the heads name");
    }
    return ERR_OK;
}

static enum err check_payload(const struct object *o, struct slice payload,
                              struct errinfo *reterr)
{
    if (payload.n != o->sent_len) {
        return refuse_update(reterr, ERR_SYNTAX, "sent_len", "cut off, or too long");
    }
    return object_has_payload(o, payload)
               ? ERR_OK
               : refuse_update(reterr, ERR_CORRUPT, "payload",
                               "the payload has another hash");
}

static enum err unpack_texts(const struct object *o, struct slice payload, bool is_snap,
                             struct textlist *ret, struct errinfo *reterr)
{
    enum err e = check_payload(o, payload, reterr);
    if (e == ERR_OK && o->records > TEXTLIST_ENTRIES_MAX) {
        e = refuse_update(reterr, ERR_LIMIT, "records",
                          "more entries than a list may have");
    }
    THEN(e, textlist_unpack(payload, o->raw_len, o->records, is_snap, ret, reterr));
    return e;
}

static enum err keep_texts(struct work *w, struct textlist *t, struct errinfo *reterr)
{
    if (w->ntaken == SUBSCRIPTION_HELD_MAX) {
        textlist_fini(t);
        return refuse_update(reterr, ERR_LIMIT, "seq",
                             "the chain is longer than it may be");
    }
    w->taken[w->ntaken++] = *t;
    *t = (struct textlist){0};
    return ERR_OK;
}

/* Copies the texts together after many steps, so that the list bounds memory. */
static enum err gather_texts(struct work *w, struct errinfo *reterr)
{
    size_t held = 0;
    struct textlist all = {0};
    for (size_t i = 0; i < w->ntaken; i++) {
        held += w->taken[i].held.n;
    }
    if (held <= TEXTLIST_BYTES_MAX) {
        return ERR_OK;
    }
    if (textlist_copy(&w->now.list, &all) != ERR_OK) {
        return errinfo_nomem(reterr, "");
    }
    for (size_t i = 0; i < w->ntaken; i++) {
        textlist_fini(&w->taken[i]);
    }
    w->ntaken = 0;
    if (!now_is_from(w)) {
        textlist_fini(&w->now.list);
    }
    w->now.list = all;
    return ERR_OK;
}

static enum err take_steps(struct work *w, struct textlist *steps,
                           struct hash256 *retroot, struct errinfo *reterr)
{
    struct textlist next = {0};
    struct root root;
    root_parse(&w->now.object.root, &root);
    root_steps(&root, &no_ring, OBJECT_TEXT, steps->v, steps->n);
    root_print(&root, retroot);
    enum err e = textlist_apply(&w->now.list, steps, &next, reterr);
    if (e != ERR_OK) {
        return e;
    }
    next.held = w->now.list.held; /* of texts that were copied */
    w->now.list.held = (struct buf){.p = NULL};
    if (!now_is_from(w)) {
        textlist_fini(&w->now.list);
    }
    w->now.list = next;
    return keep_texts(w, steps, reterr);
}

static enum err take_chain(struct subscription *s, const struct object *o,
                           struct slice payload, struct errinfo *reterr)
{
    struct work *w = &s->work;
    struct textlist steps = {0};
    struct hash256 hash;
    struct hash256 root = w->now.object.root;
    object_hash(slice_of(w->now.header, OBJECT_HEADER_BYTES), &hash);
    if (o->seq != w->now.object.seq + 1 || !hash256_equal(&o->prev, &hash)) {
        return refuse_update(reterr, ERR_RANGE, "prev",
                             "the object does not follow the one taken before");
    }
    enum err e = ERR_OK;
    if (o->type == OBJECT_DELTA) {
        e = unpack_texts(o, payload, false, &steps, reterr);
        THEN(e, take_steps(w, &steps, &root, reterr));
        textlist_fini(&steps);
    } else if (payload.n != 0) {
        e = refuse_update(reterr, ERR_SYNTAX, "sent_len",
                          "in the chain a SNAP is its header");
    }
    if (e == ERR_OK && !hash256_equal(&root, &o->root)) {
        e = refuse_update(reterr, ERR_RANGE, "root",
                          "the list is not what the object says");
    }
    return e == ERR_OK ? gather_texts(w, reterr) : e;
}

static enum err take_snap(struct subscription *s, struct slice bytes,
                          const struct object *o, struct errinfo *reterr)
{
    struct work *w = &s->work;
    struct textlist all = {0};
    struct hash256 hash;
    object_hash(bytes, &hash);
    if (o->type != OBJECT_SNAP || o->seq != w->head.snap_seq ||
        !hash256_equal(&hash, &w->head.snap)) {
        return refuse_update(reterr, ERR_RANGE, "seq",
                             "not the SNAP that the heads name");
    }
    enum err e =
        unpack_texts(o, slice_from(bytes, OBJECT_HEADER_BYTES), true, &all, reterr);
    if (e != ERR_OK) {
        return e;
    }
    textlist_root(&all, &no_ring, &hash);
    if (!hash256_equal(&hash, &o->root)) {
        textlist_fini(&all);
        return refuse_update(reterr, ERR_RANGE, "root",
                             "the list is not what the object says");
    }
    w->now.list = all;
    w->has_now = true;
    return ERR_OK;
}

/* ---- the end of a list ---- */

static uint64_t count_changes(const struct textlist *from, const struct textlist *to)
{
    struct textlist_pair p = {.from = from, .to = to};
    uint64_t n = 0;
    while (textlist_pair_next(&p)) {
        n += p.order != 0 || p.x->after != p.y->after;
    }
    return n;
}

/* An update that changes too much waits for a person. */
static enum err check_bounds(const struct subscription *s, const struct work *w,
                             struct errinfo *reterr)
{
    const struct follow *f = w->f;
    const size_t had = w->from.list.n;
    if (w->now.list.n > s->most_entries) {
        return errinfo_set(reterr, ERR_LIMIT, f->map.theirs, 0,
                           "held: the list has %zu entries, more than the %" PRIu64
                           " that subscribe.entries allows",
                           w->now.list.n, s->most_entries);
    }
    if (!f->is_known || s->most_change <= 0) {
        return ERR_OK;
    }
    uint64_t changes = count_changes(&w->from.list, &w->now.list);
    if (changes <= SUBSCRIPTION_FREE_CHANGES ||
        (double)changes <= s->most_change * (double)had) {
        return ERR_OK;
    }
    return errinfo_set(reterr, ERR_LIMIT, f->map.theirs, 0,
                       "held: the update changes %" PRIu64 " of %zu entries, more than "
                       "subscribe.change allows; look at the list, then raise it",
                       changes, had);
}

static enum err finish_list(struct subscription *s, struct errinfo *reterr)
{
    struct work *w = &s->work;
    struct follow *f = w->f;
    enum err e = check_bounds(s, w, reterr);
    if (e != ERR_OK) {
        f->held = w->head.hash;
    } else {
        e = follow_apply(s, w, reterr);
    }
    if (e == ERR_OK) {
        f->held = (struct hash256){{0}};
        f->why = (struct errinfo){.code = ERR_OK};
    }
    return e;
}

static enum err take_wanted(struct subscription *s, struct slice bytes,
                            bool *retis_whole, struct errinfo *reterr)
{
    struct work *w = &s->work;
    struct object o;
    enum err e = object_parse(bytes, &o, reterr);
    THEN(e, check_header(s, bytes, &o, reterr));
    THEN(e, w->has_now
                ? take_chain(s, &o, slice_from(bytes, OBJECT_HEADER_BYTES), reterr)
                : take_snap(s, bytes, &o, reterr));
    if (e == ERR_OK) {
        w->now.object = o;
        memcpy(w->now.header, bytes.p, OBJECT_HEADER_BYTES);
        *retis_whole = o.seq == w->head.seq;
    }
    return e;
}

enum err subscription_take(struct subscription *s, struct slice object,
                           struct errinfo *reterr)
{
    struct work *w = &s->work;
    struct errinfo why = {.code = ERR_OK};
    bool is_whole = false;
    enum err e = take_wanted(s, object, &is_whole, &why);
    if (e == ERR_OK && is_whole) {
        e = finish_list(s, &why);
    }
    if (e != ERR_OK) {
        fail_list(w->f, &why);
        *reterr = why;
    }
    if (e != ERR_OK || is_whole) {
        work_end(w);
    }
    return e;
}

void subscription_give_up(struct subscription *s)
{
    struct errinfo why;
    if (s->work.f) {
        (void)errinfo_set(&why, ERR_NOT_FOUND, s->work.f->map.theirs, 0,
                          "an object of the list could not be fetched");
        fail_list(s->work.f, &why);
    }
    work_end(&s->work);
}
