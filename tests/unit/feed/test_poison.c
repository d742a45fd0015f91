/*
 * test_poison - bodies that a feed must never get into production: the update is refused, or the
 * entry is left out, and the last good version serves.
 */
#include "core/base/word_table.h"

#include "tests/unit/feed/stage_fixture.h"

/* A good version of as many entries as the size band looks at. */
enum { GOOD = 1000, UTF16_BYTES = 16 /* of the body below */ };

#define OWN                                                                       \
    "protected = [\"own.example\", \"mail.corp.example\"];\n"                     \
    "trusted_networks = [\"198.51.100.0/24\"];\n"                                 \
    "allow = { domains = [\"friend.example\"]; networks = [\"192.0.2.128/25\"]; " \
    "addresses = [\"boss@partner.example\"]; };\n"

static void begin(struct feed_fixture *x, const char *settings)
{
    reopen(x, settings, OWN);
    struct update_report r = update_numbers(x, 0, GOOD);
    assert_string_equal(r.refusal.reason, "");
}

static void assert_serves(struct feed_fixture *x)
{
    for (uint64_t n = 0; n < GOOD; n += 111) {
        assert_true(has_number(x, n));
    }
}

static void good_and(struct buf *b, const char *line)
{
    numbers(b, 0, GOOD);
    buf_add_str(b, line);
    buf_add_char(b, '\n');
}

/* ---- entries ---- */

/* A line amid a good version, the value that must not be listed by it, and the reason ("": the line
 * cannot be read as an entry at all). */
static const struct {
    const char *line;
    const char *value;
    const char *reason;
} poisons[] = {
    {"google.com", "google.com", "major_domain"},
    {"GOOGLE.COM", "google.com", "major_domain"},
    {"google.com.", "google.com", "major_domain"},
    {"www.google.com", "www.google.com", "major_domain"},
    {"*.google.com", "google.com", "major_domain"},
    {".google.com", "google.com", "major_domain"},
    {"mail.google.com", "mail.google.com", "major_domain"},
    {"host:www.gmail.com", "host:www.gmail.com", "major_domain"},
    {"||paypal.com^", "paypal.com", ""},
    {"http://google.com", "http://google.com/", "major_domain"},
    {"https://www.google.com/", "https://www.google.com/", "major_domain"},
    {"http://WWW.GOOGLE.COM:80/", "http://www.google.com/", "major_domain"},
    {"url_expression:google.com/", "url_expression:google.com/", "major_domain"},
    {"@gmail.com", "gmail.com", "major_domain"},
    {"xn--ggle-0nda.com.google.com", "xn--ggle-0nda.com.google.com", "major_domain"},
    {"cloudfront.net", "host:cloudfront.net", ""},
    {"amazonaws.com", "amazonaws.com", "major_domain"},
    {"googleapis.com", "googleapis.com", ""},
    {"storage.googleapis.com", "storage.googleapis.com", "shared"},
    {"https://storage.googleapis.com/", "https://storage.googleapis.com/", "shared"},
    {"sites.google.com", "sites.google.com", "shared"},
    {"bit.ly", "bit.ly", "shared"},
    {"weebly.com", "weebly.com", "major_domain"},
    {"t.co", "t.co", "shared"},
    {"http://bit.ly/", "http://bit.ly/", "shared"},
    {"com", "host:com", ""},
    {"co.uk", "host:co.uk", ""},
    {"*.com", "host:com", ""},
    {"*", "host:example", ""},
    {"host:hopto.org", "host:hopto.org", "suffix"},
    {"hopto.org", "host:hopto.org", ""},
    {"host:github.io", "host:github.io", "suffix"},
    {"own.example", "own.example", "protected"},
    {"OWN.example.", "own.example", "protected"},
    {"www.own.example", "www.own.example", "protected"},
    {"http://www.own.example/page", "http://www.own.example/page", "protected"},
    {"info@own.example", "info@own.example", "protected"},
    {"corp.example", "corp.example", "protected"},
    {"friend.example", "friend.example", "protected"},
    {"boss@partner.example", "boss@partner.example", "protected"},
    {"0.0.0.0", "0.0.0.0", ""},
    {"0.0.0.0/0", "0.0.0.0", ""},
    {"::/0", "2001:db8::1", ""},
    {"8.0.0.0/8", "8.8.8.8", "network"},
    {"203.0.0.0/15", "203.0.113.9", "network"},
    {"2a00::/19", "2a00::1", "network"},
    {"10.1.2.3", "10.1.2.3", "network"},
    {"192.168.1.0/24", "192.168.1.7", "network"},
    {"172.16.0.0/16", "172.16.3.3", "network"},
    {"127.0.0.1", "127.0.0.1", ""},
    {"127.255.255.254", "127.255.255.254", ""},
    {"::1", "::1", ""},
    {"fe80::1", "fe80::1", "network"},
    {"224.0.0.1", "224.0.0.1", "network"},
    {"::ffff:10.0.0.1", "10.0.0.1", "network"},
    {"http://127.0.0.1/x", "http://127.0.0.1/x", "protected"},
    {"http://192.168.0.1/x", "http://192.168.0.1/x", "network"},
    {"[fe80::1]:135", "http://[fe80::1]:135/", "network"},
    {"[fe80::1:135", "http://[fe80::1]:135/", ""},
    {"198.51.100.25", "198.51.100.25", "protected"},
    {"198.51.0.0/16", "198.51.0.0/16", "protected"},
    {"192.0.2.200", "192.0.2.200", "protected"},
    {"attachment:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "attachment:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "empty"},
    /* "google.com/" and "www.own.example/" */
    {"url_hash:88981e6263be34a6c0b53ada73d168b68828dd643723d34a812e9f8a6abb5ee9",
     "url_hash:88981e6263be34a6c0b53ada73d168b68828dd643723d34a812e9f8a6abb5ee9",
     "major_domain"},
    {"url_hash:b2a7dd2fc88798abd50a958db12c94f5a540e7fe5094b6b111a2a694b981a3f9",
     "url_hash:b2a7dd2fc88798abd50a958db12c94f5a540e7fe5094b6b111a2a694b981a3f9",
     "major_domain"},
    {"localhost", "host:localhost.example", ""},
};

static bool is_in_list(struct feed_fixture *x, const char *value)
{
    struct feature_entry e;
    struct list_reader *r = open_reader(x->f);
    struct digest d;
    arena_reset(x->f->arena);
    if (feature_entry_parse(slice_str(value), FEATURE_NONE, x->f->arena, &e, NULL) !=
        ERR_OK) {
        list_reader_close(&r);
        return false;
    }
    digest_make(list_reader_key(r), e.class_type, e.text, &d);
    bool is_in = list_reader_confirm(r, &d, x->now_s) == LIST_CONFIRMED;
    list_reader_close(&r);
    return is_in;
}

static void test_entry__when_it_is_poison__then_it_is_left_out(void **state)
{
    struct feed_fixture *x = *state;
    begin(x, "format = \"plain\";");
    for (size_t i = 0; i < sizeof(poisons) / sizeof(poisons[0]); i++) {
        struct buf b;
        char line[300];
        buf_init(&b, 1 << 20);
        good_and(&b, poisons[i].line);
        struct update_report r =
            update_as(x, buf_slice(&b), (struct update_body){.etag = ""});
        buf_fini(&b);
        assert_string_equal(r.refusal.reason, "");
        assert_int_equal(r.entries, GOOD);
        snprintf(line, sizeof(line), " %s\n", poisons[i].reason);
        if (poisons[i].reason[0] == '\0') {
            assert_int_equal(r.left_out, 0);
        } else if (r.left_out != 1 || !strstr(x->said, line)) {
            fail_msg("%s: %s", poisons[i].line, x->said);
        }
        if (is_in_list(x, poisons[i].value)) {
            fail_msg("%s is listed", poisons[i].value);
        }
    }
    assert_serves(x);
}

/* Similar values that are valid. */
static const char *const rightful[] = {
    "customer.hopto.org",
    "evil.github.io",
    "evil.weebly.com",
    "bucket.storage.googleapis.com",
    "d1234.cloudfront.net",
    "https://storage.googleapis.com/bucket/login.html",
    "https://www.google.com/url?q=evil",
    "https://bit.ly/3xAmple",
    "https://sites.google.com/view/evil",
    "someone@gmail.com",
    "xn--ggle-0nda.com",
    "google.com.evil.example",
    "notgoogle.com",
    "owns.example",
    "203.0.113.0/24",
    "203.0.113.77",
    "2001:4860:1234::/48",
    "http://203.0.113.9/x",
    "http://evil.example/",
};

static void test_entry__when_it_only_looks_like_poison__then_it_is_taken(void **state)
{
    struct feed_fixture *x = *state;
    struct buf b;
    begin(x, "format = \"plain\";");
    buf_init(&b, 1 << 20);
    numbers(&b, 0, GOOD);
    for (size_t i = 0; i < sizeof(rightful) / sizeof(rightful[0]); i++) {
        buf_printf(&b, "%s\n", rightful[i]);
    }
    struct update_report r = update_as(x, buf_slice(&b), (struct update_body){0});
    buf_fini(&b);
    assert_int_equal(r.left_out, 0);
    for (size_t i = 0; i < sizeof(rightful) / sizeof(rightful[0]); i++) {
        if (!is_in_list(x, rightful[i])) {
            fail_msg("%s is not listed", rightful[i]);
        }
    }
}

static void test_entry__when_an_allow_list_holds_it__then_it_is_left_out(void **state)
{
    struct feed_fixture *x = *state;
    struct list_writer *w = NULL;
    char text[64];
    MUST(x->f, list_writer_open(x->f->state, SLICE_LIT("good"), &x->f->keys, true, &w,
                                &x->f->info));
    struct feature_entry e = entry_number(5, text);
    MUST(x->f, list_add(w, &e, SLICE_LIT("cli"), 0, &x->f->info));
    list_writer_close(&w);
    reopen(x, "", "lists = ( { name = \"good\"; category = \"allow\"; } );");
    (void)update(x, "host-4.example\nhost-5.example\nhttp://www.host-5.example/x\n");
    assert_string_equal(x->said, "!host-5.example allowed\n"
                                 "!www.host-5.example/x allowed\n+host-4.example\n");
}

/* ---- bodies ---- */

static const struct {
    const char *body;
    const char *reason;
} bodies[] = {
    {"", "empty"},
    {"\n\n  \n", "empty"},
    {"\xef\xbb\xbf\n", "empty"},
    {"# nothing today\n# come back\n", "empty"},
    {"<!DOCTYPE html><html><head><title>Sign in</title></head></html>", "first_line"},
    {"\n\n <html>\n<a href=\"http://evil.example/\">\n", "first_line"},
    {"<div>log in at\nlogin.example\n</div>", "first_line"},
    {"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "first_line"},
    {"{\"error\":\"API key is missing\",\"see\":\"https://feeds.example/key\"}",
     "first_line"},
    {"[]", "first_line"},
    {"Error: open resolver; https://www.spamhaus.org/returnc/pub/203.0.113.1\n", ""},
    {"127.255.255.255\n", ""},
    {"You have exceeded your quota for today.\n", ""},
    {"\xff\xfeh\0o\0s\0t\0.\0e\0x\0", "format"},
    {"google.com\nfacebook.com\n", "excluded"},
    {"com\nnet\norg\n", ""},
    {"one.example\n", "size"},
    {"\x1f\x8b\x08\x00\x00\x00\x00\x00", "format"},
    {"429 Too Many Requests\n", ""},
};

static void test_body__when_it_is_no_list__then_it_is_refused(void **state)
{
    struct feed_fixture *x = *state;
    begin(x, "");
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        size_t n = strlen(bodies[i].body);
        n = n == 0 || bodies[i].body[0] != '\xff' ? n : UTF16_BYTES;
        struct update_report r =
            update_as(x, slice_of(bodies[i].body, n), (struct update_body){.etag = ""});
        if (r.refusal.reason[0] == '\0' ||
            (bodies[i].reason[0] != '\0' &&
             strcmp(r.refusal.reason, bodies[i].reason) != 0)) {
            fail_msg("body %zu: refused for \"%s\": %s", i, r.refusal.reason,
                     r.refusal.text);
        }
        assert_true(strlen(r.refusal.text) > 10);
        assert_string_equal(state_of(x).refusal.reason, r.refusal.reason);
        assert_int_equal(state_of(x).version, 1);
        assert_int_equal(r.entries, GOOD);
    }
    assert_serves(x);
    (void)update_numbers(x, 0, GOOD);
    assert_string_equal(state_of(x).refusal.reason,
                        ""); /* a good one ends the trouble */
}

static void test_body__when_its_size_jumps__then_only_force_takes_it(void **state)
{
    struct feed_fixture *x = *state;
    begin(x, "");
    static const uint64_t sizes[] = {100 * GOOD, GOOD / 100, GOOD / 2 - 1,
                                     3 * GOOD + 1};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(update_numbers(x, 0, sizes[i]).refusal.reason, "size");
    }
    assert_serves(x);
    struct buf b;
    buf_init(&b, 1 << 20);
    numbers(&b, 0, GOOD / 100);
    (void)update_as(x, buf_slice(&b), (struct update_body){.is_by_hand = true});
    buf_fini(&b);
    assert_int_equal(state_of(x).entries, GOOD / 100);
    assert_string_equal(update_numbers(x, 0, 99).refusal.reason, ""); /* few: no band */
}

static void test_body__when_its_entries_are_out_of_bounds__then_it_is_refused(
    void **state)
{
    struct feed_fixture *x = *state;
    begin(x, "entries = 1500; entries_min = 900; grow = 0.0; shrink = 0.0;");
    assert_string_equal(update_numbers(x, 0, 1501).refusal.reason, "entries");
    assert_string_equal(update_numbers(x, 0, 899).refusal.reason, "entries");
    assert_string_equal(update_numbers(x, 0, 1500).refusal.reason, "");
}

static void test_body__when_lines_are_hostile__then_the_rest_is_taken(void **state)
{
    struct feed_fixture *x = *state;
    struct buf b;
    char *mebibyte = calloc(1, 1 << 20);
    assert_non_null(mebibyte);
    memset(mebibyte, 'a', 1 << 20);
    begin(x, "");
    buf_init(&b, 4 << 20);
    numbers(&b, 0, GOOD);
    buf_add(&b, slice_of(mebibyte, 1 << 20));
    buf_add(&b, SLICE_LIT(".example\nnul\0.example\nnew.example\n"));
    struct update_report r = update_as(x, buf_slice(&b), (struct update_body){0});
    assert_int_equal(r.entered, 1);
    assert_int_equal(r.counts.bad, 2);
    assert_true(is_listed(x, "new.example"));
    buf_fini(&b);
    free(mebibyte);
}

static void check_order(const struct slice *rows, size_t n)
{
    struct slice last = SLICE_NONE;
    struct word word;
    for (size_t i = 0; i < n; i++) {
        for (struct slice row = rows[i]; word_cut(&row, &word); last = word.key) {
            assert_true(slice_cmp(last, word.key) < 0);
            assert_true(word_find(rows, n, word.key, &word));
        }
    }
}

static void test_tables__names__are_in_order_and_found(void **state)
{
    static const struct slice majors[] = {
#define MAJOR_DOMAINS(row) WORD_ROW(row),
#include "core/message/url/major_domain.def"
    };
    static const struct slice shared[] = {
#define HOSTINGS(row) WORD_ROW(row),
#include "core/message/url/hosting.def"
    };
    (void)state;
    check_order(majors, LENGTH(majors));
    check_order(shared, LENGTH(shared));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, stage_setup, stage_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_entry__when_it_is_poison__then_it_is_left_out),
        TEST(test_entry__when_it_only_looks_like_poison__then_it_is_taken),
        TEST(test_entry__when_an_allow_list_holds_it__then_it_is_left_out),
        TEST(test_body__when_it_is_no_list__then_it_is_refused),
        TEST(test_body__when_its_size_jumps__then_only_force_takes_it),
        TEST(test_body__when_its_entries_are_out_of_bounds__then_it_is_refused),
        TEST(test_body__when_lines_are_hostile__then_the_rest_is_taken),
        cmocka_unit_test(test_tables__names__are_in_order_and_found),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
