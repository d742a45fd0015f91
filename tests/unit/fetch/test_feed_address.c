/* Which addresses are of the public internet. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "core/hub/fetch/feed_address.h"

#include "tests/unit/unit.h"

static bool is_public(const char *text)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &in.sin_addr) == 1) {
        return feed_address_reach((const struct sockaddr *)&in) == FEED_REACH_PUBLIC;
    }
    assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
    return feed_address_reach((const struct sockaddr *)&in6) == FEED_REACH_PUBLIC;
}

static void test_feed_address_reach__networks_and_their_edges__as_registered(
    void **state)
{
    static const char *const closed[] = {"0.0.0.0",
                                         "0.255.255.255",
                                         "10.0.0.0",
                                         "10.255.255.255",
                                         "100.64.0.0",
                                         "100.127.255.255",
                                         "127.0.0.1",
                                         "127.255.255.255",
                                         "169.254.169.254",
                                         "172.16.0.0",
                                         "172.31.255.255",
                                         "192.0.0.8",
                                         "192.0.2.1",
                                         "192.88.99.1",
                                         "192.168.0.0",
                                         "192.168.255.255",
                                         "198.18.0.0",
                                         "198.19.255.255",
                                         "198.51.100.1",
                                         "203.0.113.255",
                                         "224.0.0.1",
                                         "239.1.2.3",
                                         "255.255.255.255",
                                         "::",
                                         "::1",
                                         "::ffff:127.0.0.1",
                                         "::ffff:10.1.2.3",
                                         "::127.0.0.1",
                                         "64:ff9b::7f00:1",
                                         "64:ff9b:1::1",
                                         "100::1",
                                         "2001::1",
                                         "2001:2::1",
                                         "2001:10::1",
                                         "2001:db8::1",
                                         "2002:a01:203::1",
                                         "2002:7f00:1::",
                                         "3fff::1",
                                         "fc00::1",
                                         "fdff::1",
                                         "fe80::1",
                                         "fec0::1",
                                         "ff02::1"};
    static const char *const open[] = {
        "1.1.1.1",          "9.255.255.255",   "11.0.0.0",
        "100.63.255.255",   "100.128.0.0",     "126.255.255.255",
        "128.0.0.1",        "169.253.255.255", "169.255.0.0",
        "172.15.255.255",   "172.32.0.0",      "192.0.1.0",
        "192.167.255.255",  "192.169.0.0",     "198.17.255.255",
        "198.20.0.0",       "223.255.255.255", "::ffff:9.9.9.9",
        "64:ff9b::909:909", "2001:200::1",     "2001:4860:4860::8888",
        "2002:909:909::1",  "2a00:1450::1",    "3ffe::1"};

    (void)state;
    for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
        if (is_public(closed[i])) {
            fail_msg("%s is taken for public", closed[i]);
        }
    }
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        if (!is_public(open[i])) {
            fail_msg("%s is not taken for public", open[i]);
        }
    }
}

static void test_feed_host_reach__ways_to_write_it__known_without_dns(void **state)
{
    static const char *const closed[] = {
        "localhost",  "LOCALHOST",  "localhost.", "a.localhost",    "127.1",
        "0x7f.0.0.1", "2130706433", "[::1]",      "[fe80::1%eth0]", "[::ffff:10.0.0.1]",
        "10.1",       "0",          "[]x]"};
    static const char *const open[] = {"feeds.example",     "1.1.1.1",      "[2a00::1]",
                                       "localhost.example", "notlocalhost", ""};

    (void)state;
    for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
        if (feed_host_reach(closed[i]) == FEED_REACH_PUBLIC) {
            fail_msg("%s is taken for public", closed[i]);
        }
    }
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        if (feed_host_reach(open[i]) != FEED_REACH_PUBLIC) {
            fail_msg("%s is not taken for public", open[i]);
        }
    }
}

static void test_feed_host_reach__this_machine_and_its_link__told_apart(void **state)
{
    static const struct {
        const char *host;
        enum feed_reach reach;
    } rows[] = {
        {"127.0.0.9", FEED_REACH_MACHINE},
        {"0.0.0.0", FEED_REACH_MACHINE},
        {"localhost", FEED_REACH_MACHINE},
        {"[::1]", FEED_REACH_MACHINE},
        {"[::]", FEED_REACH_MACHINE},
        {"[::127.0.0.1]", FEED_REACH_MACHINE},
        {"[::ffff:127.0.0.1]", FEED_REACH_MACHINE},
        {"[64:ff9b::7f00:1]", FEED_REACH_MACHINE},
        {"169.254.169.254", FEED_REACH_LINK},
        {"[::ffff:169.254.169.254]", FEED_REACH_LINK},
        {"[fe80::1]", FEED_REACH_LINK},
        {"[febf::1]", FEED_REACH_LINK},
        {"[fec0::1]", FEED_REACH_PRIVATE},
        {"10.0.0.1", FEED_REACH_PRIVATE},
        {"[::10.0.0.1]", FEED_REACH_PRIVATE},
        {"[fd00::1]", FEED_REACH_PRIVATE},
        {"9.9.9.9", FEED_REACH_PUBLIC},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (feed_host_reach(rows[i].host) != rows[i].reach) {
            fail_msg("%s: %d", rows[i].host, (int)feed_host_reach(rows[i].host));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_feed_host_reach__this_machine_and_its_link__told_apart),
        cmocka_unit_test(
            test_feed_address_reach__networks_and_their_edges__as_registered),
        cmocka_unit_test(test_feed_host_reach__ways_to_write_it__known_without_dns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
