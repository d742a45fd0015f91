/*
 * test_root - sums of hashes: the order of records does not matter, anything else does.
 */
#include "core/base/base.h"
#include "core/ring/stream/root.h"

#include "tests/unit/unit.h"

static const struct object_id ring = {
    {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};

static void assert_root(const struct root *r, const char *want)
{
    struct hash256 hash;
    char hex[HASH256_HEX + 1];
    root_print(r, &hash);
    hex_print(hash.b, HASH256_BYTES, hex);
    assert_string_equal(hex, want);
}

static bool roots_equal(const struct root *a, const struct root *b)
{
    return memcmp(a->w, b->w, sizeof(a->w)) == 0;
}

/* Made with numbers of any length by a program that knows only ADR 0030. */
static void test_root__known_records__have_known_roots(void **state)
{
    (void)state;
    struct root r = {{0}};
    root_add_counts(&r, &ring, &(struct count_record){1, 1}, 1);
    assert_root(&r, "8af866276f0dda6637751caa7d157411962cdafe7e070669ab8f146b28d47f5d");
    root_add_counts(&r, &ring, &(struct count_record){UINT64_MAX, UINT64_MAX}, 1);
    assert_root(&r, "81876b6a6d7937149ef9fa99e80096924030d97b21f6107f5c5e1ff0204493a2");
    struct list_record record = {.digest = {{9, 8, 7}},
                                 .after = ENTRY_STANDS,
                                 .type = 300,
                                 .expiry_h = 500000,
                                 .text = {"http://a.example/", 17}};
    r = (struct root){{0}};
    root_steps(&r, &ring, OBJECT_LIST, &record, 1);
    assert_root(&r, "8ee76783527805e0a1f247497c10bcd41a44c1c71628fec64b183fa96675baf2");
    record.before = ENTRY_STANDS;
    record.after = ENTRY_TAKEN_BACK;
    root_steps(&r, &ring, OBJECT_LIST, &record, 1);
    assert_root(&r, "d00e28888858a1a9acdd4719ca0c213f86f693173bd3b2b1fc10d0a34de36fb4");
    r = (struct root){{0}};
    root_steps(&r, &ring, OBJECT_TEXT, &record, 1); /* TAKEN_BACK less STANDS */
    assert_root(&r, "dd0bf6bbf96dae76b5bf47684af70470f765eb749648713856911bf3c2b43ae3");
}

static void test_add_count__in_parts_and_any_order__is_the_sum(void **state)
{
    (void)state;
    struct root whole = {{0}};
    struct root parts = {{0}};
    for (uint64_t key = 1; key < 100; key++) {
        root_add_counts(
            &whole, &ring,
            &(struct count_record){key * UINT64_C(0x9e3779b97f4a7c15), key * key}, 1);
    }
    for (uint64_t key = 99; key > 0; key--) {
        root_add_counts(&parts, &ring,
                        &(struct count_record){key * UINT64_C(0x9e3779b97f4a7c15), key},
                        1);
    }
    assert_false(roots_equal(&whole, &parts));
    for (uint64_t key = 1; key < 100; key++) {
        root_add_counts(
            &parts, &ring,
            &(struct count_record){key * UINT64_C(0x9e3779b97f4a7c15), key * key - key},
            1);
    }
    assert_true(roots_equal(&whole, &parts));
}

/* Four at a time, and the rest. */
static void test_many__of_any_number__is_one_by_one(void **state)
{
    (void)state;
    enum { MANY = 11 };
    struct count_record count[MANY];
    struct list_record entry[MANY];
    for (size_t i = 0; i < MANY; i++) {
        count[i] = (struct count_record){i * UINT64_C(0x9e3779b97f4a7c15) + 1, i + 1};
        entry[i] = (struct list_record){.before = (uint8_t)(i % 3),
                                        .after = (uint8_t)((i % 3 + 1 + i % 2) % 3),
                                        .type = (uint16_t)i,
                                        .expiry_h = (uint32_t)(7 * i),
                                        .text = {"texts", i % 5 + 1}};
        entry[i].digest.b[i] = 1;
    }
    for (size_t n = 0; n <= MANY; n++) {
        struct root one[3] = {{{1}}};
        struct root many[3] = {{{1}}};
        root_add_counts(&many[0], &ring, count, n);
        root_steps(&many[1], &ring, OBJECT_LIST, entry, n);
        root_steps(&many[2], &ring, OBJECT_TEXT, entry, n);
        for (size_t i = 0; i < n; i++) {
            root_add_counts(&one[0], &ring, &count[i], 1);
            root_steps(&one[1], &ring, OBJECT_LIST, &entry[i], 1);
            root_steps(&one[2], &ring, OBJECT_TEXT, &entry[i], 1);
        }
        for (size_t i = 0; i < 3; i++) {
            assert_true(roots_equal(&one[i], &many[i]));
        }
    }
}

static void test_step__there_and_back__is_empty(void **state)
{
    (void)state;
    static const uint8_t way[] = {ENTRY_ABSENT, ENTRY_STANDS, ENTRY_TAKEN_BACK,
                                  ENTRY_STANDS, ENTRY_ABSENT, ENTRY_TAKEN_BACK,
                                  ENTRY_ABSENT};
    static const struct root empty;
    struct list_record record = {.digest = {{1}}, .type = 8, .text = {"x", 1}};
    for (unsigned kind = OBJECT_LIST; kind <= OBJECT_TEXT; kind += 2) {
        struct root r = {{0}};
        for (size_t i = 1; i < sizeof(way); i++) {
            record.before = way[i - 1];
            record.after = way[i];
            root_steps(&r, &ring, (uint16_t)kind, &record, 1);
            assert_int_equal(roots_equal(&r, &empty), way[i] == ENTRY_ABSENT);
        }
    }
}

static void test_step__anything_else__is_another_root(void **state)
{
    (void)state;
    enum { WAYS = 9 };
    struct object_id other = ring;
    other.b[15] ^= 1;
    const struct list_record plain = {
        .digest = {{1}}, .after = ENTRY_STANDS, .type = 8, .text = {"x", 1}};
    struct list_record v[WAYS] = {plain, plain, plain, plain, plain,
                                  plain, plain, plain, plain};
    struct root r[WAYS] = {{{0}}};
    v[1].digest.b[15] = 1;
    v[2].after = ENTRY_TAKEN_BACK;
    v[3].type = 264; /* 8 + 256 */
    v[4].expiry_h = 1;
    v[7].text = slice_of("xy", 2);
    for (size_t i = 0; i < WAYS; i++) {
        root_steps(&r[i], i == 5 ? &other : &ring, i >= 6 ? OBJECT_TEXT : OBJECT_LIST,
                   &v[i], 1);
    }
    v[8].text = SLICE_NONE;
    r[8] = (struct root){{0}};
    root_steps(&r[8], &ring, OBJECT_TEXT, &v[8], 1);
    for (size_t i = 0; i < WAYS; i++) {
        for (size_t k = i + 1; k < WAYS; k++) {
            assert_false(roots_equal(&r[i], &r[k]));
        }
    }
}

static void test_parse__what_was_printed__is_the_same(void **state)
{
    (void)state;
    struct hash256 bytes;
    struct root back;
    const struct root r = {{1, UINT64_MAX, 0, UINT64_C(0x0102030405060708)}};
    root_print(&r, &bytes);
    assert_int_equal(bytes.b[0], 1);
    assert_int_equal(bytes.b[31], 1);
    assert_int_equal(bytes.b[24], 8);
    root_parse(&bytes, &back);
    assert_true(roots_equal(&r, &back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_root__known_records__have_known_roots),
        cmocka_unit_test(test_add_count__in_parts_and_any_order__is_the_sum),
        cmocka_unit_test(test_many__of_any_number__is_one_by_one),
        cmocka_unit_test(test_step__there_and_back__is_empty),
        cmocka_unit_test(test_step__anything_else__is_another_root),
        cmocka_unit_test(test_parse__what_was_printed__is_the_same),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
