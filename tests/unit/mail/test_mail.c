/*
 * test_mail - parts of messages as the parser reports them: whole, cut anywhere, with any line
 * ends, as a milter gives them or raw.
 */
#include "core/base/base.h"

#include "tests/unit/mail/record.h"

struct fixture {
    const char *name;
    const char *text; /* LF */
    const char *events;
};

static const struct fixture fixtures[] = {
    {"empty", "", "+ 0 0 text/plain\n- 0\n"},
    {"header only", "Subject: hi\n", "H - Subject=hi\n+ 0 0 text/plain\n- 0\n"},
    {"plain", "Subject: hi\n\nbody\n",
     "H - Subject=hi\n+ 0 0 text/plain\n= body\r\n\n- 0\n"},
    {"no last line end", "Subject: hi\n\nbody",
     "H - Subject=hi\n+ 0 0 text/plain\n= body\n- 0\n"},
    {"mbox line", "From joe Thu Jan  1\n>From x y\nA: b\n\nbody\n",
     "H - A=b\n+ 0 0 text/plain\n= body\r\n\n- 0\n"},
    {"folding", "Subject: one\n two\n\tthree \nX:y\n\n",
     "H - Subject=one two three\nH - X=y\n+ 0 0 text/plain\n- 0\n"},
    {"odd fields", " lost\nA : b\n: nameless\nC:\nD: e:f\n\n",
     "H - A=b\nH - C=\nH - D=e:f\n+ 0 0 text/plain\n- 0\n"},
    {"odd fields, nameless first", ":x\n\n", "+ 0 0 text/plain\n- 0\n"},
    {"no empty line", "A: b\nthis is no field\nmore\n",
     "H - A=b\n+ 0 0 text/plain\n= this is no field\r\nmore\r\n\n- 0\n"},
    {"no header at all", "hello there\n", "+ 0 0 text/plain\n= hello there\r\n\n- 0\n"},
    {"base64",
     "Content-Type: text/html; charset=utf-8\n"
     "Content-Transfer-Encoding: base64\n\naGVs\nbG8=\n",
     "H - Content-Type=text/html; charset=utf-8\nH - Content-Transfer-Encoding=base64\n"
     "+ 0 0 text/html charset=utf-8\n= hello\n- 0\n"},
    {"multipart",
     "Content-Type: multipart/mixed; boundary=b\n\npreamble\n--b\n\none\n\n--b\n"
     "Content-Type: application/pdf; name=\"x.pdf\"\nContent-Disposition: ATTACHMENT\n\n"
     "%PDF\n--b--\nepilogue\n",
     "H - Content-Type=multipart/mixed; boundary=b\n+ 0 0 multipart/mixed/\n"
     "+ 0 1 text/plain extra\n= preamble\r\n\n- 0\n"
     "+ 1 1 text/plain\n= one\r\n\n- 1\n"
     "H 2 Content-Type=application/pdf; name=\"x.pdf\"\n"
     "H 2 Content-Disposition=ATTACHMENT\n"
     "+ 2 1 application/pdf disposition=attachment filename=x.pdf\n= %PDF\n- 2\n"
     "+ 0 1 text/plain extra\n= epilogue\r\n\n- 0\n- 0\n"},
    {"dashes that are no boundary",
     "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n-\n--\n--bx\n-- b\n--b x\n"
     "---b\n\n--b--",
     "H - Content-Type=multipart/mixed; boundary=b\n"
     "+ 0 0 multipart/mixed/\n"
     "+ 1 1 text/plain\n"
     "= -\r\n"
     "--\r\n"
     "--bx\r\n"
     "-- b\r\n"
     "--b x\r\n"
     "---b\r\n"
     "\n"
     "- 1\n"
     "- 0\n"
     "+ 2 0 multipart/mixed/ extra\n"
     "+ 3 1 text/plain extra\n"
     "= -- b\n"
     "- 3\n"
     "+ 4 1 text/plain extra\n"
     "= ---b\r\n"
     "\n"
     "- 4\n"
     "- 2\n"},
    {"padding after the boundary",
     "Content-Type: multipart/mixed; boundary=b\n\n--b \t\n\nx\n--b--  \n",
     "H - Content-Type=multipart/mixed; boundary=b\n+ 0 0 multipart/mixed/\n"
     "+ 1 1 text/plain\n= x\n- 1\n- 0\n"},
    {"no final boundary", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n",
     "H - Content-Type=multipart/mixed; boundary=b\n+ 0 0 multipart/mixed/\n"
     "+ 1 1 text/plain\n= x\r\n\n- 1\n- 0\n"},
    {"boundary in the header of a part",
     "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n--b\n"
     "--b\n\nx\n--b--\n",
     "H - Content-Type=multipart/mixed; boundary=b\n+ 0 0 multipart/mixed/\n"
     "H 1 Content-Type=text/html\n+ 1 1 text/html\n- 1\n"
     "+ 2 1 text/plain\n= x\n- 2\n- 0\n"},
    {"part that begins without an empty line",
     "Content-Type: multipart/mixed; boundary=b\n\n--b\nhello there\n--b--\n",
     "H - Content-Type=multipart/mixed; boundary=b\n+ 0 0 multipart/mixed/\n"
     "+ 1 1 text/plain\n= hello there\n- 1\n- 0\n"},
    {"outer boundary closes the inner",
     "Content-Type: multipart/mixed; boundary=out\n\n--out\n"
     "Content-Type: multipart/alternative; boundary=in\n\n--in\n\na\n--out\n\nb\n--out--\n",
     "H - Content-Type=multipart/mixed; boundary=out\n+ 0 0 multipart/mixed/\n"
     "H 1 Content-Type=multipart/alternative; boundary=in\n"
     "+ 1 1 multipart/alternative/\n+ 2 2 text/plain\n= a\n- 2\n- 1\n"
     "+ 3 1 text/plain\n= b\n- 3\n- 0\n"},
    {"same boundary inside",
     "Content-Type: multipart/mixed; boundary=b\n\n--b\n"
     "Content-Type: multipart/mixed; boundary=b\n\n--b\n\na\n--b--\n--b\n\nc\n--b--\n",
     "H - Content-Type=multipart/mixed; boundary=b\n+ 0 0 multipart/mixed/\n"
     "H 1 Content-Type=multipart/mixed; boundary=b\n+ 1 1 multipart/mixed/\n"
     "+ 2 2 text/plain\n= a\n- 2\n- 1\n+ 3 1 text/plain\n= c\n- 3\n- 0\n"},
    {"opened again after its end",
     "Content-Type: multipart/mixed; boundary=b\n\n--b--\n--b\n\nc\n--b--\n",
     "H - Content-Type=multipart/mixed; boundary=b\n+ 0 0 multipart/mixed/\n"
     "+ 1 1 text/plain\n= c\n- 1\n- 0\n"},
    {"multipart without boundary", "Content-Type: multipart/mixed\n\n--b\n\nc\n",
     "H - Content-Type=multipart/mixed\n+ 0 0 multipart/mixed\n= --b\r\n\r\nc\r\n\n- 0\n"
     "+ 1 0 multipart/mixed/ extra\n+ 2 1 text/plain extra\n= c\r\n\n- 2\n- 1\n"},
    {"rfc822",
     "Content-Type: message/rfc822\n\nSubject: in\nContent-Type: text/html\n\nx\n",
     "H - Content-Type=message/rfc822\n+ 0 0 message/rfc822/\nH 1 Subject=in\n"
     "H 1 Content-Type=text/html\n+ 1 1 text/html\n= x\r\n\n- 1\n- 0\n"},
    {"rfc822 in base64",
     "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\nQTogYgoKeA==\n",
     "H - Content-Type=message/rfc822\nH - Content-Transfer-Encoding=base64\n"
     "+ 0 0 message/rfc822\n= A: b\n\nx\n- 0\n"
     "H 1 A=b\n+ 1 0 text/plain extra\n= x\n- 1\n"},
    {"digest",
     "Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: in\n\nx\n--b\n"
     "Content-Type: text/plain\n\ny\n--b--\n",
     "H - Content-Type=multipart/digest; boundary=b\n+ 0 0 multipart/digest/\n"
     "+ 1 1 message/rfc822/\nH 2 Subject=in\n+ 2 2 text/plain\n= x\n- 2\n- 1\n"
     "H 3 Content-Type=text/plain\n+ 3 1 text/plain\n= y\n- 3\n- 0\n"},
    {"rfc822 that holds a multipart",
     "Content-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: message/rfc822\n\n"
     "From x y z\nContent-Type: multipart/mixed; boundary=i\n\n--i\n\nx\n--i--\n--o--\n",
     "H - Content-Type=multipart/mixed; boundary=o\n+ 0 0 multipart/mixed/\n"
     "H 1 Content-Type=message/rfc822\n+ 1 1 message/rfc822/\n"
     "H 2 Content-Type=multipart/mixed; boundary=i\n+ 2 2 multipart/mixed/\n"
     "+ 3 3 text/plain\n= x\n- 3\n- 2\n- 1\n- 0\n"},
    {"bad type", "Content-Type: text\n\nx\n",
     "H - Content-Type=text\n+ 0 0 text/plain\n= x\r\n\n- 0\n"},
    {"first field of a kind counts",
     "Content-Type: text/html\nContent-Type: image/png\n\nx\n",
     "H - Content-Type=text/html\nH - Content-Type=image/png\n"
     "+ 0 0 text/html\n= x\r\n\n- 0\n"
     "+ 1 0 image/png extra\n= x\r\n\n- 1\n"},
#include "tests/unit/mail/ambiguous.def"
    {"boundary with a colon",
     "Content-Type: multipart/mixed; boundary=\"a:b\"\n\n--a:b\nA: b\n--a:b--\n",
     "H - Content-Type=multipart/mixed; boundary=\"a:b\"\n+ 0 0 multipart/mixed/\n"
     "H 1 A=b\n+ 1 1 text/plain\n- 1\n- 0\n"},
};
enum { FIXTURES = sizeof(fixtures) / sizeof(fixtures[0]) };

/* The text with other line ends; returns malloc'ed bytes. */
static struct slice with_line_ends(const char *text, const char *end)
{
    size_t n = 0;
    char *p = malloc(strlen(text) * 2 + 1);
    assert_non_null(p);
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            memcpy(p + n, end, strlen(end));
            n += strlen(end);
        } else {
            p[n++] = *text;
        }
    }
    return slice_of(p, n);
}

static void test_raw__each_fixture__gives_its_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIXTURES; i++) {
        struct record r;
        record_raw(&r, slice_str(fixtures[i].text), 0, &record_limits);
        if (strcmp(record_text(&r), fixtures[i].events) != 0) {
            fail_msg("%s:\n%s\ninstead of\n%s", fixtures[i].name, record_text(&r),
                     fixtures[i].events);
        }
        assert_int_equal(r.limits, 0);
        record_fini(&r);
    }
}

static void test_raw__any_line_ends__give_the_same(void **state)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    (void)state;
    for (size_t i = 0; i < FIXTURES; i++) {
        struct record want;
        record_raw(&want, slice_str(fixtures[i].text), 0, &record_limits);
        for (size_t e = 0; e < 3; e++) {
            struct slice text = with_line_ends(fixtures[i].text, ends[e]);
            struct record r;
            record_raw(&r, text, 0, &record_limits);
            record_assert_same(&r, &want);
            record_fini(&r);
            free((void *)(uintptr_t)text.p);
        }
        record_fini(&want);
    }
}

static void test_raw__cut_at_every_offset_and_byte_by_byte__gives_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIXTURES; i++) {
        struct slice text = with_line_ends(fixtures[i].text, "\r\n");
        struct record want;
        record_raw(&want, text, 0, &record_limits);
        for (size_t step = 1; step < text.n; step++) {
            struct record r;
            record_raw(&r, text, step, &record_limits);
            record_assert_same(&r, &want);
            record_fini(&r);
        }
        record_fini(&want);
        free((void *)(uintptr_t)text.p);
    }
}

/* Gives the message as libmilter does: fields one by one, folded with LF, body in CRLF chunks. */
static void record_milter(struct record *r, const char *text)
{
    record_init(r);
    struct arena *arena = arena_new(RECORD_ARENA);
    struct mail *m = mail_new(arena, &record_limits, &record_events, r);
    const char *at = text;
    while (*at != '\n' && *at != '\0') {
        const char *colon = strchr(at, ':');
        const char *end = strchr(colon, '\n');
        while (end[1] == ' ' || end[1] == '\t') {
            end = strchr(end + 1, '\n');
        }
        const char *value = colon + 1 + strspn(colon + 1, " ");
        mail_header(m, slice_of(at, (size_t)(colon - at)),
                    slice_of(value, (size_t)(end - value)));
        at = end + 1;
    }
    mail_end_of_headers(m);
    struct slice body = with_line_ends(*at == '\n' ? at + 1 : at, "\r\n");
    for (size_t i = 0; i < body.n; i += 7) {
        mail_body(m, slice_head(slice_from(body, i), 7));
    }
    mail_end(m);
    r->limits = mail_limits_met(m);
    free((void *)(uintptr_t)body.p);
    arena_free(&arena);
}

static void test_milter__same_message__gives_the_same_as_raw(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIXTURES; i++) {
        /* Only what an MTA can hand over: a header of fields. */
        if (strstr(
                "empty mbox line odd fields, nameless first no empty line no header at all",
                fixtures[i].name) != NULL) {
            continue;
        }
        struct record raw;
        struct record milter;
        record_raw(&raw, slice_str(fixtures[i].text), 0, &record_limits);
        record_milter(&milter, fixtures[i].text);
        record_assert_same(&milter, &raw);
        record_fini(&raw);
        record_fini(&milter);
    }
}

static void test_body__any_line_ends__is_crlf_and_whole(void **state)
{
    (void)state;
    struct record r;
    record_raw(&r, SLICE_LIT("A: b\n\none\rtwo\r\nthree\n\n\r\r\nlast"), 0,
               &record_limits);
    assert_string_equal(r.body.p, "one\r\ntwo\r\nthree\r\n\r\n\r\n\r\nlast");
    record_fini(&r);
}

/* 16 MB without a line end in a part: nothing is lost and nothing is kept. */
static void test_body__line_without_end__is_streamed(void **state)
{
    static const char head[] = "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n";
    enum { LONG = 12 << 20 };
    (void)state;
    struct record r;
    record_init(&r);
    struct arena *arena = arena_new(1 << 20);
    struct mail *m = mail_new(arena, &record_limits, &record_events, &r);
    mail_raw(m, slice_str(head));
    char block[4096];
    memset(block, '-', sizeof(block));
    for (size_t i = 0; i < LONG / sizeof(block); i++) {
        mail_raw(m, slice_of(block, sizeof(block)));
    }
    mail_raw(m, SLICE_LIT("\n--b--\n"));
    mail_end(m);
    assert_true(r.events.n > LONG);
    assert_int_equal(mail_limits_met(m), 0);
    assert_true(arena_used(arena) < 64 << 10);
    record_fini(&r);
    arena_free(&arena);
}

static void test_body__nothing_but_cr__is_as_many_lines(void **state)
{
    enum { MANY = 1 << 20 };
    (void)state;
    char *text = malloc(MANY);
    assert_non_null(text);
    memset(text, '\r', MANY);
    struct record r;
    record_raw(&r, slice_of(text, MANY), 0, &record_limits);
    assert_int_equal(r.body.n, 2 * (MANY - 1)); /* the first ends the header */
    record_fini(&r);
    free(text);
}

static void test_skip_rest__in_the_middle__only_body_goes_on(void **state)
{
    enum { LINES = 1000 };
    (void)state;
    struct record r;
    record_init(&r);
    struct arena *arena = arena_new(RECORD_ARENA);
    struct mail *m = mail_new(arena, &record_limits, &record_events, &r);
    mail_raw(m, SLICE_LIT("A: b\n\n"));
    for (int i = 0; i < LINES; i++) {
        mail_raw(m, SLICE_LIT("seen, sixteen b\n"));
    }
    mail_skip_rest(m);
    for (int i = 0; i < LINES; i++) {
        mail_raw(m, SLICE_LIT("hidden, sixteen\n"));
    }
    mail_end(m);
    assert_non_null(strstr(r.events.p, "seen"));
    assert_null(strstr(r.events.p, "hidden, sixteen\r\nhidden, sixteen"));
    assert_int_equal(r.body.n, 2 * LINES * 17);
    assert_int_equal(mail_limits_met(m), 0);
    record_fini(&r);
    arena_free(&arena);
}

static void test_mail__after_the_end__takes_nothing_more(void **state)
{
    (void)state;
    struct record r;
    record_init(&r);
    struct arena *arena = arena_new(RECORD_ARENA);
    struct mail *m = mail_new(arena, &record_limits, &record_events, &r);
    mail_end(m);
    size_t n = r.events.n;
    mail_end(m);
    mail_header(m, SLICE_LIT("A"), SLICE_LIT("b"));
    mail_end_of_headers(m);
    mail_body(m, SLICE_LIT("x"));
    mail_raw(m, SLICE_LIT("x"));
    assert_int_equal(r.events.n, n);
    assert_int_equal(r.body.n, 0);
    record_fini(&r);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_raw__each_fixture__gives_its_events),
        cmocka_unit_test(test_raw__any_line_ends__give_the_same),
        cmocka_unit_test(
            test_raw__cut_at_every_offset_and_byte_by_byte__gives_the_same),
        cmocka_unit_test(test_milter__same_message__gives_the_same_as_raw),
        cmocka_unit_test(test_body__any_line_ends__is_crlf_and_whole),
        cmocka_unit_test(test_body__line_without_end__is_streamed),
        cmocka_unit_test(test_body__nothing_but_cr__is_as_many_lines),
        cmocka_unit_test(test_skip_rest__in_the_middle__only_body_goes_on),
        cmocka_unit_test(test_mail__after_the_end__takes_nothing_more),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
