/* test_host - hosts as browsers read them, addresses, registrable domains. */
#include "core/message/url/host.h"

#include "tests/unit/text/text_test.h"

static const struct {
    const char *in;
    const char *want; /* NULL: no host */
    enum host_kind kind;
} hosts[] = {
    {"example.com", "example.com", HOST_NAME},
    {"EXAMPLE.Com", "example.com", HOST_NAME},
    {"example.com.", "example.com", HOST_NAME},
    {".example..com..", "example.com", HOST_NAME},
    {"a_b-c.example", "a_b-c.example", HOST_NAME},
    {"-a-.example", "-a-.example", HOST_NAME},
    {"localhost", "localhost", HOST_NAME},
    {"b\xc3\xbc"
     "cher.example",
     "xn--bcher-kva.example", HOST_NAME},
    {"B\xc3\x9c"
     "CHER.example",
     "xn--bcher-kva.example", HOST_NAME},
    {"fa\xc3\x9f.de", "xn--fa-hia.de", HOST_NAME},
    {"XN--BCHER-KVA.example", "xn--bcher-kva.example", HOST_NAME},
    {"a\xe3\x80\x82"
     "b.example",
     "a.b.example", HOST_NAME},
    {"\xef\xbd\x85xample.com", "example.com", HOST_NAME},
    {"ex\xc2\xad"
     "ample.com",
     "example.com", HOST_NAME},
    /* the odd IPv4 forms */
    {"1.2.3.4", "1.2.3.4", HOST_IPV4},
    {"1.2.3.4.", "1.2.3.4", HOST_IPV4},
    {"0x7f.1", "127.0.0.1", HOST_IPV4},
    {"2130706433", "127.0.0.1", HOST_IPV4},
    {"017700000001", "127.0.0.1", HOST_IPV4},
    {"0x7F000001", "127.0.0.1", HOST_IPV4},
    {"0", "0.0.0.0", HOST_IPV4},
    {"0x", "0.0.0.0", HOST_IPV4},
    {"255.255.65535", "255.255.255.255", HOST_IPV4},
    {"4294967295", "255.255.255.255", HOST_IPV4},
    {"\xef\xbc\x91.2.3.4", "1.2.3.4", HOST_IPV4},
    {"4294967296", NULL, HOST_NAME},
    {"18446744073709551617", NULL, HOST_NAME},
    {"255.255.65536", NULL, HOST_NAME},
    {"256.1.1.1", NULL, HOST_NAME},
    {"1.2.3.4.5", NULL, HOST_NAME},
    {"09.1.1.1", NULL, HOST_NAME},
    {"a.1", NULL, HOST_NAME},
    {"a.0x1", NULL, HOST_NAME},
    {"1.2.3.example", "1.2.3.example", HOST_NAME},
    {"0xg", "0xg", HOST_NAME},
    /* IPv6 */
    {"[::1]", "::1", HOST_IPV6},
    {"[2001:DB8:0:0:1:0:0:1]", "2001:db8::1:0:0:1", HOST_IPV6},
    {"[::ffff:1.2.3.4]", "1.2.3.4", HOST_IPV4},
    {"[::1", NULL, HOST_NAME},
    {"[]", NULL, HOST_NAME},
    {"[", NULL, HOST_NAME},
    {"[1.2.3.4]", NULL, HOST_NAME},
    {"[fe80::1%25eth0]", NULL, HOST_NAME},
    {"::1", NULL, HOST_NAME},
    /* none */
    {"", NULL, HOST_NAME},
    {".", NULL, HOST_NAME},
    {"a b", NULL, HOST_NAME},
    {"a/b", NULL, HOST_NAME},
    {"a@b", NULL, HOST_NAME},
    {"a%b", NULL, HOST_NAME},
    {"a\x7f"
     "b",
     NULL, HOST_NAME},
    {"a<b", NULL, HOST_NAME},
    {"\xff.example", NULL, HOST_NAME},
    {"xn--zzzz-.example", "xn--zzzz-.example", HOST_NAME},
    {"xn--zzzz-.b\xc3\xbc"
     "cher.example",
     NULL, HOST_NAME},
    {"a\xe2\x84\x80", NULL, HOST_NAME}, /* U+2100 maps to a/c */
};

static void check_host(struct arena *arena, size_t row)
{
    struct host host = {0};
    enum err err = host_parse(arena, slice_str(hosts[row].in), &host);
    enum err want = hosts[row].want == NULL ? ERR_SYNTAX : ERR_OK;

    if (err != want || (err == ERR_OK && host.kind != hosts[row].kind)) {
        fail_msg("%s: error %d, kind %d", hosts[row].in, err, (int)host.kind);
    }
    if (err == ERR_OK) {
        check_text(hosts[row].in, host.text, slice_str(hosts[row].want));
    }
}

static void test_parse__table__normal_form(void **state)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(hosts); i++) {
        check_host(*state, i);
    }
}

static void test_parse__nul_byte__refused(void **state)
{
    struct host host = {0};

    assert_int_equal(host_parse(*state, SLICE_LIT("a\0b.example"), &host), ERR_SYNTAX);
    assert_int_equal(host_parse(*state, SLICE_LIT("[::1\0]"), &host), ERR_SYNTAX);
}

static void test_parse__name_round_253_bytes__limit_held(void **state)
{
    size_t n = 0;

    for (n = HOST_NAME_MAX_BYTES - 1; n <= HOST_NAME_MAX_BYTES + 1; n++) {
        char name[HOST_NAME_MAX_BYTES + 2];
        struct host host = {0};
        size_t i = 0;
        enum err want = n <= HOST_NAME_MAX_BYTES ? ERR_OK : ERR_SYNTAX;

        for (i = 0; i < n; i++) {
            name[i] = i % 50 == 49 ? '.' : 'a';
        }
        assert_int_equal(host_parse(*state, slice_of(name, n), &host), want);
        name[n] = '.';
        assert_int_equal(host_parse(*state, slice_of(name, n + 1), &host), want);
    }
}

static void test_parse__label_round_63_bytes__limit_held(void **state)
{
    size_t n = 0;

    for (n = HOST_LABEL_MAX - 1; n <= HOST_LABEL_MAX + 1; n++) {
        char name[HOST_LABEL_MAX + 1];
        struct host host = {0};

        memset(name, 'a', sizeof(name));
        assert_int_equal(host_parse(*state, slice_of(name, n), &host),
                         n <= HOST_LABEL_MAX ? ERR_OK : ERR_SYNTAX);
    }
}

static void test_parse__megabytes__refused(void **state)
{
    static const char *const units[] = {"a", ".", "1.", "xn--", "\xc3\xbc", "\xc2\xad"};
    size_t i = 0;

    for (i = 0; i < COUNT_OF(units); i++) {
        struct slice in = repeat(units[i], 1 << 19);
        struct host host = {0};

        assert_int_equal(host_parse(*state, in, &host), ERR_SYNTAX);
        repeat_free(in);
    }
}

static void test_parse__arena_full__no_memory(void **state)
{
    struct arena *small = arena_new(4);
    struct host host = {0};

    (void)state;
    assert_int_equal(host_parse(small, SLICE_LIT("example.com"), &host), ERR_NOMEM);
    assert_int_equal(host_parse(small, SLICE_LIT("1.2.3.4"), &host), ERR_NOMEM);
    arena_free(&small);
}

static void test_ip_text__table__rfc5952(void **state)
{
    static const struct {
        const char *in;
        const char *want; /* NULL: refused */
    } rows[] = {
        {"1.2.3.4", "1.2.3.4"},
        {"::ffff:1.2.3.4", "1.2.3.4"},
        {"::", "::"},
        {"::1", "::1"},
        {"1::", "1::"},
        {"2001:0DB8:0000:0000:0000:ff00:0042:8329", "2001:db8::ff00:42:8329"},
        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
        {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        {"::1.2.3.4", "::102:304"},
        {"fe80:1:2:3:4:5:6:7", "fe80:1:2:3:4:5:6:7"},
        {"1.2.3", NULL},
        {"01.2.3.4", NULL},
        {"0x1.2.3.4", NULL},
        {"1.2.3.4 ", NULL},
        {"[::1]", NULL},
        {"1.2.3.256", NULL},
        {":::", NULL},
        {"", NULL},
        {"example.com", NULL},
        {"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb", NULL},
    };
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(rows); i++) {
        uint8_t addr[16];
        char text[HOST_IP_TEXT];
        bool parsed = host_ip_parse(slice_str(rows[i].in), addr);

        if (parsed != (rows[i].want != NULL)) {
            fail_msg("%s: %d", rows[i].in, parsed);
        }
        if (parsed) {
            check_text(rows[i].in, host_ip_text(addr, text), slice_str(rows[i].want));
            assert_int_equal(host_ip_is_v4(addr), strchr(rows[i].want, ':') == NULL);
        }
    }
}

static void test_registrable__table__expected_domain(void **state)
{
    static const struct {
        const char *in;
        const char *want;
        bool suffix;
    } rows[] = {
        {"a.b.co.uk", "b.co.uk", false},
        {"b.co.uk", "b.co.uk", false},
        {"co.uk", "", true},
        {"com", "", true},
        {"localhost", "", true},
        {"www.example.com", "example.com", false},
        {"a.b.unknown-tld", "b.unknown-tld", false},
        {"x.github.io", "x.github.io", false},
        {"github.io", "", true},
        {"a.x.github.io", "x.github.io", false},
        {"www.ck", "www.ck", false},
        {"a.b.ck", "a.b.ck", false},
        {"b.ck", "", true},
        {"xn--bcher-kva.example.com", "example.com", false},
        {"x.xn--55qx5d.cn", "x.xn--55qx5d.cn", false},
        {"1.2.3.4", "", false},
        {"2001:db8::1", "", false},
        {"", "", false},
        {"a.0x1", "", false},
        {".com", "", false},
        {"a.com.", "", false},
    };
    size_t i = 0;

    (void)state;
    for (i = 0; i < COUNT_OF(rows); i++) {
        struct slice name = slice_str(rows[i].in);
        struct slice got = host_registrable(name);

        check_text(rows[i].in, got, slice_str(rows[i].want));
        if (got.n > 0) {
            assert_ptr_equal(got.p + got.n, name.p + name.n);
        }
        if (host_is_public_suffix(name) != rows[i].suffix) {
            fail_msg("%s: public suffix is %d", rows[i].in, !rows[i].suffix);
        }
    }
}

static void test_parse_web__table__as_browsers(void **state)
{
    static const struct {
        const char *in;
        const char *want;
    } rows[] = {
        {"EVIL.example", "evil.example"},
        {"evil.example.", "evil.example."},
        {"a..b", "a..b"},
        {"xn--a", "xn--a"},
        {"fa\xc3\x9f.de", "xn--fa-hia.de"},
        {"FA\xe1\xba\x9e.de", "xn--fa-hia.de"},
        {"look\xe1\xa0\x8eout.net", "lookout.net"},
        {"\xe1\x82\xba.\xcf\x82", "xn--ilj.xn--3xa"},
        {"\xe2\x84\xb2.example", "xn--73g.example"},
        {"\xf0\xaf\xa1\xa8.com", "xn--snl.com"},
        {"\xef\xbc\x90x7f.1", "127.0.0.1"},
        {"1.2.3.", "1.2.0.3"},
        {"[::FFFF:1.2.3.4]", "[::ffff:102:304]"},
        {"[::1", NULL},
        {"a b", NULL},
        {"a%41", NULL},
        {"\xc2\xad", NULL},
        {"a\xff", NULL},
        {"0..0x300.", NULL},
        {"09.1.1.1", NULL},
        {"", NULL},
    };
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        struct host host = {.text = SLICE_NONE};
        enum err err = host_parse_web(*state, slice_str(rows[i].in), &host);

        assert_int_equal(err, rows[i].want != NULL ? ERR_OK : ERR_SYNTAX);
        check_text(rows[i].in, host.text, slice_str(rows[i].want));
    }
}

static void test_parse_odd__table__what_browsers_refuse(void **state)
{
    static const struct {
        const char *in;
        const char *want;
    } rows[] = {
        {"[www.Evil.example]", "www.evil.example"},
        {"[1.2.3.4]", "1.2.3.4"},
        {"089.104.0160.0x11", "89.104.112.17"},
        {"1.2.3.08", "1.2.3.8"},
        {"0256.1", "174.0.0.1"},
        {"256.08", NULL},
        {"[[evil.example]]", NULL},
        {"[]", NULL},
        {"[", NULL},
        {"evil.08", NULL},
        {"", NULL},
    };
    size_t i = 0;

    for (i = 0; i < COUNT_OF(rows); i++) {
        struct host host = {.text = SLICE_NONE};
        enum err err = host_parse_odd(*state, slice_str(rows[i].in), &host);

        assert_int_equal(err, rows[i].want != NULL ? ERR_OK : ERR_SYNTAX);
        check_text(rows[i].in, host.text, slice_str(rows[i].want));
    }
}

static void test_listed_suffix__table__only_known_ones(void **state)
{
    (void)state;
    assert_true(host_has_listed_suffix(SLICE_LIT("evil.com")));
    assert_true(host_has_listed_suffix(SLICE_LIT("a.b.co.uk")));
    assert_false(host_has_listed_suffix(SLICE_LIT("main.c")));
    assert_false(host_has_listed_suffix(SLICE_LIT("evil.example")));
    assert_false(host_has_listed_suffix(SLICE_LIT("com")));
    assert_false(host_has_listed_suffix(SLICE_LIT("1.2.3.4")));
    assert_false(host_has_listed_suffix(SLICE_LIT("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_parse__table__normal_form),
        ARENA_TEST(test_parse__nul_byte__refused),
        ARENA_TEST(test_parse__name_round_253_bytes__limit_held),
        ARENA_TEST(test_parse__label_round_63_bytes__limit_held),
        ARENA_TEST(test_parse__megabytes__refused),
        ARENA_TEST(test_parse__arena_full__no_memory),
        cmocka_unit_test(test_ip_text__table__rfc5952),
        cmocka_unit_test(test_registrable__table__expected_domain),
        ARENA_TEST(test_parse_web__table__as_browsers),
        ARENA_TEST(test_parse_odd__table__what_browsers_refuse),
        ARENA_TEST(test_listed_suffix__table__only_known_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
