/*
 * example - one valid object of each type and kind, always the same bytes, for the vectors in
 * tests/data/peers, for forgeries of tests and for seeds of fuzzers.
 *
 * All secrets are hashes of well-known words. Packed payloads depend on the version of zstd, so
 * they can be given.
 */
#ifndef TESTS_UNIT_STREAM_EXAMPLE_H
#define TESTS_UNIT_STREAM_EXAMPLE_H

#include "core/ring/stream/heads.h"
#include "core/ring/stream/object.h"
#include "core/ring/stream/payload.h"
#include "core/ring/stream/root.h"

enum example_kind {
    EXAMPLE_DELTA_COUNT,
    EXAMPLE_SNAP_COUNT, /* closed */
    EXAMPLE_DELTA_LIST,
    EXAMPLE_SNAP_LIST,
    EXAMPLE_DELTA_TEXT,
    EXAMPLE_SNAP_TEXT,
    EXAMPLE_SNAP_MEMBER,
    EXAMPLE_SNAP_MEMBER_REVOKED,
    EXAMPLE_HEARTBEAT,
    EXAMPLE_PROOF,
    EXAMPLES
};

struct example {
    const char *name; /* of its vector */
    struct object o;
    struct buf raw;
    struct buf payload; /* as sent */
    struct buf header;
};

/* packed: the payload as sent of the DELTA that it is, that it comes after (SNAP; a TEXT's is the
 * same) or that it proves a fork of; empty: packed here. False: something failed. */
bool example_make(enum example_kind which, struct slice packed, struct example *ret);
void example_fini(struct example *e);

/* The signing key of all examples. */
void example_secret(uint8_t ret[OBJECT_KEY_BYTES]);
bool example_public(uint8_t ret[OBJECT_KEY_BYTES]);
/* Header of o, signed. False: no memory. */
bool example_sign(const struct object *o, struct buf *ret);
/* Signs the first OBJECT_SIGNED_BYTES of header again, with any contents. */
bool example_resign(char header[OBJECT_HEADER_BYTES]);

/* Whether the records of raw are good and lead from *r to o->root; *r moves on. */
bool example_root_holds(const struct object *o, struct slice raw, struct root *r);

#endif
