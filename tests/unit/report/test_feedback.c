/*
 * test_feedback - abuse reports, bounces and attached messages give the messages that they are about.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/report/feedback.h"

#include "tests/unit/unit.h"

#define SPAM                                                                   \
    "Received: from a.example by b.example\r\nMessage-ID: <one@a.example>\r\n" \
    "Subject: buy\r\n\r\nhttp://evil.example/\r\n"
#define OTHER            "Subject: two\r\nMessage-Id:\r\n <two@a.example>\r\n\r\nhello\r\n"
#define PART(type, text) "--b\r\nContent-Type: " type "\r\n\r\n" text "\r\n"
#define MIXED \
    "From: ann@our.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
#define REPORT(type)                                                               \
    "From: fbl@their.example\r\nContent-Type: multipart/report; report-type=" type \
    ";\r\n boundary=\"b\"\r\n\r\n"
#define END "--b--\r\n"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new(64 << 20);
    return arena == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static struct feedback read_mail(const char *mail)
{
    struct feedback f;
    feedback_read(arena, slice_str(mail), &f);
    return f;
}

static void expect(struct slice got, const char *want)
{
    char text[2048];
    (void)snprintf(text, sizeof(text), "%.*s", SLICE_ARGS(got));
    assert_string_equal(text, want);
}

/* ---- attachments ---- */

static void test_feedback_read__two_attached__gives_both_as_they_were(void **state)
{
    (void)state;
    struct feedback f = read_mail(MIXED PART("text/plain", "look") PART(
        "message/rfc822", SPAM) PART("message/rfc822; name=\"x.eml\"", OTHER) END);
    assert_int_equal(f.kind, FEEDBACK_ATTACHED);
    assert_int_equal(f.nmessages, 2);
    expect(f.message[0].bytes, SPAM);
    expect(f.message[0].message_id, "one@a.example");
    assert_true(f.message[0].has_body);
    expect(f.message[1].bytes, OTHER);
    expect(f.message[1].message_id, "two@a.example");
    assert_false(f.is_cut);
}

/* A field's name has one letter at least. */
static void test_feedback_read__shortest_message__is_one(void **state)
{
    (void)state;
    struct feedback f = read_mail(MIXED PART("message/rfc822", "A: b") PART(
        "message/rfc822", "From a Mon Jan  1\nA: b\n\nx") PART("message/rfc822", ": b")
                                      PART("message/rfc822", "From a\n: b") END);
    assert_int_equal(f.kind, FEEDBACK_ATTACHED);
    assert_int_equal(f.nmessages, 2);
    expect(f.message[0].bytes, "A: b");
}

static void test_feedback_read__encoded_message__is_decoded(void **state)
{
    (void)state;
    static const char *const types[] = {
        "message/rfc822", "application/octet-stream; name=\"Spam mail.EML\""};
    for (size_t i = 0; i < 2; i++) {
        char mail[1024];
        (void)snprintf(mail, sizeof(mail),
                       MIXED "--b\r\nContent-Type: %s\r\nContent-Transfer-Encoding: "
                             "base64\r\n\r\nU3ViamVjdDogYnV5DQoNCmhlbGxvDQo=\r\n" END,
                       types[i]);
        struct feedback f = read_mail(mail);
        assert_int_equal(f.kind, FEEDBACK_ATTACHED);
        assert_int_equal(f.nmessages, 1);
        expect(f.message[0].bytes, "Subject: buy\r\n\r\nhello\r\n");
    }
}

static void test_feedback_read__message_in_a_message__is_part_of_it(void **state)
{
    (void)state;
    struct feedback f = read_mail(MIXED PART(
        "message/rfc822",
        "Subject: out\r\nContent-Type: multipart/mixed; boundary=i\r\n\r\n"
        "--i\r\nContent-Type: message/rfc822\r\n\r\n" SPAM "\r\n--i--\r\n") END);
    assert_int_equal(f.nmessages, 1);
    assert_true(slice_has_prefix(f.message[0].bytes, SLICE_LIT("Subject: out")));
    assert_true(slice_has_suffix_nocase(f.message[0].bytes, SLICE_LIT("--i--\r\n")));
}

static void test_feedback_read__digest__gives_each_message(void **state)
{
    (void)state;
    struct feedback f =
        read_mail("Content-Type: multipart/digest; boundary=b\r\n\r\n"
                  "--b\r\n\r\n" SPAM "\r\n--b\r\n\r\n" OTHER "\r\n" END);
    assert_int_equal(f.nmessages, 2);
    expect(f.message[1].bytes, OTHER);
}

static void test_feedback_read__more_than_the_limit__are_left_out(void **state)
{
    (void)state;
    for (unsigned n = FEEDBACK_MESSAGES - 1; n <= FEEDBACK_MESSAGES + 1; n++) {
        char mail[8192] = MIXED;
        for (unsigned i = 0; i < n; i++) {
            strcat(mail, PART("message/rfc822", SPAM)); /* NOLINT: it has room */
        }
        strcat(mail, END); /* NOLINT */
        struct feedback f = read_mail(mail);
        assert_int_equal(f.nmessages, n > FEEDBACK_MESSAGES ? FEEDBACK_MESSAGES : n);
        assert_int_equal(f.is_cut, n > FEEDBACK_MESSAGES);
    }
}

static void test_feedback_read__no_message__is_none(void **state)
{
    (void)state;
    static const char *const mails[] = {
        "", "Subject: hello\r\n\r\nForwarded:\r\n> buy\r\n", MIXED END,
        MIXED PART("message/rfc822", "") END,
        MIXED PART("message/rfc822", "no field at all") END,
        /* not a multipart/report: its parts are no report */
        MIXED PART("message/feedback-report", "Feedback-Type: abuse") END,
        MIXED PART("text/rfc822-headers", SPAM) END};
    for (size_t i = 0; i < LENGTH(mails); i++) {
        struct feedback f = read_mail(mails[i]);
        assert_int_equal(f.kind, FEEDBACK_NONE);
        assert_int_equal(f.nmessages, 0);
    }
}

static void test_feedback_read__redirected__is_itself_without_resent(void **state)
{
    (void)state;
    struct feedback f = read_mail(
        "Resent-From: ann@our.example\r\nResent-To:\r\n spam@our.example\r\n" SPAM);
    assert_int_equal(f.kind, FEEDBACK_REDIRECTED);
    assert_int_equal(f.nmessages, 1);
    expect(f.message[0].bytes, SPAM);
}

/* ---- abuse reports ---- */

static void test_feedback_read__abuse_report__says_what_it_is_about(void **state)
{
    (void)state;
    struct feedback f = read_mail(
        REPORT("feedback-report") PART("text/plain", "This is a report")
            PART("message/feedback-report",
                 "Feedback-Type: abuse\r\nVersion: 1\r\n"
                 "Original-Mail-From: <bad@a.example>\r\n"
                 "Original-Rcpt-To: <ann@their.example>\r\n"
                 "Original-Rcpt-To: <eve@their.example>\r\nSource-IP: 192.0.2.7\r\n")
                PART("message/rfc822", SPAM) END);
    assert_int_equal(f.kind, FEEDBACK_ABUSE);
    assert_int_equal(f.opinion, FEEDBACK_SPAM);
    expect(f.original.mail_from, "bad@a.example");
    expect(f.original.rcpt, "ann@their.example");
    expect(f.original.source_ip, "192.0.2.7");
    assert_int_equal(f.nmessages, 1);
    expect(f.message[0].bytes, SPAM);
}

static void test_feedback_read__types__have_an_opinion_or_none(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        enum feedback_opinion opinion;
    } rows[] = {{"abuse", FEEDBACK_SPAM},          {"Fraud", FEEDBACK_SPAM},
                {"virus", FEEDBACK_SPAM},          {"not-spam", FEEDBACK_HAM},
                {"auth-failure", FEEDBACK_SILENT}, {"other", FEEDBACK_SILENT},
                {"opt-out", FEEDBACK_SILENT},      {"", FEEDBACK_SILENT}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char mail[1024];
        (void)snprintf(mail, sizeof(mail),
                       REPORT("feedback-report")
                           PART("message/feedback-report", "Feedback-Type: %s") END,
                       rows[i].type);
        struct feedback f = read_mail(mail);
        assert_int_equal(f.kind, FEEDBACK_ABUSE);
        assert_int_equal(f.opinion, rows[i].opinion);
    }
}

static void test_feedback_read__header_alone__has_no_body(void **state)
{
    (void)state;
    struct feedback f = read_mail(
        REPORT("feedback-report")
            PART("message/feedback-report", "Feedback-Type: abuse")
                PART("text/rfc822-headers", "Message-ID: <one@a.example>\r\nSubject: x")
                    END);
    assert_int_equal(f.nmessages, 1);
    assert_false(f.message[0].has_body);
    expect(f.message[0].message_id, "one@a.example");
}

/* ---- bounces ---- */

#define STATUS(text) \
    PART("message/delivery-status", "Reporting-MTA: dns; mx\r\n\r\n" text)

static void test_feedback_read__bounce__names_the_recipient_refused_as_spam(
    void **state)
{
    (void)state;
    struct feedback f = read_mail(REPORT("delivery-status") STATUS(
        "Final-Recipient: rfc822; gone@a.example\r\nAction: failed\r\nStatus: 5.1.1\r\n"
        "\r\nOriginal-Recipient: rfc822;Bob@b.example\r\n"
        "Final-Recipient: rfc822; bob2@b.example\r\nAction: Failed\r\n"
        "Status: 5.7.1 (refused)\r\nDiagnostic-Code: smtp; 550 5.7.1 spam")
                                      PART("text/rfc822-headers",
                                           "Message-ID: <out@our.example>") END);
    assert_int_equal(f.kind, FEEDBACK_BOUNCE);
    assert_true(f.is_refused_as_spam);
    expect(f.original.rcpt, "Bob@b.example");
    expect(f.original.status, "5.7.1");
    expect(f.message[0].message_id, "out@our.example");
}

static void test_feedback_read__other_bounces__are_not_refused_as_spam(void **state)
{
    (void)state;
    static const char *const groups[] = {
        "Final-Recipient: rfc822; a@a.example\r\nAction: failed\r\nStatus: 5.1.1",
        "Final-Recipient: rfc822; a@a.example\r\nAction: delayed\r\nStatus: 5.7.1",
        "Final-Recipient: rfc822; a@a.example\r\nAction: failed\r\nStatus: 4.7.1",
        "Final-Recipient: rfc822; a@a.example\r\nAction: failed\r\nStatus: 5.7.26",
        "Final-Recipient: rfc822; a@a.example\r\nAction: failed\r\nStatus: 5.7.",
        "Action: failed\r\nStatus: 5.7.1",
        "Status: 5.7.1",
        ""};
    for (size_t i = 0; i < LENGTH(groups); i++) {
        char mail[1024];
        (void)snprintf(mail, sizeof(mail), REPORT("delivery-status") STATUS("%s") END,
                       groups[i]);
        struct feedback f = read_mail(mail);
        assert_int_equal(f.kind, FEEDBACK_BOUNCE);
        assert_false(f.is_refused_as_spam);
    }
}

/* ---- bounds ---- */

static void test_feedback_read__cut_anywhere__stays_within_the_mail(void **state)
{
    (void)state;
    static const char mail[] = REPORT("feedback-report")
        PART("message/feedback-report", "Feedback-Type: abuse\r\nSource-IP: 192.0.2.7")
            PART("message/rfc822", SPAM) PART("message/rfc822", OTHER) END;
    for (size_t n = 0; n < sizeof(mail); n++) {
        struct feedback f;
        feedback_read(arena, slice_of(mail, n), &f);
        for (size_t i = 0; i < f.nmessages; i++) {
            assert_true(f.message[i].bytes.n <= n);
            assert_true(f.message[i].message_id.n <= f.message[i].bytes.n);
        }
        arena_reset(arena);
    }
}

static void test_feedback_read__no_memory__is_cut(void **state)
{
    (void)state;
    struct arena *small = arena_new(1024);
    struct feedback f;
    feedback_read(small, SLICE_LIT(MIXED PART("message/rfc822", SPAM) END), &f);
    assert_true(f.is_cut);
    assert_int_equal(f.nmessages, 0);
    arena_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_feedback_read__two_attached__gives_both_as_they_were),
        cmocka_unit_test(test_feedback_read__shortest_message__is_one),
        cmocka_unit_test(test_feedback_read__encoded_message__is_decoded),
        cmocka_unit_test(test_feedback_read__message_in_a_message__is_part_of_it),
        cmocka_unit_test(test_feedback_read__digest__gives_each_message),
        cmocka_unit_test(test_feedback_read__more_than_the_limit__are_left_out),
        cmocka_unit_test(test_feedback_read__no_message__is_none),
        cmocka_unit_test(test_feedback_read__redirected__is_itself_without_resent),
        cmocka_unit_test(test_feedback_read__abuse_report__says_what_it_is_about),
        cmocka_unit_test(test_feedback_read__types__have_an_opinion_or_none),
        cmocka_unit_test(test_feedback_read__header_alone__has_no_body),
        cmocka_unit_test(
            test_feedback_read__bounce__names_the_recipient_refused_as_spam),
        cmocka_unit_test(test_feedback_read__other_bounces__are_not_refused_as_spam),
        cmocka_unit_test(test_feedback_read__cut_anywhere__stays_within_the_mail),
        cmocka_unit_test(test_feedback_read__no_memory__is_cut),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
