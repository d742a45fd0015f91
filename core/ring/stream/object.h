/*
 * object - the signed unit of exchange: a header of 384 bytes and a payload.
 *
 * The room stream has every rule that the bytes of an object, and its place in a chain, decide. It
 * does not decide who is trusted or how objects travel: those are trust, sync and publish.
 *
 * A stream is written by its origin alone and relayed unchanged. Its objects form a chain by seq
 * (from 1) and prev. Each header names the state of the whole stream after it (root, records,
 * total). Types:
 *   DELTA      changes since seq - 1.
 *   SNAP       a place in the chain that changes nothing. A receiver at seq - 1 compares the root
 *              and needs the header alone; any other receiver takes the payload: the whole stream,
 *              canonical and not packed, so that every holder can make it again (TEXT: packed, as
 *              the publisher made it).
 *   HEARTBEAT  no stream: the origin is alive, and the root covers its heads. It expires.
 *   PROOF      no stream: the payload is two headers that the origin signed for one place.
 * Parsing reads the bytes alone; sync.h checks key, chain and time.
 *
 * Files, in reading order: object (headers), signature, payload and payload_pack and payload_read
 * (records in columns), root (the state of a stream as one number), heads (newest places). Private:
 * object_internal.h, leb128.h.
 * To add a kind of stream: a value of enum object_kind; its fields in stream_key_fault; its types
 * in is_known; its record lengths in payload_length_is_possible; columns in payload.c and
 * payload_read.c; its terms in root.c; a vector in tests/unit/stream/test_vectors.c.
 * Depends: base.   Threads: pure.   Layout and reasons: ADR 0030.
 */
#ifndef CORE_RING_STREAM_OBJECT_H
#define CORE_RING_STREAM_OBJECT_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/hash256.h"
#include "core/base/slice.h"

enum {
    OBJECT_HEADER_BYTES = 384,
    OBJECT_SIGNED_BYTES = 320,
    OBJECT_SIGNATURE_BYTES = 64,
    OBJECT_KEY_BYTES = 32, /* an Ed25519 public key */
    OBJECT_ID_BYTES = 16,  /* rings and origins */
    OBJECT_NAME_BYTES = 32,
    OBJECT_RAW_MAX = 16 << 20, /* payload of a DELTA, unpacked: the cost of a lie */
    OBJECT_PACKED_MAX = (16 << 20) + (64 << 10),      /* the same as sent */
    OBJECT_SNAP_MAX = 256 << 20,                      /* payload of a SNAP */
    OBJECT_SNAP_PACKED_MAX = (256 << 20) + (1 << 20), /* of a TEXT, as sent */
    OBJECT_BUCKET_S = 600,
    OBJECT_VERSION_MAJOR = 1
};

enum object_type {
    OBJECT_DELTA = 1,
    OBJECT_SNAP = 2,
    OBJECT_HEARTBEAT = 4,
    OBJECT_PROOF = 5
};
enum object_kind {
    OBJECT_NONE = 0, /* HEARTBEAT, PROOF */
    OBJECT_COUNT = 1,
    OBJECT_LIST = 2,
    OBJECT_MEMBER =
        3, /* a whole filter; each seq is a SNAP that replaces the one before */
    OBJECT_TEXT = 4,          /* entries with their texts, of a publisher */
    OBJECT_MEMBER_REVOKED = 5 /* the same, of revoked entries */
};
enum { OBJECT_CLOSED = 1 }; /* flag of a COUNT's SNAP: the stream ends with it */

struct object_id {
    uint8_t b[OBJECT_ID_BYTES];
};
bool object_id_equal(const struct object_id *a, const struct object_id *b);
/* An id as paths have it: object_id_hex(&id).digits. */
struct object_id_hex {
    char digits[2 * OBJECT_ID_BYTES + 1];
};
struct object_id_hex object_id_hex(const struct object_id *id);
/* Names of members and lists: [a-z0-9][a-z0-9_-]*, OBJECT_NAME_BYTES at most. */
bool object_name_is_valid(struct slice name);

/* Name of a stream. */
struct stream_key {
    struct object_id origin;
    uint64_t inc;                     /* the origin's incarnation */
    uint64_t start_s;                 /* COUNT: begin of the bucket; else 0 */
    uint32_t len_s;                   /* COUNT: OBJECT_BUCKET_S; else 0 */
    uint32_t ring_key;                /* id of the key of its digests; TEXT: 0 */
    uint16_t kind;                    /* enum object_kind */
    char list[OBJECT_NAME_BYTES + 1]; /* NUL-padded; COUNT: empty */
};
bool stream_key_equal(const struct stream_key *a, const struct stream_key *b);
/* Name of the stream in paths and tables: first half of the hash of its fields as in headers. */
void stream_key_id(const struct stream_key *k, struct object_id *ret);

/* An incarnation above `newest`: now_ms in its upper bits, random ones below. So it is above all in
 * use, and a restored disk does not come to the same one, even with a clock that went back. */
uint64_t stream_next_inc(uint64_t now_ms, uint64_t newest);

struct object {
    uint16_t type; /* enum object_type */
    uint16_t flags;
    struct object_id ring;
    uint64_t key_id; /* of the signing key: object_key_id */
    struct stream_key stream;
    uint64_t seq;
    uint64_t base_seq;      /* DELTA: seq - 1; else 0 */
    struct hash256 prev;    /* hash of the header of seq - 1; zeros for seq 1 */
    struct hash256 root;    /* of the stream after this object (root.h) */
    struct hash256 payload; /* hash of the payload's bytes as sent */
    uint64_t records;       /* in the payload */
    uint64_t total;         /* COUNT: sum of the payload's increments; else 0 */
    uint64_t raw_len;       /* of the payload, unpacked */
    uint64_t sent_len;      /* of the payload as sent; raw_len where it is not packed */
    uint64_t created_ms;
    uint64_t expires_ms; /* HEARTBEAT; else 0: never */
};

/* The first 8 bytes of the hash of a public key, little-endian. */
uint64_t object_key_id(const uint8_t public_key[OBJECT_KEY_BYTES]);

/* Appends the OBJECT_SIGNED_BYTES of o. */
void object_print(const struct object *o, struct buf *ret);
/* Checks everything that the header's bytes alone can show (at least OBJECT_HEADER_BYTES): magic,
 * version, known type, kind and flags, zeros in reserved bytes, the list's name, an aligned bucket,
 * seq from 1, base_seq, lengths that the number of records allows (payload.h). ERR_SYNTAX,
 * ERR_RANGE; ERR_VERSION: another major version; ERR_UNSUPPORTED: a type or kind of a later minor
 * version, to be ignored. */
enum err object_parse(struct slice header, struct object *ret, struct errinfo *reterr);
/* Whether payload has the hash that the header of o names. */
bool object_has_payload(const struct object *o, struct slice payload);
/* Hash of the signed bytes: the name of the object, and prev of the next one. */
void object_hash(struct slice header, struct hash256 *ret);

/* Signature over "gillnet-exchange/1\0" and the first OBJECT_SIGNED_BYTES of header. */
bool object_is_signed_by(struct slice header,
                         const uint8_t public_key[OBJECT_KEY_BYTES]);
/* Appends o and its signature, OBJECT_HEADER_BYTES. secret: the 32 bytes of a private key. */
enum err object_sign(const struct object *o, const uint8_t secret[OBJECT_KEY_BYTES],
                     struct buf *ret);

#endif
