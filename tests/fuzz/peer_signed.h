/*
 * peer_signed - an object with fields and payload changed as the input says, signed well after that, taken apart
 * as a receiver does.
 *
 * Input: a byte that chooses the object, one of mends (below), one with the number of changes, three bytes for each
 * change (offset 16 bits, XOR), the rest is the new payload, unpacked; none: the old one stays.
 */
#ifndef TESTS_FUZZ_PEER_SIGNED_H
#define TESTS_FUZZ_PEER_SIGNED_H

#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/stream/example.h"

enum mend {
    MEND_LENGTHS = 1, /* lengths and hash are those of the payload */
    MEND_ROOT = 2,    /* root and total are those of the records */
    MEND_PACKED =
        4 /* the payload is the input's bytes as they are, not packed from them */
};
enum { CHANGES_MAX = 15, PAYLOAD_BYTES_MAX = 1 << 16 };

struct signed_input {
    struct example e;
    uint8_t mends;
};

static inline void mend_root(struct example *e)
{
    struct payload_reader r;
    struct count_record count;
    struct list_record entry;
    struct root root = {{0}};
    uint64_t total = 0;
    if (payload_reader_init(&r, e->o.stream.kind, e->o.type == OBJECT_SNAP,
                            e->o.records, buf_slice(&e->raw), NULL) != ERR_OK) {
        return;
    }
    while (payload_next_count(&r, &count)) {
        root_add_counts(&root, &e->o.ring, &count, 1);
        total += count.count;
    }
    while (payload_next_list(&r, &entry)) {
        root_steps(&root, &e->o.ring, e->o.stream.kind, &entry, 1);
    }
    root_print(&root, &e->o.root);
    e->o.total = total;
}

/* The new payload, and header fields that go with it as far as the mends say. */
static inline void set_payload(struct example *e, uint8_t mends, struct slice raw)
{
    const bool is_packed =
        e->o.type == OBJECT_DELTA || (e->o.stream.kind == OBJECT_TEXT && raw.n > 0);
    if (raw.n > 0) {
        buf_clear(&e->raw);
        buf_add(&e->raw, slice_head(raw, PAYLOAD_BYTES_MAX));
        buf_clear(&e->payload);
        if (is_packed && (mends & MEND_PACKED) == 0) {
            FUZZ_CHECK(payload_pack(buf_slice(&e->raw), &e->payload) == ERR_OK);
        } else {
            buf_add(&e->payload, buf_slice(&e->raw));
        }
    }
    if (mends & MEND_LENGTHS) {
        e->o.raw_len = e->raw.n;
        e->o.sent_len = e->payload.n;
        hash256_of(buf_slice(&e->payload), &e->o.payload);
        if (e->o.stream.kind == OBJECT_MEMBER ||
            e->o.stream.kind == OBJECT_MEMBER_REVOKED) {
            e->o.root = e->o.payload;
        }
    }
    if (mends & MEND_ROOT) {
        mend_root(e);
    }
}

/* Takes it apart in the order of ADR 0032. */
static inline void receive(struct slice header, struct slice payload)
{
    struct object o;
    struct hash256 hash;
    struct buf raw;
    struct root root = {{0}};
    uint8_t key[OBJECT_KEY_BYTES];
    struct errinfo info = {.text = ""};
    FUZZ_CHECK(example_public(key) && object_is_signed_by(header, key));
    if (object_parse(header, &o, &info) != ERR_OK) {
        FUZZ_CHECK(info.text[0] != '\0');
        return;
    }
    hash256_of(payload, &hash);
    if (payload.n != o.sent_len || !hash256_equal(&hash, &o.payload)) {
        return;
    }
    buf_init(&raw, OBJECT_SNAP_MAX);
    enum err e = ERR_OK;
    if (o.type == OBJECT_DELTA || (o.stream.kind == OBJECT_TEXT && o.records > 0)) {
        e = payload_unpack(payload, o.raw_len, &raw, &info);
        FUZZ_CHECK(e == ERR_OK ? raw.n == o.raw_len : info.text[0] != '\0');
    } else {
        FUZZ_CHECK(o.raw_len == payload.n);
        buf_add(&raw, payload);
    }
    (void)(e == ERR_OK && example_root_holds(&o, buf_slice(&raw), &root));
    buf_fini(&raw);
}

static inline void run_signed(const enum example_kind *which, size_t n,
                              const uint8_t *data, size_t size)
{
    struct example e;
    char header[OBJECT_HEADER_BYTES];
    if (size < 3) {
        return;
    }
    const size_t changes = data[2] & CHANGES_MAX;
    FUZZ_CHECK(example_make(which[data[0] % n], SLICE_NONE, &e));
    if (size >= 3 + 3 * changes) {
        const uint8_t *change = data + 3;
        const uint8_t *rest = change + 3 * changes;
        e.o.records = data[2] & 0x10 ? (uint64_t)data[2] >> 5 : e.o.records;
        set_payload(&e, data[1],
                    slice_of((const char *)rest, size - (size_t)(rest - data)));
        buf_fini(&e.header);
        FUZZ_CHECK(example_sign(&e.o, &e.header));
        memcpy(header, e.header.p, sizeof(header));
        for (size_t i = 0; i < changes; i++, change += 3) {
            const size_t at =
                (change[0] | (size_t)change[1] << 8) % OBJECT_SIGNED_BYTES;
            header[at] = (char)(header[at] ^ (char)change[2]);
        }
        FUZZ_CHECK(example_resign(header));
        receive(slice_of(header, sizeof(header)), buf_slice(&e.payload));
    }
    example_fini(&e);
}

#endif
