/* test_redis_slot - keys to slots, as the cluster specification and CLUSTER KEYSLOT of Redis 7 have
 * them. */
#include "core/hub/redis/redis.h"

#include "tests/unit/unit.h"

static void test_slot__keys_of_the_specification__same(void **state)
{
    static const struct {
        const char *key;
        unsigned want;
    } rows[] = {
        {"", 0},
        {"123456789", 12739},
        {"foo", 12182},
        {"{foo}bar", 12182},
        {"x{foo}{bar}", 12182},
        {"foo{}{bar}", 8363},
        {"foo{{bar}}zap", 4015},
        {"{bar", 4015},
        {"{}", 15257},
        {"a{", 14311},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        assert_int_equal(redis_slot(slice_str(rows[i].key)), rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slot__keys_of_the_specification__same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
