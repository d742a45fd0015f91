/*
 * test_head - answers of heads: the same back, and every byte of them judged.
 */
#include "core/base/base.h"
#include "core/ring/stream/heads.h"

#include "tests/unit/stream/example.h"
#include "tests/unit/unit.h"

enum {
    BEGIN = 16, /* bytes before the first head */
    AT_KIND = BEGIN + 40,
    AT_FLAGS = BEGIN + 80,
    AT_SEQ = BEGIN + 88,
    AT_HASH = BEGIN + 96,
    AT_FROM = BEGIN + 128,
    AT_SNAP_SEQ = BEGIN + 136,
    AT_SNAP = BEGIN + 144,
    AT_ZEROS = BEGIN + 176,
    NHEADS = 3,
    NBEATS = 2,
    BYTES = BEGIN + NHEADS * HEAD_BYTES + 4 + NBEATS * OBJECT_HEADER_BYTES,
    BYTES_MAX = 64 << 20
};

static struct head head[NHEADS];
static struct example beat;
static struct buf bytes; /* of the answer */

static int make_answer(void **state)
{
    (void)state;
    static const enum example_kind which[NHEADS] = {
        EXAMPLE_SNAP_COUNT, EXAMPLE_SNAP_LIST, EXAMPLE_DELTA_TEXT};
    for (size_t i = 0; i < NHEADS; i++) {
        struct example e;
        struct head *h = &head[i];
        if (!example_make(which[i], SLICE_NONE, &e)) {
            return 1;
        }
        *h = (struct head){
            .stream = e.o.stream, .flags = e.o.flags, .seq = e.o.seq, .from = i + 1};
        object_hash(buf_slice(&e.header), &h->hash);
        if (e.o.type == OBJECT_SNAP) {
            h->snap_seq = h->seq;
            h->snap = h->hash;
        }
        example_fini(&e);
    }
    head[2].from = 2; /* one behind its end: none can be had */
    if (!example_make(EXAMPLE_HEARTBEAT, SLICE_NONE, &beat)) {
        return 1;
    }
    struct slice beats[NBEATS] = {buf_slice(&beat.header), buf_slice(&beat.header)};
    const struct heads all = {UINT64_C(0x0102030405060708), head, NHEADS, beats,
                              NBEATS};
    buf_init(&bytes, BYTES_MAX);
    heads_print(&all, &bytes);
    return bytes.n == BYTES ? 0 : 1;
}

static int drop_answer(void **state)
{
    (void)state;
    example_fini(&beat);
    buf_fini(&bytes);
    return 0;
}

static void test_parse__what_was_printed__is_the_same(void **state)
{
    (void)state;
    struct heads got;
    struct buf again;
    assert_int_equal(heads_parse(buf_slice(&bytes), &got, NULL), ERR_OK);
    assert_true(got.version == UINT64_C(0x0102030405060708));
    assert_int_equal(got.n, NHEADS);
    assert_int_equal(got.nheartbeats, NBEATS);
    for (size_t i = 0; i < NHEADS; i++) {
        assert_true(stream_key_equal(&got.v[i].stream, &head[i].stream));
        assert_int_equal(got.v[i].from, head[i].from);
    }
    assert_true(slice_eq(got.heartbeats[1], buf_slice(&beat.header)));
    buf_init(&again, BYTES_MAX);
    heads_print(&got, &again);
    assert_true(slice_eq(buf_slice(&again), buf_slice(&bytes)));
    buf_fini(&again);
    heads_fini(&got);
}

static void test_parse__nothing_to_say__is_good(void **state)
{
    (void)state;
    const struct heads none = {.version = 7};
    struct heads got;
    struct buf b;
    buf_init(&b, 64);
    heads_print(&none, &b);
    assert_int_equal(heads_parse(buf_slice(&b), &got, NULL), ERR_OK);
    assert_true(got.n == 0 && got.nheartbeats == 0 && got.version == 7);
    heads_fini(&got);
    buf_fini(&b);
}

static void test_parse__cut_anywhere_or_longer__is_refused(void **state)
{
    (void)state;
    struct heads got;
    for (size_t n = 0; n < bytes.n; n++) {
        assert_int_equal(heads_parse(slice_head(buf_slice(&bytes), n), &got, NULL),
                         ERR_SYNTAX);
    }
    struct buf longer;
    buf_init(&longer, BYTES + 1);
    buf_add(&longer, buf_slice(&bytes));
    buf_add_u8(&longer, 0);
    assert_int_equal(heads_parse(buf_slice(&longer), &got, NULL), ERR_SYNTAX);
    buf_fini(&longer);
}

static void test_parse__forged__names_the_field(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        unsigned char value;
        const char *source; /* NULL: it is good */
    } rows[] = {
        {0, 'g', "magic"},
        {AT_KIND, OBJECT_NONE, "kind"},
        {AT_KIND, OBJECT_LIST, "start"},
        {AT_KIND + 2, 1, "reserved"},
        {AT_FLAGS, 2, "flags"},
        {AT_FLAGS + 1, 1, "flags"},
        {AT_FLAGS + 2, 1, "reserved"},
        {AT_FLAGS, 0, NULL},
        {AT_FLAGS + HEAD_BYTES, OBJECT_CLOSED, "flags"},
        {AT_SEQ, 0, "flags"}, /* closed, and its SNAP not the last */
        {AT_SEQ + HEAD_BYTES, 0, "seq"},
        {AT_SEQ + HEAD_BYTES, 1, "snap_seq"},
        {AT_SEQ + HEAD_BYTES, 3, NULL},
        {AT_HASH, 0, "hash"}, /* not the SNAP's */
        {AT_FROM, 0, "from"},
        {AT_FROM, 3, NULL},
        {AT_FROM, 4, "from"},
        {AT_SNAP_SEQ + HEAD_BYTES, 0, "snap"},
        {AT_SNAP + 2 * HEAD_BYTES, 1, "snap"},
        {AT_ZEROS, 1, "reserved"},
        {AT_ZEROS + 15, 1, "reserved"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char forged[BYTES];
        struct heads got;
        struct errinfo info = {.text = ""};
        memcpy(forged, bytes.p, BYTES);
        forged[rows[i].at] = (char)rows[i].value;
        enum err e = heads_parse(slice_of(forged, BYTES), &got, &info);
        if (e != (rows[i].source ? ERR_SYNTAX : ERR_OK) ||
            (rows[i].source && strcmp(info.source, rows[i].source) != 0)) {
            print_error("row %zu: %s, %s: %s\n", i, err_text(e), info.source,
                        info.text);
            fail();
        }
        if (e == ERR_OK) {
            heads_fini(&got);
        }
    }
}

static void test_parse__kind_of_a_later_version__is_passed_over(void **state)
{
    (void)state;
    char later[BYTES];
    struct heads got;
    memcpy(later, bytes.p, BYTES);
    later[AT_KIND] = 9;
    assert_int_equal(heads_parse(slice_of(later, BYTES), &got, NULL), ERR_OK);
    assert_int_equal(got.n, NHEADS - 1);
    assert_int_equal(got.nheartbeats, NBEATS);
    assert_true(stream_key_equal(&got.v[0].stream, &head[1].stream));
    heads_fini(&got);
}

/* An answer of n heads and m heartbeats, as long as it must be. */
static enum err parse_many(size_t n, size_t m)
{
    struct buf b;
    struct heads got;
    buf_init(&b, BYTES_MAX);
    buf_add(&b, SLICE_LIT("GNXH"));
    buf_add_u32(&b, (uint32_t)n);
    buf_add_u64(&b, 1);
    for (size_t i = 0; i < n; i++) {
        buf_add(&b, slice_of(bytes.p + BEGIN, HEAD_BYTES));
    }
    buf_add_u32(&b, (uint32_t)m);
    for (size_t i = 0; i < m; i++) {
        buf_add(&b, buf_slice(&beat.header));
    }
    enum err e = heads_parse(buf_slice(&b), &got, NULL);
    if (e == ERR_OK) {
        heads_fini(&got);
    }
    buf_fini(&b);
    return e;
}

static void test_parse__more_than_may_be__is_refused(void **state)
{
    (void)state;
    assert_int_equal(parse_many(HEADS_MAX, HEARTBEATS_MAX), ERR_OK);
    assert_int_equal(parse_many(HEADS_MAX + 1, 0), ERR_LIMIT);
    assert_int_equal(parse_many(0, HEARTBEATS_MAX + 1), ERR_LIMIT);
    char huge[BYTES]; /* numbers that promise more than there is take no memory */
    struct heads got;
    memcpy(huge, bytes.p, BYTES);
    memset(huge + 4, 0xff, 4);
    assert_int_equal(heads_parse(slice_of(huge, BYTES), &got, NULL), ERR_SYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse__what_was_printed__is_the_same),
        cmocka_unit_test(test_parse__nothing_to_say__is_good),
        cmocka_unit_test(test_parse__cut_anywhere_or_longer__is_refused),
        cmocka_unit_test(test_parse__forged__names_the_field),
        cmocka_unit_test(test_parse__kind_of_a_later_version__is_passed_over),
        cmocka_unit_test(test_parse__more_than_may_be__is_refused),
    };
    return base_init() == ERR_OK
               ? cmocka_run_group_tests(tests, make_answer, drop_answer)
               : 1;
}
