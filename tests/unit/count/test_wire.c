/* test_wire - requests for counts and their answers, and what is none. */
#include "core/count/wire.h"

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
    memset(items, 0, n * sizeof *items);
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
    memset(&got, 0, sizeof got);
    f.count[9] = 77;
    fake_exact(&f, digest, &want);
    buf_init(&request, COUNT_WIRE_REQUEST_MAX);
    count_wire_exact(&keys, digest, &request);
    ask(&f, &keys, buf_slice(&request), &answer);
    assert_true(count_wire_history(buf_slice(&answer), &got));
    assert_int_equal(got.now, 3);
    assert_int_equal(got.ndamaged, 2);
    assert_true(got.last_s == UINT64_MAX);
    assert_memory_equal(got.bucket, want.bucket, sizeof want.bucket);
    assert_memory_equal(got.day, want.day, sizeof want.day);
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
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
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
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (count_wire_values(slice_str(bad[i]), &item, 1)) {
            fail_msg("taken: %s", bad[i]);
        }
    }
    assert_true(count_wire_values(SLICE_LIT("ok\n1 2 3 4\n"), &item, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batch__there_and_back__values_of_each),
        cmocka_unit_test(test_exact__there_and_back__whole_history),
        cmocka_unit_test(test_answer__bad_requests__refused_and_nothing_counted),
        cmocka_unit_test(test_answer__one_key_too_many__refused),
        cmocka_unit_test(test_answer__without_counts__says_so),
        cmocka_unit_test(test_values__what_is_no_answer__refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
