/*
 * test_sync - counts go round, come back after a stop, and go when their origin does.
 */
#include <dirent.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/count/runset.h"
#include "core/count/stream.h"
#include "core/ring/sync/peerlist.h"
#include "core/store/origins.h"

#include "tests/unit/sync/peerlist_whole.h"
#include "tests/unit/sync/syncring_unit.h"

struct sum {
    uint64_t key;
    uint64_t count;
};

static void add_up(void *context, const struct run_record *record)
{
    struct sum *s = context;
    s->count += record->key == s->key ? record->count : 0;
}

struct asking {
    const struct object_id *origin;
    struct sum sum;
};

static bool ask_run(void *context, const struct run *run)
{
    struct asking *a = context;
    uint64_t count = 0;
    if (memcmp(run_id(run)->origin, a->origin->b, OBJECT_ID_BYTES) == 0 &&
        run_get(run, a->sum.key, &count) == ERR_OK) {
        a->sum.count += count;
    }
    return true;
}

/* Count of that origin's key in the bucket on node i, in the file of an open stream or in runs. */
static uint64_t held(struct ring *r, unsigned i, unsigned origin, uint64_t start,
                     uint64_t key)
{
    struct sum sum = {key, 0};
    char path[FILE_PATH_MAX];
    char hex[2 * OBJECT_ID_BYTES + 1];
    struct runset *runs = NULL;
    const struct dirent *entry = NULL;
    hex_print(r->node[origin].self.origin.b, OBJECT_ID_BYTES, hex);
    assert_int_equal(file_path(path, "%s/peers/counts/%s", r->node[i].dir, hex),
                     ERR_OK);
    DIR *d = opendir(path);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    while (d && (entry = readdir(d)) != NULL) {
        struct pair_log_place reader;
        char file[FILE_PATH_MAX];
        if (entry->d_name[0] == '.') {
            continue;
        }
        assert_int_equal(file_path(file, "%s/%s", path, entry->d_name), ERR_OK);
        assert_int_equal(stream_reader_open(file, &reader, NULL), ERR_OK);
        if (reader.id.start_s == start) {
            assert_int_equal(stream_reader_next(&reader, file, add_up, &sum, NULL),
                             ERR_OK);
        }
    }
    if (d) {
        (void)closedir(d);
    }
    assert_int_equal(file_path(path, "%s/peers/counts/runs", r->node[i].dir), ERR_OK);
    assert_int_equal(runset_open(path, NULL, NULL, &runs, NULL), ERR_OK);
    struct asking asking = {&r->node[origin].self.origin, {key, 0}};
    runset_each(runs, COUNT_BUCKET_S, start, start + 1, ask_run, &asking);
    runset_close(&runs);
    return sum.count + asking.sum.count;
}

static void test_publish__when_counted__then_all_have_it_over_a_relay(void **state)
{
    struct ring *r = *state;
    const struct count_record first[] = {{5, 1}, {9, 2}};
    const struct count_record second[] = {{5, 4}, {7, 1}};
    publish(r, 0, BUCKET, first, 2);
    publish(r, 0, BUCKET, second, 2);
    publish(r, 0, BUCKET, second, 2); /* nothing new */
    struct syncpull p = pull(r, 1, 0);
    assert_int_equal(p.results[SYNC_APPLIED], 2);
    p = pull(r, 2, 1); /* node 0 is not asked */
    assert_int_equal(p.results[SYNC_APPLIED], 2);
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(held(r, i, 0, BUCKET, 5), 4);
        assert_int_equal(held(r, i, 0, BUCKET, 9), 2);
        assert_int_equal(held(r, i, 0, BUCKET, 7), 1);
    }
    p = pull(r, 0, 2); /* what is our own is not fetched */
    assert_int_equal(p.wants, 0);
    assert_true(p.knew_itself);
}

static void test_close__when_bucket_is_over__then_run_takes_its_place(void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 3}, {9, 2}};
    publish(r, 0, BUCKET, v, 1);
    (void)pull(r, 1, 0);
    publish(r, 0, BUCKET, v, 2);
    close_bucket(r, 0, BUCKET);
    close_bucket(r, 0, BUCKET);
    (void)pull(r, 1, 0); /* has the begin of it: steps */
    (void)pull(r, 2, 1);
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(held(r, i, 0, BUCKET, 5), 3);
        assert_int_equal(held(r, i, 0, BUCKET, 9), 2);
        char path[FILE_PATH_MAX];
        char hex[2 * OBJECT_ID_BYTES + 1];
        hex_print(r->node[0].self.origin.b, OBJECT_ID_BYTES, hex);
        assert_int_equal(file_path(path, "%s/peers/counts/%s", r->node[i].dir, hex),
                         ERR_OK);
        assert_int_equal(rmdir(path), 0); /* no file of an open stream is left */
    }
    const struct count_record late[] = {{5, 4}};
    publish(r, 0, BUCKET, late, 1); /* after its end: in a new incarnation */
    assert_true(syncring_settle(r->node, NODES));
    assert_int_equal(held(r, 2, 0, BUCKET, 5), 4);
}

static void test_open__when_stopped__then_goes_on_where_it_was(void **state)
{
    struct ring *r = *state;
    const struct count_record first[] = {{5, 3}};
    const struct count_record second[] = {{5, 4}, {6, 1}};
    publish(r, 0, BUCKET, first, 1);
    (void)pull(r, 1, 0);
    for (unsigned i = 0; i < 2; i++) {
        syncnode_close(&r->node[i]);
        open_node(r, i);
    }
    assert_int_equal(held(r, 1, 0, BUCKET, 5), 3);
    publish(r, 0, BUCKET, second, 2);
    close_bucket(r, 0, BUCKET);
    assert_true(syncring_settle(r->node, NODES));
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(held(r, i, 0, BUCKET, 5), 4);
        assert_int_equal(held(r, i, 0, BUCKET, 6), 1);
    }
}

/* The counts of the objects are added again. */
static void test_open__when_files_of_counts_are_lost__then_made_again(void **state)
{
    struct ring *r = *state;
    const struct count_record first[] = {{5, 3}};
    const struct count_record second[] = {{5, 4}, {6, 1}};
    char path[FILE_PATH_MAX];
    publish(r, 0, BUCKET, first, 1);
    publish(r, 0, BUCKET, second, 2);
    (void)pull(r, 1, 0);
    syncnode_close(&r->node[1]);
    assert_int_equal(file_path(path, "%s/peers/counts", r->node[1].dir), ERR_OK);
    assert_int_equal(tempdir_remove(path), 0);
    open_node(r, 1);
    assert_int_equal(held(r, 1, 0, BUCKET, 5), 4);
    assert_int_equal(held(r, 1, 0, BUCKET, 6), 1);
}

static void test_stat__of_who_is_silent__is_stale_but_never_of_itself(void **state)
{
    enum { LIFE_S = 180 };
    struct ring *r = *state;
    tick(r, 1);
    (void)pull(r, 0, 1);
    assert_false(stat_of(r, 0, 1).is_stale);
    clock_advance_us((LIFE_S + 1) * UINT64_C(1000000));
    assert_true(stat_of(r, 0, 1).is_stale);
    assert_false(stat_of(r, 0, 0).is_stale);
    tick(r, 1);
    (void)pull(r, 0, 1);
    assert_false(stat_of(r, 0, 1).is_stale);
}

static void test_manifest__when_member_is_dropped__then_nothing_of_it_is_left(
    void **state)
{
    struct ring *r = *state;
    struct origins o;
    const struct count_record v[] = {{5, 3}};
    publish(r, 0, BUCKET, v, 1);
    publish(r, 1, BUCKET, v, 1);
    close_bucket(r, 1, BUCKET);
    assert_true(syncring_settle(r->node, NODES));
    assert_int_equal(held(r, 2, 0, BUCKET, 5), 3);
    assert_int_equal(held(r, 2, 1, BUCKET, 5), 3);
    r->m.version++;
    r->m.members[0].state = MEMBER_DROPPED;
    r->m.members[1].state = MEMBER_DROPPED;
    assert_int_equal(sync_set_manifest(r->node[2].sync, &r->m, NULL), ERR_OK);
    for (unsigned i = 0; i < 2; i++) {
        syncnode_close(&r->node[2]);
        open_node(r, 2);
        assert_int_equal(held(r, 2, 0, BUCKET, 5), 0);
        assert_int_equal(held(r, 2, 1, BUCKET, 5), 0);
        assert_int_equal(pull(r, 2, 0).wants, 0);
    }
    assert_int_equal(origins_read(r->node[2].dir, &o, NULL), ERR_OK);
    assert_int_equal(o.n, NODES - 1);
    assert_int_equal(o.v[0].state, ORIGIN_DROPPED);
    assert_memory_equal(o.self, r->node[2].self.origin.b, ORIGIN_BYTES);
    origins_fini(&o);
}

static void test_store__in_a_ring_of_one_owner__then_no_counts_of_peers(void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 3}};
    r->m.kind = RING_OWN;
    publish(r, 0, BUCKET, v, 1);
    publish(r, 1, BUCKET, v, 1);
    close_bucket(r, 1, BUCKET);
    assert_true(syncring_settle(r->node, NODES));
    publish(r, 2, BUCKET, v, 1);
    assert_int_equal(held(r, 2, 0, BUCKET, 5), 3);
    for (unsigned i = 0; i < 2; i++) {
        syncnode_close(&r->node[2]);
        r->node[2].has_store = true;
        open_node(r, 2);
        assert_int_equal(held(r, 2, 0, BUCKET, 5), 0);
        assert_int_equal(held(r, 2, 1, BUCKET, 5), 0);
        const struct syncpull p = pull(r, 2, 0);
        assert_int_equal(p.wants, 0);
        assert_true(p.knew_itself);
    }
    assert_int_equal(pull(r, 0, 2).results[SYNC_APPLIED], 1); /* it has no store */
}

static size_t heads_after(struct ring *r, unsigned i, uint64_t after,
                          uint64_t *retversion)
{
    struct buf b;
    struct heads h;
    buf_init(&b, SIZE_MAX);
    assert_int_equal(sync_heads(r->node[i].sync, after, &b), ERR_OK);
    assert_int_equal(heads_parse(buf_slice(&b), &h, NULL), ERR_OK);
    const size_t n = h.n;
    *retversion = h.version;
    heads_fini(&h);
    buf_fini(&b);
    return n;
}

static void test_heads__when_asked_after_a_version__then_only_what_changed(void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 3}, {6, 1}};
    uint64_t version = 0;
    uint64_t later = 0;
    publish(r, 0, BUCKET, v, 1);
    publish(r, 0, BUCKET + 600, v, 1);
    assert_int_equal(heads_after(r, 0, 0, &version), 2);
    assert_int_equal(version, sync_version(r->node[0].sync));
    assert_int_equal(heads_after(r, 0, version, &later), 0);
    assert_int_equal(later, version);
    publish(r, 0, BUCKET, v, 2);
    assert_int_equal(heads_after(r, 0, version, &later), 1);
    assert_true(later > version);
    assert_int_equal(heads_after(r, 0, later + 1, &later),
                     2); /* a version that it never sent */
    syncnode_close(&r->node[0]);
    open_node(r, 0);
    assert_int_equal(heads_after(r, 0, later, &version), 2); /* of the process before */
}

static void publish_entry(struct ring *r, unsigned i, uint8_t digest)
{
    const struct list_record v = {
        .digest = {{digest}}, .after = ENTRY_STANDS, .type = 1};
    if (sync_publish_list(r->node[i].sync, "bad", &v, 1, &r->why) != ERR_OK) {
        fail_msg("%s: %s", r->why.source, r->why.text);
    }
}

/* Heads with a newer number of this server's stream than it knows. */
static bool knows_better(struct ring *r, unsigned i, const struct stream_key *k)
{
    struct head claim = {.stream = *k, .seq = 9, .from = 1};
    const struct heads heads = {.version = 1, .v = &claim, .n = 1};
    return sync_knows_itself(r->node[i].sync, &heads);
}

static void test_knows_itself__when_a_liar_knows_more__then_a_list_begins_anew_once(
    void **state)
{
    struct ring *r = *state;
    struct stream_key first;
    struct stream_key k;
    publish_entry(r, 1, 1);
    assert_true(sync_own_stream(r->node[1].sync, OBJECT_LIST, "bad", &first));
    syncnode_close(&r->node[1]);
    open_node(r, 1);
    assert_false(knows_better(r, 1, &first)); /* it may be so: a disk put back */
    assert_false(sync_own_stream(r->node[1].sync, OBJECT_LIST, "bad", &k));
    publish_entry(r, 1, 2);
    assert_true(sync_own_stream(r->node[1].sync, OBJECT_LIST, "bad", &first));
    assert_false(knows_better(r, 1, &first)); /* cannot be: this process began it */
    assert_true(sync_own_stream(r->node[1].sync, OBJECT_LIST, "bad", &k));
    assert_true(stream_key_equal(&first, &k));
    publish_entry(r, 1, 3);
    assert_true(sync_own_stream(r->node[1].sync, OBJECT_LIST, "bad", &k));
    assert_true(stream_key_equal(&first, &k));
}

/* Of lists alone, without those that another stream is to continue. */
static void test_own_heads__of_lists_that_go_on__with_the_heartbeat(void **state)
{
    struct ring *r = *state;
    struct stream_key k;
    struct object_id id;
    struct object o;
    struct heads h;
    publish_entry(r, 1, 1);
    publish_entry(r, 0, 2);
    (void)pull(r, 1, 0);
    const struct count_record count = {.key = 5, .count = 1};
    assert_int_equal(sync_publish_counts(r->node[1].sync, BUCKET, &count, 1, &r->why),
                     ERR_OK);
    assert_int_equal(sync_tick(r->node[1].sync, &r->why), ERR_OK);
    assert_true(sync_own_stream(r->node[1].sync, OBJECT_LIST, "bad", &k));
    stream_key_id(&k, &id);
    assert_int_equal(sync_own_heads(r->node[1].sync, &h), ERR_OK);
    assert_int_equal(h.n, 1);
    assert_true(stream_key_equal(&h.v[0].stream, &k));
    assert_int_equal(h.v[0].seq, 1);
    assert_int_equal(h.nheartbeats, 1);
    assert_int_equal(object_parse(h.heartbeats[0], &o, NULL), ERR_OK);
    assert_true(object_id_equal(&o.stream.origin, &r->node[1].self.origin));
    heads_fini(&h);
    assert_int_equal(sync_header(r->node[1].sync, &id, 1, &o), ERR_OK);
    assert_true(stream_key_equal(&o.stream, &k));
    assert_int_equal(sync_header(r->node[1].sync, &id, 2, &o), ERR_NOT_FOUND);
    syncnode_close(&r->node[1]);
    open_node(r, 1);
    assert_false(knows_better(r, 1, &k));
    assert_int_equal(sync_own_heads(r->node[1].sync, &h), ERR_OK);
    assert_int_equal(h.n, 0);
    heads_fini(&h);
}

enum { LISTED = 80000, SOME = 7 };

static void publish_list(struct ring *r, unsigned i, struct list_record *v, size_t n)
{
    if (sync_publish_list(r->node[i].sync, "bad", v, n, &r->why) != ERR_OK) {
        fail_msg("%s: %s", r->why.source, r->why.text);
    }
    for (size_t k = 0; k < n; k++) {
        v[k].before = v[k].after;
    }
}

static void give_list(struct ring *r, unsigned i, struct buf *ret)
{
    struct stream_key k;
    uint64_t n = 0;
    assert_true(sync_own_stream(r->node[0].sync, OBJECT_LIST, "bad", &k));
    buf_init(ret, OBJECT_SNAP_MAX);
    if (peerlist_snap(sync_lists(r->node[i].sync), &k, ret, &n, &r->why) != ERR_OK) {
        fail_msg("%s: %s", r->why.source, r->why.text);
    }
    assert_int_equal(n, LISTED - SOME);
}

/* Of a long list the steps are forgotten when a SNAP has them: who comes then takes that, and so
 * does who asks this one. */
static void test_list__when_its_steps_are_gone__then_a_snap_brings_it(void **state)
{
    struct ring *r = *state;
    struct list_record *v = calloc(LISTED, sizeof(*v));
    struct heads heads;
    struct buf answer;
    struct buf first;
    assert_non_null(v);
    for (uint32_t i = 0; i < LISTED; i++) {
        struct hash256 noise;
        hash256_of(slice_of((const char *)&i, sizeof(i)), &noise);
        memcpy(v[i].digest.b, noise.b, sizeof(v[i].digest.b));
        v[i].digest.b[0] = (uint8_t)(i >> 16);
        v[i].digest.b[1] = (uint8_t)(i >> 8);
        v[i].digest.b[2] = (uint8_t)i;
        v[i].after = ENTRY_STANDS;
        v[i].type = 1;
    }
    publish_list(r, 0, v, LISTED);
    for (unsigned i = 0; i < 2 * SOME; i++) { /* some are removed, some are revoked */
        v[i].after = i % 2 ? ENTRY_ABSENT : ENTRY_TAKEN_BACK;
    }
    publish_list(r, 0, v, 2 * (size_t)SOME);
    assert_int_equal(pull(r, 1, 0).results[SYNC_APPLIED], 3);
    for (unsigned k = 0; k < 26; k++) {
        clock_advance_us(300 * UINT64_C(1000000));
        assert_int_equal(sync_tick(r->node[0].sync, &r->why), ERR_OK);
    }
    buf_init(&answer, SIZE_MAX);
    assert_int_equal(sync_heads(r->node[0].sync, 0, &answer), ERR_OK);
    assert_int_equal(heads_parse(buf_slice(&answer), &heads, NULL), ERR_OK);
    assert_int_equal(heads.n, 1);
    assert_int_equal(heads.v[0].from, 2);
    assert_int_equal(heads.v[0].snap_seq, 2);
    heads_fini(&heads);
    (void)pull(r, 2, 0);
    (void)pull(r, 2, 0);
    (void)pull(r, 3, 2);
    (void)pull(r, 3, 2);
    give_list(r, 0, &first);
    for (unsigned i = 1; i < NODES; i++) {
        struct buf other;
        give_list(r, i, &other);
        assert_true(slice_eq(buf_slice(&first), buf_slice(&other)));
        buf_fini(&other);
    }
    buf_fini(&first);
    buf_fini(&answer);
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_publish__when_counted__then_all_have_it_over_a_relay, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_close__when_bucket_is_over__then_run_takes_its_place, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_open__when_stopped__then_goes_on_where_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_open__when_files_of_counts_are_lost__then_made_again, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_stat__of_who_is_silent__is_stale_but_never_of_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_heads__when_asked_after_a_version__then_only_what_changed, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_manifest__when_member_is_dropped__then_nothing_of_it_is_left, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_own_heads__of_lists_that_go_on__with_the_heartbeat, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_store__in_a_ring_of_one_owner__then_no_counts_of_peers, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_knows_itself__when_a_liar_knows_more__then_a_list_begins_anew_once,
            setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_list__when_its_steps_are_gone__then_a_snap_brings_it, setup, teardown),
    };
    (void)base_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
