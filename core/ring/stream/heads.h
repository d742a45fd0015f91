/*
 * heads - how far a server has each stream; peers compare heads to find objects to fetch.
 *
 * Wire form of an answer: "GNXH", u32 number of heads, u64 version; then heads of HEAD_BYTES each,
 * little-endian, in the order of object headers' fields; then u32 number of heartbeats and as many
 * headers of objects.
 * Depends: base, object.   Threads: pure.   ADR 0030.
 */
#ifndef CORE_RING_STREAM_HEADS_H
#define CORE_RING_STREAM_HEADS_H

#include "core/ring/stream/object.h"

enum {
    HEAD_BYTES = 192,
    HEADS_MAX = 65536, /* of one answer; more come with the next version */
    HEARTBEATS_MAX = 1024
};

struct head {
    struct stream_key stream;
    uint16_t flags; /* OBJECT_CLOSED: its last object is there */
    uint64_t seq;
    struct hash256 hash;
    uint64_t from;     /* objects of the chain from this seq on can be had */
    uint64_t snap_seq; /* the newest SNAP; 0: none */
    struct hash256 snap;
};

struct heads {
    uint64_t version;
    struct head *v;
    size_t n;
    struct slice *heartbeats; /* OBJECT_HEADER_BYTES each, in the bytes parsed */
    size_t nheartbeats;
};
void heads_print(const struct heads *h, struct buf *ret);
/* ERR_SYNTAX, ERR_LIMIT. On success free with heads_fini. */
enum err heads_parse(struct slice bytes, struct heads *ret, struct errinfo *reterr);
void heads_fini(struct heads *h);

#endif
