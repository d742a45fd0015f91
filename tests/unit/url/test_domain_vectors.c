/*
 * test_domain_vectors - registrable domains and relative references, by the tables of other
 * projects, with the newest public suffix list of the data folder.
 */
#include <unistd.h>

#include "core/message/text/charset.h"
#include "core/message/url/address.h"
#include "core/message/url/find.h"
#include "core/message/url/host.h"
#include "core/message/url/suffix.h"
#include "core/message/url/url.h"
#include "core/message/url/weburl.h"

#include "tests/unit/text/vectors.h"

enum { ALL_PERCENT = 100, ELSE_PERCENT = 95, RULES_MAX = 16 };

static const struct slice refused = LIT("(refused)");

static const struct vector_reason reasons[] = {
    /* rspamd-host-composition */
    {"bar.example.com",
     "an exception of the public suffix list is registrable itself; there it is as if not below"},
    /* sa-uri-domain */
    {"http://ebg&vosxfov.com.munged-rxspecials.net/b/Tr3f0amG",
     "browsers ask the DNS for it: '&' may stand in a host"},
    {"bar..example.com",
     "some mail programs drop empty labels, so the domain is one to look up"},
    {"WWW.foo.LIVE.com",
     "assumes live.com in a list of suffixes of that project's own"},
    {NULL, NULL},
};

/* The list of a file, if any, with rules of gillnet; NULL ends them. */
static void use_rules(const char *file, const char *const *rules)
{
    char path[] = "/tmp/gillnet-test-XXXXXX";
    FILE *out = fdopen(mkstemp(path), "w");
    FILE *in = file != NULL ? fopen(file, "re") : NULL;
    int c = 0;

    assert_non_null(out);
    while (in != NULL && (c = getc(in)) != EOF) {
        (void)putc(c, out);
    }
    for (; *rules != NULL; rules++) {
        (void)fprintf(out, "%s\n", *rules);
    }
    assert_int_equal(in != NULL ? fclose(in) : 0, 0);
    assert_int_equal(fclose(out), 0);
    assert_true(suffix_load(path));
    assert_int_equal(unlink(path), 0);
}

/* The newest list that the data folder has, with more rules. */
static void use_newest_list(const char *const *rules)
{
    char path[VECTOR_PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/lists/public_suffix_list.dat",
                   vectors_folder());
    if (!suffix_load(path)) {
        fail_msg("%s: no public suffix list", path);
    }
    use_rules(path, rules);
}

static struct slice text_of(const json_t *row, const char *key)
{
    return json_slice(json_object_get(row, key));
}

static void test_host__public_suffix_list__same_registrable(void **state)
{
    struct vectors v;
    static const char *const none[] = {NULL};
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "psl-registrable");
    use_newest_list(none);
    json_array_foreach(v.rows, i, row)
    {
        struct slice in = text_of(row, "in");
        struct slice want = SLICE_NONE;
        struct host name = {.text = in};
        struct host host = {0};
        struct slice got;

        if (host_parse(*state, text_of(row, "registrable"), &host) == ERR_OK) {
            want = host.text;
        }
        if (in.n > 0 && in.p[0] != '.') { /* others have no normal form */
            assert_int_equal(host_parse(*state, in, &name), ERR_OK);
        }
        got = host_registrable(name.text);
        vectors_row(&v, slice_eq(got, want), in, got, want);
    }
    vectors_close(&v, ALL_PERCENT);
}

/* The rules of that table are suffixes; a suffix itself stands for itself. */
static void test_host__rspamd_compositions__same(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    const char *rules[RULES_MAX] = {"com"};
    size_t i = 0;

    vectors_open(&v, "rspamd-host-composition");
    v.reasons = reasons;
    json_array_foreach(json_object_get(v.root, "rules"), i, row)
    {
        assert_true(i + 2 < RULES_MAX);
        rules[i + 1] = json_string_value(row);
    }
    use_rules(NULL, rules);
    json_array_foreach(v.rows, i, row)
    {
        struct host host = {.text = refused};
        struct slice got;

        (void)host_parse(*state, text_of(row, "host"), &host);
        got = host_registrable(host.text);
        got = got.n > 0 ? got : host.text;
        vectors_row(&v, slice_eq(got, text_of(row, "out")), text_of(row, "host"), got,
                    text_of(row, "out"));
    }
    vectors_close(&v, ELSE_PERCENT);
}

/* Characters below U+0100 stand for themselves or for the byte. */
static struct slice bytes_of(struct arena *arena, struct slice in)
{
    char *p = arena_bytes(arena, in.n);
    size_t n = 0;
    size_t i = 0;

    assert_non_null(p);
    for (i = 0; i < in.n; i++) {
        unsigned c = (unsigned char)in.p[i];

        if (c < 0x80) {
            p[n++] = in.p[i];
        } else if (c < 0xc4 && i + 1 < in.n) {
            p[n++] = (char)(unsigned char)((c & 3U) << 6 |
                                           ((unsigned char)in.p[++i] & 0x3fU));
        } else {
            return in;
        }
    }
    return charset_to_utf8(arena, SLICE_NONE, slice_of(p, n), NULL);
}

struct first {
    struct arena *arena;
    struct slice text;
    struct slice domain;
    bool is_there;
};

static void take_first(void *context, const struct find *find)
{
    struct first *f = context;
    struct address address;
    struct url url;

    if (f->is_there || find->kind == FIND_OTHER) {
        return;
    }
    if (find->raw.p > f->text.p && find->raw.p[-1] == '.') {
        return; /* text may begin a host so; a URI, which is what a row is, does not */
    }
    f->is_there = true;
    if (find->kind == FIND_ADDRESS) {
        if (address_parse(f->arena, find->text, &address) == ERR_OK) {
            f->domain = host_registrable(address.domain);
        }
    } else if (url_parse(f->arena, find->text, &url) == ERR_OK) {
        f->domain = host_registrable(url.host.text);
    }
}

static void test_url__spamassassin_domains__same(void **state)
{
    struct vectors v;
    /* its rows assume that project's own entries below live.com */
    static const char *const rules[] = {"live.com", NULL};
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "sa-uri-domain");
    use_newest_list(rules);
    v.reasons = reasons;
    json_array_foreach(v.rows, i, row)
    {
        struct slice in = text_of(row, "uri");
        struct slice want = text_of(row, "domain");
        struct first got = {.arena = *state, .text = bytes_of(*state, in)};

        find_in_text(got.text, FIND_IN_PROSE, take_first, &got);
        vectors_row(&v, slice_eq(got.domain, want), in, got.domain, want);
    }
    vectors_close(&v, ELSE_PERCENT);
}

static void test_weburl__rfc_3986_references__same(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "rfc3986-resolve");
    v.reasons = reasons;
    json_array_foreach(v.rows, i, row)
    {
        struct slice want = text_of(row, "out");
        struct weburl base = {0};
        struct weburl url = {.href = refused};
        struct weburl wanted = {.href = want};

        assert_int_equal(weburl_parse(*state, text_of(row, "base"), NULL, &base),
                         ERR_OK);
        (void)weburl_parse(*state, text_of(row, "ref"), &base, &url);
        /* the table leaves empty paths empty */
        (void)weburl_parse(*state, want, NULL, &wanted);
        vectors_row(&v, slice_eq(url.href, wanted.href), text_of(row, "ref"), url.href,
                    want);
    }
    vectors_close(&v, ELSE_PERCENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_host__public_suffix_list__same_registrable),
        ARENA_TEST(test_host__rspamd_compositions__same),
        ARENA_TEST(test_url__spamassassin_domains__same),
        ARENA_TEST(test_weburl__rfc_3986_references__same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
