/*
 * test_segment - records are read as written; damage costs the record that it hits and is reported.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/list/segment.h"

#include "tests/unit/unit.h"

enum { RECORDS = 20 };

static struct log_record record_number(unsigned n, char text[64])
{
    int length = snprintf(text, 64, "entry-%u.example", n);
    struct log_record r = {
        .kind = n % 3 == 0 ? RECORD_REVOKE : RECORD_ADD,
        .class_type = (uint16_t)(100 + n),
        .time_s = n,
        .expiry_s = n * 2,
        .source_at = n * 3,
        .text = slice_of(text, n == 7 ? 0 : (size_t)length),
    };
    memset(r.digest.b, (int)n, DIGEST_BYTES);
    return r;
}

static size_t make_segment(struct buf *b)
{
    struct segment_header h = {
        .number = 3, .key_id = 0x01020304, .kind = SEGMENT_TAIL, .created_s = 99};
    buf_init(b, 1 << 20);
    segment_header_print(&h, b);
    for (unsigned n = 0; n < RECORDS; n++) {
        char text[64];
        struct log_record r = record_number(n, text);
        segment_record_print(&r, b);
    }
    assert_false(buf_failed(b));
    return b->n;
}

struct walk {
    unsigned records;
    unsigned damaged;
    unsigned torn;
    bool seen[RECORDS];
};

static struct walk walk_all(struct slice bytes)
{
    struct walk w = {0};
    struct segment_scan s = segment_scan_of(bytes, 3, SEGMENT_HEADER_BYTES);
    struct log_record r;
    enum segment_found found = SEGMENT_END;
    while ((found = segment_next(&s, &r)) != SEGMENT_END) {
        w.damaged += found == SEGMENT_DAMAGE;
        w.torn += found == SEGMENT_TORN;
        if (found == SEGMENT_RECORD) {
            char text[64];
            assert_true(r.time_s < RECORDS && !w.seen[r.time_s]);
            struct log_record want = record_number(r.time_s, text);
            assert_int_equal(r.kind, want.kind);
            assert_int_equal(r.class_type, want.class_type);
            assert_int_equal(r.expiry_s, want.expiry_s);
            assert_int_equal(r.source_at, want.source_at);
            assert_int_equal(r.segment, 3);
            assert_memory_equal(r.digest.b, want.digest.b, DIGEST_BYTES);
            assert_true(slice_eq(r.text, want.text));
            w.seen[r.time_s] = true;
            w.records++;
        }
    }
    return w;
}

static void test_segment__written__read_back(void **state)
{
    (void)state;
    struct buf b;
    struct segment_header h;
    struct errinfo info;
    make_segment(&b);
    assert_int_equal(segment_header_parse(buf_slice(&b), "x", &h, &info), ERR_OK);
    assert_int_equal(h.number, 3);
    assert_int_equal(h.key_id, 0x01020304);
    assert_int_equal(h.kind, SEGMENT_TAIL);
    assert_int_equal(h.created_s, 99);
    struct walk w = walk_all(buf_slice(&b));
    assert_int_equal(w.records, RECORDS);
    assert_int_equal(w.damaged + w.torn, 0);
    buf_fini(&b);
}

static void test_segment_header_parse__cut_or_flipped__refused(void **state)
{
    (void)state;
    struct buf b;
    struct segment_header h;
    struct errinfo info;
    make_segment(&b);
    for (size_t n = 0; n < SEGMENT_HEADER_BYTES; n++) {
        assert_int_not_equal(segment_header_parse(slice_of(b.p, n), "x", &h, &info),
                             ERR_OK);
        for (unsigned bit = 0; bit < 8; bit++) {
            b.p[n] = (char)(b.p[n] ^ (1 << bit));
            assert_int_not_equal(segment_header_parse(buf_slice(&b), "x", &h, &info),
                                 ERR_OK);
            b.p[n] = (char)(b.p[n] ^ (1 << bit));
        }
    }
    buf_fini(&b);
}

static void test_segment_next__any_bit_flipped__one_record_lost_and_told(void **state)
{
    (void)state;
    struct buf b;
    size_t size = make_segment(&b);
    for (size_t i = SEGMENT_HEADER_BYTES; i < size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            b.p[i] = (char)(b.p[i] ^ (1 << bit));
            struct walk w = walk_all(buf_slice(&b));
            assert_int_equal(w.records, RECORDS - 1);
            assert_int_equal(w.damaged + w.torn, 1);
            b.p[i] = (char)(b.p[i] ^ (1 << bit));
        }
    }
    buf_fini(&b);
}

static void test_segment_next__every_truncation__whole_records_and_a_torn_end(
    void **state)
{
    (void)state;
    struct buf b;
    size_t size = make_segment(&b);
    unsigned last = 0;
    for (size_t n = SEGMENT_HEADER_BYTES; n <= size; n++) {
        /* a copy of exactly n bytes, so that a read past the end is seen by a sanitizer */
        char *copy = malloc(n);
        assert_non_null(copy);
        memcpy(copy, b.p, n);
        struct walk w = walk_all(slice_of(copy, n));
        assert_int_equal(w.damaged, 0);
        assert_true(w.records == last || (w.records == last + 1 && w.torn == 0));
        last = w.records;
        free(copy);
    }
    assert_int_equal(last, RECORDS);
    buf_fini(&b);
}

static void test_segment_record_print__longest_text__fits_and_one_more_is_refused(
    void **state)
{
    (void)state;
    static char text[RECORD_TEXT_MAX + 1];
    struct buf b;
    struct log_record r = {
        .kind = RECORD_FEED, .first_seen_s = 77, .text = {text, RECORD_TEXT_MAX}};
    struct log_record back;
    size_t size = 0;
    buf_init(&b, (size_t)2 * RECORD_BYTES_MAX);
    segment_record_print(&r, &b);
    assert_int_equal(b.n, RECORD_BYTES_MAX);
    assert_true(segment_record_parse(buf_slice(&b), &back, &size));
    assert_int_equal(size, RECORD_BYTES_MAX);
    assert_int_equal(back.first_seen_s, 77);
    for (r.kind = RECORD_ADD; r.kind < RECORD_FEED; r.kind++) {
        r.text.n = RECORD_TEXT_MAX + 1;
        buf_clear(&b);
        segment_record_print(&r, &b);
        assert_false(segment_record_parse(buf_slice(&b), &back, &size));
    }
    r.text.n = RECORD_TEXT_MAX + 1;
    buf_clear(&b);
    segment_record_print(&r, &b);
    assert_false(segment_record_parse(buf_slice(&b), &back, &size));
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segment__written__read_back),
        cmocka_unit_test(test_segment_header_parse__cut_or_flipped__refused),
        cmocka_unit_test(test_segment_next__any_bit_flipped__one_record_lost_and_told),
        cmocka_unit_test(
            test_segment_next__every_truncation__whole_records_and_a_torn_end),
        cmocka_unit_test(
            test_segment_record_print__longest_text__fits_and_one_more_is_refused),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
