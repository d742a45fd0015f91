/* test_mistakes - mistakes of administrators in a file: line, key and right form are named. */
#include "core/config/mistake.h"

#include "tests/unit/config/confdir.h"

/* libconfig 1.5 forgets the text at which it meets a syntax error (64 bytes a time). */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libconfig.so";
}

struct mistake_row {
    const char *text;
    unsigned line;
    const char *key;
    const char *form; /* what the message tells to write */
};

/* Sixty typos, in families. */
static const struct mistake_row rows[] = {
    /* a level too deep or too shallow */
    {"lists = ( { name = \"a\"; type = [ \"url\" ]; } );", 1, "\"type\"",
     "write types = ...;"},
    {"header = 5.0;", 1, "\"header\"", "thresholds = { header = ...; };"},
    {"limits = { on_error = \"defer\"; };", 1, "\"on_error\"",
     "on_error = ...; behind the end"},
    {"parts = 3;", 1, "\"parts\"", "limits = { parts = ...; };"},
    {"weight = 3.0;", 1, "\"weight\"",
     "lists = ( { name = \"...\"; weight = ...; } );"},
    {"limits = {\n parts = 3;\n thresholds = { header = 5.0; };\n};", 3,
     "\"thresholds\"", "thresholds = { ... }; behind the end"},
    {"log_level = \"info\";", 1, "\"log_level\"", "log = { level = ...; };"},
    {"limits.parts = 5;", 1, "limits.parts", "limits = { parts = ...; };"},
    {"level = \"debug\";", 1, "\"level\"", "log = { level = ...; };"},
    /* spelling of keys */
    {"\ntreshold = { header = 5.0; };", 2, "\"treshold\"", "thresholds = { ... };"},
    {"Socket = \"/run/x\";", 1, "\"Socket\"", "socket = ...;"},
    {"socket-group = \"x\";", 1, "\"socket-group\"", "socket_group = ...;"},
    {"socket group = \"postfix\";", 1, "socket group", "\"socket_group\""},
    {"LIMITS = { parts = 3; };", 1, "\"LIMITS\"", "limits = { ... };"},
    {"lists = ( { name = \"a\"; wieght = 3.0; } );", 1, "\"wieght\"", "weight = ...;"},
    {"rule = ();", 1, "\"rule\"", "rules = ( { name = \"...\"; } );"},
    {"\"socket\" = \"/run/x\";", 1, "socket", "socket = ...;"},
    /* true and false */
    {"add_headers = yes;", 1, "add_headers", "add_headers = true;"},
    {"add_headers = off;", 1, "add_headers", "add_headers = false;"},
    {"add_headers = \"no\";", 1, "add_headers", "add_headers = false;"},
    {"outgoing = 1;", 1, "outgoing", "outgoing = true;"},
    {"outgoing = \"on\";", 1, "outgoing", "outgoing = true;"},
    /* brackets */
    {"lists = [ {\n name = \"a\"; } ];", 1, "lists",
     "lists = ( { name = \"...\"; } );"},
    {"lists = { name = \"a\"; };", 1, "lists", "lists = ( { name = \"phish\""},
    {"trusted_networks = { \"10.0.0.0/8\" };", 1, "trusted_networks", "KEY = \"...\""},
    {"trusted_networks = \"10.0.0.0/8\";", 1, "trusted_networks",
     "trusted_networks = [ \"10.0.0.0/8\" ];"},
    {"limits = {\n parts = 3;\n", 1, "limits", "write };"},
    {"limits = { parts = 3; ];", 1, "limits", "write }"},
    {"thresholds = { header = 5.0; }; }", 1, "}", "remove it"},
    {"limits { parts = 3; }", 1, "limits", "limits = { ... };"},
    {"lists = ( { name = \"a\"; } { name = \"b\"; } );", 1, "lists",
     "a comma is missing"},
    {"protected = [ \"a.example\", ];", 1, "protected", "remove the last comma"},
    {"protected = [ \"a.example\" \"b.example\" ];", 1, "protected",
     "[ \"one\", \"two\" ]"},
    {"protected = [ \"a.example\"; \"b.example\" ];", 1, "protected", "write a comma"},
    {"[limits]\nparts = 3\n", 1, "limits", "limits = { ... };"},
    {"limits:\n  parts: 3\n", 1, "limits", "limits = { ... };"},
    {"{ socket = \"/run/x\"; }", 1, "{", "no brackets around the whole file"},
    /* quotes */
    {"socket = unix:/run/g.sock;", 1, "socket", "socket = \"unix:/run/g.sock\";"},
    {"socket = '/run/g.sock';", 1, "socket", "socket = \"/run/g.sock\";"},
    {"socket = \xe2\x80\x9c/run/g.sock\xe2\x80\x9d;", 1, "socket",
     "socket = \"/run/g.sock\";"},
    {"\nsocket = \"/run/g.sock;\nsocket_group = \"postfix\";\n", 2, "socket",
     "socket = \"/run/g.sock\";"},
    {"socket = /run/g.sock\";\n", 1, "socket", "socket = \"/run/g.sock\";"},
    {"thresholds = { header = \"5.0\"; };", 1, "thresholds.header", "header = 5.0;"},
    {"limits = { parts = \"500\"; };", 1, "limits.parts", "parts = 500;"},
    {"thresholds = { reject = off; };", 1, "thresholds.reject", "reject = \"off\";"},
    {"protected = [ example.org ];", 1, "protected", "\"example.org\""},
    /* units and numbers */
    {"deadline = 2;", 1, "deadline", "deadline = \"2s\";"},
    {"deadline = \"2 sec\";", 1, "deadline", "deadline = \"2s\";"},
    {"limits = { memory = 64M; };", 1, "limits.memory", "memory = \"64M\";"},
    {"limits = { memory = \"64MB\"; };", 1, "limits.memory", "memory = \"64M\";"},
    {"thresholds = { header = 5,5; };", 1, "thresholds.header", "header = 5.5;"},
    {"alerts = { errors = 5%; };", 1, "alerts.errors", "errors = 0.05;"},
    {"alerts = { memory = 85; };", 1, "alerts.memory", "85 percent is 0.85"},
    {"limits = { parts = 1,000; };", 1, "limits.parts", "parts = 1000;"},
    {"socket_mode = 660;", 1, "socket_mode", "socket_mode = \"0660\";"},
    /* words */
    {"log = { level = \"warning\"; };", 1, "log.level", "did you mean \"warn\"?"},
    {"bulk_alone = \"Reject\";", 1, "bulk_alone", "did you mean \"reject\"?"},
    {"rules = ( { name = \"a\"; type = \"text\"; window = \"1hour\"; } );", 1,
     "rules.a.window", "\"1h\""},
    /* the rest */
    {"\xef\xbb\xbfsocket = \"/run/x\";", 1, "byte order mark", "UTF-8 without one"},
    {"on_error = \"defer\";\n\non_error = \"accept\";", 3, "on_error",
     "line 1 already"},
    {"limits = { parts = 3; };\nlimits = { urls = 3; };", 2, "limits", "into one"},
    {"socket = \"local:/run/x@\";", 1, "socket", "\"unix:/run/x\""},
    {"socket == \"/run/x\";", 1, "socket", "socket = ...;"},
    {"socket \"/run/x\";", 1, "socket", "the = is missing; write socket = "},
    {"socket = ;", 1, "socket", "socket = VALUE;"},
    {"deadline = \"2s\";;", 1, "deadline", "write it once"},
    {"; a comment\ndeadline = \"2s\";", 1, "; a comment", "a comment begins with #"},
    {"/* a comment\ndeadline = \"2s\";\n", 1, "comment that begins here", "write */"},
    {"socket\xc2\xa0= \"/run/x\";", 1, "socket", "ordinary spaces"},
    {"socket = inet:8895@127.0.0.1;", 1, "socket", "socket = \"inet:8895@127.0.0.1\";"},
};

/* A second set, written when the code was finished. */
static const struct mistake_row later_rows[] = {
    {"threshold.header = 6.0;", 1, "threshold", "thresholds"},
    {"[limits]\nparts = 3;", 1, "limits", "write limits = { ... };"},
    {"[]\nsocket = \"/run/x\";", 1, "a bracket without a key", "KEY = [ ... ];"},
    {"thresholds = ( header = 5.0 );", 1, "thresholds", "thresholds = {"},
    {"lists = ( name = \"a\"; weight = 3.0; );", 1, "lists", "{ name"},
    {"lists = (\n { name = \"a\", weight = 3.0, shadow = yes }\n);", 2, "lists.shadow",
     "shadow = true;"},
    {"lists = ( { name: phish; weight: 8.0; } );", 1, "lists.name",
     "name = \"phish\";"},
    {"lists = ( { Name = \"a\"; weight = 8.0; } );", 1, "Name", "name ="},
    {"trusted_networks = [ 127.0.0.0/8, 10.0.0.0/8 ];", 1, "trusted_networks",
     "\"127.0.0.0/8\""},
    {"trusted_networks = \"127.0.0.0/8, 10.0.0.0/8\";", 1, "trusted_networks",
     "[ \"127.0.0.0/8\", \"10.0.0.0/8\" ]"},
    {"trusted_network = [ \"127.0.0.0/8\" ];", 1, "trusted_network",
     "trusted_networks"},
    {"deadline = 2s;", 1, "deadline", "deadline = \"2s\";"},
    {"deadline = \"2\";", 1, "deadline", "\"2s\""},
    {"deadline = \"2000\";\nlimits = { cpu = 250 ms; };", 2, "limits.cpu",
     "cpu = \"250ms\";"},
    {"on_error = accept\nadd_headers = true;", 1, "on_error", "on_error = \"accept\";"},
    {"on_error = \"Defer\";", 1, "on_error", "\"defer\""},
    {"add_headers = t;", 1, "add_headers", "true"},
    {"set add_headers = true;", 1, "add_headers", "add_headers"},
    {"socket = \xe2\x80\x9c"
     "inet:8895@127.0.0.1\";",
     1, "socket", "\"inet:8895@127.0.0.1\""},
    {"count = { messages_per_day = 10 000; };", 1, "count.messages_per_day",
     "messages_per_day = 10000;"},
    {"count = { messages_per_day = \"10000\"; }", 1, "count.messages_per_day",
     "messages_per_day = 10000;"},
    {"limits = {\n  parts = 500;\nthresholds = {\n  header = 5.0;\n};", 1, "limits",
     "}"},
    {"feeds = ( { name = \"x\"; url = https://feeds.example/x.txt; } );", 1,
     "feeds.url", "url = \"https://feeds.example/x.txt\";"},
    {"feeds = ( { name = \"x\"; url = \"https://feeds.example/x.txt\"; intervall = \"1h\"; } );",
     1, "intervall", "interval ="},
    {"api = { listen = \"127.0.0.1:8896\"; };", 1, "api.listen",
     "listen = [ \"127.0.0.1:8896\" ];"},
    {"api_listen = [ \"127.0.0.1:8896\" ];", 1, "api_listen", "api = { listen"},
    {"state_dir = \"/var/lib/gillnet\" ;; socket = \"/run/x\";", 1, "state_dir",
     "write it once"},
    {"thresholds = { reject = 15.0 quarantine = \"10\" };", 1, "thresholds.quarantine",
     "quarantine = 10.0;"},
    {"// comment\nsocket = \"/run/x\"; # fine\n-- old", 3, "-- old", "comment with #"},
    {"allow = { domains = \"example.org\"; };", 1, "allow.domains",
     "[ \"example.org\" ]"},
};

static unsigned nfailed;

/* Whether an error of that line names the key and the form; all errors in the message if not. */
static void assert_named(const struct mistake_row *row)
{
    struct config *c = NULL;
    struct config_errors errors = {0, NULL};
    char said[4096] = "no error";
    size_t n = 0;
    bool is_named = false;

    if (config_load(confdir_put("gillnet.conf", row->text), NULL, &c, &errors) ==
        ERR_OK) {
        config_release(&c);
    }
    for (size_t i = 0; i < errors.n; i++) {
        const struct errinfo *e = &errors.v[i];

        is_named =
            is_named || (e->line == row->line && strstr(e->text, row->key) != NULL &&
                         strstr(e->text, row->form) != NULL);
        if (n < sizeof(said) - 600) {
            n += (size_t)snprintf(said + n, sizeof(said) - n, "%u: %s\n", e->line,
                                  e->text);
        }
    }
    config_errors_free(&errors);
    if (!is_named) {
        print_error("%s\nline %u, %s and %s expected, but:\n%s", row->text, row->line,
                    row->key, row->form, said);
        nfailed++;
    }
}

static void test_mistake__when_typical__then_line_key_and_right_form(void **state)
{
    (void)state;
    assert_true(sizeof(rows) / sizeof(rows[0]) >= 60);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_named(&rows[i]);
    }
    for (size_t i = 0; i < sizeof(later_rows) / sizeof(later_rows[0]); i++) {
        assert_named(&later_rows[i]);
    }
    assert_int_equal(nfailed, 0);
}

/* Text that libconfig accepts is no mistake, however it looks. */
static void test_mistake__when_unusual_but_right__then_nothing_is_said(void **state)
{
    static const char *const good[] = {
        "deadline = \"2s\" on_error = \"defer\"",
        "deadline : \"2s\",\r\non_error : \"defer\",\r\n",
        "\tlimits\n=\n{\n\tparts\n:\n3\n}\n",
        "add_headers = TRUE; limits = { parts = 0x10; };",
        "reject_text = \"one \"\n\"two\"; # \"three\n/* \" */ // '\n",
        "trusted_networks = ( \"10.0.0.0/8\" ,\n\"::1\" );",
        "limits = { }; lists = ( ); protected = [ ];",
        "thresholds = { header = 1e1; reject = 15; };",
        "socket = \"unix:/run/a@b/x\";",
        "",
        "# only a comment",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct config *c = confdir_load(confdir_put("gillnet.conf", good[i]));

        config_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, confdir_setup, confdir_teardown)
        TEST(test_mistake__when_typical__then_line_key_and_right_form),
        TEST(test_mistake__when_unusual_but_right__then_nothing_is_said),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
