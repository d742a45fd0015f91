/*
 * test_rpz - names below the zone, and records in parentheses.
 */
#include "core/base/base.h"

#include "tests/unit/feed/seen.h"
#include "tests/unit/unit.h"

static void test_rpz__origin__then_stripped(void **state)
{
    static const struct {
        const char *text;
        const char *entries;
        uint64_t bad;
    } cases[] = {
        {"@ SOA a b 1 2 3 4 5\nevil.test CNAME .\n", "host:evil.test\n", 0},
        {"@ SOA a b 1 2 3 4 5\nevil.test.rpz.example. CNAME .\n", NULL, 1},
        {"rpz.example. IN SOA a b 1 2 3 4 5\nevil.test.rpz.example. CNAME .\n",
         "host:evil.test\n", 0},
        {"$ORIGIN .\nrpz.example IN SOA a b 1 2 3 4 5\n$ORIGIN test.rpz.example.\n"
         "*.evil CNAME .\n",
         "domain:evil.test\n", 0},
        {"$ORIGIN rpz.example.\n$ORIGIN test\nevil CNAME .\n", "host:evil.test\n", 0},
        {"@ SOA a b 1 2 3 4 5\n$ORIGIN rpz.example.\nevil.test CNAME .\n", NULL, 1},
        {"evil.test.RPZ.example. CNAME .\n", NULL, 1},
        {"$ORIGIN rpz.example.\nevil.test.RPZ.Example. CNAME .\n", "host:evil.test\n",
         0},
        {"evil.test CNAME . ) \n(ok.test CNAME .)\nb.test CNAME .\n", "host:b.test\n",
         1},
        {"a.test 1h IN CNAME .\n IN 60 A 192.0.2.1\n", "host:a.test\nhost:a.test\n", 0},
        {"a.test TXT \"( ; \\\" (\"\nb.test CNAME .\n", "host:b.test\n", 0},
        {"99.1.2.0.192.rpz-ip CNAME .\n1.2.3.rpz-ip CNAME .\n", NULL, 2},
        {"$GENERATE 1-9 a$.test CNAME .\n", NULL, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen s = {.n = 0};
        struct feed_options o = {.format = FEED_RPZ};
        assert_int_equal(read_text(slice_str(cases[i].text), &o, &s), ERR_OK);
        if (s.counts.bad != cases[i].bad || (cases[i].entries != NULL) != (s.n > 0) ||
            (s.n > 0 && strcmp(s.entries.p, cases[i].entries) != 0)) {
            fail_msg("case %zu: %s, bad %s", i, s.n > 0 ? s.entries.p : "nothing",
                     s.bad.n > 0 ? s.bad.p : "none");
        }
        seen_fini(&s);
    }
}

static void test_rpz__parentheses_never_closed__then_linear_and_counted(void **state)
{
    struct buf b;
    struct seen s = {.n = 0};
    (void)state;
    buf_init(&b, 8 << 20);
    buf_add_str(&b, "a.test (\n");
    while (b.n < 4 << 20) { /* quadratic reading would take minutes */
        buf_add_str(&b, " ;)\n");
    }
    assert_int_equal(
        read_text(buf_slice(&b), &(struct feed_options){.format = FEED_RPZ}, &s),
        ERR_OK);
    assert_int_equal(s.counts.entries, 0);
    assert_int_equal(s.counts.bad + s.counts.ignored, s.counts.lines);
    seen_fini(&s);
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rpz__origin__then_stripped),
        cmocka_unit_test(test_rpz__parentheses_never_closed__then_linear_and_counted),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
