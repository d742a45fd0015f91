/* test_subscription - whatever happens to a publisher, its places and a subscriber, the list is one that was signed. */
#include <inttypes.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/message/feature/feature.h"
#include "core/ring/stream/signature.h"

#include "tests/unit/publish/follower.h"
#include "tests/unit/tempdir.h"
#include "tests/unit/trust/identity_seed.h"
#include "tests/unit/unit.h"

static enum err round_of(struct follower *f, struct errinfo *reterr)
{
    const char *place = f->place;
    return follower_round(f, &place, 1, reterr);
}

/* A publisher with a list of entries, which the subscriber has. */
static void begin(struct follower *f, uint64_t seed)
{
    struct errinfo why;
    follower_init(f, seed);
    follower_change(f, 200);
    assert_int_equal(follower_publish(f, false, &why), ERR_OK);
    assert_int_equal(round_of(f, &why), ERR_OK);
    follower_assert_same(f);
}

static void publish_more(struct follower *f, unsigned changes)
{
    struct errinfo why;
    f->now_ms += 1000;
    follower_change(f, changes);
    assert_int_equal(follower_publish(f, false, &why), ERR_OK);
}

static void test_follow__when_nothing_changed__then_nothing_is_fetched(void **state)
{
    struct follower f;
    struct errinfo why;
    (void)state;
    begin(&f, 1);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    assert_int_equal(f.fetched, 0);
    f.now_ms += 1000;
    assert_int_equal(follower_publish(&f, false, &why), ERR_OK);
    assert_int_equal(f.published.objects, 0);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    assert_int_equal(f.fetched, 0);
    follower_fini(&f);
}

static void test_follow__when_little_changed__then_only_that_is_fetched(void **state)
{
    struct follower f;
    struct errinfo why;
    (void)state;
    begin(&f, 2);
    publish_more(&f, 3);
    assert_true(f.published.steps > 0 && f.published.steps <= 6);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    assert_int_equal(f.fetched, f.published.objects);
    follower_assert_same(&f);
    follower_fini(&f);
}

/* Publications, rounds, restarts, missed rounds and new streams in any order. */
static void one_history(uint64_t seed)
{
    struct follower f;
    struct errinfo why = {.text = ""};
    begin(&f, seed);
    for (unsigned i = 0; i < 12; i++) {
        switch (follower_random(&f, 6)) {
        case 0:
            follower_close(&f);
            break;
        case 1:
            f.now_ms += 1000;
            follower_change(&f, 5);
            assert_int_equal(follower_publish(&f, true, &why), ERR_OK);
            break;
        case 2:
            if (round_of(&f, &why) != ERR_OK) {
                print_error("seed %" PRIu64 ": %s: %s\n", seed, why.source, why.text);
                fail();
            }
            follower_assert_same(&f);
            break;
        default:
            publish_more(&f, (unsigned)follower_random(&f, 40));
            break;
        }
    }
    assert_int_equal(round_of(&f, &why), ERR_OK);
    follower_assert_same(&f);
    follower_fini(&f);
}

static void test_follow__whatever_the_history__the_list_is_the_same(void **state)
{
    const char *from = getenv("GILLNET_SEED"); /* NOLINT(concurrency-mt-unsafe) */
    const char *all = getenv("GILLNET_SEEDS"); /* NOLINT(concurrency-mt-unsafe) */
    uint64_t seed = from ? strtoull(from, NULL, 10) : 1;
    uint64_t n = all ? strtoull(all, NULL, 10) : 40;
    (void)state;
    for (uint64_t i = 0; i < n; i++) {
        print_message("seed %" PRIu64 "\n", seed + i);
        one_history(seed + i);
    }
}

static void test_follow__when_far_behind__then_a_snap_brings_it(void **state)
{
    struct follower f;
    struct errinfo why;
    (void)state;
    begin(&f, 3);
    for (unsigned i = 0; i < SUBSCRIPTION_CHAIN_MAX + 10; i++) {
        publish_more(&f, 4);
    }
    assert_int_equal(round_of(&f, &why), ERR_OK);
    assert_true(f.fetched < SUBSCRIPTION_CHAIN_MAX);
    follower_assert_same(&f);
    follower_fini(&f);
}

/* ---- liars ---- */

static void test_heads__when_older_than_seen__then_a_rollback_is_told(void **state)
{
    struct follower f;
    struct errinfo why;
    char old[FOLLOWER_PATH];
    (void)state;
    begin(&f, 4);
    follower_copy_place(&f, "old", old);
    publish_more(&f, 9);
    const char *both[] = {old, f.place};
    assert_int_equal(follower_round(&f, both, 2, &why), ERR_OK); /* a stale mirror */
    follower_assert_same(&f);
    assert_int_equal(follower_round(&f, both, 1, &why), ERR_RANGE);
    assert_non_null(strstr(why.text, "rollback"));
    follower_close(&f); /* what was seen is remembered */
    assert_int_equal(follower_round(&f, both, 1, &why), ERR_RANGE);
    follower_assert_same(&f);
    follower_fini(&f);
}

static void test_heads__when_expired__then_a_freeze_is_told_and_the_list_stays(
    void **state)
{
    struct follower f;
    struct errinfo why;
    (void)state;
    begin(&f, 5);
    f.now_ms += f.valid_ms + 1;
    assert_int_equal(round_of(&f, &why), ERR_TIMEOUT);
    assert_non_null(strstr(why.text, "expired"));
    follower_assert_same(&f);
    f.now_ms += 1000;
    assert_int_equal(follower_publish(&f, false, &why), ERR_OK);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    follower_fini(&f);
}

static void test_heads__when_from_the_future__then_refused(void **state)
{
    struct follower f;
    struct errinfo why;
    (void)state;
    begin(&f, 6);
    publish_more(&f, 5);
    f.now_ms -= UINT64_C(1000) * (SUBSCRIPTION_SKEW_S + 2);
    assert_int_equal(round_of(&f, &why), ERR_RANGE);
    assert_non_null(strstr(why.text, "future"));
    follower_fini(&f);
}

static void test_publisher__when_another__then_nothing_of_it_is_taken(void **state)
{
    struct follower f;
    struct follower g;
    struct errinfo why;
    uint8_t seed[32] = {99};
    struct buf bytes;
    char path[FILE_PATH_MAX];
    (void)state;
    begin(&f, 7);
    follower_init(&g, 8);
    identity_of_seed(seed, &g.self);
    g.now_ms = f.now_ms + 5000;
    follower_change(&g, 100);
    assert_int_equal(follower_publish(&g, false, &why), ERR_OK);
    f.now_ms = g.now_ms;
    const char *place = g.place;
    assert_int_equal(follower_round(&f, &place, 1, &why), ERR_KEY);
    follower_assert_same(&f);
    /* the other's heads beside the right key */
    buf_init(&bytes, 1 << 20);
    (void)snprintf(path, sizeof(path), "%s/v1/key", f.place);
    assert_int_equal(file_read(path, &bytes, NULL), ERR_OK);
    (void)snprintf(path, sizeof(path), "%s/v1/key", g.place);
    assert_int_equal(file_write_atomic(path, buf_slice(&bytes), 0644, NULL), ERR_OK);
    assert_int_not_equal(follower_round(&f, &place, 1, &why), ERR_OK);
    follower_assert_same(&f);
    buf_fini(&bytes);
    follower_fini(&g);
    follower_fini(&f);
}

/* Every byte of a file, one after the other, is another: the update is refused, the list stays. */
static void flip_all(struct follower *f, const char *place, const char *path)
{
    struct buf bytes;
    struct errinfo why;
    char file[FILE_PATH_MAX];
    (void)snprintf(file, sizeof(file), "%s/%s", place, path);
    buf_init(&bytes, 1 << 20);
    assert_int_equal(file_read(file, &bytes, NULL), ERR_OK);
    for (size_t i = 0; i < bytes.n; i++) {
        bytes.p[i] = (char)(bytes.p[i] ^ 0x01);
        assert_int_equal(file_write_atomic(file, buf_slice(&bytes), 0644, NULL),
                         ERR_OK);
        why = (struct errinfo){.code = ERR_OK};
        if (follower_round(f, &place, 1, &why) == ERR_OK) {
            print_error("%s: byte %zu\n", path, i);
            fail();
        }
        assert_true(why.text[0] != '\0');
        bytes.p[i] = (char)(bytes.p[i] ^ 0x01);
    }
    assert_int_equal(file_write_atomic(file, buf_slice(&bytes), 0644, NULL), ERR_OK);
    buf_fini(&bytes);
}

static void test_files__when_a_byte_is_flipped__then_refused_and_named(void **state)
{
    struct follower f;
    struct errinfo why;
    char id[2 * OBJECT_ID_BYTES + 1];
    char path[FILE_PATH_MAX];
    char place[FOLLOWER_PATH];
    struct buf heads;
    struct repository p;
    (void)state;
    begin(&f, 9);
    publish_more(&f, 3);
    (void)snprintf(path, sizeof(path), "%s/v1/heads", f.place);
    buf_init(&heads, 1 << 20);
    assert_int_equal(file_read(path, &heads, NULL), ERR_OK);
    assert_int_equal(repository_parse(buf_slice(&heads), &p, &why), ERR_OK);
    struct object_id stream;
    stream_key_id(&p.heads.v[0].stream, &stream);
    hex_print(stream.b, OBJECT_ID_BYTES, id);
    uint64_t seq = p.heads.v[0].seq;
    repository_fini(&p);
    buf_fini(&heads);
    follower_copy_place(&f, "mirror", place);

    flip_all(&f, place, "v1/heads");
    (void)snprintf(path, sizeof(path), "v1/o/%s/%" PRIu64, id, seq);
    flip_all(&f, place, path);
    const char *one = place;
    assert_int_equal(follower_round(&f, &one, 1, &why), ERR_OK);
    follower_assert_same(&f);

    follower_close(&f); /* a subscriber who has nothing takes key and SNAP */
    assert_int_equal(tempdir_remove(f.subscriber), 0);
    assert_int_equal(mkdir(f.subscriber, 0700), 0);
    flip_all(&f, place, "v1/key");
    (void)snprintf(path, sizeof(path), "v1/s/%s/1", id);
    flip_all(&f, place, path);
    assert_int_equal(follower_round(&f, &one, 1, &why), ERR_OK);
    follower_assert_same(&f);
    follower_fini(&f);
}

/* ---- bounds ---- */

static void test_update__when_it_changes_too_much__then_held_until_allowed(void **state)
{
    struct follower f;
    struct errinfo why;
    (void)state;
    follower_init(&f, 10);
    f.most_entries = 10;
    follower_change(&f, 200);
    assert_int_equal(follower_publish(&f, false, &why), ERR_OK);
    assert_int_equal(round_of(&f, &why), ERR_LIMIT);
    assert_non_null(strstr(why.text, "held"));
    assert_int_equal(round_of(&f, &why), ERR_LIMIT);
    assert_int_equal(f.fetched, 0); /* nor is it fetched again */
    follower_close(&f);
    f.most_entries = 64;
    assert_int_equal(round_of(&f, &why), ERR_OK);
    follower_assert_same(&f);
    follower_fini(&f);
}

static void test_entries__when_texts_are_none__then_refused_one_by_one(void **state)
{
    struct follower f;
    struct errinfo why;
    struct subscription_stat stat;
    (void)state;
    begin(&f, 11);
    static const char *const hostile[] = {"https://E1.example/%zz\n", "com", "",
                                          "\xff\xfe"};
    for (unsigned i = 0; i < 4; i++) {
        f.entry[i].text = hostile[i][0] ? slice_str(hostile[i]) : SLICE_LIT("\0\0");
        f.entry[i].after = ENTRY_STANDS;
        f.entry[i].type = i == 0 ? FEATURE_url : FEATURE_domain;
    }
    f.now_ms += 1000;
    assert_int_equal(follower_publish(&f, false, &why), ERR_OK);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    subscription_stat(f.s, &stat);
    assert_int_equal(stat.refused, 4);
    assert_true(stat.is_complete);
    for (unsigned i = 0; i < 4; i++) {
        f.entry[i].after = ENTRY_ABSENT;
    }
    f.now_ms += 1000;
    assert_int_equal(follower_publish(&f, false, &why), ERR_OK);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    subscription_stat(f.s, &stat);
    assert_int_equal(stat.refused, 0);
    follower_assert_same(&f);
    follower_fini(&f);
}

/* ---- keys ---- */

static void rotate(struct follower *f, uint8_t by)
{
    struct identity other;
    uint8_t seed[32] = {0};
    seed[0] = by;
    identity_of_seed(seed, &other);
    memcpy(f->self.signing_secret, other.signing_secret, OBJECT_KEY_BYTES);
    memcpy(f->self.signing.key, other.signing.key, OBJECT_KEY_BYTES);
    f->self.signing.not_before_ms = f->now_ms;
    struct buf b;
    buf_init(&b, 64);
    buf_add(&b, slice_of((const char *)f->self.signing.key, OBJECT_KEY_BYTES));
    buf_add_u64(&b, f->self.signing.not_before_ms);
    assert_int_equal(signature_make(f->self.secret, "gillnet-key/1", buf_slice(&b),
                                    f->self.signing.signature),
                     ERR_OK);
    buf_fini(&b);
    assert_true(key_binding_holds(&f->self.signing, f->self.public_key));
}

static void test_key__when_rotated__then_followed_and_the_old_one_is_no_good(
    void **state)
{
    struct follower f;
    struct errinfo why;
    char old[FOLLOWER_PATH];
    (void)state;
    begin(&f, 12);
    follower_copy_place(&f, "old", old);
    f.now_ms += 1000;
    rotate(&f, 50);
    publish_more(&f, 5);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    follower_assert_same(&f);
    const char *place = old;
    assert_int_not_equal(follower_round(&f, &place, 1, &why), ERR_OK);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    follower_fini(&f);
}

/* ---- the publisher's disk ---- */

static void test_publish__when_its_state_was_restored__then_a_new_stream(void **state)
{
    struct follower f;
    struct errinfo why;
    char saved[FOLLOWER_PATH];
    (void)state;
    begin(&f, 13);
    (void)snprintf(saved, sizeof(saved), "%s/saved", f.dir);
    struct follower g = f; /* copies the publisher's folder instead of its place */
    (void)snprintf(g.place, sizeof(g.place), "%s", f.publisher);
    follower_copy_place(&g, "saved", saved);
    publish_more(&f, 5);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    assert_int_equal(tempdir_remove(f.publisher), 0);
    assert_int_equal(rename(saved, f.publisher), 0);
    publish_more(&f, 5);
    assert_true(f.published.is_new);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    follower_assert_same(&f);
    follower_fini(&f);
}

static void test_publish__when_the_place_lost_files__then_a_new_snap(void **state)
{
    struct follower f;
    struct errinfo why;
    (void)state;
    begin(&f, 14);
    assert_int_equal(tempdir_remove(f.place), 0);
    publish_more(&f, 2);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    follower_assert_same(&f);
    follower_close(&f);
    assert_int_equal(tempdir_remove(f.subscriber), 0);
    assert_int_equal(mkdir(f.subscriber, 0700), 0);
    assert_int_equal(round_of(&f, &why), ERR_OK);
    follower_assert_same(&f);
    follower_fini(&f);
}

static void test_publish__when_the_place_is_anothers__then_refused(void **state)
{
    struct follower f;
    struct errinfo why;
    uint8_t seed[32] = {99};
    (void)state;
    begin(&f, 15);
    identity_of_seed(seed, &f.self);
    assert_int_equal(tempdir_remove(f.publisher), 0);
    assert_int_equal(mkdir(f.publisher, 0700), 0);
    assert_int_equal(follower_publish(&f, false, &why), ERR_EXISTS);
    follower_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_follow__when_nothing_changed__then_nothing_is_fetched),
        cmocka_unit_test(test_follow__when_little_changed__then_only_that_is_fetched),
        cmocka_unit_test(test_follow__whatever_the_history__the_list_is_the_same),
        cmocka_unit_test(test_follow__when_far_behind__then_a_snap_brings_it),
        cmocka_unit_test(test_heads__when_older_than_seen__then_a_rollback_is_told),
        cmocka_unit_test(
            test_heads__when_expired__then_a_freeze_is_told_and_the_list_stays),
        cmocka_unit_test(test_heads__when_from_the_future__then_refused),
        cmocka_unit_test(test_publisher__when_another__then_nothing_of_it_is_taken),
        cmocka_unit_test(test_files__when_a_byte_is_flipped__then_refused_and_named),
        cmocka_unit_test(
            test_update__when_it_changes_too_much__then_held_until_allowed),
        cmocka_unit_test(test_entries__when_texts_are_none__then_refused_one_by_one),
        cmocka_unit_test(
            test_key__when_rotated__then_followed_and_the_old_one_is_no_good),
        cmocka_unit_test(test_publish__when_its_state_was_restored__then_a_new_stream),
        cmocka_unit_test(test_publish__when_the_place_lost_files__then_a_new_snap),
        cmocka_unit_test(test_publish__when_the_place_is_anothers__then_refused),
    };
    return cmocka_run_group_tests_name("subscription", tests, NULL, NULL);
}
