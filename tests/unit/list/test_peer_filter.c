/*
 * test_member - the truth table, the same answers in either order, and the choice of the order.
 */
#include <pthread.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/filter/bloomfile_merge.h"
#include "core/list/peer_filter.h"
#include "core/list/reader.h"

#include "tests/unit/list/list_fixture.h"
#include "tests/unit/tempdir.h"

static const struct hashkey ring = {.id = 5, .bytes = "0123456789abcde"};

enum { SPAM = 3000, REVOKED_FROM = 2000, REVOKED_TO = 4000, FOREIGN = 20000 };

static struct digest digest_number(uint64_t n)
{
    struct digest d;
    digest_make(&ring, 100, slice_of((const char *)&n, sizeof(n)), &d);
    return d;
}

static void fill(struct bloomfile *f, enum bloom_layout layout, uint64_t first,
                 uint64_t end)
{
    struct errinfo info;
    uint64_t nlines = 0;
    unsigned k = 0;
    assert_int_equal(bloom_size(layout, 5000, 0.001, &nlines, &k), ERR_OK);
    assert_int_equal(bloomfile_new(f, layout, nlines, k, &ring, &info), ERR_OK);
    for (uint64_t i = first; i < end; i++) {
        struct digest d = digest_number(i);
        bloom_add(&f->bloom, &d);
    }
}

/* In spam: 0..3000. Revoked: 2000..4000. */
static struct peer_filter *member_new(enum bloom_layout layout)
{
    struct peer_filter *m = calloc(1, sizeof(*m));
    assert_non_null(m);
    fill(&m->spam, layout, 0, SPAM);
    fill(&m->revoked, layout, REVOKED_FROM, REVOKED_TO);
    m->has_revoked = true;
    m->users = 1;
    return m;
}

static void test_answer__truth_table(void **state)
{
    (void)state;
    for (unsigned layout = BLOOM_ONE_LINE; layout <= BLOOM_PARTITIONED; layout++) {
        struct peer_filter *m = member_new((enum bloom_layout)layout);
        unsigned odd = 0;
        for (uint64_t i = 0; i < FOREIGN; i++) {
            struct digest d = digest_number(i);
            enum peer_filter_answer a = peer_filter_answer(m, &d);
            if (i >= REVOKED_FROM && i < SPAM) {
                assert_int_equal(a, PEER_FILTER_REVOKED);
            } else if (i < SPAM) {
                assert_int_not_equal(a, PEER_FILTER_NO);
                odd += a != PEER_FILTER_POSSIBLE; /* a false yes of revoked hides it */
            } else {
                odd += a != PEER_FILTER_NO; /* whatever revoked says alone */
            }
        }
        assert_true(odd <= FOREIGN * 0.003);
        m->has_revoked = false;
        struct digest d = digest_number(REVOKED_FROM);
        assert_int_equal(peer_filter_answer(m, &d), PEER_FILTER_POSSIBLE);
        peer_filter_release(&m);
    }
}

static void ask_all(struct peer_filter *m, size_t batch, uint8_t *rethit)
{
    static struct digest d[FOREIGN];
    for (uint64_t i = 0; i < FOREIGN; i++) {
        d[i] = digest_number(i);
    }
    memset(rethit, 0, FOREIGN);
    for (size_t i = 0; i < FOREIGN; i += batch) {
        size_t n = FOREIGN - i < batch ? FOREIGN - i : batch;
        peer_filter_test_batch(m, d + i, n, rethit + i);
    }
}

static void test_batch__either_order_or_sampled__the_answers_of_one_by_one(void **state)
{
    static uint8_t hit[FOREIGN];
    static const size_t batches[] = {1, 7, 128, 129, FOREIGN};
    (void)state;
    struct peer_filter *m = member_new(BLOOM_ONE_LINE);
    for (unsigned order = 0; order < 3; order++) {
        m->is_order_fixed = order < 2;
        atomic_store(&m->order, order < 2 ? order : 0);
        for (size_t b = 0; b < sizeof(batches) / sizeof(batches[0]); b++) {
            ask_all(m, batches[b], hit);
            for (uint64_t i = 0; i < FOREIGN; i++) {
                struct digest d = digest_number(i);
                assert_int_equal(hit[i],
                                 peer_filter_answer(m, &d) == PEER_FILTER_POSSIBLE);
            }
        }
    }
    /* what another filter found stays found */
    uint8_t already[2] = {1, 1};
    struct digest d[2] = {digest_number(0), digest_number(FOREIGN)};
    peer_filter_test_batch(m, d, 2, already);
    assert_int_equal(already[0] + already[1], 2);
    peer_filter_release(&m);
}

static void test_order_best__by_rates_and_sizes(void **state)
{
    enum { SMALL = 1 << 16, LARGE = 1 << 28 };
    static const struct {
        struct peer_filter_rates rates;
        enum peer_filter_order best;
    } rows[] = {
        {{0, 0, 0, LARGE, LARGE}, PEER_FILTER_SPAM_FIRST},
        /* mostly clean mail: nearly all end in the spam filter */
        {{100000, 100, 100, LARGE, LARGE}, PEER_FILTER_SPAM_FIRST},
        {{100000, 5000, 100, LARGE, SMALL}, PEER_FILTER_SPAM_FIRST},
        /* nearly all in spam, half of it revoked: reading `revoked` first saves half */
        {{100000, 95000, 50000, LARGE, LARGE}, PEER_FILTER_REVOKED_FIRST},
        {{100000, 95000, 100, LARGE, LARGE}, PEER_FILTER_SPAM_FIRST},
        /* a small revoked filter costs little: worth it from an eighth */
        {{100000, 50000, 12000, LARGE, SMALL}, PEER_FILTER_REVOKED_FIRST},
        {{100000, 50000, 5000, LARGE, SMALL}, PEER_FILTER_SPAM_FIRST},
        /* a small spam filter is always asked first */
        {{100000, 50000, 40000, SMALL, LARGE}, PEER_FILTER_SPAM_FIRST},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (peer_filter_order_best(&rows[i].rates) != rows[i].best) {
            fail_msg("row %zu", i);
        }
    }
}

/* The mix of look-ups changes: first all listed and revoked, then clean. */
static void test_batch__a_skewed_mix__changes_the_order_and_back(void **state)
{
    (void)state;
    struct peer_filter *m = member_new(BLOOM_ONE_LINE);
    uint8_t hit[128] = {0};
    struct digest d[128];
    for (unsigned i = 0; i < 128; i++) {
        d[i] = digest_number(REVOKED_FROM + i);
    }
    for (unsigned i = 0; i < 128 * PEER_FILTER_SAMPLE_EVERY; i++) {
        peer_filter_test_batch(m, d, 128, hit);
    }
    assert_int_equal(atomic_load(&m->order), PEER_FILTER_REVOKED_FIRST);
    for (unsigned i = 0; i < 128; i++) {
        d[i] = digest_number(FOREIGN + i);
    }
    for (unsigned i = 0; i < 3 * 128 * PEER_FILTER_SAMPLE_EVERY; i++) {
        peer_filter_test_batch(m, d, 128, hit);
    }
    assert_int_equal(atomic_load(&m->order), PEER_FILTER_SPAM_FIRST);
    peer_filter_release(&m);
}

static void *ask_again_and_again(void *arg)
{
    struct peer_filter *m = arg;
    for (unsigned round = 0; round < 400; round++) {
        uint8_t hit[100] = {0};
        struct digest d[100];
        for (unsigned i = 0; i < 100; i++) {
            d[i] = digest_number(REVOKED_FROM - 50 + i);
        }
        peer_filter_test_batch(m, d, 100, hit);
        for (unsigned i = 0; i < 100; i++) {
            if (hit[i] != (peer_filter_answer(m, &d[i]) == PEER_FILTER_POSSIBLE)) {
                return m;
            }
        }
    }
    return NULL;
}

static void test_batch__many_threads__same_answers(void **state)
{
    (void)state;
    struct peer_filter *m = member_new(BLOOM_TWO_LINES);
    pthread_t thread[4];
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, ask_again_and_again, m), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    peer_filter_release(&m);
}

/* ---- in a list ---- */

enum { PLANNED = 20000 };

/* A filter file of entries first..end-1 of the test list, as another site of the ring makes it. */
static void put_filter(struct fixture *f, const char *name, enum bloomfile_role role,
                       uint64_t first, uint64_t end)
{
    char path[256];
    struct bloomfile b = {0};
    uint64_t nlines = 0;
    unsigned k = 0;
    assert_int_equal(bloom_size(BLOOM_ONE_LINE, PLANNED, 0.001, &nlines, &k), ERR_OK);
    MUST(f, bloomfile_new(&b, BLOOM_ONE_LINE, nlines, k, &f->keys.ring[0], &f->info));
    for (uint64_t i = first; i < end; i++) {
        char text[64];
        struct digest d;
        struct feature_entry e = entry_number(i, text);
        digest_make(&f->keys.ring[0], e.class_type, e.text, &d);
        bloom_add(&b.bloom, &d);
    }
    b.facts = (struct bloomfile_facts){.role = role,
                                       .digest_key = f->keys.ring[0].id,
                                       .position_key = f->keys.ring[0].id,
                                       .entries = end - first,
                                       .capacity = PLANNED};
    snprintf(path, sizeof(path), "%s/%s", f->state, name);
    MUST(f, bloomfile_write(&b, path, &f->info));
    bloomfile_close(&b);
}

static enum err merge_file(struct fixture *f, const char *name)
{
    char path[256];
    char *paths[] = {path};
    struct peer_filter_shapes shapes;
    struct list_writer *w = open_writer(f);
    snprintf(path, sizeof(path), "%s/%s", f->state, name);
    f->info.text[0] = '\0';
    enum err e = list_member_merge(w, 1, paths, &shapes, &f->info);
    list_writer_close(&w);
    return e;
}

struct expected {
    uint64_t entry;
    enum list_answer answer;
    int hit; /* of list_reader_test */
};

static void check(const struct list_reader *r, const struct expected *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct digest d = digest_of(r, row[i].entry);
        uint8_t hit = 9;
        list_reader_test(r, &d, 1, &hit);
        enum list_answer a = list_reader_confirm(r, &d, 1);
        if (a != row[i].answer || hit != row[i].hit) {
            fail_msg("entry %llu: %s, hit %d", (unsigned long long)row[i].entry,
                     list_answer_name(a), hit);
        }
    }
}

/* Exact entries 0..99 listed (10 revoked by a person), peers list 50..299, revoked 80..199. */
static void make_list(struct fixture *f)
{
    struct list_writer *w = open_writer(f);
    import_range(f, w, 0, 100, 0);
    revoke_number(f, w, 10);
    revoke_number(f, w, 250);
    list_writer_close(&w);
    put_filter(f, "spam", BLOOMFILE_SPAM, 50, 300);
    put_filter(f, "revoked", BLOOMFILE_REVOKED, 80, 200);
    assert_int_equal(merge_file(f, "spam"), ERR_OK);
    assert_int_equal(merge_file(f, "revoked"), ERR_OK);
}

static void test_list__exact_and_peers__exact_wins_both_ways(void **state)
{
    struct fixture *f = *state;
    make_list(f);
    static const struct expected rows[] = {
        {5, LIST_CONFIRMED, 1},  /* exact alone */
        {10, LIST_REVOKED, 1},   /* revoked by a person */
        {60, LIST_CONFIRMED, 1}, /* exact and peers */
        {90, LIST_CONFIRMED, 1}, /* peers revoked it, an exact entry stands */
        {150, LIST_REVOKED, 0},  /* peers alone, revoked: not spam, not even a hit */
        {220, LIST_POSSIBLE, 1}, /* peers alone */
        {250, LIST_REVOKED, 1},  /* peers list it, a person revoked it */
        {5000, LIST_FALSE_POSITIVE, 0}, /* nobody */
    };
    struct list_reader *r = open_reader(f);
    assert_null(list_reader_fault(r));
    check(r, rows, sizeof(rows) / sizeof(rows[0]));
    for (unsigned order = 0; order < 2; order++) {
        r->member->is_order_fixed = true;
        atomic_store(&r->member->order, order);
        check(r, rows, sizeof(rows) / sizeof(rows[0]));
    }
    struct digest d = digest_of(r, 150);
    uint8_t hit = 0;
    list_reader_test_known(r, &d, 1, &hit);
    assert_int_equal(hit, 1); /* a query by hand shows it */
    /* effective at once in a reader that is open */
    struct list_writer *w = open_writer(f);
    revoke_number(f, w, 220);
    add_number(f, w, 150);
    list_writer_close(&w);
    static const struct expected now[] = {{220, LIST_REVOKED, 1},
                                          {150, LIST_CONFIRMED, 1}};
    check(r, now, 2);
    list_reader_close(&r);
}

static void test_list__another_merge_import_or_rebuild__peers_stay(void **state)
{
    struct fixture *f = *state;
    make_list(f);
    static const struct expected rows[] = {
        {150, LIST_REVOKED, 0}, {220, LIST_POSSIBLE, 1}, {350, LIST_POSSIBLE, 1}};
    struct list_reader *before = open_reader(f);
    put_filter(f, "more", BLOOMFILE_SPAM, 290, 400);
    assert_int_equal(merge_file(f, "more"), ERR_OK);
    assert_true(list_reader_is_stale(before));
    struct list_reader *r = open_reader(f);
    check(r, rows, 3);
    assert_true(r->member->spam.facts.entries > 340 &&
                r->member->spam.facts.entries < 360);
    struct list_peer_filter peers;
    struct list_peer_filter taken_back;
    list_reader_peers(r, &peers, &taken_back);
    assert_true(peers.entries == r->member->spam.facts.entries);
    assert_true(peers.filter.bits > 0 && peers.filter.fill > 0 &&
                peers.filter.fill < 1 && peers.filter.error_bits > 0);
    assert_true((taken_back.filter.bits > 0) == r->member->has_revoked);
    list_reader_close(&r);
    list_reader_close(&before);
    struct list_writer *w = open_writer(f);
    import_range(f, w, 1000, 1100, 0);
    r = open_reader(f);
    check(r, rows, 3);
    list_reader_close(&r);
    MUST(f, list_rebuild(w, NULL, NULL, &f->info));
    list_writer_close(&w);
    r = open_reader(f);
    check(r, rows, 3);
    list_reader_close(&r);
    /* and when CURRENT is lost */
    char path[256];
    snprintf(path, sizeof(path), "%s/CURRENT", f->dir);
    assert_int_equal(truncate(path, 3), 0);
    w = open_writer(f);
    MUST(f, list_rebuild(w, NULL, NULL, &f->info));
    list_writer_close(&w);
    r = open_reader(f);
    check(r, rows, 3);
    list_reader_close(&r);
}

static void test_list__a_filter_that_does_not_fit__refused_and_nothing_changed(
    void **state)
{
    struct fixture *f = *state;
    static const struct expected rows[] = {{150, LIST_REVOKED, 0},
                                           {220, LIST_POSSIBLE, 1}};
    make_list(f);
    put_filter(f, "some", BLOOMFILE_SPAM, 2000, 7000);
    assert_int_equal(merge_file(f, "some"), ERR_OK);
    put_filter(f, "full", BLOOMFILE_SPAM, 10000, 30000);
    assert_int_equal(merge_file(f, "full"), ERR_LIMIT);
    assert_int_equal(merge_file(f, "missing"), ERR_NOT_FOUND);
    /* one good, one bad: none */
    char paths[2][256];
    char *both[] = {paths[0], paths[1]};
    struct peer_filter_shapes shapes;
    put_filter(f, "good", BLOOMFILE_SPAM, 600, 700);
    snprintf(paths[0], sizeof(paths[0]), "%s/good", f->state);
    snprintf(paths[1], sizeof(paths[1]), "%s/full", f->state);
    struct list_writer *w = open_writer(f);
    assert_int_equal(list_member_merge(w, 2, both, &shapes, &f->info), ERR_LIMIT);
    list_writer_close(&w);
    f->keys.ring[0].id ^= 1;
    put_filter(f, "foreign", BLOOMFILE_SPAM, 1, 2);
    f->keys.ring[0].id ^= 1;
    assert_int_equal(merge_file(f, "foreign"), ERR_KEY);
    struct list_reader *r = open_reader(f);
    check(r, rows, 2);
    struct digest d = digest_of(r, 650);
    assert_int_equal(list_reader_confirm(r, &d, 1), LIST_FALSE_POSITIVE);
    list_reader_close(&r);
}

static void test_list__a_damaged_filter_of_peers__the_list_answers_for_itself(
    void **state)
{
    struct fixture *f = *state;
    char path[256];
    make_list(f);
    snprintf(path, sizeof(path), "%s/spam.00000001", f->dir);
    assert_int_equal(truncate(path, 5000), 0);
    struct list_reader *r = open_reader(f);
    assert_non_null(strstr(list_reader_fault(r), "filters of peers"));
    static const struct expected rows[] = {
        {5, LIST_CONFIRMED, 1}, {220, LIST_FALSE_POSITIVE, 0}, {10, LIST_REVOKED, 1}};
    check(r, rows, 3);
    list_reader_close(&r);
}

/* A page of ones in the filter of what peers took back would take back the rest. */
static void test_list__a_mapped_filter_of_peers_is_cut__the_reader_says_so(void **state)
{
    struct fixture *f = *state;
    const struct reader_opening how = {.hold = BLOOMFILE_MAP};
    struct list_reader *map = NULL;
    char path[256];
    make_list(f);
    MUST(f, list_reader_open_held(f->state, NAME, &f->keys, &how, &map, &f->info));
    assert_false(list_reader_is_damaged(map));
    snprintf(path, sizeof(path), "%s/revoked.%08llu", f->dir,
             (unsigned long long)map->member->numbers[1]);
    assert_int_equal(truncate(path, 4096), 0);
    assert_true(list_reader_is_damaged(map));
    list_reader_close(&map);
}

static void test_list__held_as_a_map__answers_alike_and_shares_its_own_kind(
    void **state)
{
    struct fixture *f = *state;
    struct list_reader *map = NULL;
    struct list_reader *next = NULL;
    make_list(f);
    struct list_reader *copy = open_reader(f);
    struct reader_opening how = {.other = copy, .hold = BLOOMFILE_MAP};
    MUST(f, list_reader_open_held(f->state, NAME, &f->keys, &how, &map, &f->info));
    assert_ptr_not_equal(map->level[0], copy->level[0]);
    assert_int_equal(map->level[0]->base.hold, BLOOMFILE_MAP);
    assert_int_equal(map->member->spam.hold, BLOOMFILE_MAP);
    for (uint64_t i = 0; i < 400; i++) {
        struct digest d = digest_of(copy, i);
        assert_int_equal(list_reader_confirm(map, &d, 1),
                         list_reader_confirm(copy, &d, 1));
    }
    how.other = map;
    MUST(f, list_reader_open_held(f->state, NAME, &f->keys, &how, &next, &f->info));
    assert_ptr_equal(next->level[0], map->level[0]);
    list_reader_close(&copy);
    list_reader_close(&map);
    list_reader_close(&next);
}

static void test_list__reopened_beside__filters_of_peers_are_shared(void **state)
{
    struct fixture *f = *state;
    struct list_reader *after = NULL;
    make_list(f);
    struct list_reader *before = open_reader(f);
    MUST(f,
         list_reader_open_beside(f->state, NAME, &f->keys, before, &after, &f->info));
    assert_ptr_equal(before->member, after->member);
    list_reader_close(&before);
    static const struct expected rows[] = {{220, LIST_POSSIBLE, 1}};
    check(after, rows, 1);
    put_filter(f, "more", BLOOMFILE_SPAM, 290, 400);
    assert_int_equal(merge_file(f, "more"), ERR_OK);
    MUST(f,
         list_reader_open_beside(f->state, NAME, &f->keys, after, &before, &f->info));
    assert_ptr_not_equal(before->member, after->member);
    list_reader_close(&before);
    list_reader_close(&after);
}

/* ---- made-up bits ---- */

enum { MADE_PROBES = 20000 };

/* Bits at random, with this mean number of 64 set; the same for the same seed. */
static void scatter(struct bloomfile *f, unsigned of_64, uint64_t seed)
{
    uint64_t *words = f->memory;
    for (uint64_t bit = 0; bit < f->bloom.nlines * BLOOM_LINE_BITS; bit++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        words[bit / 64] |= (uint64_t)((seed >> 33) % 64 < of_64) << bit % 64;
    }
}

/* Share of all values that the best lie with these bits hits; 0: the filters are refused. */
static double share_taken(const char *path, uint64_t nlines, unsigned k, unsigned of_64,
                          bool says_one)
{
    const struct peer_filter_belief belief = {.key = &ring};
    struct bloomfile f = {0};
    struct errinfo info;
    unsigned hits = 0;
    assert_int_equal(bloomfile_new(&f, BLOOM_ONE_LINE, nlines, k, &ring, &info),
                     ERR_OK);
    scatter(&f, of_64, nlines * 1000 + UINT64_C(64) * k + of_64);
    uint64_t entries = says_one ? 1 : bloomfile_estimate(&f);
    f.facts.role = BLOOMFILE_SPAM;
    f.facts.digest_key = ring.id;
    f.facts.position_key = ring.id;
    f.facts.entries = entries;
    f.facts.capacity = entries > 0 ? entries : 1;
    assert_int_equal(bloomfile_write(&f, path, &info), ERR_OK);
    if (peer_filter_believe(path, &belief, &info) == ERR_OK) {
        for (uint64_t i = 0; i < MADE_PROBES; i++) {
            struct digest d = digest_number(FOREIGN + i);
            uint8_t hit = 0;
            bloom_test_batch(&f.bloom, &d, 1, &hit);
            hits += hit;
        }
    }
    bloomfile_close(&f);
    return (double)hits / MADE_PROBES;
}

/* In a few lines nobody can tell them from entries; but they gain nothing by it. */
static void
test_believe__made_up_bits_in_a_tiny_filter__take_no_more_than_an_honest_one_may(
    void **state)
{
    static const uint64_t lines[] = {1, 2, 16, 255};
    static const unsigned ks[] = {1, 2, 4, 8};
    static const unsigned bits[] = {1, 4, 8, 16, 24, 32, 48, 63};
    char dir[64];
    char path[FILE_PATH_MAX];
    double worst = 0;
    (void)state;
    assert_true(tempdir_make_fast(dir));
    (void)snprintf(path, sizeof(path), "%s/filter", dir);
    for (unsigned i = 0; i < 2 * 4 * 4 * 8; i++) {
        double share = share_taken(path, lines[i / 32 % 4], ks[i / 8 % 4], bits[i % 8],
                                   i / 128 == 1);
        worst = share > worst ? share : worst;
    }
    print_message("made-up bits take %.2f %% at most\n", worst * 100);
    assert_true(worst > 0); /* some are accepted */
    assert_true(worst < 2 * PEER_FILTER_ERROR_MAX);
    assert_int_equal(tempdir_remove(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer__truth_table),
        cmocka_unit_test(
            test_batch__either_order_or_sampled__the_answers_of_one_by_one),
        cmocka_unit_test(test_order_best__by_rates_and_sizes),
        cmocka_unit_test(
            test_believe__made_up_bits_in_a_tiny_filter__take_no_more_than_an_honest_one_may),
        cmocka_unit_test(test_batch__a_skewed_mix__changes_the_order_and_back),
        cmocka_unit_test(test_batch__many_threads__same_answers),
        cmocka_unit_test_setup_teardown(
            test_list__exact_and_peers__exact_wins_both_ways, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(
            test_list__another_merge_import_or_rebuild__peers_stay, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(
            test_list__a_filter_that_does_not_fit__refused_and_nothing_changed,
            fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            test_list__a_mapped_filter_of_peers_is_cut__the_reader_says_so,
            fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            test_list__a_damaged_filter_of_peers__the_list_answers_for_itself,
            fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            test_list__held_as_a_map__answers_alike_and_shares_its_own_kind,
            fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            test_list__reopened_beside__filters_of_peers_are_shared, fixture_setup,
            fixture_teardown),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
