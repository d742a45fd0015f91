/* test_publish_lists - lists that come and go in a place, and a publisher who is a member of the ring too. */
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/ring/sync/peerlist.h"

#include "tests/unit/publish/follower.h"
#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { MS = 1000 };

static enum err round_of(struct follower *f, struct errinfo *reterr)
{
    const char *place = f->place;
    return follower_round(f, &place, 1, reterr);
}

static void begin(struct follower *f, uint64_t seed)
{
    struct errinfo why;
    follower_init(f, seed);
    follower_change(f, 200);
    assert_int_equal(follower_publish(f, false, &why), ERR_OK);
    assert_int_equal(round_of(f, &why), ERR_OK);
    follower_assert_same(f);
}

static struct publish *open_place(struct follower *f)
{
    const struct publish_options o = {.state_dir = f->publisher,
                                      .place = f->place,
                                      .self = &f->self,
                                      .keys = &f->keys,
                                      .now_ms = f->now_ms,
                                      .valid_ms = f->valid_ms};
    struct publish *p = NULL;
    struct errinfo why;
    assert_int_equal(publish_open(&o, &p, &why), ERR_OK);
    return p;
}

/* Publishes a list of one domain beside that of the follower. */
static void publish_other(struct follower *f)
{
    struct publish *p = open_place(f);
    struct publish_result result;
    struct errinfo why;
    struct list_record one = {
        .after = ENTRY_STANDS, .type = f->entry[0].type, .text = f->entry[0].text};
    struct textlist list = {.v = &one, .n = 1};
    assert_int_equal(publish_entries(p, "other", &list, &result, &why), ERR_OK);
    assert_int_equal(publish_commit(p, &why), ERR_OK);
    publish_close(&p);
}

static void withdraw(struct follower *f, const char *name)
{
    struct publish *p = open_place(f);
    struct errinfo why;
    assert_int_equal(publish_withdraw(p, name, &why), ERR_OK);
    assert_int_equal(publish_commit(p, &why), ERR_OK);
    publish_close(&p);
}

static void commit(struct follower *f)
{
    struct publish *p = open_place(f);
    struct errinfo why;
    assert_int_equal(publish_commit(p, &why), ERR_OK);
    publish_close(&p);
}

static unsigned folders(const struct follower *f, char kind)
{
    char path[FILE_PATH_MAX];
    struct stat st;
    (void)snprintf(path, sizeof(path), "%s/v1/%c", f->place, kind);
    assert_int_equal(stat(path, &st), 0);
    return (unsigned)st.st_nlink - 2;
}

static void later(struct follower *f, uint64_t seconds)
{
    f->now_ms += seconds * MS;
}

static void test_withdraw__when_a_list_goes__then_its_files_stay_for_a_time(
    void **state)
{
    struct follower f;
    struct errinfo why;
    (void)state;
    begin(&f, 1);
    later(&f, 1);
    publish_other(&f);
    assert_int_equal(folders(&f, 'o'), 2);
    later(&f, UINT64_C(10) *
                  PUBLISH_GRACE_S); /* how long it was published does not matter */
    withdraw(&f, "other");
    assert_int_equal(folders(&f, 'o'), 2);
    later(&f, PUBLISH_GRACE_S - 10);
    commit(&f);
    assert_int_equal(folders(&f, 's'), 2);
    later(&f, 20);
    commit(&f);
    assert_int_equal(folders(&f, 'o'), 1);
    assert_int_equal(folders(&f, 's'), 1);
    /* the other list goes on, and one that is published again too */
    follower_change(&f, 3);
    assert_int_equal(follower_publish(&f, false, &why), ERR_OK);
    assert_false(f.published.is_new);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    follower_assert_same(&f);
    later(&f, 1);
    publish_other(&f);
    assert_int_equal(folders(&f, 's'), 2);
    follower_fini(&f);
}

static void
test_withdraw__when_a_follower_has_the_list__then_told_and_kept_until_it_is_back(
    void **state)
{
    struct follower f;
    struct errinfo why;
    (void)state;
    begin(&f, 2);
    later(&f, 1);
    publish_other(&f);
    later(&f, 1);
    withdraw(&f, "theirs");
    assert_int_equal(round_of(&f, &why), ERR_NOT_FOUND);
    follower_assert_same(&f);
    later(&f, UINT64_C(2) * PUBLISH_GRACE_S);
    withdraw(&f, "other"); /* the last one: heads of nothing */
    assert_int_equal(round_of(&f, &why), ERR_NOT_FOUND);
    later(&f, UINT64_C(2) * PUBLISH_GRACE_S);
    commit(&f);
    assert_int_equal(folders(&f, 's'), 0);
    follower_change(&f, 3);
    later(&f, 1);
    assert_int_equal(follower_publish(&f, false, &why), ERR_OK);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    follower_assert_same(&f);
    follower_fini(&f);
}

static void test_anew__when_a_stream_is_left__then_its_files_go_in_time(void **state)
{
    struct follower f;
    struct errinfo why;
    (void)state;
    begin(&f, 3);
    later(&f, 1);
    assert_int_equal(follower_publish(&f, true, &why), ERR_OK);
    assert_int_equal(folders(&f, 'o'), 2);
    later(&f, PUBLISH_GRACE_S + 10);
    commit(&f);
    assert_int_equal(folders(&f, 'o'), 1);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    follower_assert_same(&f);
    follower_fini(&f);
}

static void test_sweep__when_others_files_lie_there__then_they_stay(void **state)
{
    char path[FILE_PATH_MAX];
    struct follower f;
    (void)state;
    begin(&f, 4);
    (void)snprintf(path, sizeof(path), "%s/v1/o/mine", f.place);
    assert_int_equal(mkdir(path, 0755), 0);
    later(&f, UINT64_C(10) * PUBLISH_GRACE_S);
    commit(&f);
    commit(&f);
    assert_int_equal(access(path, F_OK), 0);
    follower_fini(&f);
}

/* ---- a publisher who is a member too ---- */

static struct object step_of(const struct follower *f, const struct list_record *r,
                             struct buf *raw)
{
    struct object o = {.type = OBJECT_DELTA, .seq = 1, .records = 1};
    o.stream =
        (struct stream_key){.origin = f->self.origin,
                            .inc = UINT64_MAX, /* newer than anything published */
                            .ring_key = f->keys.ring[0].id,
                            .kind = OBJECT_LIST,
                            .list = "ours"};
    payload_print_list(r, 1, raw);
    return o;
}

static uint8_t state_in_ring(struct peerlists *ring, const struct object *o,
                             const struct digest *d)
{
    struct list_record r = {.digest = *d, .after = 9};
    struct errinfo why;
    return peerlist_get(ring, &o->stream, &r, &why) == ERR_OK ? r.after : 9;
}

static void test_member__when_he_publishes_too__then_neither_touches_the_other(
    void **state)
{
    char dir[FILE_PATH_MAX];
    struct follower f;
    struct errinfo why;
    struct peerlists *ring = NULL;
    struct payload_reader records;
    struct buf raw;
    struct list_record r = {.after = ENTRY_STANDS, .type = 1};
    (void)state;
    begin(&f, 5);
    memset(r.digest.b, 0x5a, sizeof(r.digest.b));
    (void)snprintf(dir, sizeof(dir), "%s/peers/lists", f.subscriber);
    assert_int_equal(peerlists_open(dir, &f.keys, &ring, &why), ERR_OK);
    buf_init(&raw, 4096);
    const struct object o = step_of(&f, &r, &raw);
    assert_int_equal(
        payload_reader_init(&records, OBJECT_LIST, false, 1, buf_slice(&raw), &why),
        ERR_OK);
    assert_int_equal(peerlist_apply(ring, &o, "member", &records, &why), ERR_OK);
    /* what he publishes goes on */
    later(&f, 1);
    follower_change(&f, 5);
    assert_int_equal(follower_publish(&f, false, &why), ERR_OK);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    follower_assert_same(&f);
    assert_int_equal(state_in_ring(ring, &o, &r.digest), ENTRY_STANDS);
    /* the ring drops him */
    assert_int_equal(peerlists_drop(ring, &f.self.origin, &why), ERR_OK);
    follower_assert_same(&f);
    /* and the other way round */
    assert_int_equal(
        payload_reader_init(&records, OBJECT_LIST, false, 1, buf_slice(&raw), &why),
        ERR_OK);
    assert_int_equal(peerlist_apply(ring, &o, "member", &records, &why), ERR_OK);
    subscription_close(&f.s);
    assert_int_equal(subscription_drop(f.subscriber, "pub", f.lists, &why), ERR_OK);
    assert_int_equal(state_in_ring(ring, &o, &r.digest), ENTRY_STANDS);
    buf_fini(&raw);
    peerlists_close(&ring);
    follower_fini(&f);
}

static void test_open__when_the_other_side_is_at_work__then_its_files_stay(void **state)
{
    char path[2][FILE_PATH_MAX];
    char dir[FILE_PATH_MAX];
    struct follower f;
    struct errinfo why;
    struct peerlists *ring = NULL;
    (void)state;
    begin(&f, 6);
    (void)snprintf(dir, sizeof(dir), "%s/peers/lists/00112233445566778899aabbccddeeff",
                   f.subscriber);
    assert_int_equal(mkdir(dir, 0700), 0);
    (void)snprintf(path[0], sizeof(path[0]),
                   "%s/peers/lists/00112233445566778899aabbccddeeff/renew-subscribed",
                   f.subscriber);
    (void)snprintf(path[1], sizeof(path[1]),
                   "%s/peers/lists/.subscribed-drop-00112233445566778899aabbccddeeff",
                   f.subscriber);
    assert_int_equal(mkdir(path[0], 0700), 0);
    assert_int_equal(mkdir(path[1], 0700), 0);
    (void)snprintf(dir, sizeof(dir), "%s/peers/lists", f.subscriber);
    assert_int_equal(peerlists_open(dir, &f.keys, &ring, &why), ERR_OK);
    assert_true(access(path[0], F_OK) == 0 && access(path[1], F_OK) == 0);
    peerlists_close(&ring);
    assert_int_equal(peerlists_open_subscribed(dir, &f.keys, &ring, &why), ERR_OK);
    assert_true(access(path[0], F_OK) != 0 && access(path[1], F_OK) != 0);
    peerlists_close(&ring);
    follower_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_withdraw__when_a_list_goes__then_its_files_stay_for_a_time),
        cmocka_unit_test(
            test_withdraw__when_a_follower_has_the_list__then_told_and_kept_until_it_is_back),
        cmocka_unit_test(test_anew__when_a_stream_is_left__then_its_files_go_in_time),
        cmocka_unit_test(test_sweep__when_others_files_lie_there__then_they_stay),
        cmocka_unit_test(
            test_member__when_he_publishes_too__then_neither_touches_the_other),
        cmocka_unit_test(
            test_open__when_the_other_side_is_at_work__then_its_files_stay),
    };
    return cmocka_run_group_tests_name("publish_lists", tests, NULL, NULL);
}
