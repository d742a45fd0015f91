/* test_milters - kinds of milters, and the place of gillnetd among them. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cli/milters.h"
#include "core/cli/postfix.h"

#include "tests/unit/unit.h"

static const char *name_at(const char *socket, const char *etc)
{
    struct socket_name s;
    const struct milter_kind *k = NULL;

    assert_true(socket_name_read(slice_str(socket), &s));
    k = milter_kind_at(&s, etc, "/q", true);
    return k == NULL ? "-" : k->name;
}

static void test_kind__when_a_socket_is_given__then_the_milter(void **state)
{
    static const struct {
        const char *socket;
        const char *name;
    } rows[] = {
        {"inet:localhost:8891", "OpenDKIM"},
        {"unix:/run/opendkim/opendkim.sock", "OpenDKIM"},
        {"unix:opendmarc/opendmarc.sock", "OpenDMARC"},
        {"inet:8893@127.0.0.1", "OpenDMARC"},
        {"inet:[::1]:11332", "rspamd"},
        {"local:/run/clamav/clamav-milter.ctl", "ClamAV"},
        {"inet:127.0.0.1:9", "-"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(name_at(rows[i].socket, "/nonexistent"), rows[i].name);
    }
}

static void put(const char *dir, const char *name, const char *text)
{
    char path[256];
    FILE *f = NULL;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void drop(const char *dir, const char *name)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    unlink(path);
}

static void test_kind__when_its_file_says_so__then_socket_and_name_of_its_own(
    void **state)
{
    char dir[] = "/tmp/gillnet-milters-XXXXXX";
    struct milter_chain c = {.n = 0};
    char names[4][MILTERS_NAME];
    struct socket_name s;

    (void)state;
    assert_non_null(mkdtemp(dir));
    put(dir, "opendkim.conf",
        "#Socket inet:1@localhost\nSOCKET\t inet:4000@localhost # here\nAuthservID mx.example\n");
    put(dir, "opendmarc.conf", "Socket local:/q/d/sock\nAuthservID   \n");
    assert_string_equal(name_at("inet:127.0.0.1:4000", dir), "OpenDKIM");
    assert_string_equal(name_at("unix:/d/sock", dir), "OpenDMARC"); /* in the chroot */
    assert_string_equal(name_at("unix:d/sock", dir), "OpenDMARC");
    assert_true(socket_name_read(SLICE_LIT("inet:127.0.0.1:4000"), &s));
    assert_true(milter_chain_add(&c, SLICE_LIT("a"),
                                 milter_kind_at(&s, dir, "/q", true), false));
    assert_true(milter_chain_add(&c, SLICE_LIT("b"),
                                 milter_kind_named(SLICE_LIT("opendmarc")), false));
    assert_true(milter_chain_add(&c, SLICE_LIT("c"),
                                 milter_kind_named(SLICE_LIT("rspamd")), false));
    assert_int_equal(milter_chain_authservs(&c, dir, "host.example", names, 4), 2);
    assert_string_equal(names[0], "mx.example");
    assert_string_equal(names[1], "host.example");
    drop(dir, "opendkim.conf");
    assert_int_equal(milter_chain_authservs(&c, dir, "host.example", names, 4), 1);
    drop(dir, "opendmarc.conf");
    rmdir(dir);
}

/* A chain from letters: d proves, r reads, x is unknown, g is gillnetd. */
static void make(const char *letters, struct milter_chain *c)
{
    c->n = 0;
    for (; *letters != '\0'; letters++) {
        const char *word = *letters == 'd'   ? "opendkim"
                           : *letters == 'r' ? "rspamd"
                                             : "";
        const struct milter_kind *k =
            *word == '\0' ? NULL : milter_kind_named(slice_str(word));

        assert_true(milter_chain_add(c, slice_of(letters, 1), k, *letters == 'g'));
    }
}

static void test_place__when_others_are_there__then_behind_proof_before_rspamd(
    void **state)
{
    static const struct {
        const char *before;
        const char *after;
    } rows[] = {
        {"", "g"},      {"x", "xg"},    {"d", "dg"},    {"ddr", "ddgr"},
        {"rd", "rdg"},  {"r", "gr"},    {"xr", "xgr"},  {"dxr", "dgxr"},
        {"gd", "dg"},   {"drg", "dgr"}, {"dgr", "dgr"}, {"dxg", "dxg"},
        {"dgx", "dgx"}, {"gdg", "dg"},  {"xgx", "xgx"}, {"gx", "gx"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct milter_chain c;
        char got[MILTERS_MAX + 1] = "";

        make(rows[i].before, &c);
        assert_int_equal(milter_chain_place(&c, "g"),
                         strcmp(rows[i].before, rows[i].after) != 0);
        for (size_t k = 0; k < c.n; k++) {
            got[k] = c.v[k].text[0];
        }
        assert_string_equal(got, rows[i].after);
        assert_false(milter_chain_place(&c, "g")); /* twice changes nothing */
    }
}

static void test_next_milter__when_lists_are_odd__then_each_once(void **state)
{
    struct slice list =
        SLICE_LIT(" inet:a:1,{ unix:b, default_action=accept }  $c {unix:d},,e");
    static const char *const expected[] = {
        "inet:a:1", "unix:b, default_action=accept", "$c", "unix:d", "e", ""};

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        struct slice got = postfix_next_milter(&list);

        assert_true(slice_eq(got, slice_str(expected[i])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kind__when_a_socket_is_given__then_the_milter),
        cmocka_unit_test(
            test_kind__when_its_file_says_so__then_socket_and_name_of_its_own),
        cmocka_unit_test(
            test_place__when_others_are_there__then_behind_proof_before_rspamd),
        cmocka_unit_test(test_next_milter__when_lists_are_odd__then_each_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
