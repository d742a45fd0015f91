/* test_socket_name - sockets in the spellings of libmilter, Postfix and Sendmail. */
#include "core/cli/socket_name.h"

#include "tests/unit/unit.h"

static void test_read__when_spelt_in_any_way__then_the_same(void **state)
{
    static const struct {
        const char *text;
        bool is_unix;
        const char *first; /* path, or host */
        const char *port;
    } rows[] = {
        {"unix:/run/x", true, "/run/x", ""},
        {"local:/run/x", true, "/run/x", ""},
        {"/run/x", true, "/run/x", ""},
        {"unix:g/x", true, "g/x", ""},
        {"inet:8892@127.0.0.1", false, "127.0.0.1", "8892"},
        {"inet:127.0.0.1:8892", false, "127.0.0.1", "8892"},
        {"inet6:8892@[::1]", false, "::1", "8892"},
        {"inet6:[::1]:8892", false, "::1", "8892"},
        {"inet6:8892@::1", false, "::1", "8892"},
        {"inet:8892", false, "", "8892"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct socket_name s;

        assert_true(socket_name_read(slice_str(rows[i].text), &s));
        assert_int_equal(s.is_unix, rows[i].is_unix);
        assert_string_equal(s.is_unix ? s.path : s.host, rows[i].first);
        assert_string_equal(s.port, rows[i].port);
    }
}

static void test_read__when_it_is_none__then_refused(void **state)
{
    static const char *const rows[] = {"",      "unix:",      "inet:",   "inet:@host",
                                       "tcp:1", "inet:host:", "relative"};
    char longer[1024];
    struct socket_name s;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_false(socket_name_read(slice_str(rows[i]), &s));
    }
    memset(longer, '/', sizeof(longer));
    assert_false(socket_name_read(slice_of(longer, sizeof(longer)), &s));
}

static void test_meets__when_compared__then_as_the_network_would(void **state)
{
    static const struct {
        const char *ours;
        const char *theirs;
        bool meets;
    } rows[] = {
        {"unix:/q/g/s", "unix:/q/g/s", true},
        {"unix:/q/g/s", "unix:g/s", true},
        {"unix:/q/g/s", "unix:/g/s", false},
        {"unix:/q/g/s", "inet:127.0.0.1:1", false},
        {"inet:1@127.0.0.1", "inet:localhost:1", true},
        {"inet:1@127.0.0.1", "inet:127.0.0.1:2", false},
        {"inet:1@0.0.0.0", "inet:192.0.2.1:1", true},
        {"inet:1@192.0.2.1", "inet:192.0.2.2:1", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct socket_name ours;
        struct socket_name theirs;

        assert_true(socket_name_read(slice_str(rows[i].ours), &ours));
        assert_true(socket_name_read(slice_str(rows[i].theirs), &theirs));
        assert_int_equal(socket_name_meets(&ours, &theirs, "/q"), rows[i].meets);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read__when_spelt_in_any_way__then_the_same),
        cmocka_unit_test(test_read__when_it_is_none__then_refused),
        cmocka_unit_test(test_meets__when_compared__then_as_the_network_would),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
