/*
 * test_limits - every limit of the parser one below, at and one above; every arena.
 */
#include <stdio.h>

#include "core/base/base.h"

#include "tests/unit/mail/record.h"

/* Builds texts of n units. */
static struct slice repeat(const char *before, const char *unit, size_t n,
                           const char *after)
{
    size_t size = strlen(before) + strlen(unit) * n + strlen(after);
    char *p = malloc(size + 1);
    assert_non_null(p);
    char *d = p;
    d = stpcpy(d, before);
    for (size_t i = 0; i < n; i++) {
        d = stpcpy(d, unit);
    }
    stpcpy(d, after);
    return slice_of(p, size);
}

static unsigned limits_of(struct slice text, const struct mail_limits *limits,
                          struct record *ret)
{
    record_raw(ret, text, 0, limits);
    free((void *)(uintptr_t)text.p);
    return ret->limits;
}

/* How often needle occurs. */
static size_t count(struct record *r, const char *needle)
{
    size_t n = 0;
    for (const char *p = record_text(r); (p = strstr(p, needle)) != NULL; p++) {
        n++;
    }
    return n;
}

struct row {
    const char *before;
    const char *unit;
    const char *after;
    size_t limit;      /* units that are just allowed */
    const char *count; /* what is counted in the events ... */
    size_t at_limit;   /* ... at the limit and above it */
    unsigned flag;
};

static void check(const struct row *row, const struct mail_limits *limits)
{
    for (size_t n = row->limit - 1; n <= row->limit + 1; n++) {
        struct record r;
        unsigned met =
            limits_of(repeat(row->before, row->unit, n, row->after), limits, &r);
        size_t want = n < row->limit ? row->at_limit - 1 : row->at_limit;
        assert_int_equal(met, n > row->limit ? row->flag : 0);
        assert_int_equal(count(&r, row->count), want);
        record_fini(&r);
    }
}

static void test_headers__below_at_above__later_ones_are_not_shown(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.headers = 10;
    check(&(struct row){"", "A: b\n", "\nx\n", 10, "H -", 10, MAIL_LIMIT_HEADERS}, &l);
}

static void test_header_bytes__below_at_above__later_ones_are_not_shown(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.header_bytes = 40;
    check(
        &(struct row){"", "A: bcd\n", "\nx\n", 10, "H -", 10, MAIL_LIMIT_HEADER_BYTES},
        &l);
}

static void test_headers__over_the_limit__what_readers_see_is_shown(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.headers = 1;
    struct record r;
    record_raw(&r, SLICE_LIT("A: b\nC: d\nSubject: e\nX-F: g\nfrom: h\n\nx\n"), 0, &l);
    assert_int_equal(r.limits, MAIL_LIMIT_HEADERS);
    assert_int_equal(count(&r, "H -"), 3);
    assert_int_equal(count(&r, "H - Subject=e"), 1);
    assert_int_equal(count(&r, "H - from=h"), 1);
    record_fini(&r);
}

static void test_headers__over_the_limit__mime_is_still_known(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.headers = 1;
    struct record r;
    record_raw(&r,
               SLICE_LIT("A: b\nContent-Type: multipart/x; boundary=b\n\n--b\n\nx\n"),
               0, &l);
    assert_non_null(strstr(record_text(&r), "+ 1 1 text/plain"));
    record_fini(&r);
}

static void test_header_field__below_at_above__is_cut(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.header_field = 1 + 97; /* name and value */
    check(&(struct row){"A: ", "x", "\r\n\r\n", 97, "x", 98, MAIL_LIMIT_HEADER_FIELD},
          &l);
}

static void test_parts__below_at_above__text_of_later_ones_is_given(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.parts = 8; /* the message is one */
    for (size_t n = 6; n <= 8; n++) {
        struct record r;
        assert_int_equal(
            limits_of(repeat("Content-Type: multipart/mixed; boundary=b\n\n",
                             "--b\n\nx\n", n, "--b--\n"),
                      &l, &r),
            n > 7 ? MAIL_LIMIT_PARTS : 0);
        assert_int_equal(count(&r, "= x"), n);
        record_fini(&r);
    }
}

static void test_parts__over_the_limit__attachments_are_skipped(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.parts = 8;
    struct record r;
    assert_int_equal(limits_of(repeat("Content-Type: multipart/mixed; boundary=b\n\n",
                                      "--b\nContent-Type: image/png\n\nx\n", 9,
                                      "--b\n\nleaf\n--b--\n"),
                               &l, &r),
                     MAIL_LIMIT_PARTS);
    assert_int_equal(count(&r, "= x"), 7);
    assert_int_equal(count(&r, "= leaf"), 1);
    record_fini(&r);
}

static void nothing(void *context, const struct mail_part *part)
{
    (void)context, (void)part;
}

static void no_header(void *context, const struct mail_part *part, struct slice name,
                      struct slice value)
{
    (void)context, (void)part, (void)name, (void)value;
}

static void no_data(void *context, const struct mail_part *part, struct slice bytes)
{
    (void)part;
    *(size_t *)context += bytes.n;
}

static void no_body(void *context, struct slice bytes)
{
    (void)context, (void)bytes;
}

/* As much memory for 100,000 parts as for one. */
static void test_parts__very_many__cost_no_memory(void **state)
{
    static const char *const units[] = {
        "--b\n\nx\n", "--b\nContent-Type: text/x; charset=\"y\"; name=\"z\"\n\nx\n",
        "--b\nContent-Disposition: attachment; filename*0=\"a\"; filename*1=b\n\nx\n",
        "--b\nContent-Type: multipart/x; boundary=\"c\"; boundary*0=\"d\"\n\n--c\n\nx\n",
        "--b\nContent-Type: message/rfc822\n\n\nx\n"};
    static const struct mail_events none = {.header = no_header,
                                            .part_begin = nothing,
                                            .part_data = no_data,
                                            .part_end = nothing,
                                            .body = no_body};
    (void)state;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t bytes = 0;
        struct arena *arena = arena_new(RECORD_ARENA);
        struct mail *m = mail_new(arena, &record_limits, &none, &bytes);
        mail_raw(m, SLICE_LIT("Content-Type: multipart/mixed; boundary=b\n\n"));
        for (size_t n = 0; n < 10000; n++) {
            mail_raw(m, slice_str(units[i]));
        }
        size_t used = arena_used(arena);
        for (size_t n = 0; n < 100000; n++) {
            mail_raw(m, slice_str(units[i]));
        }
        assert_int_equal(arena_used(arena), used);
        mail_end(m);
        assert_true(bytes > 100000);
        arena_free(&arena);
    }
}

/* Depth n: n multiparts in one another, the innermost holds a leaf. */
static struct slice nested(unsigned n)
{
    char *p = malloc((size_t)n * 64 + 64);
    assert_non_null(p);
    int at = 0;
    for (unsigned i = 0; i < n; i++) {
        at += snprintf(p + at, 64, "Content-Type: multipart/x; boundary=b%u\n\n--b%u\n",
                       i, i);
    }
    at += snprintf(p + at, 16, "\nleaf");
    return slice_of(p, (size_t)at);
}

static void test_depth__below_at_above__text_stays_visible(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.depth = 5;
    for (unsigned n = 4; n <= 6; n++) {
        struct record r;
        assert_int_equal(limits_of(nested(n), &l, &r), n > 5 ? MAIL_LIMIT_DEPTH : 0);
        assert_int_equal(count(&r, "leaf"), 1);
        record_fini(&r);
    }
}

/* In base64, which only who opens its part can read: QUFB is AAA. */
#define ENCODED "Content-Transfer-Encoding: base64\n\nQUFB\n"

static struct slice with_tail(struct slice text, const char *tail)
{
    char *p = malloc(text.n + strlen(tail) + 1);
    assert_non_null(p);
    memcpy(p, text.p, text.n);
    memcpy(p + text.n, tail, strlen(tail) + 1);
    free((void *)(uintptr_t)text.p);
    return slice_of(p, text.n + strlen(tail));
}

/* Text in, behind and after multiparts that are nested too deep. */
static void test_depth__over_the_limit__parts_are_opened(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.depth = 5;
    for (unsigned n = 6; n < 300; n += 49) {
        for (size_t i = 0; i < 4; i++) {
            char tail[128];
            struct record r;
            if (i == 1) {
                snprintf(tail, sizeof(tail), "\n--b%u--\n--b%u\n" ENCODED, n - 1,
                         n - 2);
            } else if (i == 3) {
                snprintf(tail, sizeof(tail), "\n--b%u--\n\nx\n--b5\n" ENCODED, n - 1);
            } else {
                snprintf(tail, sizeof(tail), "\n--b%u\n" ENCODED, i == 0 ? n - 1 : 0);
            }
            assert_int_equal(limits_of(with_tail(nested(n), tail), &l, &r),
                             MAIL_LIMIT_DEPTH);
            assert_int_equal(count(&r, "leaf"), 1);
            assert_int_equal(count(&r, "= AAA"), 1);
            record_fini(&r);
        }
    }
}

static void test_depth__of_messages_over_the_limit__the_last_is_opened(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.depth = 5;
    for (size_t n = 6; n < 300; n += 49) {
        struct record r;
        assert_int_equal(
            limits_of(repeat("", "Content-Type: message/rfc822\n\n", n, ENCODED), &l,
                      &r),
            MAIL_LIMIT_DEPTH);
        assert_int_equal(count(&r, "= AAA"), 1);
        record_fini(&r);
    }
}

/* A part of a digest is a message by default; one that takes the place of its part is none. */
static void test_depth__of_digests__ends(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.depth = 1;
    struct record r;
    assert_int_equal(limits_of(repeat("Content-Type: multipart/digest; boundary=b\n\n",
                                      "--b\n\n", 3, "\nleaf"),
                               &l, &r),
                     MAIL_LIMIT_DEPTH);
    assert_int_equal(count(&r, "leaf"), 1);
    record_fini(&r);
}

static void test_depth__of_embedded_messages__is_bounded(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.depth = 5;
    struct record r;
    assert_int_equal(
        limits_of(repeat("", "Content-Type: message/rfc822\n\n", 5, "leaf"), &l, &r),
        0);
    record_fini(&r);
    assert_int_equal(
        limits_of(repeat("", "Content-Type: message/rfc822\n\n", 6, "leaf"), &l, &r),
        MAIL_LIMIT_DEPTH);
    assert_int_equal(count(&r, "leaf"), 1);
    record_fini(&r);
}

static void test_depth__zero__everything_is_a_leaf(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.depth = 0;
    struct record r;
    assert_int_equal(limits_of(nested(1), &l, &r), MAIL_LIMIT_DEPTH);
    assert_non_null(strstr(record_text(&r), "leaf"));
    record_fini(&r);
}

static void test_message_bytes__below_at_above__attachment_is_skipped(void **state)
{
    static const char head[] = "Content-Type: multipart/mixed; boundary=b\n\n"
                               "--b\nContent-Type: image/png\n\n";
    static const char tail[] = "\n--b\n\nleaf\n--b--\n";
    (void)state;
    struct mail_limits l = record_limits;
    l.message_bytes = 50;
    for (size_t n = 49; n <= 51; n++) {
        struct record r;
        assert_int_equal(limits_of(repeat(head, "Z", n - 2, tail), &l, &r),
                         n > 50 ? MAIL_LIMIT_MESSAGE_BYTES : 0);
        assert_int_equal(count(&r, "Z"), n > 50 ? 0 : n - 2);
        assert_int_equal(count(&r, "= leaf"), 1);
        record_fini(&r);
    }
}

static void test_message_bytes__text_above__is_given(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.message_bytes = 50;
    struct record r;
    assert_int_equal(limits_of(repeat("A: b\n\n", "Z", 1000, ""), &l, &r), 0);
    assert_int_equal(count(&r, "Z"), 1000);
    assert_int_equal(r.body.n, 1000);
    record_fini(&r);
}

/* Neither of the two kinds uses up what the other may have. */
static void test_decoded_bytes__of_attachments_and_text__are_two_shares(void **state)
{
    static const char head[] = "Content-Type: multipart/mixed; boundary=b\n\n"
                               "--b\nContent-Type: image/png\n\n";
    (void)state;
    struct mail_limits l = record_limits;
    l.decoded_bytes = 50;
    struct record r;
    assert_int_equal(
        limits_of(repeat(head, "Z", 1000, "\n--b\n\nleaf\n--b--\n"), &l, &r),
        MAIL_LIMIT_DECODED_BYTES);
    assert_int_equal(count(&r, "Z"), 50);
    assert_int_equal(count(&r, "= leaf"), 1);
    record_fini(&r);
}

static void test_decoded_bytes__below_at_above__data_is_cut_structure_goes_on(
    void **state)
{
    static const char head[] = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n";
    static const char tail[] = "\n--b\nContent-Type: image/png\n\n--b--\n";
    (void)state;
    struct mail_limits l = record_limits;
    l.decoded_bytes = 50;
    for (size_t n = 49; n <= 51; n++) {
        struct record r;
        assert_int_equal(limits_of(repeat(head, "Z", n, tail), &l, &r),
                         n > 50 ? MAIL_LIMIT_DECODED_BYTES : 0);
        assert_int_equal(count(&r, "Z"), n > 50 ? 50 : n);
        assert_non_null(strstr(record_text(&r), "image/png"));
        record_fini(&r);
    }
}

/* The data comes in many pieces, and the limit holds for their sum. */
static void test_decoded_bytes__in_many_pieces__are_one_sum(void **state)
{
    enum { LIMIT = 100000, LINES = 4000 };
    static const char line[] = "ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ\n";
    const size_t most = (size_t)LIMIT * (sizeof(line) - 2) / sizeof(line); /* CR LF */
    (void)state;
    struct mail_limits l = record_limits;
    l.decoded_bytes = LIMIT;
    struct record r;
    assert_int_equal(
        limits_of(repeat("Content-Type: text/plain\n\n", line, LINES, ""), &l, &r),
        MAIL_LIMIT_DECODED_BYTES);
    assert_in_range(count(&r, "Z"), most - sizeof(line), most + sizeof(line));
    record_fini(&r);
}

static void test_boundary__at_and_above_70__is_flagged_and_used(void **state)
{
    (void)state;
    for (int n = MAIL_BOUNDARY_MAX; n <= MAIL_BOUNDARY_MAX + 1; n++) {
        char text[512];
        char boundary[128];
        memset(boundary, 'b', sizeof(boundary));
        snprintf(text, sizeof(text),
                 "Content-Type: multipart/mixed; boundary=%.*s\n\n--%.*s\n\nleaf\n", n,
                 boundary, n, boundary);
        struct record r;
        record_raw(&r, slice_str(text), 0, &record_limits);
        assert_int_equal(r.limits, n > MAIL_BOUNDARY_MAX ? MAIL_LIMIT_BOUNDARY : 0);
        assert_non_null(strstr(record_text(&r), "= leaf"));
        record_fini(&r);
    }
}

static void test_boundary__longer_than_a_line__used_by_its_beginning(void **state)
{
    (void)state;
    for (size_t n = MAIL_LINE_KEPT - 100; n <= 5000; n += 50) {
        struct slice boundary = repeat("", "b", n, "");
        char *text = malloc(2 * n + 200);
        struct record r;
        assert_non_null(text);
        sprintf(text,
                "Content-Type: multipart/mixed; boundary=%.*s\n\n--%.*s\n" ENCODED,
                (int)n, boundary.p, (int)n, boundary.p);
        assert_int_equal(limits_of(slice_str(text), &record_limits, &r),
                         MAIL_LIMIT_BOUNDARY);
        assert_int_equal(count(&r, "= AAA"), 1);
        record_fini(&r);
        free((void *)(uintptr_t)boundary.p);
    }
}

/* A field name or a line that never ends is body, not memory. */
static void test_header__name_without_end__is_body(void **state)
{
    (void)state;
    for (size_t n = 990; n <= 1010; n++) {
        struct record r;
        assert_int_equal(
            limits_of(repeat("", "n", n, ": v\n\nx\n"), &record_limits, &r), 0);
        assert_int_equal(r.body.n > 100, count(&r, "H -") == 0);
        record_fini(&r);
    }
}

static void test_arena__every_size__never_more_than_a_flag(void **state)
{
    static const char text[] =
        "Subject: hi\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
        "Content-Type: image/png; name*0=a; name*1=b\nContent-Disposition: attachment\n\n"
        "x\n--b\n\ny\n--b\nContent-Type: message/rfc822\n\nA: b\n\nz\n--b--\n";
    (void)state;
    size_t refused = 0;
    size_t flagged = 0;
    for (size_t cap = 1; cap < 40000; cap += 61) {
        struct record r;
        record_init(&r);
        struct arena *arena = arena_new(cap);
        struct mail *m = mail_new(arena, &record_limits, &record_events, &r);
        if (m == NULL) {
            refused++;
        } else {
            mail_raw(m, slice_str(text));
            mail_end(m);
            flagged += (mail_limits_met(m) & MAIL_LIMIT_MEMORY) != 0;
            assert_true((mail_limits_met(m) & MAIL_LIMIT_MEMORY) == 0 ||
                        arena_is_full(arena));
            assert_true(r.body.n > 0);
        }
        record_fini(&r);
        arena_free(&arena);
    }
    assert_true(refused > 0 && flagged > 0);
}

static void test_readings__below_at_above__later_ones_are_not_read(void **state)
{
    (void)state;
    /* Each part has a second type; what it is as that follows the message. */
    check(&(struct row){"Content-Type: multipart/mixed; boundary=b\n\n",
                        "--b\nContent-Type: text/html\nContent-Type: text/x\n\nx\n",
                        "--b--\n", MAIL_READINGS_MAX, "text/x extra", MAIL_READINGS_MAX,
                        MAIL_LIMIT_READINGS},
          &record_limits);
}

static void test_readings__opened_by_readings__are_bounded_too(void **state)
{
    (void)state;
    /* Each level of the message is a partial one: a reading finds the next. */
    check(&(struct row){"", "Content-Type: message/partial\n\n", "\nx\n",
                        MAIL_READINGS_MAX, "extra", MAIL_READINGS_MAX,
                        MAIL_LIMIT_READINGS},
          &record_limits);
}

static void test_reading_bytes__below_at_above__are_cut(void **state)
{
    (void)state;
    for (size_t n = MAIL_READING_BYTES - 1; n <= MAIL_READING_BYTES + 1; n++) {
        struct record r;
        unsigned met = limits_of(
            repeat("Content-Type: image/png\nContent-Type: text/x\n\n", "x", n, ""),
            &record_limits, &r);
        assert_int_equal(met, n > MAIL_READING_BYTES ? MAIL_LIMIT_READINGS : 0);
        assert_int_equal(count(&r, "text/x extra"), 1);
        size_t want = n < MAIL_READING_BYTES ? n : MAIL_READING_BYTES;
        assert_in_range(r.events.n, n + want, n + want + 200);
        record_fini(&r);
    }
}

static void test_readings__parts_used_up__are_read_all_the_same(void **state)
{
    (void)state;
    struct mail_limits l = record_limits;
    l.parts = 1;
    struct record r;
    unsigned met = limits_of(
        repeat("Content-Type: text/html\nContent-Type: text/x\n\n", "x", 1, ""), &l,
        &r);
    assert_int_equal(met, MAIL_LIMIT_PARTS);
    assert_int_equal(count(&r, "extra"), 1);
    record_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers__below_at_above__later_ones_are_not_shown),
        cmocka_unit_test(test_header_bytes__below_at_above__later_ones_are_not_shown),
        cmocka_unit_test(test_headers__over_the_limit__what_readers_see_is_shown),
        cmocka_unit_test(test_headers__over_the_limit__mime_is_still_known),
        cmocka_unit_test(test_header_field__below_at_above__is_cut),
        cmocka_unit_test(test_parts__below_at_above__text_of_later_ones_is_given),
        cmocka_unit_test(test_parts__over_the_limit__attachments_are_skipped),
        cmocka_unit_test(test_parts__very_many__cost_no_memory),
        cmocka_unit_test(test_depth__below_at_above__text_stays_visible),
        cmocka_unit_test(test_depth__over_the_limit__parts_are_opened),
        cmocka_unit_test(test_depth__of_messages_over_the_limit__the_last_is_opened),
        cmocka_unit_test(test_depth__of_digests__ends),
        cmocka_unit_test(test_depth__of_embedded_messages__is_bounded),
        cmocka_unit_test(test_depth__zero__everything_is_a_leaf),
        cmocka_unit_test(test_message_bytes__below_at_above__attachment_is_skipped),
        cmocka_unit_test(test_message_bytes__text_above__is_given),
        cmocka_unit_test(test_decoded_bytes__of_attachments_and_text__are_two_shares),
        cmocka_unit_test(
            test_decoded_bytes__below_at_above__data_is_cut_structure_goes_on),
        cmocka_unit_test(test_decoded_bytes__in_many_pieces__are_one_sum),
        cmocka_unit_test(test_boundary__at_and_above_70__is_flagged_and_used),
        cmocka_unit_test(test_boundary__longer_than_a_line__used_by_its_beginning),
        cmocka_unit_test(test_header__name_without_end__is_body),
        cmocka_unit_test(test_readings__below_at_above__later_ones_are_not_read),
        cmocka_unit_test(test_readings__opened_by_readings__are_bounded_too),
        cmocka_unit_test(test_reading_bytes__below_at_above__are_cut),
        cmocka_unit_test(test_readings__parts_used_up__are_read_all_the_same),
        cmocka_unit_test(test_arena__every_size__never_more_than_a_flag),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
