/* textkey - both examples of the requirement, every refusal, and texts that come back the same. */

#include "core/count/textkey.h"

#include "tests/unit/unit.h"

#define HALF "5791f8cac2b7d8dd"
#define FULL "5791f8cac2b7d8dd00112233aabbccff"
#define L16  "aaaaaaaaaaaaaaaa"

static struct slice text_of(const char *s)
{
    return (struct slice){s, strlen(s)};
}

static void test_parse__of_what_is_right__says_its_parts(void **state)
{
    static const struct {
        const char *text;
        const char *prefix;
        unsigned digest_bytes;
        uint16_t type;
        enum textkey_period period;
        uint64_t number;
        uint64_t begin_s;
    } rows[] = {
        /* 2023-11-02 07:50:00 UTC and 2023-11-02 */
        {"mass_in_" HALF "_14_10m_2831519", "mass_in", 8, 14, TEXTKEY_10M, 2831519,
         1698911400},
        {"mass_in_" HALF "_14_1d_19663", "mass_in", 8, 14, TEXTKEY_1D, 19663,
         1698883200},
        {"in_" FULL "_65535_1d_0", "in", 16, 65535, TEXTKEY_1D, 0, 0},
        {FULL "_0_10m_1", "", 16, 0, TEXTKEY_10M, 1, 600},
        {"__" HALF "_1_10m_1", "_", 8, 1, TEXTKEY_10M, 1, 600},
        {HALF "_" HALF "_1_10m_1", HALF, 8, 1, TEXTKEY_10M, 1, 600},
        {"a.b-C_" HALF "_1_1d_2932895", "a.b-C", 8, 1, TEXTKEY_1D, 2932895,
         UINT64_C(253402128000)},
        {L16 L16 L16 L16 "_" FULL "_1_10m_422337167", L16 L16 L16 L16, 16, 1,
         TEXTKEY_10M, 422337167, UINT64_C(253402300200)},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct textkey k;
        char again[TEXTKEY_MAX];
        assert_int_equal(textkey_parse(text_of(rows[i].text), &k, NULL), ERR_OK);
        assert_int_equal(k.prefix.n, strlen(rows[i].prefix));
        assert_true(k.prefix.n == 0 ||
                    memcmp(k.prefix.p, rows[i].prefix, k.prefix.n) == 0);
        assert_int_equal(k.digest_bytes, rows[i].digest_bytes);
        assert_int_equal(k.digest.b[0], 0x57);
        assert_int_equal(k.digest.b[7], 0xdd);
        assert_int_equal(k.digest.b[15], rows[i].digest_bytes == 16 ? 0xff : 0);
        assert_true(textkey_key64(&k) == UINT64_C(0x5791f8cac2b7d8dd));
        assert_int_equal(k.type, rows[i].type);
        assert_int_equal(k.period, rows[i].period);
        assert_true(k.number == rows[i].number);
        assert_true(textkey_begin_s(&k) == rows[i].begin_s);
        assert_int_equal(textkey_print(&k, again), ERR_OK);
        assert_string_equal(again, rows[i].text);
    }
}

static void test_parse__of_what_is_wrong__is_refused(void **state)
{
    static const struct {
        const char *text;
        enum err expected;
    } rows[] = {
        {"", ERR_SYNTAX},
        {"_", ERR_SYNTAX},
        {"____", ERR_SYNTAX},
        {HALF, ERR_SYNTAX},
        {HALF "_14_10m", ERR_SYNTAX},
        {HALF "_14_10m_", ERR_SYNTAX},
        {HALF "_14_10m_01", ERR_SYNTAX},
        {HALF "_14_10m_+1", ERR_SYNTAX},
        {HALF "_14_10m_1 ", ERR_SYNTAX},
        {HALF "_14_10m_0x1", ERR_SYNTAX},
        {HALF "_14_1h_1", ERR_SYNTAX},
        {HALF "_14_10M_1", ERR_SYNTAX},
        {HALF "_14__1", ERR_SYNTAX},
        {HALF "__10m_1", ERR_SYNTAX},
        {HALF "_-1_10m_1", ERR_SYNTAX},
        {HALF "_014_10m_1", ERR_SYNTAX},
        {HALF "_65536_10m_1", ERR_RANGE},
        {HALF "_123456_10m_1", ERR_SYNTAX},
        {"_" HALF "_14_10m_1", ERR_SYNTAX},
        {"5791F8CAC2B7D8DD_14_10m_1", ERR_SYNTAX},
        {"5791f8cac2b7d8d_14_10m_1", ERR_SYNTAX},
        {HALF "0_14_10m_1", ERR_SYNTAX},
        {FULL "0_14_10m_1", ERR_SYNTAX},
        {"579_" HALF "g_14_10m_1", ERR_SYNTAX},
        {"a b_" HALF "_14_10m_1", ERR_SYNTAX},
        {"\xc3\xa4_" HALF "_14_10m_1", ERR_SYNTAX},
        {L16 L16 L16 L16 "a_" HALF "_14_10m_1", ERR_SYNTAX},
        {HALF "_14_10m_422337168", ERR_RANGE},
        {HALF "_14_1d_2932897", ERR_RANGE},
        {HALF "_14_1d_1000000000000", ERR_SYNTAX},
        {HALF "_14_1d_18446744073709551617", ERR_SYNTAX},
    };
    (void)state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct textkey k = {.type = 7};
        struct errinfo why;
        assert_int_equal(textkey_parse(text_of(rows[i].text), &k, &why),
                         rows[i].expected);
        assert_int_equal(why.code, rows[i].expected);
        assert_int_equal(k.type, 7);
    }
}

static void test_parse__of_bytes_with_nul_or_endless__is_refused(void **state)
{
    static char endless[100000];
    static const char nul[] = "in\0_" HALF "_14_10m_1";
    struct textkey k;
    (void)state;

    memset(endless, '_', sizeof(endless));
    assert_int_equal(textkey_parse((struct slice){endless, sizeof(endless)}, &k, NULL),
                     ERR_SYNTAX);
    assert_int_equal(textkey_parse((struct slice){nul, sizeof(nul) - 1}, &k, NULL),
                     ERR_SYNTAX);
    assert_int_equal(textkey_parse((struct slice){NULL, 0}, &k, NULL), ERR_SYNTAX);
}

static void test_print__of_what_no_text_has__is_refused(void **state)
{
    char text[TEXTKEY_MAX];
    struct textkey k = {.digest_bytes = 8, .period = TEXTKEY_10M};
    (void)state;

    assert_int_equal(textkey_print(&k, text), ERR_OK);
    assert_string_equal(text, "0000000000000000_0_10m_0");
    assert_true(textkey_key64(&k) == 1);
    k.digest_bytes = 9;
    assert_int_equal(textkey_print(&k, text), ERR_SYNTAX);
    k.digest_bytes = 16;
    k.prefix = text_of("a b");
    assert_int_equal(textkey_print(&k, text), ERR_SYNTAX);
    k.prefix = text_of("a");
    k.number = UINT64_MAX;
    assert_int_equal(textkey_print(&k, text), ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse__of_what_is_right__says_its_parts),
        cmocka_unit_test(test_parse__of_what_is_wrong__is_refused),
        cmocka_unit_test(test_parse__of_bytes_with_nul_or_endless__is_refused),
        cmocka_unit_test(test_print__of_what_no_text_has__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
