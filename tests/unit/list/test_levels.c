/* test_levels - a list in levels: merges beside changes, levels that are merged, files that readers
 * share. */
#include "core/list/merge.h"
#include "core/list/reader.h"

#include "tests/unit/list/list_fixture.h"

enum { NOW = 1700000000 };

/* All of 0..count and of the import, and nothing else. */
static void check_all(struct fixture *f, uint64_t count)
{
    struct list_reader *r = open_reader(f);
    assert_null(list_reader_fault(r));
    for (uint64_t n = 0; n < count; n++) {
        assert_int_equal(ask_number(r, n, NOW), LIST_CONFIRMED);
    }
    for (uint64_t n = 100000; n < 100100; n++) {
        assert_int_equal(ask_number(r, n, NOW), LIST_CONFIRMED);
    }
    for (uint64_t n = 200000; n < 201000; n++) {
        assert_true(is_absent(ask_number(r, n, NOW)));
    }
    struct list_stat s;
    list_reader_stat(r, &s);
    assert_int_equal(s.entries, count + 100);
    list_reader_close(&r);
}

static void test_list_add__more_than_the_recent_table_holds__all_found(void **state)
{
    struct fixture *f = *state;
    enum { COUNT = 3 * MEMTABLE_SLOTS_MIN };
    struct list_writer *w = open_writer(f);
    import_range(f, w, 100000, 100100, 0);
    uint64_t generation = w->current.generation;
    char text[64];
    for (uint64_t n = 0; n < COUNT; n++) {
        struct list_change c = {.entry = entry_number(n, text)};
        MUST(f, list_stage(w, &c, SLICE_LIT("test"), &f->info));
        if (n % 16 == 0) {
            MUST(f, list_flush(w, &f->info));
        }
        if (n % 6000 == 0) {
            check_all(f, n + 1); /* also while a compaction runs */
        }
    }
    MUST(f, list_flush(w, &f->info));
    assert_null(list_writer_trouble(w));
    assert_true(w->current.generation > generation);
    list_writer_close(&w);
    check_all(f, COUNT);
    assert_verified(f);
}

static void test_list_add__table_to_come_is_small__waited_for(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    import_range(f, w, 100000, 300000, 0);
    list_writer_close(&w);
    /* one rebuilt from the log has the most slots, the next as many as the list needs */
    remove_file(f, "memtable.00000002");
    w = open_writer(f);
    assert_int_equal(w->recent.slots, MEMTABLE_SLOTS_MAX);
    w->wants_all = true;
    char text[64];
    for (uint64_t n = 0; n < 20000; n++) {
        struct list_change c = {.entry = entry_number(n, text)};
        MUST(f, list_stage(w, &c, SLICE_LIT("test"), &f->info));
    }
    MUST(f, list_flush(w, &f->info));
    list_writer_close(&w);
    struct list_reader *r = open_reader(f);
    for (uint64_t n = 0; n < 20000; n++) {
        assert_int_equal(ask_number(r, n, NOW), LIST_CONFIRMED);
    }
    list_reader_close(&r);
}

static void test_list_stage__many_in_one_sync__seen_after_the_flush(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    struct list_reader *r = open_reader(f);
    char text[64];
    for (uint64_t n = 0; n < 500; n++) {
        struct list_change c = {.entry = entry_number(n, text)};
        MUST(f, list_stage(w, &c, SLICE_LIT("test"), &f->info));
    }
    assert_true(is_absent(ask_number(r, 0, NOW)));
    MUST(f, list_flush(w, &f->info));
    /* the second change of one entry is judged by the first */
    struct list_change change = {.entry = entry_number(3, text), .is_revoke = true};
    MUST(f, list_stage(w, &change, SLICE_LIT("test"), &f->info));
    change.is_revoke = false;
    MUST(f, list_stage(w, &change, SLICE_LIT("test"), &f->info));
    change = (struct list_change){.entry = entry_number(4, text), .is_revoke = true};
    MUST(f, list_stage(w, &change, SLICE_LIT("test"), &f->info));
    MUST(f, list_flush(w, &f->info));
    for (uint64_t n = 0; n < 500; n++) {
        assert_int_equal(ask_number(r, n, NOW), n == 4 ? LIST_REVOKED : LIST_CONFIRMED);
    }
    list_reader_close(&r);
    list_writer_close(&w);
    assert_verified(f);
}

static void test_list_import__small_beside_large__levels_newest_wins(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    import_range(f, w, 0, 40000, 0);
    assert_int_equal(w->current.nlevels, 1);
    revoke_number(f, w, 5);
    struct list_import_result result = import_range(f, w, 39000, 40100, 0);
    assert_int_equal(result.known, 1000);
    assert_int_equal(result.added, 100);
    assert_int_equal(w->current.nlevels, 2);
    assert_int_equal(w->current.level[1].entries, 101);
    struct list_reader *r = open_reader(f);
    assert_int_equal(ask_number(r, 5, NOW), LIST_REVOKED);
    assert_int_equal(ask_number(r, 40050, NOW), LIST_CONFIRMED);
    assert_int_equal(ask_number(r, 39500, NOW), LIST_CONFIRMED);
    list_reader_close(&r);
    assert_verified(f);
    /* the new level and later ones are merged, the large one stays */
    import_range(f, w, 50000, 52000, 0);
    assert_int_equal(w->current.nlevels, 2);
    assert_int_equal(w->current.level[1].entries, 2101);
    /* now all are small beside what comes */
    import_range(f, w, 60000, 90000, 0);
    assert_int_equal(w->current.nlevels, 1);
    assert_int_equal(w->current.level[0].entries, 72100);
    list_writer_close(&w);
    assert_verified(f);
}

static void test_list_reader_open_beside__one_level_new__the_other_shared(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    import_range(f, w, 0, 40000, 0);
    struct list_reader *before = open_reader(f);
    import_range(f, w, 50000, 50010, 0);
    struct list_reader *after = NULL;
    MUST(f,
         list_reader_open_beside(f->state, NAME, &f->keys, before, &after, &f->info));
    assert_ptr_equal(after->level[0], before->level[0]);
    list_reader_close(&before);
    assert_int_equal(ask_number(after, 39999, NOW), LIST_CONFIRMED);
    assert_int_equal(ask_number(after, 50009, NOW), LIST_CONFIRMED);
    list_reader_close(&after);
    list_writer_close(&w);
}

static void test_list_writer_set_filter__other_than_built__built_anew_with_a_change(
    void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    import_range(f, w, 0, 20000, 0);
    list_writer_close(&w);
    w = open_writer(f);
    list_writer_set_filter(
        w, &(struct filter_wish){.layout = BLOOM_TWO_LINES, .error = 0.0001});
    add_number(f, w, 30000);
    list_writer_close(&w);
    struct list_reader *r = open_reader(f);
    assert_int_equal(r->current.nlevels, 1);
    assert_int_equal(r->level[0]->base.bloom.layout, BLOOM_TWO_LINES);
    struct list_stat s;
    list_reader_stat(r, &s);
    assert_true(s.error_now <= 0.0001);
    assert_int_equal(ask_number(r, 19999, NOW), LIST_CONFIRMED);
    assert_int_equal(ask_number(r, 30000, NOW), LIST_CONFIRMED);
    list_reader_close(&r);
    assert_verified(f);
}

static void test_list_reader_open_held__mapped_behind_a_front__same_answers(
    void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    list_writer_set_filter(w, &(struct filter_wish){.layout = BLOOM_ONE_LINE,
                                                    .error = 0.001,
                                                    .has_front = true});
    import_range(f, w, 0, 20000, 0);
    import_range(f, w, 20000, 20100, 0); /* a small level has no front */
    add_number(f, w, 30000);
    list_writer_close(&w);
    assert_verified(f);
    struct list_reader *r = NULL;
    MUST(f, list_reader_open_held(f->state, NAME, &f->keys,
                                  &(struct reader_opening){.hold = BLOOMFILE_MAP}, &r,
                                  &f->info));
    assert_true(r->level[0]->has_front);
    assert_false(r->level[1]->has_front);
    assert_true(r->level[0]->front.bloom.nlines * 2 < r->level[0]->base.bloom.nlines);
    for (uint64_t n = 0; n < 20100; n++) {
        assert_int_equal(ask_number(r, n, NOW), LIST_CONFIRMED);
    }
    unsigned passed = 0;
    for (uint64_t n = 100000; n < 120000; n++) {
        passed += ask_number(r, n, NOW) != LIST_NO;
    }
    assert_true(passed < 60); /* 20 are expected; the front alone lets 2,000 pass */
    /* without its front the base answers */
    list_reader_close(&r);
    flip_byte(f, "front.00000002", 5000);
    MUST(f, list_reader_open_held(f->state, NAME, &f->keys,
                                  &(struct reader_opening){.hold = BLOOMFILE_MAP}, &r,
                                  &f->info));
    assert_null(list_reader_fault(r));
    assert_false(r->level[0]->has_front);
    assert_int_equal(ask_number(r, 5, NOW), LIST_CONFIRMED);
    list_reader_close(&r);
    struct findings x = {0};
    assert_int_equal(list_verify(f->state, NAME, &f->keys, count_finding, &x),
                     ERR_CORRUPT);
}

/* The id of the filter that a list with this filter key makes of these imports, one by one. */
static void id_of(struct fixture *f, const char *filter_key,
                  const uint64_t (*ranges)[2], size_t n,
                  uint8_t ret[BLOOMFILE_ID_BYTES])
{
    struct list_reader *r = NULL;
    fixture_write_key(f, "filter.key", filter_key);
    MUST(f, keyring_load(f->state, &f->keys, &f->info));
    struct list_writer *w = open_writer(f);
    list_writer_set_filter(w, &(struct filter_wish){.layout = BLOOM_ONE_LINE,
                                                    .error = 0.001,
                                                    .is_shared = true});
    for (size_t i = 0; i < n; i++) {
        import_range(f, w, ranges[i][0], ranges[i][1], 0);
    }
    list_writer_close(&w);
    assert_verified(f);
    MUST(f, list_reader_open_held(f->state, NAME, &f->keys,
                                  &(struct reader_opening){.hold = BLOOMFILE_REMOTE},
                                  &r, &f->info));
    assert_null(list_reader_fault(r));
    assert_int_equal(r->current.nlevels, 1);
    assert_true(level_is_remote(r->level[0]));
    memcpy(ret, r->level[0]->base.id, BLOOMFILE_ID_BYTES);
    list_reader_close(&r);
    (void)tempdir_remove(f->dir);
}

static void test_list_import__shared_filter__same_on_servers_with_the_same_entries(
    void **state)
{
    struct fixture *f = *state;
    static const char *const keys[] = {"101112131415161718191a1b1c1d1e1f\n",
                                       "201112131415161718191a1b1c1d1e1f\n"};
    static const uint64_t at_once[][2] = {{0, 600000}};
    static const uint64_t in_steps[][2] = {{0, 300000}, {200000, 600000}};
    static const uint64_t one_more[][2] = {{0, 600001}};
    uint8_t id[3][BLOOMFILE_ID_BYTES];
    id_of(f, keys[0], at_once, 1, id[0]);
    id_of(f, keys[1], in_steps, 2, id[1]);
    id_of(f, keys[0], one_more, 1, id[2]);
    assert_memory_equal(id[0], id[1], BLOOMFILE_ID_BYTES);
    assert_memory_not_equal(id[0], id[2], BLOOMFILE_ID_BYTES);
}

static void test_merge_from__sizes__small_ones_are_taken_in(void **state)
{
    (void)state;
    static const struct {
        uint64_t sizes[4];
        uint64_t incoming;
        uint32_t from;
    } rows[] = {
        {{0}, 10, 0},
        {{100}, 10, 1},
        {{100}, 25, 0},
        {{1000, 100}, 10, 2},
        {{1000, 100}, 25, 2 - 1},
        {{500, 100}, 25, 0},
        {{500, 100}, UINT32_MAX, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct list_current c = {0};
        while (c.nlevels < 4 && rows[i].sizes[c.nlevels] != 0) {
            c.level[c.nlevels].entries = rows[i].sizes[c.nlevels];
            c.nlevels++;
        }
        assert_int_equal(merge_from(&c, rows[i].incoming, 0), rows[i].from);
    }
    /* never more levels than there is room for, at any sizes */
    struct list_current full = {.nlevels = LIST_LEVELS_MAX};
    for (uint32_t i = 0; i < LIST_LEVELS_MAX; i++) {
        full.level[i].entries = UINT64_C(1) << 40;
    }
    assert_true(merge_from(&full, 1, 0) < LIST_LEVELS_MAX);
}

#define LIST_TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIST_TEST(test_list_add__more_than_the_recent_table_holds__all_found),
        LIST_TEST(test_list_add__table_to_come_is_small__waited_for),
        LIST_TEST(test_list_stage__many_in_one_sync__seen_after_the_flush),
        LIST_TEST(test_list_import__small_beside_large__levels_newest_wins),
        LIST_TEST(test_list_reader_open_beside__one_level_new__the_other_shared),
        LIST_TEST(
            test_list_writer_set_filter__other_than_built__built_anew_with_a_change),
        LIST_TEST(test_list_reader_open_held__mapped_behind_a_front__same_answers),
        LIST_TEST(
            test_list_import__shared_filter__same_on_servers_with_the_same_entries),
        LIST_TEST(test_merge_from__sizes__small_ones_are_taken_in),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
