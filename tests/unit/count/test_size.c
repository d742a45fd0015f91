/* size - presets: within the budgets, growing with the mail, refused where impossible. */
#include "core/count/size.h"

#include "tests/unit/unit.h"

static const uint64_t mega = 1000000;

static void test_size_for__each_preset__is_within_its_budget(void **state)
{
    static const struct {
        uint64_t messages;
        uint64_t memory; /* of all of gillnetd; the program itself takes some */
        uint64_t disk;
    } presets[] = {
        {10000, UINT64_C(64000000), UINT64_C(100000000)},
        {100000, UINT64_C(192000000), UINT64_C(1000000000)},
        {1000000, UINT64_C(1500000000), UINT64_C(8000000000)},
        {10000000, UINT64_C(15000000000), UINT64_C(80000000000)},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
        struct count_size s;
        assert_int_equal(count_size_for(presets[i].messages, &s), ERR_OK);
        assert_true(s.memory_bytes + 30 * mega < presets[i].memory);
        assert_true(s.disk_bytes < presets[i].disk);
        assert_int_equal(s.messages_per_day, presets[i].messages);
        /* 99.9 % of canaries must read 0. */
        for (unsigned w = 0; w < COUNT_SIZE_WINDOWS; w++) {
            assert_true(s.noise_floor[w] < 0.001);
            assert_true(s.error[w] < 0.1);
        }
        assert_true(s.noise_floor[0] == 0);
        assert_true(s.noise_floor[1] < s.noise_floor[2]);
        assert_true(s.error[1] < s.error[2] && s.error[2] < s.error[3]);
    }
}

static void test_size_for__any_number__is_divisible_into_shards(void **state)
{
    uint64_t last = 0;
    (void)state;

    for (uint64_t n = 1; n <= COUNT_SIZE_MESSAGES_MOST; n = n * 3 + 1) {
        struct count_size s;
        assert_int_equal(count_size_for(n, &s), ERR_OK);
        assert_in_range(s.nshards, COUNT_SIZE_SHARDS_LEAST, COUNT_SIZE_SHARDS_MOST);
        assert_int_equal(s.nshards & (s.nshards - 1), 0);
        assert_int_equal(s.doorkeeper_lines % s.nshards, 0);
        assert_int_equal(s.cell_lines % s.nshards, 0);
        assert_int_equal(s.live_slots % s.nshards, 0);
        uint64_t one = s.live_slots / s.nshards;
        assert_int_equal(one & (one - 1), 0);
        assert_true(s.live_slots >= 2 * s.bucket_keys);
        assert_true(s.live_slots >= 4096);
        assert_true(s.memory_bytes >= last);
        last = s.memory_bytes;
    }
}

static void test_size_for__impossible_numbers__are_refused(void **state)
{
    struct count_size s = {.nshards = 1};
    (void)state;

    assert_int_equal(count_size_for(0, &s), ERR_RANGE);
    assert_int_equal(count_size_for(COUNT_SIZE_MESSAGES_MOST + 1, &s), ERR_RANGE);
    assert_int_equal(count_size_for(UINT64_MAX, &s), ERR_RANGE);
    assert_int_equal(s.nshards, 1);
    assert_int_equal(count_size_for(COUNT_SIZE_MESSAGES_MOST, &s), ERR_OK);
    assert_int_equal(count_size_for(1, &s), ERR_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size_for__each_preset__is_within_its_budget),
        cmocka_unit_test(test_size_for__any_number__is_divisible_into_shards),
        cmocka_unit_test(test_size_for__impossible_numbers__are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
