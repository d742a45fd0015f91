/*
 * test_listset - lookups in pinned snapshots while lists, files and configuration change.
 */
#include <pthread.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/telemetry/stats.h"

#include "tests/unit/list/set_fixture.h"

/* Looks up one URL-host feature "host-N.example" (its domain is listed by the fixture). */
static enum list_answer look(struct set_fixture *x, enum feature_type type, uint64_t n,
                             struct list_hits *ret)
{
    char text[64];
    struct list_hits hits = {0};
    struct featureset *fs = featureset_new(x->f->arena, 100);
    struct feature_entry e = entry_number(n, text);
    assert_true(featureset_add(fs, type, e.text));
    const struct listset *s = list_manager_acquire(x->h);
    assert_int_equal(listset_lookup(s, fs, 0, x->f->arena, &hits), ERR_OK);
    list_manager_release(x->h, &s);
    assert_null(s);
    if (ret) {
        *ret = hits;
    }
    return hits.n > 0 ? hits.v[0].answer : LIST_NO;
}

static enum list_answer look_text(struct set_fixture *x, enum feature_type type,
                                  const char *text)
{
    struct list_hits hits = {0};
    struct featureset *fs = featureset_new(x->f->arena, 100);
    assert_true(featureset_add(fs, type, slice_str(text)));
    const struct listset *s = list_manager_acquire(x->h);
    assert_int_equal(listset_lookup(s, fs, 0, x->f->arena, &hits), ERR_OK);
    list_manager_release(x->h, &s);
    return hits.n > 0 ? hits.v[0].answer : LIST_NO;
}

static void test_list_manager_refresh__list_comes_and_grows__lookups_see_it(
    void **state)
{
    struct set_fixture *x = *state;
    refresh(x);
    assert_int_equal(look(x, FEATURE_url_host, 1, NULL), LIST_NO);
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 0, 10, 0);
    refresh(x);
    const struct listset *s = list_manager_acquire(x->h);
    assert_int_equal(listset_count(s), 1);
    assert_string_equal(list_reader_name(listset_reader(s, 0)), "test");
    assert_null(listset_config(s, 0)->name);
    struct list_hits hits = {0};
    assert_int_equal(look(x, FEATURE_url_host, 1, &hits), LIST_CONFIRMED);
    assert_int_equal(hits.n, 1);
    assert_int_equal(hits.keys, 1); /* the list holds domains alone */
    assert_true(slice_eq(hits.v[0].value, SLICE_LIT("host-1.example")));
    /* single changes are seen without a refresh, through the same snapshot */
    add_number(x->f, w, 77);
    revoke_number(x->f, w, 1);
    assert_int_equal(look(x, FEATURE_from, 77, NULL), LIST_NO);
    assert_int_equal(look(x, FEATURE_url_host, 77, NULL), LIST_CONFIRMED);
    assert_int_equal(look(x, FEATURE_url_host, 1, NULL), LIST_REVOKED);
    uint64_t swaps = stats_get(STAT_list_swaps);
    refresh(x);
    assert_int_equal(stats_get(STAT_list_swaps), swaps);
    assert_int_equal(stats_get(STAT_list_entries), 10);
    import_range(x->f, w, 100, 200, 0);
    refresh(x);
    assert_int_equal(stats_get(STAT_list_swaps), swaps + 1);
    assert_int_equal(look(x, FEATURE_url_host, 150, NULL), LIST_CONFIRMED);
    assert_int_equal(stats_get(STAT_list_entries), 110);
    list_manager_release(x->h, &s);
    list_writer_close(&w);
}

static void test_listset_lookup__one_domain_under_many_hosts__one_hit(void **state)
{
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 0, 10, 0);
    refresh(x);
    struct feature_entry revoked;
    struct featureset *fs = featureset_new(x->f->arena, 5000);
    for (unsigned i = 0; i < 1000; i++) {
        char text[64];
        snprintf(text, sizeof(text), "a%u.host-3.example", i);
        featureset_add(fs, FEATURE_url_host, slice_str(text));
    }
    const struct listset *s = list_manager_acquire(x->h);
    struct list_hits hits = {0};
    struct arena *arena = arena_new(1 << 20);
    assert_int_equal(listset_lookup(s, fs, 0, arena, &hits), ERR_OK);
    assert_int_equal(hits.n, 1);
    assert_int_equal(hits.v[0].answer, LIST_CONFIRMED);
    assert_true(hits.keys >= 2000);
    /* a deadline that has passed: nothing is confirmed, and it says so */
    assert_int_equal(listset_lookup(s, fs, 1, arena, &hits), ERR_OK);
    assert_true(hits.met_deadline);
    assert_int_equal(hits.v[0].answer, LIST_POSSIBLE);
    assert_true(hits.v[0].is_filtered);
    /* but a recent revocation is known without the index */
    MUST(x->f, feature_entry_parse(SLICE_LIT("host-3.example"), FEATURE_NONE,
                                   x->f->arena, &revoked, &x->f->info));
    MUST(x->f, list_revoke(w, &revoked, SLICE_LIT("test"), &x->f->info));
    assert_int_equal(listset_lookup(s, fs, 1, arena, &hits), ERR_OK);
    assert_int_equal(hits.v[0].answer, LIST_REVOKED);
    assert_false(hits.v[0].is_filtered);
    /* an arena without room: fewer hits and the reason */
    struct arena *tiny = arena_new(256);
    assert_int_equal(listset_lookup(s, fs, 0, tiny, &hits), ERR_NOMEM);
    assert_int_equal(hits.n, 0);
    arena_free(&tiny);
    arena_free(&arena);
    list_manager_release(x->h, &s);
    list_writer_close(&w);
}

static void test_listset_lookup__types_and_enabled_configured__only_those(void **state)
{
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 0, 10, 0);
    list_writer_close(&w);
    config_release(&x->config);
    x->config = load(x, "lists = ( { name = \"test\"; types = [\"helo\"]; } );");
    refresh(x);
    assert_int_equal(look(x, FEATURE_helo, 1, NULL), LIST_CONFIRMED);
    assert_int_equal(look(x, FEATURE_url_host, 1, NULL), LIST_NO);
    /* a feature is looked up under its domains too, which are shown as another type */
    config_release(&x->config);
    x->config =
        load(x, "lists = ( { name = \"test\"; types = [\"url_host\", \"from\"]; } );");
    refresh(x);
    assert_int_equal(look_text(x, FEATURE_url_host, "a.host-1.example"),
                     LIST_CONFIRMED);
    assert_int_equal(look_text(x, FEATURE_from, "me@a.host-1.example"), LIST_CONFIRMED);
    assert_int_equal(look_text(x, FEATURE_sender, "me@a.host-1.example"), LIST_NO);
    assert_int_equal(look_text(x, FEATURE_helo, "host-1.example"), LIST_NO);
    config_release(&x->config);
    x->config = load(x, "lists = ( { name = \"test\"; enabled = false; } );");
    refresh(x);
    assert_int_equal(look(x, FEATURE_helo, 1, NULL), LIST_NO);
    assert_int_equal(stats_get(STAT_lists), 0);
}

/* Adds one entry as people write it. */
static void add_text(struct set_fixture *x, struct list_writer *w, const char *text)
{
    struct feature_entry e;
    MUST(x->f, feature_entry_parse(slice_str(text), FEATURE_NONE, x->f->arena, &e,
                                   &x->f->info));
    MUST(x->f, list_add(w, &e, SLICE_LIT("test"), 0, &x->f->info));
}

static void test_listset_lookup__url_expressions__where_the_list_holds_them(
    void **state)
{
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    struct list_hits hits = {0};
    struct featureset *fs = featureset_new(x->f->arena, 100);
    add_text(x, w, "url_expression:evil.github.io/");
    add_text(x, w, "url_exact:exact.example/a/");
    list_writer_close(&w);
    refresh(x);
    assert_int_equal(look_text(x, FEATURE_url_exact, "evil.github.io/any/x"),
                     LIST_CONFIRMED);
    config_release(&x->config);
    x->config = load(x, "lists = ( { name = \"test\"; types = [\"subject\"]; } );");
    refresh(x);
    assert_int_equal(look_text(x, FEATURE_url_exact, "evil.github.io/any/x"), LIST_NO);
    config_release(&x->config);
    x->config = load(x, "lists = ( { name = \"test\"; types = [\"url\"]; } );");
    refresh(x);
    assert_int_equal(look_text(x, FEATURE_url_exact, "evil.github.io/any/x"),
                     LIST_CONFIRMED);
    assert_int_equal(look_text(x, FEATURE_url_exact, "good.github.io/any/x"), LIST_NO);
    assert_int_equal(look_text(x, FEATURE_url_exact, "exact.example/a/"),
                     LIST_CONFIRMED);
    assert_int_equal(look_text(x, FEATURE_url_exact, "exact.example/a"), LIST_NO);
    /* many in one message: more than a batch holds */
    for (int i = 0; i < 50; i++) {
        char url[64];
        snprintf(url, sizeof(url), "x.evil.github.io/%d/a/b/c/d?e", i);
        assert_true(featureset_add(fs, FEATURE_url_exact, slice_str(url)));
    }
    assert_true(featureset_add(fs, FEATURE_url_exact, SLICE_LIT("exact.example/a/")));
    const struct listset *s = list_manager_acquire(x->h);
    assert_int_equal(listset_lookup(s, fs, 0, x->f->arena, &hits), ERR_OK);
    list_manager_release(x->h, &s);
    assert_int_equal(hits.n, 2);
    assert_int_equal(hits.v[0].report_type, FEATURE_url);
    assert_true(slice_eq(hits.v[0].value, SLICE_LIT("evil.github.io/")));
    assert_true(slice_eq(hits.v[1].value, SLICE_LIT("exact.example/a/")));
}

static void test_listset_lookup__url_hashes__where_the_list_holds_them(void **state)
{
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    add_text(x, w, "first.example");
    list_writer_close(&w);
    refresh(x);
    assert_int_equal(look_text(x, FEATURE_url_exact, "evil.example/any"), LIST_NO);
    w = open_writer(x->f);
    add_text(
        x, w, /* SHA-256 of "evil.example/" */
        "url_hash:f001957c833da35384097567d684bbfdccfd3c0aea51b672d740b5858f6e9aa5");
    list_writer_close(&w); /* the same snapshot sees the class and the entry */
    assert_int_equal(look_text(x, FEATURE_url_exact, "evil.example/any"),
                     LIST_CONFIRMED);
    assert_int_equal(look_text(x, FEATURE_url_exact, "good.example/any"), LIST_NO);
}

/* How many keys of a message the lists were asked for. */
static size_t keys_asked(struct set_fixture *x, enum feature_type type,
                         const char *text)
{
    struct featureset *fs = featureset_new(x->f->arena, 10);
    struct list_hits hits = {0};
    assert_true(featureset_add(fs, type, slice_str(text)));
    const struct listset *s = list_manager_acquire(x->h);
    assert_int_equal(listset_lookup(s, fs, 0, x->f->arena, &hits), ERR_OK);
    list_manager_release(x->h, &s);
    return hits.keys;
}

static void test_listset_lookup__classes_that_no_list_holds__are_not_asked(void **state)
{
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    add_text(x, w, "http://evil.example/a");
    refresh(x);
    assert_int_equal(keys_asked(x, FEATURE_url, "evil.example/a"), 1);
    assert_int_equal(keys_asked(x, FEATURE_url_exact, "evil.example/a"), 0);
    assert_int_equal(keys_asked(x, FEATURE_url_host, "evil.example"), 0);
    assert_int_equal(keys_asked(x, FEATURE_client_ip, "192.0.2.1"), 0);
    assert_int_equal(keys_asked(x, FEATURE_subject, "evil"), 0);
    add_text(x, w, "192.0.2.0/24");
    assert_int_equal(keys_asked(x, FEATURE_client_ip, "192.0.2.1"), 25);
    MUST(x->f, list_rebuild(w, NULL, NULL, &x->f->info));
    list_writer_close(&w);
    refresh(x);
    assert_int_equal(look_text(x, FEATURE_url, "evil.example/a"), LIST_CONFIRMED);
    assert_int_equal(look_text(x, FEATURE_client_ip, "192.0.2.1"), LIST_CONFIRMED);
    assert_int_equal(keys_asked(x, FEATURE_subject, "evil"), 0);
}

static void test_listset_lookup__types_of_entries__meet_their_keys(void **state)
{
    static const struct {
        enum feature_type type;
        const char *text;
        bool found;
    } rows[] = {
        {FEATURE_url, "one.example/a", true},
        {FEATURE_url, "one.example/A", false},
        {FEATURE_url_exact, "one.example/a", false},
        {FEATURE_url, "two.example/a", true},
        {FEATURE_url, "two.example/A", true},
        {FEATURE_url, "three.example/item/0", false},
        {FEATURE_url_exact, "three.example/item/0", true},
        {FEATURE_url_template, "three.example/item/0", true},
        {FEATURE_url_target, "one.example/a", false},
        {FEATURE_from, "victim@gmail.com", true},
        {FEATURE_from, "v.i.ctim+y@googlemail.com", true},
        {FEATURE_from, "JOE@corp.example", true},
        {FEATURE_from, "j.oe@corp.example", false},
    };
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    add_text(x, w, "http://www.one.example/a/?utm_id=1#x");
    add_text(x, w, "url_folded:two.example/A");
    add_text(x, w, "url_template:three.example/item/17");
    add_text(x, w, "V.ictim+x@gmail.com");
    add_text(x, w, "Joe@corp.example");
    list_writer_close(&w);
    refresh(x);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum list_answer a = look_text(x, rows[i].type, rows[i].text);
        if ((a == LIST_CONFIRMED) != rows[i].found) {
            fail_msg("%s", rows[i].text);
        }
    }
}

/* A URL and its host, as a message has them, of a list of URLs: one key, so one chance of a filter's error of 0.1 %; with all
 * five that a URL has it were 0.5 %. */
static void test_listset_lookup__absent_urls__end_in_the_filter(void **state)
{
    enum { LISTED = 20000, ABSENT = 40000, HITS_AT_MOST = ABSENT / 1000 * 16 / 10 };
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    struct list_import *im = NULL;
    struct list_import_result done;
    size_t nhits = 0;
    char text[64];
    MUST(x->f, list_import_begin(w, SLICE_LIT("feed"), &im, &x->f->info));
    for (unsigned i = 0; i < LISTED; i++) {
        struct feature_entry e = {.class_type = FEATURE_url};
        int n = snprintf(text, sizeof(text), "host%u.example/p%u", i % 997, i);
        e.text = slice_of(text, (size_t)n);
        MUST(x->f, list_import_add(im, &e, 0, &x->f->info));
    }
    MUST(x->f, list_import_commit(&im, NULL, NULL, &done, &x->f->info));
    list_writer_close(&w);
    refresh(x);
    const struct listset *s = list_manager_acquire(x->h);
    struct arena *arena = arena_new(1 << 20);
    for (unsigned i = 0; i < ABSENT; i++) {
        struct list_hits hits = {0};
        arena_reset(arena);
        struct featureset *fs = featureset_new(arena, 10);
        int n = snprintf(text, sizeof(text), "host%u.example/q%u/Index", i % 997, i);
        assert_true(featureset_add(fs, FEATURE_url_exact, slice_of(text, (size_t)n)));
        assert_true(featureset_add(fs, FEATURE_url, slice_of(text, (size_t)n)));
        assert_true(featureset_add(
            fs, FEATURE_url_host,
            slice_head(slice_str(text), slice_find(slice_str(text), '/'))));
        assert_int_equal(listset_lookup(s, fs, 0, arena, &hits), ERR_OK);
        nhits += hits.filter_hits;
    }
    arena_free(&arena);
    list_manager_release(x->h, &s);
    assert_true(nhits > 0);
    assert_true(nhits <= HITS_AT_MOST);
}

static bool is_degraded(struct set_fixture *x)
{
    const struct listset *s = list_manager_acquire(x->h);
    bool is = listset_is_degraded(s);
    list_manager_release(x->h, &s);
    return is;
}

static void test_list_manager_refresh__list_damaged__fault_then_last_good_then_healed(
    void **state)
{
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 0, 10, 0);
    list_writer_close(&w);
    refresh(x);
    assert_false(is_degraded(x));
    assert_int_equal(stats_get(STAT_lists_failed), 0);
    /* CURRENT unreadable: the open generation goes on serving, the fault is counted */
    struct buf current;
    char path[256];
    snprintf(path, sizeof(path), "%s/CURRENT", x->f->dir);
    buf_init(&current, 4096);
    MUST(x->f, file_read(path, &current, &x->f->info));
    flip_byte(x->f, "CURRENT", 20);
    remove_file(x->f, "memtable.00000002");
    remove_file(x->f, "memtable.00000001");
    remove_file(x->f, "CURRENT.prev");
    refresh(x);
    assert_int_equal(stats_get(STAT_lists_failed), 1);
    assert_true(is_degraded(x));
    assert_int_equal(look(x, FEATURE_url_host, 1, NULL), LIST_CONFIRMED);
    refresh(x);
    assert_int_equal(stats_get(STAT_lists_failed), 1);
    /* a rebuild heals it */
    w = open_writer(x->f);
    MUST(x->f, list_rebuild(w, NULL, NULL, &x->f->info));
    add_number(x->f, w, 50);
    list_writer_close(&w);
    refresh(x);
    assert_int_equal(stats_get(STAT_lists_failed), 0);
    assert_false(is_degraded(x));
    assert_int_equal(look(x, FEATURE_url_host, 50, NULL), LIST_CONFIRMED);
    buf_fini(&current);
}

static void test_list_manager_refresh__folder_removed__list_gone(void **state)
{
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 0, 10, 0);
    list_writer_close(&w);
    refresh(x);
    const struct listset *pinned = list_manager_acquire(x->h);
    (void)tempdir_remove(x->f->dir);
    refresh(x);
    assert_int_equal(look(x, FEATURE_url_host, 1, NULL), LIST_NO);
    /* who has it pinned can still ask */
    assert_int_equal(ask_number(listset_reader(pinned, 0), 1, 1000), LIST_CONFIRMED);
    list_manager_release(x->h, &pinned);
    list_manager_free_retired(x->h);
}

static void test_list_manager_refresh__folder_of_all_lists_gone__former_ones_serve(
    void **state)
{
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    char lists[128];
    char away[128];
    snprintf(lists, sizeof(lists), "%s/lists", x->f->state);
    snprintf(away, sizeof(away), "%s/away", x->f->state);
    import_range(x->f, w, 0, 10, 0);
    list_writer_close(&w);
    refresh(x);
    assert_int_equal(rename(lists, away), 0);
    assert_int_equal(list_manager_refresh(x->h, x->config, &x->f->info), ERR_NOT_FOUND);
    assert_int_equal(look(x, FEATURE_url_host, 1, NULL), LIST_CONFIRMED);
    assert_int_equal(rename(away, lists), 0);
    refresh(x);
    assert_int_equal(look(x, FEATURE_url_host, 1, NULL), LIST_CONFIRMED);
}

static void test_list_manager_refresh__ring_keys_changed__lists_of_each_key_are_read(
    void **state)
{
    struct set_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 0, 10, 0);
    list_writer_close(&w);
    refresh(x);
    /* a new key in front, and a list made with it */
    fixture_write_key(x->f, "digest.key",
                      "f00102030405060708090a0b0c0d0e0f\n"
                      "000102030405060708090a0b0c0d0e0f\n");
    struct keyring both;
    MUST(x->f, keyring_load(x->f->state, &both, &x->f->info));
    MUST(x->f, list_writer_open(x->f->state, SLICE_LIT("newer"), &both, true, &w,
                                &x->f->info));
    add_number(x->f, w, 70);
    list_writer_close(&w);
    refresh(x);
    assert_false(is_degraded(x));
    assert_int_equal(look(x, FEATURE_url_host, 1, NULL), LIST_CONFIRMED);
    assert_int_equal(look(x, FEATURE_url_host, 70, NULL), LIST_CONFIRMED);
    /* keys that are not a key file change nothing */
    fixture_write_key(x->f, "digest.key", "nonsense\n");
    refresh(x);
    assert_int_equal(look(x, FEATURE_url_host, 1, NULL), LIST_CONFIRMED);
    /* the older key is gone, and with it the older list */
    fixture_write_key(x->f, "digest.key", "f00102030405060708090a0b0c0d0e0f\n");
    refresh(x);
    assert_true(is_degraded(x));
    assert_int_equal(look(x, FEATURE_url_host, 1, NULL), LIST_NO);
    assert_int_equal(look(x, FEATURE_url_host, 70, NULL), LIST_CONFIRMED);
}

struct swap {
    struct set_fixture *x;
    int stop;
    unsigned bad;
    uint64_t lookups;
};

/* Entries 0..9 are always listed; the generation a thread sees never goes back. */
static void *look_until_stopped(void *context)
{
    struct swap *swap = context;
    uint64_t last = 0;
    uint64_t lookups = 0;
    unsigned bad = 0;
    struct arena *arena = arena_new(1 << 20);
    while (!__atomic_load_n(&swap->stop, __ATOMIC_ACQUIRE)) {
        arena_reset(arena);
        struct featureset *fs = featureset_new(arena, 100);
        for (uint64_t n = 0; n < 10; n++) {
            char text[64];
            featureset_add(fs, FEATURE_url_host, entry_number(n, text).text);
        }
        const struct listset *s = list_manager_acquire(swap->x->h);
        struct list_hits hits = {0};
        struct list_stat stat = {0};
        enum err e = listset_lookup(s, fs, 0, arena, &hits);
        if (listset_count(s) == 1) {
            list_reader_stat(listset_reader(s, 0), &stat);
        }
        unsigned confirmed = 0;
        for (size_t i = 0; i < hits.n; i++) {
            confirmed += hits.v[i].answer == LIST_CONFIRMED;
        }
        bad += e != ERR_OK || confirmed != 10 || stat.generation < last;
        last = stat.generation;
        list_manager_release(swap->x->h, &s);
        lookups++;
    }
    arena_free(&arena);
    __atomic_fetch_add(&swap->bad, bad, __ATOMIC_RELAXED);
    __atomic_fetch_add(&swap->lookups, lookups, __ATOMIC_RELAXED);
    return NULL;
}

static void test_list_manager__threads_look_up_while_a_writer_publishes__never_back(
    void **state)
{
    struct set_fixture *x = *state;
    enum { THREADS = 4, ROUNDS = 25 };
    struct swap swap = {.x = x};
    pthread_t thread[THREADS];
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 0, 10, 0);
    refresh(x);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, look_until_stopped, &swap),
                         0);
    }
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (uint64_t n = 0; n < 10; n++) {
            add_number(x->f, w, round * 1000 + n);
        }
        revoke_number(x->f, w, round * 1000);
        import_range(x->f, w, round * 1000 + 500, round * 1000 + 600, 0);
        refresh(x);
    }
    __atomic_store_n(&swap.stop, 1, __ATOMIC_RELEASE);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    list_writer_close(&w);
    assert_int_equal(swap.bad, 0);
    assert_true(swap.lookups > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SET_TEST(test_list_manager_refresh__list_comes_and_grows__lookups_see_it),
        SET_TEST(test_listset_lookup__one_domain_under_many_hosts__one_hit),
        SET_TEST(test_listset_lookup__types_and_enabled_configured__only_those),
        SET_TEST(test_listset_lookup__url_expressions__where_the_list_holds_them),
        SET_TEST(test_listset_lookup__url_hashes__where_the_list_holds_them),
        SET_TEST(test_listset_lookup__classes_that_no_list_holds__are_not_asked),
        SET_TEST(test_listset_lookup__types_of_entries__meet_their_keys),
        SET_TEST(test_listset_lookup__absent_urls__end_in_the_filter),
        SET_TEST(
            test_list_manager_refresh__list_damaged__fault_then_last_good_then_healed),
        SET_TEST(test_list_manager_refresh__folder_removed__list_gone),
        SET_TEST(
            test_list_manager_refresh__folder_of_all_lists_gone__former_ones_serve),
        SET_TEST(
            test_list_manager_refresh__ring_keys_changed__lists_of_each_key_are_read),
        SET_TEST(
            test_list_manager__threads_look_up_while_a_writer_publishes__never_back),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
