/*
 * test_magic - file types by their first bytes, and declared types that are wrong.
 */
#include "core/base/base.h"
#include "core/message/archive/magic.h"

#include "tests/unit/unit.h"

struct row {
    struct slice head;
    const char *type; /* empty: nothing known */
    const char *honest;
    const char *lie; /* empty: none does */
};

#define HEAD(s)          \
    {                    \
        s, sizeof(s) - 1 \
    }

static const struct row rows[] = {
    {HEAD("%PDF-1.7\n"), "application/pdf", "application/pdf", "image/png"},
    {HEAD("junk\n%PDF-1.7\n"), "application/pdf", "application/x-pdf", "text/plain"},
    {HEAD("PK\3\4\x14"), "application/zip",
     "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
     "application/pdf"},
    {HEAD("PK\5\6"), "application/zip", "application/x-zip-compressed", "image/gif"},
    {HEAD("MZ\x90"), "application/x-msdownload", "application/x-msdos-program",
     "application/pdf"},
    {HEAD("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "application/x-ole-storage",
     "application/msword", "text/plain"},
    {HEAD("\x89PNG\r\n\x1a\n"), "image/png", "image/jpeg", "application/pdf"},
    {HEAD("\xff\xd8\xff\xe0"), "image/jpeg", "image/pjpeg", "audio/mpeg"},
    {HEAD("\x78\x9f\x3e\x22"), "application/ms-tnef", "application/vnd.ms-tnef",
     "image/png"},
    {HEAD(" \n<!DOCTYPE HTML><p>"), "text/html", "text/plain", "application/pdf"},
    {HEAD("\xef\xbb\xbf<html>"), "text/html", "application/xhtml+xml", "image/png"},
    {HEAD("{\\rtf1"), "text/rtf", "application/msword", "application/pdf"},
    {HEAD("hello"), "", "application/pdf", ""},
    {HEAD(""), "", "image/png", ""},
    {HEAD("M"), "", "application/pdf", ""},
};

static void test_head__of_each_kind__tells_type_and_lies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct magic m = magic_of(rows[i].head);
        assert_int_equal(m.kind == MAGIC_NONE, rows[i].type[0] == '\0');
        assert_true(slice_eq(m.type, slice_str(rows[i].type)));
        assert_false(magic_contradicts(&m, slice_str(rows[i].honest)));
        assert_false(magic_contradicts(&m, slice_str(rows[i].type)));
        assert_false(magic_contradicts(&m, SLICE_LIT("application/octet-stream")));
        assert_false(magic_contradicts(&m, SLICE_NONE));
        if (rows[i].lie[0] != '\0') {
            assert_true(magic_contradicts(&m, slice_str(rows[i].lie)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head__of_each_kind__tells_type_and_lies),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
