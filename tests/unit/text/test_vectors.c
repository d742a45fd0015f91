/*
 * test_vectors - tables of other projects' tests, where the data folder has them.
 *
 * The folder is GILLNET_DATA, else shared/data beside the source folder; without it every test
 * is skipped. Inputs that we read otherwise on purpose are listed with the reason.
 */
#include <jansson.h>

#include "core/text/address.h"
#include "core/text/encoded_word.h"
#include "core/text/transfer.h"
#include "core/text/url.h"

#include "tests/unit/text/text_test.h"

enum { VECTOR_PATH_MAX = 4096 };

#define FIFTY_DIGITS "01234567890123456789012345678901234567890123456789"
#define LONG_NAME                                                   \
    FIFTY_DIGITS "." FIFTY_DIGITS "." FIFTY_DIGITS "." FIFTY_DIGITS \
                 ".0123456789012345678901234567890123456789012345678"

static const char *const differences[] = {
    /* hosts that browsers refuse, and Safe Browsing escapes */
    "http:// leadingspace.com/",
    "http://%20leadingspace.com/",
    "http://host%23.com/%257Ea%2521b%2540c%2523d%2524e%25f%255E00%252611%252A22%252833%252944_55%252B",
    /* no escape is decoded before the URL is split, as in browsers */
    "http%3A%2F%2Fwackyurl.com:80/",
    /* browsers skip every slash after the scheme */
    "http:///blah;param?query#ref",
    /* our host is RFC 5952 without brackets */
    "http://[::192.9.5.5]/ipng",
    /* empty labels go away before a host is read */
    "http://./",
    "http://0..0x300./",
    /* browsers leave long names and labels to DNS, which refuses them */
    "x01234567890123456789012345678901234567890123456789012345678901x.\xc3\x9f",
    LONG_NAME ".x",
    LONG_NAME ".\xc3\x9f",
    /* newer Unicode data than ICU 72 has */
    "look\xe1\xa0\x8eout.net",
    "\xf0\xaf\xa1\xa8.com",
    /* a bare word is no address */
    "Undisclosed recipients",
    /* a quoted local part that needs its quotes keeps them */
    "\"<>\"@example.com",
    "\"\\\"\"@example.com",
};

static bool is_known_difference(const char *input)
{
    size_t i = 0;

    for (i = 0; i < COUNT_OF(differences); i++) {
        if (strcmp(differences[i], input) == 0) {
            return true;
        }
    }
    return false;
}

/* The rows of urls/NAME.json; skips the test when there are none. */
static json_t *load(const char *name, json_t **retroot)
{
    const char *data = getenv("GILLNET_DATA"); /* NOLINT(concurrency-mt-unsafe) */
    char path[VECTOR_PATH_MAX];
    json_error_t error;

    (void)snprintf(path, sizeof(path), "%s/urls/%s.json",
                   data != NULL ? data : GILLNET_DATA_DEFAULT, name);
    *retroot = json_load_file(path, JSON_ALLOW_NUL, &error);
    if (*retroot == NULL) {
        print_message("skipped: %s: %s\n", path, error.text);
        skip();
    }
    return json_object_get(*retroot, "vectors");
}

static struct slice json_slice(const json_t *value)
{
    /* of anything but a string: nothing */
    return slice_of(json_string_value(value), json_string_length(value));
}

static size_t mismatches;

static void compare(const char *input, struct slice got, struct slice want)
{
    if (!slice_eq(got, want) && !is_known_difference(input)) {
        print_error("%s: got \"%.*s\", want \"%.*s\"\n", input, SLICE_ARGS(got),
                    SLICE_ARGS(want));
        mismatches++;
    }
}

/* A URL of the table without its scheme, as our canonical form has it. */
static struct slice without_scheme(struct slice url)
{
    size_t at = slice_find_slice(url, SLICE_LIT("://"));

    return at < url.n ? slice_from(url, at + 3) : url;
}

static void test_url__safe_browsing_urls__same_canonical_form(void **state)
{
    json_t *root = NULL;
    json_t *rows = load("gsb-canonical-url", &root);
    json_t *row = NULL;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        const json_t *in = json_object_get(row, "url");
        struct url url = {0};
        enum err err = ERR_SYNTAX;

        if (!json_is_string(in)) {
            continue; /* bytes that are no UTF-8 */
        }
        err = url_parse(*state, json_slice(in), &url);
        if (json_is_true(json_object_get(row, "fail"))) {
            compare(json_string_value(in), err == ERR_OK ? url.canonical : SLICE_NONE,
                    SLICE_NONE);
        } else {
            /* that implementation drops the query, we keep it */
            compare(json_string_value(in),
                    slice_head(url.canonical, slice_find(url.canonical, '?')),
                    without_scheme(json_slice(json_object_get(row, "output"))));
        }
    }
    json_decref(root);
    assert_int_equal(mismatches, 0);
}

static void test_url__safe_browsing_parts__same(void **state)
{
    static const char *const names[] = {"gsb-canonical-host", "gsb-canonical-path"};
    size_t k = 0;

    mismatches = 0;
    for (k = 0; k < COUNT_OF(names); k++) {
        json_t *root = NULL;
        json_t *rows = load(names[k], &root);
        json_t *row = NULL;
        size_t i = 0;

        json_array_foreach(rows, i, row)
        {
            const json_t *in = json_object_get(row, "url");
            struct url url = {0};

            if (url_parse(*state, json_slice(in), &url) != ERR_OK) {
                url.host.text = SLICE_LIT("refused");
            }
            compare(json_string_value(in), k == 0 ? url.host.text : url.path,
                    json_slice(json_object_get(row, "output")));
        }
        json_decref(root);
    }
    assert_int_equal(mismatches, 0);
}

static void test_host__safe_browsing_addresses__same(void **state)
{
    json_t *root = NULL;
    json_t *rows = load("gsb-ip-address", &root);
    json_t *row = NULL;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        const json_t *in = json_object_get(row, "url");
        struct host host = {0};
        enum err err = host_parse(*state, json_slice(in), &host);

        compare(json_string_value(in),
                err == ERR_OK && host.kind == HOST_IPV4 ? host.text : SLICE_NONE,
                json_slice(json_object_get(row, "output")));
    }
    json_decref(root);
    assert_int_equal(mismatches, 0);
}

static void test_host__web_platform_names__same(void **state)
{
    json_t *root = NULL;
    json_t *rows = load("wpt-toascii", &root);
    json_t *row = NULL;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        const json_t *in = json_object_get(row, "input");
        const json_t *want = json_object_get(row, "output");
        struct host host = {0};

        (void)host_parse(*state, json_slice(in), &host);
        compare(json_string_value(in), host.text,
                json_is_string(want) ? json_slice(want) : SLICE_NONE);
    }
    json_decref(root);
    assert_int_equal(mismatches, 0);
}

/* A row is for us: without a base, and of a scheme that we read. */
static bool is_web_url(const json_t *row)
{
    struct slice in = json_slice(json_object_get(row, "input"));

    return json_string_length(json_object_get(row, "base")) == 0 &&
           (slice_has_prefix_nocase(in, SLICE_LIT("http")) ||
            slice_has_prefix_nocase(in, SLICE_LIT("ftp:")));
}

static void test_url__web_platform_urls__same_host(void **state)
{
    json_t *root = NULL;
    json_t *rows = load("wpt-urltestdata", &root);
    json_t *row = NULL;
    size_t count = 0;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        const json_t *in = json_object_get(row, "input");
        const json_t *want = json_object_get(row, "hostname");
        struct slice host = want == NULL ? SLICE_NONE : json_slice(want);
        struct url url = {0};

        if (!json_is_string(in) || !is_web_url(row)) {
            continue;
        }
        count++;
        (void)url_parse(*state, json_slice(in), &url);
        if (host.n > 0 && host.p[0] == '[') {
            host = slice_of(host.p + 1, host.n - 2);
        }
        compare(json_string_value(in), url.host.text, host);
    }
    json_decref(root);
    assert_true(count > 100);
    assert_int_equal(mismatches, 0);
}

static void test_host__public_suffix_list__same_registrable(void **state)
{
    json_t *root = NULL;
    json_t *rows = load("psl-registrable", &root);
    json_t *row = NULL;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        const json_t *in = json_object_get(row, "in");
        const json_t *want = json_object_get(row, "registrable");
        struct slice wanted = SLICE_NONE;
        struct host name = {0};
        struct host host = {0};

        if (json_is_string(want) &&
            host_parse(*state, json_slice(want), &host) == ERR_OK) {
            wanted = host.text;
        }
        if (json_slice(in).n == 0 || json_string_value(in)[0] == '.') {
            name.text = json_slice(in); /* no normal form */
        } else {
            assert_int_equal(host_parse(*state, json_slice(in), &name), ERR_OK);
        }
        compare(json_string_value(in), host_registrable(name.text), wanted);
    }
    json_decref(root);
    assert_int_equal(mismatches, 0);
}

static void test_encoded_word__rspamd__same(void **state)
{
    json_t *root = NULL;
    json_t *rows = load("rspamd-rfc2047", &root);
    json_t *row = NULL;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        const json_t *in = json_array_get(row, 0);

        compare(json_string_value(in), encoded_word_decode(*state, json_slice(in)),
                json_slice(json_array_get(row, 1)));
    }
    json_decref(root);
    assert_int_equal(mismatches, 0);
}

static struct slice decode_qp(struct arena *arena, struct slice in)
{
    char *out = arena_bytes(arena, transfer_bound(in.n) + 128);
    struct transfer t;
    size_t n = 0;

    transfer_init(&t, TRANSFER_QUOTED_PRINTABLE);
    n = transfer_feed(&t, in, out);
    n += transfer_end(&t, out + n);
    return slice_of(out, n);
}

static void test_transfer__rspamd__same(void **state)
{
    /* rows for encoders have what is decoded first, rows for decoders last */
    json_t *root = NULL;
    json_t *rows = load("rspamd-quoted-printable", &root);
    json_t *row = NULL;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        struct slice first = json_slice(json_array_get(row, 0));
        struct slice last = json_slice(json_array_get(row, 1));

        if (!slice_eq(decode_qp(*state, last), first)) {
            compare(first.p, decode_qp(*state, first), last);
        }
    }
    json_decref(root);
    assert_int_equal(mismatches, 0);
}

static void test_address__rspamd_lists__same_addresses(void **state)
{
    json_t *root = NULL;
    json_t *rows = load("rspamd-mime-addr", &root);
    json_t *row = NULL;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        const json_t *in = json_array_get(row, 0);
        const json_t *want = json_array_get(row, 1);
        const json_t *one = NULL;
        struct address got[16];
        size_t n = address_list_parse(*state, json_slice(in), got, COUNT_OF(got), NULL);
        size_t k = 0;

        json_array_foreach(want, k, one)
        {
            const json_t *name = json_object_get(one, "name");

            compare(json_string_value(in), k < n ? got[k].text : SLICE_NONE,
                    json_slice(json_object_get(one, "addr")));
            if (name != NULL && k < n) {
                compare(json_string_value(in), got[k].display, json_slice(name));
            }
        }
        if (n != json_array_size(want)) {
            compare(json_string_value(in), SLICE_LIT("another number"), SLICE_NONE);
        }
    }
    json_decref(root);
    assert_int_equal(mismatches, 0);
}

static void test_address__rspamd_smtp__same_address(void **state)
{
    json_t *root = NULL;
    json_t *rows = load("rspamd-smtp-addr", &root);
    json_t *row = NULL;
    size_t i = 0;

    mismatches = 0;
    json_array_foreach(rows, i, row)
    {
        const json_t *in = json_array_get(row, 0);
        const json_t *want = json_object_get(json_array_get(row, 1), "addr");
        struct address got = {0};

        (void)address_parse(*state, json_slice(in), &got);
        if (want != NULL) {
            compare(json_string_value(in), got.text, json_slice(want));
        }
    }
    json_decref(root);
    assert_int_equal(mismatches, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_url__safe_browsing_urls__same_canonical_form),
        ARENA_TEST(test_url__safe_browsing_parts__same),
        ARENA_TEST(test_host__safe_browsing_addresses__same),
        ARENA_TEST(test_host__web_platform_names__same),
        ARENA_TEST(test_url__web_platform_urls__same_host),
        ARENA_TEST(test_host__public_suffix_list__same_registrable),
        ARENA_TEST(test_encoded_word__rspamd__same),
        ARENA_TEST(test_transfer__rspamd__same),
        ARENA_TEST(test_address__rspamd_lists__same_addresses),
        ARENA_TEST(test_address__rspamd_smtp__same_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
