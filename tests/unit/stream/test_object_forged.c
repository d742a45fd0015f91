/*
 * test_object_forged - headers that a member of the ring forged and signed well, and parts of
 * good ones put together.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/ring/stream/object.h"

#include "tests/unit/stream/example.h"
#include "tests/unit/unit.h"

/* Where the fields are (ADR 0030). */
enum at {
    AT_MAGIC = 0,
    AT_MAJOR = 4,
    AT_MINOR = 5,
    AT_TYPE = 6,
    AT_FLAGS = 8,
    AT_ZEROS = 10,
    AT_RING = 16,
    AT_ORIGIN = 32,
    AT_INC = 48,
    AT_START = 56,
    AT_LEN = 64,
    AT_RING_KEY = 68,
    AT_KIND = 72,
    AT_ZEROS2 = 74,
    AT_LIST = 80,
    AT_KEY = 112,
    AT_SEQ = 120,
    AT_BASE = 128,
    AT_PREV = 136,
    AT_ROOT = 168,
    AT_PAYLOAD = 200,
    AT_RECORDS = 232,
    AT_TOTAL = 240,
    AT_RAW = 248,
    AT_SENT = 256,
    AT_CREATED = 264,
    AT_EXPIRES = 272,
    AT_RESERVED = 280
};

struct forgery {
    enum example_kind of;
    enum err want;
    const char *source; /* the field that the refusal names */
    size_t at;
    size_t width;
    uint64_t value;
};

#define BIG (UINT64_C(1) << 40)

static const struct forgery forgery[] = {
    {EXAMPLE_DELTA_COUNT, ERR_SYNTAX, "magic", AT_MAGIC, 4, 0x4f584e48},
    {EXAMPLE_DELTA_COUNT, ERR_VERSION, "version", AT_MAJOR, 1, 0},
    {EXAMPLE_DELTA_COUNT, ERR_VERSION, "version", AT_MAJOR, 1, 2},
    {EXAMPLE_DELTA_COUNT, ERR_VERSION, "version", AT_MAJOR, 1, 255},
    {EXAMPLE_DELTA_COUNT, ERR_SYNTAX, "type", AT_TYPE, 2, 0},
    {EXAMPLE_DELTA_COUNT, ERR_SYNTAX, "type", AT_TYPE, 2, 3},
    {EXAMPLE_DELTA_COUNT, ERR_SYNTAX, "type", AT_TYPE, 2, OBJECT_HEARTBEAT},
    {EXAMPLE_DELTA_COUNT, ERR_SYNTAX, "type", AT_TYPE, 2, 0x0101},
    {EXAMPLE_HEARTBEAT, ERR_SYNTAX, "type", AT_TYPE, 2, OBJECT_DELTA},
    {EXAMPLE_SNAP_MEMBER, ERR_SYNTAX, "type", AT_TYPE, 2, OBJECT_DELTA},
    {EXAMPLE_DELTA_COUNT, ERR_SYNTAX, "type", AT_KIND, 2, OBJECT_NONE},
    {EXAMPLE_SNAP_LIST, ERR_SYNTAX, "type", AT_KIND, 2, 6},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "flags", AT_FLAGS, 2, OBJECT_CLOSED},
    {EXAMPLE_SNAP_COUNT, ERR_RANGE, "flags", AT_FLAGS, 2, 2},
    {EXAMPLE_SNAP_COUNT, ERR_RANGE, "flags", AT_FLAGS, 2, 0x8001},
    {EXAMPLE_SNAP_LIST, ERR_RANGE, "flags", AT_FLAGS, 2, OBJECT_CLOSED},
    {EXAMPLE_DELTA_COUNT, ERR_SYNTAX, "reserved", AT_ZEROS, 1, 1},
    {EXAMPLE_DELTA_COUNT, ERR_SYNTAX, "stream", AT_ZEROS2 + 5, 1, 1},
    {EXAMPLE_DELTA_COUNT, ERR_SYNTAX, "reserved", AT_RESERVED, 1, 1},
    {EXAMPLE_DELTA_COUNT, ERR_SYNTAX, "reserved", AT_RESERVED + 39, 1, 0x80},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "origin", AT_ORIGIN, 16, 0},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "inc", AT_INC, 8, 0},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "start", AT_START, 8, 0},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "start", AT_START, 8, 1800000001},
    {EXAMPLE_DELTA_LIST, ERR_RANGE, "start", AT_START, 8, 1800000000},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "length of the bucket", AT_LEN, 4, 0},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "length of the bucket", AT_LEN, 4, 1200},
    {EXAMPLE_DELTA_LIST, ERR_RANGE, "length of the bucket", AT_LEN, 4, 600},
    {EXAMPLE_DELTA_TEXT, ERR_RANGE, "digest key", AT_RING_KEY, 4, 1},
    {EXAMPLE_HEARTBEAT, ERR_RANGE, "digest key", AT_RING_KEY, 4, 1},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "list", AT_LIST, 1, 'a'},
    {EXAMPLE_PROOF, ERR_RANGE, "list", AT_LIST, 1, 'a'},
    {EXAMPLE_DELTA_LIST, ERR_RANGE, "list", AT_LIST, 1, '.'},
    {EXAMPLE_DELTA_LIST, ERR_RANGE, "list", AT_LIST, 1, '-'},
    {EXAMPLE_DELTA_LIST, ERR_RANGE, "list", AT_LIST + 3, 1, '/'},
    {EXAMPLE_DELTA_LIST, ERR_RANGE, "list", AT_LIST + 3, 1, 'A'},
    {EXAMPLE_DELTA_LIST, ERR_SYNTAX, "stream", AT_LIST + 31, 1, 'a'},
    {EXAMPLE_DELTA_LIST, ERR_SYNTAX, "stream", AT_LIST, 1, 0},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "seq", AT_SEQ, 8, 0},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "base_seq", AT_SEQ, 8, 2},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "base_seq", AT_BASE, 8, 1},
    {EXAMPLE_SNAP_COUNT, ERR_RANGE, "base_seq", AT_BASE, 8, 1},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "prev", AT_PREV + 31, 1, 1},
    {EXAMPLE_SNAP_COUNT, ERR_RANGE, "prev", AT_PREV, 32, 0},
    {EXAMPLE_HEARTBEAT, ERR_RANGE, "prev", AT_PREV, 8, 1},
    {EXAMPLE_SNAP_MEMBER, ERR_RANGE, "root", AT_ROOT, 8, 1},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "records", AT_RECORDS, 8, 0},
    {EXAMPLE_HEARTBEAT, ERR_RANGE, "records", AT_RECORDS, 8, 1},
    {EXAMPLE_PROOF, ERR_RANGE, "records", AT_RECORDS, 8, 3},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "raw_len", AT_RECORDS, 8, UINT64_MAX},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "raw_len", AT_RAW, 8, 0},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "raw_len", AT_RAW, 8,
     4ULL * PAYLOAD_COUNT_MIN - 1},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "raw_len", AT_RAW, 8,
     4ULL * PAYLOAD_COUNT_MAX + 1},
    {EXAMPLE_DELTA_LIST, ERR_RANGE, "raw_len", AT_RAW, 8, 3ULL * PAYLOAD_LIST_MIN - 1},
    {EXAMPLE_DELTA_LIST, ERR_RANGE, "raw_len", AT_RAW, 8, 3ULL * PAYLOAD_LIST_MAX + 1},
    {EXAMPLE_DELTA_TEXT, ERR_RANGE, "raw_len", AT_RAW, 8, 3ULL * PAYLOAD_TEXT_MIN - 1},
    {EXAMPLE_DELTA_TEXT, ERR_RANGE, "raw_len", AT_RAW, 8, 3ULL * PAYLOAD_TEXT_MAX + 1},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "raw_len", AT_RAW, 8, OBJECT_RAW_MAX + 1},
    {EXAMPLE_SNAP_MEMBER, ERR_RANGE, "raw_len", AT_RAW, 8, OBJECT_SNAP_MAX + 1},
    {EXAMPLE_PROOF, ERR_RANGE, "raw_len", AT_RAW, 8, 767},
    {EXAMPLE_HEARTBEAT, ERR_RANGE, "raw_len", AT_RAW, 8, 1},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "total", AT_TOTAL, 8, 3},
    {EXAMPLE_DELTA_LIST, ERR_RANGE, "total", AT_TOTAL, 8, 1},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "sent_len", AT_SENT, 8, 0},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "sent_len", AT_SENT, 8, OBJECT_PACKED_MAX + 1},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "sent_len", AT_SENT, 8, BIG},
    {EXAMPLE_SNAP_COUNT, ERR_RANGE, "sent_len", AT_SENT, 8, 1},
    {EXAMPLE_SNAP_TEXT, ERR_RANGE, "sent_len", AT_SENT, 8, 0},
    {EXAMPLE_SNAP_TEXT, ERR_RANGE, "sent_len", AT_SENT, 8, OBJECT_SNAP_PACKED_MAX + 1},
    {EXAMPLE_HEARTBEAT, ERR_RANGE, "sent_len", AT_SENT, 8, 1},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "created", AT_CREATED, 8, 0},
    {EXAMPLE_DELTA_COUNT, ERR_RANGE, "expires", AT_EXPIRES, 8, 1},
    {EXAMPLE_HEARTBEAT, ERR_RANGE, "expires", AT_EXPIRES, 8, 0},
    {EXAMPLE_HEARTBEAT, ERR_RANGE, "expires", AT_EXPIRES, 8, UINT64_C(1800000003000)},
};

static void set_le(char *p, uint64_t value, size_t width)
{
    memset(p, 0, width);
    for (size_t i = 0; i < width && i < sizeof(value); i++) {
        p[i] = (char)(unsigned char)(value >> (8 * i));
    }
}

static void forge(const struct forgery *f, char header[OBJECT_HEADER_BYTES])
{
    struct example e;
    assert_true(example_make(f->of, SLICE_NONE, &e));
    memcpy(header, e.header.p, OBJECT_HEADER_BYTES);
    set_le(header + f->at, f->value, f->width);
    assert_true(example_resign(header));
    example_fini(&e);
}

static void test_parse__forged_and_signed__names_the_field(void **state)
{
    (void)state;
    uint8_t key[OBJECT_KEY_BYTES];
    assert_true(example_public(key));
    for (size_t i = 0; i < sizeof(forgery) / sizeof(forgery[0]); i++) {
        char header[OBJECT_HEADER_BYTES];
        struct object o;
        struct errinfo info = {.text = ""};
        forge(&forgery[i], header);
        struct slice bytes = slice_of(header, sizeof(header));
        enum err e = object_parse(bytes, &o, &info);
        if (e != forgery[i].want || strcmp(info.source, forgery[i].source) != 0) {
            print_error("forgery %zu: %s, %s: %s\n", i, err_text(e), info.source,
                        info.text);
            fail();
        }
        assert_true(object_is_signed_by(bytes, key)); /* nothing but the rule refused */
    }
}

/* Values at a limit are not refused. */
static void test_parse__at_the_limits__is_good(void **state)
{
    (void)state;
    static const struct forgery good[] = {
        {EXAMPLE_DELTA_COUNT, ERR_OK, "", AT_RAW, 8, 4ULL * PAYLOAD_COUNT_MIN},
        {EXAMPLE_DELTA_COUNT, ERR_OK, "", AT_RAW, 8, 4ULL * PAYLOAD_COUNT_MAX},
        {EXAMPLE_DELTA_LIST, ERR_OK, "", AT_RAW, 8, 3ULL * PAYLOAD_LIST_MIN},
        {EXAMPLE_DELTA_LIST, ERR_OK, "", AT_RAW, 8, 3ULL * PAYLOAD_LIST_MAX},
        {EXAMPLE_DELTA_TEXT, ERR_OK, "", AT_RAW, 8, 3ULL * PAYLOAD_TEXT_MIN},
        {EXAMPLE_DELTA_TEXT, ERR_OK, "", AT_RAW, 8, 3ULL * PAYLOAD_TEXT_MAX},
        {EXAMPLE_DELTA_COUNT, ERR_OK, "", AT_SENT, 8, OBJECT_PACKED_MAX},
        {EXAMPLE_SNAP_TEXT, ERR_OK, "", AT_SENT, 8, OBJECT_SNAP_PACKED_MAX},
        {EXAMPLE_DELTA_COUNT, ERR_OK, "", AT_TOTAL, 8, 4},
        {EXAMPLE_DELTA_COUNT, ERR_OK, "", AT_MINOR, 1, 255},
        {EXAMPLE_SNAP_COUNT, ERR_OK, "", AT_FLAGS, 2, 0},
        {EXAMPLE_DELTA_LIST, ERR_OK, "", AT_LIST + 3, 1, '_'},
        {EXAMPLE_HEARTBEAT, ERR_OK, "", AT_SEQ, 8, UINT64_MAX},
        {EXAMPLE_HEARTBEAT, ERR_OK, "", AT_EXPIRES, 8, UINT64_C(1800000003001)},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        char header[OBJECT_HEADER_BYTES];
        struct object o;
        struct errinfo info = {.text = ""};
        forge(&good[i], header);
        if (object_parse(slice_of(header, sizeof(header)), &o, &info) != ERR_OK) {
            print_error("row %zu: %s: %s\n", i, info.source, info.text);
            fail();
        }
    }
}

static void test_parse__later_minor_version__is_passed_over(void **state)
{
    (void)state;
    static const struct forgery later[] = {
        {EXAMPLE_DELTA_COUNT, ERR_OK, "", AT_TYPE, 2, 3},
        {EXAMPLE_DELTA_COUNT, ERR_OK, "", AT_KIND, 2, 9},
    };
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        char header[OBJECT_HEADER_BYTES];
        struct object o;
        forge(&later[i], header);
        struct slice bytes = slice_of(header, sizeof(header));
        assert_int_equal(object_parse(bytes, &o, NULL), ERR_SYNTAX);
        header[AT_MINOR] = 1;
        assert_int_equal(object_parse(bytes, &o, NULL), ERR_UNSUPPORTED);
    }
}

struct field {
    const char *name;
    size_t at;
    size_t n;
};

static const struct field field[] = {
    {"type", AT_TYPE, 2},
    {"flags", AT_FLAGS, 2},
    {"ring", AT_RING, 16},
    {"origin", AT_ORIGIN, 16},
    {"inc", AT_INC, 8},
    {"start", AT_START, 8},
    {"len", AT_LEN, 4},
    {"ring_key", AT_RING_KEY, 4},
    {"kind", AT_KIND, 2},
    {"list", AT_LIST, 32},
    {"key_id", AT_KEY, 8},
    {"seq", AT_SEQ, 8},
    {"base_seq", AT_BASE, 8},
    {"prev", AT_PREV, 32},
    {"root", AT_ROOT, 32},
    {"payload", AT_PAYLOAD, 32},
    {"records", AT_RECORDS, 8},
    {"total", AT_TOTAL, 8},
    {"raw_len", AT_RAW, 8},
    {"sent_len", AT_SENT, 8},
    {"created", AT_CREATED, 8},
    {"expires", AT_EXPIRES, 8},
    {"signature", OBJECT_SIGNED_BYTES, OBJECT_SIGNATURE_BYTES},
};
enum { FIELDS = sizeof(field) / sizeof(field[0]) };

/* Two objects of one origin that differ in every field: a count's and a list's, another ring's. */
static void make_two(struct example *a, struct example *b)
{
    assert_true(example_make(EXAMPLE_DELTA_COUNT, SLICE_NONE, a));
    assert_true(example_make(EXAMPLE_SNAP_LIST, SLICE_NONE, b));
    a->o.seq = 3;
    a->o.base_seq = 2;
    a->o.prev = a->o.payload;
    b->o.ring.b[0] ^= 1;
    b->o.stream.origin.b[0] ^= 1;
    b->o.stream.inc++;
    b->o.stream.ring_key++;
    b->o.key_id++;
    b->o.created_ms++;
    buf_fini(&a->header);
    buf_fini(&b->header);
    assert_true(example_sign(&a->o, &a->header));
    assert_true(example_sign(&b->o, &b->header));
    struct object o;
    assert_int_equal(object_parse(buf_slice(&a->header), &o, NULL), ERR_OK);
    assert_int_equal(object_parse(buf_slice(&b->header), &o, NULL), ERR_OK);
}

static void test_signature__each_field_of_another_object__does_not_hold(void **state)
{
    (void)state;
    struct example a;
    struct example b;
    uint8_t key[OBJECT_KEY_BYTES];
    size_t swapped = 0;
    make_two(&a, &b);
    assert_true(example_public(key));
    for (size_t i = 0; i < FIELDS; i++) {
        char mixed[OBJECT_HEADER_BYTES];
        memcpy(mixed, a.header.p, sizeof(mixed));
        memcpy(mixed + field[i].at, b.header.p + field[i].at, field[i].n);
        const bool is_same = memcmp(mixed, a.header.p, sizeof(mixed)) == 0;
        bool holds = object_is_signed_by(slice_of(mixed, sizeof(mixed)), key);
        assert_int_equal(holds, is_same);
        swapped += is_same ? 0 : 1;
    }
    assert_int_equal(swapped, FIELDS - 2); /* no flags, nor expiry, in both */
    example_fini(&a);
    example_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse__forged_and_signed__names_the_field),
        cmocka_unit_test(test_parse__at_the_limits__is_good),
        cmocka_unit_test(test_parse__later_minor_version__is_passed_over),
        cmocka_unit_test(test_signature__each_field_of_another_object__does_not_hold),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
