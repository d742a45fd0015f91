/*
 * test_callbacks - callback sequences as data: any order ends with nothing held.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/telemetry/stats.h"

#include "milter/callbacks.h"
#include "milter/service.h"

#include "tests/unit/milter/fake_smfi.h"
#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static struct smfiDesc call;
static struct list_manager *lists;
static struct fake_ctx fake;

static const unsigned long all_actions = 0x1ff;
static const unsigned long all_steps = 0x1fffff;

static struct config *load(const char *folder, const char *more)
{
    char path[TEMPDIR_PATH];
    struct config *c = NULL;
    struct config_errors errors = {.n = 0};
    snprintf(path, sizeof(path), "%s/gillnet.conf", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "state_dir = \"%s\"; shipped_rules = false;\n%s", folder, more);
    assert_int_equal(fclose(f), 0);
    if (config_load(path, NULL, &c, &errors) != ERR_OK) {
        fail_msg("%s", errors.v[0].text);
    }
    return c;
}

static void begin(const struct tempdir *t, const char *more, unsigned max_sessions)
{
    struct keyring keys = {.n = 1};
    random_bytes(&keys.ring[0], sizeof(keys.ring[0]));
    random_bytes(&keys.node, sizeof(keys.node));
    lists = list_manager_new(t->path, &keys);
    assert_non_null(lists);
    struct config *config = load(t->path, more);
    struct errinfo why;
    assert_int_equal(list_manager_refresh(lists, config, &why), ERR_OK);
    service_init(config, lists, false, max_sessions);
    callbacks_describe(&call);
    fake = (struct fake_ctx){.priv = NULL};
}

/* All memory is freed: session and messages; the leak checker finds nothing. */
static void end(void)
{
    assert_int_equal(service_sessions(), 0);
    assert_int_equal(service_messages(), 0);
    assert_true(service_close_gate(0));
    service_fini();
    list_manager_free(&lists);
}

static int negotiate_with(unsigned long actions, unsigned long steps,
                          unsigned long *retsteps)
{
    unsigned long a = 0;
    unsigned long c = 0;
    unsigned long d = 0;
    return call.xxfi_negotiate(fake_smfi(&fake), actions, steps, 0, 0, &a, retsteps, &c,
                               &d);
}

static int connect_from(const char *address)
{
    char name[] = "client.example";
    struct sockaddr_in in = {.sin_family = AF_INET};
    assert_int_equal(inet_pton(AF_INET, address, &in.sin_addr), 1);
    return call.xxfi_connect(fake_smfi(&fake), name, (struct sockaddr *)(void *)&in);
}

static int give_header(const char *name, const char *value)
{
    char n[256];
    char v[256];
    snprintf(n, sizeof(n), "%s", name);
    snprintf(v, sizeof(v), "%s", value);
    return call.xxfi_header(fake_smfi(&fake), n, v);
}

/* One letter, one callback: N negotiate, C connect, H helo, M mail, R rcpt, T data, L header,
 * F forged header, E end of headers, B body, D end of message (dot), A abort, Q close. */
static int step(char c)
{
    char helo[] = "client.example";
    char from[] = "<a@sender.example>";
    char to[] = "<b@rcpt.example>";
    char *mail_argv[] = {from, NULL};
    char *rcpt_argv[] = {to, NULL};
    unsigned char body[] = "see http://evil.example/x\r\n";
    unsigned long steps = 0;
    SMFICTX *ctx = fake_smfi(&fake);
    switch (c) {
    case 'N':
        return negotiate_with(all_actions, all_steps, &steps);
    case 'C':
        return connect_from("192.0.2.1");
    case 'H':
        return call.xxfi_helo(ctx, helo);
    case 'M':
        return call.xxfi_envfrom(ctx, mail_argv);
    case 'R':
        return call.xxfi_envrcpt(ctx, rcpt_argv);
    case 'T':
        return call.xxfi_data(ctx);
    case 'L':
        return give_header("Subject", "hello");
    case 'F':
        return give_header("x-GILLNET-status", "No");
    case 'E':
        return call.xxfi_eoh(ctx);
    case 'B':
        return call.xxfi_body(ctx, body, sizeof(body) - 1);
    case 'D':
        return call.xxfi_eom(ctx);
    case 'A':
        return call.xxfi_abort(ctx);
    default:
        return call.xxfi_close(ctx);
    }
}

static void run(const char *sequence)
{
    for (const char *p = sequence; *p; p++) {
        struct session_options options;
        int got = step(*p);
        int expected = SMFIS_CONTINUE;
        service_get_options(&options);
        if (options.noreply && !strchr("NADQ", *p)) {
            expected = SMFIS_NOREPLY;
        }
        if (got != expected) {
            fail_msg("%s: step %zu answered %d", sequence, (size_t)(p - sequence), got);
        }
    }
}

static void test_sequence__any_order__answers_and_holds_nothing(void **state)
{
    static const char *const sequences[] = {
        "Q", /* close is the first and only one */
        "NQ",
        "A",
        "D", /* end of message without anything */
        "NDQ",
        "NCHMRTLEBDQ",               /* the usual */
        "NCHMRTLEBDMRTLEBDMRTLEBDQ", /* three messages */
        "NCHMRTLEBQ",                /* the client is gone */
        "NCHMAQ",
        "NCHMRAQ",
        "NCHMRTAQ",
        "NCHMRTLAQ",
        "NCHMRTLEAQ",
        "NCHMRTLEBAQ",
        "NCHMRTLEBAMRTLEBDQ", /* goes on after an abort */
        "NCHMMRTLEBDQ",       /* two MAILs */
        "NCHMRTLEBMRTLEBDQ",
        "NCHMDQ",         /* nothing between */
        "NCHMBDQ",        /* body without headers */
        "NCHMRTLEBLEBDQ", /* headers after the body */
        "NCHMEEEBBBDDDQ",
        "NCHRTLEBDQ",            /* no MAIL */
        "NMRTLEBDQ",             /* no connect, no helo */
        "NCHMRTLEBDAQ",          /* abort after the verdict */
        "NCHMRTLEBDQQ",          /* close twice */
        "NCHMRTLEBDQCHMRTLEBDQ", /* another client without negotiation (QUIT_NC) */
        "NNCHMRTLEBDQ",
        "MRTLEBDQ", /* no negotiation at all */
    };
    for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
        begin(*state, "", 10);
        run(sequences[i]);
        if (fake.priv) { /* sequences without Q at the end */
            run("Q");
        }
        assert_null(fake.priv);
        end();
    }
}

/* Every sequence of six steps out of the message's: none crashes or leaks. */
static void test_sequence__every_short_one__holds_nothing(void **state)
{
    static const char letters[] = "CMRLEBDAQ";
    enum { DEPTH = 5 };
    begin(*state, "", 10);
    size_t total = 1;
    for (int i = 0; i < DEPTH; i++) {
        total *= sizeof(letters) - 1;
    }
    for (size_t k = 0; k < total; k++) {
        size_t rest = k;
        for (int i = 0; i < DEPTH; i++) {
            (void)step(letters[rest % (sizeof(letters) - 1)]);
            rest /= sizeof(letters) - 1;
        }
        (void)step('Q');
        fake_clear_log(&fake);
        assert_null(fake.priv);
    }
    end();
}

/* Takes " case=d3k7p0vq9x2m" out, which is another one for each message. */
static void take_case(char *log)
{
    char *at = strstr(log, " case=");

    assert_non_null(at);
    assert_int_equal(strspn(at + 6, "0123456789abcdefghjkmnpqrstvwxyz"), CASE_ID_CHARS);
    memmove(at, at + 6 + CASE_ID_CHARS, strlen(at + 6 + CASE_ID_CHARS) + 1);
}

static void test_message__examined__headers_in_order_and_forged_gone(void **state)
{
    begin(*state, "", 10);
    run("NCHMRTLFFEB");
    fake_clear_log(&fake);
    assert_int_equal(step('D'), SMFIS_CONTINUE);
    take_case(fake.log);
    assert_string_equal(
        fake.log, "chg X-Gillnet-Status 2 -\n"
                  "chg X-Gillnet-Status 1 -\n"
                  "ins 1 X-Gillnet-Symbols: -\n"
                  "ins 1 X-Gillnet-Score: 0.0\n"
                  "ins 1 X-Gillnet-Status: No, action=accept score=0.0 required=5.0\n");
    run("Q");
    end();
}

static void test_shingle_keys__as_time_goes__are_those_of_the_ring_then(void **state)
{
    static const struct hashkey ring = {1, "key of the tests"};
    struct fingerprint_options made;
    struct shingle_keys expected;
    (void)state;
    service_set_digest_key(NULL);
    service_imprint(&made);
    assert_false(made.keys.is_set);
    service_set_digest_key(&ring);
    for (uint64_t epoch = 700; epoch < 703; epoch++) {
        uint64_t now_s = epoch * SHINGLE_EPOCH_S + 5;
        clock_set_for_test(now_s * 1000000, 1);
        service_imprint(&made);
        shingle_keys_make(&ring, now_s, &expected);
        assert_true(made.keys.is_set);
        assert_int_equal(made.keys.epoch[0].number, epoch);
        assert_int_equal(made.keys.epoch[1].number, epoch - 1);
        assert_memory_equal(made.keys.epoch[0].key, expected.epoch[0].key,
                            sizeof(made.keys.epoch[0].key));
    }
    clock_unset_for_test();
    service_set_digest_key(NULL);
}

static void test_message__after_another__forged_counts_start_anew(void **state)
{
    begin(*state, "", 10);
    run("NCHMRTFFFEBDMRTFEB");
    fake_clear_log(&fake);
    assert_int_equal(step('D'), SMFIS_CONTINUE);
    assert_non_null(strstr(fake.log, "chg X-Gillnet-Status 1 -\n"));
    assert_null(strstr(fake.log, "chg X-Gillnet-Status 2 -\n"));
    run("Q");
    end();
}

static void test_message__forged_names_around_the_limit__own_always_gone(void **state)
{
    for (unsigned n = SESSION_FORGED_NAMES - 1; n <= SESSION_FORGED_NAMES + 1; n++) {
        begin(*state, "", 10);
        run("NCHMRT");
        for (unsigned i = 0; i < n; i++) {
            char name[64];
            snprintf(name, sizeof(name), "X-Gillnet-Other-%u", i);
            give_header(name, "x");
        }
        give_header("X-GILLNET-SYMBOLS", "x");
        fake_clear_log(&fake);
        assert_int_equal(step('D'), SMFIS_CONTINUE);
        assert_non_null(strstr(fake.log, "chg X-Gillnet-Symbols 1 -\n"));
        unsigned gone = 0;
        for (const char *p = fake.log; (p = strstr(p, "chg X-Gillnet-Other-")); p++) {
            gone++;
        }
        assert_int_equal(gone, n < SESSION_FORGED_NAMES ? n : SESSION_FORGED_NAMES);
        run("Q");
        end();
    }
}

static void test_message__trusted_client_or_login__skipped_but_stripped(void **state)
{
    static const struct {
        const char *config;
        const char *address;
        const char *macro;
        bool is_skipped;
    } rows[] = {
        {"trusted_networks = [\"192.0.2.0/24\"];\n", "192.0.2.1", NULL, true},
        {"trusted_networks = [\"192.0.2.0/24\"];\n", "192.0.3.1", NULL, false},
        {"", "192.0.2.1", "{auth_authen}", true},
        {"", "192.0.2.1", "{auth_type}", true},
        {"skip_authenticated = false;\n", "192.0.2.1", "{auth_authen}", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(*state, rows[i].config, 10);
        uint64_t skipped = stats_get(STAT_messages_skipped);
        fake.macros[0].name = rows[i].macro;
        fake.macros[0].value = "someone";
        run("N");
        connect_from(rows[i].address);
        run("MRTFEB");
        fake_clear_log(&fake);
        assert_int_equal(step('D'), SMFIS_CONTINUE);
        assert_non_null(strstr(fake.log, "chg X-Gillnet-Status 1 -\n"));
        assert_int_equal(strstr(fake.log, "ins 1") == NULL, rows[i].is_skipped);
        assert_int_equal(stats_get(STAT_messages_skipped) - skipped,
                         rows[i].is_skipped);
        run("Q");
        end();
    }
}

static void test_sessions__over_the_limit__accepted_unexamined(void **state)
{
    begin(*state, "", 1);
    static struct fake_ctx first;
    run("NCHM");
    first = fake;
    fake = (struct fake_ctx){.priv = NULL};
    /* the second one gets a reply at connect: accept */
    uint64_t refused = stats_get(STAT_sessions_refused);
    unsigned long steps = 0;
    assert_int_equal(negotiate_with(all_actions, all_steps, &steps), SMFIS_CONTINUE);
    assert_int_equal(steps & SMFIP_NR_CONN, 0);
    assert_int_equal(connect_from("192.0.2.2"), SMFIS_ACCEPT);
    assert_int_equal(stats_get(STAT_sessions_refused), refused + 1);
    /* should the MTA go on, it is not examined */
    step('M');
    fake_clear_log(&fake);
    assert_int_equal(step('D'), SMFIS_CONTINUE);
    assert_string_equal(fake.log, "");
    step('Q');
    fake = first;
    step('Q');
    /* and then there is room again */
    fake = (struct fake_ctx){.priv = NULL};
    assert_int_equal(negotiate_with(all_actions, all_steps, &steps), SMFIS_CONTINUE);
    assert_int_equal(steps & SMFIP_NR_CONN, SMFIP_NR_CONN);
    step('Q');
    end();
}

static void test_negotiate__symbols_may_be_named__what_is_read_is_asked_for(
    void **state)
{
    begin(*state, "", 10);
    unsigned long steps = 0;
    fake_clear_log(&fake);
    negotiate_with(all_actions | SMFIF_SETSYMLIST, all_steps, &steps);
    assert_non_null(strstr(fake.log, "{client_addr}"));
    assert_non_null(strstr(fake.log, "{auth_type}"));
    step('Q');
    fake_clear_log(&fake);
    negotiate_with(all_actions & ~(unsigned long)SMFIF_SETSYMLIST, all_steps, &steps);
    assert_null(strstr(fake.log, "symbols"));
    step('Q');
    end();
}

/* After any part, text may follow that is examined; only unexamined mail is skipped. */
static void test_body__of_a_message_that_is_not_examined__skip(void **state)
{
    static const char *const clients[] = {"192.0.2.1", "198.51.100.1"};
    unsigned char body[600];
    memset(body, 'x', sizeof(body));
    begin(*state,
          "trusted_networks = [\"192.0.2.0/24\"];\noutgoing = false;\n"
          "limits: { message_bytes = \"1K\"; };\n",
          10);
    for (size_t i = 0; i < 4; i++) {
        unsigned long steps = 0;
        unsigned long no_skip = i < 2 ? 0 : SMFIP_SKIP;
        bool may_skip = i == 0;
        SMFICTX *ctx = fake_smfi(&fake);
        negotiate_with(all_actions, all_steps & ~(SMFIP_NR_BODY | no_skip), &steps);
        (void)connect_from(clients[i % 2]);
        step('M');
        for (int chunk = 0; chunk < 3; chunk++) {
            assert_int_equal(call.xxfi_body(ctx, body, sizeof(body)),
                             may_skip ? SMFIS_SKIP : SMFIS_CONTINUE);
        }
        step('D');
        step('Q');
    }
    end();
}

static void test_memory__too_little__accepted_with_a_header_that_says_so(void **state)
{
    begin(*state, "limits: { memory = \"64K\"; };\n", 10);
    run("NCHM");
    char name[] = "X-Long";
    static char value[60000];
    memset(value, 'v', sizeof(value) - 1);
    for (int i = 0; i < 20; i++) {
        call.xxfi_header(fake_smfi(&fake), name, value);
    }
    run("EB");
    fake_clear_log(&fake);
    assert_int_equal(step('D'), SMFIS_CONTINUE);
    assert_non_null(strstr(fake.log, "X-Gillnet-Status: "));
    assert_true(strstr(fake.log, "limit=") || strstr(fake.log, "reason=memory"));
    run("Q");
    end();
}

static void test_setpriv__refused__mail_passes(void **state)
{
    begin(*state, "", 10);
    fake.fails_setpriv = true;
    step('N');
    assert_int_equal(step('C'), SMFIS_NOREPLY);
    assert_int_equal(step('M'), SMFIS_NOREPLY);
    assert_int_equal(step('B'), SMFIS_NOREPLY);
    assert_int_equal(step('D'), SMFIS_CONTINUE);
    assert_int_equal(step('Q'), SMFIS_CONTINUE);
    end();
}

static void test_reload__message_open__keeps_its_configuration(void **state)
{
    begin(*state, "", 10);
    run("NCHMRTLEB");
    service_set_config(
        load(((struct tempdir *)*state)->path, "add_headers = false;\n"));
    fake_clear_log(&fake);
    assert_int_equal(step('D'), SMFIS_CONTINUE);
    assert_non_null(strstr(fake.log, "X-Gillnet-Status"));
    run("MRTLEB");
    fake_clear_log(&fake);
    assert_int_equal(step('D'), SMFIS_CONTINUE);
    assert_string_equal(fake.log, "");
    run("Q");
    end();
}

static bool not_urgent(void)
{
    return false;
}

static bool urgent(void)
{
    return true;
}

static void test_drain__message_open__waits_for_it(void **state)
{
    begin(*state, "", 10);
    run("NCHM");
    assert_false(service_drain(20 * 1000, not_urgent));
    assert_false(service_drain(60 * 1000 * 1000, urgent));
    run("LEBD");
    assert_true(service_drain(0, not_urgent));
    run("Q");
    end();
}

static void test_fini__sessions_left__freed(void **state)
{
    begin(*state, "", 10);
    run("NCHMRTLEB");
    assert_true(service_close_gate(0));
    fake.priv = NULL;
    service_fini();
    assert_int_equal(service_sessions(), 0);
    assert_int_equal(service_messages(), 0);
    list_manager_free(&lists);
}

static void test_session__idle__is_small(void **state)
{
    (void)state;
    assert_true(sizeof(struct session) + 2 * SESSION_TEXT_MAX < 2048);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_sequence__any_order__answers_and_holds_nothing),
        IN_FOLDER(test_sequence__every_short_one__holds_nothing),
        IN_FOLDER(test_message__examined__headers_in_order_and_forged_gone),
        IN_FOLDER(test_shingle_keys__as_time_goes__are_those_of_the_ring_then),
        IN_FOLDER(test_message__after_another__forged_counts_start_anew),
        IN_FOLDER(test_message__forged_names_around_the_limit__own_always_gone),
        IN_FOLDER(test_message__trusted_client_or_login__skipped_but_stripped),
        IN_FOLDER(test_sessions__over_the_limit__accepted_unexamined),
        IN_FOLDER(test_negotiate__symbols_may_be_named__what_is_read_is_asked_for),
        IN_FOLDER(test_body__of_a_message_that_is_not_examined__skip),
        IN_FOLDER(test_memory__too_little__accepted_with_a_header_that_says_so),
        IN_FOLDER(test_setpriv__refused__mail_passes),
        IN_FOLDER(test_reload__message_open__keeps_its_configuration),
        IN_FOLDER(test_drain__message_open__waits_for_it),
        IN_FOLDER(test_fini__sessions_left__freed),
        cmocka_unit_test(test_session__idle__is_small),
    };
    assert_int_equal(base_init(), ERR_OK);
    log_set_level(LOG_LEVEL_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
