/*
 * test_payload - records in columns: the same back, and nothing but the one form of them.
 */
#include <stdio.h>
#include <time.h>

#include "core/base/base.h"
#include "core/base/random.h"
#include "core/ring/stream/payload.h"

#include "tests/unit/stream/example.h"
#include "tests/unit/unit.h"

enum { BYTES_MAX = 1 << 20, ROUNDS = 200, RECORDS_MAX = 300 };

static uint64_t random_state;

/* splitmix64: a failure's seed repeats it. */
static uint64_t draw(void)
{
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Numbers of all lengths. */
static uint64_t draw_number(unsigned bits)
{
    return draw() >> (64 - bits + draw() % bits);
}

static size_t unhex(const char *hex, char *ret, size_t most)
{
    size_t n = strlen(hex) / 2;
    assert_true(n <= most && hex_parse(slice_str(hex), (uint8_t *)ret, n));
    return n;
}

/* ---- round trips ---- */

static size_t draw_counts(struct count_record *v)
{
    size_t n = 1 + draw() % RECORDS_MAX;
    uint64_t key = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t gap = draw_number(54) + 1;
        key += gap;
        v[i] = (struct count_record){key, draw_number(50) + 1};
    }
    return n;
}

static void test_counts__random__come_back(void **state)
{
    (void)state;
    static struct count_record v[RECORDS_MAX];
    for (int round = 0; round < ROUNDS; round++) {
        struct buf raw;
        struct payload_reader r;
        struct count_record record;
        size_t n = draw_counts(v);
        buf_init(&raw, BYTES_MAX);
        payload_print_counts(v, n, &raw);
        assert_true(payload_length_is_possible(OBJECT_COUNT, n, raw.n));
        assert_int_equal(
            payload_reader_init(&r, OBJECT_COUNT, false, n, buf_slice(&raw), NULL),
            ERR_OK);
        for (size_t i = 0; i < n; i++) {
            assert_true(payload_next_count(&r, &record));
            assert_true(record.key == v[i].key && record.count == v[i].count);
        }
        assert_false(payload_next_count(&r, &record));
        buf_fini(&raw);
    }
}

static size_t draw_entries(struct list_record *v, bool is_snap, char *text)
{
    size_t n = 1 + draw() % RECORDS_MAX;
    for (size_t i = 0; i < n; i++) {
        struct list_record record = {.type = (uint16_t)(i / 100),
                                     .expiry_h = (uint32_t)draw_number(32)};
        record.digest.b[0] = (uint8_t)(i >> 8);
        record.digest.b[1] = (uint8_t)i;
        for (size_t k = 2; k < DIGEST_BYTES; k++) {
            record.digest.b[k] = (uint8_t)draw();
        }
        record.before = is_snap ? 0 : (uint8_t)(draw() % 3);
        record.after = (uint8_t)((record.before + 1U + draw() % 2) % 3);
        text[8 * i] = (char)(i >> 8);
        text[8 * i + 1] = (char)(i & 255);
        record.text = slice_of(text + 8 * i, 2 + draw() % 7);
        v[i] = record;
    }
    return n;
}

static void check_entries(uint16_t kind, bool is_snap, const struct list_record *v,
                          size_t n)
{
    struct buf raw;
    struct payload_reader r;
    struct list_record record;
    struct errinfo info = {.text = ""};
    buf_init(&raw, BYTES_MAX);
    if (kind == OBJECT_LIST) {
        payload_print_list(v, n, &raw);
    } else {
        payload_print_texts(v, n, &raw);
    }
    enum err e = payload_reader_init(&r, kind, is_snap, n, buf_slice(&raw), &info);
    assert_string_equal(info.text, "");
    assert_int_equal(e, ERR_OK);
    for (size_t i = 0; i < n; i++) {
        assert_true(payload_next_list(&r, &record));
        assert_int_equal(record.before, v[i].before);
        assert_int_equal(record.after, v[i].after);
        assert_int_equal(record.type, v[i].type);
        assert_int_equal(record.expiry_h, v[i].expiry_h);
        assert_true(kind == OBJECT_LIST ? digest_cmp(&record.digest, &v[i].digest) == 0
                                        : slice_eq(record.text, v[i].text));
    }
    assert_false(payload_next_list(&r, &record));
    buf_fini(&raw);
}

static void test_entries__random__come_back(void **state)
{
    (void)state;
    static struct list_record v[RECORDS_MAX];
    static char text[8 * RECORDS_MAX + 8];
    for (int round = 0; round < ROUNDS; round++) {
        const bool is_snap = round % 2 == 0;
        size_t n = draw_entries(v, is_snap, text);
        check_entries(OBJECT_LIST, is_snap, v, n);
        check_entries(OBJECT_TEXT, is_snap, v, n);
    }
}

static void test_reader__no_records__is_empty(void **state)
{
    (void)state;
    static const uint16_t kind[] = {OBJECT_COUNT, OBJECT_LIST, OBJECT_TEXT};
    for (size_t i = 0; i < 3; i++) {
        struct payload_reader r;
        struct count_record count;
        struct list_record entry;
        assert_int_equal(payload_reader_init(&r, kind[i], true, 0, SLICE_NONE, NULL),
                         ERR_OK);
        assert_false(payload_next_count(&r, &count) || payload_next_list(&r, &entry));
        assert_int_equal(
            payload_reader_init(&r, kind[i], true, 0, SLICE_LIT("\0"), NULL),
            ERR_SYNTAX);
    }
}

/* ---- forms that are refused ---- */

struct row {
    uint16_t kind;
    bool is_snap;
    bool is_good;
    uint64_t records;
    const char *hex;
};

#define D0 "00000000000000000000000000000000"
#define D1 "00000000000000000000000000000001"
#define D2 "ff000000000000000000000000000000"

static const struct row row[] = {
    /* keys and increments */
    {OBJECT_COUNT, false, true, 1, "0101"},
    {OBJECT_COUNT, false, true, 2, "01010101"},
    {OBJECT_COUNT, false, true, 1, "ffffffffffffffffff0101"}, /* 2^64 - 1 */
    {OBJECT_COUNT, false, true, 1, "01ffffffffffffffffff01"},
    {OBJECT_COUNT, false, false, 1, "0001"}, /* key 0 */
    {OBJECT_COUNT, false, false, 2, "01000101"},
    {OBJECT_COUNT, false, false, 1, "0100"},
    {OBJECT_COUNT, false, false, 1, "810001"}, /* not the shortest */
    {OBJECT_COUNT, false, false, 1, "018100"},
    {OBJECT_COUNT, false, false, 1, "018080808080808080808001"}, /* 2^70 */
    {OBJECT_COUNT, false, false, 1, "01ffffffffffffffffff02"},   /* bit 64 */
    {OBJECT_COUNT, false, false, 1, "0181"},                     /* cut off */
    {OBJECT_COUNT, false, false, 2, "010101"},
    {OBJECT_COUNT, false, false, 1, "010101"},                     /* left over */
    {OBJECT_COUNT, false, false, 2, "ffffffffffffffffff01010101"}, /* key wraps */
    {OBJECT_COUNT, false, false, 2, "0101ffffffffffffffffff0101"}, /* sum wraps */
    {OBJECT_COUNT, false, false, UINT64_MAX, "0101"},
    {OBJECT_COUNT, false, false, 0, "0101"},
    /* digests, steps, types, expiries */
    {OBJECT_LIST, false, true, 1, D0 "010000"},
    {OBJECT_LIST, false, true, 1, D0 "020000"},
    {OBJECT_LIST, false, true, 1, D0 "100000"},
    {OBJECT_LIST, false, true, 1, D0 "120000"},
    {OBJECT_LIST, false, true, 1, D0 "200000"},
    {OBJECT_LIST, false, true, 1, D0 "210000"},
    {OBJECT_LIST, false, true, 1, D0 "01ffff03ffffffff0f"},
    {OBJECT_LIST, false, true, 2, D0 D2 "010100000000"},
    {OBJECT_LIST, false, false, 2, D0 D0 "010100000000"}, /* twice */
    {OBJECT_LIST, false, false, 2, D2 D0 "010100000000"}, /* falls */
    {OBJECT_LIST, false, false, 3, D0 D2 D1 "010101000000000000"},
    {OBJECT_LIST, false, false, 1, D0 "000000"},
    {OBJECT_LIST, false, false, 1, D0 "110000"},
    {OBJECT_LIST, false, false, 1, D0 "220000"},
    {OBJECT_LIST, false, false, 1, D0 "030000"},
    {OBJECT_LIST, false, false, 1, D0 "310000"},
    {OBJECT_LIST, false, false, 1, D0 "f10000"},
    {OBJECT_LIST, true, true, 1, D0 "010000"},
    {OBJECT_LIST, true, true, 1, D0 "020000"},
    {OBJECT_LIST, true, false, 1, D0 "100000"}, /* a SNAP has no steps back */
    {OBJECT_LIST, true, false, 1, D0 "120000"},
    {OBJECT_LIST, true, false, 1, D0 "210000"},
    {OBJECT_LIST, false, false, 1, D0 "0180800400"},     /* type 65536 */
    {OBJECT_LIST, false, false, 1, D0 "01008080808010"}, /* expiry 2^32 */
    {OBJECT_LIST, false, false, 1, D0 "01800000"},
    {OBJECT_LIST, false, false, 1, D0 "01008000"},
    {OBJECT_LIST, false, false, 1, D0 "0100"},
    {OBJECT_LIST, false, false, 1, D0 "01000000"},
    {OBJECT_LIST, false, false, 2, D0 "010100000000"},
    /* lengths, steps, types, expiries, texts */
    {OBJECT_TEXT, false, true, 1, "0101000061"},
    {OBJECT_TEXT, false, true, 2, "01010101010100006162"},
    {OBJECT_TEXT, false, true, 2, "01010101010200006261"}, /* the type rises */
    {OBJECT_TEXT, false, true, 2, "0102010101010000616161"},
    {OBJECT_TEXT, false, false, 2, "01010101010100006161"},
    {OBJECT_TEXT, false, false, 2, "01010101010100006261"},
    {OBJECT_TEXT, false, false, 2, "01010101020100006162"}, /* the type falls */
    {OBJECT_TEXT, false, false, 2, "0201010101010000616161"},
    {OBJECT_TEXT, false, false, 1, "00010000"}, /* no text */
    {OBJECT_TEXT, false, false, 1, "0001000061"},
    {OBJECT_TEXT, false, false, 1, "0201000061"},
    {OBJECT_TEXT, false, false, 1, "010100006161"},
    {OBJECT_TEXT, false, false, 1, "0111000061"},
    {OBJECT_TEXT, false, false, 1, "814001000061"}, /* 8,193 of them */
    {OBJECT_TEXT, true, false, 1, "0112000061"},
    /* no records */
    {OBJECT_MEMBER, true, false, 1, "0101"},
    {OBJECT_NONE, false, false, 1, "0101"},
    {9, false, false, 1, "0101"},
};

static void test_reader__one_form__and_no_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char bytes[256];
        struct payload_reader r;
        struct errinfo info = {.text = ""};
        const struct row *x = &row[i];
        struct slice raw = slice_of(bytes, unhex(x->hex, bytes, sizeof(bytes)));
        enum err e =
            payload_reader_init(&r, x->kind, x->is_snap, x->records, raw, &info);
        if (e != (x->is_good ? ERR_OK : ERR_SYNTAX)) {
            print_error("row %zu (%s): %s %s\n", i, x->hex, err_text(e), info.text);
            fail();
        }
        assert_int_equal(info.text[0] == '\0', x->is_good);
    }
}

/* Each cut of a good payload, and each with a byte behind it. */
static void test_reader__cut_anywhere__is_refused(void **state)
{
    (void)state;
    static const enum example_kind which[] = {EXAMPLE_DELTA_COUNT, EXAMPLE_DELTA_LIST,
                                              EXAMPLE_DELTA_TEXT};
    for (size_t i = 0; i < 3; i++) {
        struct example e;
        struct payload_reader r;
        assert_true(example_make(which[i], SLICE_NONE, &e));
        const uint16_t kind = e.o.stream.kind;
        for (size_t n = 0; n < e.raw.n; n++) {
            struct slice cut = slice_head(buf_slice(&e.raw), n);
            assert_int_equal(
                payload_reader_init(&r, kind, false, e.o.records, cut, NULL),
                ERR_SYNTAX);
        }
        buf_add_u8(&e.raw, 1);
        assert_int_equal(
            payload_reader_init(&r, kind, false, e.o.records, buf_slice(&e.raw), NULL),
            ERR_SYNTAX);
        example_fini(&e);
    }
}

/* ---- packing ---- */

static void check_packed(const char *bytes, size_t n)
{
    struct buf packed;
    struct buf raw;
    struct errinfo info = {.text = ""};
    buf_init(&packed, OBJECT_PACKED_MAX);
    buf_init(&raw, OBJECT_RAW_MAX);
    assert_int_equal(payload_pack(slice_of(bytes, n), &packed), ERR_OK);
    assert_int_equal(payload_unpack(buf_slice(&packed), n, &raw, &info), ERR_OK);
    assert_true(slice_eq(buf_slice(&raw), slice_of(bytes, n)));
    buf_clear(&raw);
    assert_int_equal(payload_unpack(buf_slice(&packed), n + 1, &raw, &info),
                     ERR_SYNTAX);
    assert_int_equal(raw.n, 0);
    buf_fini(&packed);
    buf_fini(&raw);
}

static void test_pack__all_lengths__come_back(void **state)
{
    (void)state;
    static const size_t length[] = {
        0, 1, 255, 256, 65791, 65792, 131072, 131073, 8388608, 8388609, OBJECT_RAW_MAX};
    char *bytes = malloc(OBJECT_RAW_MAX);
    assert_non_null(bytes);
    for (size_t i = 0; i < OBJECT_RAW_MAX; i++) {
        bytes[i] = (char)(draw() & 0xff);
    }
    for (size_t i = 0; i < sizeof(length) / sizeof(length[0]); i++) {
        check_packed(bytes, length[i]); /* the largest that packing can make of it */
    }
    memset(bytes, 0, OBJECT_RAW_MAX);
    for (size_t i = 0; i < sizeof(length) / sizeof(length[0]); i++) {
        check_packed(bytes, length[i]);
    }
    free(bytes);
}

static void test_pack__above_the_limit__is_refused(void **state)
{
    (void)state;
    struct buf packed;
    char *bytes = calloc(OBJECT_SNAP_MAX + 1UL, 1);
    assert_non_null(bytes);
    buf_init(&packed, OBJECT_SNAP_PACKED_MAX);
    assert_int_equal(payload_pack(slice_of(bytes, OBJECT_SNAP_MAX + 1UL), &packed),
                     ERR_LIMIT);
    buf_fini(&packed);
    buf_init(&packed, 10);
    assert_int_equal(payload_pack(slice_of(bytes, 100), &packed), ERR_NOMEM);
    buf_fini(&packed);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts__random__come_back),
        cmocka_unit_test(test_entries__random__come_back),
        cmocka_unit_test(test_reader__no_records__is_empty),
        cmocka_unit_test(test_reader__one_form__and_no_other),
        cmocka_unit_test(test_reader__cut_anywhere__is_refused),
        cmocka_unit_test(test_pack__all_lengths__come_back),
        cmocka_unit_test(test_pack__above_the_limit__is_refused),
    };
    const char *seed = getenv("GILLNET_SEED"); /* NOLINT(concurrency-mt-unsafe) */
    random_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    (void)fprintf(stderr, "GILLNET_SEED=%llu\n", (unsigned long long)random_state);
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
