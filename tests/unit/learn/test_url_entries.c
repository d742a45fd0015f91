/* test_url_entries - the table of malicious URLs: its ends, its bound, and its file. */
#include "core/base/base.h"
#include "core/learn/url_entries.h"

#include "tests/unit/unit.h"

enum { NOW = 1800000000 };

static struct url_entries *entries;

static int set_up(void **state)
{
    (void)state;
    entries = url_entries_new();
    return entries != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    url_entries_free(&entries);
    return 0;
}

static bool add(const char *url, uint64_t until_s)
{
    return url_entries_add(entries, slice_str(url), until_s);
}

static void prints(const char *want)
{
    struct buf file;
    buf_init(&file, URL_ENTRIES_FILE);
    url_entries_print(entries, &file);
    struct slice text = buf_slice(&file);
    (void)slice_cut(&text, '\n'); /* the comment */
    assert_true(slice_eq(text, slice_str(want)));
    buf_fini(&file);
}

static void test_entries__each_once_until_its_end(void **state)
{
    (void)state;
    assert_true(add("a.example/x", NOW + 60));
    assert_false(add("a.example/x", NOW + 90));
    assert_true(add("b.example/y?z=1", NOW + 30));
    assert_false(url_entries_expire(entries, NOW + 29));
    assert_true(url_entries_expire(entries, NOW + 30));
    prints("url:a.example/x # until 1800000060\n");
    assert_true(url_entries_expire(entries, NOW + 60));
    prints("");
}

static void test_entries__bytes_that_no_url_has__are_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        "a.example/x y",
                                        "a.example/\n",
                                        "a.example/\x80",
                                        "a.example/#x",
                                        "a.example/\x7f"};
    char text[URL_ENTRY_BYTES + 2];
    (void)state;
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        assert_false(add(wrong[i], NOW));
    }
    memset(text, 'a', sizeof(text));
    assert_false(url_entries_add(entries, slice_of(text, URL_ENTRY_BYTES + 1), NOW));
    assert_true(url_entries_add(entries, slice_of(text, URL_ENTRY_BYTES), NOW));
}

static void test_entries__when_full__the_one_that_ends_first_makes_room(void **state)
{
    char text[32];
    (void)state;
    for (unsigned i = 0; i <= URL_ENTRIES_MAX; i++) {
        (void)snprintf(text, sizeof(text), "a.example/%u", i);
        assert_true(add(text, NOW + (i == 7 ? 0 : 60 + i)));
    }
    assert_int_equal(url_entries_count(entries), URL_ENTRIES_MAX);
    assert_true(add("a.example/7", NOW)); /* it went */
}

static void test_read__of_a_file__gives_the_same_and_ignores_the_rest(void **state)
{
    static const char file[] =
        "# comment\nurl:a.example/x # until 1800000060\n"
        "url:a.example/x # until 1800000061\nurl:b.example\n"
        "b.example # until 1800000060\nurl:c.example # until x\n"
        "url:d.example # until 99999999999999999999999\n"
        "url: # until 1800000060\nurl:e.example # until 1800000090";
    (void)state;
    url_entries_read(entries, slice_str(file));
    prints("url:a.example/x # until 1800000060\nurl:e.example # until 1800000090\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        TEST(test_entries__each_once_until_its_end),
        TEST(test_entries__bytes_that_no_url_has__are_refused),
        TEST(test_entries__when_full__the_one_that_ends_first_makes_room),
        TEST(test_read__of_a_file__gives_the_same_and_ignores_the_rest),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
