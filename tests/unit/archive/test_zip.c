/*
 * test_zip - which entries a zip file has for any reader, and how little a bad one costs.
 */
#include "core/base/base.h"
#include "core/message/archive/zip.h"

#include "tests/unit/archive/build.h"
#include "tests/unit/unit.h"

static unsigned read_zip(struct slice file, struct build_record *ret)
{
    struct archive_budget budget = archive_budget_start();
    build_record_init(ret);
    zip_read(file, &budget, &build_events, ret);
    return budget.limits_met;
}

static void check(struct build_zip *z, const char *want)
{
    struct build_record r;
    assert_int_equal(read_zip(build_zip_end(z), &r), 0);
    assert_string_equal(build_text(&r), want);
    buf_fini(&r.text);
    build_zip_fini(z);
}

static void test_entries__stored_and_deflated__are_given(void **state)
{
    (void)state;
    struct build_zip z;
    build_zip_begin(&z);
    build_zip_add(&z, &(struct build_entry){.name = "d/", .flags = BUILD_UTF8});
    build_zip_add(&z, &(struct build_entry){.name = "d/a.txt",
                                            .data = SLICE_LIT("hello"),
                                            .flags = BUILD_UTF8});
    build_zip_add(&z, &(struct build_entry){.name = "b.txt",
                                            .data = SLICE_LIT("aaaaaaaaaaaaaaaaaaaaa"),
                                            .method = 8});
    check(&z, "N d/\n+ d/\n= \n- whole\nN d/a.txt\n+ d/a.txt\n= hello\n- whole\n"
              "N b.txt cp437\n+ b.txt\n= aaaaaaaaaaaaaaaaaaaaa\n- whole\n"
              "N d/\nN d/a.txt\nN b.txt cp437\n");
}

static void test_names__local_central_and_path_differ__all_are_told(void **state)
{
    (void)state;
    struct build_zip z;
    build_zip_begin(&z);
    build_zip_add(&z, &(struct build_entry){.name = "a.txt",
                                            .central = "a.exe",
                                            .path = "a.js",
                                            .data = SLICE_LIT("x"),
                                            .flags = BUILD_UTF8});
    check(&z, "N a.txt\nN a.js\n+ a.txt\n= x\n- whole\nN a.exe\n");
}

static void test_entry__not_in_the_directory__is_told(void **state)
{
    (void)state;
    struct build_zip z;
    build_zip_begin(&z);
    build_zip_add(&z, &(struct build_entry){
                          .name = "seen", .data = SLICE_LIT("x"), .flags = BUILD_UTF8});
    build_zip_add(&z, &(struct build_entry){.name = "hid",
                                            .central = "",
                                            .data = SLICE_LIT("y"),
                                            .flags = BUILD_UTF8});
    check(&z, "N seen\n+ seen\n= x\n- whole\nN hid\n+ hid\n= y\n- whole\nN seen\n");
}

static void test_entry__within_the_lying_size_of_another__is_told(void **state)
{
    (void)state;
    struct build_zip z;
    build_zip_begin(&z);
    build_zip_add(
        &z, &(struct build_entry){
                .name = "big", .data = SLICE_LIT("x"), .lie = 40, .flags = BUILD_UTF8});
    build_zip_add(&z,
                  &(struct build_entry){.name = "hid",
                                        .data = SLICE_LIT("yyyyyyyyyyyyyyyyyyyyyyyy"),
                                        .method = 8,
                                        .flags = BUILD_UTF8});
    struct build_record r;
    assert_int_equal(read_zip(build_zip_end(&z), &r), 0);
    const struct slice want = SLICE_LIT("+ hid\n= yyyyyyyyyyyyyyyyyyyyyyyy\n- whole\n");
    assert_true(slice_find_slice(buf_slice(&r.text), want) < r.text.n);
    buf_fini(&r.text);
    build_zip_fini(&z);
}

static void test_sizes__behind_the_data__are_those_of_the_directory(void **state)
{
    (void)state;
    struct build_zip z;
    build_zip_begin(&z);
    build_zip_add(&z, &(struct build_entry){.name = "s",
                                            .data = SLICE_LIT("stored"),
                                            .flags = BUILD_LATER | BUILD_UTF8});
    build_zip_add(&z, &(struct build_entry){.name = "d",
                                            .data = SLICE_LIT("ddddddddddddddddd"),
                                            .method = 8,
                                            .flags = BUILD_LATER | BUILD_UTF8});
    check(&z, "N s\n+ s\n= stored\n- whole\nN d\n+ d\n= ddddddddddddddddd\n- whole\n"
              "N s\nN d\n");
}

static void test_encrypted_or_unknown__names_only(void **state)
{
    (void)state;
    struct build_zip z;
    build_zip_begin(&z);
    build_zip_add(&z, &(struct build_entry){.name = "e",
                                            .data = SLICE_LIT("x"),
                                            .flags = BUILD_ENCRYPTED | BUILD_UTF8});
    build_zip_add(&z, &(struct build_entry){.name = "lzma",
                                            .data = SLICE_LIT("x"),
                                            .method = 14,
                                            .flags = BUILD_UTF8});
    check(&z, "N e\n+ e encrypted\nN lzma\nN e\nN lzma\n");
}

static void test_program_in_front__offsets_still_fit(void **state)
{
    (void)state;
    struct build_zip z;
    struct buf file;
    build_zip_begin(&z);
    build_zip_add(&z, &(struct build_entry){.name = "s",
                                            .data = SLICE_LIT("stored"),
                                            .flags = BUILD_LATER | BUILD_UTF8});
    struct slice zip = build_zip_end(&z);
    buf_init(&file, BUILD_CAP);
    buf_add_str(&file, "MZ a program that unpacks it");
    buf_add(&file, zip);
    struct build_record r;
    assert_int_equal(read_zip(buf_slice(&file), &r), 0);
    assert_string_equal(build_text(&r), "N s\n+ s\n= stored\n- whole\nN s\n");
    buf_fini(&r.text);
    buf_fini(&file);
    build_zip_fini(&z);
}

static struct slice build_two(struct build_zip *z)
{
    build_zip_begin(z);
    build_zip_add(z, &(struct build_entry){.name = "one",
                                           .data = SLICE_LIT("11111111111111111111"),
                                           .method = 8,
                                           .path = "1",
                                           .flags = BUILD_LATER});
    build_zip_add(z, &(struct build_entry){.name = "two", .data = SLICE_LIT("2222")});
    return build_zip_end(z);
}

static void test_file__cut_anywhere__what_is_there_is_told(void **state)
{
    (void)state;
    struct build_zip z;
    struct slice file = build_two(&z);
    for (size_t n = 0; n <= file.n; n++) {
        struct build_record r;
        char *exact = malloc(n + 1); /* so that a sanitizer sees its end */
        memcpy(exact, file.p, n);
        (void)read_zip(slice_of(exact, n), &r);
        if (n >= 60) {
            assert_non_null(strstr(build_text(&r), "N one cp437\n"));
        }
        buf_fini(&r.text);
        free(exact);
    }
    build_zip_fini(&z);
}

static void test_file__each_byte_changed__costs_no_more(void **state)
{
    (void)state;
    struct build_zip z;
    struct slice file = build_two(&z);
    for (size_t i = 0; i < file.n; i++) {
        for (unsigned v = 0; v < 256; v += 17) {
            struct build_record r;
            char *bad = malloc(file.n);
            memcpy(bad, file.p, file.n);
            bad[i] = (char)(unsigned char)v;
            (void)read_zip(slice_of(bad, file.n), &r);
            assert_in_range(r.bytes, 0, 2000);
            buf_fini(&r.text);
            free(bad);
        }
    }
    build_zip_fini(&z);
}

static size_t count(const char *text, const char *needle)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, needle)) != NULL; p++) {
        n++;
    }
    return n;
}

static void test_entries__below_at_above_the_limit__later_ones_are_not_told(
    void **state)
{
    (void)state;
    for (size_t n = ARCHIVE_ENTRIES_MAX - 1; n <= ARCHIVE_ENTRIES_MAX + 1; n++) {
        struct build_zip z;
        build_zip_begin(&z);
        for (size_t i = 0; i < n; i++) {
            build_zip_add(&z,
                          &(struct build_entry){.name = "x", .data = SLICE_LIT("y")});
        }
        struct build_record r;
        unsigned met = read_zip(build_zip_end(&z), &r);
        assert_int_equal(met, n > ARCHIVE_ENTRIES_MAX ? ARCHIVE_LIMIT_ENTRIES : 0);
        assert_int_equal(count(build_text(&r), "+ x"),
                         n < ARCHIVE_ENTRIES_MAX ? n : ARCHIVE_ENTRIES_MAX);
        buf_fini(&r.text);
        build_zip_fini(&z);
    }
}

/* One entry of n bytes that all are the same, or hardly two. */
static unsigned read_one(size_t n, bool tight, struct build_record *ret)
{
    struct build_zip z;
    char *data = malloc(n);
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1103515245u + 12345u;
        data[i] = (char)(unsigned char)(tight ? 0 : seed >> 16 & 0x0f);
    }
    struct archive_budget budget = archive_budget_start();
    build_zip_begin(&z);
    build_zip_add(
        &z, &(struct build_entry){.name = "x", .data = slice_of(data, n), .method = 8});
    build_record_init(ret);
    ret->quiet = true;
    zip_read(build_zip_end(&z), &budget, &build_events, ret);
    build_zip_fini(&z);
    free(data);
    return budget.limits_met;
}

static void test_ratio__at_and_above_what_is_free__ends_the_entry(void **state)
{
    (void)state;
    struct build_record r;
    assert_int_equal(read_one(ARCHIVE_RATIO_FREE, true, &r), 0);
    assert_int_equal(r.bytes, ARCHIVE_RATIO_FREE);
    assert_non_null(strstr(build_text(&r), "- whole"));
    buf_fini(&r.text);
    assert_int_equal(read_one(ARCHIVE_RATIO_FREE + 1, true, &r), ARCHIVE_LIMIT_RATIO);
    assert_in_range(r.bytes, ARCHIVE_RATIO_FREE, ARCHIVE_RATIO_FREE + 1);
    assert_non_null(strstr(build_text(&r), "- broken"));
    buf_fini(&r.text);
}

static void test_bytes__below_at_above_the_limit__end_the_entry(void **state)
{
    (void)state;
    for (size_t n = ARCHIVE_INFLATED_MAX - 1; n <= ARCHIVE_INFLATED_MAX + 1; n++) {
        struct build_record r;
        unsigned met = read_one(n, false, &r);
        bool over = n > ARCHIVE_INFLATED_MAX;
        assert_int_equal(met, over ? ARCHIVE_LIMIT_INFLATED : 0);
        assert_true(r.bytes <= ARCHIVE_INFLATED_MAX);
        assert_non_null(strstr(build_text(&r), over ? "- broken" : "- whole"));
        buf_fini(&r.text);
    }
}

/* Many directory entries that share the data of one: each costs from the same budget. */
static void test_entries__overlapping__share_the_budget(void **state)
{
    (void)state;
    struct build_zip z;
    char zeros[4096] = {0};
    struct build_entry e = {
        .name = "k", .data = slice_of(zeros, sizeof(zeros)), .method = 0};
    build_zip_begin(&z);
    build_zip_add(&z, &e);
    for (size_t i = 0; i < 500; i++) {
        build_zip_central(&z, "k", &e, i, sizeof(zeros));
    }
    struct build_record r;
    assert_int_equal(read_zip(build_zip_end(&z), &r), 0);
    assert_int_equal(r.bytes, sizeof(zeros));
    buf_fini(&r.text);
    build_zip_fini(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries__stored_and_deflated__are_given),
        cmocka_unit_test(test_names__local_central_and_path_differ__all_are_told),
        cmocka_unit_test(test_entry__not_in_the_directory__is_told),
        cmocka_unit_test(test_entry__within_the_lying_size_of_another__is_told),
        cmocka_unit_test(test_sizes__behind_the_data__are_those_of_the_directory),
        cmocka_unit_test(test_encrypted_or_unknown__names_only),
        cmocka_unit_test(test_program_in_front__offsets_still_fit),
        cmocka_unit_test(test_file__cut_anywhere__what_is_there_is_told),
        cmocka_unit_test(test_file__each_byte_changed__costs_no_more),
        cmocka_unit_test(
            test_entries__below_at_above_the_limit__later_ones_are_not_told),
        cmocka_unit_test(test_ratio__at_and_above_what_is_free__ends_the_entry),
        cmocka_unit_test(test_bytes__below_at_above_the_limit__end_the_entry),
        cmocka_unit_test(test_entries__overlapping__share_the_budget),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
