/* test_share - the part of a list that goes to peers, and names that peers never change. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/config/config.h"

#include "tests/unit/unit.h"

static struct config *load(const char *text, struct config_errors *errors)
{
    char path[] = "/tmp/gillnet-share-XXXXXX";
    struct config *c = NULL;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(fd);
    if (config_load(path, NULL, &c, errors) != ERR_OK) {
        c = NULL;
    }
    (void)unlink(path);
    return c;
}

static void test_share__when_written_in_any_way__then_it_is_read(void **state)
{
    static const struct {
        const char *text;
        enum list_share want;
    } row[] = {
        {"", LIST_SHARE_NO},
        {"share = true;", LIST_SHARE_ENTRIES},
        {"share = false;", LIST_SHARE_NO},
        {"share = \"no\";", LIST_SHARE_NO},
        {"share = \"entries\";", LIST_SHARE_ENTRIES},
        {"share = \"filters\";", LIST_SHARE_FILTERS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char text[256];
        struct config_errors errors = {0};
        struct buf dump;
        snprintf(
            text, sizeof(text),
            "protected = [ \"Example.ORG\" ];\nlists = ( { name = \"a\"; %s } );\n",
            row[i].text);
        struct config *c = load(text, &errors);
        assert_non_null(c);
        assert_int_equal(config_list_find(c, SLICE_LIT("a"))->share, row[i].want);
        assert_int_equal(config_list_find(c, SLICE_LIT("b"))->share, LIST_SHARE_NO);
        assert_int_equal(c->protected_domains.n, 1);
        assert_string_equal(c->protected_domains.v[0], "example.org");
        buf_init(&dump, 1 << 20);
        config_dump(c, false, &dump);
        snprintf(text, sizeof(text), "\nlists.a.share = \"%s\"",
                 list_share_name(row[i].want));
        assert_non_null(strstr(dump.p, text));
        buf_fini(&dump);
        config_release(&c);
    }
}

static void test_share__when_it_is_no_word_of_it__then_it_is_refused(void **state)
{
    struct config_errors errors = {0};
    (void)state;
    assert_null(load("lists = ( { name = \"a\"; share = \"all\"; } );", &errors));
    assert_non_null(strstr(errors.v[0].text, "\"filters\""));
    config_errors_free(&errors);
}

static const struct {
    const char *text;
    const char *want;
} wrong[] = {
    {"hub = { listen = \"192.0.2.1\"; };", "a port from 1 to 65535"},
    {"hub = { listen = \"0@x:1\"; };", "\"auto\" or \"off\""},
    {"hub = { listen = \"2001:db8::1:8894\"; };", "in brackets"},
    {"hub = { listen = \":8894\"; };", "a port without a host"},
    {"hub = { control_socket = \"x\"; };", "absolute path"},
    {"hub = { bytes_per_second = \"1K\"; };", "from 64K to 1G"},
    {"hub = { lisen = \"off\"; };", "did you mean \"hub.listen\"?"},
    {"peers = { quorum_lists = 0; };", "from 1 to 256"},
    {"peers = { weights = [ \"alpha\" ]; };", "alpha=0.5"},
    {"peers = { weights = [ \"alpha=11\" ]; };", "from 0 to 10"},
    {"peers = { weights = [ \"=1\" ]; };", "a peer's name"},
    {"peers = { weights = [ \"alpha=1e1\" ]; };", "from 0 to 10"},
    {"peers = { weights = [ \"a b=1\" ]; };", "a peer's name"},
    {"peers = { weights = [ \"alpha=0.5\", \"b=1\", \"Alpha=2\" ]; };",
     "\"Alpha=2\": this name has the weight \"alpha=0.5\" already"},
    {"peers = { weights = [ \"alpha=1\", \"alpha=1\" ]; };", "keep one of the two"},
};

static void test_load__when_hub_or_peers_are_wrong__then_it_says_what_to_do(
    void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct config_errors errors = {0};
        assert_null(load(wrong[i].text, &errors));
        if (!strstr(errors.v[0].text, wrong[i].want)) {
            fail_msg("%s: %s", wrong[i].text, errors.v[0].text);
        }
        config_errors_free(&errors);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share__when_written_in_any_way__then_it_is_read),
        cmocka_unit_test(test_share__when_it_is_no_word_of_it__then_it_is_refused),
        cmocka_unit_test(
            test_load__when_hub_or_peers_are_wrong__then_it_says_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
