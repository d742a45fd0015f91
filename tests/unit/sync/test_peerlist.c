/*
 * test_peerlist - the state of an origin's lists is in its own folder, and nowhere else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/random.h"
#include "core/filter/bloomfile_merge.h"
#include "core/list/mirror.h"
#include "core/list/peer_filter.h"
#include "core/list/reader.h"
#include "core/ring/sync/peerlist.h"

#include "tests/unit/sync/peerlist_whole.h"
#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { DIGESTS = 20000, FILTER_ENTRIES = 30000 };

struct fixture {
    char dir[64];
    char lists[2][96]; /* of two servers */
    struct keyring keys;
    struct peerlists *p[2];
    struct errinfo info;
    uint64_t seed;
    struct list_record model[DIGESTS]; /* after: the state now */
    struct list_record step[DIGESTS];
    size_t n;
};

static void must_at(struct fixture *f, enum err e, int line)
{
    if (e != ERR_OK) {
        fail_msg("line %d: %s: %s: %s", line, err_text(e), f->info.source,
                 f->info.text);
    }
}
#define MUST(f, call) must_at(f, call, __LINE__)

static uint64_t next_random(struct fixture *f)
{
    uint64_t z = f->seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    random_bytes(&f->seed, sizeof(f->seed));
    print_message("seed %llu\n", (unsigned long long)f->seed);
    snprintf(f->dir, sizeof(f->dir), "/tmp/gillnet-peer-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    MUST(f, keyring_load_or_create(f->dir, &f->keys, &f->info));
    f->keys.n = 2;
    f->keys.ring[1] = f->keys.ring[0];
    f->keys.ring[1].id++;
    for (unsigned i = 0; i < 2; i++) {
        snprintf(f->lists[i], sizeof(f->lists[i]), "%s/lists-%u", f->dir, i);
        MUST(f, peerlists_open(f->lists[i], &f->keys, &f->p[i], &f->info));
    }
    for (size_t i = 0; i < DIGESTS; i++) {
        for (unsigned b = 0; b < 8; b++) {
            f->model[i].digest.b[b] = (uint8_t)((i * 7919) >> (56 - 8 * b));
        }
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    peerlists_close(&f->p[0]);
    peerlists_close(&f->p[1]);
    (void)tempdir_remove(f->dir);
    free(f);
    return 0;
}

static void reopen(struct fixture *f, unsigned i)
{
    peerlists_close(&f->p[i]);
    MUST(f, peerlists_open(f->lists[i], &f->keys, &f->p[i], &f->info));
}

static struct object object_of(const struct fixture *f, uint64_t seq)
{
    struct object o = {.type = OBJECT_DELTA, .seq = seq, .records = f->n};
    o.stream = (struct stream_key){.inc = 1000, .kind = OBJECT_LIST, .list = "bad"};
    o.stream.ring_key = f->keys.ring[0].id;
    memset(o.stream.origin.b, 0xab, sizeof(o.stream.origin.b));
    return o;
}

/* Steps of about n digests that fit the model. */
static void choose(struct fixture *f, size_t n)
{
    size_t every = DIGESTS / n;
    f->n = 0;
    for (size_t i = next_random(f) % every; i < DIGESTS; i += every) {
        struct list_record r = f->model[i];
        r.before = f->model[i].after;
        r.after = (uint8_t)((r.before + UINT64_C(1) + next_random(f) % 2) % 3);
        if (r.before == ENTRY_ABSENT) {
            r.type = (uint16_t)(1 + next_random(f) % 9);
            r.expiry_h = (uint32_t)(next_random(f) % 3);
        }
        f->step[f->n++] = r;
    }
}

static void remember(struct fixture *f)
{
    for (size_t i = 0, k = 0; i < f->n; k++) {
        if (digest_cmp(&f->model[k].digest, &f->step[i].digest) == 0) {
            f->model[k] = f->step[i++];
        }
    }
}

/* Check and apply; ERR_OK or what check said. */
static enum err give(struct fixture *f, unsigned to, const struct object *o)
{
    struct payload_reader in;
    struct buf raw;
    buf_init(&raw, 1 << 24);
    payload_print_list(f->step, f->n, &raw);
    MUST(f, payload_reader_init(&in, OBJECT_LIST, o->type == OBJECT_SNAP, f->n,
                                buf_slice(&raw), &f->info));
    enum err e = peerlist_check(f->p[to], o, &in, &f->info);
    if (e == ERR_OK) {
        MUST(f, peerlist_apply(f->p[to], o, "anna", &in, &f->info));
        MUST(f,
             peerlist_apply(f->p[to], o, "anna", &in, &f->info)); /* as after a crash */
    }
    buf_fini(&raw);
    return e;
}

static void compare(struct fixture *f, unsigned at)
{
    struct object o = object_of(f, 1);
    struct mirror_iter *walk = NULL;
    struct mirror_entry entry;
    enum err e = ERR_OK;
    MUST(f, peerlist_walk(f->p[at], &o.stream, &walk, &f->info));
    for (size_t i = 0; i < DIGESTS; i++) {
        const struct list_record *want = &f->model[i];
        if (want->after == ENTRY_ABSENT) {
            continue;
        }
        assert_true(mirror_iter_next(walk, &entry, &e));
        const struct list_record got = peerlist_record(&entry);
        assert_int_equal(digest_cmp(&got.digest, &want->digest), 0);
        assert_int_equal(got.after, want->after);
        assert_int_equal(got.type, want->type);
        assert_int_equal(got.expiry_h, want->expiry_h);
    }
    assert_false(mirror_iter_next(walk, &entry, &e));
    assert_int_equal(e, ERR_OK);
    mirror_iter_free(&walk);
}

static void test_apply__when_any_deltas_come__then_the_list_is_what_they_say(
    void **state)
{
    struct fixture *f = *state;
    static const size_t sizes[] = {10000, 100, 30, 10000, 5000, 9000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        choose(f, sizes[i]);
        struct object o = object_of(f, i + 1);
        assert_int_equal(give(f, 0, &o), ERR_OK);
        remember(f);
        compare(f, 0);
        reopen(f, 0);
        compare(f, 0);
    }
}

static void test_snap__when_taken_elsewhere__then_the_lists_are_equal(void **state)
{
    struct fixture *f = *state;
    struct buf payload[2];
    uint64_t n[2] = {0, 0};
    static const size_t sizes[] = {10000, 50, 10000, 20};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        choose(f, sizes[i]);
        struct object o = object_of(f, i + 1);
        assert_int_equal(give(f, 0, &o), ERR_OK);
        remember(f);
        buf_init(&payload[0], 1 << 24);
        buf_init(&payload[1], 1 << 24);
        MUST(f, peerlist_snap(f->p[0], &o.stream, &payload[0], &n[0], &f->info));
        struct payload_reader in;
        MUST(f, payload_reader_init(&in, OBJECT_LIST, true, n[0],
                                    buf_slice(&payload[0]), &f->info));
        o.type = OBJECT_SNAP;
        o.records = n[0];
        MUST(f, peerlist_check(f->p[1], &o, &in, &f->info));
        MUST(f, peerlist_apply(f->p[1], &o, "anna", &in, &f->info));
        compare(f, 1);
        MUST(f, peerlist_snap(f->p[1], &o.stream, &payload[1], &n[1], &f->info));
        assert_int_equal(n[0], n[1]);
        assert_true(slice_eq(buf_slice(&payload[0]), buf_slice(&payload[1])));
        buf_fini(&payload[0]);
        buf_fini(&payload[1]);
    }
}

static void test_check__when_a_step_does_not_fit__then_it_is_refused(void **state)
{
    struct fixture *f = *state;
    f->n = 2;
    f->step[0] = f->model[1];
    f->step[1] = f->model[5];
    for (unsigned i = 0; i < 2; i++) {
        f->step[i].after = ENTRY_STANDS;
        f->step[i].type = 3;
        f->step[i].expiry_h = 9;
    }
    struct object o = object_of(f, 2);
    assert_int_equal(give(f, 0, &o), ERR_RANGE); /* nothing before it is held */
    o.seq = 1;
    assert_int_equal(give(f, 0, &o), ERR_OK);
    o.seq = 2;
    assert_int_equal(give(f, 0, &o), ERR_RANGE); /* they stand */
    for (unsigned i = 0; i < 2; i++) {
        f->step[i].before = ENTRY_STANDS;
        f->step[i].after = ENTRY_TAKEN_BACK;
    }
    f->step[1].expiry_h = 8;
    assert_int_equal(give(f, 0, &o), ERR_RANGE);
    f->step[1].expiry_h = 9;
    f->step[1].type = 4;
    assert_int_equal(give(f, 0, &o), ERR_RANGE);
    f->step[1].type = 3;
    assert_int_equal(give(f, 0, &o), ERR_OK);
    f->step[0].before = ENTRY_TAKEN_BACK;
    f->step[0].after = ENTRY_ABSENT;
    f->step[1] = f->model[7];
    f->step[1].after = ENTRY_STANDS;
    f->step[1].expiry_h = UINT32_MAX;
    o.seq = 3;
    assert_int_equal(give(f, 0, &o), ERR_RANGE);
    f->step[1].expiry_h = 0;
    assert_int_equal(give(f, 0, &o), ERR_OK);
}

static void test_apply__when_an_incarnation_or_key_is_new__then_it_replaces(
    void **state)
{
    struct fixture *f = *state;
    for (unsigned round = 0; round < 3; round++) {
        for (size_t i = 0; i < DIGESTS; i++) {
            f->model[i].after = ENTRY_ABSENT;
        }
        choose(f, round == 1 ? 100 : 10000);
        struct object o = object_of(f, 1);
        o.stream.inc += round;
        o.stream.ring_key += round == 2;
        assert_int_equal(give(f, 0, &o), ERR_OK);
        o.stream.inc--;
        assert_int_equal(give(f, 0, &o), ERR_RANGE); /* older */
        o.stream.inc++;
        struct list_record r = f->step[7];
        MUST(f, peerlist_get(f->p[0], &o.stream, &r, &f->info));
        assert_int_equal(r.after, f->step[7].after);
        struct buf raw;
        uint64_t n = 0;
        buf_init(&raw, 1 << 24);
        MUST(f, peerlist_snap(f->p[0], &o.stream, &raw, &n, &f->info));
        assert_int_equal(n, f->n);
        o.stream.inc--;
        assert_int_equal(peerlist_snap(f->p[0], &o.stream, &raw, &n, &f->info),
                         ERR_NOT_FOUND);
        buf_fini(&raw);
    }
}

static void test_check__when_an_origin_has_many_lists__then_one_more_is_refused(
    void **state)
{
    struct fixture *f = *state;
    choose(f, 10);
    struct object o = object_of(f, 1);
    for (int i = 0; i < PEERLIST_LISTS_MAX; i++) {
        snprintf(o.stream.list, sizeof(o.stream.list), "list-%d", i);
        assert_int_equal(give(f, 0, &o), ERR_OK);
    }
    snprintf(o.stream.list, sizeof(o.stream.list), "one-more");
    assert_int_equal(give(f, 0, &o), ERR_LIMIT);
    o.stream.origin.b[0] = 1; /* another origin has its own */
    assert_int_equal(give(f, 0, &o), ERR_OK);
}

static void test_drop__when_an_origin_goes__then_its_folder_alone_is_gone(void **state)
{
    struct fixture *f = *state;
    struct object o = object_of(f, 1);
    struct list_record r;
    for (unsigned i = 0; i < 3; i++) {
        o.stream.origin.b[0] = (uint8_t)i;
        choose(f, 1000);
        o.records = f->n;
        assert_int_equal(give(f, 0, &o), ERR_OK);
    }
    o.stream.origin.b[0] = 1;
    MUST(f, peerlists_drop(f->p[0], &o.stream.origin, &f->info));
    MUST(f, peerlists_drop(f->p[0], &o.stream.origin, &f->info)); /* once more */
    for (unsigned i = 0; i < 3; i++) {
        o.stream.origin.b[0] = (uint8_t)i;
        r = f->step[3];
        assert_int_equal(peerlist_get(f->p[0], &o.stream, &r, &f->info),
                         i == 1 ? ERR_NOT_FOUND : ERR_OK);
    }
}

/* ---- filters ---- */

/* A filter of n entries of a list of this installation, and its bytes. */
static void make_filter(struct fixture *f, unsigned n, struct buf *ret)
{
    struct list_writer *w = NULL;
    struct list_reader *r = NULL;
    struct list_import *im = NULL;
    struct list_import_result result;
    char path[128];
    char text[64];
    uint64_t inside = 0;
    snprintf(path, sizeof(path), "%s/filter", f->dir);
    MUST(f, list_writer_open(f->dir, SLICE_LIT("own"), &f->keys, true, &w, &f->info));
    MUST(f, list_import_begin(w, SLICE_LIT("test"), &im, &f->info));
    for (unsigned i = 0; i < n; i++) {
        int length = snprintf(text, sizeof(text), "host-%u.example", i);
        struct feature_entry e = {.class_type = FEATURE_domain,
                                  .text = slice_of(text, (size_t)length)};
        MUST(f, list_import_add(im, &e, 0, &f->info));
    }
    MUST(f, list_import_commit(&im, NULL, NULL, &result, &f->info));
    list_writer_close(&w);
    MUST(f, list_reader_open(f->dir, SLICE_LIT("own"), &f->keys, &r, &f->info));
    MUST(f, list_member_make(r, false, path, &inside, &f->info));
    assert_int_equal(inside, n);
    list_reader_close(&r);
    buf_init(ret, 1 << 24);
    MUST(f, file_read(path, ret, &f->info));
}

static struct digest digest_of(const struct fixture *f, unsigned i)
{
    char text[64];
    struct digest d;
    int length = snprintf(text, sizeof(text), "host-%u.example", i);
    digest_make(&f->keys.ring[0], FEATURE_domain, slice_of(text, (size_t)length), &d);
    return d;
}

static void test_member__when_a_filter_is_honest__then_its_bytes_are_kept(void **state)
{
    struct fixture *f = *state;
    struct buf file;
    struct buf back;
    make_filter(f, FILTER_ENTRIES, &file);
    struct object o = object_of(f, 1);
    o.type = OBJECT_SNAP;
    o.stream.kind = OBJECT_MEMBER;
    for (unsigned i = 0; i < 2; i++) {
        o.seq = i + 1;
        MUST(f, peermember_check(f->p[0], &o, buf_slice(&file), &f->info));
        MUST(f, peermember_apply(f->p[0], &o, buf_slice(&file), &f->info));
        reopen(f, 0);
    }
    buf_init(&back, 1 << 24);
    MUST(f, peermember_snap(f->p[0], &o.stream, &back, &f->info));
    assert_true(slice_eq(buf_slice(&file), buf_slice(&back)));
    struct list_reader *r = NULL;
    char folder[256];
    snprintf(folder, sizeof(folder), "%s/abababababababababababababababab",
             f->lists[0]);
    MUST(f, list_reader_open(folder, SLICE_LIT("bad"), &f->keys, &r, &f->info));
    struct digest d = digest_of(f, 7);
    assert_int_equal(list_reader_confirm(r, &d, 1), LIST_POSSIBLE);
    list_reader_close(&r);
    buf_fini(&file);
    buf_fini(&back);
}

/* The checks of a file are made right again: the liar has the same program. */
static void test_member__when_a_filter_lies__then_it_is_refused(void **state)
{
    struct fixture *f = *state;
    struct digest guarded[20];
    struct buf file;
    make_filter(f, FILTER_ENTRIES, &file);
    struct object o = object_of(f, 1);
    o.type = OBJECT_SNAP;
    o.stream.kind = OBJECT_MEMBER;
    for (unsigned i = 0; i < 20; i++) {
        guarded[i] = digest_of(f, FILTER_ENTRIES + i);
    }
    MUST(f, peerlists_guard(f->p[0], guarded, 20));
    MUST(f, peermember_check(f->p[0], &o, buf_slice(&file), &f->info));
    for (unsigned i = 0; i < 6; i++) {
        guarded[i] = digest_of(f, i);
    }
    MUST(f, peerlists_guard(f->p[0], guarded, 20));
    assert_int_equal(peermember_check(f->p[0], &o, buf_slice(&file), &f->info),
                     ERR_CORRUPT);
    assert_non_null(strstr(f->info.text, "protected"));
    MUST(f, peerlists_guard(f->p[0], guarded, 0));
    struct bloomfile b;
    struct bloomfile_want want = {.key = &f->keys.ring[0]};
    char path[128];
    snprintf(path, sizeof(path), "%s/filter", f->dir);
    for (unsigned lie = 0; lie < 4; lie++) {
        MUST(f, bloomfile_open(&b, path, &want, &f->info));
        struct bloomfile x = {0};
        MUST(f, bloomfile_new(&x, b.bloom.layout, b.bloom.nlines, b.bloom.k, want.key,
                              &f->info));
        uint64_t *words = x.memory;
        for (uint64_t i = 0; i < b.bloom.nlines * 8; i++) {
            words[i] = lie == 0   ? UINT64_MAX
                       : lie == 1 ? next_random(f)
                       : lie == 2 ? b.bloom.words[i] | next_random(f) << 60
                                  : 0;
        }
        x.facts = b.facts;
        if (lie == 1) { /* made up, and declared as full as it is */
            x.facts.entries = bloomfile_estimate(&x);
            x.facts.capacity = x.facts.entries;
        }
        struct buf lied;
        char name[160];
        snprintf(name, sizeof(name), "%s/lie", f->dir);
        MUST(f, bloomfile_write(&x, name, &f->info));
        buf_init(&lied, 1 << 24);
        MUST(f, file_read(name, &lied, &f->info));
        assert_int_equal(peermember_check(f->p[0], &o, buf_slice(&lied), &f->info),
                         ERR_CORRUPT);
        assert_true(lie != 1 || strstr(f->info.text, "evenly"));
        buf_fini(&lied);
        bloomfile_close(&x);
        bloomfile_close(&b);
    }
    o.stream.kind = OBJECT_MEMBER_REVOKED; /* the other role */
    assert_int_not_equal(peermember_check(f->p[0], &o, buf_slice(&file), &f->info),
                         ERR_OK);
    buf_fini(&file);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_apply__when_any_deltas_come__then_the_list_is_what_they_say),
        TEST(test_snap__when_taken_elsewhere__then_the_lists_are_equal),
        TEST(test_check__when_a_step_does_not_fit__then_it_is_refused),
        TEST(test_apply__when_an_incarnation_or_key_is_new__then_it_replaces),
        TEST(test_check__when_an_origin_has_many_lists__then_one_more_is_refused),
        TEST(test_drop__when_an_origin_goes__then_its_folder_alone_is_gone),
        TEST(test_member__when_a_filter_is_honest__then_its_bytes_are_kept),
        TEST(test_member__when_a_filter_lies__then_it_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
