/*
 * repository - the files of a publisher's place, for any web server.
 *
 *   v1/key           the publisher: its identity's key and the binding of its signing key, as text
 *   v1/heads         how far each stream is (heads.h), and one HEARTBEAT of the publisher. Its root
 *                    is the hash of all bytes before the heartbeats, its seq counts the
 *                    publications
 *   v1/o/STREAM/SEQ  an object of the chain: a DELTA whole, of a SNAP the header
 *   v1/s/STREAM/SEQ  a SNAP with its payload
 *
 * STREAM is the stream's id in hexadecimal digits. Files of o and s never change; heads and key are
 * replaced.
 * Depends: base, heads, identity, object.   Threads: pure.   ADR 0037.
 */
#ifndef CORE_RING_PUBLISH_REPOSITORY_H
#define CORE_RING_PUBLISH_REPOSITORY_H

#include "core/ring/stream/heads.h"
#include "core/ring/trust/peer_identity.h"

enum {
    REPOSITORY_PATH_MAX = 96,
    REPOSITORY_KEY_BYTES = 1024, /* of the file key, at most */
    REPOSITORY_LISTS_MAX = 64,
    REPOSITORY_HEADS_BYTES =
        64 + REPOSITORY_LISTS_MAX * HEAD_BYTES + OBJECT_HEADER_BYTES
};

/* v1/o/STREAM/SEQ or v1/s/STREAM/SEQ; kind: 'o' or 's'. */
void repository_path(char kind, const struct object_id *stream, uint64_t seq,
                     char ret[REPOSITORY_PATH_MAX]);

void repository_key_print(const struct identity *self, struct buf *ret);
/* ERR_SYNTAX; ERR_KEY: it is of another publisher, or the binding does not hold. */
enum err repository_key_parse(struct slice text,
                              const uint8_t identity[OBJECT_KEY_BYTES],
                              struct key_binding *ret, struct errinfo *reterr);

struct repository {
    struct heads heads;      /* TEXT streams of the publisher alone; no heartbeats */
    struct object heartbeat; /* created, expires, seq */
    uint64_t key_id;         /* of the key in the heartbeat */
};
void repository_fini(struct repository *p);
/* Signs p's heads. The caller sets seq, created and expires of the heartbeat. */
enum err repository_print(const struct repository *p, const struct identity *self,
                          struct buf *ret);
/* Checks the form alone; repository_verify checks the signature. ret points into bytes. */
enum err repository_parse(struct slice bytes, struct repository *ret,
                          struct errinfo *reterr);
/* Checks that bytes, parsed as p, are of this publisher, signed by this key. ERR_KEY. */
enum err repository_verify(const struct repository *p, struct slice bytes,
                           const struct object_id *origin,
                           const uint8_t key[OBJECT_KEY_BYTES], struct errinfo *reterr);

#endif
