/*
 * test_share - a list of one server scores at the others as it stands there: entries added,
 * revoked, expired, aged out, no longer shared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/random.h"
#include "core/list/list.h"
#include "core/list/mirror.h"
#include "core/list/retention.h"
#include "core/ring/sync/list_publisher.h"
#include "core/ring/sync/peerlist.h"

#include "tests/unit/list/list_change.h"
#include "tests/unit/sync/syncring.h"
#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { NODES = 3, NAMES = 400, DAY_S = 86400 };
#define NOW SYNCRING_NOW_S

struct ring {
    char path[64];
    struct manifest m;
    struct syncnode node[NODES];
    struct list_publisher *share; /* of node 0 */
    struct config *config;
    struct errinfo why;
    uint64_t now_s;
    uint64_t seed;
    bool is_patient; /* something waits for its minute */
};

static void must_at(struct ring *r, enum err e, int line)
{
    if (e != ERR_OK) {
        fail_msg("line %d: %s: %s: %s", line, err_text(e), r->why.source, r->why.text);
    }
}
#define MUST(r, call) must_at(r, call, __LINE__)

static uint64_t next_random(struct ring *r)
{
    uint64_t z = r->seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void set_clock(struct ring *r, uint64_t now_s)
{
    r->now_s = now_s;
    clock_set_for_test(now_s * 1000000, (now_s - NOW + 1000) * 1000000);
}

static void configure(struct ring *r, const char *lists)
{
    char path[128];
    struct buf text;
    struct config_errors errors = {0};
    struct config *fresh = NULL;
    snprintf(path, sizeof(path), "%s/gillnet.conf", r->path);
    buf_init(&text, 10000);
    buf_printf(&text, "state_dir = \"%s\";\n%s\n", r->node[0].dir, lists);
    MUST(r, file_write_atomic(path, buf_slice(&text), 0600, &r->why));
    buf_fini(&text);
    if (config_load(path, NULL, &fresh, &errors) != ERR_OK) {
        fail_msg("%s", errors.n > 0 ? errors.v[0].text : "config");
    }
    config_release(&r->config);
    r->config = fresh;
}

static void open_share(struct ring *r)
{
    MUST(r, list_publisher_new(r->node[0].sync, r->node[0].dir, &r->node[0].keys,
                               &r->node[0].self.origin, &r->share, &r->why));
}

static void restart(struct ring *r)
{
    list_publisher_free(&r->share);
    syncnode_close(&r->node[0]);
    MUST(r, syncnode_open(&r->node[0], &r->m, &r->why));
    open_share(r);
}

static int setup(void **state)
{
    struct ring *r = calloc(1, sizeof(*r));
    assert_true(tempdir_make_fast(r->path));
    assert_true(syncring_manifest(NODES, &r->m));
    random_bytes(&r->seed, sizeof(r->seed));
    print_message("seed %llu\n", (unsigned long long)r->seed);
    set_clock(r, NOW);
    for (unsigned i = 0; i < NODES; i++) {
        char dir[128];
        snprintf(dir, sizeof(dir), "%s/%u", r->path, i);
        syncnode_init(&r->node[i], dir, i);
        MUST(r, syncnode_open(&r->node[i], &r->m, &r->why));
    }
    configure(r, "lists = ( { name = \"bad\"; share = true; } );");
    open_share(r);
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    struct ring *r = *state;
    list_publisher_free(&r->share);
    for (unsigned i = 0; i < NODES; i++) {
        syncnode_close(&r->node[i]);
    }
    config_release(&r->config);
    manifest_fini(&r->m);
    (void)tempdir_remove(r->path);
    clock_unset_for_test();
    free(r);
    return 0;
}

/* ---- our list ---- */

static struct list_writer *open_own(struct ring *r)
{
    struct list_writer *w = NULL;
    MUST(r, list_writer_open(r->node[0].dir, SLICE_LIT("bad"), &r->node[0].keys, true,
                             &w, &r->why));
    return w;
}

static struct feature_entry entry(unsigned n, char text[64])
{
    int length = snprintf(text, 64, "host-%u.example", n);
    return (struct feature_entry){.class_type = FEATURE_domain,
                                  .text = slice_of(text, (size_t)length)};
}

static void change(struct ring *r, unsigned n, bool is_revoke, uint32_t expiry_s)
{
    char text[64];
    struct list_writer *w = open_own(r);
    struct feature_entry e = entry(n, text);
    MUST(r, is_revoke ? list_revoke(w, &e, SLICE_LIT("cli"), &r->why)
                      : list_add(w, &e, SLICE_LIT("cli"), expiry_s, &r->why));
    list_writer_close(&w);
}

static void import(struct ring *r, unsigned from, unsigned to, uint32_t expiry_s)
{
    char text[64];
    struct list_import *im = NULL;
    struct list_import_result result;
    struct list_writer *w = open_own(r);
    MUST(r, list_import_begin(w, SLICE_LIT("feed"), &im, &r->why));
    for (unsigned n = from; n < to; n++) {
        struct feature_entry e = entry(n, text);
        MUST(r, list_import_add(im, &e, expiry_s, &r->why));
    }
    MUST(r, list_import_commit(&im, NULL, NULL, &result, &r->why));
    list_writer_close(&w);
}

/* ---- the others ---- */

static void share(struct ring *r)
{
    for (unsigned i = 0; i < 5; i++) {
        MUST(r, list_publisher_tick(r->share, r->config, &r->why));
    }
    assert_true(r->is_patient || list_publisher_is_settled(r->share));
    struct syncpull pull = {.after = 0};
    for (unsigned i = 1; i < NODES; i++) { /* the last one gets it from another */
        for (unsigned round = 0; round < 4; round++) {
            pull.after = 0;
            assert_true(syncring_pull(&r->node[i], &r->node[i - 1], NULL, &pull));
        }
    }
}

/* State of host n of server 0 on server i. */
static enum list_answer ask(struct ring *r, unsigned i, unsigned n)
{
    char folder[400];
    char hex[2 * OBJECT_ID_BYTES + 1];
    char text[64];
    struct list_reader *reader = NULL;
    struct digest d;
    struct feature_entry e = entry(n, text);
    uint8_t hit = 0;
    hex_print(r->node[0].self.origin.b, OBJECT_ID_BYTES, hex);
    snprintf(folder, sizeof(folder), "%s/peers/lists/%s", r->node[i].dir, hex);
    if (list_reader_open(folder, SLICE_LIT("bad"), &r->node[i].keys, &reader,
                         &r->why) != ERR_OK) {
        return LIST_NO;
    }
    digest_make(list_reader_key(reader), e.class_type, e.text, &d);
    list_reader_test(reader, &d, 1, &hit);
    enum list_answer a = hit ? list_reader_confirm(reader, &d, r->now_s) : LIST_NO;
    list_reader_close(&reader);
    return a == LIST_FALSE_POSITIVE ? LIST_NO : a;
}

static uint64_t objects(struct ring *r)
{
    struct stream_key k;
    struct buf heads;
    struct heads h;
    uint64_t seq = 0;
    (void)k;
    buf_init(&heads, 1 << 24);
    MUST(r, sync_heads(r->node[0].sync, 0, &heads));
    MUST(r, heads_parse(buf_slice(&heads), &h, &r->why));
    for (size_t i = 0; i < h.n; i++) {
        seq += h.v[i].seq;
    }
    heads_fini(&h);
    buf_fini(&heads);
    return seq;
}

static void test_share__when_listed_and_revoked__then_so_it_is_everywhere(void **state)
{
    struct ring *r = *state;
    share(r);
    assert_int_equal(ask(r, 2, 1), LIST_NO);
    change(r, 1, false, 0);
    share(r);
    assert_int_equal(ask(r, 1, 1), LIST_CONFIRMED);
    assert_int_equal(ask(r, 2, 1), LIST_CONFIRMED);
    assert_int_equal(ask(r, 2, 2), LIST_NO);
    change(r, 1, true, 0);
    share(r);
    assert_int_equal(ask(r, 1, 1), LIST_REVOKED);
    assert_int_equal(ask(r, 2, 1), LIST_REVOKED);
    change(r, 1, false, 0);
    share(r);
    assert_int_equal(ask(r, 2, 1), LIST_CONFIRMED);
}

/* A value that this server never listed: its revocation is of no use to other owners. */
static void test_share__when_a_foreign_value_is_revoked__then_only_one_owner_tells(
    void **state)
{
    struct ring *r = *state;
    for (unsigned i = 0; i < 2; i++) {
        bool is_own = i == 1;
        r->m.kind = is_own ? RING_OWN : RING_FEDERATION;
        MUST(r, sync_set_manifest(r->node[0].sync, &r->m, &r->why));
        change(r, 1 + i, true, 0);
        share(r);
        assert_int_equal(ask(r, 2, 1 + i), is_own ? LIST_REVOKED : LIST_NO);
    }
    change(r, 2, false, 0);
    share(r);
    assert_int_equal(ask(r, 2, 2), LIST_CONFIRMED);
}

static void test_share__when_nothing_changed__then_a_restart_publishes_nothing(
    void **state)
{
    struct ring *r = *state;
    import(r, 0, 9000, 0);
    change(r, 9001, false, NOW + DAY_S);
    change(r, 3, true, 0);
    share(r);
    uint64_t before = objects(r);
    restart(r);
    share(r);
    assert_int_equal(objects(r), before);
    change(r, 9002, false, 0);
    restart(r); /* changed while nobody looked */
    share(r);
    assert_int_equal(objects(r), before + 1);
    assert_int_equal(ask(r, 2, 9002), LIST_CONFIRMED);
    assert_int_equal(ask(r, 2, 8999), LIST_CONFIRMED);
    assert_int_equal(ask(r, 2, 3), LIST_NO); /* revoked before they got it */
}

static void test_share__when_an_expiry_moves__then_peers_follow(void **state)
{
    struct ring *r = *state;
    change(r, 1, false, NOW + DAY_S);
    change(r, 2, false, NOW + DAY_S);
    share(r);
    uint64_t before = objects(r);
    change(r, 1, false, NOW + 2 * DAY_S); /* later: told when the first comes near */
    share(r);
    assert_int_equal(objects(r), before);
    change(r, 2, false, NOW + 2 * 3600); /* sooner: at once */
    share(r);
    assert_true(objects(r) > before);
    set_clock(r, NOW + 3 * 3600);
    assert_int_equal(ask(r, 2, 2), LIST_NO);
    assert_int_equal(ask(r, 2, 1), LIST_CONFIRMED);
    set_clock(r, NOW + DAY_S - 3600);
    share(r);
    set_clock(r, NOW + DAY_S + 3600);
    assert_int_equal(ask(r, 2, 1), LIST_CONFIRMED);
    set_clock(r, NOW + 2 * DAY_S + 3600);
    assert_int_equal(ask(r, 2, 1), LIST_NO);
    share(r); /* what expired is taken out */
    struct stream_key k;
    struct mirror_entry entry;
    enum err e = ERR_OK;
    struct mirror_iter *walk = NULL;
    assert_true(sync_own_stream(r->node[0].sync, OBJECT_LIST, "bad", &k));
    MUST(r, peerlist_walk(sync_lists(r->node[2].sync), &k, &walk, &r->why));
    assert_false(mirror_iter_next(walk, &entry, &e));
    mirror_iter_free(&walk);
}

/* Another key becomes the first of server i, with what it had behind it. */
static void put_key(struct ring *r, unsigned i, const struct hashkey *key)
{
    struct keyring *k = &r->node[i].keys;
    syncnode_close(&r->node[i]);
    k->ring[1] = k->ring[0];
    k->ring[0] = *key;
    k->n = 2;
    MUST(r, syncnode_open(&r->node[i], &r->m, &r->why));
}

static void make_key(uint8_t n, struct hashkey *ret)
{
    uint8_t bytes[HASHKEY_BYTES] = {n, 1, 2, 3};
    keyring_key_of(bytes, ret);
}

static void test_share__when_the_ring_key_changes__then_the_list_is_found_as_before(
    void **state)
{
    struct ring *r = *state;
    struct hashkey fresh;
    import(r, 0, 100, 0);
    share(r);
    assert_int_equal(ask(r, 2, 7), LIST_CONFIRMED);
    make_key(9, &fresh);
    r->m.ring_keys[r->m.nring_keys++] = (struct manifest_ring_key){fresh.id, 0};
    list_publisher_free(&r->share);
    for (unsigned i = 0; i < NODES; i++) {
        put_key(r, i, &fresh);
    }
    open_share(r);
    change(r, 1000, false, 0);
    share(r);
    assert_int_equal(ask(r, 2, 1000), LIST_CONFIRMED);
    assert_int_equal(ask(r, 2, 7), LIST_CONFIRMED);
}

static void test_share__when_the_list_is_of_a_key_of_its_own__then_it_is_left_out(
    void **state)
{
    struct ring *r = *state;
    struct hashkey ring = r->node[0].keys.ring[0];
    make_key(9, &r->node[0].keys.ring[0]);
    import(r, 0, 100, 0); /* before it joined */
    list_publisher_free(&r->share);
    put_key(r, 0, &ring);
    open_share(r);
    share(r);
    assert_int_equal(objects(r), 0);
    struct list_writer *w = NULL; /* rebuilt, as the log shows */
    char path[400];
    snprintf(path, sizeof(path), "%s/lists/bad", r->node[0].dir);
    assert_int_equal(tempdir_remove(path), 0);
    MUST(r, list_writer_open(r->node[0].dir, SLICE_LIT("bad"), &r->node[0].keys, true,
                             &w, &r->why));
    list_writer_close(&w);
    import(r, 0, 100, 0);
    share(r);
    assert_int_equal(ask(r, 2, 7), LIST_CONFIRMED);
}

static void test_share__when_objects_of_it_are_lost_or_cut__then_fetched_again(
    void **state)
{
    struct ring *r = *state;
    char path[2000];
    struct stream_key k;
    struct object_id id;
    char origin[2 * OBJECT_ID_BYTES + 1];
    char stream[2 * OBJECT_ID_BYTES + 1];
    hex_print(r->node[0].self.origin.b, OBJECT_ID_BYTES, origin);
    for (unsigned how = 0; how < 2; how++) {
        change(r, 10 + how, false, 0);
        share(r);
        assert_int_equal(ask(r, 2, 10 + how), LIST_CONFIRMED);
        assert_true(sync_own_stream(r->node[0].sync, OBJECT_LIST, "bad", &k));
        stream_key_id(&k, &id);
        hex_print(id.b, OBJECT_ID_BYTES, stream);
        syncnode_close(&r->node[2]);
        snprintf(path, sizeof(path), "%s/peers/objects/%s/%s", r->node[2].dir, origin,
                 stream);
        if (how == 0) {
            assert_int_equal(tempdir_remove(path), 0);
        } else {
            snprintf(path + strlen(path), 40, "/%020u", how + 1);
            assert_int_equal(truncate(path, 100), 0);
        }
        MUST(r, syncnode_open(&r->node[2], &r->m, &r->why));
        change(r, 20 + how, false, 0);
        share(r);
        assert_int_equal(ask(r, 2, 20 + how), LIST_CONFIRMED);
        assert_int_equal(ask(r, 2, 10), LIST_CONFIRMED);
    }
}

static void test_share__when_a_period_is_dropped__then_peers_drop_it(void **state)
{
    struct ring *r = *state;
    struct list_aged aged;
    struct list_ageing ageing = {.period_s = DAY_S, .inactive_after_s = 2 * DAY_S};
    import(r, 0, 300, 0);
    struct list_writer *w = open_own(r);
    list_writer_set_ageing(w, &ageing);
    list_writer_close(&w);
    for (unsigned day = 0; day < 3; day++) {
        char text[64];
        w = open_own(r);
        list_writer_set_ageing(w, &ageing);
        for (unsigned i = 0; i < 10; i++) {
            struct feature_entry e = entry(1000 + day * 10 + i, text);
            struct list_import *im = NULL;
            struct list_import_result result;
            MUST(r, list_import_begin(w, SLICE_LIT("feed"), &im, &r->why));
            MUST(r, list_import_add(im, &e, 0, &r->why));
            MUST(r, list_import_commit(&im, NULL, NULL, &result, &r->why));
        }
        list_writer_close(&w);
        share(r);
        set_clock(r, r->now_s + DAY_S);
    }
    assert_int_equal(ask(r, 2, 1005), LIST_CONFIRMED);
    set_clock(r, NOW + 3 * DAY_S + 3600);
    w = open_own(r);
    list_writer_set_ageing(w, &ageing);
    MUST(r, list_age(w, NULL, NULL, r->now_s, &aged, &r->why));
    list_writer_close(&w);
    assert_true(aged.entries >= 10);
    set_clock(r, r->now_s + 5);
    share(r);
    assert_int_equal(ask(r, 2, 1005), LIST_NO);
    assert_int_equal(ask(r, 2, 1025), LIST_CONFIRMED);
}

static void test_share__when_it_is_not_shared_any_more__then_peers_forget(void **state)
{
    struct ring *r = *state;
    import(r, 0, 500, 0);
    share(r);
    assert_int_equal(ask(r, 2, 7), LIST_CONFIRMED);
    configure(r, "lists = ( { name = \"bad\"; } );");
    share(r);
    assert_int_equal(ask(r, 2, 7), LIST_NO);
    configure(r, "lists = ( { name = \"bad\"; share = true; } );");
    share(r);
    assert_int_equal(ask(r, 2, 7), LIST_CONFIRMED);
    configure(r,
              "lists = ( { name = \"bad\"; share = true; category = \"allow\"; } );");
    share(r); /* nobody is told what is let through here */
    assert_int_equal(ask(r, 2, 7), LIST_NO);
}

static void test_share__when_the_list_is_removed__then_peers_forget(void **state)
{
    struct ring *r = *state;
    char path[400];
    import(r, 0, 500, 0);
    share(r);
    assert_int_equal(ask(r, 2, 7), LIST_CONFIRMED);
    snprintf(path, sizeof(path), "%s/lists/bad", r->node[0].dir);
    assert_int_equal(tempdir_remove(path), 0);
    restart(r);
    share(r);
    assert_int_equal(ask(r, 2, 7), LIST_NO);
}

static void test_share__when_filters_are_shared__then_they_hint(void **state)
{
    struct ring *r = *state;
    configure(r, "lists = ( { name = \"bad\"; share = \"filters\"; } );");
    import(r, 0, 5000, 0);
    share(r);
    assert_int_equal(ask(r, 2, 7), LIST_POSSIBLE);
    assert_int_equal(ask(r, 2, 5001), LIST_NO);
    uint64_t before = objects(r);
    change(r, 7, true, 0);
    r->is_patient = true;
    share(r);
    r->is_patient = false;
    assert_int_equal(objects(r), before); /* not yet: at most one a minute */
    set_clock(r, r->now_s + 61);
    share(r);
    assert_true(ask(r, 2, 7) == LIST_REVOKED || ask(r, 2, 7) == LIST_NO);
    assert_int_equal(ask(r, 2, 8), LIST_POSSIBLE);
    before = objects(r);
    set_clock(r, r->now_s + 61);
    restart(r);
    share(r);
    assert_int_equal(objects(r), before);
    configure(r, "lists = ( { name = \"bad\"; } );");
    share(r);
    assert_int_equal(ask(r, 2, 8), LIST_NO);
}

/* Any changes in any order, restarts between: at the end the others know what we know. */
static void test_share__when_anything_happens__then_the_lists_agree(void **state)
{
    struct ring *r = *state;
    for (unsigned round = 0; round < 40; round++) {
        unsigned n = (unsigned)(next_random(r) % NAMES);
        uint32_t expiry = next_random(r) % 3
                              ? 0
                              : (uint32_t)(r->now_s + next_random(r) % (9 * DAY_S));
        switch (next_random(r) % 6) {
        case 0:
            import(r, n, n + (unsigned)(next_random(r) % 100), expiry);
            break;
        case 1:
            set_clock(r, r->now_s + next_random(r) % DAY_S);
            break;
        case 2:
            restart(r);
            break;
        case 3:
            change(r, n, true, 0);
            break;
        default:
            change(r, n, false, expiry);
            break;
        }
        if (next_random(r) % 3 == 0) {
            share(r);
        }
    }
    restart(r); /* looks at everything */
    share(r);
    struct list_reader *own = NULL;
    if (list_reader_open(r->node[0].dir, SLICE_LIT("bad"), &r->node[0].keys, &own,
                         &r->why) != ERR_OK) {
        return; /* nothing was ever listed */
    }
    for (unsigned n = 0; n < NAMES + 100; n++) {
        char text[64];
        struct digest d;
        struct feature_entry e = entry(n, text);
        digest_make(list_reader_key(own), e.class_type, e.text, &d);
        bool is_listed = list_reader_confirm(own, &d, r->now_s) == LIST_CONFIRMED;
        assert_int_equal(ask(r, 2, n) == LIST_CONFIRMED, is_listed);
    }
    list_reader_close(&own);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_share__when_the_ring_key_changes__then_the_list_is_found_as_before),
        TEST(test_share__when_the_list_is_of_a_key_of_its_own__then_it_is_left_out),
        TEST(test_share__when_objects_of_it_are_lost_or_cut__then_fetched_again),
        TEST(test_share__when_listed_and_revoked__then_so_it_is_everywhere),
        TEST(test_share__when_a_foreign_value_is_revoked__then_only_one_owner_tells),
        TEST(test_share__when_nothing_changed__then_a_restart_publishes_nothing),
        TEST(test_share__when_an_expiry_moves__then_peers_follow),
        TEST(test_share__when_a_period_is_dropped__then_peers_drop_it),
        TEST(test_share__when_it_is_not_shared_any_more__then_peers_forget),
        TEST(test_share__when_the_list_is_removed__then_peers_forget),
        TEST(test_share__when_filters_are_shared__then_they_hint),
        TEST(test_share__when_anything_happens__then_the_lists_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
