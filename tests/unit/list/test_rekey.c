/* test_rekey - a list under another digest key: all that was known of each entry stays. */
#include <string.h>

#include "core/base/file.h"
#include "core/list/mirror.h"
#include "core/list/rekey.h"

#include "tests/unit/list/list_fixture.h"

enum { MANY = 3000, DOMAIN_LENGTH = 32 };
#define NEWER "202122232425262728292a2b2c2d2e2f\n"
#define OLDER "000102030405060708090a0b0c0d0e0f\n"

static struct feature_entry domain(struct slice text)
{
    return (struct feature_entry){.class_type = FEATURE_domain, .text = text};
}

static struct slice name_of(unsigned i, char dst[DOMAIN_LENGTH])
{
    (void)snprintf(dst, DOMAIN_LENGTH, "host%u.example", i);
    return slice_str(dst);
}

static void make(struct fixture *f, bool keep_text)
{
    struct list_writer *w = open_writer(f);
    struct list_import *im = NULL;
    struct list_import_result r;
    char text[DOMAIN_LENGTH];
    list_writer_set_keep_text(w, keep_text);
    MUST(f, list_import_begin(w, SLICE_LIT("feed"), &im, &f->info));
    for (unsigned i = 0; i < MANY; i++) {
        struct feature_entry e = domain(name_of(i, text));
        MUST(f, list_import_add(im, &e, i % 3 == 0 ? 0 : UINT32_MAX - i, &f->info));
    }
    MUST(f, list_import_commit(&im, NULL, NULL, &r, &f->info));
    struct feature_entry own = domain(SLICE_LIT("own.example"));
    struct feature_entry bad = domain(name_of(7, text));
    MUST(f, list_add(w, &own, SLICE_LIT("cli"), 0, &f->info));
    MUST(f, list_revoke(w, &bad, SLICE_LIT("postmaster"), &f->info));
    list_writer_close(&w);
}

static void new_key(struct fixture *f)
{
    fixture_write_key(f, "digest.key", NEWER OLDER);
    MUST(f, keyring_load_or_create(f->state, &f->keys, &f->info));
}

static void explain(struct fixture *f, const char *text, struct list_provenance *ret)
{
    struct list_reader *r = NULL;
    struct digest d;
    MUST(f, list_reader_open(f->state, NAME, &f->keys, &r, &f->info));
    digest_make(list_reader_key(r), FEATURE_domain, slice_str(text), &d);
    memset(ret, 0, sizeof(*ret));
    (void)list_reader_explain(r, &d, 1700000000, f->arena, ret);
    list_reader_close(&r);
}

static enum err rekey(struct fixture *f, bool drops, struct list_rekeyed *ret)
{
    struct list_writer *w = open_writer(f);
    const struct list_rekeying how = {.state_dir = f->state, .drops_textless = drops};
    enum err e = list_rekey(w, &how, ret, &f->info);
    list_writer_close(&w);
    return e;
}

static uint32_t key_of(struct fixture *f)
{
    struct list_writer *w = open_writer(f);
    uint32_t id = list_writer_key(w);
    list_writer_close(&w);
    return id;
}

static void test_rekey__all_kinds_of_entries__stay_as_they_were(void **state)
{
    struct fixture *f = *state;
    static const char *const texts[] = {"own.example", "host0.example", "host1.example",
                                        "host7.example", "host2999.example"};
    enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };
    struct list_provenance before[TEXTS];
    struct list_provenance after;
    struct list_rekeyed done;
    make(f, true);
    for (size_t i = 0; i < TEXTS; i++) {
        explain(f, texts[i], &before[i]);
        assert_int_not_equal(before[i].status, 0);
    }
    new_key(f);
    MUST(f, rekey(f, false, &done));
    assert_int_equal(done.listed,
                     MANY); /* one of the feed's is revoked, one is our own */
    assert_int_equal(done.revoked, 1);
    assert_int_equal(done.without_text, 0);
    assert_int_equal(key_of(f), f->keys.ring[0].id);
    for (size_t i = 0; i < TEXTS; i++) {
        explain(f, texts[i], &after);
        assert_int_equal(after.status, before[i].status);
        assert_int_equal(after.is_explicit, before[i].is_explicit);
        assert_int_equal(after.expiry_s, before[i].expiry_s);
        assert_int_equal(after.first_seen_s, before[i].first_seen_s);
        assert_string_equal(after.source, before[i].source);
        assert_true(slice_eq(after.text, before[i].text));
    }
    explain(f, "other.example", &after);
    assert_int_equal(after.status, 0);
}

static void test_rekey__only_the_newer_key_left__still_asked(void **state)
{
    struct fixture *f = *state;
    struct list_rekeyed done;
    struct list_provenance p;
    make(f, true);
    new_key(f);
    MUST(f, rekey(f, false, &done));
    fixture_write_key(f, "digest.key", NEWER);
    MUST(f, keyring_load_or_create(f->state, &f->keys, &f->info));
    explain(f, "host1.example", &p);
    assert_int_equal(p.status, ENTRY_LISTED);
}

static void test_rekey__texts_not_kept__refused_and_nothing_changed(void **state)
{
    struct fixture *f = *state;
    struct list_rekeyed done;
    struct list_provenance p;
    make(f, false);
    uint32_t key = key_of(f);
    new_key(f);
    assert_int_equal(rekey(f, false, &done), ERR_UNSUPPORTED);
    assert_non_null(strstr(f->info.text, "--drop-textless"));
    assert_int_equal(key_of(f), key);
    explain(f, "host1.example", &p);
    assert_int_equal(p.status, ENTRY_LISTED);
    MUST(f, rekey(f, true, &done));
    assert_int_equal(done.listed + done.revoked, 0);
    assert_int_equal(done.without_text, MANY + 1);
}

static void test_rekey__left_by_one_that_was_killed__removed(void **state)
{
    struct fixture *f = *state;
    char path[192];
    struct list_rekeyed done;
    make(f, true);
    (void)snprintf(path, sizeof(path), "%s/lists/.rekey.test", f->state);
    assert_int_equal(mkdir(path, 0750), 0);
    (void)snprintf(path, sizeof(path), "%s/lists/.rekey.test/lists", f->state);
    assert_int_equal(mkdir(path, 0750), 0);
    (void)snprintf(path, sizeof(path), "%s/lists/.rekey.test/lists/test", f->state);
    assert_int_equal(mkdir(path, 0750), 0);
    (void)snprintf(path, sizeof(path), "%s/lists/.rekey.test/lists/test/CURRENT",
                   f->state);
    MUST(f, file_write_atomic(path, SLICE_LIT("half"), 0640, &f->info));
    new_key(f);
    MUST(f, rekey(f, false, &done));
    assert_int_equal(done.listed, MANY);
    (void)snprintf(path, sizeof(path), "%s/lists/.rekey.test", f->state);
    assert_int_not_equal(access(path, F_OK), 0);
}

#define FIXTURE_TEST(t) \
    cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_rekey__all_kinds_of_entries__stay_as_they_were),
        FIXTURE_TEST(test_rekey__only_the_newer_key_left__still_asked),
        FIXTURE_TEST(test_rekey__texts_not_kept__refused_and_nothing_changed),
        FIXTURE_TEST(test_rekey__left_by_one_that_was_killed__removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
