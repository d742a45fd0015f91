/*
 * test_url_vectors - URL and host tables of other projects; rows that gillnet reads otherwise on
 * purpose are listed with the reason.
 */
#include "core/message/text/ascii.h"
#include "core/message/url/percent.h"
#include "core/message/url/safebrowsing.h"
#include "core/message/url/unwrap.h"
#include "core/message/url/url.h"
#include "core/message/url/url_path.h"
#include "core/message/url/weburl.h"

#include "tests/unit/text/vectors.h"

enum { HREF_PERCENT = 99, IDNA_PERCENT = 97, ELSE_PERCENT = 95, ALL_PERCENT = 100 };

static const struct slice refused = LIT("(refused)");

static const struct vector_reason reasons[] = {
    {"http://foo/", "browsers ask the DNS for foo and guess no www and com"},
    {"\xf0\xb2\xa4\xb1"
     "20.\xe9\x9f\xb3.\xea\xa1\xa6"
     "1.",
     "U+32931 is a character since Unicode 17, newer than ICU's data"},
    {NULL, NULL},
};

static bool is_true(const json_t *row, const char *key)
{
    return json_is_true(json_object_get(row, key));
}

static struct slice text_of(const json_t *row, const char *key)
{
    return json_slice(json_object_get(row, key));
}

/* {"hex": "..."}: bytes that are no UTF-8. */
static struct slice input_of(struct arena *arena, const json_t *row)
{
    const json_t *in = json_object_get(row, "url");
    struct slice hex = text_of(in, "hex");
    char *p = NULL;
    size_t i = 0;

    if (json_is_string(in)) {
        return json_slice(in);
    }
    p = arena_bytes(arena, hex.n / 2);
    assert_non_null(p);
    for (i = 0; i + 1 < hex.n; i += 2) {
        unsigned high = ascii_hex[(unsigned char)hex.p[i]];
        unsigned low = ascii_hex[(unsigned char)hex.p[i + 1]];

        assert_true(high < 16 && low < 16);
        p[i / 2] = (char)(unsigned char)(high << 4 | low);
    }
    return slice_of(p, hex.n / 2);
}

static void test_weburl__web_platform__same_href(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "wpt-urltestdata");
    json_array_foreach(v.rows, i, row)
    {
        struct slice want = is_true(row, "failure") ? refused : text_of(row, "href");
        struct weburl base = {0};
        struct weburl url = {.href = refused};
        const json_t *base_text = json_object_get(row, "base");
        bool has_base =
            json_is_string(base_text) &&
            weburl_parse(*state, json_slice(base_text), NULL, &base) == ERR_OK;

        if (!is_true(row, "failure") && !slice_has_prefix(want, SLICE_LIT("http:")) &&
            !slice_has_prefix(want, SLICE_LIT("https:"))) {
            continue;
        }
        (void)weburl_parse(*state, text_of(row, "input"), has_base ? &base : NULL,
                           &url);
        vectors_row(&v, slice_eq(url.href, want), text_of(row, "input"), url.href,
                    want);
    }
    vectors_close(&v, HREF_PERCENT);
}

/* Rows of host names in their ASCII form. */
static void check_hosts(struct arena *arena, const char *name, unsigned percent)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, name);
    v.reasons = reasons;
    json_array_foreach(v.rows, i, row)
    {
        const json_t *output = json_object_get(row, "output");
        struct slice want = json_is_string(output) ? json_slice(output) : refused;
        struct host host = {.text = refused};

        (void)host_parse_web(arena, text_of(row, "input"), &host);
        vectors_row(&v, slice_eq(host.text, want), text_of(row, "input"), host.text,
                    want);
    }
    vectors_close(&v, percent);
}

static void test_host__web_platform_names__same(void **state)
{
    check_hosts(*state, "wpt-toascii", HREF_PERCENT);
}

static void test_host__idna_test_v2__same(void **state)
{
    check_hosts(*state, "wpt-idnatestv2", IDNA_PERCENT);
}

static void test_percent__web_platform__same(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    (void)state;
    vectors_open(&v, "wpt-percent-encoding");
    json_array_foreach(v.rows, i, row)
    {
        struct slice text = text_of(row, "input");
        json_t *want = json_object_get(json_object_get(row, "output"), "utf-8");
        char *dst = malloc(3 * text.n + 1);

        assert_non_null(dst);
        struct slice got =
            slice_of(dst, percent_encode(PERCENT_SPECIAL_QUERY, text, dst));
        vectors_row(&v, slice_eq(got, json_slice(want)), text, got, json_slice(want));
        free(dst);
    }
    vectors_close(&v, HREF_PERCENT);
}

/* gillnet keeps the query; want is the table's text without it. */
static bool same_but_query(struct slice got, struct slice want)
{
    return slice_eq(slice_head(got, slice_find(got, '?')), want);
}

static void test_safebrowsing__canonical_urls__same(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "gsb-canonical-url");
    json_array_foreach(v.rows, i, row)
    {
        struct slice want = is_true(row, "fail") ? refused : text_of(row, "output");
        struct slice in = input_of(*state, row);
        struct safebrowsing url = {.canonical = refused};

        (void)safebrowsing_parse(*state, in, &url);
        vectors_row(&v, same_but_query(url.canonical, want), in, url.canonical, want);
    }
    vectors_close(&v, ALL_PERCENT);
}

static void check_safebrowsing_part(struct arena *arena, const char *name, bool is_host)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, name);
    json_array_foreach(v.rows, i, row)
    {
        struct slice want = is_true(row, "fail") ? refused : text_of(row, "output");
        struct slice in = input_of(arena, row);
        struct safebrowsing url = {.host = refused, .path = refused};
        struct slice got;

        (void)safebrowsing_parse(arena, in, &url);
        got = is_host ? url.host : url.path;
        vectors_row(&v, slice_eq(got, want), in, got, want);
    }
    vectors_close(&v, ALL_PERCENT);
}

static void test_safebrowsing__canonical_hosts__same(void **state)
{
    check_safebrowsing_part(*state, "gsb-canonical-host", true);
}

static void test_safebrowsing__canonical_paths__same(void **state)
{
    check_safebrowsing_part(*state, "gsb-canonical-path", false);
}

static void test_host__safe_browsing_addresses__same(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "gsb-ip-address");
    json_array_foreach(v.rows, i, row)
    {
        struct slice want = text_of(row, "output");
        struct slice in = input_of(*state, row);
        struct host host = {0};
        struct slice got;

        (void)host_parse(*state, in, &host);
        got = host.kind == HOST_IPV4 ? host.text : SLICE_NONE;
        vectors_row(&v, slice_eq(got, want), in, got, want);
    }
    vectors_close(&v, ALL_PERCENT);
}

/* Expected values of a row: each once, in any order. */
static bool same_set(const json_t *want, const struct slice *got, size_t n)
{
    const json_t *one = NULL;
    size_t i = 0;

    if (json_array_size(want) != n) {
        return false;
    }
    json_array_foreach(want, i, one)
    {
        size_t k = 0;

        while (k < n && !slice_eq(got[k], json_slice(one))) {
            k++;
        }
        if (k == n) {
            return false;
        }
    }
    return true;
}

/* Which part of the expressions a table is about. */
enum part { PART_ALL, PART_HOSTS, PART_PATHS };

/* The part of each expression, each value once. */
static size_t parts_of(const struct slice *all, size_t n,
                       const struct safebrowsing *url, enum part part,
                       struct slice *ret)
{
    size_t count = 0;
    size_t i = 0;

    for (i = 0; i < n; i++) {
        size_t at = slice_find(all[i], '/');
        struct slice one = all[i];
        size_t k = 0;

        if (part == PART_HOSTS) {
            one = slice_head(one, at);
        } else if (part == PART_PATHS) {
            one = at == url->host.n ? slice_from(one, at) : SLICE_NONE;
        }
        while (k < count && !slice_eq(ret[k], one)) {
            k++;
        }
        if (k == count && one.n > 0) {
            ret[count++] = one;
        }
    }
    return count;
}

static void check_expressions(struct arena *arena, const char *name, enum part part)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, name);
    json_array_foreach(v.rows, i, row)
    {
        struct slice all[SAFEBROWSING_EXPRESSIONS_MAX];
        struct slice parts[SAFEBROWSING_EXPRESSIONS_MAX];
        struct slice in = input_of(arena, row);
        struct safebrowsing url = {0};
        size_t n = 0;

        if (safebrowsing_parse(arena, in, &url) == ERR_OK) {
            n = safebrowsing_expressions(arena, &url, all);
        }
        n = parts_of(all, n, &url, part, parts);
        vectors_row(&v,
                    is_true(row, "fail")
                        ? n == 0
                        : same_set(json_object_get(row, "output"), parts, n),
                    in, n > 0 ? parts[0] : SLICE_NONE, SLICE_NONE);
    }
    vectors_close(&v, ALL_PERCENT);
}

static void test_safebrowsing__patterns__same(void **state)
{
    check_expressions(*state, "gsb-patterns", PART_ALL);
}

static void test_safebrowsing__lookup_hosts__same(void **state)
{
    check_expressions(*state, "gsb-lookup-hosts", PART_HOSTS);
}

static void test_safebrowsing__lookup_paths__same(void **state)
{
    check_expressions(*state, "gsb-lookup-paths", PART_PATHS);
}

/* The path as the table has it: without the first slash, as it stands in the URL. */
static bool same_path(struct slice got, struct slice want)
{
    size_t i = 0;

    got = slice_from(got, 1);
    if (got.n != want.n) {
        return false;
    }
    for (i = 0; i < got.n; i++) {
        if (got.p[i] != want.p[i] && !(got.p[i] == '/' && want.p[i] == '\\')) {
            return false;
        }
    }
    return true;
}

/* Without the brackets of IPv6. */
static struct slice plain_host(const struct host *host)
{
    return host->text.n > 2 && host->text.p[0] == '['
               ? slice_of(host->text.p + 1, host->text.n - 2)
               : host->text;
}

static bool same_parts(struct arena *arena, struct slice in, const json_t *parts,
                       struct slice *rethost)
{
    struct weburl web = {0};
    struct url url = {0};

    if (weburl_parse(arena, in, NULL, &web) != ERR_OK) {
        /* URLs that browsers refuse and gillnet reads */
        (void)url_parse(arena, in, &url);
        *rethost = url.host.text;
        return slice_eq(url.host.text, text_of(parts, "host"));
    }
    *rethost = plain_host(&web.host);
    return slice_eq(*rethost, text_of(parts, "host")) &&
           (json_object_get(parts, "path") == NULL ||
            same_path(web.path, text_of(parts, "path"))) &&
           slice_eq(web.query, text_of(parts, "query")) &&
           (json_object_get(parts, "fragment") == NULL ||
            slice_eq(web.fragment, text_of(parts, "fragment")));
}

static void test_url__rspamd_parse__same_parts(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "rspamd-url-parse");
    json_array_foreach(v.rows, i, row)
    {
        const json_t *parts = json_object_get(row, "parts");
        struct slice host = refused;
        bool same = same_parts(*state, text_of(row, "url"), parts, &host);

        vectors_row(&v, same == is_true(row, "ok"), text_of(row, "url"), host,
                    text_of(parts, "host"));
    }
    vectors_close(&v, ELSE_PERCENT);
}

static void test_url__rspamd_paths__same(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "rspamd-path-normalise");
    json_array_foreach(v.rows, i, row)
    {
        struct slice path = text_of(row, "path");
        char *text = arena_bytes(*state, path.n + 8);
        struct url url = {.path = refused};

        assert_non_null(text);
        put_at(text, 0, SLICE_LIT("http://h"));
        put_at(text, 8, path);
        (void)url_parse(*state, slice_of(text, path.n + 8), &url);
        vectors_row(&v, slice_eq(url.path, text_of(row, "out")), path, url.path,
                    text_of(row, "out"));
    }
    vectors_close(&v, ELSE_PERCENT);
}

/* The canonical form with the escapes of its query decoded, as that project shows it. */
static struct slice plain_form(struct arena *arena, struct slice text)
{
    struct url url = {.canonical = SLICE_NONE};
    char *p = NULL;

    (void)url_parse(arena, text, &url);
    p = arena_bytes(arena, url.canonical.n);
    assert_non_null(p);
    return slice_of(p, url_decode_fully(url.canonical, '\\', p));
}

static bool is_produced(struct arena *arena, const json_t *inputs, struct slice want)
{
    const json_t *one = NULL;
    size_t i = 0;

    want = plain_form(arena, want);
    json_array_foreach(inputs, i, one)
    {
        struct unwrap_target targets[UNWRAP_TARGETS_MAX];
        bool is_cut = false;
        size_t n = unwrap_url(arena, json_slice(one), targets, &is_cut);
        bool found = slice_eq(plain_form(arena, json_slice(one)), want);
        size_t k = 0;

        for (k = 0; k < n && !found; k++) {
            found = slice_eq(plain_form(arena, targets[k].url), want);
        }
        if (found) {
            return true;
        }
    }
    return false;
}

static void test_unwrap__spamassassin__same_targets(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "sa-uri-canonicalise");
    v.reasons = reasons;
    json_array_foreach(v.rows, i, row)
    {
        const json_t *inputs = json_object_get(row, "in");
        const json_t *one = NULL;
        struct slice missing = SLICE_NONE;
        size_t k = 0;

        json_array_foreach(json_object_get(row, "out_set"), k, one)
        {
            if (!is_produced(*state, inputs, json_slice(one))) {
                missing = json_slice(one);
            }
        }
        vectors_row(&v, missing.p == NULL, json_slice(json_array_get(inputs, 0)),
                    SLICE_NONE, missing);
    }
    vectors_close(&v, ELSE_PERCENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_weburl__web_platform__same_href),
        ARENA_TEST(test_host__web_platform_names__same),
        ARENA_TEST(test_host__idna_test_v2__same),
        cmocka_unit_test(test_percent__web_platform__same),
        ARENA_TEST(test_safebrowsing__canonical_urls__same),
        ARENA_TEST(test_safebrowsing__canonical_hosts__same),
        ARENA_TEST(test_safebrowsing__canonical_paths__same),
        ARENA_TEST(test_host__safe_browsing_addresses__same),
        ARENA_TEST(test_safebrowsing__patterns__same),
        ARENA_TEST(test_safebrowsing__lookup_hosts__same),
        ARENA_TEST(test_safebrowsing__lookup_paths__same),
        ARENA_TEST(test_url__rspamd_parse__same_parts),
        ARENA_TEST(test_url__rspamd_paths__same),
        ARENA_TEST(test_unwrap__spamassassin__same_targets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
