/*
 * test_listed - features that are looked up while a message is read; each list has its share of
 * hits.
 */
#include "core/base/base.h"
#include "core/list/listed.h"

#include "tests/unit/list/set_fixture.h"

/* n hosts that the fixture's import of n entries lists. */
static struct featureset *many_hosts(struct set_fixture *x, unsigned n)
{
    struct featureset *fs = featureset_new(x->f->arena, n);
    for (unsigned i = 0; i < n; i++) {
        char text[64];
        snprintf(text, sizeof(text), "host-%u.example", i);
        featureset_add(fs, FEATURE_url_host, slice_str(text));
    }
    return fs;
}

static void test_listset_lookup__more_hits_than_a_share__other_lists_are_heard(
    void **state)
{
    enum { HOSTS = 3000 };
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    struct list_hits hits = {0};
    size_t noise = 0;
    size_t phish = 0;

    import_range(x->f, w, 0, HOSTS, 0);
    list_writer_close(&w);
    MUST(x->f, list_writer_open(x->f->state, SLICE_LIT("zzz"), &x->f->keys, true, &w,
                                &x->f->info));
    add_number(x->f, w, HOSTS - 1);
    list_writer_close(&w);
    refresh(x);
    struct arena *arena = arena_new(16 << 20);
    const struct listset *s = list_manager_acquire(x->h);
    assert_int_equal(listset_lookup(s, many_hosts(x, HOSTS), 0, arena, &hits), ERR_OK);
    for (size_t i = 0; i < hits.n; i++) {
        bool is_phish =
            strcmp(list_reader_name(listset_reader(s, hits.v[i].list)), "zzz") == 0;
        phish += is_phish;
        noise += !is_phish;
    }
    assert_int_equal(phish, 1);
    assert_true(noise > 500 && noise < HOSTS);
    list_manager_release(x->h, &s);
    arena_free(&arena);
}

static void test_listed_find__some_are_listed__their_indices(void **state)
{
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    struct featureset *fs = featureset_new(x->f->arena, 100);
    struct listed listed;
    uint32_t found[100];

    import_range(x->f, w, 0, 10, 0);
    refresh(x);
    featureset_add(fs, FEATURE_url_host, SLICE_LIT("good.example"));
    featureset_add(fs, FEATURE_url_host, SLICE_LIT("a.host-3.example"));
    featureset_add(fs, FEATURE_text_address, SLICE_LIT("me@host-4.example"));
    featureset_add(fs, FEATURE_from, SLICE_LIT("me@host-4.example"));
    listed_init(&listed, x->h);
    assert_int_equal(listed_find(&listed, fs, found), 2);
    assert_int_equal(found[0], 1);
    assert_int_equal(found[1], 3);
    /* a list with enough hits adds no further one; one entry is revoked meanwhile */
    revoke_number(x->f, w, 3);
    assert_int_equal(listed_find(&listed, fs, found), 1);
    assert_int_equal(found[0], 3);
    for (unsigned i = 0; i < LISTED_MOST; i++) {
        (void)listed_find(&listed, fs, found);
    }
    assert_int_equal(listed_find(&listed, fs, found), 0);
    listed_fini(&listed);
    /* without lists */
    listed_init(&listed, NULL);
    assert_int_equal(listed_find(&listed, fs, found), 0);
    listed_fini(&listed);
    list_writer_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SET_TEST(test_listset_lookup__more_hits_than_a_share__other_lists_are_heard),
        SET_TEST(test_listed_find__some_are_listed__their_indices),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
