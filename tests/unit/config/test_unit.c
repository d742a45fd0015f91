/* test_unit - sizes, times, rights and networks as texts. */
#include "core/config/unit.h"

#include "tests/unit/unit.h"

static void test_size__when_written_well__then_bytes(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
        const char *again;
    } rows[] = {
        {"0B", 0, "0B"},
        {"1B", 1, "1B"},
        {"16M", 16777216, "16M"},
        {"1024B", 1024, "1K"},
        {"3K", 3072, "3K"},
        {"17179869183G", UINT64_C(17179869183) << 30, "17179869183G"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t v = 7;
        char text[UNIT_TEXT_MAX];

        assert_true(unit_size(rows[i].text, &v));
        assert_int_equal(v, rows[i].bytes);
        unit_size_text(v, text);
        assert_string_equal(text, rows[i].again);
    }
}

static void test_size__when_not_exactly_a_size__then_refused(void **state)
{
    static const char *const rows[] = {"",
                                       "16",
                                       "M",
                                       "16m",
                                       "16MB",
                                       "16 M",
                                       " 16M",
                                       "16M ",
                                       "-1M",
                                       "+1M",
                                       "1.5M",
                                       "0x10K",
                                       "17179869184G",
                                       "18446744073709551616B",
                                       "18446744073709551626B",
                                       "99999999999999999999999K",
                                       "16M;"};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t v = 7;

        assert_false(unit_size(rows[i], &v));
    }
}

static void test_time__when_written_well__then_microseconds(void **state)
{
    static const struct {
        const char *text;
        uint64_t us;
        const char *again;
    } rows[] = {
        {"0s", 0, "0s"},
        {"250ms", 250000, "250ms"},
        {"2s", 2000000, "2s"},
        {"600s", 600000000, "10m"},
        {"36h", UINT64_C(129600000000), "36h"},
        {"7d", UINT64_C(604800000000), "1w"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t v = 7;
        char text[UNIT_TEXT_MAX];

        assert_true(unit_time_us(rows[i].text, &v));
        assert_int_equal(v, rows[i].us);
        unit_time_us_text(v, text);
        assert_string_equal(text, rows[i].again);
    }
}

static void test_time__when_not_exactly_a_time__then_refused(void **state)
{
    static const char *const rows[] = {"",
                                       "2",
                                       "s",
                                       "2S",
                                       "2 s",
                                       "2sec",
                                       "2us",
                                       "-2s",
                                       "1.5s",
                                       "2s2s",
                                       "1y",
                                       "30500569w",
                                       "18446744073709551616ms"};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t v = 7;

        assert_false(unit_time_us(rows[i], &v));
    }
}

static void test_mode__when_octal__then_read(void **state)
{
    static const char *const bad[] = {"", "66", "0888", "01777", "00660", "0x1", "rw"};
    unsigned v = 0;

    (void)state;
    assert_true(unit_mode("0660", &v));
    assert_int_equal(v, 0660);
    assert_true(unit_mode("777", &v));
    assert_int_equal(v, 0777);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(unit_mode(bad[i], &v));
    }
}

static void test_network__when_written_well__then_same_text_again(void **state)
{
    static const struct {
        const char *text;
        unsigned prefix;
        const char *again;
    } rows[] = {
        {"127.0.0.0/8", 104, "127.0.0.0/8"},
        {"192.0.2.7", 128, "192.0.2.7/32"},
        {"0.0.0.0/0", 96, "0.0.0.0/0"},
        {"::1", 128, "::1/128"},
        {"2001:DB8::/32", 32, "2001:db8::/32"},
        {"::/0", 0, "::/0"},
        {"::ffff:10.0.0.0/104", 104, "10.0.0.0/8"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ipnet net;
        const char *why = NULL;
        char text[UNIT_TEXT_MAX];

        assert_true(unit_network(rows[i].text, &net, &why));
        assert_int_equal(net.prefix, rows[i].prefix);
        unit_network_text(&net, text);
        assert_string_equal(text, rows[i].again);
    }
}

static void test_network__when_not_one__then_refused_with_a_reason(void **state)
{
    static const char *const rows[] = {
        "",
        "/8",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/08x",
        "10.0.0.1/8",
        "10.0.0/8",
        "300.0.0.0/8",
        "::/129",
        "::1/64",
        "example.org",
        "10.0.0.0/8 ",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:0000:1111:2222/3",
        "10.0.0.0/-1"};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ipnet net;
        const char *why = NULL;

        assert_false(unit_network(rows[i], &net, &why));
        assert_non_null(why);
    }
}

static void test_contains__when_asked__then_prefix_bits_decide(void **state)
{
    static const struct {
        const char *net;
        const char *addr;
        bool is_in;
    } rows[] = {
        {"127.0.0.0/8", "127.255.255.255", true},
        {"127.0.0.0/8", "128.0.0.0", false},
        {"10.0.0.0/9", "10.127.255.255", true},
        {"10.0.0.0/9", "10.128.0.0", false},
        {"0.0.0.0/0", "203.0.113.9", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"::/0", "2001:db8::1", true},
        {"::/0", "203.0.113.9", false},
        {"::1", "::1", true},
        {"::1", "::2", false},
        {"2001:db8::/33", "2001:db8:7fff::", true},
        {"2001:db8::/33", "2001:db8:8000::", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ipnet net;
        struct ipnet addr;
        const char *why = NULL;

        assert_true(unit_network(rows[i].net, &net, &why));
        assert_true(unit_network(rows[i].addr, &addr, &why));
        assert_int_equal(ipnet_contains(&net, addr.addr), rows[i].is_in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size__when_written_well__then_bytes),
        cmocka_unit_test(test_size__when_not_exactly_a_size__then_refused),
        cmocka_unit_test(test_time__when_written_well__then_microseconds),
        cmocka_unit_test(test_time__when_not_exactly_a_time__then_refused),
        cmocka_unit_test(test_mode__when_octal__then_read),
        cmocka_unit_test(test_network__when_written_well__then_same_text_again),
        cmocka_unit_test(test_network__when_not_one__then_refused_with_a_reason),
        cmocka_unit_test(test_contains__when_asked__then_prefix_bits_decide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
