/*
 * test_contents - the table of contents of a backup: which files, and hostile tables.
 */
#include <stdio.h>

#include "core/backup/contents.h"

#include "tests/unit/unit.h"

#define HEAD                                                                        \
    "gillnet-backup 1\nversion 0.1.0\nnode one 0011\ntime 1790000000\nshared yes\n" \
    "counts no\nfiles "

static enum err parse(const char *text, struct contents *ret, struct errinfo *reterr)
{
    contents_init(ret);
    return contents_parse(slice_str(text), ret, reterr);
}

static void test_takes__then_what_lasts_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool is_taken;
        bool without_counts;
    } rows[] = {
        {"keys/digest.key", true, true},
        {"lists/phish/CURRENT", true, true},
        {"lists/phish/log.00000001", true, true},
        {"lists/phish/memtable.00000001", true, true},
        {"feeds/urlhaus/state.json", true, true},
        {"feeds/ham.log", true, true}, /* a person gave it: no count */
        {"reports/spool", true, true},
        {"peers/objects/00ff/11ee/00000000000000000001", true, true},
        {"peers/own/00ff/000000006b02e9a8-68-7c.stream", true, true},
        {"identity/known.3", true, true},
        {"identity/log.4", true, true},
        {"identity/accounts", true, true},
        {"counts/lists.lookups", true, true},
        {"counts/live.1795353000-68.wal", true, false},
        {"counts/runs/0-1-2-3-4.run", true, false},
        {"peers/counts/runs/0-1-2-3-4.run", true, false},
        {"counts/live.1795353000-68.0.table", false, false},
        {"counts/gillnetd.stats", false, false},
        {"lists/LOCK", false, false},
        {"peers/invites.lock", false, false},
        {"peers/table/lock.mdb", false, false},
        {"peers/shared/totals", false, false},
        {"peers/restored", false, false},
        {"lists/phish/log.00000002.00ff.tmp", false, false},
        {"keys", false, false},
        {"etc/passwd", false, false},
        {"/keys/digest.key", false, false},
        {"keys//digest.key", false, false},
        {"keys/digest.key/", false, false},
        {"keys/../keys/digest.key", false, false},
        {"keys/./digest.key", false, false},
        {"keys/.hidden", false, false},
        {"keys/-rf", false, false},
        {"keys/a b", false, false},
        {"keys/a\nb", false, false},
        {"keys/\xc3\xa4", false, false},
        {"peers/1/2/3/4/5/6/7", true, true},
        {"peers/1/2/3/4/5/6/7/8", false, false},
        {"", false, false},
    };
    char longest[CONTENTS_PATH_MAX + 2] = "feeds/";

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct slice path = slice_str(rows[i].path);
        if (contents_takes(path, true) != rows[i].is_taken ||
            contents_takes(path, false) != rows[i].without_counts) {
            fail_msg("%s", rows[i].path);
        }
    }
    memset(longest + 6, 'x', sizeof(longest) - 7);
    for (size_t i = 150; i < sizeof(longest) - 1; i += 150) {
        longest[i] = '/';
    }
    assert_false(contents_takes(slice_str(longest), true));
    longest[CONTENTS_PATH_MAX] = '\0';
    assert_true(contents_takes(slice_str(longest), true));
    assert_false(contents_takes(slice_of("keys/a\0b", 8), true));
}

static void test_print__then_parsed_back(void **state)
{
    struct contents c;
    struct contents back;
    struct errinfo why;
    struct buf text;
    (void)state;
    contents_init(&c);
    buf_init(&text, CONTENTS_TEXT_MAX);
    c.time_s = 1790000000;
    c.is_shared = true;
    c.has_counts = true;
    memcpy(c.node, "one 00ff", 9);
    assert_int_equal(contents_add(&c, SLICE_LIT("lists/b/CURRENT"), 96, 0644, &why), 0);
    assert_int_equal(contents_add(&c, SLICE_LIT("keys/digest.key"), 0, 0600, &why), 0);
    assert_int_equal(contents_add(&c, SLICE_LIT("keys/digest.key"), 5, 0600, &why), 0);
    assert_int_equal(contents_add(&c, SLICE_LIT("x"), UINT64_MAX, 0600, &why),
                     ERR_LIMIT);
    contents_sort(&c);
    assert_int_equal(c.n, 2);
    contents_print(&c, &text);
    contents_init(&back);
    assert_int_equal(contents_parse(buf_slice(&text), &back, &why), ERR_OK);
    assert_int_equal(back.n, 2);
    assert_int_equal(back.bytes, c.bytes);
    assert_string_equal(back.v[0].path, "keys/digest.key");
    assert_int_equal(back.v[0].mode, 0600);
    assert_int_equal(back.v[1].mode, 0640);
    assert_string_equal(back.node, "one 00ff");
    assert_true(back.is_shared && back.has_counts);
    assert_int_equal(back.time_s, c.time_s);
    buf_fini(&text);
    contents_fini(&back);
    contents_fini(&c);
}

static void test_parse__when_it_is_not_right__then_refused_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum err code;
        unsigned line;
    } rows[] = {
        {HEAD "0\n\n", ERR_OK, 0},
        {HEAD "1\n\n0600 5 keys/digest.key\n", ERR_OK, 0},
        {"", ERR_SYNTAX, 0},
        {"gillnet-backup 2\n", ERR_VERSION, 1},
        {"gillnet-backup x\n", ERR_SYNTAX, 1},
        {"something else\n", ERR_SYNTAX, 1},
        {"gillnet-backup 1\nversion 0.1.0\nnode a\tb\n", ERR_SYNTAX, 3},
        {HEAD "1\n\n", ERR_SYNTAX, 8},
        {HEAD "1\n\n0600 5 keys/digest.key", ERR_SYNTAX, 8},
        {HEAD "1\n\n0666 5 keys/digest.key\n", ERR_SYNTAX, 9},
        {HEAD "1\n\n4755 5 keys/digest.key\n", ERR_SYNTAX, 9},
        {HEAD "1\n\n0600 -5 keys/digest.key\n", ERR_SYNTAX, 9},
        {HEAD "1\n\n0600 05 keys/digest.key\n", ERR_SYNTAX, 9},
        {HEAD "1\n\n0600  keys/digest.key\n", ERR_SYNTAX, 9},
        {HEAD "1\n\n0600 99999999999999999999 keys/digest.key\n", ERR_SYNTAX, 9},
        {HEAD "1\n\n0600 9999999999999999999 keys/digest.key\n", ERR_LIMIT, 0},
        {HEAD "1\n\n0600 5 ../keys/digest.key\n", ERR_SYNTAX, 9},
        {HEAD "1\n\n0600 5 \n", ERR_SYNTAX, 9},
        {HEAD "1\n\n0600 5\n", ERR_SYNTAX, 9},
        {HEAD "2\n\n0600 5 keys/b.key\n0600 5 keys/a.key\n", ERR_SYNTAX, 10},
        {HEAD "2\n\n0600 5 keys/a.key\n0600 5 keys/a.key\n", ERR_SYNTAX, 10},
        {HEAD "1\n\n0600 5 keys/a.key\n0600 5 keys/b.key\n", ERR_SYNTAX, 9},
        {HEAD "4000001\n\n", ERR_LIMIT, 8},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct contents c;
        struct errinfo why = {.line = 0};
        enum err e = parse(rows[i].text, &c, &why);
        if (e != rows[i].code || (rows[i].line != 0 && why.line != rows[i].line)) {
            fail_msg("row %zu: %s in line %u: %s", i, err_text(e), why.line, why.text);
        }
        contents_fini(&c);
    }
}

#define SUM_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SUM_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void test_sums__when_one_differs__then_its_file_is_named(void **state)
{
    struct contents c;
    struct errinfo why;
    struct buf sums;
    (void)state;
    assert_int_equal(parse(HEAD "1\n\n0600 5 keys/a.key\n", &c, &why), ERR_OK);
    (void)snprintf(c.v[0].sha256, sizeof(c.v[0].sha256), "%s", SUM_B);
    buf_init(&sums, CONTENTS_TEXT_MAX);
    contents_print_sums(&c, SUM_A, &sums);
    const struct slice whole = buf_slice(&sums);
    assert_int_equal(contents_check_sums(&c, SUM_A, whole, &why), ERR_OK);
    assert_int_equal(contents_check_sums(&c, SUM_B, whole, &why), ERR_CORRUPT);
    assert_string_equal(why.source, "MANIFEST");
    c.v[0].sha256[3] = 'c';
    assert_int_equal(contents_check_sums(&c, SUM_A, whole, &why), ERR_CORRUPT);
    assert_string_equal(why.source, "keys/a.key");
    c.v[0].sha256[3] = 'b';
    for (size_t n = 0; n < whole.n; n++) {
        assert_int_equal(contents_check_sums(&c, SUM_A, slice_head(whole, n), &why),
                         ERR_CORRUPT);
    }
    buf_add_str(&sums, "x\n");
    assert_int_equal(contents_check_sums(&c, SUM_A, buf_slice(&sums), &why),
                     ERR_CORRUPT);
    buf_fini(&sums);
    contents_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes__then_what_lasts_and_nothing_else),
        cmocka_unit_test(test_print__then_parsed_back),
        cmocka_unit_test(test_parse__when_it_is_not_right__then_refused_with_its_line),
        cmocka_unit_test(test_sums__when_one_differs__then_its_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
