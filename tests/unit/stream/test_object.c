/*
 * test_object - headers: round trips, and only the origin's key makes them valid.
 */
#include "core/base/base.h"
#include "core/ring/stream/object.h"

#include "tests/unit/stream/example.h"
#include "tests/unit/unit.h"

static struct example example[EXAMPLES];

static int make_examples(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i++) {
        if (!example_make((enum example_kind)i, SLICE_NONE, &example[i])) {
            return 1;
        }
    }
    return 0;
}

static int drop_examples(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i++) {
        example_fini(&example[i]);
    }
    return 0;
}

static void test_parse__every_type_and_kind__prints_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < EXAMPLES; i++) {
        struct object o;
        struct errinfo info = {.text = ""};
        struct buf again;
        struct slice header = buf_slice(&example[i].header);
        assert_int_equal(header.n, OBJECT_HEADER_BYTES);
        assert_int_equal(object_parse(header, &o, &info), ERR_OK);
        buf_init(&again, OBJECT_HEADER_BYTES);
        object_print(&o, &again);
        assert_true(
            slice_eq(buf_slice(&again), slice_head(header, OBJECT_SIGNED_BYTES)));
        assert_true(stream_key_equal(&o.stream, &example[i].o.stream));
        buf_fini(&again);
    }
}

static void test_parse__cut_anywhere__is_refused(void **state)
{
    (void)state;
    struct object o;
    for (int i = 0; i < EXAMPLES; i++) {
        for (size_t n = 0; n < OBJECT_HEADER_BYTES; n++) {
            struct slice cut = slice_head(buf_slice(&example[i].header), n);
            assert_int_equal(object_parse(cut, &o, NULL), ERR_SYNTAX);
        }
    }
}

static void test_signature__one_byte_changed__does_not_hold(void **state)
{
    (void)state;
    uint8_t key[OBJECT_KEY_BYTES];
    char header[OBJECT_HEADER_BYTES];
    assert_true(example_public(key));
    for (int i = 0; i < EXAMPLES; i++) {
        memcpy(header, example[i].header.p, sizeof(header));
        assert_true(object_is_signed_by(slice_of(header, sizeof(header)), key));
    }
    for (size_t at = 0; at < sizeof(header); at++) {
        header[at] = (char)(header[at] ^ (1 << at % 8));
        assert_false(object_is_signed_by(slice_of(header, sizeof(header)), key));
        header[at] = (char)(header[at] ^ (1 << at % 8));
    }
    assert_false(object_is_signed_by(slice_of(header, sizeof(header) - 1), key));
}

static void test_signature__of_another_key__does_not_hold(void **state)
{
    (void)state;
    uint8_t key[OBJECT_KEY_BYTES];
    uint8_t zeros[OBJECT_KEY_BYTES] = {0};
    struct buf other;
    struct slice header = buf_slice(&example[0].header);
    assert_true(example_public(key));
    buf_init(&other, OBJECT_HEADER_BYTES);
    assert_int_equal(object_sign(&example[0].o, zeros, &other), ERR_OK);
    assert_false(object_is_signed_by(buf_slice(&other), key));
    assert_false(object_is_signed_by(header, zeros)); /* a point of small order */
    key[0] ^= 1;
    assert_false(object_is_signed_by(header, key));
    buf_fini(&other);
}

static void test_hash__of_two_signatures__is_the_same(void **state)
{
    (void)state;
    struct hash256 hash[3];
    char header[OBJECT_HEADER_BYTES];
    memcpy(header, example[0].header.p, sizeof(header));
    object_hash(slice_of(header, sizeof(header)), &hash[0]);
    header[OBJECT_SIGNED_BYTES] ^= 1;
    object_hash(slice_of(header, sizeof(header)), &hash[1]);
    header[OBJECT_SIGNED_BYTES - 1] ^= 1;
    object_hash(slice_of(header, sizeof(header)), &hash[2]);
    assert_true(hash256_equal(&hash[0], &hash[1]));
    assert_false(hash256_equal(&hash[0], &hash[2]));
}

static void test_sign__no_room__says_so(void **state)
{
    (void)state;
    uint8_t secret[OBJECT_KEY_BYTES] = {0};
    for (size_t max = 0; max < OBJECT_HEADER_BYTES; max += 32) {
        struct buf b;
        buf_init(&b, max);
        assert_int_equal(object_sign(&example[0].o, secret, &b), ERR_NOMEM);
        buf_fini(&b);
    }
}

static void test_stream_id__each_field__matters(void **state)
{
    (void)state;
    struct stream_key k[8];
    struct object_id id[8];
    for (size_t i = 0; i < 8; i++) {
        k[i] = example[EXAMPLE_DELTA_LIST].o.stream;
    }
    k[1].origin.b[15] ^= 1;
    k[2].inc ^= 1;
    k[3].start_s = 600;
    k[4].len_s = 600;
    k[5].ring_key ^= 1;
    k[6].kind = OBJECT_MEMBER;
    k[7].list[31] = 'x'; /* behind the NUL */
    for (size_t i = 0; i < 8; i++) {
        stream_key_id(&k[i], &id[i]);
        bool is_same = memcmp(&id[0], &id[i], sizeof(id[0])) == 0;
        assert_int_equal(is_same, i == 0 || i == 7);
        assert_int_equal(stream_key_equal(&k[0], &k[i]), i == 0 || i == 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse__every_type_and_kind__prints_the_same),
        cmocka_unit_test(test_parse__cut_anywhere__is_refused),
        cmocka_unit_test(test_signature__one_byte_changed__does_not_hold),
        cmocka_unit_test(test_signature__of_another_key__does_not_hold),
        cmocka_unit_test(test_hash__of_two_signatures__is_the_same),
        cmocka_unit_test(test_sign__no_room__says_so),
        cmocka_unit_test(test_stream_id__each_field__matters),
    };
    return base_init() == ERR_OK
               ? cmocka_run_group_tests(tests, make_examples, drop_examples)
               : 1;
}
