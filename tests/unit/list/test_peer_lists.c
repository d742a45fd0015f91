/*
 * test_peer_lists - lists of peers in the set: beside local lists, by origin, never instead of
 * them.
 */
#include "core/base/hash256.h"
#include "core/list/listset.h"
#include "core/list/mirror.h"
#include "core/store/origins.h"

#include "tests/unit/list/list_fixture.h"

enum { ORIGINS = 3 };

struct peers_fixture {
    struct fixture *f;
    struct list_manager *h;
    struct config *config;
    struct origin_row row[ORIGINS];
    struct arena *arena;
};

static void configure(struct peers_fixture *x, const char *more)
{
    char path[128];
    struct buf text;
    struct config_errors errors = {0};
    config_release(&x->config);
    snprintf(path, sizeof(path), "%s/gillnet.conf", x->f->state);
    buf_init(&text, 10000);
    buf_printf(&text, "state_dir = \"%s\";\n%s\n", x->f->state, more);
    MUST(x->f, file_write_atomic(path, buf_slice(&text), 0600, &x->f->info));
    buf_fini(&text);
    if (config_load(path, NULL, &x->config, &errors) != ERR_OK) {
        fail_msg("%s", errors.n > 0 ? errors.v[0].text : "config");
    }
}

static void write_ring(struct peers_fixture *x, unsigned quorum)
{
    struct origins o = {.quorum = quorum, .v = x->row, .n = ORIGINS};
    memset(o.self, 0xff, sizeof(o.self));
    MUST(x->f, origins_write(x->f->state, &o, &x->f->info));
}

static void write_origins(struct peers_fixture *x)
{
    write_ring(x, 1);
}

static int setup(void **state)
{
    struct peers_fixture *x = calloc(1, sizeof(*x));
    void *f = NULL;
    char path[128];
    fixture_setup(&f);
    x->f = f;
    x->arena = arena_new(8 << 20);
    snprintf(path, sizeof(path), "%s/peers", x->f->state);
    (void)mkdir(path, 0750);
    snprintf(path, sizeof(path), "%s/peers/lists", x->f->state);
    (void)mkdir(path, 0750);
    for (unsigned i = 0; i < ORIGINS; i++) {
        memset(x->row[i].origin, (int)i + 1, ORIGIN_BYTES);
        snprintf(x->row[i].name, sizeof(x->row[i].name), "peer-%u", i);
    }
    configure(x, "lists = ( { name = \"test\"; weight = 4; } );");
    write_origins(x);
    x->h = list_manager_new(x->f->state, &x->f->keys);
    *state = x;
    return 0;
}

static int teardown(void **state)
{
    struct peers_fixture *x = *state;
    void *f = x->f;
    list_manager_free(&x->h);
    config_release(&x->config);
    arena_free(&x->arena);
    fixture_teardown(&f);
    free(x);
    return 0;
}

struct giving {
    const struct hashkey *key;
    struct mirror_entry v[2000];
    size_t n;
    size_t at;
};

static int by_digest(const void *a, const void *b)
{
    return digest_cmp(&((const struct mirror_entry *)a)->digest,
                      &((const struct mirror_entry *)b)->digest);
}

static bool give(void *context, struct mirror_entry *ret)
{
    struct giving *g = context;
    if (g->at == g->n) {
        return false;
    }
    *ret = g->v[g->at++];
    return true;
}

/* Peer number i lists host-from.example to host-to.example under the name. */
static void peer_lists(struct peers_fixture *x, unsigned i, const char *list,
                       unsigned from, unsigned to, uint8_t status)
{
    static struct giving g;
    char folder[256];
    char hex[2 * ORIGIN_BYTES + 1];
    char text[64];
    struct list_writer *w = NULL;
    g = (struct giving){.n = 0};
    for (unsigned n = from; n < to; n++) {
        struct feature_entry e = entry_number(n, text);
        struct mirror_entry *s = &g.v[g.n++];
        *s = (struct mirror_entry){.class_type = e.class_type, .status = status};
        digest_make(&x->f->keys.ring[0], e.class_type, e.text, &s->digest);
    }
    qsort(g.v, g.n, sizeof(g.v[0]), by_digest);
    hex_print(x->row[i].origin, ORIGIN_BYTES, hex);
    snprintf(folder, sizeof(folder), "%s/peers/lists/%s", x->f->state, hex);
    (void)mkdir(folder, 0750);
    MUST(x->f, mirror_open(folder, slice_str(list), &x->f->keys, x->f->keys.ring[0].id,
                           &w, &x->f->info));
    MUST(x->f, mirror_apply(w, give, &g, g.n, SLICE_LIT("peer:x"), &x->f->info));
    list_writer_close(&w);
}

static void refresh(struct peers_fixture *x)
{
    MUST(x->f, list_manager_refresh(x->h, x->config, &x->f->info));
    list_manager_free_retired(x->h);
}

/* Looks up hosts from..to-1 in one message. */
static struct list_hits look(struct peers_fixture *x, unsigned from, unsigned to)
{
    struct list_hits hits = {0};
    char text[64];
    arena_reset(x->arena);
    struct featureset *fs = featureset_new(x->arena, 5000);
    for (unsigned n = from; n < to; n++) {
        struct feature_entry e = entry_number(n, text);
        assert_true(featureset_add(fs, FEATURE_url_host, e.text));
    }
    const struct listset *s = list_manager_acquire(x->h);
    assert_int_equal(listset_lookup(s, fs, 0, x->arena, &hits), ERR_OK);
    list_manager_release(x->h, &s);
    return hits;
}

static size_t count_peers(struct peers_fixture *x, const struct list_hits *hits)
{
    size_t n = 0;
    const struct listset *s = list_manager_acquire(x->h);
    for (size_t i = 0; i < hits->n; i++) {
        n += listset_origin(s, hits->v[i].list) != NULL;
    }
    list_manager_release(x->h, &s);
    return n;
}

static void test_lookup__when_peers_list_it__then_each_origin_is_named(void **state)
{
    struct peers_fixture *x = *state;
    peer_lists(x, 0, "test", 0, 10, ENTRY_LISTED);
    peer_lists(x, 2, "test", 5, 15, ENTRY_LISTED);
    peer_lists(x, 2, "other", 5, 6, ENTRY_LISTED);
    refresh(x);
    struct list_hits hits = look(x, 5, 6);
    const struct listset *s = list_manager_acquire(x->h);
    static const struct {
        const char *list;
        const char *origin;
        double weight;
    } want[] = {{"test", "peer-0", 1}, {"other", "peer-2", 0}, {"test", "peer-2", 1}};
    assert_int_equal(listset_count(s), 0);
    assert_int_equal(listset_total(s), 3);
    assert_int_equal(hits.n, 3);
    for (unsigned i = 0; i < 3; i++) {
        size_t list = hits.v[i].list;
        assert_int_equal(hits.v[i].answer, LIST_CONFIRMED);
        assert_false(hits.v[i].is_explicit);
        assert_string_equal(list_reader_name(listset_reader(s, list)), want[i].list);
        assert_string_equal(listset_origin(s, list), want[i].origin);
        assert_true(listset_weight(s, list) == want[i].weight);
    }
    list_manager_release(x->h, &s);
    peer_lists(x, 0, "test", 5, 6, ENTRY_REVOKED); /* revokes only its own */
    refresh(x);
    hits = look(x, 5, 6);
    assert_int_equal(hits.v[0].answer, LIST_REVOKED);
    assert_int_equal(hits.v[2].answer, LIST_CONFIRMED);
}

static void test_lookup__when_an_origin_is_not_active__then_it_has_no_say(void **state)
{
    static const enum origin_state states[] = {ORIGIN_LEFT, ORIGIN_DROPPED,
                                               ORIGIN_DISTRUSTED};
    struct peers_fixture *x = *state;
    peer_lists(x, 0, "test", 0, 10, ENTRY_LISTED);
    peer_lists(x, 1, "test", 0, 10, ENTRY_LISTED);
    for (unsigned i = 0; i < 3; i++) {
        x->row[0].state = ORIGIN_ACTIVE;
        write_origins(x);
        refresh(x);
        assert_int_equal(look(x, 5, 6).n, 2);
        x->row[0].state = states[i];
        write_origins(x);
        refresh(x);
        assert_int_equal(look(x, 5, 6).n, 1);
    }
    char path[128];
    snprintf(path, sizeof(path), "%s/peers/origins", x->f->state);
    assert_int_equal(unlink(path), 0);
    refresh(x);
    assert_int_equal(look(x, 5, 6).n, 0);
}

static void test_lookup__when_it_is_ours_to_say__then_peers_are_silent(void **state)
{
    struct peers_fixture *x = *state;
    struct list_writer *w = NULL;
    char text[64];
    struct feature_entry e = entry_number(3, text);
    peer_lists(x, 0, "test", 0, 10, ENTRY_LISTED);
    peer_lists(x, 0, "other", 0, 10, ENTRY_LISTED);
    w = open_writer(x->f);
    revoke_number(x->f, w, 3);
    list_writer_close(&w);
    MUST(x->f, list_writer_open(x->f->state, SLICE_LIT("good"), &x->f->keys, true, &w,
                                &x->f->info));
    e = entry_number(4, text);
    MUST(x->f, list_add(w, &e, SLICE_LIT("cli"), 0, &x->f->info));
    list_writer_close(&w);
    configure(x, "protected = [ \"host-5.example\" ];\n"
                 "allow = { domains = [ \"host-6.example\" ]; };\n"
                 "lists = ( { name = \"test\"; }, { name = \"other\"; },\n"
                 "          { name = \"good\"; category = \"allow\"; } );");
    refresh(x);
    for (unsigned n = 2; n < 7; n++) {
        struct list_hits hits = look(x, n, n + 1);
        const struct listset *s = list_manager_acquire(x->h);
        unsigned seen = 0;
        for (size_t i = 0; i < hits.n; i++) {
            if (!listset_origin(s, hits.v[i].list)) {
                assert_int_equal(hits.v[i].silence, LIST_NOT_SUPPRESSED);
                continue;
            }
            bool is_test = strcmp(list_reader_name(listset_reader(s, hits.v[i].list)),
                                  "test") == 0;
            enum list_suppression want = n == 3 && is_test ? LIST_SUPPRESSED_REVOKED
                                         : n == 4          ? LIST_SUPPRESSED_ALLOWED
                                         : n >= 5          ? LIST_SUPPRESSED_PROTECTED
                                                           : LIST_NOT_SUPPRESSED;
            assert_int_equal(hits.v[i].silence, want);
            seen++;
        }
        assert_int_equal(seen, 2);
        list_manager_release(x->h, &s);
    }
}

static const struct list_hit *hit_of(struct peers_fixture *x,
                                     const struct list_hits *hits, const char *list,
                                     const char *origin)
{
    const struct list_hit *found = NULL;
    const struct listset *s = list_manager_acquire(x->h);
    for (size_t i = 0; i < hits->n; i++) {
        const char *its = listset_origin(s, hits->v[i].list);
        bool is_its = its ? origin && strcmp(its, origin) == 0 : !origin;
        if (is_its &&
            strcmp(list_reader_name(listset_reader(s, hits->v[i].list)), list) == 0) {
            found = &hits->v[i];
        }
    }
    list_manager_release(x->h, &s);
    assert_non_null(found);
    return found;
}

/* Only a server of the same owner revokes entries of others, only in the list of that name, and
 * only if it weighs something here. */
static void test_lookup__when_a_server_of_this_owner_revoked_it__then_all_are_silent(
    void **state)
{
    struct peers_fixture *x = *state;
    struct list_writer *w = NULL;
    peer_lists(x, 0, "test", 0, 10, ENTRY_LISTED);
    peer_lists(x, 0, "other", 0, 10, ENTRY_LISTED);
    peer_lists(x, 1, "test", 5, 6, ENTRY_REVOKED);
    w = open_writer(x->f);
    import_range(x->f, w, 0, 10, 0);
    list_writer_close(&w);
    static const struct {
        const char *config;
        unsigned quorum;
        unsigned host;
        bool is_silent;
    } rows[] = {
        {"", 0, 5, true},
        {"", 0, 4, false},
        {"", 1, 5, false},
        {"peers = { weights = [ \"peer-1=0\" ]; };", 0, 5, false},
    };
    for (unsigned i = 0; i < LENGTH(rows); i++) {
        char config[256];
        snprintf(config, sizeof(config),
                 "%s lists = ( { name = \"test\"; }, { name = \"other\"; } );",
                 rows[i].config);
        configure(x, config);
        write_ring(x, rows[i].quorum);
        refresh(x);
        struct list_hits hits = look(x, rows[i].host, rows[i].host + 1);
        const struct list_hit *own = hit_of(x, &hits, "test", NULL);
        const struct list_hit *its = hit_of(x, &hits, "test", "peer-0");
        const enum list_suppression want =
            rows[i].is_silent ? LIST_SUPPRESSED_ELSEWHERE : LIST_NOT_SUPPRESSED;
        assert_int_equal(own->silence, want);
        assert_int_equal(own->answer,
                         rows[i].is_silent ? LIST_REVOKED : LIST_CONFIRMED);
        assert_int_equal(its->silence, want);
        assert_int_equal(hit_of(x, &hits, "other", "peer-0")->silence,
                         LIST_NOT_SUPPRESSED);
    }
}

static void test_lookup__when_a_peer_names_an_allow_list__then_it_is_not_asked(
    void **state)
{
    struct peers_fixture *x = *state;
    peer_lists(x, 0, "good", 0, 10, ENTRY_LISTED);
    configure(x, "lists = ( { name = \"good\"; category = \"allow\"; } );");
    refresh(x);
    assert_int_equal(look(x, 5, 6).n, 0);
}

static void test_lookup__when_peers_flood__then_no_hit_of_ours_is_lost(void **state)
{
    struct peers_fixture *x = *state;
    struct list_writer *w = open_writer(x->f);
    import_range(x->f, w, 900, 1000, 0);
    list_writer_close(&w);
    for (unsigned i = 0; i < ORIGINS; i++) {
        peer_lists(x, i, "test", 0, 1000, ENTRY_LISTED);
        peer_lists(x, i, "other", 0, 1000, ENTRY_LISTED);
    }
    refresh(x);
    struct list_hits hits = look(x, 0, 1000);
    size_t theirs = count_peers(x, &hits);
    assert_int_equal(hits.n - theirs, 100);
    assert_true(theirs <= ORIGINS * 32 && theirs >= ORIGINS * 16);
}

static void test_lookup__when_there_is_no_ring__then_nothing_of_it_is_looked_for(
    void **state)
{
    struct peers_fixture *x = *state;
    char path[128];
    snprintf(path, sizeof(path), "%s/peers/origins", x->f->state);
    assert_int_equal(unlink(path), 0);
    peer_lists(x, 0, "test", 0, 10, ENTRY_LISTED); /* of nobody known */
    refresh(x);
    const struct listset *s = list_manager_acquire(x->h);
    assert_int_equal(listset_total(s), 0);
    list_manager_release(x->h, &s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_lookup__when_peers_list_it__then_each_origin_is_named),
        TEST(test_lookup__when_an_origin_is_not_active__then_it_has_no_say),
        TEST(test_lookup__when_it_is_ours_to_say__then_peers_are_silent),
        TEST(test_lookup__when_a_server_of_this_owner_revoked_it__then_all_are_silent),
        TEST(test_lookup__when_a_peer_names_an_allow_list__then_it_is_not_asked),
        TEST(test_lookup__when_peers_flood__then_no_hit_of_ours_is_lost),
        TEST(test_lookup__when_there_is_no_ring__then_nothing_of_it_is_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
