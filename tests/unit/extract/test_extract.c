/*
 * test_extract - which features a message has, from wherever its bytes come.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/message/extract/extract.h"

#include "tests/unit/extract/limits.h"
#include "tests/unit/extract/names.h"
#include "tests/unit/unit.h"

enum { ARENA = 64 << 20 };

/* Types that have tests of their own. */
static bool is_of_another_test(unsigned type)
{
    return type == 9 || (type >= 33 && type <= 41) || (type >= 43 && type <= 48) ||
           type == FEATURE_trait || type == 61 || (type >= 63 && type <= 68);
}

/* Every other feature but the body digest, as "type:text" lines. */
static void list_features(const struct featureset *fs, struct buf *ret)
{
    buf_init(ret, 1 << 24);
    buf_add_str(ret, "");
    for (size_t i = 0; i < featureset_count(fs); i++) {
        const struct feature *f = featureset_at(fs, i);
        if (f->type == FEATURE_body || is_of_another_test(f->type)) {
            continue;
        }
        buf_add_str(ret, name_in_rows(f->type));
        buf_add_str(ret, ":");
        buf_add(ret, f->text);
        buf_add_str(ret, "\n");
    }
}

struct outcome {
    struct buf features;
    char body[80];
    unsigned limits;
};

static void take(struct extract *x, struct outcome *ret)
{
    struct featureset *fs = extract_finish(x);
    list_features(fs, &ret->features);
    const struct feature *body = featureset_first(fs, FEATURE_body);
    snprintf(ret->body, sizeof(ret->body), "%.*s", body != NULL ? (int)body->text.n : 0,
             body != NULL ? body->text.p : "");
    ret->limits = featureset_limits(fs);
}

static void run_raw(struct slice text, size_t step, const struct extract_limits *limits,
                    struct outcome *ret)
{
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, limits, NULL, 0);
    assert_non_null(x);
    step = step > 0 ? step : text.n;
    while (text.n > 0) {
        struct slice piece = slice_head(text, step);
        extract_raw(x, piece);
        text = slice_from(text, piece.n);
    }
    take(x, ret);
    arena_free(&arena);
}

static const char *text_of(const struct outcome *o)
{
    return o->features.p != NULL ? o->features.p : "";
}

struct row {
    const char *text;
    const char *features;
};

static const struct row rows[] = {
    /* what a reader finds in text; header fields name hosts and addresses of their own */
    {"To: a@b.com\nX-Host: mail.b.com http://c.com/ www.d.com\n\n"
     "evil.com, j[at]evil.com file.txt +49 30 1234567 "
     "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa\n",
     "url:evil.com/\nurl_host:evil.com\nurl_domain:evil.com\n"
     "text_address:j@evil.com\nphone:+49301234567\n"
     "wallet:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa\n"},
    /* fields that servers, filters and lists write, and those that nobody sees */
    {"X-Spam-Report: http://a.com/ www.b.com\nReceived: from www.c.com\n"
     "ARC-Seal: d=www.d.com\nX-Unknown: http://e.com/\nList-Archive: <http://f.com/>\n"
     "List-Post: <http://g.com/>\nArchived-At: <http://h.com/>\n"
     "References: <a@www.i.com>\n\n",
     ""},
    /* fields that a client shows */
    {"To: see http://a.com/ <a@b.com>\nOrganization: www.c.com\n"
     "Comments: x http://d.com/ e.com\n\n",
     "url:a.com/\nurl_host:a.com\nurl_domain:a.com\nurl:www.c.com/\nurl_host:www.c.com\n"
     "url_domain:c.com\nurl:d.com/\nurl_host:d.com\nurl_domain:d.com\n"},
    {"List-Unsubscribe: <mailto:a@b.com>, <https://c.com/u?x=1>\n\n",
     "field_url:c.com/u?x=1\nbare_host:c.com\n"},
    {"Content-Type: message/rfc822\n\nX-Spam-Report: http://a.com/\n"
     "Subject: b.com\n\nsign.in now\n",
     "url:b.com/\nurl_host:b.com\nurl_domain:b.com\nbare_host:sign.in\n"},
    {"Content-Type: text/html\n\n<style>p.link{}</style><a href='mailto:j@evil.com'>e"
     "<b>vil</b>.com</a><a href='tel:+49301234567'>",
     "text_address:j@evil.com\nurl:evil.com/\nurl_host:evil.com\nurl_domain:evil.com\n"
     "phone:+49301234567\n"},
    {"Subject: call (212) 555-0100 or evil.com\n\n",
     "subject:call (212) 555-0100 or evil.com\nurl:evil.com/\nurl_host:evil.com\n"
     "url_domain:evil.com\nphone:+12125550100\n"},
    {"\n", ""},
    {"Subject:  =?utf-8?q?caf=C3=A9?=\n  now\n\n", "subject:caf\xc3\xa9 now\n"},
    {"Subject: a\nSubject: b\nSubject: a\n\n", "subject:a\nsubject:b\n"},
    {"From: \"Joe\" <Joe@M.Evil.COM>, x@other.com\nFrom: z@third.com\n\n",
     "from:Joe@m.evil.com\nfrom_domain:evil.com\nfrom:x@other.com\n"
     "from_domain:other.com\nfrom:z@third.com\nfrom_domain:third.com\n"},
    {"Reply-To: a@b.com\nSender: c@d.co.uk\n\n",
     "reply_to:a@b.com\nreply_to_domain:b.com\nsender:c@d.co.uk\nsender_domain:d.co.uk\n"},
    {"Return-Path: <a@bounce.b.com>\nReturn-Path: <no@no.com>\n\n",
     "envelope_from:a@bounce.b.com\nenvelope_domain:b.com\n"},
    {"Return-Path: <>\n\n", ""},
    {"A: b\n\nsee http://WWW.Evil.com:80/x/../y?q#f and www.two.com.\n",
     "url:www.evil.com/y?q\nurl_host:www.evil.com\nurl_domain:evil.com\n"
     "url:www.two.com/\nurl_host:www.two.com\nurl_domain:two.com\n"},
    {"A: b\n\nhttp://192.0.2.7/x http://0x7f.1/\n",
     "url:192.0.2.7/x\nurl_ip:192.0.2.7\nurl:127.0.0.1/\nurl_ip:127.0.0.1\n"},
    {"A: b\n\nhttps://x.safelinks.protection.outlook.com/?url=https%3A%2F%2Fbit.ly%2Fz&d=1"
     "\n",
     "url:x.safelinks.protection.outlook.com/?url=https%3A%2F%2Fbit.ly%2Fz&d=1\n"
     "url_host:x.safelinks.protection.outlook.com\nurl_domain:outlook.com\n"
     "url:bit.ly/z\nurl_host:bit.ly\nurl_domain:bit.ly\nurl_shortener:bit.ly\n"},
    {"Content-Type: text/html\n\n<a href='http://a.com/r?u=http%3A%2F%2Fa.com%2Fr%3Fu'>"
     "<a href='http://Evil%20.com/%41'>\n",
     "url:a.com/r?u=http%3A%2F%2Fa.com%2Fr%3Fu\nurl_host:a.com\nurl_domain:a.com\n"
     "url:a.com/r?u\nurl_broken:evil%20.com/A\n"},
    {"Subject: http://a.com/\nList-Unsubscribe: <https://b.com/u>\nX-Any: http://c.com/\n\n",
     "subject:http://a.com/\nurl:a.com/\nurl_host:a.com\nurl_domain:a.com\n"
     "field_url:b.com/u\nbare_host:b.com\n"},
    {"Received: from http://a.com/\nDKIM-Signature: d=http://a.com/\n"
     "X-Gillnet-Status: http://a.com/\nARC-Seal: http://a.com/\n"
     "Authentication-Results: http://a.com/\n\n",
     ""},
    {"Content-Type: text/html\n\n<a href='HTTP://a.com/1'>x</a>"
     "<img src=\"//b.com/2\"><form action=http://c.com/3>"
     "<td background='http://d.com/4' style=\"background:url('//e.com/5')\">"
     "<meta http-equiv=refresh content=\"0; URL='http://f.com/6'\">"
     "<img srcset='http://g.com/7 1x, //h.com/8 2x'><a href='rel/9'>"
     "<!-- http://i.com/10 --><p>http://j<b>.com</b>/11</p>\n",
     "url:a.com/1\nurl_host:a.com\nurl_domain:a.com\n"
     "url:b.com/2\nurl_host:b.com\nurl_domain:b.com\n"
     "url:c.com/3\nurl_host:c.com\nurl_domain:c.com\n"
     "url:d.com/4\nurl_host:d.com\nurl_domain:d.com\n"
     "url:e.com/5\nurl_host:e.com\nurl_domain:e.com\n"
     "url:f.com/6\nurl_host:f.com\nurl_domain:f.com\n"
     "url:g.com/7\nurl_host:g.com\nurl_domain:g.com\n"
     "url:h.com/8\nurl_host:h.com\nurl_domain:h.com\n"
     "url:i.com/10\nurl_host:i.com\nurl_domain:i.com\n"
     "url:j.com/11\nurl_host:j.com\nurl_domain:j.com\n"},
    {"Content-Type: text/html\n\n<a href='a.com/1'>x</a><a href='page.html'>x</a>"
     "<img src='b.com/2'>\n",
     "url:a.com/1\nurl_host:a.com\nurl_domain:a.com\n"},
    {"Content-Type: text/html\n\n<a href=\"ht\ntp://a.com/x&amp;y\">"
     "<a href='javascript:location=\"http://b.com/\"'>"
     "<html xmlns=\"http://www.w3.org/1999/xhtml\">\n",
     "url:a.com/x&y\nurl_host:a.com\nurl_domain:a.com\n"
     "url:b.com/\nurl_host:b.com\nurl_domain:b.com\n"},
    {"Content-Type: text/html\n\n<script>a='aHR0c';location=atob(\"aHR0cDovL2EuY29tL3g=\");"
     "b('aHR0cDovL2IuY29tL3g')</script>",
     "url:a.com/x\nurl_host:a.com\nurl_domain:a.com\n"
     "url:b.com/x\nurl_host:b.com\nurl_domain:b.com\n"},
    {"Content-Type: text/html\n\n<!--[if mso]><a href='//a.com/1'><![endif]-->"
     "<style>p{b:url(//b.com/2)}</style><video poster=//c.com/3><svg xlink:href=//d.com/4>"
     "<base href=//e.com/5><button formaction=//f.com/6><p hidden>http://g.c<b>om/7</b>\n",
     "url:a.com/1\nurl_host:a.com\nurl_domain:a.com\n"
     "url:b.com/2\nurl_host:b.com\nurl_domain:b.com\n"
     "url:c.com/3\nurl_host:c.com\nurl_domain:c.com\n"
     "url:d.com/4\nurl_host:d.com\nurl_domain:d.com\n"
     "url:e.com/5\nurl_host:e.com\nurl_domain:e.com\n"
     "url:f.com/6\nurl_host:f.com\nurl_domain:f.com\n"
     "url:g.com/7\nurl_host:g.com\nurl_domain:g.com\n"},
    /* a part that ends in the middle of something, and one after it */
    {"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n"
     "<div hidden><a href=//a.com/1><style><!--\n--b\nContent-Type: text/html\n\n"
     "<a href='//b.com/2'>x</a><!-- <\n--b\nContent-Type: text/html\n\n"
     "<a href=//c.com/3>\n--b--\n",
     "url:a.com/1\nurl_host:a.com\nurl_domain:a.com\n"
     "url:b.com/2\nurl_host:b.com\nurl_domain:b.com\n"
     "url:c.com/3\nurl_host:c.com\nurl_domain:c.com\n"},
    {"Content-Type: text/plain; charset=utf-16le\nContent-Transfer-Encoding: base64\n\n"
     "aAB0AHQAcAA6AC8ALwBhAC4AYwBvAG0ALwA=\n",
     "url:a.com/\nurl_host:a.com\nurl_domain:a.com\n"},
    {"Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n\n"
     "http://a.com/long=\npath\n",
     "url:a.com/longpath\nurl_host:a.com\nurl_domain:a.com\n"},
    {"Content-Type: application/pdf; name=\"dir/In Voice.PDF\"\n"
     "Content-Transfer-Encoding: base64\n\naGVsbG8=\n",
     "attachment_name:in voice.pdf\nattachment_type:application/pdf\nattachment:"
     "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n"},
    {"Content-Type: application/octet-stream; name=x.html\n\n<a href=http://a.com/>\n",
     "attachment_name:x.html\nattachment_type:application/octet-stream\nurl:a.com/\nurl_host:a.com\nurl_domain:a.com\nattachment:"
     "90669618de9231d23f182e0e97414fba5ac9e6c5d02557c925cc7865e5b96d72\n"},
    {"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\n"
     "Subject: inner http://a.com/\nFrom: in@in.com\n\nhttp://b.com/\n--b--\n",
     "url:a.com/\nurl_host:a.com\nurl_domain:a.com\n"
     "url:b.com/\nurl_host:b.com\nurl_domain:b.com\n"},
    {"Content-Type: multipart/mixed\n\nhttp://a.com/\n",
     "url:a.com/\nurl_host:a.com\nurl_domain:a.com\n"},
    {"Content-Type: image/png\n\nhttp://a.com/ is no text\n",
     "attachment_type:image/png\n"
     "attachment:16a35e7c031e883502e24bd8094e447183ffb1108f2389ba7fb9e48404f13675\n"},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void test_raw__each_kind_of_message__gives_its_features(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct outcome o;
        run_raw(slice_str(rows[i].text), 0, &limits_default, &o);
        if (strcmp(text_of(&o), rows[i].features) != 0) {
            fail_msg("%s\ngave\n%s", rows[i].text, text_of(&o));
        }
        assert_int_equal(o.limits, 0);
        buf_fini(&o.features);
    }
}

static void test_raw__cut_anywhere__gives_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct slice text = slice_str(rows[i].text);
        struct outcome whole;
        run_raw(text, 0, &limits_default, &whole);
        for (size_t step = 1; step < text.n; step++) {
            struct outcome o;
            run_raw(text, step, &limits_default, &o);
            assert_string_equal(text_of(&o), text_of(&whole));
            assert_string_equal(o.body, whole.body);
            buf_fini(&o.features);
        }
        buf_fini(&whole.features);
    }
}

static void test_milter__same_message__gives_the_same_as_raw(void **state)
{
    (void)state;
    struct outcome raw;
    struct outcome milter;
    run_raw(SLICE_LIT("Subject: a\n b http://x.com/\nFrom: a@b.com\n\nwww.c.com\n\n\n"),
            0, &limits_default, &raw);
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits_default, NULL, 0);
    extract_header(x, SLICE_LIT("Subject"), SLICE_LIT("a\n b http://x.com/"));
    extract_header(x, SLICE_LIT("From"), SLICE_LIT(" a@b.com"));
    extract_end_of_headers(x);
    extract_body(x, SLICE_LIT("www.c"));
    extract_body(x, SLICE_LIT(".com\r"));
    extract_body(x, SLICE_LIT("\n"));
    take(x, &milter);
    assert_string_equal(text_of(&milter), text_of(&raw));
    assert_string_equal(milter.body, raw.body);
    assert_true(strlen(raw.body) == 64);
    buf_fini(&raw.features);
    buf_fini(&milter.features);
    arena_free(&arena);
}

static void test_envelope__given__is_normalised(void **state)
{
    static const uint8_t v4[16] = {0, 0, 0,    0,    0,   0, 0, 0,
                                   0, 0, 0xff, 0xff, 192, 0, 2, 7};
    static const uint8_t v6[16] = {0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4};
    static const struct {
        const uint8_t *addr;
        const char *name;
        const char *helo;
        const char *from;
        const char *features;
    } table[] = {
        {v4, "MX.Evil.com.", "[192.0.2.7]", "<A@M.evil.com>",
         "client_ip:192.0.2.7\nclient_net:192.0.2.0/24\nclient_name:mx.evil.com\n"
         "helo:192.0.2.7\nenvelope_from:A@m.evil.com\nenvelope_domain:evil.com\n"},
        {v6, "unknown", "[IPv6:2001:db8::1]", "<>",
         "client_ip:2001:db8:102:304::\nclient_net:2001:db8:102::/48\nhelo:2001:db8::1\n"},
        {NULL, "[192.0.2.7]", "Host", "", "helo:host\n"},
        {NULL, "", "", "nonsense", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct arena *arena = arena_new(ARENA);
        struct extract *x = extract_new(arena, &limits_default, NULL, 0);
        struct outcome o;
        extract_client(x, table[i].addr, slice_str(table[i].name));
        extract_helo(x, slice_str(table[i].helo));
        extract_mail_from(x, slice_str(table[i].from));
        extract_raw(x, SLICE_LIT("Return-Path: <not@used.com>\n\n"));
        take(x, &o);
        assert_string_equal(text_of(&o), table[i].features);
        buf_fini(&o.features);
        arena_free(&arena);
    }
}

static void test_body_digest__blank_lines_and_line_ends__do_not_count(void **state)
{
    static const char *const same[] = {"A: b\n\nx\n\ny\n", "A: b\n\nx\n\ny",
                                       "A: b\r\n\r\nx\r\n\r\ny\r\n\r\n\r\n",
                                       "C: other\n\nx\n\ny\n\n\n\n\n\n\n\n\n\n\n"};
    static const char *const other[] = {"A: b\n\nx\ny\n", "A: b\n\nx\n\ny \n",
                                        "A: b\n\n\nx\n\ny\n"};
    (void)state;
    struct outcome first;
    run_raw(slice_str(same[0]), 0, &limits_default, &first);
    /* sha256 of "x\r\n\r\ny\r\n" */
    assert_string_equal(
        first.body, "fe803babf6dad946fe46ef56eca638f594462605c2047f7d140d934cf56298cd");
    for (size_t i = 0; i < 4; i++) {
        struct outcome o;
        run_raw(slice_str(same[i]), 0, &limits_default, &o);
        assert_string_equal(o.body, first.body);
        buf_fini(&o.features);
    }
    for (size_t i = 0; i < 3; i++) {
        struct outcome o;
        run_raw(slice_str(other[i]), 0, &limits_default, &o);
        assert_string_not_equal(o.body, first.body);
        buf_fini(&o.features);
    }
    buf_fini(&first.features);
}

static void test_body_digest__of_nothing__is_none(void **state)
{
    (void)state;
    struct outcome o;
    run_raw(SLICE_LIT("A: b\n\n\n\n\n"), 0, &limits_default, &o);
    assert_string_equal(o.body, "");
    buf_fini(&o.features);
}

/* A URL across the border of two windows of text is one URL. */
static void test_text__longer_than_a_window__loses_no_url(void **state)
{
    enum { URLS = 400, SIZE = 1 << 20 };
    (void)state;
    for (int html = 0; html < 2; html++) {
        char *text = malloc(SIZE);
        assert_non_null(text);
        int at =
            snprintf(text, SIZE, "Content-Type: text/%s\n\n", html ? "html" : "plain");
        for (int i = 0; i < URLS; i++) {
            at += snprintf(text + at, (size_t)(SIZE - at), "%*s http://h%d.com/%0*d\n",
                           i % 7 * 100, "x", i, i % 11 * 20 + 1, i);
        }
        struct outcome o;
        run_raw(slice_of(text, (size_t)at), 1000, &limits_default, &o);
        for (int i = 0; i < URLS; i++) {
            char want[512];
            snprintf(want, sizeof(want), "url:h%d.com/%0*d\n", i, i % 11 * 20 + 1, i);
            assert_non_null(strstr(text_of(&o), want));
        }
        buf_fini(&o.features);
        free(text);
    }
}

static void test_message_id_and_bytes__are_kept(void **state)
{
    (void)state;
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits_default, NULL, 0);
    extract_raw(x, SLICE_LIT("Message-ID: <1@a.com>\nMessage-Id: <2@a.com>\n\nxyz"));
    (void)extract_finish(x);
    assert_true(slice_eq(extract_message_id(x), SLICE_LIT("<1@a.com>")));
    assert_int_equal(extract_message_bytes(x), 48);
    arena_free(&arena);
}

/* "type:text@part/header+offset" of every feature with a place. */
static void list_places(const struct featureset *fs, struct buf *ret)
{
    buf_init(ret, 1 << 16);
    buf_add_str(ret, "");
    for (size_t i = 0; i < featureset_count(fs); i++) {
        const struct feature *f = featureset_at(fs, i);
        char at[16];
        if (f->type != FEATURE_url_exact && f->type != FEATURE_attachment_name &&
            f->type != FEATURE_body && f->type != FEATURE_subject) {
            continue;
        }
        if (f->type != FEATURE_body) {
            buf_add(ret, f->text);
        }
        if (f->place != NULL) {
            snprintf(at, sizeof(at), "+%u", f->offset);
            buf_add_str(ret, "@");
            buf_add(ret, f->place->part);
            buf_add_str(ret, "/");
            buf_add(ret, f->place->header);
            buf_add_str(ret, at);
        }
        buf_add_str(ret, "\n");
    }
}

static void check_places(const struct row *row, size_t step)
{
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits_default, NULL, 0);
    struct slice text = slice_str(row->text);
    struct buf places;
    while (text.n > 0) {
        struct slice piece = slice_head(text, step);
        extract_raw(x, piece);
        text = slice_from(text, piece.n);
    }
    list_places(extract_finish(x), &places);
    assert_string_equal(places.p, row->features);
    buf_fini(&places);
    arena_free(&arena);
}

static void test_places__of_features__are_where_they_stand_first(void **state)
{
    static const struct row table[] = {
        {"Subject: see http://a.com/ and http://b.com/\n\nx http://c.com/ http://a.com/\n",
         "see http://a.com/ and http://b.com/@/Subject+0\na.com/@/Subject+4\n"
         "b.com/@/Subject+22\nc.com/@1/+2\n\n"},
        {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nhttp://a.com/\n--b\n"
         "Content-Type: multipart/mixed; boundary=c\n\n--c\nContent-Location: http://b.com/\n\n"
         "--c\nContent-Type: text/html; name=\"n.htm\"\n\n"
         "<p>\n<i>w</i> http://c<b>.com/</b> <a href=http://d.com/>\n"
         "--c--\n--b\nContent-Type: message/rfc822\n\nSubject: http://e.com/\n\nhttp://f.com/\n"
         "--b--\n",
         "a.com/@1/+0\nb.com/@2.1/Content-Location+0\nn.htm@2.2/+0\nc.com/@2.2/+4\nd.com/@2.2/+35\n"
         "e.com/@3.1/Subject+0\nf.com/@3.1/+0\n\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        size_t n = strlen(table[i].text);
        for (size_t step = 1; step <= n; step++) {
            check_places(&table[i], step);
        }
    }
}

/* Parts deeper than their names go, and a place for every feature. */
static void test_places__in_deep_parts__have_the_name_of_the_last_that_has_one(
    void **state)
{
    enum { DEEP = 40, SIZE = 8192 };
    char text[SIZE];
    size_t n = 0;
    struct extract_limits limits = limits_default;
    (void)state;
    limits.mail.depth = DEEP + 1;
    for (int i = 0; i < DEEP; i++) {
        n += (size_t)snprintf(
            text + n, SIZE - n,
            "Content-Type: multipart/mixed; boundary=b%d.\n\n--b%d.\n", i, i);
    }
    n += (size_t)snprintf(text + n, SIZE - n, "\nhttp://a.com/\n");
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    extract_raw(x, slice_of(text, n));
    const struct feature *url = featureset_first(extract_finish(x), FEATURE_url_exact);
    assert_non_null(url);
    assert_int_equal(url->place->part.n, 2 * 32 - 1);
    assert_true(slice_has_prefix(url->place->part, SLICE_LIT("1.1.1.1")));
    arena_free(&arena);
}

static void test_drop__at_any_point__frees_and_takes_nothing_more(void **state)
{
    (void)state;
    extract_drop(NULL);
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits_default, NULL, 0);
    extract_raw(x, SLICE_LIT("Content-Type: image/png\n\ndata"));
    extract_drop(x);
    extract_drop(x);
    extract_raw(x, SLICE_LIT("more"));
    extract_header(x, SLICE_LIT("A"), SLICE_LIT("b"));
    extract_end_of_headers(x);
    extract_body(x, SLICE_LIT("more"));
    extract_mail_from(x, SLICE_LIT("a@b.com"));
    assert_int_equal(featureset_count(extract_finish(x)), 0);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_raw__each_kind_of_message__gives_its_features),
        cmocka_unit_test(test_raw__cut_anywhere__gives_the_same),
        cmocka_unit_test(test_milter__same_message__gives_the_same_as_raw),
        cmocka_unit_test(test_envelope__given__is_normalised),
        cmocka_unit_test(test_body_digest__blank_lines_and_line_ends__do_not_count),
        cmocka_unit_test(test_body_digest__of_nothing__is_none),
        cmocka_unit_test(test_text__longer_than_a_window__loses_no_url),
        cmocka_unit_test(test_message_id_and_bytes__are_kept),
        cmocka_unit_test(test_places__of_features__are_where_they_stand_first),
        cmocka_unit_test(
            test_places__in_deep_parts__have_the_name_of_the_last_that_has_one),
        cmocka_unit_test(test_drop__at_any_point__frees_and_takes_nothing_more),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
