/*
 * test_sync_restored - a folder that was put back from a backup, and one that two servers have.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/file.h"

#include "tests/unit/sync/syncring_unit.h"

enum { COMMAND_MAX = 3 * FILE_PATH_MAX };

static void copy_folder(const char *from, const char *to)
{
    char command[COMMAND_MAX];
    (void)tempdir_remove(to);
    (void)snprintf(command, sizeof(command), "cp -a %s %s", from, to);
    /* NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): one thread, names of our own */
    const int status = system(command);
    assert_int_equal(status, 0);
}

static void beside(const struct ring *r, unsigned i, char ret[SYNCRING_DIR])
{
    (void)snprintf(ret, SYNCRING_DIR, "%.200s.copy", r->node[i].dir);
}

/* The disk of server i as it was copied; mark: what `gillnet restore` writes, or NULL. */
static void put_back(struct ring *r, unsigned i, const char *mark)
{
    char copy[SYNCRING_DIR];
    char path[FILE_PATH_MAX];
    syncnode_close(&r->node[i]);
    beside(r, i, copy);
    copy_folder(copy, r->node[i].dir);
    if (mark) {
        assert_int_equal(file_path(path, "%s/peers/restored", r->node[i].dir), ERR_OK);
        assert_int_equal(file_write_atomic(path, slice_str(mark), 0640, NULL), ERR_OK);
    }
    open_node(r, i);
    if (mark) {
        assert_int_not_equal(access(path, F_OK), 0); /* once */
    }
}

static void back_up(struct ring *r, unsigned i)
{
    char copy[SYNCRING_DIR];
    syncnode_close(&r->node[i]);
    beside(r, i, copy);
    copy_folder(r->node[i].dir, copy);
    open_node(r, i);
}

static void publish_entry(struct ring *r, unsigned i, uint8_t digest)
{
    const struct list_record v = {
        .digest = {{digest}}, .after = ENTRY_STANDS, .type = 1};
    if (sync_publish_list(r->node[i].sync, "bad", &v, 1, &r->why) != ERR_OK) {
        fail_msg("%s: %s", r->why.source, r->why.text);
    }
}

/* Another entry than before, at a place that peers have already, and nobody there to say so. */
static bool forks_after(struct ring *r, const char *mark)
{
    publish_entry(r, 0, 1);
    back_up(r, 0);
    publish_entry(r, 0, 2);
    (void)pull(r, 1, 0);
    put_back(r, 0, mark);
    publish_entry(r, 0, 3);
    (void)pull(r, 1, 0);
    (void)pull(r, 0, 1);
    return stat_of(r, 1, 0).is_distrusted;
}

static void test_restored__when_no_peer_can_be_asked__then_lists_begin_anew(
    void **state)
{
    assert_false(forks_after(*state, "0\n"));
}

/* The purpose of the mark. */
static void test_copied_back__when_no_peer_can_be_asked__then_distrusted(void **state)
{
    assert_true(forks_after(*state, NULL));
}

static void test_restored__then_counts_of_before_are_not_published(void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 3}};
    char mark[32];
    back_up(r, 0);
    (void)snprintf(mark, sizeof(mark), "%llu\n", (unsigned long long)BUCKET + 600);
    put_back(r, 0, mark);
    publish(r, 0, BUCKET, v, 1);
    assert_int_equal(pull(r, 1, 0).results[SYNC_APPLIED], 0);
    syncnode_close(&r->node[0]);
    open_node(r, 0); /* nor after another start */
    publish(r, 0, BUCKET, v, 1);
    assert_int_equal(pull(r, 1, 0).results[SYNC_APPLIED], 0);
    publish(r, 0, BUCKET + 600, v, 1);
    assert_int_equal(pull(r, 1, 0).results[SYNC_APPLIED], 1);
}

static void test_restored__when_the_mark_is_damaged__then_said(void **state)
{
    struct ring *r = *state;
    struct errinfo why;
    char path[FILE_PATH_MAX];
    syncnode_close(&r->node[0]);
    assert_int_equal(file_path(path, "%s/peers/restored", r->node[0].dir), ERR_OK);
    assert_int_equal(file_write_atomic(path, SLICE_LIT("x\n"), 0640, NULL), ERR_OK);
    assert_int_equal(syncnode_open(&r->node[0], &r->m, &why), ERR_SYNTAX);
    assert_int_equal(unlink(path), 0);
    open_node(r, 0);
}

static void test_heartbeat__when_two_servers_have_one_identity__then_told(void **state)
{
    struct ring *r = *state;
    struct heads heads;
    struct buf answer;
    struct errinfo why;
    buf_init(&answer, SIZE_MAX);
    tick(r, 0);
    back_up(r, 0);
    put_back(r, 0, "0\n"); /* one life ... */
    clock_advance_us(31 * UINT64_C(1000000));
    tick(r, 0);
    assert_int_equal(sync_heads(r->node[0].sync, 0, &answer), ERR_OK);
    assert_int_equal(heads_parse(buf_slice(&answer), &heads, NULL), ERR_OK);
    assert_int_equal(heads.nheartbeats, 1);
    assert_offer(r, 0, heads.heartbeats[0], SYNC_DUPLICATE); /* what it said itself */
    clock_advance_us(1000000);
    put_back(r, 0, "0\n"); /* a later start hears what was before it: no harm */
    assert_offer(r, 0, heads.heartbeats[0], SYNC_APPLIED);
    clock_set_for_test((BUCKET + 40) * 1000000, 2000000000);
    put_back(r, 0, "0\n"); /* ... and another, which began before that was said */
    assert_int_equal(sync_offer(r->node[0].sync, heads.heartbeats[0], &why), SYNC_FORK);
    assert_non_null(
        strstr(why.text, "another server runs with this server's identity"));
    heads_fini(&heads);
    buf_fini(&answer);
}

static int clean(void **state)
{
    struct ring *r = *state;
    char copy[SYNCRING_DIR];
    beside(r, 0, copy);
    (void)tempdir_remove(copy);
    return teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_restored__when_no_peer_can_be_asked__then_lists_begin_anew, setup,
            clean),
        cmocka_unit_test_setup_teardown(
            test_copied_back__when_no_peer_can_be_asked__then_distrusted, setup, clean),
        cmocka_unit_test_setup_teardown(
            test_restored__then_counts_of_before_are_not_published, setup, clean),
        cmocka_unit_test_setup_teardown(
            test_restored__when_the_mark_is_damaged__then_said, setup, clean),
        cmocka_unit_test_setup_teardown(
            test_heartbeat__when_two_servers_have_one_identity__then_told, setup,
            clean),
    };
    (void)base_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
