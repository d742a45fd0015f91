/*
 * test_update - a feed's versions from the first body to the last: applied and kept versions,
 * crashes, damage, silence, and commands of people.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "core/feed/update_internal.h"
#include "core/list/mirror.h"

#include "tests/unit/feed/stage_fixture.h"

enum { DAY_S = 86400, KILLS = 14, KILL_ENTRIES = 3000 };

static void test_update__when_entries_enter_and_leave__then_the_list_follows(
    void **state)
{
    struct feed_fixture *x = *state;
    struct update_report r = update(x, "a.example\nb.example\nhttp://c.example/x\n");
    assert_string_equal(r.refusal.reason, "");
    assert_int_equal(r.entered, 3);
    assert_int_equal(r.entries, 3);
    assert_string_equal(state_of(x).etag, "\"e\"");
    assert_true(is_listed(x, "a.example") && is_listed(x, "http://c.example/x"));
    assert_false(is_listed(x, "c.example"));
    r = update(x, "b.example\nd.example\nhttp://c.example/x\nd.example\n");
    assert_int_equal(r.entered, 1);
    assert_int_equal(r.left, 1);
    assert_int_equal(r.entries, 3);
    assert_string_equal(x->said, "+d.example\n-a.example\n");
    assert_true(is_listed(x, "a.example") && is_listed(x, "d.example")); /* `keep` */
    assert_int_equal(state_of(x).version, 2);
    assert_int_equal(state_of(x).added_total, 4);
    now_is(x, x->now_s + DAY_S + 1);
    assert_false(is_listed(x, "a.example"));
    assert_true(is_listed(x, "b.example"));
}

static void test_update__when_keep_is_none__then_what_left_goes_at_once(void **state)
{
    struct feed_fixture *x = *state;
    reopen(x, "keep = \"0s\";", "");
    (void)update(x, "a.example\nb.example\n");
    (void)update(x, "b.example\n");
    assert_false(is_listed(x, "a.example"));
    (void)update(x, "a.example\nb.example\n");
    assert_true(is_listed(x, "a.example"));
}

static void test_update__when_nothing_changed__then_nothing_is_written(void **state)
{
    struct feed_fixture *x = *state;
    (void)update(x, "a.example\nb.example\n");
    (void)update(x, "# a comment\nb.example\na.example\n");
    struct list_writer *w = open_writer(x->f);
    uint64_t before = list_writer_log_bytes(w);
    list_writer_close(&w);
    now_is(x, x->now_s + 60);
    struct update_report r = update(x, "# another\nb.example\na.example\n");
    assert_true(r.is_same);
    assert_int_equal(state_of(x).version, 1);
    assert_int_equal(state_of(x).good_s, x->now_s);
    w = open_writer(x->f);
    assert_int_equal(list_writer_log_bytes(w), before);
    list_writer_close(&w);
}

static void test_update__when_it_only_checks__then_nothing_changes(void **state)
{
    struct feed_fixture *x = *state;
    (void)update(x, "a.example\nb.example\n");
    struct update_report r =
        update_as(x, SLICE_LIT("b.example\nc.example\ngoogle.com\n"),
                  (struct update_body){.only_checks = true});
    assert_int_equal(r.entered, 1);
    assert_int_equal(r.left, 1);
    assert_int_equal(r.left_out, 1);
    assert_string_equal(x->said, "!google.com major_domain\n+c.example\n-a.example\n");
    assert_false(is_listed(x, "c.example"));
    assert_int_equal(state_of(x).version, 1);
}

static void test_update__when_a_person_decided__then_that_stands(void **state)
{
    struct feed_fixture *x = *state;
    (void)update(x, "host-1.example\nhost-2.example\n");
    struct list_writer *w = open_writer(x->f);
    revoke_number(x->f, w, 1);
    add_number(x->f, w, 2);
    add_number(x->f, w, 3);
    list_writer_close(&w);
    (void)update(x, "host-1.example\nhost-9.example\n");
    now_is(x, x->now_s + 2 * DAY_S);
    assert_false(has_number(x, 1));
    assert_true(has_number(x, 2) && has_number(x, 3) && has_number(x, 9));
}

static void test_update__when_it_is_large__then_it_is_applied_whole(void **state)
{
    struct feed_fixture *x = *state;
    struct update_report r = update_numbers(x, 0, 20000);
    assert_int_equal(r.entered, 20000);
    r = update_numbers(x, 9000, 30000);
    assert_int_equal(r.entered, 10000);
    assert_int_equal(r.left, 9000);
    now_is(x, x->now_s + DAY_S + 1);
    for (uint64_t n = 0; n < 30000; n += 97) {
        assert_int_equal(has_number(x, n), n >= 9000);
    }
    assert_verified(x->f);
}

/* ---- versions ---- */

static void test_rollback__when_asked_for__then_the_former_version_serves_and_is_pinned(
    void **state)
{
    struct feed_fixture *x = *state;
    struct update_report r;
    reopen(x, "keep = \"7d\"; versions = 2;", "");
    (void)update(x, "a.example\nb.example\n");
    (void)update(x, "b.example\nc.example\n");
    MUST(x->f, update_rollback(x->s, 0, &r, &x->f->info));
    assert_int_equal(r.entered, 1);
    assert_int_equal(r.left, 1);
    assert_true(is_listed(x, "a.example"));
    assert_false(is_listed(x, "c.example")); /* at once, with any value of keep */
    assert_true(state_of(x).is_pinned);
    assert_int_equal(state_of(x).version, 1);
    assert_string_equal(state_of(x).etag, "");
    r = update(x, "b.example\nd.example\n"); /* pinned: looked at, not taken */
    assert_int_equal(r.entered, 1);
    assert_int_equal(state_of(x).version, 1);
    assert_false(is_listed(x, "d.example"));
    assert_int_equal(update_rollback(x->s, 0, &r, NULL), ERR_NOT_FOUND);
    reopen(x, "keep = \"0s\"; versions = 2;", "");
    (void)update_as(x, SLICE_LIT("b.example\nd.example\n"),
                    (struct update_body){.is_by_hand = true});
    assert_false(state_of(x).is_pinned);
    assert_int_equal(state_of(x).version, 3);
    assert_int_equal(state_of(x).versions, 2);
    assert_true(is_listed(x, "d.example"));
    assert_false(is_listed(x, "a.example"));
    MUST(x->f, update_rollback(x->s, 2, &r, &x->f->info));
    assert_true(is_listed(x, "c.example"));
    assert_false(is_listed(x, "d.example"));
}

static void test_diff__of_two_versions__then_each_line_is_told(void **state)
{
    struct feed_fixture *x = *state;
    (void)update(x, "a.example\nb.example\n");
    (void)update(x, "b.example\nc.example\n");
    (void)update(x, "b.example\nd.example\n");
    x->said[0] = '\0';
    MUST(x->f, update_diff(x->s, 0, 0, hear, x, &x->f->info));
    assert_string_equal(x->said, "+d.example\n-c.example\n");
    x->said[0] = '\0';
    MUST(x->f, update_diff(x->s, 1, 3, hear, x, &x->f->info));
    assert_string_equal(x->said, "+d.example\n-a.example\n");
    assert_int_equal(update_diff(x->s, 0, 1, hear, x, NULL), ERR_NOT_FOUND);
}

static unsigned files_in(const struct feed_fixture *x)
{
    char path[256];
    char line[256];
    unsigned n = 0;
    snprintf(path, sizeof(path), "ls %s/feeds/test", x->f->state);
    FILE *p = popen(path, "re"); /* NOLINT(cert-env33-c): of our own */
    assert_non_null(p);
    while (fgets(line, sizeof(line), p)) {
        n++;
    }
    (void)pclose(p);
    return n;
}

static void test_versions__when_many_came__then_as_many_as_wanted_are_kept(void **state)
{
    struct feed_fixture *x = *state;
    for (unsigned i = 0; i < 8; i++) {
        char body[64];
        snprintf(body, sizeof(body), "a.example\nv%u.example\n", i);
        (void)update(x, body);
        (void)update(x, "<html>");
    }
    assert_int_equal(state_of(x).versions, 3);
    assert_int_equal(files_in(x), 2 + 2 * 3); /* LOCK, state.json, sets and bodies */
}

/* ---- silence, another list, the end ---- */

static void test_silence__when_it_lasts__then_all_entries_go_until_it_ends(void **state)
{
    struct feed_fixture *x = *state;
    bool did = true;
    (void)update(x, "a.example\nb.example\n");
    now_is(x, x->now_s + 7 * DAY_S - 1);
    MUST(x->f, update_expire_silent(x->s, &did, &x->f->info));
    assert_false(did);
    now_is(x, x->now_s + 1);
    MUST(x->f, update_expire_silent(x->s, &did, &x->f->info));
    assert_true(did);
    assert_false(is_listed(x, "a.example"));
    assert_string_equal(state_of(x).etag, "");
    MUST(x->f, update_expire_silent(x->s, &did, &x->f->info));
    assert_false(did);
    (void)update(x, "a.example\nb.example\n");
    assert_true(is_listed(x, "a.example") && is_listed(x, "b.example"));
    assert_int_equal(state_of(x).entries, 2);
}

static void test_into__when_it_is_another_list__then_the_former_is_left(void **state)
{
    struct feed_fixture *x = *state;
    (void)update(x, "a.example\nb.example\n");
    reopen(x, "into = \"other\"; keep = \"0s\";", "");
    MUST(x->f, update_unchanged(x->s, &x->f->info));
    assert_true(is_listed_in(x, "other", "a.example"));
    assert_false(is_listed(x, "a.example"));
}

static void test_drop__when_a_feed_is_not_wanted_any_more__then_its_entries_leave(
    void **state)
{
    struct feed_fixture *x = *state;
    struct config_feed feed = x->config->feeds[0];
    struct update_options o = {.config = x->config, .feed = &feed, .keys = &x->f->keys};
    char folder[128];
    reopen(x, "into = \"other\";", "");
    (void)update(x, "a.example\nb.example\n");
    update_close(&x->s);
    feed = x->config->feeds[0];
    feed.list = feed.name; /* as one who knows the folder alone would */
    feed.keep_s = 100;
    o.config = x->config;
    MUST(x->f, update_drop(&o, &x->f->info));
    assert_true(is_listed_in(x, "other", "a.example"));
    now_is(x, x->now_s + 101);
    assert_false(is_listed_in(x, "other", "a.example"));
    snprintf(folder, sizeof(folder), "%s/feeds/test", x->f->state);
    assert_int_not_equal(access(folder, F_OK), 0);
}

static void test_unchanged__once_a_day__then_what_the_list_lacks_is_mended(void **state)
{
    struct feed_fixture *x = *state;
    char text[64];
    (void)update(x, "host-1.example\nhost-2.example\n");
    (void)update(x, "host-1.example\nhost-2.example\nhost-3.example\n");
    struct list_writer *w = open_writer(x->f);
    struct feature_entry e = entry_number(1, text);
    MUST(x->f, list_add(w, &e, SLICE_LIT("cli"), (uint32_t)x->now_s + 10, &x->f->info));
    list_writer_close(&w);
    now_is(x, x->now_s + 100);
    assert_false(has_number(x, 1)); /* what a person said ended */
    MUST(x->f, update_unchanged(x->s, &x->f->info));
    assert_false(has_number(x, 1));
    now_is(x, x->now_s + DAY_S);
    MUST(x->f, update_unchanged(x->s, &x->f->info));
    assert_true(has_number(x, 1) && has_number(x, 2) && has_number(x, 3));
    assert_int_equal(state_of(x).version, 2);
    assert_int_equal(tempdir_remove(x->f->dir), 0); /* somebody removed the list */
    (void)update(x, "host-1.example\nhost-2.example\nhost-3.example\n");
    assert_true(has_number(x, 1) && has_number(x, 2) && has_number(x, 3));
}

/* ---- damage and crashes ---- */

static void spoil(const struct feed_fixture *x, const char *file)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/feeds/test/%s", x->f->state, file);
    FILE *f = fopen(path, "r+e");
    assert_non_null(f);
    assert_int_equal(fseek(f, 7, SEEK_SET), 0);
    assert_int_equal(fputc(0xee, f), 0xee);
    assert_int_equal(fclose(f), 0);
}

static void test_state__when_damaged__then_it_begins_anew_with_what_the_list_holds(
    void **state)
{
    static const char *const files[] = {"state.json", "set.2"};
    for (size_t i = 0; i < 2; i++) {
        struct feed_fixture *x = *state;
        reopen(x, "keep = \"0s\";", "");
        (void)update(x, "a.example\nb.example\n");
        (void)update(x, "a.example\nb.example\nc.example\n");
        update_close(&x->s);
        spoil(x, files[i]);
        open_stage(x);
        assert_true(is_listed(x, "c.example"));
        (void)update(x, "<html>"); /* refused: still nothing is lost */
        reopen(x, "keep = \"0s\";", "");
        (void)update(x, "b.example\nd.example\n");
        assert_true(is_listed(x, "b.example") && is_listed(x, "d.example"));
        assert_false(is_listed(x, "a.example") || is_listed(x, "c.example"));
        (void)update(x, "b.example\n");
        assert_false(is_listed(x, "d.example"));
        (void)stage_teardown(state);
        (void)stage_setup(state);
    }
}

/* Entries n with a given version's bit; version v holds those whose hash says so. */
static bool is_in(uint64_t n, uint64_t v)
{
    return (n * 2654435761u >> 7) % 5 != v % 5;
}

static void version_body(struct buf *b, uint64_t v)
{
    for (uint64_t n = 0; n < KILL_ENTRIES; n++) {
        if (is_in(n, v)) {
            numbers(b, n, n + 1);
        }
    }
}

static void give_version(struct feed_fixture *x, uint64_t v)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    version_body(&b, v);
    (void)update_as(x, buf_slice(&b), (struct update_body){0});
    buf_fini(&b);
}

static void test_update__when_killed__then_the_next_one_makes_it_whole(void **state)
{
    struct feed_fixture *x = *state;
    uint64_t seed = 20261122;
    reopen(x, "keep = \"0s\";", "");
    for (uint64_t v = 0; v < KILLS; v++) {
        update_close(&x->s);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            open_stage(x);
            give_version(x, 2 * v);
            _exit(0);
        }
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        struct timespec t = {0, (long)((seed >> 33) % 40) * 1000 * 1000};
        (void)nanosleep(&t, NULL);
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        open_stage(x);
        give_version(x, 2 * v + 1); /* another one: nothing of the former may be left */
        for (uint64_t n = 0; n < KILL_ENTRIES; n += 7) {
            if (has_number(x, n) != is_in(n, 2 * v + 1)) {
                fail_msg("round %llu: entry %llu", (unsigned long long)v,
                         (unsigned long long)n);
            }
        }
        assert_verified(x->f);
    }
}

static void test_stage__when_another_works_on_it__then_it_is_locked(void **state)
{
    struct feed_fixture *x = *state;
    struct feed_update *other = NULL;
    struct update_options o = {
        .config = x->config, .feed = &x->config->feeds[0], .keys = &x->f->keys};
    assert_int_equal(update_open(&o, &other, &x->f->info), ERR_LOCKED);
}

static void test_failures__when_noted__then_they_survive_until_it_is_well(void **state)
{
    struct feed_fixture *x = *state;
    assert_int_equal(state_of(x).failures, 0);
    assert_int_equal(update_note_failures(x->s, 7, "the server answers 503", NULL),
                     ERR_OK);
    reopen(x, "", "");
    assert_int_equal(state_of(x).failures, 7);
    assert_string_equal(state_of(x).trouble, "the server answers 503");
    assert_int_equal(update_note_failures(x->s, 0, "", NULL), ERR_OK);
    reopen(x, "", "");
    assert_int_equal(state_of(x).failures, 0);
    assert_string_equal(state_of(x).trouble, "");
}

static void test_compare__when_the_last_version_is_cut_meanwhile__then_it_is_refused(
    void **state)
{
    struct feed_fixture *x = *state;
    const struct set_kind kind = {.key_id = 1};
    struct feed_set_entry entry = {.first_seen_s = 1};
    struct feed_set_out out;
    struct feed_set old;
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/old.set", x->f->state);
    MUST(x->f, feed_set_out_open(&out, path, &kind, &x->f->info));
    for (uint32_t i = 0; i < 1000; i++) {
        entry.digest.b[0] = (uint8_t)(i >> 8);
        entry.digest.b[1] = (uint8_t)i;
        feed_set_out_add(&out, &entry);
    }
    MUST(x->f, feed_set_out_commit(&out, &x->f->info));
    feed_set_out_abort(&out);
    MUST(x->f, feed_set_open(&old, path, &x->f->info));
    struct compare c = {.stage = x->s, .old = &old};
    MUST(x->f, compare_run(&c, &x->f->info));
    assert_int_equal(c.left, 1000);
    assert_int_equal(truncate(path, 4096), 0);
    assert_int_equal(compare_run(&c, &x->f->info), ERR_CORRUPT);
    feed_set_close(&old);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, stage_setup, stage_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_compare__when_the_last_version_is_cut_meanwhile__then_it_is_refused),
        TEST(test_update__when_entries_enter_and_leave__then_the_list_follows),
        TEST(test_update__when_keep_is_none__then_what_left_goes_at_once),
        TEST(test_update__when_nothing_changed__then_nothing_is_written),
        TEST(test_update__when_it_only_checks__then_nothing_changes),
        TEST(test_update__when_a_person_decided__then_that_stands),
        TEST(test_update__when_it_is_large__then_it_is_applied_whole),
        TEST(
            test_rollback__when_asked_for__then_the_former_version_serves_and_is_pinned),
        TEST(test_diff__of_two_versions__then_each_line_is_told),
        TEST(test_versions__when_many_came__then_as_many_as_wanted_are_kept),
        TEST(test_silence__when_it_lasts__then_all_entries_go_until_it_ends),
        TEST(test_into__when_it_is_another_list__then_the_former_is_left),
        TEST(test_drop__when_a_feed_is_not_wanted_any_more__then_its_entries_leave),
        TEST(test_unchanged__once_a_day__then_what_the_list_lacks_is_mended),
        TEST(test_state__when_damaged__then_it_begins_anew_with_what_the_list_holds),
        TEST(test_update__when_killed__then_the_next_one_makes_it_whole),
        TEST(test_stage__when_another_works_on_it__then_it_is_locked),
        TEST(test_failures__when_noted__then_they_survive_until_it_is_well),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
