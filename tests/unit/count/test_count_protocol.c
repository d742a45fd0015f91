/* test_count_protocol - requests for counts and their answers, and malformed ones. */
#include "core/count/count_protocol.h"

#include "tests/unit/unit.h"

/* Counts in an array: a key's number is its digest's first byte. */
struct fake {
    uint64_t count[256];
    size_t nbatches;
};

static void fake_batch(void *context, struct count_item *items, size_t n)
{
    struct fake *f = context;
    f->nbatches++;
    for (size_t i = 0; i < n; i++) {
        uint64_t *count = &f->count[items[i].digest[0].b[0]];
        *count += items[i].amount;
        for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
            items[i].value.w[w] = *count + w;
        }
    }
}

static void fake_exact(void *context, const struct digest digest[KEYRING_MAX],
                       struct count_history *ret)
{
    struct fake *f = context;
    *ret = (struct count_history){
        .now = 3, .first_s = 600, .last_s = UINT64_MAX, .ndamaged = 2};
    for (unsigned i = 0; i <= COUNT_BUCKETS; i++) {
        ret->bucket[i] = f->count[digest[0].b[0]] + i;
    }
    ret->day[COUNT_DAYS] = UINT64_MAX;
}

static struct keyring make_keys(unsigned n)
{
    struct keyring k = {.n = n};
    for (unsigned i = 0; i < n; i++) {
        k.ring[i].id = 0xa0 + i;
    }
    return k;
}

static void make_items(struct count_item *items, size_t n)
{
    memset(items, 0, n * sizeof(*items));
    for (size_t i = 0; i < n; i++) {
        items[i].digest[0].b[0] = (uint8_t)i;
        items[i].digest[0].b[15] = 0xfe;
        items[i].digest[1].b[7] = 0x42;
        items[i].amount = i % 7;
    }
}

static void ask(struct fake *f, const struct keyring *keys, struct slice request,
                struct buf *ret)
{
    const struct count_port port = {
        .context = f, .batch = fake_batch, .exact = fake_exact};
    buf_init(ret, COUNT_WIRE_ANSWER_MAX);
    count_wire_answer(request, &port, keys, ret);
    assert_false(buf_failed(ret));
}

static void test_batch__there_and_back__values_of_each(void **state)
{
    (void)state;
    for (unsigned nkeys = 1; nkeys <= KEYRING_MAX; nkeys++) {
        for (size_t n = 0; n <= COUNT_WIRE_ITEMS; n += n < 2 ? 1 : 127) {
            struct keyring keys = make_keys(nkeys);
            struct count_item items[COUNT_WIRE_ITEMS];
            struct fake f = {.nbatches = 0};
            struct buf request;
            struct buf answer;
            f.count[1] = UINT64_MAX - COUNT_WIRE_AMOUNT_MAX;
            make_items(items, n);
            buf_init(&request, COUNT_WIRE_REQUEST_MAX - 1);
            count_wire_batch(&keys, items, n, &request);
            assert_false(buf_failed(&request));
            ask(&f, &keys, buf_slice(&request), &answer);
            assert_true(count_wire_values(buf_slice(&answer), items, n));
            assert_int_equal(f.nbatches, 1);
            for (size_t i = 0; i < n; i++) {
                assert_true(items[i].value.w[0] == f.count[i]);
                assert_true(items[i].value.w[3] == f.count[i] + 3);
            }
            assert_false(count_wire_values(buf_slice(&answer), items, n + 1));
            buf_fini(&request);
            buf_fini(&answer);
        }
    }
}

static void test_exact__there_and_back__whole_history(void **state)
{
    struct keyring keys = make_keys(2);
    struct digest digest[KEYRING_MAX] = {{{9}}, {{1}}};
    struct fake f = {.nbatches = 0};
    struct count_history want;
    struct count_history got;
    struct buf request;
    struct buf answer;

    (void)state;
    memset(&got, 0, sizeof(got));
    f.count[9] = 77;
    fake_exact(&f, digest, &want);
    buf_init(&request, COUNT_WIRE_REQUEST_MAX);
    count_wire_exact(&keys, digest, &request);
    ask(&f, &keys, buf_slice(&request), &answer);
    assert_true(count_wire_history(buf_slice(&answer), &got));
    assert_int_equal(got.now, 3);
    assert_int_equal(got.ndamaged, 2);
    assert_true(got.last_s == UINT64_MAX);
    assert_memory_equal(got.bucket, want.bucket, sizeof(want.bucket));
    assert_memory_equal(got.day, want.day, sizeof(want.day));
    for (size_t cut = 0; cut < answer.n; cut++) {
        assert_false(count_wire_history(slice_head(buf_slice(&answer), cut), &got));
    }
    buf_fini(&request);
    buf_fini(&answer);
}

#define D  "00112233445566778899aabbccddeeff"
#define D2 "ffeeddccbbaa99887766554433221100"

static void test_answer__bad_requests__refused_and_nothing_counted(void **state)
{
    static const char *const bad[] = {
        "count-batch",
        "count-batch ",
        "count-batch 000000a1 " D "=1",          /* other keys */
        "count-batch 000000a0+000000a1 " D "=1", /* too many keys */
        "count-batch 000000a0 " D,               /* no amount */
        "count-batch 000000a0 " D "=",
        "count-batch 000000a0 " D "=-1",
        "count-batch 000000a0 " D "=1000001",
        "count-batch 000000a0 " D "=18446744073709551617",
        "count-batch 000000a0 " D "=1=1",
        "count-batch 000000a0 " D "+" D2 "=1",
        "count-batch 000000a0 " D "=1  " D2 "=1", /* two blanks */
        "count-batch 000000a0 0" D "=1",
        "count-batch 000000a0 00112233445566778899AABBCCDDEEFF=1",
        "count-batch 000000a0 " D "=1\t",
        "count-exact 000000a0",
        "count-exact 000000a0 " D "=1",
        "count-exact 000000a0 " D " ",
        "count-nothing 000000a0 " D,
        "count-",
    };
    struct keyring keys = make_keys(1);

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct fake f = {.nbatches = 0};
        struct buf answer;
        ask(&f, &keys, slice_str(bad[i]), &answer);
        if (!slice_has_prefix(buf_slice(&answer), SLICE_LIT("error ")) ||
            f.nbatches != 0) {
            fail_msg("%s: %s", bad[i], answer.p);
        }
        assert_int_equal(slice_find(buf_slice(&answer), '\n'), answer.n - 1);
        buf_fini(&answer);
    }
}

static void test_answer__one_key_too_many__refused(void **state)
{
    struct keyring keys = make_keys(1);
    struct fake f = {.nbatches = 0};
    struct buf request;
    struct buf answer;

    (void)state;
    buf_init(&request, 1 << 20);
    buf_add_str(&request, "count-batch 000000a0");
    for (int i = 0; i <= COUNT_WIRE_ITEMS; i++) {
        buf_add_str(&request, " " D "=1");
    }
    ask(&f, &keys, buf_slice(&request), &answer);
    assert_true(slice_has_prefix(buf_slice(&answer), SLICE_LIT("error ")));
    assert_int_equal(f.nbatches, 0);
    buf_fini(&request);
    buf_fini(&answer);
}

static void test_answer__without_counts__says_so(void **state)
{
    struct keyring keys = make_keys(1);
    struct buf answer;

    (void)state;
    buf_init(&answer, COUNT_WIRE_ANSWER_MAX);
    count_wire_answer(SLICE_LIT("count-batch 000000a0 " D "=1"), NULL, &keys, &answer);
    assert_true(
        slice_has_prefix(buf_slice(&answer), SLICE_LIT("error this gillnetd does "
                                                       "not count")));
    buf_fini(&answer);
}

static void test_values__what_is_no_answer__refused(void **state)
{
    static const char *const bad[] = {"",
                                      "ok",
                                      "ok\n",
                                      "error x\n",
                                      "ok x\n1 2 3 4\n",
                                      "ok\n1 2 3\n",
                                      "ok\n1 2 3 4",
                                      "ok\n1 2 3 4 5\n",
                                      "ok\n1 2 3 -4\n",
                                      "ok\n1 2 3 \n",
                                      "ok\n1 2 3 4\n1 2 3 4\n",
                                      "ok\n1 2 3 99999999999999999999\n"};
    struct count_item item;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (count_wire_values(slice_str(bad[i]), &item, 1)) {
            fail_msg("taken: %s", bad[i]);
        }
    }
    assert_true(count_wire_values(SLICE_LIT("ok\n1 2 3 4\n"), &item, 1));
}

static void fake_shares(void *context, const struct digest digest[KEYRING_MAX],
                        struct count_breakdown *ret)
{
    static struct origin_row rows[] = {
        {.origin = {1}, .name = "self", .cap = 1, .state = ORIGIN_ACTIVE},
        {.origin = {2}, .name = "alpha", .cap = UINT64_MAX, .state = ORIGIN_ACTIVE},
        {.origin = {3}, .name = "beta", .cap = 10, .state = ORIGIN_LEFT},
    };
    const struct origins o = {.self = {1}, .quorum = 2, .v = rows, .n = 3};
    assert_true(count_breakdown_init(ret, 3));
    assert_true(count_breakdown_set_origins(ret, &o));
    fake_exact(context, digest, &ret->v[0].history);
    struct count_part *s = count_breakdown_of(ret, rows[2].origin);
    assert_non_null(s);
    s->history.bucket[0] = 7;
    s->history.day[0] = UINT64_MAX;
    s->history.first_s = 1200;
    s->history.last_s = 1800;
    s->history.ndamaged = 1;
    s->age_s = 42;
    count_breakdown_end(ret);
}

static void test_shares__there_and_back__by_server(void **state)
{
    (void)state;
    struct keyring keys = make_keys(2);
    struct fake f = {.nbatches = 0};
    struct digest digest[KEYRING_MAX] = {{{9}}, {{8}}};
    struct buf request;
    struct buf answer;
    f.count[9] = 4;
    buf_init(&request, COUNT_WIRE_REQUEST_MAX);
    count_wire_shares(&keys, digest, &request);
    for (unsigned with = 0; with < 2; with++) {
        const struct count_port port = {.context = &f,
                                        .batch = fake_batch,
                                        .exact = fake_exact,
                                        .shares = with ? fake_shares : NULL};
        struct count_breakdown back;
        buf_init(&answer, COUNT_WIRE_ANSWER_MAX);
        count_wire_answer(buf_slice(&request), &port, &keys, &answer);
        assert_true(count_wire_read_shares(buf_slice(&answer), &back));
        assert_int_equal(back.v[0].history.bucket[2], 6);
        assert_int_equal(back.v[0].w[COUNT_10M], 4 + 5);
        assert_int_equal(back.n, with ? 2 : 1);
        assert_int_equal(back.npeers, with ? 2 : 0);
        if (with) {
            assert_int_equal(back.quorum, 2);
            assert_string_equal(back.v[1].origin->name, "beta");
            assert_int_equal(back.v[1].origin->cap, 10);
            assert_int_equal(back.v[1].w[COUNT_1H], 7);
            assert_true(back.v[1].w[COUNT_14D] == UINT64_MAX);
            assert_int_equal(back.v[1].history.first_s, 1200);
            assert_int_equal(back.v[1].history.ndamaged, 1);
            assert_int_equal(back.v[1].age_s, 42);
        }
        count_breakdown_fini(&back);
        /* no part of an answer is one */
        for (size_t n = 0; n < answer.n; n++) {
            struct slice part = slice_head(buf_slice(&answer), n);
            bool is_line = n > 0 && part.p[n - 1] == '\n';
            bool is_one = count_wire_read_shares(part, &back);
            assert_true(!is_one || (is_line && with)); /* fewer peers */
            count_breakdown_fini(&back);
        }
        buf_fini(&answer);
    }
    buf_fini(&request);
}

static void test_shares__when_the_answer_is_hostile__then_it_is_none(void **state)
{
    (void)state;
    struct keyring keys = make_keys(1);
    struct fake f = {.nbatches = 0};
    struct digest digest[KEYRING_MAX] = {{{9}}};
    const struct count_port port = {.context = &f, .exact = fake_exact};
    static const char *const lines[] = {
        "peer\n",
        "peer 02 a 1 0 0 0 0 0 0 0 0\n",
        "x\n",
        "\n",
        "peer 02000000000000000000000000000000 alpha 1 0 0 0 0 0 0 0\n",
        "peer 02000000000000000000000000000000 alpha 1 0 0 0 0 0 0 0 0 0\n",
        "peer 02000000000000000000000000000000  1 0 0 0 0 0 0 0 0\n",
        "peer 02000000000000000000000000000000 alpha 1 0 0 99999 0 0 0 0 0\n",
        "peer 0200000000000000000000000000000g alpha 1 0 0 0 0 0 0 0 0\n",
        ("peer 02000000000000000000000000000000 "
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1 0 0 0 0 0 0 0 0\n"),
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct buf request;
        struct buf answer;
        struct count_breakdown back;
        buf_init(&request, COUNT_WIRE_REQUEST_MAX);
        buf_init(&answer, COUNT_WIRE_ANSWER_MAX);
        count_wire_shares(&keys, digest, &request);
        count_wire_answer(buf_slice(&request), &port, &keys, &answer);
        buf_add_str(&answer, lines[i]);
        assert_false(count_wire_read_shares(buf_slice(&answer), &back));
        assert_int_equal(back.n, 0);
        buf_fini(&request);
        buf_fini(&answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares__there_and_back__by_server),
        cmocka_unit_test(test_shares__when_the_answer_is_hostile__then_it_is_none),
        cmocka_unit_test(test_batch__there_and_back__values_of_each),
        cmocka_unit_test(test_exact__there_and_back__whole_history),
        cmocka_unit_test(test_answer__bad_requests__refused_and_nothing_counted),
        cmocka_unit_test(test_answer__one_key_too_many__refused),
        cmocka_unit_test(test_answer__without_counts__says_so),
        cmocka_unit_test(test_values__what_is_no_answer__refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
