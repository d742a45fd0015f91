/*
 * test_sync_liar - a member that lies, or a server between, cannot change the streams of others.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/ring/sync/sync_internal.h"
#include "core/store/origins.h"

#include "tests/unit/sync/syncring_unit.h"

enum { LIAR = 3, REPLAYS = 5000 };

/* A stream of the liar's as it tells it. */
struct tale {
    struct object o;
    struct root root;
    struct hash256 head;
    uint64_t seq;
    struct buf last; /* the newest object */
};

static void tale_begin(struct ring *r, struct tale *t, uint64_t inc)
{
    *t = (struct tale){.seq = 0};
    syncring_count_key(&r->node[LIAR], inc, BUCKET, &t->o.stream);
    buf_init(&t->last, SIZE_MAX);
}

static struct slice tale_next(struct ring *r, struct tale *t, uint16_t type,
                              const struct count_record *v, size_t n)
{
    t->o.type = type;
    t->o.seq = ++t->seq;
    t->o.prev = t->head;
    t->o.created_ms = 0;
    buf_clear(&t->last);
    assert_true(syncring_make(&r->node[LIAR].self, &t->o, v, n, &t->root, &t->last));
    object_hash(buf_slice(&t->last), &t->head);
    return buf_slice(&t->last);
}

static void test_offer__when_replayed__then_nothing_changes(void **state)
{
    struct ring *r = *state;
    struct tale t;
    struct buf all[8];
    const struct count_record v[] = {{5, 1}, {9, 2}};
    tale_begin(r, &t, 1);
    for (unsigned i = 0; i < 8; i++) {
        struct slice object = tale_next(r, &t, OBJECT_DELTA, v, 2);
        assert_offer(r, 0, object, SYNC_APPLIED);
        buf_init(&all[i], SIZE_MAX);
        buf_add(&all[i], object);
    }
    const uint64_t version = sync_version(r->node[0].sync);
    const struct sync_origin_stat before = stat_of(r, 0, LIAR);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    const char *more = getenv("GILLNET_REPLAYS");
    const unsigned long n = more ? strtoul(more, NULL, 10) : REPLAYS;
    for (unsigned long i = 0; i < n; i++) {
        assert_offer(r, 0, buf_slice(&all[i * 5 % 8]), SYNC_DUPLICATE);
    }
    assert_int_equal(sync_version(r->node[0].sync), version);
    const struct sync_origin_stat after = stat_of(r, 0, LIAR);
    assert_memory_equal(&before, &after, sizeof(before));
    for (unsigned i = 0; i < 8; i++) {
        buf_fini(&all[i]);
    }
    buf_fini(&t.last);
}

static void test_offer__when_mixed_or_matched__then_refused(void **state)
{
    struct ring *r = *state;
    struct tale a;
    struct tale b;
    struct buf mixed;
    const struct count_record one[] = {{5, 1}};
    const struct count_record two[] = {{6, 1}};
    tale_begin(r, &a, 1);
    tale_begin(r, &b, 2);
    struct slice x = tale_next(r, &a, OBJECT_DELTA, one, 1);
    struct slice y = tale_next(r, &b, OBJECT_DELTA, two, 1);
    assert_int_equal(x.n, y.n);
    buf_init(&mixed, SIZE_MAX);
    buf_add(&mixed, slice_head(x, OBJECT_HEADER_BYTES)); /* its payload is another's */
    buf_add(&mixed, slice_from(y, OBJECT_HEADER_BYTES));
    assert_offer(r, 0, buf_slice(&mixed), SYNC_PAYLOAD);
    buf_clear(&mixed);
    buf_add(&mixed,
            slice_head(x, OBJECT_SIGNED_BYTES)); /* its signature is another's */
    buf_add(&mixed, slice_from(y, OBJECT_SIGNED_BYTES));
    assert_offer(r, 0, buf_slice(&mixed), SYNC_SIGNATURE);
    buf_clear(&mixed);
    buf_add(&mixed, slice_head(x, x.n - 1));
    assert_offer(r, 0, buf_slice(&mixed), SYNC_MALFORMED);
    assert_offer(r, 0, SLICE_NONE, SYNC_MALFORMED);
    assert_offer(r, 0, x, SYNC_APPLIED); /* who changed it on its way blocked nothing */
    (void)tale_next(r, &a, OBJECT_DELTA, one, 1);
    x = tale_next(r, &a, OBJECT_DELTA, one, 1);
    assert_offer(r, 0, x, SYNC_GAP);
    buf_fini(&mixed);
    buf_fini(&a.last);
    buf_fini(&b.last);
}

/* One field wrong, but signed. */
struct lie {
    const char *what;
    enum sync_result result;
    void (*tell)(struct object *o, const struct ring *r);
};

static void resign(struct ring *r, const struct object *o, struct buf *object)
{
    struct buf header;
    buf_init(&header, OBJECT_HEADER_BYTES);
    assert_int_equal(object_sign(o, r->node[LIAR].self.signing_secret, &header),
                     ERR_OK);
    memcpy(object->p, header.p, OBJECT_HEADER_BYTES);
    buf_fini(&header);
}

static void other_ring(struct object *o, const struct ring *r)
{
    (void)r;
    o->ring.b[0] ^= 1;
}
static void other_origin(struct object *o, const struct ring *r)
{
    o->stream.origin = r->node[1].self.origin;
}
static void nobody(struct object *o, const struct ring *r)
{
    (void)r;
    o->stream.origin.b[3] ^= 1;
}
static void other_key(struct object *o, const struct ring *r)
{
    (void)r;
    o->key_id ^= 1;
}
static void other_ring_key(struct object *o, const struct ring *r)
{
    (void)r;
    o->stream.ring_key++;
}
static void future_bucket(struct object *o, const struct ring *r)
{
    (void)r;
    o->stream.start_s += 1200;
}
static void old_bucket(struct object *o, const struct ring *r)
{
    (void)r;
    o->stream.start_s -= SYNC_ACCEPT_S + 600 - SYNC_ACCEPT_S % 600;
}
static void from_future(struct object *o, const struct ring *r)
{
    (void)r;
    o->created_ms += SYNC_SKEW_S * 1000 + 1;
}
static void other_root(struct object *o, const struct ring *r)
{
    (void)r;
    o->root.b[31] ^= 1;
}
static void other_payload(struct object *o, const struct ring *r)
{
    (void)r;
    o->payload.b[0] ^= 1;
}
static void other_total(struct object *o, const struct ring *r)
{
    (void)r;
    o->total++;
}
static void more_records(struct object *o, const struct ring *r)
{
    (void)r;
    o->records++;
    o->total++;
}
static void longer(struct object *o, const struct ring *r)
{
    (void)r;
    o->raw_len++;
}
static void later_place(struct object *o, const struct ring *r)
{
    (void)r;
    o->seq = 3;
    o->base_seq = 2;
    o->prev.b[0] = 1;
}
static void text_kind(struct object *o, const struct ring *r)
{
    (void)r;
    o->stream.kind = OBJECT_TEXT;
    o->stream.start_s = 0;
    o->stream.len_s = 0;
    o->stream.ring_key = 0;
    o->total = 0;
    o->records = 1;
    (void)snprintf(o->stream.list, sizeof(o->stream.list), "spam");
}

static const struct lie lies[] = {
    {"ring", SYNC_UNKNOWN, other_ring},
    {"origin of another", SYNC_UNKNOWN, other_origin},
    {"origin of nobody", SYNC_UNKNOWN, nobody},
    {"key", SYNC_UNKNOWN, other_key},
    {"digest key", SYNC_UNKNOWN, other_ring_key},
    {"bucket to come", SYNC_FUTURE, future_bucket},
    {"bucket long over", SYNC_OLD, old_bucket},
    {"time to come", SYNC_FUTURE, from_future},
    {"root", SYNC_ROOT, other_root},
    {"payload", SYNC_PAYLOAD, other_payload},
    {"total", SYNC_PAYLOAD, other_total},
    {"records", SYNC_PAYLOAD, more_records},
    {"raw length", SYNC_PAYLOAD, longer},
    {"place", SYNC_GAP, later_place},
    {"kind", SYNC_VERSION, text_kind},
};

static void test_offer__when_one_field_is_a_lie__then_refused_and_counted(void **state)
{
    struct ring *r = *state;
    const struct count_record v[] = {{5, 1}, {7, 1}, {UINT64_C(1) << 40, 300}};
    const uint64_t version = sync_version(r->node[0].sync);
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
        struct tale t;
        tale_begin(r, &t, i + 1);
        (void)tale_next(r, &t, OBJECT_DELTA, v, 3);
        struct object o = t.o;
        lies[i].tell(&o, r);
        resign(r, &o, &t.last);
        enum sync_result got = sync_offer(r->node[0].sync, buf_slice(&t.last), &r->why);
        if (got != lies[i].result) {
            fail_msg("%s: %s, not %s: %s: %s", lies[i].what, sync_result_name(got),
                     sync_result_name(lies[i].result), r->why.source, r->why.text);
        }
        buf_fini(&t.last);
    }
    assert_int_equal(sync_version(r->node[0].sync), version);
    const struct sync_origin_stat s = stat_of(r, 0, LIAR);
    assert_int_equal(s.applied, 0);
    assert_int_equal(s.streams, 0);
    assert_int_equal(s.refused[SYNC_ROOT], 1);
    assert_int_equal(s.refused[SYNC_PAYLOAD], 4);
}

static void test_offer__when_two_histories_meet__then_proof_goes_round(void **state)
{
    struct ring *r = *state;
    struct tale a;
    struct tale b;
    struct origins o;
    const struct count_record one[] = {{5, 1}};
    const struct count_record two[] = {{5, 2}};
    tale_begin(r, &a, 1);
    tale_begin(r, &b, 1);
    assert_offer(r, 0, tale_next(r, &a, OBJECT_DELTA, one, 1), SYNC_APPLIED);
    assert_offer(r, 1, tale_next(r, &b, OBJECT_DELTA, two, 1), SYNC_APPLIED);
    assert_offer(r, 1, tale_next(r, &b, OBJECT_DELTA, two, 1), SYNC_APPLIED);
    struct syncpull p = pull(r, 0, 1); /* the first contact of the two */
    assert_int_equal(p.results[SYNC_FORK], 1);
    assert_true(stat_of(r, 0, LIAR).is_distrusted);
    assert_int_equal(stat_of(r, 0, LIAR).streams, 0);
    assert_int_equal(pull(r, 0, 1).wants, 0);
    assert_false(stat_of(r, 2, LIAR).is_distrusted);
    (void)pull(r, 2, 0); /* never met the liar */
    (void)pull(r, 1, 2);
    for (unsigned i = 0; i < LIAR; i++) {
        assert_true(stat_of(r, i, LIAR).is_distrusted);
        assert_int_equal(stat_of(r, i, LIAR).streams, 0);
        assert_offer(r, i, tale_next(r, &a, OBJECT_DELTA, one, 1), SYNC_REVOKED);
    }
    assert_int_equal(origins_read(r->node[2].dir, &o, NULL), ERR_OK);
    assert_int_equal(o.v[LIAR - 1].state, ORIGIN_DISTRUSTED);
    origins_fini(&o);
    syncnode_close(&r->node[2]);
    open_node(r, 2);
    assert_true(stat_of(r, 2, LIAR).is_distrusted);
    struct identity fresh; /* its key leaked; it has another now */
    struct manifest_member *m = &r->m.members[LIAR];
    syncring_identity(77, &fresh);
    r->m.version++;
    m->keys[0].is_revoked = true;
    m->keys[1].binding = fresh.signing;
    m->nkeys = 2;
    for (unsigned i = 0; i < LIAR; i++) {
        assert_int_equal(sync_set_manifest(r->node[i].sync, &r->m, &r->why), ERR_OK);
        assert_false(stat_of(r, i, LIAR).is_distrusted);
        assert_offer(r, i, tale_next(r, &a, OBJECT_DELTA, one, 1), SYNC_REVOKED);
    }
    (void)pull(r, 0, 1);
    assert_false(stat_of(r, 0, LIAR).is_distrusted);
    buf_fini(&a.last);
    buf_fini(&b.last);
}

static void test_offer__when_next_names_another_past__then_fork(void **state)
{
    struct ring *r = *state;
    struct tale t;
    const struct count_record one[] = {{5, 1}};
    tale_begin(r, &t, 1);
    assert_offer(r, 0, tale_next(r, &t, OBJECT_DELTA, one, 1), SYNC_APPLIED);
    t.head.b[0] ^= 1;
    assert_offer(r, 0, tale_next(r, &t, OBJECT_DELTA, one, 1), SYNC_FORK);
    assert_true(stat_of(r, 0, LIAR).is_distrusted);
    buf_fini(&t.last);
}

/* A proof that shows nothing frames nobody. */
static void test_offer__when_proof_proves_nothing__then_refused(void **state)
{
    struct ring *r = *state;
    struct buf proof;
    struct slice first;
    struct buf chain;
    const struct count_record v[] = {{5, 1}};
    const struct count_record w[] = {{5, 2}};
    struct heads heads;
    struct object_id id;
    assert_int_equal(sync_publish_counts(r->node[1].sync, BUCKET, v, 1, NULL), ERR_OK);
    assert_int_equal(sync_publish_counts(r->node[1].sync, BUCKET, w, 1, NULL), ERR_OK);
    buf_init(&chain, SIZE_MAX);
    assert_int_equal(sync_heads(r->node[1].sync, 0, &chain), ERR_OK);
    assert_int_equal(heads_parse(buf_slice(&chain), &heads, NULL), ERR_OK);
    stream_key_id(&heads.v[0].stream, &id);
    heads_fini(&heads);
    buf_clear(&chain);
    assert_int_equal(sync_chain(r->node[1].sync, &id, 1, 2, SIZE_MAX, &chain), ERR_OK);
    struct slice rest = buf_slice(&chain);
    assert_true(syncring_cut(&rest, false, &first));
    const struct slice headers[] = {slice_head(first, OBJECT_HEADER_BYTES),
                                    slice_head(rest, OBJECT_HEADER_BYTES)};
    for (unsigned i = 0; i < 4; i++) { /* honest ones, in any order and twice */
        struct object o = {.type = OBJECT_PROOF,
                           .ring = r->m.ring,
                           .key_id = object_key_id(r->node[LIAR].self.signing.key),
                           .seq = 1,
                           .records = 2,
                           .raw_len = SYNC_PROOF_BYTES,
                           .sent_len = SYNC_PROOF_BYTES,
                           .created_ms = clock_wall_us() / 1000};
        struct buf both;
        buf_init(&both, SYNC_PROOF_BYTES);
        buf_add(&both, headers[i / 2]);
        buf_add(&both, headers[i % 2]);
        o.stream.origin = r->node[LIAR].self.origin;
        hash256_of(buf_slice(&both), &o.payload);
        buf_init(&proof, SIZE_MAX);
        assert_int_equal(object_sign(&o, r->node[LIAR].self.signing_secret, &proof),
                         ERR_OK);
        buf_add(&proof, buf_slice(&both));
        assert_offer(r, 0, buf_slice(&proof), SYNC_PAYLOAD);
        assert_false(stat_of(r, 0, 1).is_distrusted);
        buf_fini(&both);
        buf_fini(&proof);
    }
    buf_fini(&chain);
}

static void test_offer__when_more_than_allowed__then_quota(void **state)
{
    struct ring *r = *state;
    struct tale t;
    struct count_record v[] = {{5, 1}, {6, 1}, {7, 1}, {8, 1}, {9, 1}};
    r->m.version++;
    r->m.members[LIAR].records_per_day = 144; /* 4 in one bucket */
    assert_int_equal(sync_set_manifest(r->node[0].sync, &r->m, &r->why), ERR_OK);
    tale_begin(r, &t, 1);
    assert_offer(r, 0, tale_next(r, &t, OBJECT_DELTA, v, 5), SYNC_QUOTA);
    buf_fini(&t.last);
    tale_begin(r, &t, 2);
    assert_offer(r, 0, tale_next(r, &t, OBJECT_DELTA, v, 4), SYNC_APPLIED);
    assert_int_equal(stat_of(r, 0, LIAR).quota, 4);
    assert_int_equal(stat_of(r, 0, LIAR).quota_used, 4);
    assert_offer(r, 0, tale_next(r, &t, OBJECT_DELTA, v, 1), SYNC_QUOTA);
    buf_fini(&t.last);
    tale_begin(r, &t, 3); /* another incarnation helps as little */
    assert_offer(r, 0, tale_next(r, &t, OBJECT_DELTA, v, 1), SYNC_QUOTA);
    buf_fini(&t.last);
    r->m.version++;
    r->m.members[LIAR].records_per_day = 1000000;
    assert_int_equal(sync_set_manifest(r->node[0].sync, &r->m, &r->why), ERR_OK);
    for (unsigned i = 3; i < SYNC_INCS_MAX + 3; i++) {
        tale_begin(r, &t, i);
        assert_offer(r, 0, tale_next(r, &t, OBJECT_DELTA, v, 1),
                     i < SYNC_INCS_MAX + 2 ? SYNC_APPLIED : SYNC_QUOTA);
        buf_fini(&t.last);
    }
    tale_begin(r, &t, 3); /* counts that would not fit a number */
    (void)tale_next(r, &t, OBJECT_DELTA, v, 1);
    v[0].count = UINT64_C(1) << 60;
    assert_offer(r, 0, tale_next(r, &t, OBJECT_DELTA, v, 1), SYNC_QUOTA);
    buf_fini(&t.last);
}

static void test_offer__when_snap_takes_back__then_refused(void **state)
{
    struct ring *r = *state;
    struct tale t;
    const struct count_record held[] = {{5, 3}, {9, 2}};
    const struct {
        struct count_record v[3];
        size_t n;
        enum sync_result result;
    } rows[] = {
        {{{5, 2}, {9, 2}}, 2, SYNC_ROOT}, /* less of one */
        {{{5, 3}}, 1, SYNC_ROOT},         /* one is gone */
        {{{9, 9}}, 1, SYNC_ROOT},
        {{{0, 0}}, 0, SYNC_ROOT},
        {{{5, 3}, {7, 1}, {9, 4}}, 3, SYNC_APPLIED},
    };
    tale_begin(r, &t, 1);
    assert_offer(r, 0, tale_next(r, &t, OBJECT_DELTA, held, 2), SYNC_APPLIED);
    t.seq = 4;
    t.head.b[0] ^= 1; /* of what came between, which nobody has */
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct tale other = t;
        buf_init(&other.last, SIZE_MAX);
        struct slice snap = tale_next(r, &other, OBJECT_SNAP, rows[i].v, rows[i].n);
        assert_offer(r, 0, snap, rows[i].result);
        buf_fini(&other.last);
    }
    assert_int_equal(stat_of(r, 0, LIAR).quota_used, 3);
    buf_fini(&t.last);
}

static void test_offer__when_stream_has_ended__then_no_more_of_it(void **state)
{
    struct ring *r = *state;
    struct tale t;
    const struct count_record v[] = {{5, 3}};
    tale_begin(r, &t, 1);
    assert_offer(r, 0, tale_next(r, &t, OBJECT_DELTA, v, 1), SYNC_APPLIED);
    t.o.flags = OBJECT_CLOSED;
    assert_offer(r, 0, tale_next(r, &t, OBJECT_SNAP, v, 1), SYNC_APPLIED);
    assert_offer(r, 0, buf_slice(&t.last), SYNC_DUPLICATE);
    t.o.flags = 0;
    assert_offer(r, 0, tale_next(r, &t, OBJECT_DELTA, v, 1), SYNC_OLD);
    buf_fini(&t.last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_offer__when_replayed__then_nothing_changes,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_offer__when_mixed_or_matched__then_refused,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_offer__when_one_field_is_a_lie__then_refused_and_counted, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_offer__when_two_histories_meet__then_proof_goes_round, setup,
            teardown),
        cmocka_unit_test_setup_teardown(
            test_offer__when_next_names_another_past__then_fork, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_offer__when_proof_proves_nothing__then_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_offer__when_more_than_allowed__then_quota,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_offer__when_snap_takes_back__then_refused,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_offer__when_stream_has_ended__then_no_more_of_it, setup, teardown),
    };
    (void)base_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
