/* test_reform - lists from before there was a normal form, and with another url_match: entries are
 * found before, while and after they are rebuilt. */
#include <pthread.h>
#include <stdatomic.h>

#include "core/list/changes_poll.h"
#include "core/list/configured.h"
#include "core/list/listset.h"
#include "core/list/mirror.h"
#include "core/list/reader.h"
#include "core/list/search.h"
#include "core/message/url/url_normal.h"

#include "tests/unit/list/list_fixture.h"

enum { MANY = 2000, TEXT_BYTES = 128 };

struct reform_fixture {
    struct fixture *f;
    struct list_manager *h;
    struct config *config;
};

static struct config *config_of(struct fixture *f, const char *lists)
{
    struct buf text;
    char path[128];
    struct config *c = NULL;
    struct config_errors errors = {0};
    snprintf(path, sizeof(path), "%s/gillnet.conf", f->state);
    buf_init(&text, 10000);
    buf_printf(&text, "state_dir = \"%s\";\n%s\n", f->state, lists);
    MUST(f, file_write_atomic(path, buf_slice(&text), 0600, &f->info));
    buf_fini(&text);
    assert_int_equal(config_load(path, NULL, &c, &errors), ERR_OK);
    return c;
}

static int setup(void **state)
{
    struct reform_fixture *x = calloc(1, sizeof(*x));
    void *f = NULL;
    fixture_setup(&f);
    x->f = f;
    x->config = config_of(x->f, "");
    x->h = list_manager_new(x->f->state, &x->f->keys);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct reform_fixture *x = *state;
    void *f = x->f;
    list_manager_free(&x->h);
    config_release(&x->config);
    fixture_teardown(&f);
    free(x);
    return 0;
}

static void refresh(struct reform_fixture *x)
{
    MUST(x->f, list_manager_refresh(x->h, x->config, &x->f->info));
    list_manager_free_retired(x->h);
}

static void set_match(struct reform_fixture *x, const char *match)
{
    char text[96];
    snprintf(text, sizeof(text), "list_defaults = { url_match = \"%s\"; };", match);
    config_release(&x->config);
    x->config = config_of(x->f, text);
}

static enum err open_configured(struct reform_fixture *x, const atomic_bool *stop,
                                struct list_writer **ret)
{
    const struct list_opening o = {.config = x->config,
                                   .keys = &x->f->keys,
                                   .create = true,
                                   .wait = {.most_s = 5, .stop = stop}};
    return list_writer_open_configured(&o, NAME, ret, &x->f->info);
}

static void make_anew(struct reform_fixture *x)
{
    struct list_writer *w = NULL;
    MUST(x->f, open_configured(x, NULL, &w));
    list_writer_close(&w);
    refresh(x);
}

static void add(struct reform_fixture *x, struct list_writer *w, const char *text)
{
    struct feature_entry e;
    arena_reset(x->f->arena);
    MUST(x->f, feature_entry_parse(slice_str(text), FEATURE_NONE, x->f->arena, &e,
                                   &x->f->info));
    MUST(x->f, list_add(w, &e, SLICE_LIT("test"), 0, &x->f->info));
}

/* Hits of a message with this URL, or address. */
static enum list_answer ask(struct reform_fixture *x, const char *text)
{
    struct arena *arena = x->f->arena;
    enum list_answer best = LIST_NO;
    struct list_hits hits = {0};
    struct url url;
    arena_reset(arena);
    struct featureset *fs = featureset_new(arena, 10);
    if (slice_find(slice_str(text), '/') == strlen(text)) {
        assert_true(featureset_add(fs, FEATURE_from, slice_str(text)));
    } else {
        assert_int_equal(url_parse(arena, slice_str(text), &url), ERR_OK);
        assert_true(featureset_add(fs, FEATURE_url_exact, url.canonical));
        assert_true(featureset_add(fs, FEATURE_url, url_normal(arena, &url)));
    }
    const struct listset *s = list_manager_acquire(x->h);
    MUST(x->f, listset_lookup(s, fs, 0, arena, &hits));
    list_manager_release(x->h, &s);
    for (size_t i = 0; i < hits.n; i++) {
        best = hits.v[i].answer == LIST_CONFIRMED ? LIST_CONFIRMED : best;
    }
    return best;
}

static void assert_found(struct reform_fixture *x, const char *text, bool is_found)
{
    if ((ask(x, text) == LIST_CONFIRMED) != is_found) {
        fail_msg("%s: %s", text, is_found ? "not found" : "found");
    }
}

/* CURRENT of a list whose form nobody knows, as after a rebuild without CURRENT. */
static void make_former(struct fixture *f)
{
    struct list_current c;
    char recent[32];
    MUST(f, current_read(f->dir, LIST_CURRENT, &c, &f->info));
    c.form = LIST_FORM_FORMER;
    c.url_match = URL_MATCH_EXACT;
    c.classes = FEATURE_CLASSES_UNKNOWN;
    MUST(f, current_write(f->dir, LIST_CURRENT, &c, &f->info));
    snprintf(recent, sizeof(recent), "memtable.%08u", (unsigned)c.generation);
    remove_file(f, recent);
}

/* A list as it was then: URLs under the class that is url_exact now, addresses as they were
 * written. */
static void make_former_list(struct reform_fixture *x, bool keep_text)
{
    static const struct {
        uint16_t class_type;
        const char *text;
    } entries[] = {
        {FEATURE_url_exact, "www.evil.example/Pay/"},
        {FEATURE_url_exact, "plain.example/x"},
        {FEATURE_url_exact, "root.example/"},
        {FEATURE_url_folded, "folded.example/a"},
        {FEATURE_address, "V.ictim+x@gmail.com"},
        {FEATURE_domain, "domain.example"},
    };
    struct list_writer *w = open_writer(x->f);
    list_writer_set_keep_text(w, keep_text);
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        struct feature_entry e = {.class_type = entries[i].class_type,
                                  .text = slice_str(entries[i].text)};
        MUST(x->f, list_add(w, &e, SLICE_LIT("test"), 0, &x->f->info));
    }
    list_writer_close(&w);
    make_former(x->f);
    refresh(x);
}

static void test_former_list__before_it_is_made_anew__finds_what_it_did(void **state)
{
    struct reform_fixture *x = *state;
    make_former_list(x, true);
    assert_false(list_is_formed(x->config, NAME));
    assert_found(x, "http://www.evil.example/Pay/", true);
    assert_found(x, "http://plain.example/x?utm_id=1", true);
    assert_found(x, "http://folded.example/A?fbclid=2", true);
    assert_found(x, "V.ictim+x@gmail.com", true);
    assert_found(x, "joe@domain.example", true);
    assert_found(x, "http://evil.example/Pay", false);
}

static void test_former_list__made_anew__finds_each_spelling(void **state)
{
    struct reform_fixture *x = *state;
    make_former_list(x, true);
    make_anew(x);
    assert_true(list_is_formed(x->config, NAME));
    assert_found(x, "http://www.evil.example/Pay/", true);
    assert_found(x, "https://evil.example/Pay?utm_source=x", true);
    assert_found(x, "https://evil.example/pay", false);
    assert_found(x, "http://plain.example/x/?utm_id=1", true);
    assert_found(x, "http://root.example", true);
    assert_found(x, "http://root.example/x", false); /* a page is no host */
    assert_found(x, "http://folded.example/A", true);
    assert_found(x, "victim@googlemail.com", true);
    assert_found(x, "joe@domain.example", true);
    assert_verified(x->f);
}

static void test_former_list__texts_not_kept__stays_as_it_was(void **state)
{
    struct reform_fixture *x = *state;
    struct list_reader *r = NULL;
    uint64_t listed = 0;
    uint64_t revoked = 0;
    make_former_list(x, false);
    make_anew(x);
    assert_true(list_is_formed(x->config, NAME));
    assert_found(x, "http://www.evil.example/Pay/", true);
    assert_found(x, "http://evil.example/Pay", false);
    assert_found(x, "V.ictim+x@gmail.com", true);
    r = open_reader(x->f);
    list_reader_totals(r, &listed, &revoked);
    assert_int_equal(listed, 6);
    list_reader_close(&r);
}

static void test_url_match__changed__the_list_follows_from_its_log(void **state)
{
    struct reform_fixture *x = *state;
    static const struct {
        const char *match;
        bool finds[4];
    } rows[] = {
        {"normal", {true, true, false, false}}, {"exact", {true, false, false, false}},
        {"folded", {true, true, true, false}},  {"exact", {true, false, false, false}},
        {"normal", {true, true, false, false}},
    };
    static const char *const urls[] = {
        "http://www.evil.example/Pay/?id=1&utm_id=2", "https://evil.example/Pay?id=1",
        "https://evil.example/pAy?id=1", "https://evil.example/pay?ID=1"};
    struct list_writer *w = open_writer(x->f);
    add(x, w, "http://www.evil.example/Pay/?id=1&utm_id=2");
    add(x, w, "url_exact:http://own.example/A/");
    list_writer_close(&w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        set_match(x, rows[i].match);
        make_anew(x);
        for (size_t k = 0; k < sizeof(urls) / sizeof(urls[0]); k++) {
            if ((ask(x, urls[k]) == LIST_CONFIRMED) != rows[i].finds[k]) {
                fail_msg("url_match %s (row %zu): %s", rows[i].match, i, urls[k]);
            }
        }
        assert_verified(x->f);
    }
}

static void test_reform__stopped__nothing_changed(void **state)
{
    struct reform_fixture *x = *state;
    struct list_writer *w = NULL;
    atomic_bool stop = true;
    make_former_list(x, true);
    assert_int_equal(open_configured(x, &stop, &w), ERR_TIMEOUT);
    assert_null(w);
    assert_false(list_is_formed(x->config, NAME));
    assert_found(x, "http://www.evil.example/Pay/", true);
}

static void test_reform__of_an_empty_list__only_notes_it(void **state)
{
    struct reform_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    list_writer_close(&w);
    set_match(x, "folded");
    MUST(x->f, open_configured(x, NULL, &w));
    assert_int_equal(list_writer_url_match(w), URL_MATCH_FOLDED);
    add(x, w, "http://evil.example/Pay");
    list_writer_close(&w);
    refresh(x);
    assert_found(x, "http://evil.example/pAY/", true);
}

/* ---- while somebody asks ---- */

struct toggling {
    struct reform_fixture *x;
    atomic_bool is_done;
    unsigned turns;
    enum err failed;
};

static void *toggle(void *context)
{
    static const enum url_match matches[] = {URL_MATCH_EXACT, URL_MATCH_FOLDED,
                                             URL_MATCH_NORMAL};
    enum { TURNS = 9 };
    struct toggling *t = context;
    for (unsigned i = 0; i < TURNS && t->failed == ERR_OK; i++) {
        struct list_writer *w = NULL;
        struct list_rekeyed done;
        struct errinfo why;
        bool is_remade = false;
        const struct list_reforming how = {.state_dir = t->x->f->state,
                                           .url_match = matches[i % 3]};
        t->failed =
            list_writer_open(t->x->f->state, NAME, &t->x->f->keys, false, &w, &why);
        if (t->failed == ERR_OK) {
            t->failed = list_reform(w, &how, &is_remade, &done, &why);
        }
        t->turns += is_remade && done.listed == MANY;
        list_writer_close(&w);
    }
    atomic_store(&t->is_done, true);
    return NULL;
}

static void test_reform__while_a_reader_asks__no_false_negative(void **state)
{
    struct reform_fixture *x = *state;
    struct toggling t = {.x = x};
    struct list_writer *w = open_writer(x->f);
    pthread_t thread;
    unsigned asked = 0;
    for (int i = 0; i < MANY; i++) {
        char text[TEXT_BYTES];
        snprintf(text, sizeof(text), "http://www.evil%d.example/Pay/", i);
        add(x, w, text);
    }
    list_writer_close(&w);
    refresh(x);
    assert_int_equal(pthread_create(&thread, NULL, toggle, &t), 0);
    while (!atomic_load(&t.is_done)) {
        char text[TEXT_BYTES];
        snprintf(text, sizeof(text), "http://www.evil%u.example/Pay/", asked++ % MANY);
        assert_found(x, text, true);
        if (asked % 16 == 0) {
            refresh(x);
        }
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(t.failed, ERR_OK);
    assert_int_equal(t.turns, 9);
    assert_true(asked > 100);
}

/* ---- classes ---- */

static void *add_classes(void *context)
{
    static const char *const texts[] = {"http://evil.example/a", "joe@mail.example",
                                        "192.0.2.7", "subject:buy now",
                                        "url_expression:folder.example/x/"};
    struct toggling *t = context;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct arena *arena = arena_new(1 << 16);
        struct list_writer *w = NULL;
        struct feature_entry e;
        struct errinfo why;
        enum err failed =
            list_writer_open(t->x->f->state, NAME, &t->x->f->keys, false, &w, &why);
        if (failed == ERR_OK) {
            failed =
                feature_entry_parse(slice_str(texts[i]), FEATURE_NONE, arena, &e, &why);
        }
        if (failed == ERR_OK) {
            failed = list_add(w, &e, SLICE_LIT("test"), 0, &why);
        }
        t->failed = failed != ERR_OK ? failed : t->failed;
        list_writer_close(&w);
        arena_free(&arena);
        __atomic_store_n(&t->turns, (unsigned)i + 1, __ATOMIC_RELEASE);
    }
    atomic_store(&t->is_done, true);
    return NULL;
}

static void test_classes__added_beside_a_reader__are_asked_once_acknowledged(
    void **state)
{
    struct reform_fixture *x = *state;
    struct toggling t = {.x = x};
    struct list_writer *w = open_writer(x->f);
    pthread_t thread;
    bool is_done = false;
    add(x, w, "first.example");
    list_writer_close(&w);
    refresh(x); /* once: the entries come through the recent table */
    assert_int_equal(pthread_create(&thread, NULL, add_classes, &t), 0);
    while (!is_done) {
        is_done = atomic_load(&t.is_done);
        unsigned n = __atomic_load_n(&t.turns, __ATOMIC_ACQUIRE);
        if (n >= 1) {
            assert_found(x, "http://evil.example/a", true);
        }
        if (n >= 2) {
            assert_found(x, "joe@mail.example", true);
        }
        if (n >= 5) {
            assert_found(x, "http://folder.example/x/y", true);
        }
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(t.failed, ERR_OK);
}

static bool holds(struct fixture *f, uint16_t class_type)
{
    struct list_reader *r = open_reader(f);
    struct feature_classes c = list_reader_classes(r);
    list_reader_close(&r);
    return feature_classes_have(&c, class_type);
}

static void test_classes__recent_table_lost__are_those_of_the_log(void **state)
{
    struct reform_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    add(x, w, "http://evil.example/a");
    list_writer_close(&w);
    remove_file(x->f, "memtable.00000001");
    assert_true(holds(x->f, FEATURE_url)); /* a reader makes it from the tail */
    assert_false(holds(x->f, FEATURE_domain));
    w = open_writer(x->f); /* and so does the writer */
    add(x, w, "other.example");
    list_writer_close(&w);
    assert_true(holds(x->f, FEATURE_url));
    assert_true(holds(x->f, FEATURE_domain));
    w = open_writer(x->f);
    MUST(x->f, list_rebuild(w, NULL, NULL, &x->f->info));
    list_writer_close(&w);
    assert_true(holds(x->f, FEATURE_url));
    assert_true(holds(x->f, FEATURE_domain));
    assert_false(holds(x->f, FEATURE_subject));
}

/* ---- below a name ---- */

static bool count_found(void *context, size_t i, const struct list_provenance *from)
{
    unsigned *n = context;
    (void)from;
    n[i]++;
    return true;
}

static void test_search__pages_hosts_and_addresses_below__are_found_once(void **state)
{
    struct reform_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    const struct slice names[] = {SLICE_LIT("evil.example"), SLICE_LIT("none.example"),
                                  SLICE_LIT("a.evil.example")};
    unsigned found[3] = {0};
    struct list_searched done;
    const struct list_search s = {.names = names,
                                  .n = 3,
                                  .now_s = 1700000000,
                                  .on_found = count_found,
                                  .context = found};
    add(x, w, "evil.example");             /* itself: no find */
    add(x, w, "http://evil.example/pay");  /* 1 */
    add(x, w, "http://www.evil.example/"); /* 2 */
    add(x, w, "host:a.evil.example");      /* 3 */
    add(x, w, "joe@b.a.evil.example");     /* 4; 1 of a.evil.example */
    add(x, w, "http://notevil.example/x");
    add(x, w, "http://good.example/?evil.example");
    add(x, w, "http://evil.example/gone");
    struct feature_entry gone;
    arena_reset(x->f->arena);
    MUST(x->f, feature_entry_parse(SLICE_LIT("http://evil.example/gone"), FEATURE_NONE,
                                   x->f->arena, &gone, &x->f->info));
    MUST(x->f, list_revoke(w, &gone, SLICE_LIT("test"), &x->f->info));
    MUST(x->f, list_rebuild(w, NULL, NULL, &x->f->info));
    add(x, w, "http://evil.example:8080/more"); /* 5 */
    list_writer_close(&w);
    struct list_reader *r = open_reader(x->f);
    MUST(x->f, list_search(r, &s, &done, &x->f->info));
    list_reader_close(&r);
    assert_int_equal(found[0], 5);
    assert_int_equal(found[1], 0);
    assert_int_equal(found[2], 1);
    assert_int_equal(done.without_text, 0);
    assert_false(done.is_cut);
}

#define REFORM_TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

/* After thousands of changes the log is as long as the entries need, and nothing is forgotten. */
static void test_log__the_same_said_again_and_again__shortened(void **state)
{
    enum { LONG = 6000, TIMES = 2 * (LIST_LOG_SLACK / LONG) };
    struct reform_fixture *x = *state;
    struct list_writer *w = NULL;
    struct list_position at;
    struct list_reader *r = NULL;
    char text[LONG + 32] = "http://long.example/";
    struct feature_entry long_one;
    memset(text + strlen(text), 'a', LONG);
    MUST(x->f, open_configured(x, NULL, &w));
    add(x, w, "http://evil.example/x");
    for (int i = 0; i < TIMES; i++) {
        arena_reset(x->f->arena);
        MUST(x->f, feature_entry_parse(slice_str(text), FEATURE_NONE, x->f->arena,
                                       &long_one, &x->f->info));
        struct list_change c = {.entry = long_one, .is_revoke = i % 2 == 1};
        MUST(x->f, list_stage(w, &c, SLICE_LIT("test"), &x->f->info));
        MUST(x->f, i % 64 == 0 ? list_flush(w, &x->f->info) : ERR_OK);
    }
    MUST(x->f, list_flush(w, &x->f->info));
    assert_true(list_writer_log_bytes(w) > (uint64_t)LIST_LOG_SLACK);
    list_writer_close(&w);
    MUST(x->f, list_reader_open(x->f->state, NAME, &x->f->keys, &r, &x->f->info));
    list_changes_end(r, &at);
    list_reader_close(&r);

    MUST(x->f, open_configured(x, NULL, &w));
    assert_true(list_writer_log_bytes(w) < (uint64_t)LIST_LOG_SLACK / 4);
    add(x, w, "http://more.example/x");
    list_writer_close(&w);
    refresh(x);
    assert_found(x, "http://evil.example/x", true);
    assert_found(x, "http://more.example/x", true);
    assert_found(x, text, false);
    MUST(x->f, list_reader_open(x->f->state, NAME, &x->f->keys, &r, &x->f->info));
    uint64_t listed = 0;
    uint64_t revoked = 0;
    list_reader_totals(r, &listed, &revoked);
    assert_int_equal(listed, 2);
    assert_int_equal(revoked, 1); /* said last */
    /* who followed the log looks at the whole list */
    assert_int_equal(list_changes(r, &at, 100, NULL, NULL, &x->f->info), ERR_NOT_FOUND);
    list_reader_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REFORM_TEST(test_former_list__before_it_is_made_anew__finds_what_it_did),
        REFORM_TEST(test_former_list__made_anew__finds_each_spelling),
        REFORM_TEST(test_former_list__texts_not_kept__stays_as_it_was),
        REFORM_TEST(test_url_match__changed__the_list_follows_from_its_log),
        REFORM_TEST(test_reform__stopped__nothing_changed),
        REFORM_TEST(test_log__the_same_said_again_and_again__shortened),
        REFORM_TEST(test_reform__of_an_empty_list__only_notes_it),
        REFORM_TEST(test_reform__while_a_reader_asks__no_false_negative),
        REFORM_TEST(test_classes__added_beside_a_reader__are_asked_once_acknowledged),
        REFORM_TEST(test_classes__recent_table_lost__are_those_of_the_log),
        REFORM_TEST(test_search__pages_hosts_and_addresses_below__are_found_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
