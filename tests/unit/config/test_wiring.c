/* test_wiring - the lines between MTA and gillnetd, and that README says the same; advice. */
#include <stdio.h>
#include <string.h>

#include "core/config/advice.h"
#include "core/config/wiring.h"

#include "tests/unit/config/confdir.h"

static const char queue[] = "/var/spool/postfix";

static void assert_lines(const struct wiring *w, const char *postfix,
                         const char *sendmail, const char *socket)
{
    struct buf text;

    buf_init(&text, 4096);
    wiring_postfix_milter(w, queue, &text);
    assert_string_equal(text.p, postfix);
    buf_clear(&text);
    wiring_sendmail_line(w, &text);
    assert_string_equal(text.p, sendmail);
    buf_clear(&text);
    wiring_socket_line(w, &text);
    assert_string_equal(text.p, socket);
    buf_fini(&text);
}

static void test_wiring__when_the_socket_is_of_any_kind__then_its_lines(void **state)
{
    const struct wiring below = {.path = "/var/spool/postfix/gillnet/gillnetd.sock"};
    const struct wiring beside = {.path = "/var/spool/postfix2/x"};
    const struct wiring inet = {.host = "", .port = "8895"};
    const struct wiring v6 = {.host = "::1", .port = "8895"};

    (void)state;
    assert_true(wiring_is_below(&below, queue));
    assert_false(wiring_is_below(&beside, queue));
    assert_false(wiring_is_below(&inet, queue));
    assert_lines(
        &below,
        "{ unix:gillnet/gillnetd.sock, default_action=accept, content_timeout=30s }",
        "INPUT_MAIL_FILTER(`gillnet', "
        "`S=local:/var/spool/postfix/gillnet/gillnetd.sock, "
        "T=C:30s;S:10s;R:30s;E:5m')dnl",
        "socket = \"unix:/var/spool/postfix/gillnet/gillnetd.sock\";");
    assert_lines(
        &beside,
        "{ unix:/var/spool/postfix2/x, default_action=accept, content_timeout=30s }",
        "INPUT_MAIL_FILTER(`gillnet', `S=local:/var/spool/postfix2/x, "
        "T=C:30s;S:10s;R:30s;E:5m')dnl",
        "socket = \"unix:/var/spool/postfix2/x\";");
    assert_lines(&inet,
                 "{ inet:127.0.0.1:8895, default_action=accept, content_timeout=30s }",
                 "INPUT_MAIL_FILTER(`gillnet', `S=inet:8895@127.0.0.1, "
                 "T=C:30s;S:10s;R:30s;E:5m')dnl",
                 "socket = \"inet:8895@127.0.0.1\";");
    assert_lines(&v6, "{ inet:[::1]:8895, default_action=accept, content_timeout=30s }",
                 "INPUT_MAIL_FILTER(`gillnet', `S=inet6:8895@[::1], "
                 "T=C:30s;S:10s;R:30s;E:5m')dnl",
                 "socket = \"inet6:8895@[::1]\";");
}

/* Whether text has this line, with any indent. */
static void assert_has_line(const char *text, struct slice line)
{
    for (struct slice rest = slice_str(text); rest.n > 0;) {
        if (slice_eq(slice_trim(slice_cut(&rest, '\n')), line)) {
            return;
        }
    }
    fail_msg("README.md has no line: %.*s", SLICE_ARGS(line));
}

static void test_readme__when_read__then_it_has_these_lines(void **state)
{
    const struct wiring below = {.path = WIRING_QUEUE "/" WIRING_BELOW_QUEUE};
    const struct wiring run = {.path = "/run/gillnet/gillnetd.sock"};
    char text[65536] = "";
    struct buf line;
    FILE *f = fopen(GILLNET_SOURCE_DIR "/README.md", "r");

    (void)state;
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof(text) - 1, f) > 1000);
    fclose(f);
    buf_init(&line, 4096);
    wiring_postfix_lines(&below, WIRING_QUEUE, "", &line);
    for (struct slice rest = buf_slice(&line); rest.n > 0;) {
        assert_has_line(text, slice_cut(&rest, '\n'));
    }
    buf_clear(&line);
    wiring_sendmail_line(&run, &line);
    assert_has_line(text, buf_slice(&line));
    buf_fini(&line);
}

static void test_advice__when_allow_cannot_apply__then_said(void **state)
{
    static const struct {
        const char *conf;
        bool is_said;
    } rows[] = {
        {"", false},
        {"allow = { networks = [ \"192.0.2.0/24\" ]; };", false},
        {"allow = { domains = [ \"a.example\" ]; };", true},
        {"allow = { addresses = [ \"a@a.example\" ]; };", true},
        {"allow = { domains = [ \"a.example\" ]; }; trusted_authserv = [ \"mx\" ];",
         false},
        {"allow = { domains = [ \"a.example\" ]; }; outgoing = false;", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct config *c = confdir_load(confdir_put("a.conf", rows[i].conf));
        struct config_advice a;

        assert_non_null(c);
        assert_int_equal(config_advice(c, 0, &a), rows[i].is_said);
        assert_false(config_advice(c, 1, &a));
        config_release(&c);
    }
}

static void test_advice__when_a_condition_never_holds__then_its_rule_is_named(
    void **state)
{
    static const struct {
        const char *conf;
        const char *rule; /* NULL: nothing is said */
        const char *said;
    } rows[] = {
        {"{ name = \"r\"; all = ( { rule = \"off\"; } ); }, { name = \"s\"; none = ( { rule = \"off\"; } ); trait = \"html_form\"; }",
         "off", "it is disabled"},
        {"{ name = \"r\"; all = ( { rule = \"dark\"; } ); }", "dark",
         "in shadow while they are not"},
        {"{ name = \"r\"; shadow = true; all = ( { rule = \"dark\"; } ); }", NULL,
         NULL},
        {"{ name = \"r\"; enabled = false; all = ( { rule = \"off\"; } ); }", NULL,
         NULL},
        {"{ name = \"r\"; all = ( { any = ( { category = \"phihs\"; }, { size_least = "
         "\"1K\"; } ); } ); }",
         "r", "category that no list"},
        {"{ name = \"r\"; none = ( { category = \"phish\"; } ); }", NULL, NULL},
        {"{ name = \"r\"; all = ( { category = \"unknown\"; } ); }", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[1024];
        struct config_advice a;

        snprintf(
            text, sizeof(text),
            "lists = ( { name = \"l\"; category = \"phish\"; } );\n"
            "rules = ( { name = \"off\"; enabled = false; trait = \"html_form\"; },\n"
            "{ name = \"dark\"; shadow = true; trait = \"html_form\"; }, %s );",
            rows[i].conf);
        struct config *c = confdir_load(confdir_put("gillnet.conf", text));
        assert_non_null(c);
        bool is_said = config_advice(c, 0, &a);
        assert_int_equal(is_said, rows[i].rule != NULL);
        if (is_said) {
            assert_string_equal(a.name, rows[i].rule);
            assert_non_null(strstr(a.what, rows[i].said));
            assert_false(config_advice(c, 1, &a));
        }
        config_release(&c);
    }
}

static void test_advice__when_a_trap_gets_wanted_mail__then_it_is_named(void **state)
{
    static const struct {
        const char *conf;
        const char *said; /* NULL: nothing is said */
    } rows[] = {
        {"traps = [ \"old@a.example\", \"@trap.a.example\" ]; protected = [ \"a.example\" ];",
         NULL},
        {"traps = [ \"@a.example\" ]; protected = [ \"A.example\" ];", "@a.example"},
        {"traps = [ \"Spam@a.example\" ]; report_addresses = { spam = [ "
         "\"spam@a.example\" ]; };",
         "Spam@a.example"},
        {"traps = [ \"ham@a.example\" ]; report_addresses = { ham = [ "
         "\"ham@a.example\" ]; };",
         "ham@a.example"},
        {"traps = [ \"ann@a.example\" ]; users = ( { name = \"ann@a.example\"; } );",
         "ann@a.example"},
        {"feedback = { senders = [ \"p.example\" ]; };", ""},
        {"feedback = { senders = [ \"p.example\" ]; }; trusted_authserv = [ \"mx\" ];",
         ""},
        {"feedback = { senders = [ \"p.example\" ]; }; trusted_authserv = [ \"mx\" ]; "
         "report_addresses = { spam = [ \"spam@a.example\" ]; };",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct config *c = confdir_load(confdir_put("gillnet.conf", rows[i].conf));
        struct config_advice a;

        assert_non_null(c);
        bool is_said = config_advice(c, 0, &a);
        assert_int_equal(is_said, rows[i].said != NULL);
        if (is_said) {
            assert_string_equal(a.name, rows[i].said);
            assert_false(config_advice(c, 1, &a));
        }
        config_release(&c);
    }
}

static void test_traps__when_no_recipient__then_refused(void **state)
{
    static const char *const rows[] = {
        "traps = [ \"a.example\" ];", "traps = [ \"@\" ];",
        "traps = [ \"@*.a.example\" ];", "traps = [ \"a b@a.example\" ];"};

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct config *c = NULL;
        struct config_errors errors;

        assert_int_not_equal(
            config_load(confdir_put("gillnet.conf", rows[i]), NULL, &c, &errors),
            ERR_OK);
        assert_int_equal(errors.n, 1);
        config_errors_free(&errors);
    }
}

static void test_advice__when_entries_never_age__then_each_list_is_named(void **state)
{
    struct config *c = confdir_load(confdir_put(
        "a.conf", "allow = { domains = [ \"a.example\" ]; };\n"
                  "lists = ( { name = \"one\"; inactive_after = \"9d\"; },\n"
                  "  { name = \"two\"; inactive_after = \"9d\"; period = \"1d\"; },\n"
                  "  { name = \"three\"; period = \"1d\"; },\n"
                  "  { name = \"four\"; inactive_after = \"9d\"; } );"));
    static const char *const about[] = {NULL, "one", "four"};
    struct config_advice a;

    (void)state;
    assert_non_null(c);
    for (size_t i = 0; i < sizeof(about) / sizeof(about[0]); i++) {
        assert_true(config_advice(c, i, &a));
        if (about[i] == NULL) {
            assert_string_equal(a.name, "");
        } else {
            assert_string_equal(a.kind, "list ");
            assert_string_equal(a.name, about[i]);
            assert_non_null(strstr(a.what, "inactive_after has no effect"));
            assert_string_equal(a.todo, "set period, such as \"7d\"");
        }
    }
    assert_false(config_advice(c, 3, &a));
    config_release(&c);
    c = confdir_load(confdir_put(
        "gillnet.conf", "rules = ( { name = \"past\"; trait = \"x\"; until = "
                        "\"2020-01-01\"; }, { name = \"later\"; trait = \"x\"; until = "
                        "\"2199-01-01\"; } );"));
    assert_true(config_advice(c, 0, &a));
    assert_string_equal(a.kind, "rule ");
    assert_string_equal(a.name, "past");
    assert_false(config_advice(c, 1, &a));
    config_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wiring__when_the_socket_is_of_any_kind__then_its_lines),
        cmocka_unit_test(test_readme__when_read__then_it_has_these_lines),
        cmocka_unit_test_setup_teardown(test_advice__when_allow_cannot_apply__then_said,
                                        confdir_setup, confdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_advice__when_a_condition_never_holds__then_its_rule_is_named,
            confdir_setup, confdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_advice__when_a_trap_gets_wanted_mail__then_it_is_named, confdir_setup,
            confdir_teardown),
        cmocka_unit_test_setup_teardown(test_traps__when_no_recipient__then_refused,
                                        confdir_setup, confdir_teardown),
        cmocka_unit_test_setup_teardown(
            test_advice__when_entries_never_age__then_each_list_is_named, confdir_setup,
            confdir_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
