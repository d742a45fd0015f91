/*
 * test_sync_time - effects of time: heartbeats, endings, merged days, removal of old runs.
 */
#include <dirent.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/count/runset.h"
#include "core/ring/sync/sync_internal.h"

#include "tests/unit/sync/syncring_unit.h"

static void test_heartbeat__when_none_comes__then_stale_until_one_does(void **state)
{
    struct ring *r = *state;
    tick(r, 1);
    (void)pull(r, 0, 1);
    assert_true(stat_of(r, 0, 1).seen_ms > 0);
    for (unsigned s = 0; s < 170; s++) {
        clock_advance_us(1000000);
        assert_false(stat_of(r, 0, 1).is_stale);
    }
    (void)pull(r, 0, 2); /* who relays may hold back, not make up */
    clock_advance_us(40 * UINT64_C(1000000));
    assert_true(stat_of(r, 0, 1).is_stale);
    tick(r, 1);
    (void)pull(r, 2, 1);
    (void)pull(r, 0, 2);
    assert_false(stat_of(r, 0, 1).is_stale);
}

static void test_heartbeat__when_origin_was_put_back__then_told(void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 3}};
    struct heads heads;
    struct buf old;
    buf_init(&old, SIZE_MAX);
    tick(r, 1);
    assert_int_equal(sync_heads(r->node[1].sync, 0, &old), ERR_OK);
    assert_int_equal(heads_parse(buf_slice(&old), &heads, NULL), ERR_OK);
    assert_int_equal(heads.nheartbeats, 1);
    assert_offer(r, 0, heads.heartbeats[0], SYNC_APPLIED);
    assert_offer(r, 0, heads.heartbeats[0], SYNC_DUPLICATE);
    publish(r, 1, BUCKET, v, 1);
    clock_advance_us(31 * UINT64_C(1000000));
    tick(r, 1);
    (void)pull(r, 0, 1);
    assert_offer(r, 0, heads.heartbeats[0], SYNC_DUPLICATE); /* an old one */
    heads_fini(&heads);
    syncnode_close(
        &r->node[1]); /* an empty disk: it published nothing that it knows of */
    char dir[SYNCRING_DIR];
    memcpy(dir, r->node[1].dir, sizeof(dir));
    (void)tempdir_remove(dir);
    syncnode_init(&r->node[1], dir, 1);
    open_node(r, 1);
    clock_advance_us(31 * UINT64_C(1000000));
    tick(r, 1);
    (void)pull(r, 0, 1);
    assert_int_equal(stat_of(r, 0, 1).refused[SYNC_OLD], 1);
    assert_false(pull(r, 1, 0).knew_itself); /* and it is told, and takes it back */
    assert_true(pull(r, 1, 0).knew_itself);
    clock_advance_us(200 * UINT64_C(1000000));
    buf_clear(&old);
    assert_int_equal(sync_heads(r->node[0].sync, 0, &old), ERR_OK);
    assert_int_equal(heads_parse(buf_slice(&old), &heads, NULL), ERR_OK);
    assert_int_equal(heads.nheartbeats, 0); /* expired ones are not passed on */
    heads_fini(&heads);
    buf_fini(&old);
}

/* Time goes on for all, by parts that no clock is thought to have been set. */
static void wait_s(struct ring *r, uint64_t seconds)
{
    for (uint64_t at = 0; at < seconds; at += 600) {
        clock_advance_us(600 * UINT64_C(1000000));
        for (unsigned i = 0; i < NODES; i++) {
            tick(r, i);
        }
    }
}

static unsigned files_in(struct ring *r, unsigned i, const char *dir, const char *part)
{
    char path[FILE_PATH_MAX];
    unsigned n = 0;
    const struct dirent *entry = NULL;
    assert_int_equal(file_path(path, "%s/peers/%s", r->node[i].dir, dir), ERR_OK);
    DIR *d = opendir(path);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    while (d && (entry = readdir(d)) != NULL) {
        n += entry->d_name[0] != '.' && strstr(entry->d_name, part) != NULL;
    }
    if (d) {
        (void)closedir(d);
    }
    return n;
}

static unsigned objects_of(struct ring *r, unsigned i, unsigned origin)
{
    char dir[FILE_PATH_MAX];
    char hex[2 * OBJECT_ID_BYTES + 1];
    hex_print(r->node[origin].self.origin.b, OBJECT_ID_BYTES, hex);
    assert_int_equal(file_path(dir, "objects/%s", hex), ERR_OK);
    return files_in(r, i, dir, "");
}

static void test_tick__when_nobody_ends_a_bucket__then_it_is_ended(void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 3}};
    publish(r, 0, BUCKET, v, 1);
    (void)pull(r, 1, 0);
    assert_int_equal(files_in(r, 1, "counts/runs", ".run"), 0);
    wait_s(r, 2400);
    (void)pull(r, 1, 0);
    assert_int_equal(files_in(r, 1, "counts/runs", ".run"), 1);
}

static void test_tick__when_two_hours_old__then_the_whole_takes_the_steps_place(
    void **state)
{
    struct ring *r = *state;
    struct syncpull p;
    for (uint64_t i = 1; i <= 5; i++) {
        const struct count_record v[] = {{5, i}, {6 + i, 1}};
        publish(r, 0, BUCKET, v, 2);
    }
    close_bucket(r, 0, BUCKET);
    (void)pull(r, 1, 0);
    wait_s(r, SYNC_KEEP_S + 1200);
    p = pull(r, 2, 1); /* from the relay, which made the payload again */
    assert_int_equal(p.results[SYNC_APPLIED], 1);
    assert_int_equal(files_in(r, 2, "counts/runs", ".run"), 1);
    assert_int_equal(pull(r, 2, 0).wants, 0);
    p = pull(r, 3, 2); /* who has it as a whole can serve it as well */
    assert_int_equal(p.results[SYNC_APPLIED], 1);
    assert_int_equal(files_in(r, 3, "counts/runs", ".run"), 1);
}

static void test_tick__when_days_go_by__then_merged_and_never_taken_in_again(
    void **state)
{
    struct ring *r = *state;
    struct buf old;
    struct heads heads;
    struct object_id id;
    const struct count_record v[] = {{5, 3}};
    publish(r, 0, BUCKET, v, 1);
    publish(r, 0, BUCKET + 600, v, 1);
    (void)pull(r, 1, 0);
    close_bucket(r, 0, BUCKET);
    buf_init(&old, SIZE_MAX);
    assert_int_equal(sync_heads(r->node[1].sync, 0, &old), ERR_OK);
    assert_int_equal(heads_parse(buf_slice(&old), &heads, NULL), ERR_OK);
    assert_int_equal(heads.n, 2);
    stream_key_id(&heads.v[0].stream, &id);
    heads_fini(&heads);
    buf_clear(&old);
    assert_int_equal(sync_chain(r->node[1].sync, &id, 1, 1, SIZE_MAX, &old), ERR_OK);
    (void)pull(r, 1, 0);
    wait_s(
        r,
        3 * (uint64_t)COUNT_DAY_S); /* node 1 never gets the end of the second bucket */
    assert_int_equal(objects_of(r, 1, 0), 0);
    assert_int_equal(files_in(r, 1, "counts/runs", "-86400-"), 1);
    assert_int_equal(files_in(r, 1, "counts/runs", "-00600-"), 0);
    assert_int_equal(files_in(r, 0, "own/runs", ".run"), 0); /* gillnetd has our own */
    assert_offer(r, 1, buf_slice(&old), SYNC_OLD);
    assert_int_equal(pull(r, 2, 1).wants, 0);
    wait_s(r, 13 * (uint64_t)COUNT_DAY_S);
    assert_int_equal(files_in(r, 1, "counts/runs", ".run"), 0);
    assert_offer(r, 1, buf_slice(&old), SYNC_OLD);
    buf_fini(&old);
}

static void test_tick__when_the_clock_is_set_forward__then_nothing_expires_at_once(
    void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 3}};
    publish(r, 0, BUCKET, v, 1);
    close_bucket(r, 0, BUCKET);
    (void)pull(r, 1, 0);
    clock_set_for_test((BUCKET + 40 * UINT64_C(86400)) * 1000000, 1000000000 + 1000000);
    tick(r, 1);
    assert_int_equal(files_in(r, 1, "counts/runs", ".run"), 1);
    clock_set_for_test((BUCKET + 60) * 1000000, 1000000000 + 60 * UINT64_C(1000000));
    tick(r, 1);
    assert_int_equal(objects_of(r, 1, 0), 1);
    assert_int_equal(pull(r, 2, 1).results[SYNC_APPLIED], 2);
}

/* Every bucket a record, for a day: then three times what is usual, and never below what a small
 * server may grow to. */
static void test_quota__when_a_day_is_known__then_what_is_usual_bounds_it(void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 3}};
    const uint64_t allowed = stat_of(r, 1, 0).quota;
    assert_int_equal(allowed, r->m.default_records_per_day / 144 * SYNC_BURST);
    for (unsigned i = 0; i < SYNC_HISTORY_MIN + 8; i++) {
        assert_true(i >= SYNC_HISTORY_MIN || stat_of(r, 1, 0).quota == allowed);
        publish(r, 0, BUCKET + i * UINT64_C(600), v, 1);
        (void)pull(r, 1, 0);
        clock_advance_us(600 * UINT64_C(1000000));
        tick(r, 0);
        tick(r, 1);
    }
    assert_int_equal(stat_of(r, 1, 0).quota, SYNC_QUOTA_MIN);
    syncnode_close(&r->node[1]);
    open_node(r, 1);
    assert_int_equal(stat_of(r, 1, 0).quota, SYNC_QUOTA_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_heartbeat__when_none_comes__then_stale_until_one_does, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_heartbeat__when_origin_was_put_back__then_told, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_tick__when_nobody_ends_a_bucket__then_it_is_ended, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_tick__when_two_hours_old__then_the_whole_takes_the_steps_place, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_tick__when_days_go_by__then_merged_and_never_taken_in_again, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_tick__when_the_clock_is_set_forward__then_nothing_expires_at_once,
            setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_quota__when_a_day_is_known__then_what_is_usual_bounds_it, setup,
            teardown),
    };
    (void)base_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
