/* test_running - which configuration runs: its number, and the keys that wait for a restart. */
#include "tests/unit/config/confdir.h"

static void test_needs_restart__when_keys_differ__then_only_unreloadable(void **state)
{
    struct config *a = confdir_load(confdir_put(
        "a.conf",
        "state_dir = \"/a\"; deadline = \"1s\"; limits = { sessions = 3; };"));
    struct config *b = confdir_load(confdir_put("b.conf", "state_dir = \"/b\";"));
    struct config *c =
        confdir_load(confdir_put("c.conf", "state_dir = \"/b\"; lists = ( { "
                                           "name = \"x\"; } );"));
    struct buf text;

    (void)state;
    buf_init(&text, 4096);
    assert_int_equal(config_needs_restart(a, b, CONFIG_OF_GILLNETD, &text), 3);
    assert_string_equal(text.p, "state_dir, control_socket, limits.sessions");
    buf_clear(&text);
    assert_int_equal(config_needs_restart(a, b, CONFIG_OF_HUB, &text), 2);
    assert_string_equal(text.p, "state_dir, hub.control_socket");
    buf_clear(&text);
    assert_int_equal(config_needs_restart(b, c, CONFIG_OF_GILLNETD, &text), 0);
    assert_int_equal(text.n, 0);
    buf_fini(&text);
    config_release(&a);
    config_release(&b);
    config_release(&c);
}

static void test_id__when_values_are_equal__then_equal_wherever_they_stand(void **state)
{
    static const char *const texts[] = {
        "deadline = \"1s\"; lists = ( { name = \"x\"; weight = 2.0; } );",
        "# one more\n\nlists = ( { name = \"x\"; weight = 2.0; } ); deadline = \"1000ms\";",
        "deadline = \"1s\"; lists = ( { name = \"x\"; weight = 2.5; } );",
        "lists = ( { name = \"x\"; weight = 2.0; } );", ""};
    uint32_t id[sizeof(texts) / sizeof(texts[0])];

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct config *c = confdir_load(confdir_put("a.conf", texts[i]));

        id[i] = config_id(c);
        assert_int_not_equal(id[i], 0);
        config_release(&c);
    }
    assert_int_equal(id[0], id[1]);
    for (size_t i = 1; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (size_t j = i + 1; j < sizeof(texts) / sizeof(texts[0]); j++) {
            assert_int_not_equal(id[i], id[j]);
        }
    }
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, confdir_setup, confdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_needs_restart__when_keys_differ__then_only_unreloadable),
        TEST(test_id__when_values_are_equal__then_equal_wherever_they_stand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
