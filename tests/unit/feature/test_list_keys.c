/*
 * test_lookup - the keys of a feature meet the key of the list entry that means it.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/message/feature/list_keys.h"
#include "core/message/feature/normalize.h"

#include "tests/unit/unit.h"

enum { ARENA = 1 << 20, LINE = 2048 };

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new(ARENA);
    return arena == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static size_t keys_of(enum feature_type type, const char *text,
                      struct feature_key ret[FEATURE_KEYS_MAX])
{
    struct feature f = {.type = (uint16_t)type, .text = slice_str(text)};
    return feature_keys(&f, NULL, arena, ret);
}

/* "class>report:text ..." */
static const char *keys_line(enum feature_type type, const char *text, char line[LINE])
{
    struct feature_key keys[FEATURE_KEYS_MAX];
    size_t n = keys_of(type, text, keys);
    size_t at = 0;
    line[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        at +=
            (size_t)snprintf(line + at, LINE - at, "%s%s>%s:%.*s", i > 0 ? " " : "",
                             feature_info((enum feature_type)keys[i].class_type)->name,
                             feature_info((enum feature_type)keys[i].report_type)->name,
                             SLICE_ARGS(keys[i].text));
    }
    return line;
}

static void test_keys__each_kind_of_feature__gives_its_keys(void **state)
{
    static const struct {
        enum feature_type type;
        const char *text;
        const char *keys;
    } rows[] = {
        {FEATURE_subject, "buy now", "subject>subject:buy now"},
        {FEATURE_url, "evil.com/x", "url>url:evil.com/x"},
        {FEATURE_url_exact, "evil.com/x/",
         "url_exact>url:evil.com/x/ url_template>url:evil.com/x/"},
        {FEATURE_from, "X@evil.com",
         "address>from:X@evil.com address>from:x@evil.com host>from_domain:evil.com "
         "domain>from_domain:evil.com"},
        {FEATURE_text_address, "v.i+x@gmail.com",
         "text_address>text_address:v.i+x@gmail.com text_address>text_address:vi@gmail.com"},
        {FEATURE_url_template, "evil.com/0", "url_template>url_template:evil.com/0"},
        {FEATURE_url_target, "evil.com/x", ""},
        {FEATURE_return_path, "x@evil.com",
         "address>return_path:x@evil.com host>return_path_domain:evil.com "
         "domain>return_path_domain:evil.com"},
        {FEATURE_dkim_domain, "evil.com",
         "host>dkim_domain:evil.com domain>dkim_domain:evil.com"},
        {FEATURE_attachment, "ab", "attachment>attachment:ab"},
        {FEATURE_url_domain, "evil.com", ""},
        {FEATURE_from_domain, "evil.com", ""},
        {FEATURE_client_net, "192.0.2.0/24", ""},
        {FEATURE_url_host, "evil.com",
         "host>url_host:evil.com domain>url_domain:evil.com"},
        {FEATURE_url_host, "www.a.co.uk",
         "host>url_host:www.a.co.uk domain>url_domain:www.a.co.uk "
         "domain>url_domain:a.co.uk"},
        {FEATURE_helo, "mx.evil.com",
         "host>helo:mx.evil.com domain>helo:mx.evil.com domain>helo:evil.com"},
        {FEATURE_from, "joe@m.evil.com",
         "address>from:joe@m.evil.com host>from_domain:m.evil.com "
         "domain>from_domain:m.evil.com domain>from_domain:evil.com"},
        {FEATURE_envelope_from, "x@evil.com",
         "address>envelope_from:x@evil.com host>envelope_domain:evil.com "
         "domain>envelope_domain:evil.com"},
        {FEATURE_reply_to, "x@evil.com",
         "address>reply_to:x@evil.com host>reply_to_domain:evil.com "
         "domain>reply_to_domain:evil.com"},
        {FEATURE_sender, "x@evil.com",
         "address>sender:x@evil.com host>sender_domain:evil.com "
         "domain>sender_domain:evil.com"},
        /* a public suffix is not a domain of one owner */
        {FEATURE_url_host, "co.uk", "host>url_host:co.uk"},
        /* long names: the full one and the last five suffixes */
        {FEATURE_url_host, "a.b.c.d.e.f.g.evil.com",
         "host>url_host:a.b.c.d.e.f.g.evil.com domain>url_domain:a.b.c.d.e.f.g.evil.com "
         "domain>url_domain:evil.com domain>url_domain:g.evil.com "
         "domain>url_domain:f.g.evil.com domain>url_domain:e.f.g.evil.com "
         "domain>url_domain:d.e.f.g.evil.com"},
        {FEATURE_domain, "evil.com", ""},
        {FEATURE_NONE, "x", ""},
        {FEATURE_subject, "", ""},
    };
    char line[LINE];
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(keys_line(rows[i].type, rows[i].text, line), rows[i].keys);
    }
}

/* The keys of a URL, "a b c". */
static const char *expressions_line(const char *url, char line[LINE])
{
    struct feature_key keys[FEATURE_KEYS_MAX];
    struct feature f = {.type = FEATURE_url_exact, .text = slice_str(url)};
    size_t n = feature_derived_keys(&f, FEATURE_EXPRESSIONS, arena, keys);
    size_t at = 0;
    line[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(keys[i].class_type, FEATURE_url_expression);
        assert_int_equal(keys[i].report_type, FEATURE_url);
        at += (size_t)snprintf(line + at, LINE - at, "%s%.*s", i > 0 ? " " : "",
                               SLICE_ARGS(keys[i].text));
    }
    return line;
}

static void test_expressions__of_each_url__end_at_the_registrable_domain(void **state)
{
    static const struct {
        const char *url;
        const char *expressions;
    } rows[] = {
        {"evil.com/", "evil.com/"},
        {"evil.com/a/b.html?c",
         "evil.com/a/b.html?c evil.com/a/b.html evil.com/a/ evil.com/"},
        {"x.y.evil.co.uk/a", "x.y.evil.co.uk/a x.y.evil.co.uk/ y.evil.co.uk/a "
                             "y.evil.co.uk/ evil.co.uk/a evil.co.uk/"},
        /* suffixes of the private section: each customer is a site of its own */
        {"shop.github.io/a", "shop.github.io/a shop.github.io/"},
        {"www.shop.blogspot.com/", "www.shop.blogspot.com/ shop.blogspot.com/"},
        {"bucket.s3.amazonaws.com/f/x",
         "bucket.s3.amazonaws.com/f/x bucket.s3.amazonaws.com/f/ "
         "bucket.s3.amazonaws.com/"},
        {"github.io/", "github.io/"},
        {"co.uk/a", "co.uk/a co.uk/"},
        {"host/a", "host/a host/"},
        {"192.0.2.1/a", "192.0.2.1/a 192.0.2.1/"},
        {"[2001:db8::1]/", "[2001:db8::1]/"},
        {"evil.com:8080/a", "evil.com/a evil.com/"},
    };
    char line[LINE];
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(expressions_line(rows[i].url, line), rows[i].expressions);
    }
}

/* On shared hosting a listing of one site, or of one folder, finds no other. */
static void test_expressions__of_shared_hosting__do_not_meet(void **state)
{
    static const struct {
        const char *listed;
        const char *url;
        bool found;
    } rows[] = {
        {"url_expression:evil.github.io/", "evil.github.io/any/thing?q", true},
        {"url_expression:evil.github.io/", "a.evil.github.io/", true},
        {"url_expression:evil.github.io/", "good.github.io/", false},
        {"url_expression:github.io/", "good.github.io/", false},
        {"url_expression:github.io/", "github.io/x", true},
        {"url_expression:sites.google.com/view/evil/",
         "sites.google.com/view/evil/home", true},
        {"url_expression:sites.google.com/view/evil/",
         "sites.google.com/view/good/home", false},
        {"url_expression:http://EVIL.com:8080/a/./b/", "x.evil.com/a/b/c.html", true},
        {"url_expression:evil.com/a?q=1", "evil.com/a?q=1", true},
        {"url_expression:evil.com/a?q=1", "evil.com/a?q=2", false},
        /* a URL stays exact */
        {"url:evil.com/a/", "evil.com/a/b", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct feature_key keys[FEATURE_KEYS_MAX];
        struct feature f = {.type = FEATURE_url_exact, .text = slice_str(rows[i].url)};
        struct feature_entry e;
        bool found = false;
        assert_int_equal(feature_entry_parse(slice_str(rows[i].listed), FEATURE_NONE,
                                             arena, &e, NULL),
                         ERR_OK);
        size_t n = feature_derived_keys(&f, FEATURE_EXPRESSIONS, arena, keys);
        for (size_t k = 0; k < n; k++) {
            found |=
                keys[k].class_type == e.class_type && slice_eq(keys[k].text, e.text);
        }
        if (found != rows[i].found) {
            fail_msg("%s, listed %s", rows[i].url, rows[i].listed);
        }
    }
}

/* SHA-256 of "evil.example/" and of "evil.example/a/", as hash lists have them. */
static void test_expressions__hashes__then_those_of_the_expressions(void **state)
{
    static const char root[] =
        "f001957c833da35384097567d684bbfdccfd3c0aea51b672d740b5858f6e9aa5";
    struct feature_key keys[FEATURE_KEYS_MAX];
    struct feature f = {.type = FEATURE_url_exact,
                        .text = SLICE_LIT("evil.example/a/b")};
    size_t plain = feature_derived_keys(&f, FEATURE_EXPRESSIONS, arena, keys);
    size_t n = feature_derived_keys(&f, FEATURE_EXPRESSION_HASHES, arena, keys);
    bool found = false;
    (void)state;
    assert_int_equal(n, plain);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(keys[i].class_type, FEATURE_url_hash);
        assert_int_equal(keys[i].report_type, FEATURE_url);
        found |= slice_eq(keys[i].text, slice_str(root));
    }
    assert_true(found);
    assert_int_equal(feature_derived_keys(&f, 0, arena, keys), 0);
}

static void test_expressions__longest_url__within_bounds(void **state)
{
    enum { BYTES = 8192 };
    char text[BYTES];
    const unsigned both = FEATURE_EXPRESSIONS | FEATURE_EXPRESSION_HASHES;
    struct feature_key keys[2 * FEATURE_KEYS_MAX];
    struct feature f = {.type = FEATURE_url_exact, .text = slice_of(text, BYTES)};
    struct arena *own = arena_new(FEATURE_EXPRESSIONS_BYTES);
    (void)state;
    memset(text, '%', BYTES);
    memcpy(text, "a.b.c.d.e.f.g.h.evil.com/1/2/3/4/5/6?", 37);
    assert_int_equal(feature_derived_keys(&f, both, own, keys), 60);
    assert_false(arena_is_full(own));
    assert_true(feature_keys(&f, NULL, own, keys) + 60 <= FEATURE_KEYS_MAX);
    f.type = FEATURE_subject;
    assert_int_equal(feature_derived_keys(&f, both, own, keys), 0);
    arena_free(&own);
}

static void test_keys__ipv4_address__has_every_length_from_32_to_8(void **state)
{
    (void)state;
    struct feature_key keys[FEATURE_KEYS_MAX];
    assert_int_equal(keys_of(FEATURE_client_ip, "198.51.100.77", keys), 25);
    assert_true(slice_eq(keys[0].text, SLICE_LIT("198.51.100.77")));
    assert_true(slice_eq(keys[1].text, SLICE_LIT("198.51.100.76/31")));
    assert_true(slice_eq(keys[8].text, SLICE_LIT("198.51.100.0/24")));
    assert_true(slice_eq(keys[24].text, SLICE_LIT("198.0.0.0/8")));
    assert_int_equal(keys[24].class_type, FEATURE_network);
    assert_int_equal(keys[24].report_type, FEATURE_client_ip);
}

static void test_keys__ipv6_address__has_the_lengths_of_entries(void **state)
{
    (void)state;
    struct feature_key keys[FEATURE_KEYS_MAX];
    assert_int_equal(keys_of(FEATURE_url_ip, "2001:db8:1234:5678::9", keys), 35);
    assert_true(slice_eq(keys[0].text, SLICE_LIT("2001:db8:1234:5678::9")));
    assert_true(slice_eq(keys[1].text, SLICE_LIT("2001:db8:1234:5678::/64")));
    assert_true(slice_eq(keys[5].text, SLICE_LIT("2001:db8:1234::/48")));
    assert_true(slice_eq(keys[34].text, SLICE_LIT("2001::/19")));
}

static void test_keys__host_that_is_an_address__is_sought_as_network(void **state)
{
    (void)state;
    struct feature_key keys[FEATURE_KEYS_MAX];
    assert_int_equal(keys_of(FEATURE_helo, "192.0.2.1", keys), 25);
    assert_int_equal(keys[0].class_type, FEATURE_network);
    assert_int_equal(keys_of(FEATURE_from, "joe@192.0.2.1", keys), 26);
}

static void test_keys__longest_expansion__fits(void **state)
{
    (void)state;
    struct feature_key keys[FEATURE_KEYS_MAX];
    assert_int_equal(keys_of(FEATURE_from, "joe@2001:db8::1", keys), 36);
}

static void test_keys__no_memory_for_networks__gives_what_there_is(void **state)
{
    (void)state;
    struct arena *tiny = arena_new(100);
    struct feature f = {.type = FEATURE_client_ip, .text = SLICE_LIT("192.0.2.1")};
    struct feature_key keys[FEATURE_KEYS_MAX];
    assert_true(feature_keys(&f, NULL, tiny, keys) < 25);
    arena_free(&tiny);
}

static void test_entry__as_people_and_feeds_write_it__has_the_normal_key(void **state)
{
    static const char sum[] =
        "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855";
    static const struct {
        const char *text;
        enum feature_type hint;
        enum feature_type class_type;
        const char *key;
    } rows[] = {
        {"evil.com", FEATURE_NONE, FEATURE_domain, "evil.com"},
        {" EVIL.com. ", FEATURE_NONE, FEATURE_domain, "evil.com"},
        {"*.evil.com", FEATURE_NONE, FEATURE_domain, "evil.com"},
        {".evil.com", FEATURE_NONE, FEATURE_domain, "evil.com"},
        {"@evil.com", FEATURE_NONE, FEATURE_domain, "evil.com"},
        {"b\xc3\xbc"
         "cher.example",
         FEATURE_NONE, FEATURE_domain, "xn--bcher-kva.example"},
        {"host:www.evil.com", FEATURE_NONE, FEATURE_host, "www.evil.com"},
        {"host:github.io", FEATURE_NONE, FEATURE_host, "github.io"},
        {"joe@EVIL.com", FEATURE_NONE, FEATURE_address, "joe@evil.com"},
        {"<joe@evil.com>", FEATURE_NONE, FEATURE_address, "joe@evil.com"},
        {"http://EVIL.com:80/a/../b#x", FEATURE_NONE, FEATURE_url, "evil.com/b"},
        {"https://evil.com", FEATURE_NONE, FEATURE_url, "evil.com"},
        {"http://evil.com/?utm_source=x", FEATURE_NONE, FEATURE_url, "evil.com"},
        {"http://www.evil.com/Path/", FEATURE_NONE, FEATURE_url, "evil.com/Path"},
        {"evil.com?q", FEATURE_NONE, FEATURE_url, "evil.com?q"},
        {"url_exact:http://www.evil.com/A/?utm_id=1", FEATURE_NONE, FEATURE_url_exact,
         "www.evil.com/A/?utm_id=1"},
        {"evil.com/path", FEATURE_NONE, FEATURE_url, "evil.com/path"},
        {"url:evil.com", FEATURE_NONE, FEATURE_url, "evil.com"},
        {"url_folded:evil.com/A?utm_id=1", FEATURE_NONE, FEATURE_url_folded,
         "evil.com/a"},
        {"url_template:evil.com/Item/17?u=1", FEATURE_NONE, FEATURE_url_template,
         "evil.com/item/0?u"},
        {"url_expression:evil.com", FEATURE_NONE, FEATURE_url_expression, "evil.com/"},
        {"url_target:evil.com/a", FEATURE_NONE, FEATURE_url, "evil.com/a"},
        {"form_host:www.evil.com", FEATURE_NONE, FEATURE_host, "www.evil.com"},
        {"list_id:A list <The.List.Example>", FEATURE_NONE, FEATURE_list_id,
         "the.list.example"},
        {"trait:html_form", FEATURE_NONE, FEATURE_trait, "html_form"},
        {"display_name: My  Bank", FEATURE_NONE, FEATURE_display_name, "My Bank"},
        {"192.0.2.1", FEATURE_NONE, FEATURE_network, "192.0.2.1"},
        {"192.0.2.1/32", FEATURE_NONE, FEATURE_network, "192.0.2.1"},
        {"192.0.2.77/24", FEATURE_NONE, FEATURE_network, "192.0.2.0/24"},
        {"::ffff:192.0.2.77/120", FEATURE_NONE, FEATURE_network, "192.0.2.0/24"},
        {"2001:DB8::/32", FEATURE_NONE, FEATURE_network, "2001:db8::/32"},
        {"2001:db8::1", FEATURE_NONE, FEATURE_network, "2001:db8::1"},
        {"192.0.2.1", FEATURE_domain, FEATURE_network, "192.0.2.1"},
        {"192.0.2.1/24x", FEATURE_NONE, FEATURE_url, "192.0.2.1/24x"},
        {sum, FEATURE_NONE, FEATURE_attachment,
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {sum, FEATURE_body, FEATURE_body,
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"subject:  Buy\t now ", FEATURE_NONE, FEATURE_subject, "Buy now"},
        {"C:\\x\\Invoice.EXE", FEATURE_attachment_name, FEATURE_attachment_name,
         "invoice.exe"},
        {"archive_entry:dir/Invoice#1.EXE", FEATURE_NONE, FEATURE_archive_entry,
         "invoice#1.exe"},
        {"attachment_type:Application/X-MSDownload; x=y", FEATURE_NONE,
         FEATURE_attachment_type, "application/x-msdownload"},
        {"phone:+49 30 1234567", FEATURE_NONE, FEATURE_phone, "+49301234567"},
        {"(212) 555-0100", FEATURE_phone, FEATURE_phone, "+12125550100"},
        {"wallet:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", FEATURE_NONE, FEATURE_wallet,
         "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"},
        {"text_address:Joe@EVIL.com", FEATURE_NONE, FEATURE_text_address,
         "joe@evil.com"},
        {"evil.com", FEATURE_from_domain, FEATURE_domain, "evil.com"},
        {"evil.com", FEATURE_url_host, FEATURE_host, "evil.com"},
        {"joe@evil.com", FEATURE_from, FEATURE_address, "joe@evil.com"},
        {"192.0.2.0/24", FEATURE_client_net, FEATURE_network, "192.0.2.0/24"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct feature_entry e;
        struct errinfo why = {0};
        enum err code =
            feature_entry_parse(slice_str(rows[i].text), rows[i].hint, arena, &e, &why);
        if (code != ERR_OK) {
            fail_msg("%s refused: %s", rows[i].text, why.text);
        }
        assert_int_equal(e.class_type, rows[i].class_type);
        if (!slice_eq(e.text, slice_str(rows[i].key))) {
            fail_msg("%s became %.*s", rows[i].text, SLICE_ARGS(e.text));
        }
    }
}

static void test_entry__that_would_list_too_much_or_nothing__is_refused(void **state)
{
    static const struct {
        const char *text;
        enum feature_type hint;
        enum err code;
    } rows[] = {
        {"", FEATURE_NONE, ERR_SYNTAX},
        {"   ", FEATURE_NONE, ERR_SYNTAX},
        {"phone:030 1234567", FEATURE_NONE, ERR_SYNTAX},
        {"call +49301234567", FEATURE_phone, ERR_SYNTAX},
        {"wallet:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb", FEATURE_NONE, ERR_SYNTAX},
        {"text_address:evil.com", FEATURE_NONE, ERR_SYNTAX},
        {"domain:", FEATURE_NONE, ERR_SYNTAX},
        {"trait:no_such", FEATURE_NONE, ERR_SYNTAX},
        {"list_id:<>", FEATURE_NONE, ERR_SYNTAX},
        {"url_expression:http://localhost/", FEATURE_NONE, ERR_RANGE},
        {"com", FEATURE_NONE, ERR_RANGE},
        {"co.uk", FEATURE_NONE, ERR_RANGE},
        {"*.co.uk", FEATURE_NONE, ERR_RANGE},
        {"github.io", FEATURE_NONE, ERR_RANGE},
        {"localhost", FEATURE_NONE, ERR_RANGE},
        {"localhost.localdomain", FEATURE_NONE, ERR_RANGE},
        {"printer.local", FEATURE_NONE, ERR_RANGE},
        {"http://localhost/x", FEATURE_NONE, ERR_RANGE},
        {"a..b.com", FEATURE_NONE, ERR_SYNTAX},
        {"2130706433", FEATURE_NONE, ERR_SYNTAX},
        {"192.0.2.0/7", FEATURE_NONE, ERR_RANGE},
        {"192.0.2.0/33", FEATURE_NONE, ERR_RANGE},
        {"2001:db8::/18", FEATURE_NONE, ERR_RANGE},
        {"2001:db8::/50", FEATURE_NONE, ERR_RANGE},
        {"2001:db8::/129", FEATURE_NONE, ERR_RANGE},
        {"0.0.0.0", FEATURE_NONE, ERR_RANGE},
        {"::", FEATURE_NONE, ERR_RANGE},
        {"evil.com", FEATURE_client_ip, ERR_SYNTAX},
        {"evil.com", FEATURE_address, ERR_SYNTAX},
        {"mailto:joe@evil.com/", FEATURE_url, ERR_UNSUPPORTED},
        {"abc", FEATURE_attachment, ERR_SYNTAX},
        {"  \t ", FEATURE_subject, ERR_SYNTAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct feature_entry e;
        struct errinfo why = {0};
        enum err code =
            feature_entry_parse(slice_str(rows[i].text), rows[i].hint, arena, &e, &why);
        if (code != rows[i].code) {
            fail_msg("\"%s\" gave %d: %s", rows[i].text, code, why.text);
        }
        assert_true(strlen(why.text) > 0);
        assert_int_equal(why.line, 0); /* no line of a file */
    }
}

/* The promise of the header: a domain listed once is found in every place where it can stand. */
static void test_entry__of_a_domain__is_among_the_keys_wherever_it_stands(void **state)
{
    static const struct {
        enum feature_type type;
        const char *text;
        bool found;
    } rows[] = {
        {FEATURE_url_host, "evil.com", true},
        {FEATURE_url_host, "a.b.evil.com", true},
        {FEATURE_helo, "mx.evil.com", true},
        {FEATURE_from, "x@m.evil.com", true},
        {FEATURE_client_name, "evil.com", true},
        {FEATURE_url_host, "notevil.com", false},
        {FEATURE_url_host, "evil.com.br", false},
        {FEATURE_from, "evil.com@b.com", false},
    };
    (void)state;
    struct feature_entry e;
    assert_int_equal(
        feature_entry_parse(SLICE_LIT("evil.com"), FEATURE_NONE, arena, &e, NULL),
        ERR_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct feature_key keys[FEATURE_KEYS_MAX];
        size_t n = keys_of(rows[i].type, rows[i].text, keys);
        bool found = false;
        for (size_t k = 0; k < n; k++) {
            found |=
                keys[k].class_type == e.class_type && slice_eq(keys[k].text, e.text);
        }
        assert_int_equal(found, rows[i].found);
    }
}

static void test_entry__without_memory__says_so(void **state)
{
    (void)state;
    static const char *const texts[] = {"evil.com", "joe@evil.com", "evil.com/x",
                                        "192.0.2.0/24", "subject:x"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct arena *tiny = arena_new(1);
        struct feature_entry e;
        (void)arena_bytes(tiny, 1);
        assert_int_equal(
            feature_entry_parse(slice_str(texts[i]), FEATURE_NONE, tiny, &e, NULL),
            ERR_NOMEM);
        arena_free(&tiny);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_keys__each_kind_of_feature__gives_its_keys,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_expressions__of_each_url__end_at_the_registrable_domain, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            test_expressions__of_shared_hosting__do_not_meet, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_expressions__hashes__then_those_of_the_expressions, set_up, tear_down),
        cmocka_unit_test(test_expressions__longest_url__within_bounds),
        cmocka_unit_test_setup_teardown(
            test_keys__ipv4_address__has_every_length_from_32_to_8, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_keys__ipv6_address__has_the_lengths_of_entries, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_keys__host_that_is_an_address__is_sought_as_network, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(test_keys__longest_expansion__fits, set_up,
                                        tear_down),
        cmocka_unit_test(test_keys__no_memory_for_networks__gives_what_there_is),
        cmocka_unit_test_setup_teardown(
            test_entry__as_people_and_feeds_write_it__has_the_normal_key, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            test_entry__that_would_list_too_much_or_nothing__is_refused, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(
            test_entry__of_a_domain__is_among_the_keys_wherever_it_stands, set_up,
            tear_down),
        cmocka_unit_test(test_entry__without_memory__says_so),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
