/*
 * test_charset_stream - text of every kind of charset, cut at every byte.
 */
#include "core/base/base.h"
#include "core/message/text/charset.h"

#include "tests/unit/unit.h"

struct row {
    const char *charset;
    struct slice bytes;
    const char *text;
};

#define BYTES(s)         \
    {                    \
        s, sizeof(s) - 1 \
    }

static const struct row rows[] = {
    {"utf-16le", BYTES("h\0i\0=\xd8\0\xde!\0"), "hi\xf0\x9f\x98\x80!"},
    {"utf-16be", BYTES("\0h\0i\xd8\x3d\xde\x00\0!"), "hi\xf0\x9f\x98\x80!"},
    {"utf-32le", BYTES("h\0\0\0\0\xf6\1\0"), "h\xf0\x9f\x98\x80"},
    {"utf-32be", BYTES("\0\0\0h\0\1\xf6\0"), "h\xf0\x9f\x98\x80"},
    {"utf-7", BYTES("a+AGgAdAB0AHA-:+-+2D3eAA-"), "ahttp:+\xf0\x9f\x98\x80"},
    {"iso-2022-jp", BYTES("a\x1b$B$\"$$\x1b(Bb\n"),
     "a\xe3\x81\x82\xe3\x81\x84"
     "b\n"},
    {"iso-2022-kr",
     BYTES("\x1b$)Ca\x0e\x30\x21\x0f"
           "b"),
     "a\xea\xb0\x80"
     "b"},
    {"hz-gb-2312", BYTES("a~{<:~}b~~"),
     "a\xe5\xb7\xb1"
     "b~"},
    {"gb18030", BYTES("\xb1\xbe\x81\x30\x84\x36x"), "\xe6\x9c\xac\xc2\xa5x"},
    {"shift_jis", BYTES("\x83\x65\x83\x58\x83\x67.com"),
     "\xe3\x83\x86\xe3\x82\xb9\xe3\x83\x88.com"},
    {"big5", BYTES("\xa4\xa4\xa4\xe5"), "\xe4\xb8\xad\xe6\x96\x87"},
    {"shift_jis",
     BYTES("0123456789012345678901234567890123456789012345678901234567890123\x1a"),
     "0123456789012345678901234567890123456789012345678901234567890123\x1c"},
    {"koi8-r", BYTES("\xd4\xc5"), "\xd1\x82\xd0\xb5"},
    /* broken at the end, and a half pair */
    {"shift_jis", BYTES("a\x83"), "a\xef\xbf\xbd"},
    {"utf-16le", BYTES("a\0=\xd8"), "a\xef\xbf\xbd"},
    {"utf-16le", BYTES("=\xd8z\0"), "\xef\xbf\xbdz"},
};

static size_t decode(const struct row *row, size_t step, char *dst)
{
    char out[CHARSET_STREAM_STEP];
    struct charset_stream *s = charset_stream_new(slice_str(row->charset));
    struct slice rest = row->bytes;
    size_t n = 0;
    assert_non_null(s);
    while (rest.n > 0) {
        struct slice piece = slice_head(rest, step);
        rest = slice_from(rest, piece.n);
        while (piece.n > 0) {
            size_t written = charset_stream_feed(s, &piece, false, out);
            memcpy(dst + n, out, written);
            n += written;
        }
    }
    for (;;) {
        struct slice none = SLICE_NONE;
        size_t written = charset_stream_feed(s, &none, true, out);
        if (written == 0) {
            break;
        }
        memcpy(dst + n, out, written);
        n += written;
    }
    charset_stream_free(&s);
    assert_null(s);
    return n;
}

static void test_text__cut_anywhere__is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t step = 1; step <= rows[i].bytes.n; step++) {
            char got[100];
            got[decode(&rows[i], step, got)] = '\0';
            if (strcmp(got, rows[i].text) != 0) {
                fail_msg("row %zu (%s), step %zu: %s", i, rows[i].charset, step, got);
            }
        }
    }
}

static void test_long_text__of_ascii_and_others__is_whole(void **state)
{
    (void)state;
    enum { UNITS = 3000, SIZE = UNITS * 70 };
    static char in[SIZE];
    static char out[SIZE * 3];
    static char want[SIZE * 3];
    size_t n = 0;
    size_t m = 0;
    for (size_t i = 0; i < UNITS; i++) {
        size_t run = i % 67;
        memset(in + n, 'x', run);
        memset(want + m, 'x', run);
        memcpy(in + n + run, "\x83\x65", 2);
        memcpy(want + m + run, "\xe3\x83\x86", 3);
        n += run + 2;
        m += run + 3;
    }
    for (size_t step = 1; step < 20000; step = step * 3 + 1) {
        struct row row = {.charset = "shift_jis", .bytes = {in, n}};
        assert_int_equal(decode(&row, step, out), m);
        assert_memory_equal(out, want, m);
    }
}

static void test_stream__of_bytes_that_need_none__is_none(void **state)
{
    (void)state;
    const char *const names[] = {"utf-8", "us-ascii", "iso-8859-1", "", "nonsense"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_null(charset_stream_new(slice_str(names[i])));
    }
}

static void test_head__with_mark_or_zeros__wins_over_the_name(void **state)
{
    (void)state;
    static const struct {
        const char *charset;
        struct slice head;
        const char *is;
        size_t mark;
    } heads[] = {
        {"us-ascii", BYTES("\xef\xbb\xbfhi"), "utf-8", 3},
        {"utf-8", BYTES("\xff\xfeh\0"), "utf-16le", 2},
        {"utf-16le", BYTES("\xfe\xff\0h"), "utf-16be", 2},
        {"", BYTES("\xff\xfe\0\0h\0\0\0"), "utf-32le", 4},
        {"", BYTES("\0\0\xfe\xff"), "utf-32be", 4},
        {"utf-16", BYTES("\xff\xfe\x2d\x4e"), "utf-16le", 2},
        {"us-ascii", BYTES("\xff\xfe http://evil.example"), "us-ascii", 0},
        {"utf-16", BYTES("\0h\0i"), "utf-16be", 0},
        {"utf-16", BYTES("h\0i\0"), "utf-16le", 0},
        {"utf-16", BYTES("\x4e\x2d"), "utf-16le", 0},
        {"utf-32", BYTES("\0\0\0h"), "utf-32be", 0},
        {"utf-32", BYTES("h\0\0\0"), "utf-32le", 0},
        {"koi8-r", BYTES("hi"), "koi8-r", 0},
        {"", BYTES(""), "", 0},
        {"", BYTES("h\0t\0t\0p\0"), "utf-16le", 0},
        {"us-ascii", BYTES("\0h\0t\0t\0p"), "utf-16be", 0},
        {"utf-16be", BYTES("h\0t\0t\0p\0"), "utf-16le", 0},
        {"utf-8", BYTES("h\0t\0\x2d\x4e\x87\x65"), "utf-16le", 0},
        {"utf-8", BYTES("ht\0tp:\0//a\0.b"), "utf-8", 0},
        {"utf-8", BYTES("\0\0\0\0\0\0\0\0"), "utf-8", 0},
    };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        size_t mark = 99;
        struct slice is =
            charset_by_head(slice_str(heads[i].charset), heads[i].head, &mark);
        assert_true(slice_eq(is, slice_str(heads[i].is)));
        assert_int_equal(mark, heads[i].mark);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__cut_anywhere__is_the_same),
        cmocka_unit_test(test_long_text__of_ascii_and_others__is_whole),
        cmocka_unit_test(test_stream__of_bytes_that_need_none__is_none),
        cmocka_unit_test(test_head__with_mark_or_zeros__wins_over_the_name),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
