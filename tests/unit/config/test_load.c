/* test_load - files merged and checked, every error with its line, and the dump. */
#include <math.h>

#include "tests/unit/config/confdir.h"

static void test_load__when_no_file__then_defaults(void **state)
{
    struct config *c = confdir_load(NULL);

    (void)state;
    assert_string_equal(c->file, "");
    assert_string_equal(c->state_dir, "/var/lib/gillnet");
    assert_string_equal(c->control_socket, "/var/lib/gillnet/gillnetd.ctl");
    assert_int_equal(c->socket_mode, 0660);
    assert_true(c->log_target_auto);
    assert_int_equal(c->log_level, LOG_LEVEL_INFO);
    assert_int_equal(c->limits.message_bytes, 16 << 20);
    assert_int_equal(c->limits.cpu_us, 250000);
    assert_int_equal(c->limits.session_idle_s, 600);
    assert_int_equal(c->deadline_us, 2000000);
    assert_int_equal(c->on_error, ACTION_ACCEPT);
    assert_true(c->threshold[ACTION_HEADER] == 5.0);
    for (enum action a = ACTION_QUARANTINE; a < ACTION_COUNT; a++) {
        assert_true(c->threshold[a] == HUGE_VAL);
    }
    assert_int_equal(c->ntrusted_networks, 0);
    assert_int_equal(c->nlists, 0);
    assert_true(c->list_default.weight == 6.0);
    assert_true(c->list_default.enabled && !c->list_default.shadow);
    assert_null(c->list_default.name);
    config_release(&c);
    assert_null(c);
}

static void test_load__when_one_line__then_the_rest_is_default(void **state)
{
    struct config *c =
        confdir_load(confdir_put("gillnet.conf", "state_dir = \"/srv/gillnet//\";\n"));

    (void)state;
    assert_string_equal(c->file, confdir_file);
    assert_string_equal(c->state_dir, "/srv/gillnet");
    assert_string_equal(c->control_socket, "/srv/gillnet/gillnetd.ctl");
    assert_int_equal(c->limits.parts, 500);
    config_release(&c);
}

static void test_load__when_hub_and_peers_are_set__then_taken(void **state)
{
    struct config *c = confdir_load(confdir_put(
        "gillnet.conf",
        "state_dir = \"/srv/gillnet\"; hub = { listen = \"[2001:db8::1]:8894\"; connect = "
        "[ \"beta\" ]; bytes_per_second = \"1M\"; };\n"
        "peers = { cap = 5; quorum = 3; quorum_lists = 2; weights = [ \"alpha=0.5\", "
        "\"Beta=0\" ]; };\n"));

    (void)state;
    assert_string_equal(c->hub.listen, "[2001:db8::1]:8894");
    assert_string_equal(c->hub.control_socket, "/srv/gillnet/peers/hub.ctl");
    assert_int_equal(c->hub.connect.n, 1);
    assert_int_equal(c->hub.bytes_per_s, 1 << 20);
    assert_int_equal(c->peers.cap + 10 * c->peers.quorum + 100 * c->peers.quorum_lists,
                     235);
    assert_true(config_peer_weight(c, SLICE_LIT("alpha")) == 0.5);
    assert_true(config_peer_weight(c, SLICE_LIT("beta")) == 0.0);
    assert_true(config_peer_weight(c, SLICE_LIT("gamma")) == 1.0);
    assert_true(config_peer_weight(c, SLICE_LIT("alph")) == 1.0);
    config_release(&c);
}

static void test_load__when_all_kinds_are_set__then_taken(void **state)
{
    struct config *c = confdir_load(confdir_put(
        "gillnet.conf",
        "socket = \"inet:8892@127.0.0.1\"; socket_group = \"postfix\";\n"
        "socket_mode = \"0600\"; control_socket = \"/run/g.ctl\";\n"
        "log: { target = \"syslog\"; level = \"debug\" };\n"
        "limits = { parts = 7; message_bytes = \"1K\"; session_idle = \"1m\"; };\n"
        "on_error = \"defer\"; add_headers = false;\n"
        "trusted_networks = [ \"127.0.0.0/8\", \"::1\" ];\n"
        "trusted_authserv = ( \"MX.Example.Org\" );\n"
        "thresholds = { header = 4; quarantine = 4.5; reject = 1e1; defer = \"off\"; };\n"
        "allow = { domains = [ \"Example.ORG.\" ]; addresses = [ \"Bob@Example.ORG\" ]; "
        "};\n"));

    (void)state;
    assert_string_equal(c->socket, "inet:8892@127.0.0.1");
    assert_string_equal(c->socket_group, "postfix");
    assert_int_equal(c->socket_mode, 0600);
    assert_string_equal(c->control_socket, "/run/g.ctl");
    assert_false(c->log_target_auto);
    assert_int_equal(c->log_target, LOG_TARGET_SYSLOG);
    assert_int_equal(c->log_level, LOG_LEVEL_DEBUG);
    assert_int_equal(c->limits.parts, 7);
    assert_int_equal(c->limits.session_idle_s, 60);
    assert_int_equal(c->on_error, ACTION_DEFER);
    assert_false(c->add_headers);
    assert_int_equal(c->ntrusted_networks, 2);
    assert_string_equal(c->trusted_authserv.v[0], "mx.example.org");
    assert_true(c->threshold[ACTION_REJECT] == 10.0);
    assert_true(c->threshold[ACTION_DEFER] == HUGE_VAL);
    assert_string_equal(c->allow_domains.v[0], "example.org");
    assert_string_equal(c->allow_addresses.v[0], "Bob@example.org");
    config_release(&c);
}

struct bad {
    const char *text;
    const char *error;
};

static const struct bad bad_rows[] = {
    {"state_dri = \"/x\";", "did you mean \"state_dir\"?"},
    {"message_bytes = \"1M\";", "did you mean \"limits.message_bytes\"?"},
    {"limits = { part = 3; };", "did you mean \"limits.parts\"?"},
    {"list = ();", "did you mean \"lists\"?"},
    {"utterly_unlike_anything = 1;", "see gillnet.conf(5)"},
    {"foo = 1;", "see gillnet.conf(5)"},
    {"lists = ( { name = \"a\"; wieght = 3; } );", "did you mean \"lists.weight\"?"},
    {"list_defaults = { name = \"a\"; };", "is not a known key of list_defaults"},
    {"state_dir = \"var\";", "absolute path"},
    {"state_dir = \"\";", "absolute path"},
    {"state_dir = 3;", "write it in quotes"},
    {"state_dir = \"/a\\nb\";", "control character"},
    {"state_dir = { };", "write it in quotes"},
    {"socket = \"unix:relative\";", "absolute path"},
    {"socket = \"tcp:1\";", "unix:/PATH"},
    {"socket = \"inet:\";", "unix:/PATH"},
    {"socket = \"inet:0@127.0.0.1\";", "a port from 1 to 65535"},
    {"socket = \"inet:99999@127.0.0.1\";", "a port from 1 to 65535"},
    {"socket = \"inet:-1@127.0.0.1\";", "a port from 1 to 65535"},
    {"socket = \"inet:127.0.0.1:99999999999999999999\";", "a port from 1 to 65535"},
    {"socket = \"inet:smtp@127.0.0.1\";", "a port from 1 to 65535"},
    {"socket = \"inet:8895\";", "without a host"},
    {"socket = \"inet:8895@\";", "without a host"},
    {"socket = \"unix:/"
     "0123456789012345678901234567890123456789012345678901234567890123456789012345678901"
     "2345678901234567890123456789\";",
     "107 bytes"},
    {"control_socket = \"x\";", "absolute path"},
    {"socket_mode = \"999\";", "octal"},
    {"socket_mode = 660;", "write it in quotes"},
    {"socket_owner = \"a b\";", "user or group"},
    {"log = { target = \"file\"; };", "\"auto\""},
    {"log = { level = \"loud\"; };", "\"debug\""},
    {"log = \"syslog\";", "is a group of keys"},
    {"limits = { message_bytes = 100; };", "write it in quotes"},
    {"limits = { message_bytes = \"16\"; };", "and a unit"},
    {"limits = { message_bytes = \"1023B\"; };", "from 1K to 1G"},
    {"limits = { message_bytes = \"2G\"; };", "from 1K to 1G"},
    {"limits = { parts = 0; };", "from 1 to 100000"},
    {"limits = { parts = -1; };", "from 1 to 100000"},
    {"limits = { parts = 100001; };", "from 1 to 100000"},
    {"limits = { parts = 4294967297; };", "the number is too large"},
    {"limits = { parts = 0x100000001; };", "the number is too large"},
    {"limits = { parts = 9999999999L; };", "the number is too large"},
    {"limits = { parts = \"5\"; };", "without quotes"},
    {"limits = { parts = 5.0; };", "whole number"},
    {"limits = { parts = true; };", "whole number"},
    {"limits = { session_idle = \"1500ms\"; };", "whole seconds"},
    {"limits = { session_idle = \"2d\"; };", "from 1s to 1d"},
    {"deadline = \"0s\";", "from 1ms to 8s"},
    {"on_error = \"reject\";", "\"accept\" or \"defer\""},
    {"add_headers = \"yes\";", "true or false"},
    {"add_headers = 1;", "true or false"},
    {"trusted_networks = \"10.0.0.0/8\";", "an array"},
    {"trusted_networks = [ 10 ];", "text in quotes"},
    {"trusted_networks = [ \"10.1.0.0/8\" ];", "bits after the prefix"},
    {"trusted_authserv = [ \"a b\" ];", "without spaces"},
    {"thresholds = { reject = \"never\"; };", "or \"off\""},
    {"thresholds = { reject = 0; };", "from 0.01 to 100000"},
    {"thresholds = { reject = 1e999; };", "from 0.01 to 100000"},
    {"thresholds = { quarantine = 9; reject = 3; };", "is below thresholds.quarantine"},
    {"thresholds = { accept = 3; };", "is not a known key of thresholds"},
    {"reject_text = \"{queue}\";", "{id}, {case} and {symbols}"},
    {"reject_text = \"gr\\xfc\\xdfe\";", "ASCII"},
    {"reject_text = \"\";", "1 to 400"},
    {"allow = { domains = [ \"*.example.org\" ]; };", "subdomains are included"},
    {"allow = { domains = [ \"b\xc3\xbc.example\" ]; };", "xn--"},
    {"allow = { domains = [ \"a..b\" ]; };", "not a domain"},
    {"allow = { addresses = [ \"example.org\" ]; };", "name@example.org"},
    {"allow = { addresses = [ \"Bob <b@example.org>\" ]; };", "without a display name"},
    {"lists = { name = \"a\"; };", "write lists = ("},
    {"lists = ( 3 );", "each list as a group"},
    {"lists = ( { weight = 3; } );", "without a name"},
    {"lists = ( { name = \"A\"; } );", "a-z"},
    {"lists = ( { name = \"../x\"; } );", "a-z"},
    {"lists = ( { name = \"a\"; }, { name = \"a\"; } );", "named twice"},
    {"lists = ( { name = \"a\"; weight = \"off\"; } );", "lists.a.weight"},
    {"lists = ( { name = \"a\"; weight = 1001; } );", "from -1000 to 1000"},
    {"lists = ( { name = \"a\"; category = \"Two Words\"; } );", "one word"},
    {"lists = ( { name = \"a\"; filter_memory = \"disk\"; } );", "or \"store\""},
    {"lists = ( { name = \"a\"; filter_memory = \"store\"; } );",
     "lists.a.filter_memory: \"store\" needs a store"},
    {"store = { kind = \"redis\"; servers = [ \"h:1\" ]; };"
     "list_defaults = { filter_memory = \"store\"; filter_layout = \"classic\"; };",
     "list_defaults.filter_layout: filter_memory = \"store\" needs \"one-line\""},
    {"lists = ( { name = \"a\"; filter_layout = \"blocked\"; } );", "\"two-lines\""},
    {"lists = ( { name = \"a\"; filter_layout = 2; } );", "in quotes"},
    {"lists = ( { name = \"a\"; filter_error = 0; } );", "from 1e-06 to 0.1"},
    {"lists = ( { name = \"a\"; filter_error = \"0.1 %\"; } );", "such as 0.001"},
    {"list_defaults = ( );", "write a group"},
    {"count = { mesages_per_day = 3; };", "did you mean \"count.messages_per_day\"?"},
    {"count = { messages_per_day = -1; };", "from 0 to 100000000"},
    {"count = { unit = \"mails\"; };", "\"messages\" or \"deliveries\""},
    {"count = { prefix = \"\"; };", "one word"},
    {"count = { noise_floor = 0; };", "from 1e-06 to 1"},
    {"count = { distinct_types = [ \"txt\" ]; };",
     "not a feature type that is counted"},
    {"count = { judged_types = [ \"txt\" ]; };",
     "count.judged_types: \"txt\" is not a feature type that is counted"},
    {"users = ( { name = \"anna\"; } );", "USER@DOMAIN or @DOMAIN"},
    {"users = ( { name = \"Anna@a.example\"; } );", "lower case"},
    {"users = ( { name = \"a@b c\"; } );", "users.name"},
    {"users = ( { name = \"a@b.example\"; set = [ \"sensitvity=high\" ]; } );",
     "the nearest one is sensitivity"},
    {"users = ( { name = \"@b.example\"; set = [ \"rules.none.score=1\" ]; } );",
     "users.@b.example.set: there is no rule \"none\""},
    {"users = ( { name = \"a@b.example\"; set = [ \"thresholds.quarantine=3\", "
     "\"thresholds.header=off\", \"thresholds.reject=1\" ]; } );",
     "thresholds.reject: 1 is below thresholds.quarantine (3)"},
    {"thresholds = { quarantine = 8; }; "
     "users = ( { name = \"@b.example\"; set = [ \"sensitivity=low\" ]; },"
     " { name = \"a@b.example\"; set = [ \"thresholds.reject=11\" ]; } );",
     "thresholds.reject: 11 is below thresholds.quarantine (12)"},
    {"users = ( { name = \"a@b.example\"; set = [ \"thresholds.header=3\", "
     "\"thresholds.header=4\" ]; } );",
     "thresholds.header: is set twice"},
    {"rules = ( { name = \"q\"; all = ( { judged = \"url_domain\"; window = \"1d\"; "
     "least = 5; bad_share = 0.4; good_share = 0.2; } ); score = 1.0; } );",
     "bad_share or good_share, not both"},
    {"block_score = -1;", "from 0 to 1000"},
    {"bulk_alone = \"accept\";", "\"reject\" or \"discard\""},
    {"rules = { name = \"a\"; };", "write rules = ("},
    {"rules = ( 3 );", "each rule as a group"},
    {"rules = ( { type = \"text\"; } );", "a rule without a name"},
    {"rules = ( { name = \"a b\"; type = \"text\"; } );", "a-z"},
    {"rules = ( { name = \"a\"; } );", "the rule has no condition"},
    {"rules = ( { name = \"a\"; type = \"txt\"; } );", "rules.a.type: \"txt\""},
    {"rules = ( { name = \"a\"; type = \"text\"; windw = \"1d\"; } );",
     "did you mean \"rules.window\"?"},
    {"rules = ( { name = \"a\"; type = \"text\"; window = \"2d\"; } );", "\"14d\""},
    {"rules = ( { name = \"a\"; type = \"text\"; count = 1; } );", "from 2 to"},
    {"rules = ( { name = \"a\"; type = \"text\"; burst = 200.0; } );", "from 0 to 145"},
    {"rules = ( { name = \"a\"; type = \"text\"; score = -1001.0; } );",
     "from -1000 to 1000"},
    {"rules = ( { name = \"a\"; type = \"url\"; networks = 3; } );",
     "rules.a.networks: distinct networks of url are not counted"},
    {"rules = ( { name = \"a\"; type = \"text\"; }, { name = \"a\"; } );",
     "named twice"},
    {"@include \"other.conf\"", "@include is not offered"},
    {"state_dir = \"/a\"; state_dir = \"/b\";", "duplicate"},
    {"state_dir = ;", "the key has no value"},
    {"state_dir = \"/a", "no closing quote"},
    {"state_dir = \"/a\\x00b\";", "\\x00 would end the text here"},
    {"a = ((((((((((((((((((((((1))))))))))))))))))))));", "nested too deep"},
};

static bool is_text(struct slice name)
{
    static const char *const names[] = {"text",
                                        "url",
                                        "envelope_from",
                                        "template_sender",
                                        "attachment",
                                        "link_set",
                                        "body",
                                        "text_band",
                                        "from",
                                        "from_domain",
                                        "envelope_domain",
                                        "display_name",
                                        "client_net",
                                        "url_domain"};

    return name_index(name, names, LENGTH(names)) >= 0;
}

static void test_load__when_a_key_is_wrong__then_its_line_and_what_to_do(void **state)
{
    static const struct config_types types = {
        .is_sought = is_text, .is_counted = is_text, .is_format = is_text};

    (void)state;
    for (size_t i = 0; i < sizeof(bad_rows) / sizeof(bad_rows[0]); i++) {
        char text[1024];
        struct config *c = NULL;
        struct config_errors errors = {0, NULL};

        snprintf(text, sizeof(text),
                 "# one\n/* two\n*/ shipped_rules = false; // three\n%s\n",
                 bad_rows[i].text);
        assert_int_not_equal(
            config_load(confdir_put("gillnet.conf", text), &types, &c, &errors),
            ERR_OK);
        assert_null(c);
        if (!confdir_has_error(&errors, 4, bad_rows[i].error)) {
            fail_msg("%s: %s", bad_rows[i].text, errors.v[0].text);
        }
        assert_int_equal(errors.n, 1);
        assert_string_equal(errors.v[0].source, confdir_file);
        config_errors_free(&errors);
    }
}

static const struct config_rule *rule_of(const struct config *c, const char *name)
{
    size_t i = 0;

    while (i < c->nrules && strcmp(c->rules[i].name, name) != 0) {
        i++;
    }
    assert_true(i < c->nrules);
    return &c->rules[i];
}

static void test_rules__when_no_file_has_some__then_the_built_in_ones(void **state)
{
    struct config *c = confdir_load(confdir_put("gillnet.conf", "add_headers = true;"));
    double sum = 0;

    (void)state;
    const struct config_rule *replica = rule_of(c, "replica");

    assert_string_equal(replica->type, "text_band");
    assert_true(replica->enabled && replica->spares_newsletters);
    for (size_t i = 0; i < c->nrules; i++) {
        bool is_bulk = *c->rules[i].type != '\0' && !c->rules[i].shadow;

        sum += is_bulk ? c->rules[i].score : 0;
    }
    assert_true(sum < c->threshold[ACTION_HEADER]); /* alone they mark nothing */
    assert_int_equal(c->bulk_alone, ACTION_HEADER);
    config_release(&c);
    c = confdir_load(confdir_put("gillnet.conf", "rules = ();"));
    assert_int_equal(c->nrules, 0); /* bulk is left alone */
    config_release(&c);
}

static void test_load__when_many_are_wrong__then_all_in_one_run(void **state)
{
    struct config *c = NULL;
    struct config_errors errors = {0, NULL};

    (void)state;
    mkdir(confdir_path("conf.d"), 0700);
    confdir_put("conf.d/10-a.conf", "state_dir = \n\n;");
    confdir_put("conf.d/20-b.conf", "deadlin = 3;");
    confdir_put("gillnet.conf",
                "limits = {\n parts = 0;\n urls = \"x\";\n};\nlog = 3;\n");
    assert_int_equal(config_load(confdir_file, NULL, &c, &errors), ERR_RANGE);
    assert_int_equal(errors.n, 5);
    assert_true(confdir_has_error(&errors, 2, "limits.parts"));
    assert_true(confdir_has_error(&errors, 3, "limits.urls"));
    assert_true(confdir_has_error(&errors, 5, "log is a group"));
    assert_true(confdir_has_error(&errors, 1, "the key has no value"));
    assert_non_null(strstr(errors.v[3].source, "/conf.d/10-a.conf"));
    assert_true(confdir_has_error(&errors, 1, "did you mean \"deadline\"?"));
    config_errors_free(&errors);
    assert_int_equal(errors.n, 0);
}

static void test_load__when_countless_errors__then_capped(void **state)
{
    char *text = calloc(1, 1 << 18);
    size_t n = 0;
    struct config *c = NULL;
    struct config_errors errors = {0, NULL};

    (void)state;
    for (int i = 0; i < 5000; i++) {
        n += (size_t)snprintf(text + n, (1 << 18) - n, "key%d = 1;\n", i);
    }
    assert_int_not_equal(
        config_load(confdir_put("gillnet.conf", text), NULL, &c, &errors), ERR_OK);
    assert_int_equal(errors.n, 201);
    assert_non_null(strstr(errors.v[200].text, "not shown"));
    config_errors_free(&errors);
    free(text);
}

static void test_load__when_conf_d__then_later_names_win_and_lists_merge(void **state)
{
    struct config *c = NULL;
    const struct config_list *l = NULL;

    (void)state;
    mkdir(confdir_path("conf.d"), 0700);
    confdir_put("conf.d/20.conf", "limits = { parts = 20; };\n"
                                  "lists = ( { name = \"phish\"; weight = 9.5; } );\n"
                                  "list_defaults = { category = \"allow\"; };\n");
    confdir_put("conf.d/10.conf", "limits = { parts = 10; urls = 10; };\n");
    confdir_put("conf.d/.hidden.conf", "nonsense");
    confdir_put("conf.d/30.conf.dpkg-old", "nonsense");
    confdir_put(
        "gillnet.conf",
        "limits = { parts = 1; urls = 1; headers = 1; };\n"
        "lists = ( { name = \"phish\"; category = \"phish\"; shadow = true; },\n"
        "          { name = \"good\"; } );\n");
    c = confdir_load(confdir_file);
    assert_int_equal(c->limits.parts, 20);
    assert_int_equal(c->limits.urls, 10);
    assert_int_equal(c->limits.headers, 1);
    assert_int_equal(c->nlists, 2);
    l = config_list_find(c, SLICE_LIT("phish"));
    assert_true(l->weight == 9.5 && l->shadow && l->enabled && !l->is_allow);
    assert_string_equal(l->category, "phish");
    l = config_list_find(c, SLICE_LIT("good"));
    assert_string_equal(l->category, "allow");
    assert_true(l->is_allow && l->weight == 6.0);
    assert_ptr_equal(config_list_find(c, SLICE_LIT("none")), &c->list_default);
    assert_true(c->list_default.is_allow);
    config_release(&c);
}

static void test_load__when_thresholds_fall_below_a_default__then_fine(void **state)
{
    struct config *c = confdir_load(
        confdir_put("gillnet.conf", "thresholds = { reject = 1.5; discard = 1.5; };"));

    (void)state;
    assert_true(c->threshold[ACTION_REJECT] == 1.5);
    config_release(&c);
}

static void test_load__when_not_a_text_file__then_one_clear_error(void **state)
{
    static const struct {
        const char *name;
        enum err code;
        const char *text;
    } rows[] = {{"none.conf", ERR_NOT_FOUND, "no such file"},
                {"folder.conf", ERR_UNSUPPORTED, "not a regular file"},
                {"fifo.conf", ERR_UNSUPPORTED, "not a regular file"},
                {"binary.conf", ERR_SYNTAX, "not a text file"},
                {"huge.conf", ERR_LIMIT, "larger than 1 MiB"},
                {"deep.conf", ERR_LIMIT, "nested too deep"},
                {"many.conf", ERR_LIMIT, "more than 20000 settings"}};
    char *huge = calloc(1, 2 << 20);

    (void)state;
    mkdir(confdir_path("folder.conf"), 0700);
    mkfifo(confdir_path("fifo.conf"), 0600);
    confdir_put_bytes("binary.conf", "a = 1;\0b = 2;", 13);
    memset(huge, ' ', (1 << 20) + 1);
    confdir_put("huge.conf", huge);
    memset(huge, '{', 20000);
    memset(huge + 20000, '}', 20000);
    huge[40000] = '\0';
    confdir_put("deep.conf", huge);
    for (size_t i = 0; i < 20001; i++) {
        memcpy(huge + i * 4, "a=1\n", 4);
    }
    huge[20001L * 4] = '\0';
    confdir_put("many.conf", huge);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct config *c = NULL;
        struct config_errors errors = {0, NULL};

        assert_int_equal(config_load(confdir_path(rows[i].name), NULL, &c, &errors),
                         rows[i].code);
        assert_int_equal(errors.n, 1);
        assert_string_equal(errors.v[0].source, confdir_file);
        assert_non_null(strstr(errors.v[0].text, rows[i].text));
        config_errors_free(&errors);
    }
    free(huge);
}

static void test_load__when_exactly_one_mebibyte__then_read(void **state)
{
    char *text = malloc(1 << 20);
    struct config *c = NULL;

    (void)state;
    memset(text, '\n', 1 << 20);
    memcpy(text, "state_dir=\"/x\";", 15);
    c = confdir_load(confdir_put_bytes("gillnet.conf", text, 1 << 20));
    assert_string_equal(c->state_dir, "/x");
    config_release(&c);
    free(text);
}

static void test_load__when_a_link__then_followed(void **state)
{
    char target[512];
    struct config *c = NULL;

    (void)state;
    snprintf(target, sizeof(target), "%s", confdir_put("real", "state_dir = \"/x\";"));
    assert_int_equal(symlink(target, confdir_path("gillnet.conf")), 0);
    c = confdir_load(confdir_path("gillnet.conf"));
    assert_string_equal(c->state_dir, "/x");
    config_release(&c);
}

static void test_acquire__when_released_once__then_still_there(void **state)
{
    struct config *c = confdir_load(NULL);
    struct config *again = config_acquire(c);

    (void)state;
    assert_ptr_equal(again, c);
    config_release(&c);
    assert_string_equal(again->state_dir, "/var/lib/gillnet");
    config_release(&again);
    config_release(&again); /* NULL is fine */
}

static void test_dump__when_asked__then_value_and_source(void **state)
{
    struct config *c = NULL;
    struct buf text;
    char line[1024];

    (void)state;
    mkdir(confdir_path("conf.d"), 0700);
    confdir_put("conf.d/a.conf", "\nlimits = {\n  parts = 9; };\n"
                                 "lists = ( { name = \"p\";\n weight = 2; } );\n"
                                 "list_defaults = { max_age = \"3d\"; };");
    confdir_put("gillnet.conf", "state_dir = \"/a\\\"b\\\\c\\xff\";");
    c = confdir_load(confdir_file);
    buf_init(&text, 1 << 20);
    config_dump(c, false, &text);
    snprintf(line, sizeof(line), "\nlimits.parts = 9  # %s/conf.d/a.conf:3\n", confdir);
    assert_non_null(strstr(text.p, line));
    snprintf(line, sizeof(line), "\nlists.p.weight = 2.0  # %s/conf.d/a.conf:5\n",
             confdir);
    assert_non_null(strstr(text.p, line));
    snprintf(line, sizeof(line), "\nlists.p.max_age = \"3d\"  # %s/conf.d/a.conf:6\n",
             confdir);
    assert_non_null(strstr(text.p, line));
    assert_non_null(strstr(text.p, "\nlimits.urls = 500  # default\n"));
    buf_clear(&text);
    config_dump(c, true, &text);
    snprintf(line, sizeof(line),
             "{\"key\": \"state_dir\", \"value\": \"/a\\\"b\\\\c\\ufffd\", \"source\": "
             "\"%s/gillnet.conf:1\"}\n",
             confdir);
    assert_int_equal(strncmp(text.p, line, strlen(line)), 0);
    buf_fini(&text);
    config_release(&c);
}

static void test_load__when_filters_are_configured__then_each_list_has_its_own(
    void **state)
{
    struct config *c = NULL;
    const struct config_list *l = NULL;
    struct buf text;

    (void)state;
    c = confdir_load(confdir_put(
        "gillnet.conf",
        "lists = ( { name = \"a\"; filter_layout = \"partitioned\"; },\n"
        "          { name = \"b\"; filter_memory = \"copy\"; filter_error = 1e-6; } );\n"
        "list_defaults = { filter_memory = \"map\"; filter_layout = \"two-lines\"; };\n"));
    l = config_list_find(c, SLICE_LIT("a"));
    assert_int_equal(l->filter_layout, FILTER_PARTITIONED);
    assert_int_equal(l->filter_memory, FILTER_MAP);
    assert_true(l->filter_error == 0.001);
    l = config_list_find(c, SLICE_LIT("b"));
    assert_int_equal(l->filter_layout, FILTER_TWO_LINES);
    assert_int_equal(l->filter_memory, FILTER_COPY);
    assert_true(l->filter_error == 1e-6);
    buf_init(&text, 1 << 20);
    config_dump(c, false, &text);
    assert_non_null(strstr(text.p, "\nlists.a.filter_layout = \"partitioned\"  # "));
    assert_non_null(strstr(text.p, "\nlists.b.filter_memory = \"copy\"  # "));
    assert_non_null(strstr(text.p, "\nlists.b.filter_error = 1e-06  # "));
    buf_fini(&text);
    config_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, confdir_setup, confdir_teardown)
        TEST(test_load__when_no_file__then_defaults),
        TEST(test_load__when_one_line__then_the_rest_is_default),
        TEST(test_load__when_hub_and_peers_are_set__then_taken),
        TEST(test_load__when_all_kinds_are_set__then_taken),
        TEST(test_load__when_a_key_is_wrong__then_its_line_and_what_to_do),
        TEST(test_load__when_many_are_wrong__then_all_in_one_run),
        TEST(test_rules__when_no_file_has_some__then_the_built_in_ones),
        TEST(test_load__when_countless_errors__then_capped),
        TEST(test_load__when_conf_d__then_later_names_win_and_lists_merge),
        TEST(test_load__when_filters_are_configured__then_each_list_has_its_own),
        TEST(test_load__when_thresholds_fall_below_a_default__then_fine),
        TEST(test_load__when_not_a_text_file__then_one_clear_error),
        TEST(test_load__when_exactly_one_mebibyte__then_read),
        TEST(test_load__when_a_link__then_followed),
        TEST(test_acquire__when_released_once__then_still_there),
        TEST(test_dump__when_asked__then_value_and_source),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
