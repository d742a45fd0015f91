/*
 * test_reply - replies to the MTA for each action, offer and refusal.
 */
#include <stdio.h>
#include <string.h>

#include "milter/reply.h"

#include "tests/unit/milter/fake_smfi.h"
#include "tests/unit/unit.h"

static char reject_text[] = "refused {id} {symbols} 100%";
static char defer_text[] = "later {id}";
static struct config config = {
    .add_headers = true, .reject_text = reject_text, .defer_text = defer_text};

static void prepare(struct session *s, struct fake_ctx *f, unsigned long actions)
{
    *f = (struct fake_ctx){.priv = NULL};
    *s = (struct session){.options = {.actions = actions}, .has_message = true};
    s->message.config = &config;
    snprintf(s->message.queue_id, sizeof(s->message.queue_id), "4Xyz");
}

static void make_verdict(struct verdict *v, enum action action)
{
    *v = (struct verdict){.action = action, .score = 6.0, .nsymbols = 1};
    snprintf(v->symbols[0].name, sizeof(v->symbols[0].name), "LIST_PHISH");
    v->symbols[0].score = 6.0;
    v->symbols[0].detail = SLICE_LIT("url_domain=evil.example");
}

static const unsigned long all = SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_QUARANTINE;

#define REQUIRED "0.0" /* of a configuration that is all zero */
#define HEADERS(action)                                                   \
    "ins 1 X-Gillnet-Symbols: LIST_PHISH(6.0)[url_domain=evil.example]\n" \
    "ins 1 X-Gillnet-Score: 6.0\n"                                        \
    "ins 1 X-Gillnet-Status: " action " score=6.0 required=" REQUIRED "\n"

static void test_verdict__each_action_and_offer__mapped_or_milder(void **state)
{
    (void)state;
    static const struct {
        enum action action;
        unsigned long offered;
        bool fails_insert;
        bool fails_quarantine;
        enum action done;
        int code;
        const char *log;
    } rows[] = {
        {ACTION_ACCEPT, all, false, false, ACTION_ACCEPT, SMFIS_CONTINUE,
         HEADERS("No, action=accept")},
        {ACTION_HEADER, all, false, false, ACTION_HEADER, SMFIS_CONTINUE,
         HEADERS("Yes, action=header")},
        {ACTION_QUARANTINE, all, false, false, ACTION_QUARANTINE, SMFIS_CONTINUE,
         "quarantine gillnet: LIST_PHISH(6.0)\n" HEADERS("Yes, action=quarantine")},
        {ACTION_DEFER, all, false, false, ACTION_DEFER, SMFIS_TEMPFAIL,
         "reply 451 4.7.1 later 4Xyz\n"},
        {ACTION_REJECT, all, false, false, ACTION_REJECT, SMFIS_REJECT,
         "reply 550 5.7.1 refused 4Xyz LIST_PHISH(6.0) 100%%\n"},
        {ACTION_DISCARD, all, false, false, ACTION_DISCARD, SMFIS_DISCARD, ""},
        /* what the MTA cannot do becomes the next milder */
        {ACTION_QUARANTINE, SMFIF_ADDHDRS, false, false, ACTION_HEADER, SMFIS_CONTINUE,
         HEADERS("Yes, action=header")},
        {ACTION_QUARANTINE, all, false, true, ACTION_HEADER, SMFIS_CONTINUE,
         HEADERS("Yes, action=header")},
        {ACTION_QUARANTINE, 0, false, false, ACTION_ACCEPT, SMFIS_CONTINUE, ""},
        {ACTION_QUARANTINE, SMFIF_QUARANTINE, false, false, ACTION_QUARANTINE,
         SMFIS_CONTINUE, "quarantine gillnet: LIST_PHISH(6.0)\n"},
        {ACTION_HEADER, 0, false, false, ACTION_ACCEPT, SMFIS_CONTINUE, ""},
        {ACTION_HEADER, all, true, false, ACTION_ACCEPT, SMFIS_CONTINUE, ""},
        {ACTION_REJECT, 0, false, false, ACTION_REJECT, SMFIS_REJECT,
         "reply 550 5.7.1 refused 4Xyz LIST_PHISH(6.0) 100%%\n"},
        {ACTION_DISCARD, 0, false, false, ACTION_DISCARD, SMFIS_DISCARD, ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static struct fake_ctx f;
        struct session s;
        struct verdict v;
        struct outcome o;
        prepare(&s, &f, rows[i].offered);
        f.fails_insert = rows[i].fails_insert;
        f.fails_quarantine = rows[i].fails_quarantine;
        make_verdict(&v, rows[i].action);
        reply_verdict(fake_smfi(&f), &s, &v, &o);
        assert_int_equal(o.code, rows[i].code);
        assert_int_equal(o.done, rows[i].done);
        assert_int_equal(o.wanted, rows[i].action);
        assert_string_equal(f.log, rows[i].log);
    }
}

static void test_verdict__headers_switched_off__only_when_tagged(void **state)
{
    (void)state;
    static struct fake_ctx f;
    struct session s;
    struct verdict v;
    struct outcome o;
    config.add_headers = false;
    prepare(&s, &f, all);
    make_verdict(&v, ACTION_ACCEPT);
    reply_verdict(fake_smfi(&f), &s, &v, &o);
    assert_string_equal(f.log, "");
    make_verdict(&v, ACTION_HEADER);
    reply_verdict(fake_smfi(&f), &s, &v, &o);
    assert_string_equal(f.log, HEADERS("Yes, action=header"));
    config.add_headers = true;
}

static void test_skipped__forged_fields__deleted_from_the_highest_down(void **state)
{
    (void)state;
    static struct fake_ctx f;
    struct session s;
    struct outcome o;
    prepare(&s, &f, all);
    s.message.own[0] = (struct forged){SLICE_LIT("X-Gillnet-Status"), 3};
    s.message.own[1] = (struct forged){SLICE_LIT("X-Gillnet-Score"), 0};
    s.message.own[2] = (struct forged){SLICE_LIT("X-Gillnet-Symbols"), 1};
    struct forged others[] = {{SLICE_LIT("x-gillnet-extra"), 2}};
    s.message.others = others;
    s.message.nothers = 1;
    reply_outgoing(fake_smfi(&f), &s, OUTGOING_PASS, &o);
    assert_string_equal(f.log, "chg X-Gillnet-Status 3 -\n"
                               "chg X-Gillnet-Status 2 -\n"
                               "chg X-Gillnet-Status 1 -\n"
                               "chg X-Gillnet-Symbols 1 -\n"
                               "chg x-gillnet-extra 2 -\n"
                               "chg x-gillnet-extra 1 -\n");
    assert_int_equal(o.nstripped, 6);
    assert_false(o.left_forged);
    assert_int_equal(o.code, SMFIS_CONTINUE);
    /* not offered, or refused: it is said */
    prepare(&s, &f, SMFIF_ADDHDRS);
    s.message.own[0] = (struct forged){SLICE_LIT("X-Gillnet-Status"), 1};
    reply_outgoing(fake_smfi(&f), &s, OUTGOING_PASS, &o);
    assert_true(o.left_forged);
    prepare(&s, &f, all);
    f.fails_change = true;
    s.message.own[0] = (struct forged){SLICE_LIT("X-Gillnet-Status"), 1};
    reply_outgoing(fake_smfi(&f), &s, OUTGOING_PASS, &o);
    assert_true(o.left_forged);
}

static void test_trouble__on_error__accept_with_header_or_defer(void **state)
{
    (void)state;
    static struct fake_ctx f;
    struct session s;
    struct outcome o;
    static const char id[CASE_ID_SIZE] = "d3k7p0vq9x2m";
    prepare(&s, &f, all);
    memcpy(s.message.case_text, id, sizeof(id));
    config.on_error = ACTION_ACCEPT;
    reply_trouble(fake_smfi(&f), &s, "memory", &o);
    assert_int_equal(o.code, SMFIS_CONTINUE);
    assert_string_equal(
        f.log, "ins 1 X-Gillnet-Status: unchecked, reason=memory case=d3k7p0vq9x2m\n");
    prepare(&s, &f, 0);
    reply_trouble(fake_smfi(&f), &s, "memory", &o);
    assert_int_equal(o.code, SMFIS_CONTINUE);
    assert_string_equal(f.log, "");
    config.on_error = ACTION_DEFER;
    memcpy(s.message.case_text, id, sizeof(id));
    reply_trouble(fake_smfi(&f), &s, "memory", &o);
    assert_int_equal(o.code, SMFIS_TEMPFAIL);
    assert_non_null(strstr(f.log, "reply 451 4.7.1 "));
    assert_non_null(strstr(f.log, ", case d3k7p0vq9x2m"));
    config.on_error = ACTION_ACCEPT;
}

static void test_shortfall__deadline_and_on_error__defers_only_when_asked(void **state)
{
    (void)state;
    static const struct {
        unsigned limits;
        enum action action;
        const char *allow;
        enum action on_error;
        bool is_short;
    } rows[] = {
        {LIMIT_FLAG(deadline), ACTION_ACCEPT, NULL, ACTION_DEFER, true},
        {LIMIT_FLAG(deadline), ACTION_ACCEPT, NULL, ACTION_ACCEPT, false},
        {LIMIT_FLAG(deadline), ACTION_ACCEPT, "network", ACTION_DEFER, false},
        {LIMIT_FLAG(deadline), ACTION_REJECT, NULL, ACTION_DEFER, false},
        {LIMIT_FLAG(urls), ACTION_ACCEPT, NULL, ACTION_DEFER, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct config c = {.on_error = rows[i].on_error};
        struct verdict v = {
            .limits = rows[i].limits, .action = rows[i].action, .allow = rows[i].allow};
        assert_int_equal(reply_shortfall(&c, &v) != NULL, rows[i].is_short);
    }
}

static void test_steps__options__answered_skipped_or_silent(void **state)
{
    (void)state;
    struct session s = {.has_message = false};
    assert_int_equal(reply_continue(&s, SMFIP_NR_HDR), SMFIS_CONTINUE);
    assert_int_equal(reply_connect(&s), SMFIS_CONTINUE);
    assert_int_equal(reply_body(&s, false), SMFIS_CONTINUE); /* skip not offered */
    s.options.may_skip = true;
    assert_int_equal(reply_body(&s, false), SMFIS_SKIP);
    assert_int_equal(reply_body(&s, true), SMFIS_CONTINUE);
    s.is_over_limit = true;
    assert_int_equal(reply_connect(&s), SMFIS_ACCEPT);
    s.options.noreply = SMFIP_NR_HDR | SMFIP_NR_BODY | SMFIP_NR_CONN;
    assert_int_equal(reply_continue(&s, SMFIP_NR_HDR), SMFIS_NOREPLY);
    assert_int_equal(reply_continue(&s, SMFIP_NR_EOH), SMFIS_CONTINUE);
    assert_int_equal(reply_body(&s, false), SMFIS_NOREPLY);
    assert_int_equal(reply_connect(&s), SMFIS_NOREPLY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdict__each_action_and_offer__mapped_or_milder),
        cmocka_unit_test(test_verdict__headers_switched_off__only_when_tagged),
        cmocka_unit_test(test_skipped__forged_fields__deleted_from_the_highest_down),
        cmocka_unit_test(test_trouble__on_error__accept_with_header_or_defer),
        cmocka_unit_test(test_shortfall__deadline_and_on_error__defers_only_when_asked),
        cmocka_unit_test(test_steps__options__answered_skipped_or_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
