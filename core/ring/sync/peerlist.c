/* peerlist - steps and snapshots of an origin's list: checked, then durable, then applied. */
#include "core/ring/sync/peerlist.h"

#include "core/ring/sync/peerlist_internal.h"

enum { RENEW_EVERY = 64 /* changes; a large one by itself */ };

/* ---- records and states ---- */

static struct mirror_entry state_of(const struct list_record *r)
{
    return (struct mirror_entry){.digest = r->digest,
                                 .class_type = r->type,
                                 .status = r->after,
                                 .expiry_s = r->expiry_h * PEERLIST_HOUR_S};
}

struct list_record peerlist_record(const struct mirror_entry *entry)
{
    return (struct list_record){.digest = entry->digest,
                                .before = ENTRY_ABSENT,
                                .after = entry->status,
                                .type = entry->class_type,
                                .expiry_h = entry->expiry_s / PEERLIST_HOUR_S};
}

/* ---- check ---- */

static enum err refuse_entry(const struct object *o, enum err code, uint64_t at,
                             const char *what, struct errinfo *reterr)
{
    return errinfo_set(reterr, code, o->stream.list, 0, "record %" PRIu64 ": %s", at,
                       what);
}

/* Compares one record with the list (look NULL: the list is empty). */
static enum err check_record(const struct mirror_lookup *look, const struct object *o,
                             uint64_t at, const struct list_record *r,
                             struct errinfo *reterr)
{
    struct mirror_entry held = {.digest = r->digest};
    if (r->expiry_h > PEERLIST_EXPIRY_MAX_H) {
        return refuse_entry(o, ERR_RANGE, at, "its expiry is beyond all times", reterr);
    }
    enum err e = look ? mirror_lookup_get(look, &held, reterr) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    if (held.status != r->before) {
        return refuse_entry(o, ERR_RANGE, at,
                            "its state before is not that of the list", reterr);
    }
    struct mirror_entry said = state_of(r);
    if (held.status != ENTRY_ABSENT &&
        (held.class_type != said.class_type || held.expiry_s != said.expiry_s)) {
        return refuse_entry(o, ERR_RANGE, at,
                            "its type or expiry is not that of the list", reterr);
    }
    return ERR_OK;
}

static enum err check_all(const struct list_writer *w, const struct object *o,
                          const struct payload_reader *records, struct errinfo *reterr)
{
    struct payload_reader in = *records;
    struct list_record r;
    uint64_t n = w ? mirror_count(w) : 0;
    uint64_t at = 0;
    struct mirror_lookup *look = NULL;
    enum err e = w ? mirror_lookup_new(w, &look, reterr) : ERR_OK;
    while (e == ERR_OK && payload_next_list(&in, &r)) {
        e = check_record(look, o, at++, &r, reterr);
        n += r.before == ENTRY_ABSENT;
        n -= r.after == ENTRY_ABSENT;
    }
    mirror_lookup_free(&look);
    if (e == ERR_OK && n > PEERLIST_ENTRIES_MAX) {
        e = errinfo_set(reterr, ERR_LIMIT, o->stream.list, 0,
                        "%" PRIu64 " entries, %d are the most of one list", n,
                        PEERLIST_ENTRIES_MAX);
    }
    return e;
}

enum err peerlist_check(struct peerlists *p, const struct object *o,
                        const struct payload_reader *records, struct errinfo *reterr)
{
    struct owner owner;
    struct held *h = NULL;
    enum err e = owner_read(p, &o->stream, &owner, reterr);
    if (e != ERR_OK) {
        return e;
    }
    bool is_held = owner_is(&owner, &o->stream);
    if (!is_held) {
        e = owner_may_become(p, &owner, &o->stream, reterr);
        if (e == ERR_OK && o->type != OBJECT_SNAP && o->seq != 1) {
            e = errinfo_set(reterr, ERR_RANGE, o->stream.list, 0,
                            "the list before these changes is not held");
        }
        if (e == ERR_OK && !keyring_find(p->keys, o->stream.ring_key)) {
            e = errinfo_set(reterr, ERR_KEY, o->stream.list, 0,
                            "its digests are of the digest key %08" PRIx32
                            ", which keys/digest.key does not hold",
                            o->stream.ring_key);
        }
    } else if (o->type != OBJECT_SNAP) {
        e = held_open(p, &o->stream, &h, reterr);
    }
    return e == ERR_OK ? check_all(h ? h->w : NULL, o, records, reterr) : e;
}

/* ---- apply ---- */

static bool next_record(void *context, struct mirror_entry *ret)
{
    struct list_record r;
    if (!payload_next_list(context, &r)) {
        return false;
    }
    *ret = state_of(&r);
    return true;
}

/* The changes that make the list equal to the records: a walk of both. */
struct replacing {
    struct payload_reader records;
    struct mirror_iter *walk;
    struct mirror_entry said;
    struct mirror_entry held;
    bool has_said;
    bool has_held;
    enum err failed;
};

static void next_held(struct replacing *x)
{
    x->has_held = mirror_iter_next(x->walk, &x->held, &x->failed);
}

static bool next_change(void *context, struct mirror_entry *ret)
{
    struct replacing *x = context;
    while (x->has_said || x->has_held) {
        int order = !x->has_said   ? 1
                    : !x->has_held ? -1
                                   : digest_cmp(&x->said.digest, &x->held.digest);
        struct mirror_entry said = x->said;
        struct mirror_entry held = x->held;
        if (order <= 0) {
            x->has_said = next_record(&x->records, &x->said);
        }
        if (order >= 0) {
            next_held(x);
        }
        if (order > 0) {
            held.status = 0;
            *ret = held;
            return true;
        }
        if (order < 0 || said.status != held.status ||
            said.class_type != held.class_type || said.expiry_s != held.expiry_s) {
            *ret = said;
            return true;
        }
    }
    return false;
}

static enum err replacing_begin(struct replacing *x, struct list_writer *w,
                                const struct payload_reader *records,
                                struct errinfo *reterr)
{
    *x = (struct replacing){.records = *records};
    enum err e = mirror_iter_new(w, &x->walk, reterr);
    if (e == ERR_OK) {
        x->has_said = next_record(&x->records, &x->said);
        next_held(x);
    }
    return e;
}

struct gathered {
    struct mirror_entry *v;
    uint64_t n;
    uint64_t at;
};

static bool next_gathered(void *context, struct mirror_entry *ret)
{
    struct gathered *g = context;
    if (g->at == g->n) {
        return false;
    }
    *ret = g->v[g->at++];
    return true;
}

static enum err replacing_failed(const struct replacing *x, struct errinfo *reterr)
{
    return x->failed == ERR_OK
               ? ERR_OK
               : errinfo_set(reterr, x->failed, "", 0, "a peer's list is damaged");
}

/* Counts the changes and keeps the first of them. */
static enum err count_changes(struct list_writer *w,
                              const struct payload_reader *records,
                              struct gathered *ret, struct errinfo *reterr)
{
    struct replacing x;
    struct mirror_entry s;
    enum err e = replacing_begin(&x, w, records, reterr);
    while (e == ERR_OK && next_change(&x, &s)) {
        if (ret->n < MIRROR_BULK_MIN) {
            ret->v[ret->n] = s;
        }
        ret->n++;
    }
    THEN(e, replacing_failed(&x, reterr));
    mirror_iter_free(&x.walk);
    return e;
}

/* For an empty list, mostly with its first object. */
static enum err fill_list(struct list_writer *w, const struct payload_reader *records,
                          struct slice source, struct errinfo *reterr)
{
    struct payload_reader in = *records;
    return mirror_apply(w, next_record, &in, in.n, source, reterr);
}

/* Merging a few changes ends the walk, so they are collected before. */
static enum err replace_list(struct list_writer *w,
                             const struct payload_reader *records, struct slice source,
                             struct errinfo *reterr)
{
    struct gathered few = {.v = calloc(MIRROR_BULK_MIN, sizeof(*few.v))};
    if (!few.v) {
        return errinfo_nomem(reterr, "");
    }
    enum err e = count_changes(w, records, &few, reterr);
    if (e == ERR_OK && few.n < MIRROR_BULK_MIN) {
        e = mirror_apply(w, next_gathered, &few, few.n, source, reterr);
    } else if (e == ERR_OK) {
        struct replacing x;
        e = replacing_begin(&x, w, records, reterr);
        THEN(e, mirror_apply(w, next_change, &x, few.n, source, reterr));
        THEN(e, replacing_failed(&x, reterr));
        mirror_iter_free(&x.walk);
    }
    free(few.v);
    return e;
}

enum err peerlist_apply(struct peerlists *p, const struct object *o, const char *name,
                        const struct payload_reader *records, struct errinfo *reterr)
{
    struct owner owner;
    struct held *h = NULL;
    char source[LIST_SOURCE_MAX];
    enum err e = owner_read(p, &o->stream, &owner, reterr);
    THEN(e, held_open(p, &o->stream, &h, reterr));
    if (e != ERR_OK) {
        return e;
    }
    held_settle(p, h);
    (void)snprintf(source, sizeof(source), "peer:%s", name);
    bool is_held = owner_is(&owner, &o->stream);
    if (is_held && o->type != OBJECT_SNAP) {
        struct payload_reader in = *records;
        e = mirror_apply(h->w, next_record, &in, o->records, slice_str(source), reterr);
    } else {
        e = (mirror_is_empty(h->w) ? fill_list : replace_list)(
            h->w, records, slice_str(source), reterr);
    }
    if (e == ERR_OK && !is_held) {
        e = owner_write(p, &o->stream, reterr);
    }
    if (e != ERR_OK) {
        held_close(h); /* its memory may differ from the disk */
        return e;
    }
    h->changes += o->records >= MIRROR_BULK_MIN ? RENEW_EVERY : 1;
    return h->changes >= RENEW_EVERY ? held_renew(p, h, name, reterr) : ERR_OK;
}

/* ---- asking ---- */

enum err held_of(struct peerlists *p, const struct stream_key *k, struct held **ret,
                 struct errinfo *reterr)
{
    struct owner owner;
    enum err e = owner_read(p, k, &owner, reterr);
    if (e == ERR_OK && !owner_is(&owner, k)) {
        e = errinfo_set(reterr, ERR_NOT_FOUND, k->list, 0, "this stream is not held");
    }
    return e == ERR_OK ? held_open(p, k, ret, reterr) : e;
}

enum err peerlist_get(struct peerlists *p, const struct stream_key *k,
                      struct list_record *io, struct errinfo *reterr)
{
    struct held *h = NULL;
    struct mirror_entry s = {.digest = io->digest};
    enum err e = held_of(p, k, &h, reterr);
    THEN(e, mirror_get(h->w, &s, reterr));
    if (e == ERR_OK) {
        *io = peerlist_record(&s);
    }
    return e;
}

enum err peerlist_walk(struct peerlists *p, const struct stream_key *k,
                       struct mirror_iter **ret, struct errinfo *reterr)
{
    struct held *h = NULL;
    enum err e = held_of(p, k, &h, reterr);
    return e == ERR_OK ? mirror_iter_new(h->w, ret, reterr) : e;
}

struct peerlist_snap {
    struct mirror_iter *walk;
    uint64_t room;
    char list[OBJECT_NAME_BYTES + 1];
};

enum err peerlist_snap_begin(struct peerlists *p, const struct stream_key *k,
                             struct peerlist_snap **ret, struct errinfo *reterr)
{
    struct held *h = NULL;
    enum err e = held_of(p, k, &h, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct peerlist_snap *x = calloc(1, sizeof(*x));
    if (!x) {
        return errinfo_nomem(reterr, k->list);
    }
    memcpy(x->list, k->list, sizeof(x->list));
    e = mirror_iter_new(h->w, &x->walk, reterr);
    if (e != ERR_OK) {
        free(x);
        return e;
    }
    x->room = mirror_count(h->w);
    p->pinned = h;
    *ret = x;
    return ERR_OK;
}

enum err peerlist_snap_run(struct peerlist_snap *x, struct buf *ret,
                           uint64_t *retrecords, struct errinfo *reterr)
{
    struct list_record *v = calloc(x->room + 1, sizeof(*v));
    struct mirror_entry s;
    enum err e = ERR_OK;
    uint64_t n = 0;
    if (!v) {
        return errinfo_nomem(reterr, x->list);
    }
    while (n < x->room && mirror_iter_next(x->walk, &s, &e)) {
        v[n++] = peerlist_record(&s);
    }
    if (e != ERR_OK || n != x->room) {
        e = errinfo_set(reterr, ERR_CORRUPT, x->list, 0, "a peer's list is damaged");
    } else {
        payload_print_list(v, n, ret);
        *retrecords = n;
        e = buf_failed(ret) ? errinfo_nomem(reterr, x->list) : ERR_OK;
    }
    free(v);
    return e;
}

void peerlist_snap_end(struct peerlists *p, struct peerlist_snap **x)
{
    if (*x) {
        mirror_iter_free(&(*x)->walk);
        free(*x);
        p->pinned = NULL;
    }
    *x = NULL;
}
