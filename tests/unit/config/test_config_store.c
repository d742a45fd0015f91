/* test_config_store - what a store lacks is refused with file, line and what to write. */
#include "tests/unit/config/confdir.h"

static const struct {
    const char *text;
    const char *error;
} rows[] = {
    {"store = { kind = \"memcached\"; };", "\"redis\""},
    {"store = { kind = \"redis\"; };", "store.servers: name at least one"},
    {"store = { kind = \"redis\"; servers = [ \"redis1\" ]; };", "PORT"},
    {"store = { kind = \"redis\"; mode = \"ring\"; servers = [ \"a:1\" ]; };",
     "\"sentinel\""},
    {"store = { kind = \"redis\"; mode = \"single\"; servers = [ \"a:1\", \"b:1\" ]; };",
     "has one server"},
    {"store = { kind = \"redis\"; mode = \"sentinel\"; servers = [ \"a:1\" ]; };",
     "store.master: write the name"},
    {"store = { kind = \"redis\"; servers = [ \"a:1\" ]; prefix = \"G{\"; };",
     "store.prefix: write 1 to 32"},
    {"store = { kind = \"redis\"; servers = [ \"a:1\" ]; prefix = \"\"; };",
     "store.prefix: write 1 to 32"},
    {"store = { kind = \"redis\"; servers = [ \"a:1\" ]; user = \"net\"; };",
     "a user needs a password"},
    {"store = { kind = \"redis\"; servers = [ \"a:1\" ]; tls = true; tls_cert = "
     "\"/c\"; };",
     "tls_cert and tls_key belong together"},
    {"store = { kind = \"redis\"; servers = [ \"a:1\" ]; tls_ca = \"/ca\"; };",
     "store.tls: set it to true"},
    {"store = { spool = \"1K\"; };", "from 1M to 1024G"},
    {"store = { fresh = \"1s\"; };", "from 2s"},
};

static void test_store__when_something_is_missing__then_its_line_and_what_to_do(
    void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct config_errors errors = {0, NULL};
        struct config *c = NULL;
        char text[1024];

        (void)snprintf(text, sizeof(text), "# one\n\n%s\n", rows[i].text);
        assert_int_not_equal(
            config_load(confdir_put("gillnet.conf", text), NULL, &c, &errors), ERR_OK);
        assert_null(c);
        if (!confdir_has_error(&errors, 3, rows[i].error)) {
            fail_msg("%s: %s", rows[i].text, errors.v[0].text);
        }
        assert_int_equal(errors.n, 1);
        assert_string_equal(errors.v[0].source, confdir_file);
        config_errors_free(&errors);
    }
}

/* What would be left out in silence otherwise. */
static void test_store__when_it_names_too_many_servers__then_refused(void **state)
{
    char text[1024] = "store = { kind = \"redis\"; servers = [ \"a:1\"";
    struct config_errors errors = {0, NULL};
    struct config *c = NULL;

    (void)state;
    for (unsigned n = 1; n < STORE_SERVERS_MAX; n++) {
        strcat(text, ", \"a:1\"");
    }
    const size_t whole = strlen(text);

    strcat(text, " ]; };");
    c = confdir_load(confdir_put("gillnet.conf", text));
    assert_int_equal(c->store.servers.n, STORE_SERVERS_MAX);
    config_release(&c);
    strcpy(text + whole, ", \"a:1\" ]; };");
    assert_int_not_equal(
        config_load(confdir_put("gillnet.conf", text), NULL, &c, &errors), ERR_OK);
    assert_true(confdir_has_error(&errors, 1, "name 32 at most"));
    config_errors_free(&errors);
}

static void test_store__when_off__then_nothing_is_missing(void **state)
{
    struct config *c = confdir_load(
        confdir_put("gillnet.conf",
                    "store = { mode = \"sentinel\"; prefix = \"\"; user = \"u\"; };"));

    (void)state;
    assert_int_equal(c->store.kind, STORE_OFF);
    config_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, confdir_setup, confdir_teardown)
        TEST(test_store__when_something_is_missing__then_its_line_and_what_to_do),
        TEST(test_store__when_it_names_too_many_servers__then_refused),
        TEST(test_store__when_off__then_nothing_is_missing),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
