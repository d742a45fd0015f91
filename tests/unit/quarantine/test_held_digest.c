/*
 * test_held_digest - templates, hostile values, links that are left out, and addresses.
 */
#include "core/base/base.h"
#include "core/quarantine/held_digest.h"

#include "tests/unit/unit.h"

static const char template[] = "Subject: {count} für {recipient}\n"
                               "\n"
                               "Dear {recipient},\n"
                               "{each}\n"
                               "{from} / {subject} / {id} {bytes} {score} {case}\n"
                               "deliver: {release}\n"
                               "spam: {spam}\n"
                               "{end}\n"
                               "end\n";

static json_t *example_row(const char *subject, const char *release)
{
    json_t *row = json_pack("{s:s, s:i, s:i, s:s, s:s, s:f, s:s, s:s}", "id", "12345",
                            "time_s", 1, "bytes", 384, "from", "A <a@x.example>",
                            "subject", subject, "score", 5.0, "case", "1kz5tszkk2t3",
                            "spam_url", "https://hub.example/q/2");

    if (release != NULL) {
        (void)json_object_set_new(row, "release_url", json_string(release));
    }
    return row;
}

static void print_rows_of(json_t *rows, struct buf *ret)
{
    const struct held_digest d = {.template = slice_str(template),
                                  .from = "filter@rcpt.example",
                                  .host = "mx.rcpt.example",
                                  .recipient = "bob@rcpt.example",
                                  .rows = rows,
                                  .now_s = 1795833447};

    buf_init(ret, HELD_DIGEST_MAX);
    assert_int_equal(held_digest_check(d.template, NULL), ERR_OK);
    held_digest_print(&d, ret);
    assert_false(buf_failed(ret));
}

static bool has_text(const struct buf *b, const char *text)
{
    return slice_find_slice(buf_slice(b), slice_str(text)) < b->n;
}

static void test_digest__two_messages__each_has_its_lines_and_links(void **state)
{
    json_t *rows = json_array();
    struct buf mail;

    (void)state;
    (void)json_array_append_new(rows, example_row("one", "https://hub.example/q/1"));
    (void)json_array_append_new(rows, example_row("two", NULL));
    print_rows_of(rows, &mail);
    assert_true(has_text(&mail, "From: filter@rcpt.example\nTo: bob@rcpt.example\n"));
    assert_true(has_text(&mail, "Subject: =?utf-8?q?2=20messages=20f=C3=BCr=20bob=40"));
    assert_true(has_text(&mail, "Date: Sat, 28 Nov 2026 02:37:27 +0000\n"));
    assert_true(has_text(&mail, "Auto-Submitted: auto-generated\n"));
    assert_true(has_text(&mail, "\n\nDear bob@rcpt.example,\n"));
    assert_true(has_text(&mail, "A <a@x.example> / one / 12345 384 5.0 1kz5tszkk2t3\n"
                                "deliver: https://hub.example/q/1\n"
                                "spam: https://hub.example/q/2\n"));
    assert_true(has_text(&mail, "/ two / 12345 384 5.0 1kz5tszkk2t3\n"
                                "spam: https://hub.example/q/2\nend\n"));
    json_decref(rows);
    buf_fini(&mail);
}

static void test_digest__time__is_of_the_message_in_utc(void **state)
{
    json_t *rows = json_array();
    const struct held_digest d = {
        .template = SLICE_LIT("Subject: s\n\n{each}\nat {time}.\n{end}\n"),
        .from = "filter@rcpt.example",
        .host = "mx.rcpt.example",
        .recipient = "bob@rcpt.example",
        .rows = rows};
    struct buf mail;

    (void)state;
    (void)json_array_append_new(rows, json_pack("{s:i}", "time_s", 1795833447));
    buf_init(&mail, HELD_DIGEST_MAX);
    assert_int_equal(held_digest_check(d.template, NULL), ERR_OK);
    held_digest_print(&d, &mail);
    assert_true(has_text(&mail, "at 2026-11-28 02:37 UTC.\n"));
    json_decref(rows);
    buf_fini(&mail);
}

static void test_digest__page__is_there_if_there_is_one(void **state)
{
    json_t *rows = json_array();
    struct held_digest d = {.template =
                                SLICE_LIT("Subject: s {page}\n\nall: {page}\nend\n"),
                            .from = "filter@rcpt.example",
                            .host = "mx.rcpt.example",
                            .recipient = "bob@rcpt.example",
                            .rows = rows};
    struct buf mail;

    (void)state;
    assert_int_equal(held_digest_check(d.template, NULL), ERR_OK);
    buf_init(&mail, HELD_DIGEST_MAX);
    held_digest_print(&d, &mail);
    assert_false(has_text(&mail, "all:"));
    buf_clear(&mail);
    d.page_url = "https://hub.example/q/3";
    held_digest_print(&d, &mail);
    assert_true(has_text(&mail, "all: https://hub.example/q/3\nend\n"));
    json_decref(rows);
    buf_fini(&mail);
}

static void test_digest__hostile_subject__is_shown_and_leads_nowhere(void **state)
{
    json_t *rows = json_array();
    struct buf mail;

    (void)state;
    (void)json_array_append_new(
        rows,
        example_row("=?utf-8?q?pay=0D=0A.=0D=0ABcc:_x=E2=80=AE?= http://e.example/ "
                    "WWW.e.example {release}",
                    "https://hub.example/q/1"));
    print_rows_of(rows, &mail);
    assert_false(has_text(&mail, "\n."));
    assert_false(has_text(&mail, "\nBcc"));
    assert_true(has_text(&mail, "<U+202E>"));
    assert_false(has_text(&mail, "http://e.example"));
    assert_false(has_text(&mail, "WWW.e"));
    assert_true(has_text(&mail, "WWW[.]"));
    for (size_t i = 0; i < mail.n; i++) { /* ASCII, and no line too long */
        assert_true((unsigned char)mail.p[i] < 0x7f);
    }
    for (struct slice rest = buf_slice(&mail); rest.n > 0;) {
        assert_true(slice_cut(&rest, '\n').n <= 200);
    }
    json_decref(rows);
    buf_fini(&mail);
}

static void test_template__wrong__is_named(void **state)
{
    static const struct {
        const char *text;
        const char *why;
    } rows[] = {
        {"", "the first line must be \"Subject: ...\""},
        {"Hello\n", "the first line must be \"Subject: ...\""},
        {"Subject: x\n\n{each}\n{from}\n", "{each} has no line {end}"},
        {"Subject: x\n\n{froom}\n", "{froom} is no name; gillnet(1) lists the names"},
        {"Subject: x\n\n{}\n", "{} is no name; gillnet(1) lists the names"},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct errinfo why = {.text = ""};

        assert_int_equal(held_digest_check(slice_str(rows[i].text), &why), ERR_SYNTAX);
        assert_string_equal(why.text, rows[i].why);
    }
    assert_int_equal(held_digest_check(held_digest_template(), NULL), ERR_OK);
}

static void test_address__for_a_header_and_a_command__is_plain(void **state)
{
    static const char *const good[] = {"bob@rcpt.example", "a.b+c=d@x",
                                       "o'neil@x.example"};
    static const char *const bad[] = {
        "",      "bob",      "@x",      "-f@x",    "a b@x",
        "a@b@c", "a@x\nBcc", "\"a\"@x", "a@x,b@y", "b\xc3\xb6@x.example",
        "<a@x>", "a@x;b",    "a(b)@x"};

    (void)state;
    for (size_t i = 0; i < LENGTH(good); i++) {
        assert_true(held_digest_takes(good[i]));
    }
    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_false(held_digest_takes(bad[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digest__two_messages__each_has_its_lines_and_links),
        cmocka_unit_test(test_digest__time__is_of_the_message_in_utc),
        cmocka_unit_test(test_digest__page__is_there_if_there_is_one),
        cmocka_unit_test(test_digest__hostile_subject__is_shown_and_leads_nowhere),
        cmocka_unit_test(test_template__wrong__is_named),
        cmocka_unit_test(test_address__for_a_header_and_a_command__is_plain),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
