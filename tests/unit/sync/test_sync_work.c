/*
 * test_sync_work - while the thread does long work, peers are answered; sync_tick takes its
 * results.
 */
#include <dirent.h>
#include <pthread.h>
#include <time.h>

#include "core/ring/sync/sync_modules.h"

#include "tests/unit/sync/syncring_unit.h"

enum {
    FEW = 60000,
    MANY = 100000,
    TURNS = 60000
}; /* a SNAP is made for many; a minute */

/* The thread stands here until it may go on. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_open;
    unsigned came;
};

static struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false,
                           0};

static void pass(void *context)
{
    struct gate *g = context;
    (void)pthread_mutex_lock(&g->lock);
    g->came++;
    (void)pthread_cond_broadcast(&g->changed);
    while (!g->is_open) {
        (void)pthread_cond_wait(&g->changed, &g->lock);
    }
    (void)pthread_mutex_unlock(&g->lock);
}

static void set_gate(bool is_open)
{
    (void)pthread_mutex_lock(&gate.lock);
    gate.is_open = is_open;
    (void)pthread_cond_broadcast(&gate.changed);
    (void)pthread_mutex_unlock(&gate.lock);
}

static void wait_for_thread(unsigned n)
{
    (void)pthread_mutex_lock(&gate.lock);
    while (gate.came < n) {
        (void)pthread_cond_wait(&gate.changed, &gate.lock);
    }
    (void)pthread_mutex_unlock(&gate.lock);
}

static void rest(void)
{
    static const struct timespec pause = {.tv_nsec = 1000000};
    (void)nanosleep(&pause, NULL);
}

static void work_behind(struct ring *r, unsigned i, bool is_open)
{
    set_gate(is_open);
    gate.came = 0;
    sync_work_behind(r->node[i].sync);
    r->node[i].sync->work.before = pass;
    r->node[i].sync->work.before_context = &gate;
}

static struct list_record *some(size_t n, uint64_t from)
{
    struct list_record *v = calloc(n, sizeof(*v));
    assert_non_null(v);
    for (size_t i = 0; i < n; i++) {
        uint64_t x = (from + i) * UINT64_C(0x9e3779b97f4a7c15);
        for (unsigned b = 0; b < 8; b++) { /* rising, and nothing to pack */
            v[i].digest.b[b] = (uint8_t)((from + i) >> (56 - 8 * b));
            v[i].digest.b[8 + b] = (uint8_t)(x >> (8 * b));
        }
        v[i].after = ENTRY_STANDS;
        v[i].type = 4;
    }
    return v;
}

static void publish_list(struct ring *r, unsigned i, size_t n, uint64_t from)
{
    struct list_record *v = some(n, from);
    assert_int_equal(sync_publish_list(r->node[i].sync, "list", v, n, &r->why), ERR_OK);
    free(v);
}

/* What node i tells of the list of `origin`. */
static bool head_of(struct ring *r, unsigned i, unsigned origin, struct head *ret)
{
    struct heads heads;
    struct buf text;
    bool has = false;
    buf_init(&text, SIZE_MAX);
    assert_int_equal(sync_heads(r->node[i].sync, 0, &text), ERR_OK);
    assert_int_equal(heads_parse(buf_slice(&text), &heads, &r->why), ERR_OK);
    for (size_t k = 0; k < heads.n; k++) {
        const struct stream_key *s = &heads.v[k].stream;
        if (s->kind == OBJECT_LIST &&
            memcmp(&s->origin, &r->node[origin].self.origin, sizeof(s->origin)) == 0) {
            *ret = heads.v[k];
            has = true;
        }
    }
    heads_fini(&heads);
    buf_fini(&text);
    return has;
}

static void tick_until_snap(struct ring *r, unsigned i, uint64_t seq)
{
    struct head h = {.seq = 0};
    for (unsigned k = 0; k < TURNS && h.snap_seq < seq; k++) {
        rest();
        assert_int_equal(sync_tick(r->node[i].sync, &r->why), ERR_OK);
        assert_true(head_of(r, i, 0, &h));
    }
    assert_int_equal(h.snap_seq, seq);
}

static void assert_chain(struct ring *r, unsigned i, const struct head *h)
{
    struct object_id id;
    struct buf chain;
    buf_init(&chain, SIZE_MAX);
    stream_key_id(&h->stream, &id);
    assert_int_equal(sync_chain(r->node[i].sync, &id, 1, h->seq, SIZE_MAX / 8, &chain),
                     ERR_OK);
    assert_true(chain.n > 0);
    buf_fini(&chain);
}

static void get_snap(struct ring *r, unsigned i, struct buf *ret)
{
    struct head h = {.seq = 0};
    struct object_id id;
    buf_init(ret, SIZE_MAX);
    assert_true(head_of(r, i, 0, &h));
    stream_key_id(&h.stream, &id);
    assert_int_equal(sync_snap(r->node[i].sync, &id, h.snap_seq, ret, &r->why), ERR_OK);
}

static void test_snap__while_it_is_made__then_peers_are_answered(void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 3}};
    struct head h = {.seq = 0};
    struct buf snap;
    work_behind(r, 0, false);
    publish_list(r, 0, MANY, 1);
    wait_for_thread(1); /* it is at work, and stands still */
    for (unsigned k = 0; k < 3; k++) {
        assert_true(head_of(r, 0, 0, &h));
        assert_int_equal(h.seq, 1);
        assert_int_equal(h.snap_seq, 0);
        assert_true(sync_is_busy_with(r->node[0].sync, "list"));
        assert_false(sync_is_busy_with(r->node[0].sync, "other"));
        assert_chain(r, 0, &h);
        assert_int_equal(sync_tick(r->node[0].sync, &r->why), ERR_OK);
    }
    assert_int_equal(sync_publish_counts(r->node[0].sync, BUCKET, v, 1, &r->why),
                     ERR_OK);
    (void)pull(r, 1, 0);
    assert_int_equal(stat_of(r, 1, 0).records, MANY + 1);
    set_gate(true);
    tick_until_snap(r, 0, 2);
    assert_false(sync_is_busy_with(r->node[0].sync, "list"));
    get_snap(r, 0, &snap);
    assert_offer(r, 2, buf_slice(&snap), SYNC_APPLIED);
    buf_fini(&snap);
    assert_int_equal(stat_of(r, 2, 0).records, MANY);
}

static void test_snap__when_it_came_as_a_header__then_made_behind(void **state)
{
    struct ring *r = *state;
    struct head h = {.seq = 0};
    struct buf first;
    struct buf second;
    work_behind(r, 1, false);
    publish_list(r, 0, FEW, 1); /* node 0 does all at once */
    (void)pull(r, 1, 0);
    publish_list(r, 0, MANY - FEW, 1 + FEW);
    assert_true(head_of(r, 0, 0, &h));
    assert_int_equal(h.snap_seq, 3);
    (void)pull(r, 1, 0);
    wait_for_thread(1);
    assert_true(head_of(r, 1, 0, &h));
    assert_int_equal(h.seq, 3);
    set_gate(true);
    for (unsigned k = 0; k < TURNS && r->node[1].sync->work.kind != WORK_NONE; k++) {
        rest();
        assert_int_equal(sync_tick(r->node[1].sync, &r->why), ERR_OK);
    }
    get_snap(r, 0, &first);
    get_snap(r, 1, &second);
    assert_true(slice_eq(buf_slice(&first), buf_slice(&second)));
    buf_fini(&first);
    buf_fini(&second);
}

/* The walk ends before the list changes; its result is outdated, so it is made again. */
static void test_snap__when_the_list_goes_on__then_a_later_one_is_right(void **state)
{
    struct ring *r = *state;
    struct buf snap;
    work_behind(r, 0, true);
    for (unsigned k = 1; k <= 3; k++) {
        publish_list(r, 0, MANY, 1 + (uint64_t)k * MANY);
    }
    tick_until_snap(r, 0, 4);
    get_snap(r, 0, &snap);
    assert_offer(r, 1, buf_slice(&snap), SYNC_APPLIED);
    buf_fini(&snap);
    (void)pull(r, 2, 0); /* by steps */
    struct head a = {.seq = 0};
    struct head b = {.seq = 0};
    assert_true(head_of(r, 1, 0, &a) && head_of(r, 2, 0, &b));
    assert_int_equal(a.seq, b.seq);
    assert_true(hash256_equal(&a.hash, &b.hash));
}

static void test_close__while_it_works__then_it_is_waited_for(void **state)
{
    struct ring *r = *state;
    struct head h = {.seq = 0};
    work_behind(r, 0, true);
    publish_list(r, 0, MANY, 1);
    syncnode_close(
        &r->node[0]); /* under the address sanitizer: nothing is read after */
    open_node(r, 0);
    assert_true(head_of(r, 0, 0, &h));
    assert_int_equal(h.seq, 1);
}

static unsigned runs_of(struct ring *r, unsigned i, const char *part)
{
    char path[FILE_PATH_MAX];
    unsigned n = 0;
    const struct dirent *entry = NULL;
    assert_int_equal(file_path(path, "%s/peers/counts/runs", r->node[i].dir), ERR_OK);
    DIR *d = opendir(path);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): each reads a stream of its own */
    while (d && (entry = readdir(d)) != NULL) {
        n += entry->d_name[0] != '.' && strstr(entry->d_name, part) != NULL;
    }
    if (d) {
        (void)closedir(d);
    }
    return n;
}

static void test_days__when_merged_behind__then_peers_are_answered(void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 3}};
    struct buf text;
    assert_int_equal(sync_publish_counts(r->node[0].sync, BUCKET, v, 1, &r->why),
                     ERR_OK);
    assert_int_equal(sync_close_counts(r->node[0].sync, BUCKET, &r->why), ERR_OK);
    (void)pull(r, 1, 0);
    assert_int_equal(runs_of(r, 1, "-00600-"), 1);
    work_behind(r, 1, false);
    const uint64_t day = BUCKET / 86400;
    assert_int_equal(
        sync_work_days(r->node[1].sync, day + 1, (day + 2) * 144, true, &r->why),
        ERR_OK);
    wait_for_thread(1);
    buf_init(&text, SIZE_MAX);
    assert_int_equal(sync_heads(r->node[1].sync, 0, &text), ERR_OK);
    buf_fini(&text);
    assert_int_equal(sync_tick(r->node[1].sync, &r->why), ERR_OK);
    assert_int_equal(runs_of(r, 1, "-86400-"), 0);
    set_gate(true);
    for (unsigned k = 0; k < TURNS && r->node[1].sync->work.kind != WORK_NONE; k++) {
        rest();
        assert_int_equal(sync_tick(r->node[1].sync, &r->why), ERR_OK);
    }
    assert_int_equal(runs_of(r, 1, "-86400-"), 1);
}

static void slowly(void *context)
{
    static const struct timespec pause = {.tv_nsec = 300000000};
    (void)context;
    (void)nanosleep(&pause, NULL);
}

/* A day that is being merged has no counts of a member that is dropped meanwhile. */
static void test_drop__while_days_are_merged__then_nothing_of_it_stays(void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 3}};
    const uint64_t day = BUCKET / 86400;
    assert_int_equal(sync_publish_counts(r->node[0].sync, BUCKET, v, 1, &r->why),
                     ERR_OK);
    assert_int_equal(sync_close_counts(r->node[0].sync, BUCKET, &r->why), ERR_OK);
    (void)pull(r, 1, 0);
    work_behind(r, 1, true);
    r->node[1].sync->work.before = slowly;
    assert_int_equal(
        sync_work_days(r->node[1].sync, day + 1, (day + 2) * 144, true, &r->why),
        ERR_OK);
    r->m.members[0].state = MEMBER_DROPPED;
    assert_int_equal(sync_set_manifest(r->node[1].sync, &r->m, &r->why), ERR_OK);
    assert_true(background_job_is_idle(&r->node[1].sync->work.behind)); /* waited for */
    assert_int_equal(runs_of(r, 1, ".run"), 0);
    assert_int_equal(sync_tick(r->node[1].sync, &r->why), ERR_OK);
    assert_int_equal(runs_of(r, 1, ".run"), 0);
}

/* A SNAP is made once and served again, even if its sources are gone. */
static void test_snap__when_asked_for_again__then_not_made_again(void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 3}, {9, 1}};
    char path[FILE_PATH_MAX];
    struct stream *st = NULL;
    struct buf first;
    struct buf again;
    assert_int_equal(sync_publish_counts(r->node[0].sync, BUCKET, v, 2, &r->why),
                     ERR_OK);
    assert_int_equal(sync_close_counts(r->node[0].sync, BUCKET, &r->why), ERR_OK);
    (void)pull(r, 1, 0);
    st = sync_origin(r->node[1].sync, &r->node[0].self.origin)->streams;
    buf_init(&first, SIZE_MAX);
    buf_init(&again, SIZE_MAX);
    assert_int_equal(sync_snap(r->node[1].sync, &st->id, st->snap_seq, &first, &r->why),
                     ERR_OK);
    assert_true(first.n > OBJECT_HEADER_BYTES);
    assert_int_equal(file_path(path, "%s/peers/counts/runs", r->node[1].dir), ERR_OK);
    assert_int_equal(file_remove_tree(path, &r->why), ERR_OK);
    assert_int_equal(sync_snap(r->node[1].sync, &st->id, st->snap_seq, &again, &r->why),
                     ERR_OK);
    assert_true(slice_eq(buf_slice(&first), buf_slice(&again)));
    buf_fini(&first);
    buf_fini(&again);
}

/* After a failure the thread may stand at the gate. */
static int leave(void **state)
{
    set_gate(true);
    return teardown(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_snap__while_it_is_made__then_peers_are_answered),
        TEST(test_snap__when_it_came_as_a_header__then_made_behind),
        TEST(test_snap__when_the_list_goes_on__then_a_later_one_is_right),
        TEST(test_close__while_it_works__then_it_is_waited_for),
        TEST(test_days__when_merged_behind__then_peers_are_answered),
        TEST(test_drop__while_days_are_merged__then_nothing_of_it_stays),
        TEST(test_snap__when_asked_for_again__then_not_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
