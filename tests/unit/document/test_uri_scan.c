/*
 * test_uri_scan - addresses in bytes that nobody parses, narrow and wide.
 */
#include "core/reader/document/uri_scan.h"

#include "tests/unit/document/told.h"

static const char *scan(struct slice bytes, enum uri_width width)
{
    struct buf told;
    struct found *f = told_new(&told);

    assert_true(uri_scan(f, bytes, width));
    return told_end(&f, &told);
}

static void test_scan__each_text__its_addresses(void **state)
{
    static const struct {
        const char *text;
        const char *told;
    } rows[] = {
        {"\x01\x02http://a.example/x\x03", "link:http://a.example/x "},
        {"<a href=\"https://a.example/?b=c\">", "link:https://a.example/?b=c "},
        {"http://a.example/ and ftp://b.example/",
         "link:http://a.example/ link:ftp://b.example/ "},
        {"9http://a.example/", "link:http://a.example/ "},
        {"abcdefghijklmnopqrst://a.example/", "link:efghijklmnopqrst://a.example/ "},
        {"://a.example/", ""},
        {"http://abc", ""},
        {"http://abcd", "link:http://abcd "},
        {"http:// a.example", ""},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char wide[200];
        size_t n = strlen(rows[i].text);

        const char *told = scan(slice_str(rows[i].text), URI_NARROW);
        if (strcmp(told, rows[i].told) != 0) {
            fail_msg("%s: %s", rows[i].text, told);
        }
        for (size_t k = 0; k < n; k++) {
            wide[2 * k] = rows[i].text[k];
            wide[2 * k + 1] = '\0';
        }
        told = scan(slice_of(wide, 2 * n), URI_WIDE);
        if (strcmp(told, rows[i].told) != 0) {
            fail_msg("wide %s: %s", rows[i].text, told);
        }
    }
}

/* Letters of other scripts belong to a wide address alone: bytes may be anything. */
static void test_scan__letters_beyond_ascii__only_where_they_are_certain(void **state)
{
    static const char wide[] =
        "h\0t\0t\0p\0:\0/\0/\0b\0\xfc\0c\0h\0e\0r\0.\0d\0e\0\x02\x30";

    (void)state;
    assert_string_equal(scan(SLICE_LIT("http://abcd\xfc"), URI_NARROW),
                        "link:http://abcd ");
    assert_string_equal(scan(slice_of(wide, sizeof(wide) - 1), URI_WIDE),
                        "link:http://b\xc3\xbc"
                        "cher.de ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan__each_text__its_addresses),
        cmocka_unit_test(test_scan__letters_beyond_ascii__only_where_they_are_certain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
