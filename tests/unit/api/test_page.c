/*
 * test_page - the files of the status page lie in the program as in the tree, and get by with what
 * the policy lets them.
 */
#include <stdio.h>

#include "core/base/file.h"
#include "core/hub/api/page.h"

#include "tests/unit/unit.h"

/* Of all files but the table of texts, which only other languages than English load. */
enum { PAGE_BYTES_MAX = 220 * 1000 };

static bool has(struct slice bytes, const char *word)
{
    return slice_find_slice(bytes, slice_str(word)) < bytes.n;
}

static void test_find__when_the_path_is_a_file__then_its_bytes(void **state)
{
    static const struct {
        const char *path;
        const char *file;
        const char *type;
    } rows[] = {{"/", "index.html", "text/html; charset=utf-8"},
                {"/page.css", "page.css", "text/css; charset=utf-8"},
                {"/page.js", "page.js", "text/javascript; charset=utf-8"}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct page_file *f = page_find(rows[i].path);
        struct buf there;
        struct errinfo why = {0};
        char file[1024];

        buf_init(&there, PAGE_BYTES_MAX);
        (void)snprintf(file, sizeof(file), "%s/core/hub/api/page/%s",
                       GILLNET_SOURCE_DIR, rows[i].file);
        assert_int_equal(file_read(file, &there, &why), ERR_OK);
        assert_non_null(f);
        assert_string_equal(f->type, rows[i].type);
        assert_true(slice_eq(f->bytes, slice_of(there.p, there.n)));
        assert_int_equal(strlen(f->etag), 66);
        buf_fini(&there);
    }
}

static void test_find__when_no_file_has_the_path__then_null(void **state)
{
    static const char *const rows[] = {"",      "/index.html", "//",
                                       "/page", "/page.js/",   "page.js"};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_null(page_find(rows[i]));
    }
}

static void test_files__when_put_together__then_within_the_policy_and_small(
    void **state)
{
    /* Constructs that the policy refuses, and those that would turn text into markup. */
    static const char *const never[] = {
        "style=\"",           "<style",   "onclick=",       "innerHTML",
        "outerHTML",          "https://", "document.write", "eval(",
        "insertAdjacentHTML", "srcdoc",   "javascript:"};
    size_t total = 0;

    (void)state;
    for (const struct page_file *f = page_files; f->path != NULL; f++) {
        total += strcmp(f->path, "/texts.js") == 0 ? 0 : f->bytes.n;
        for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
            if (has(f->bytes, never[i])) {
                fail_msg("%s has %s", f->path, never[i]);
            }
        }
    }
    assert_in_range(total, 1000, PAGE_BYTES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find__when_the_path_is_a_file__then_its_bytes),
        cmocka_unit_test(test_find__when_no_file_has_the_path__then_null),
        cmocka_unit_test(
            test_files__when_put_together__then_within_the_policy_and_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
