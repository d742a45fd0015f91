/* sync_list - LIST and MEMBER streams, which peerlist keeps. */
#include "core/ring/sync/peerlist.h"
#include "core/ring/sync/sync_modules.h"

static enum sync_result result_of(enum err e, enum sync_result other)
{
    switch (e) {
    case ERR_OK:
        return SYNC_APPLIED;
    case ERR_LIMIT:
        return SYNC_QUOTA;
    case ERR_KEY:
        return SYNC_UNKNOWN;
    case ERR_RANGE:
    case ERR_SYNTAX:
    case ERR_CORRUPT:
    case ERR_VERSION:
        return other;
    default:
        return SYNC_TROUBLE;
    }
}

static enum sync_result check_list(struct sync *s, struct offer *f,
                                   struct errinfo *reterr)
{
    struct payload_reader r = f->reader;
    struct list_record some[ROOT_SOME];
    struct root root = {{0}};
    size_t n = 0;
    if (f->stream && f->o.type == OBJECT_DELTA) {
        root = f->stream->root;
    }
    do {
        for (n = 0; n < ROOT_SOME && payload_next_list(&r, &some[n]); n++) {
        }
        root_steps(&root, &f->o.ring, f->o.stream.kind, some, n);
    } while (n == ROOT_SOME);
    f->root = root;
    return result_of(peerlist_check(s->lists, &f->o, &f->reader, reterr), SYNC_PAYLOAD);
}

static enum err apply_list(struct sync *s, struct offer *f, struct errinfo *reterr)
{
    return peerlist_apply(s->lists, &f->o, f->origin->name, &f->reader, reterr);
}

const struct kind_ops sync_list_ops = {check_list, apply_list, NULL};

/* The root of a filter is the hash of its bytes, which the caller compared. */
static enum sync_result check_member(struct sync *s, struct offer *f,
                                     struct errinfo *reterr)
{
    root_parse(&f->o.payload, &f->root);
    return result_of(peermember_check(s->lists, &f->o, f->payload, reterr),
                     SYNC_FILTER);
}

static enum err apply_member(struct sync *s, struct offer *f, struct errinfo *reterr)
{
    return peermember_apply(s->lists, &f->o, f->payload, reterr);
}

static enum err snap_member(struct sync *s, struct stream *st, struct buf *ret,
                            uint64_t *retrecords, struct errinfo *reterr)
{
    *retrecords = 0;
    return peermember_snap(s->lists, &st->key, ret, reterr);
}

const struct kind_ops sync_member_ops = {check_member, apply_member, snap_member};
