/*
 * test_list - writing and reading lists: changes are found, and explicit ones outrank imports.
 */
#include "core/base/clock.h"
#include "core/list/reader.h"

#include "tests/unit/list/list_fixture.h"

enum { NOW = 1700000000 };

static void at_time(uint64_t now_s)
{
    clock_set_for_test(now_s * 1000000, 1000000);
}

static void test_list_add__new_entry__found_by_an_open_reader_at_once(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    struct list_reader *r = open_reader(f);
    assert_null(list_reader_fault(r));
    assert_true(is_absent(ask_number(r, 1, NOW)));
    add_number(f, w, 1);
    assert_int_equal(ask_number(r, 1, NOW), LIST_CONFIRMED);
    revoke_number(f, w, 1);
    assert_int_equal(ask_number(r, 1, NOW), LIST_REVOKED);
    add_number(f, w, 1);
    assert_int_equal(ask_number(r, 1, NOW), LIST_CONFIRMED);
    struct list_stat s;
    list_reader_stat(r, &s);
    assert_int_equal(s.entries, 1);
    assert_int_equal(s.revoked, 0);
    assert_int_equal(s.recent, 1);
    list_reader_close(&r);
    list_writer_close(&w);
    assert_verified(f);
}

static void test_list_import__entries__found_and_counted(void **state)
{
    struct fixture *f = *state;
    at_time(NOW);
    struct list_writer *w = open_writer(f);
    struct list_import_result a = import_range(f, w, 0, 1000, 0);
    assert_int_equal(a.given, 1000);
    assert_int_equal(a.added, 1000);
    assert_int_equal(a.entries, 1000);
    revoke_number(f, w, 5);
    add_number(f, w, 2000);
    struct list_import_result b = import_range(f, w, 0, 1500, 0);
    assert_int_equal(b.added, 500);
    assert_int_equal(b.known, 999);
    assert_int_equal(b.revoked, 1);
    assert_int_equal(b.entries, 1500);
    struct list_reader *r = open_reader(f);
    for (uint64_t n = 0; n < 1500; n++) {
        assert_int_equal(ask_number(r, n, NOW), n == 5 ? LIST_REVOKED : LIST_CONFIRMED);
    }
    assert_int_equal(ask_number(r, 2000, NOW), LIST_CONFIRMED);
    unsigned wrong = 0;
    for (uint64_t n = 5000; n < 15000; n++) {
        wrong += !is_absent(ask_number(r, n, NOW));
    }
    assert_int_equal(wrong, 0);
    struct list_stat s;
    list_reader_stat(r, &s);
    assert_int_equal(s.entries, 1500);
    assert_int_equal(s.revoked, 1);
    assert_int_equal(s.recent, 0);
    assert_true(s.error_now < s.error_target);
    list_reader_close(&r);
    list_writer_close(&w);
    assert_verified(f);
}

static void test_list_import__nothing_new__no_new_generation(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    import_range(f, w, 0, 10, 0);
    uint64_t generation = w->current.generation;
    struct list_import_result b = import_range(f, w, 0, 10, 0);
    assert_int_equal(b.known, 10);
    assert_int_equal(b.entries, 10);
    assert_int_equal(w->current.generation, generation);
    list_writer_close(&w);
    assert_verified(f);
}

static void test_list_import__duplicates__counted_once(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    struct list_import *im = NULL;
    struct list_import_result result;
    MUST(f, list_import_begin(w, SLICE_LIT("feed"), &im, &f->info));
    for (uint64_t n = 0; n < 300; n++) {
        char text[64];
        struct feature_entry e = entry_number(n % 100, text);
        MUST(f, list_import_add(im, &e, 0, &f->info));
    }
    MUST(f, list_import_commit(&im, NULL, NULL, &result, &f->info));
    assert_int_equal(result.given, 300);
    assert_int_equal(result.duplicates, 200);
    assert_int_equal(result.added, 100);
    list_writer_close(&w);
    assert_verified(f);
}

static void test_list_import__aborted__nothing_changed(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    import_range(f, w, 0, 10, 0);
    struct list_import *im = NULL;
    MUST(f, list_import_begin(w, SLICE_LIT("feed"), &im, &f->info));
    char text[64];
    struct feature_entry e = entry_number(50, text);
    MUST(f, list_import_add(im, &e, 0, &f->info));
    list_import_abort(&im);
    assert_null(im);
    struct list_reader *r = open_reader(f);
    assert_true(is_absent(ask_number(r, 50, NOW)));
    list_reader_close(&r);
    list_writer_close(&w);
    assert_verified(f);
}

/* One step of a story about one entry; times in seconds from NOW. */
struct step {
    char what; /* a add, r revoke, i import, m merge into the base, b rebuild, . end */
    uint32_t at;
    uint32_t expiry; /* 0: never; else from NOW */
};

static void play(struct fixture *f, struct list_writer *w, const struct step *s)
{
    char text[64];
    struct feature_entry e = entry_number(1, text);
    uint32_t expiry_s = s->expiry != 0 ? NOW + s->expiry : 0;
    at_time(NOW + s->at);
    switch (s->what) {
    case 'a':
        MUST(f, list_add(w, &e, SLICE_LIT("person"), expiry_s, &f->info));
        break;
    case 'r':
        MUST(f, list_revoke(w, &e, SLICE_LIT("person"), &f->info));
        break;
    case 'i':
        import_range(f, w, 1, 2, expiry_s);
        break;
    case 'm':
        /* an import of something else takes the tail into the base */
        import_range(f, w, 100 + s->at, 101 + s->at, 0);
        break;
    case 'b':
        MUST(f, list_rebuild(w, NULL, NULL, &f->info));
        break;
    default:
        fail();
    }
}

static void test_list__stories_of_one_entry__precedence_and_expiry(void **state)
{
    struct fixture *f = *state;
    static const struct {
        struct step steps[8];
        enum list_answer answer; /* at NOW + 100 */
        bool is_explicit;
        uint32_t first_seen; /* from NOW */
    } rows[] = {
        {{{'i', 1, 0}}, LIST_CONFIRMED, false, 1},
        {{{'a', 1, 0}}, LIST_CONFIRMED, true, 1},
        {{{'r', 1, 0}}, LIST_REVOKED, true, 1},
        {{{'i', 1, 0}, {'r', 2, 0}}, LIST_REVOKED, true, 1},
        {{{'r', 1, 0}, {'i', 2, 0}}, LIST_REVOKED, true, 1},
        {{{'r', 1, 0}, {'m', 2, 0}, {'i', 3, 0}}, LIST_REVOKED, true, 1},
        {{{'r', 1, 0}, {'i', 2, 0}, {'a', 3, 0}}, LIST_CONFIRMED, true, 1},
        {{{'a', 1, 0}, {'i', 2, 0}, {'r', 3, 0}}, LIST_REVOKED, true, 1},
        {{{'i', 1, 0}, {'r', 2, 0}, {'m', 3, 0}, {'a', 4, 0}, {'m', 5, 0}},
         LIST_CONFIRMED,
         true,
         1},
        {{{'i', 1, 50}}, LIST_FALSE_POSITIVE, false, 0},
        {{{'i', 1, 101}}, LIST_CONFIRMED, false, 1},
        {{{'i', 1, 100}}, LIST_FALSE_POSITIVE, false, 0},
        {{{'a', 1, 50}}, LIST_FALSE_POSITIVE, false, 0},
        {{{'i', 1, 50}, {'i', 2, 200}}, LIST_CONFIRMED, false, 1},
        {{{'i', 1, 200}, {'i', 2, 50}}, LIST_CONFIRMED, false, 1},
        {{{'i', 1, 50}, {'i', 60, 200}}, LIST_CONFIRMED, false, 60},
        {{{'a', 1, 50}, {'i', 20, 0}}, LIST_FALSE_POSITIVE, false, 0},
        {{{'a', 1, 50}, {'i', 60, 0}}, LIST_CONFIRMED, false, 60},
        {{{'a', 1, 50}, {'m', 60, 0}, {'a', 70, 0}}, LIST_CONFIRMED, true, 70},
        {{{'a', 1, 0}, {'r', 2, 0}, {'b', 3, 0}}, LIST_REVOKED, true, 1},
        {{{'i', 1, 0}, {'b', 2, 0}, {'r', 3, 0}, {'b', 4, 0}, {'i', 5, 0}},
         LIST_REVOKED,
         true,
         1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct list_writer *w = open_writer(f);
        for (const struct step *s = rows[i].steps; s->what; s++) {
            play(f, w, s);
        }
        list_writer_close(&w);
        at_time(NOW + 100);
        struct list_reader *r = open_reader(f);
        struct digest d = digest_of(r, 1);
        struct list_provenance p;
        enum list_answer a = list_reader_explain(r, &d, NOW + 100, f->arena, &p);
        if (a != rows[i].answer && !(is_absent(a) && is_absent(rows[i].answer))) {
            fail_msg("row %zu: %s", i, list_answer_name(a));
        }
        if (!is_absent(a)) {
            assert_int_equal(p.is_explicit, rows[i].is_explicit);
            assert_int_equal(p.first_seen_s, NOW + rows[i].first_seen);
            assert_true(slice_eq(p.text, SLICE_LIT("host-1.example")));
            assert_string_equal(p.source, p.is_explicit ? "person" : "feed");
        }
        list_reader_close(&r);
        assert_verified(f);
        (void)tempdir_remove(f->dir);
    }
}

struct export
{
    uint64_t n;
    uint64_t revoked;
    uint64_t stop_at;
    bool seen[300];
};

static bool note_entry(void *context, const struct list_provenance *e)
{
    struct export *x = context;
    assert_true(slice_has_prefix(e->text, SLICE_LIT("host-")));
    char text[64];
    snprintf(text, sizeof(text), "%.*s", SLICE_ARGS(e->text));
    unsigned long n = strtoul(text + 5, NULL, 10);
    assert_true(n < 300 && !x->seen[n]);
    x->seen[n] = true;
    x->revoked += e->status == ENTRY_REVOKED;
    return ++x->n != x->stop_at;
}

static void test_list_reader_each__base_and_recent__every_entry_once(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    import_range(f, w, 0, 200, 0);
    for (uint64_t n = 150; n < 250; n++) {
        add_number(f, w, n);
    }
    revoke_number(f, w, 3);
    revoke_number(f, w, 299);
    struct list_reader *r = open_reader(f);
    struct export x = {0};
    MUST(f, list_reader_each(r, note_entry, &x, &f->info));
    assert_int_equal(x.n, 251);
    assert_int_equal(x.revoked, 2);
    struct export y = {.stop_at = 7};
    MUST(f, list_reader_each(r, note_entry, &y, &f->info));
    assert_int_equal(y.n, 7);
    list_reader_close(&r);
    list_writer_close(&w);
}

static void test_list_writer_set_keep_text__off__digests_only(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    list_writer_set_keep_text(w, false);
    add_number(f, w, 1);
    import_range(f, w, 2, 3, 0);
    struct list_reader *r = open_reader(f);
    for (uint64_t n = 1; n < 3; n++) {
        struct digest d = digest_of(r, n);
        struct list_provenance p;
        assert_int_equal(list_reader_explain(r, &d, NOW, f->arena, &p), LIST_CONFIRMED);
        assert_int_equal(p.text.n, 0);
        assert_string_equal(p.source, n == 1 ? "test" : "feed");
    }
    list_reader_close(&r);
    list_writer_close(&w);
    assert_verified(f);
}

static void test_list_writer_open__held_by_another__says_who(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    struct list_writer *second = NULL;
    assert_int_equal(
        list_writer_open(f->state, NAME, &f->keys, true, &second, &f->info),
        ERR_LOCKED);
    assert_null(second);
    char want[64];
    snprintf(want, sizeof(want), "process %ld", (long)getpid());
    assert_non_null(strstr(f->info.text, want));
    list_writer_close(&w);
    w = open_writer(f);
    list_writer_close(&w);
    list_writer_close(&w);
}

static void test_list_writer_open__no_such_list__refused_unless_created(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = NULL;
    assert_int_equal(list_writer_open(f->state, NAME, &f->keys, false, &w, &f->info),
                     ERR_NOT_FOUND);
    assert_false(has_file(f, "."));
    assert_int_equal(
        list_writer_open(f->state, SLICE_LIT("../x"), &f->keys, true, &w, &f->info),
        ERR_SYNTAX);
    struct list_reader *r = NULL;
    assert_int_equal(list_reader_open(f->state, NAME, &f->keys, &r, &f->info),
                     ERR_NOT_FOUND);
}

static void test_list_reader_open__key_not_here__err_key(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    add_number(f, w, 1);
    list_writer_close(&w);
    struct keyring other = f->keys;
    other.ring[0].id ^= 1;
    struct list_reader *r = NULL;
    assert_int_equal(list_reader_open(f->state, NAME, &other, &r, &f->info), ERR_KEY);
    assert_non_null(strstr(f->info.text, "digest.key"));
    assert_int_equal(list_writer_open(f->state, NAME, &other, true, &w, &f->info),
                     ERR_KEY);
    /* as the second key of two it is found */
    other.n = 2;
    other.ring[1] = f->keys.ring[0];
    MUST(f, list_reader_open(f->state, NAME, &other, &r, &f->info));
    assert_int_equal(ask_number(r, 1, NOW), LIST_CONFIRMED);
    list_reader_close(&r);
}

static void test_list_name_is_valid__names__as_the_rule_says(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "0", "a-b_c",
                                       "abcdefghijabcdefghijabcdefghij12"};
    static const char *const bad[] = {
        "",   "-a",   "_a",
        "A",  "a.b",  "a/b",
        "..", "LOCK", "abcdefghijabcdefghijabcdefghij123"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(list_name_is_valid(slice_str(good[i])));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(list_name_is_valid(slice_str(bad[i])));
    }
}

static void test_list_names__folders__sorted_without_others(void **state)
{
    struct fixture *f = *state;
    struct slice *names = NULL;
    size_t n = 99;
    MUST(f, list_names(f->state, f->arena, &names, &n, &f->info));
    assert_int_equal(n, 0);
    static const char *const lists[] = {"zeta", "alpha"};
    for (size_t i = 0; i < 2; i++) {
        struct list_writer *w = NULL;
        MUST(f, list_writer_open(f->state, slice_str(lists[i]), &f->keys, true, &w,
                                 &f->info));
        list_writer_close(&w);
    }
    MUST(f, list_names(f->state, f->arena, &names, &n, &f->info));
    assert_int_equal(n, 2);
    assert_true(slice_eq(names[0], SLICE_LIT("alpha")));
    assert_true(slice_eq(names[1], SLICE_LIT("zeta")));
}

static int teardown(void **state)
{
    clock_unset_for_test();
    return fixture_teardown(state);
}

#define LIST_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIST_TEST(test_list_add__new_entry__found_by_an_open_reader_at_once),
        LIST_TEST(test_list_import__entries__found_and_counted),
        LIST_TEST(test_list_import__nothing_new__no_new_generation),
        LIST_TEST(test_list_import__duplicates__counted_once),
        LIST_TEST(test_list_import__aborted__nothing_changed),
        LIST_TEST(test_list__stories_of_one_entry__precedence_and_expiry),
        LIST_TEST(test_list_reader_each__base_and_recent__every_entry_once),
        LIST_TEST(test_list_writer_set_keep_text__off__digests_only),
        LIST_TEST(test_list_writer_open__held_by_another__says_who),
        LIST_TEST(test_list_writer_open__no_such_list__refused_unless_created),
        LIST_TEST(test_list_reader_open__key_not_here__err_key),
        LIST_TEST(test_list_name_is_valid__names__as_the_rule_says),
        LIST_TEST(test_list_names__folders__sorted_without_others),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
