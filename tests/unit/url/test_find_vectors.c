/*
 * test_find_vectors - URLs and addresses in text against the tables of other projects' tests.
 *
 * At least 95 % of the rows of a table must pass (all but one of a table under 20 rows); rows that
 * we read otherwise are listed with the reason.
 */
#include "core/base/buf.h"
#include "core/message/text/ascii.h"
#include "core/message/url/address.h"
#include "core/message/url/find.h"
#include "core/message/url/url.h"

#include "tests/unit/text/vectors.h"
#include "tests/unit/url/uri_rows.h"

enum { ELSE_PERCENT = 95 };

static const struct vector_reason differences[] = {
    /* sa-uri-text */
    {"http://xyz..geifoza3.com",
     "a scheme is written: a click is tried, and the canonical form has no empty labels"},
    {"www.liy8quei:80", "browsers have not put .com behind bare words for years"},
    {"<www.delimtest15.com/foo-~!@#^&*()_+=:;'?,.xyz-~!@#^&*()_+=:;'?,.>",
     "'=', '_', '-' and '~' may end a path or a key in base64: only marks that end sentences go"},
    {"www.example.za",
     "nothing can be registered there, only below co.za and its like"},
    /* cmark-gfm-autolink */
    {"foo@bar.baz\n", "no such top level; the SpamAssassin table has it so as well"},
    /* rspamd-mime-addr */
    {"Undisclosed recipients", "a bare word is no address"},
    {NULL, NULL},
};

static void test_find__spamassassin_text__same_uris(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "sa-uri-text");
    v.reasons = differences;
    json_array_foreach(v.rows, i, row)
    {
        const json_t *in = json_object_get(row, "text");
        struct uri_listing l = {.arena = *state};

        buf_init(&l.lines, LIST_MAX);
        buf_add_str(&l.lines, "");
        find_in_text(json_slice(in), FIND_IN_PROSE, uri_list_find, &l);
        buf_add(&l.lines, slice_of("", 1));
        vectors_row(
            &v,
            uri_all_match(l.lines.p, json_object_get(row, "must_match"), true) &&
                uri_all_match(l.lines.p, json_object_get(row, "must_not_match"), false),
            json_slice(in), SLICE_NONE, SLICE_NONE);
        buf_fini(&l.lines);
    }
    vectors_close(&v, ELSE_PERCENT);
}

struct first {
    struct arena *arena;
    struct slice host; /* normal form */
    struct slice user;
    size_t count;
};

static void take_first(void *context, const struct find *find)
{
    struct first *f = context;
    struct url url;
    struct address address;
    struct slice rest = find->text;

    if (f->count++ > 0) {
        return;
    }
    if (find->kind == FIND_ADDRESS) {
        f->user = slice_cut(&rest, '@');
        if (address_parse(f->arena, find->text, &address) == ERR_OK) {
            f->host = address.domain;
        }
    } else if (url_parse(f->arena, find->text, &url) == ERR_OK) {
        f->host = url.host.text;
        if (slice_find(find->text, '@') < find->text.n) {
            rest = slice_from(rest, slice_find_slice(rest, SLICE_LIT("://")) + 3);
            f->user = slice_cut(&rest, '@');
            f->user = slice_head(f->user, slice_find(f->user, ':'));
        }
    }
}

static void test_find__rspamd_text__same_host_and_user(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "rspamd-url-find-in-text");
    v.reasons = differences;
    json_array_foreach(v.rows, i, row)
    {
        const json_t *in = json_object_get(row, "text");
        struct slice user = json_slice(json_object_get(row, "user"));
        struct host want = {.text = SLICE_NONE};
        struct first got = {.arena = *state};
        struct slice host = json_slice(json_object_get(row, "host"));

        if (!host_ip_parse(host, want.addr)) {
            assert_int_equal(host_parse(*state, host, &want), ERR_OK);
            host = want.text;
        }
        find_in_text(json_slice(in), FIND_IN_PROSE, take_first, &got);
        vectors_row(&v,
                    got.count == 1 && slice_eq(got.host, host) &&
                        (user.n == 0 || slice_eq(got.user, user)),
                    json_slice(in), SLICE_NONE, SLICE_NONE);
    }
    vectors_close(&v, ELSE_PERCENT);
}

struct links {
    struct slice text;
    bool only_angle; /* only what stands in angle brackets, whole */
    struct buf lines;
};

static void list_link(void *context, const struct find *find)
{
    struct links *l = context;
    size_t begin = (size_t)(find->raw.p - l->text.p);
    size_t end = begin + find->raw.n;

    if (find->kind == FIND_BARE) {
        return;
    }
    if (l->only_angle && (begin == 0 || l->text.p[begin - 1] != '<' ||
                          end >= l->text.n || l->text.p[end] != '>')) {
        return;
    }
    if ((find->flags & FIND_NO_SCHEME) != 0) {
        buf_add(&l->lines, find->scheme);
        buf_add_str(&l->lines, find->kind == FIND_ADDRESS ? ":" : "://");
    }
    buf_add(&l->lines, find->raw);
    buf_add_str(&l->lines, "\n");
}

static unsigned hex(char c)
{
    return ascii_hex[(unsigned char)c];
}

/* The values of href in html, one a line, without escapes. */
static void list_hrefs(struct slice html, struct buf *lines)
{
    for (;;) {
        size_t at = slice_find_slice(html, SLICE_LIT("href=\""));
        struct slice value;
        size_t i = 0;

        if (at >= html.n) {
            return;
        }
        html = slice_from(html, at + 6);
        value = slice_cut(&html, '"');
        for (i = 0; i < value.n; i++) {
            if (value.p[i] == '%' && i + 2 < value.n) {
                buf_add_u8(lines,
                           (uint8_t)((hex(value.p[i + 1]) << 4) | hex(value.p[i + 2])));
                i += 2;
            } else {
                buf_add_char(lines, value.p[i]);
            }
        }
        buf_add_str(lines, "\n");
    }
}

/* The section "Autolinks" says what angle brackets add in a language where bare URLs are none:
 * only links in angle brackets are compared there. */
static void test_find__markdown__same_links(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    (void)state;
    vectors_open(&v, "cmark-gfm-autolink");
    v.reasons = differences;
    json_array_foreach(v.rows, i, row)
    {
        const json_t *in = json_object_get(row, "markdown");
        struct slice section = json_slice(json_object_get(row, "section"));
        struct links l = {.text = json_slice(in),
                          .only_angle = slice_eq(section, SLICE_LIT("Autolinks"))};
        struct buf want;

        buf_init(&l.lines, LIST_MAX);
        buf_init(&want, LIST_MAX);
        find_in_text(l.text, FIND_IN_PROSE, list_link, &l);
        list_hrefs(json_slice(json_object_get(row, "html")), &want);
        vectors_row(&v,
                    slice_eq(slice_of(l.lines.p, l.lines.n), slice_of(want.p, want.n)),
                    json_slice(in), SLICE_NONE, SLICE_NONE);
        buf_fini(&l.lines);
        buf_fini(&want);
    }
    vectors_close(&v, ELSE_PERCENT);
}

static bool same_list(struct arena *arena, struct slice in, const json_t *want)
{
    struct address got[16];
    size_t n = address_list_parse(arena, in, got, COUNT_OF(got), NULL);
    bool same = n == json_array_size(want);
    size_t k = 0;

    for (k = 0; same && k < n; k++) {
        const json_t *one = json_array_get(want, k);
        const json_t *name = json_object_get(one, "name");

        same = slice_eq(got[k].text, json_slice(json_object_get(one, "addr"))) &&
               (name == NULL || slice_eq(got[k].display, json_slice(name)));
    }
    return same;
}

static void test_address__rspamd_lists__same_addresses(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "rspamd-mime-addr");
    v.reasons = differences;
    json_array_foreach(v.rows, i, row)
    {
        const json_t *in = json_array_get(row, 0);

        vectors_row(&v, same_list(*state, json_slice(in), json_array_get(row, 1)),
                    json_slice(in), SLICE_NONE, SLICE_NONE);
    }
    vectors_close(&v, ELSE_PERCENT);
}

/* That table's spelling of an address: a quoted local part without quotes and escapes. */
static struct slice without_quotes(struct slice address, char *dst)
{
    size_t n = 0;
    size_t i = 1;

    if (address.n == 0 || address.p[0] != '"') {
        return address;
    }
    while (i < address.n && address.p[i] != '"') {
        i += address.p[i] == '\\' ? 1 : 0;
        dst[n++] = address.p[i++];
    }
    for (i++; i < address.n; i++) {
        dst[n++] = address.p[i];
    }
    return slice_of(dst, n);
}

static void test_address__rspamd_smtp__same_address(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "rspamd-smtp-addr");
    v.reasons = differences;
    json_array_foreach(v.rows, i, row)
    {
        const json_t *in = json_array_get(row, 0);
        const json_t *want = json_object_get(json_array_get(row, 1), "addr");
        struct address got = {0};
        char text[ADDRESS_BYTES_MAX];
        enum err err = address_parse(*state, json_slice(in), &got);

        vectors_row(&v,
                    want != NULL
                        ? slice_eq(without_quotes(got.text, text), json_slice(want))
                        : err == ERR_OK,
                    json_slice(in), SLICE_NONE, SLICE_NONE);
    }
    vectors_close(&v, ELSE_PERCENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_find__spamassassin_text__same_uris),
        ARENA_TEST(test_find__rspamd_text__same_host_and_user),
        ARENA_TEST(test_find__markdown__same_links),
        ARENA_TEST(test_address__rspamd_lists__same_addresses),
        ARENA_TEST(test_address__rspamd_smtp__same_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
