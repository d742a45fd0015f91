/* sync_publish_list - own lists and filters: their next steps, and a SNAP from time to time. */

#include "core/base/log.h"
#include "core/ring/sync/peerlist.h"
#include "core/ring/sync/sync_modules.h"

enum { LIST_SNAP_BYTES = 1 << 20 };

struct peerlists *sync_lists(struct sync *s)
{
    return s->lists;
}

void sync_use_list_key(struct sync *s, uint32_t id)
{
    s->list_key = id;
}

bool sync_has_one_owner(const struct sync *s)
{
    return s->manifest.kind == RING_OWN;
}

bool sync_is_ring_key(const struct sync *s, uint32_t id)
{
    return manifest_has_ring_key(&s->manifest, id);
}

/* A stream has digests of one key. */
static bool may_add_to(const struct sync *s, const struct stream *st)
{
    return sync_may_go_on(s, st) &&
           (s->list_key == 0 || st->key.ring_key == s->list_key);
}

bool sync_own_stream(const struct sync *s, uint16_t kind, const char *list,
                     struct stream_key *ret)
{
    const struct origin *self = sync_origin(s, &s->self->origin);
    const struct stream *st = self ? sync_newest(self, kind, list) : NULL;
    if (!st || st->seq == 0 || !may_add_to(s, st)) {
        return false;
    }
    *ret = st->key;
    return true;
}

/* The stream to continue, or a new one that replaces it. */
static enum err list_stream(struct sync *s, uint16_t kind, const char *list,
                            struct stream **ret, struct errinfo *reterr)
{
    struct origin *self = sync_origin(s, &s->self->origin);
    struct stream *st = sync_newest(self, kind, list);
    struct stream_key k = {.origin = s->self->origin,
                           .ring_key =
                               s->list_key != 0 ? s->list_key : s->keys->ring[0].id,
                           .kind = kind};
    const size_t n = strlen(list);
    if (n == 0 || n > OBJECT_NAME_BYTES) {
        return errinfo_set(reterr, ERR_RANGE, list, 0, "no name of a list");
    }
    if (st && may_add_to(s, st)) {
        *ret = st;
        return ERR_OK;
    }
    memcpy(k.list, list, n); /* NOLINT(bugprone-not-null-terminated-result): of zeros */
    k.inc = st && st->key.inc >= s->inc ? sync_fresh_inc(s) : s->inc;
    *ret = sync_add(s, &k, self);
    return *ret ? ERR_OK : errinfo_nomem(reterr, list);
}

static void forget_empty(struct sync *s, struct stream *st)
{
    if (st->seq == 0) {
        sync_forget(s, st);
    } else if (st->seq == 1) {
        (void)sync_replace_older(s, st, NULL);
    }
}

static enum err list_part(struct sync *s, const char *list, const struct list_record *v,
                          size_t n, struct errinfo *reterr)
{
    struct offer f = {.o = {.records = n}};
    enum err e = list_stream(s, OBJECT_LIST, list, &f.stream, reterr);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&f.raw, OBJECT_RAW_MAX);
    payload_print_list(v, n, &f.raw);
    f.root = f.stream->root;
    root_steps(&f.root, &s->manifest.ring, OBJECT_LIST, v, n);
    e = sync_publish_delta(s, &f, reterr);
    forget_empty(s, f.stream);
    return e;
}

enum err sync_list_snap(struct sync *s, struct stream *st, const struct buf *whole,
                        uint64_t records, const struct hash256 *sum,
                        struct errinfo *reterr)
{
    struct offer f = {.o = {.type = OBJECT_SNAP, .records = records},
                      .stream = st,
                      .root = st->root,
                      .payload = slice_from(buf_slice(whole), OBJECT_HEADER_BYTES),
                      .has_payload = true,
                      .is_same = true,
                      .sum = sum};
    f.o.raw_len = f.payload.n;
    enum err e = sync_may_publish(s, reterr);
    return e == ERR_OK ? sync_publish(s, &f, reterr) : e;
}

/* Begins an empty incarnation of a list, which removes the entries of the older one. */
static enum err list_empty(struct sync *s, const char *list, struct errinfo *reterr)
{
    const struct origin *self = sync_origin(s, &s->self->origin);
    const struct stream *older = sync_newest(self, OBJECT_LIST, list);
    struct offer f = {.o = {.type = OBJECT_SNAP}, .has_payload = true};
    if (!older || older->seq == 0) {
        return ERR_OK;
    }
    enum err e = list_stream(s, OBJECT_LIST, list, &f.stream, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = payload_reader_init(&f.reader, OBJECT_LIST, true, 0, SLICE_NONE, reterr);
    THEN(e, sync_publish(s, &f, reterr));
    forget_empty(s, f.stream);
    return e;
}

bool sync_is_worth_a_snap(const struct stream *st)
{
    const uint64_t since = st->bytes > st->snap_bytes ? st->bytes - st->snap_bytes : 0;
    return st->snap_seq < st->seq && since > LIST_SNAP_BYTES &&
           since > st->snap_bytes / 2;
}

enum err sync_publish_list(struct sync *s, const char *list,
                           const struct list_record *v, size_t n,
                           struct errinfo *reterr)
{
    struct stream_key key;
    struct object_id id;
    enum err e = sync_may_publish(s, reterr);
    for (size_t i = 0; i < n && e == ERR_OK; i += SYNC_LIST_PART) {
        const size_t part = n - i < SYNC_LIST_PART ? n - i : SYNC_LIST_PART;
        e = list_part(s, list, v + i, part, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (!sync_own_stream(s, OBJECT_LIST, list, &key)) {
        return list_empty(s, list, reterr);
    }
    stream_key_id(&key, &id);
    struct stream *st = sync_find(s, &id);
    struct errinfo why;
    /* with a SNAP a new peer takes the list as it is, not its history */
    if (sync_is_worth_a_snap(st) && sync_work_snap(s, st, &why) != ERR_OK) {
        log_errinfo("peers",
                    &why); /* the steps are published; the next ones try again */
    }
    return ERR_OK;
}

enum err sync_publish_member(struct sync *s, const char *list, bool is_revoked,
                             struct slice file, struct errinfo *reterr)
{
    const uint16_t kind = is_revoked ? OBJECT_MEMBER_REVOKED : OBJECT_MEMBER;
    struct offer f = {.o = {.type = OBJECT_SNAP}, .payload = file, .has_payload = true};
    struct hash256 hash;
    enum err e = sync_may_publish(s, reterr);
    if (e == ERR_OK && (file.n == 0 || file.n > OBJECT_SNAP_MAX)) {
        e = errinfo_set(reterr, ERR_LIMIT, list, 0,
                        "a filter of %zu bytes cannot be shared: at most %d", file.n,
                        OBJECT_SNAP_MAX);
    }
    THEN(e, list_stream(s, kind, list, &f.stream, reterr));
    if (e != ERR_OK) {
        return e;
    }
    f.records = file;
    f.o.raw_len = file.n;
    hash256_of(file, &hash);
    root_parse(&hash, &f.root);
    f.o.stream = f.stream->key;
    f.o.seq = f.stream->seq + 1;
    e = peermember_check(s->lists, &f.o, file, reterr);
    THEN(e, sync_publish(s, &f, reterr));
    forget_empty(s, f.stream);
    return e;
}
