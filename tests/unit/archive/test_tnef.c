/*
 * test_tnef - files in a winmail.dat; compressed RTF by the examples of MS-OXRTFCP.
 */
#include "core/base/base.h"
#include "core/message/archive/rtf.h"
#include "core/message/archive/tnef.h"

#include "tests/unit/archive/build.h"
#include "tests/unit/unit.h"

#define RTF_HELLO                                                                     \
    "\x2d\0\0\0\x2b\0\0\0LZFu\xf1\xc5\xc7\xa7\x03\0\x0a\0rcpg125\x42\x32\x0a\xf3 hel" \
    "\x09\0 bw\x05\xb0ld}\x0a\x80\x0f\xa0"
#define RTF_CROSSING \
    "\x1a\0\0\0\x1c\0\0\0LZFu\xe2\xd4\x4b\x51\x41\0\x04 WXYZ\x0dn}\x01\x0e\xb0"

enum {
    BODY = 0x2800c,
    DATA = 0x6800f,
    TITLE = 0x18010,
    RENDDATA = 0x69002,
    PROPERTIES = 0x69003,
    ATTACHMENT = 0x69005
};

static unsigned read_tnef(struct slice file, struct build_record *ret)
{
    struct archive_budget budget = archive_budget_start();
    build_record_init(ret);
    tnef_read(file, &budget, &build_events, ret);
    return budget.limits_met;
}

static void test_rtf__examples_of_the_standard__are_unpacked(void **state)
{
    (void)state;
    static const struct {
        struct slice in;
        const char *out;
    } rows[] = {
        {{RTF_HELLO, sizeof(RTF_HELLO) - 1},
         "{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"},
        {{RTF_CROSSING, sizeof(RTF_CROSSING) - 1}, "{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"},
        {{"\x0a\0\0\0\x04\0\0\0MELA\0\0\0\0{rt}",
          sizeof "\x0a\0\0\0\x04\0\0\0MELA\0\0\0\0{rt}" - 1},
         "{rt}"},
        {{"\x0a\0\0\0\x04\0\0\0MELB\0\0\0\0{rt}",
          sizeof "\x0a\0\0\0\x04\0\0\0MELB\0\0\0\0{rt}" - 1},
         ""},
        {{"short", sizeof "short" - 1}, ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct archive_budget budget = archive_budget_start();
        struct build_record r;
        build_record_init(&r);
        bool ok = rtf_decompress(&budget, rows[i].in, build_on_data, &r);
        assert_int_equal(ok, rows[i].out[0] != '\0');
        assert_string_equal(build_text(&r), rows[i].out);
        buf_fini(&r.text);
    }
}

static void test_rtf__longer_than_the_budget__ends(void **state)
{
    (void)state;
    struct archive_budget budget = archive_budget_start();
    struct build_record r;
    build_record_init(&r);
    budget.inflated = 20;
    assert_false(rtf_decompress(&budget, SLICE_LIT(RTF_HELLO), build_on_data, &r));
    assert_int_equal(budget.limits_met, ARCHIVE_LIMIT_INFLATED);
    assert_int_equal(r.bytes, 0);
    buf_fini(&r.text);
}

/* Body, properties with all bodies, two attachments, the second with a message in it. */
static void build_whole(struct buf *f)
{
    struct buf inner;
    struct buf p;
    buf_init(f, BUILD_CAP);
    buf_init(&p, BUILD_CAP);
    buf_init(&inner, BUILD_CAP);
    build_tnef(f, 1, BODY, SLICE_LIT("plain"));
    buf_add_u32(&p, 6);
    buf_add(&p, SLICE_LIT("\x03\0\x17\0\1\0\0\0"));  /* a long */
    buf_add(&p, SLICE_LIT("\x1e\0\x01\x80"           /* a named string */
                          "0123456789abcdef\1\0\0\0" /* its name is text */
                          "\x05\0\0\0n\0a\0m\0\0\0"));
    buf_add(&p, SLICE_LIT("\1\0\0\0\3\0\0\0abc\0"));
    buf_add(&p, SLICE_LIT("\x03\x10\x10\x66\2\0\0\0\1\0\0\0\2\0\0\0")); /* two longs */
    build_property(&p, 31, 0x1000, SLICE_LIT("w\0i\0d\0e\0"));
    build_property(&p, 258, 0x1013, SLICE_LIT("<a>"));
    build_property(&p, 258, 0x1009, SLICE_LIT(RTF_HELLO));
    build_tnef(f, 1, PROPERTIES, buf_slice(&p));
    build_tnef(f, 2, RENDDATA, SLICE_LIT("12345678901234"));
    build_tnef(f, 2, TITLE, SLICE_LIT("SHORT~1.TXT\0"));
    build_tnef(f, 2, DATA, SLICE_LIT("data"));
    buf_clear(&p);
    buf_add_u32(&p, 1);
    build_property(&p, 30, 0x3707, SLICE_LIT("long name.txt\0"));
    build_tnef(f, 2, ATTACHMENT, buf_slice(&p));
    build_tnef(f, 2, RENDDATA, SLICE_LIT("12345678901234"));
    build_tnef(&inner, 1, BODY, SLICE_LIT("in"));
    buf_clear(&p);
    buf_add_u32(&p, 2);
    build_property(&p, 30, 0x3704, SLICE_LIT("msg\0"));
    struct buf object;
    buf_init(&object, BUILD_CAP);
    buf_add_str(&object, "0123456789abcdef");
    buf_add(&object, buf_slice(&inner));
    build_property(&p, 13, 0x3701, buf_slice(&object));
    build_tnef(f, 2, ATTACHMENT, buf_slice(&p));
    buf_fini(&object);
    buf_fini(&inner);
    buf_fini(&p);
}

static void test_file__of_all_kinds__is_told(void **state)
{
    (void)state;
    struct buf f;
    struct build_record r;
    build_whole(&f);
    assert_int_equal(read_tnef(buf_slice(&f), &r), 0);
    static const char want[] =
        "+  type=text/plain\n= plain\n- whole\n"
        "+  type=text/plain\n= w\0i\0d\0e\0\n- whole\n"
        "+  type=text/html\n= <a>\n- whole\n"
        "+  type=text/rtf\n= {\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n\n- whole\n"
        "N long name.txt windows-1252\nN SHORT~1.TXT windows-1252\n"
        "+ long name.txt\n= data\n- whole\n"
        "N msg windows-1252\n+ msg type=application/ms-tnef\n"
        "= \x78\x9f\x3e\x22\1\0\1\x0c\x80\2\0\2\0\0\0in\0\0\n- whole\n";
    assert_int_equal(r.text.n, sizeof(want) - 1);
    assert_memory_equal(build_text(&r), want, sizeof(want) - 1);
    buf_fini(&r.text);
    buf_fini(&f);
}

static void test_file__cut_anywhere_or_changed__is_read_as_far(void **state)
{
    (void)state;
    struct buf f;
    build_whole(&f);
    for (size_t n = 0; n <= f.n; n++) {
        struct build_record r;
        char *exact = malloc(n + 1);
        memcpy(exact, f.p, n);
        (void)read_tnef(slice_of(exact, n), &r);
        buf_fini(&r.text);
        for (unsigned v = 1; n > 0 && v < 256; v += 85) {
            exact[n - 1] = (char)(unsigned char)((unsigned char)f.p[n - 1] ^ v);
            (void)read_tnef(slice_of(exact, n), &r);
            assert_in_range(r.bytes, 0, 4 * f.n);
            buf_fini(&r.text);
        }
        free(exact);
    }
    buf_fini(&f);
}

static void test_attribute__longer_than_the_file__is_what_is_there(void **state)
{
    (void)state;
    struct buf f;
    struct build_record r;
    buf_init(&f, BUILD_CAP);
    build_tnef(&f, 1, BODY, SLICE_LIT("text"));
    f.p[11] = 100; /* its length */
    (void)read_tnef(slice_of(f.p, f.n - 2), &r);
    assert_string_equal(build_text(&r), "+  type=text/plain\n= text\n- whole\n");
    buf_fini(&r.text);
    buf_fini(&f);
}

static void test_files__more_than_the_budget__are_not_told(void **state)
{
    (void)state;
    for (size_t n = ARCHIVE_ENTRIES_MAX - 1; n <= ARCHIVE_ENTRIES_MAX + 1; n++) {
        struct buf f;
        struct build_record r;
        buf_init(&f, BUILD_CAP);
        for (size_t i = 0; i < n; i++) {
            build_tnef(&f, 1, BODY, SLICE_LIT("x"));
        }
        unsigned met = read_tnef(buf_slice(&f), &r);
        assert_int_equal(met, n > ARCHIVE_ENTRIES_MAX ? ARCHIVE_LIMIT_ENTRIES : 0);
        assert_int_equal(r.bytes, n < ARCHIVE_ENTRIES_MAX ? n : ARCHIVE_ENTRIES_MAX);
        buf_fini(&r.text);
        buf_fini(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rtf__examples_of_the_standard__are_unpacked),
        cmocka_unit_test(test_rtf__longer_than_the_budget__ends),
        cmocka_unit_test(test_file__of_all_kinds__is_told),
        cmocka_unit_test(test_file__cut_anywhere_or_changed__is_read_as_far),
        cmocka_unit_test(test_attribute__longer_than_the_file__is_what_is_there),
        cmocka_unit_test(test_files__more_than_the_budget__are_not_told),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
