/*
 * object_internal - the fields that name a stream, as object headers and heads have them.
 *
 * Not for other rooms.   Depends: base.   Threads: pure.   Layout: ADR 0030.
 */
#ifndef CORE_RING_STREAM_OBJECT_INTERNAL_H
#define CORE_RING_STREAM_OBJECT_INTERNAL_H

#include "core/base/cursor.h"
#include "core/ring/stream/object.h"

enum { STREAM_KEY_BYTES = 80 };

void stream_key_print(const struct stream_key *k, struct buf *ret);
/* Reads the fields unchecked (stream_key_fault). False: cut off, or reserved bytes are not 0. */
bool stream_key_read(struct cursor *c, struct stream_key *ret);
/* The first field that a stream of this kind cannot have; NULL: all are possible. */
const char *stream_key_fault(const struct stream_key *k);
/* The next n bytes are there and zero. */
bool zeros_read(struct cursor *c, size_t n);

#endif
