/*
 * test_enriched - text/enriched as its reader has it, however it was cut.
 */
#include "core/base/base.h"
#include "core/message/text/enriched.h"

#include "tests/unit/unit.h"

struct row {
    const char *text;
    const char *shown;
};

static const struct row rows[] = {
    {"", ""},
    {"plain\ntext", "plain\ntext"},
    {"http://a<bold></bold>.b/<x-c>d</x-c> e", "http://a.b/d e"},
    {"1 << 2 <lt>3<nl>4", "1 < 2 <3\n4"},
    {"a<color><param>red</param>b c</color> d", "ab red c d"},
    {"a<param>b</param><PARAM>c</PARAM>", "a b c "},
    {"1 < 2 and <a b>", "1 < 2 and <a b>"},
    {"<half", "<half"},
    {"<half<bold>b", "<halfb"},
    {"<1234567890123456789012345678901234567890123456789012345678901234567890>",
     "<1234567890123456789012345678901234567890123456789012345678901234567890>"},
};

static void test_enriched__commands__leave_the_text_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t step = 1; step < 200; step += 66) {
            char dst[4096];
            struct enriched e;
            struct slice rest = slice_str(rows[i].text);
            size_t n = 0;
            enriched_init(&e);
            while (rest.n > 0) {
                struct slice piece = slice_head(rest, step);
                n += enriched_feed(&e, piece, dst + n);
                rest = slice_from(rest, piece.n);
            }
            n += enriched_end(&e, dst + n);
            if (!slice_eq(slice_of(dst, n), slice_str(rows[i].shown))) {
                fail_msg("%s: %.*s", rows[i].text, (int)n, dst);
            }
        }
    }
}

static void test_enriched__long_param__is_kept_up_to_its_bound(void **state)
{
    (void)state;
    static char in[3 * ENRICHED_PARAM_MAX];
    static char dst[sizeof(in) + ENRICHED_HELD_MAX];
    struct enriched e;
    memset(in, 'x', sizeof(in));
    memcpy(in, "<param>", 7);
    enriched_init(&e);
    assert_int_equal(enriched_feed(&e, slice_of(in, sizeof(in)), dst), 0);
    assert_int_equal(enriched_end(&e, dst), ENRICHED_PARAM_MAX + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enriched__commands__leave_the_text_shown),
        cmocka_unit_test(test_enriched__long_param__is_kept_up_to_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
