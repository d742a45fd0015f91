/*
 * test_link - the features of a link except its URL: looser keys, targets, mismatch; and of
 * the fields that say who sent a message.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/message/extract/extract.h"

#include "tests/unit/extract/limits.h"
#include "tests/unit/extract/names.h"
#include "tests/unit/unit.h"

enum { ARENA = 64 << 20 };

static char trusted_name[] = "mx.our.example";
static char *const trusted[] = {trusted_name};

/* "type:text " of each feature whose type is in types, or of every type when that is empty. */
static void list_features(const struct featureset *fs, const char *types,
                          struct buf *ret)
{
    buf_init(ret, 1 << 20);
    for (size_t i = 0; i < featureset_count(fs); i++) {
        const struct feature *f = featureset_at(fs, i);
        const char *name = name_in_rows(f->type);
        char word[64];
        snprintf(word, sizeof(word), " %s ", name);
        if (strstr(types, word) == NULL) {
            continue;
        }
        buf_add_str(ret, ret->n > 0 ? " " : "");
        buf_add_str(ret, name);
        buf_add_str(ret, ":");
        buf_add(ret, f->text);
    }
}

static const char *text_of(const struct buf *b)
{
    return b->p != NULL ? b->p : "";
}

struct row {
    const char *types; /* " a b " */
    const char *text;
    const char *features;
};

static unsigned run(const struct row *row, size_t step, struct buf *ret)
{
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits_default, trusted, 1);
    struct slice text = slice_str(row->text);
    assert_non_null(x);
    while (text.n > 0) {
        struct slice piece = slice_head(text, step);
        extract_raw(x, piece);
        text = slice_from(text, piece.n);
    }
    const struct featureset *fs = extract_finish(x);
    unsigned limits = featureset_limits(fs);
    list_features(fs, row->types, ret);
    arena_free(&arena);
    return limits;
}

#define HTML   "Content-Type: text/html\n\n"
#define KEYS   " url_normal url_template "
#define TARGET " url_target url_redirector "

static const struct row rows[] = {
    /* the normal form, and the hosts of all its spellings */
    {" url url_normal url_host ",
     "\nhttp://www.a.com/x/ http://a.com/x http://a.com/x?utm_id=1\n",
     "url:www.a.com/x/ url_host:www.a.com url_normal:a.com/x url:a.com/x url_host:a.com "
     "url:a.com/x?utm_id=1"},
    {KEYS, "\nhttp://a.com/x\n", "url_normal:a.com/x"},
    {KEYS, "\nhttp://a.com/X/17?utm_id=1\n",
     "url_normal:a.com/X/17 url_template:a.com/x/0?utm_id"},
    /* targets */
    {TARGET " url ", "\nhttp://r.com/?u=http%3A%2F%2Fb.com%2F\n",
     "url:r.com/?u=http%3A%2F%2Fb.com%2F url_redirector:r.com url_target:b.com "
     "url:b.com/"},
    {TARGET,
     "\nhttp://r.com/?u=http%3A%2F%2Fq.com%2F%3Fu%3Dhttp%253A%252F%252Fb.com%252F\n",
     "url_redirector:r.com url_target:q.com?u=http://b.com/ "
     "url_redirector:q.com url_target:b.com"},
    /* mismatch */
    {" link_mismatch ",
     HTML "<a href='http://evil.com/x'>https://www.bank.com/login</a>",
     "link_mismatch:bank.com>evil.com"},
    {" link_mismatch ", HTML "<a href='http://evil.com/x'>go to bank.co.uk now</a>",
     "link_mismatch:bank.co.uk>evil.com"},
    {" link_mismatch ", HTML "<a href='http://192.0.2.1/x'>b<b>ank.co</b>m</a>",
     "link_mismatch:bank.com>192.0.2.1"},
    {" link_mismatch ", HTML "<a href='//evil.com'>http://0x7f.1/</a>",
     "link_mismatch:127.0.0.1>evil.com"},
    {" link_mismatch ", HTML "<a href='http://login.bank.com/x'>www.bank.com</a>", ""},
    {" link_mismatch ", HTML "<a href='http://evil.com/'>Dear Sir. See file.txt</a>",
     ""},
    {" link_mismatch ", HTML "<a href='http://evil.com/'>http://sale./ www.file</a>",
     ""},
    {" link_mismatch ", HTML "<a href='mailto:j@evil.com'>www.bank.com</a>", ""},
    {" link_mismatch ", HTML "<a href='/x'>www.bank.com</a>", ""},
    {" link_mismatch ",
     HTML "<base href='//no.com'><base href='http://evil.com'>"
          "<a href='/x'>www.bank.com</a>",
     "link_mismatch:bank.com>evil.com"},
    {" link_mismatch ",
     HTML "<a href='https://eur01.safelinks.protection.outlook.com/?url="
          "https%3A%2F%2Fwww.bank.com%2F&data=1'>www.bank.com</a>",
     ""},
    {" link_mismatch ",
     HTML "<a href='https://eur01.safelinks.protection.outlook.com/?url="
          "https%3A%2F%2Fevil.com%2F&data=1'>www.bank.com</a>",
     "link_mismatch:bank.com>evil.com"},
    /* a redirector of the sender's choice is no wrapper */
    {" link_mismatch ",
     HTML "<a href='http://evil.com/?u=http://www.bank.com/'>"
          "www.bank.com</a>",
     "link_mismatch:bank.com>evil.com"},
    /* forms */
    {" form_host url ",
     HTML "<form action='http://Evil.com/f'><form action=mailto:a@b.com>"
          "<button formaction=//two.com>",
     "form_host:evil.com url:evil.com/f form_host:two.com url:two.com/"},
    /* base */
    {" url ",
     HTML "<a href=one><base href='http://evil.com/a/b?c'><a href=/two>"
          "<img src=../three><a href=?q><a href='#no'><base href=http://no.com>"
          "<a href=four>",
     "url:evil.com/a/one url:evil.com/a/b?c url:evil.com/two url:evil.com/three "
     "url:evil.com/a/b?q url:no.com/ url:evil.com/a/four"},
    {" url ",
     HTML "<base href=rel/><base href=data:x><base href=http://evil.com/>"
          "<a href=http:x><a href=https:y.com>",
     "url:evil.com/ url:x/ url:evil.com/x url:y.com/"},
    {" url ",
     "Content-Type: multipart/mixed; boundary=b\nContent-Base: http://no.com/\n\n--b\n" HTML
     "<base href=http://evil.com><a href=one>\n--b\nContent-Location: http://no.com/\n" HTML
     "<a href=two>\n--b--\n",
     "url:no.com/ url:evil.com/ url:evil.com/one"},
    /* fields */
    {" display_name from ",
     "From: =?utf-8?q?My__Bank?= <j@evil.com>, \"a \\\" b\"\n <k@evil.com>, l@evil.com\n"
     "Sender: No <m@evil.com>\n\n",
     "from:j@evil.com display_name:My Bank from:k@evil.com display_name:a \" b "
     "from:l@evil.com"},
    {" envelope_from return_path return_path_domain ",
     "Return-Path: <a@one.com>\nReturn-Path: <b@m.two.com>\n\n",
     "envelope_from:a@one.com return_path:b@m.two.com return_path_domain:two.com"},
    {" list_id ", "List-Id: The list <The List.Example.COM>\n\n",
     "list_id:thelist.example.com"},
    {" list_id ", "List-Id: bare.example.com\nList-Id: <>\n\n",
     "list_id:bare.example.com"},
    {" message_id_domain ", "Message-ID: <a@b@Mail.Evil.COM>\nMessage-ID: <x@y z>\n\n",
     "message_id_domain:mail.evil.com"},
    {" message_id_domain ", "Message-ID: <a.b>\nMessage-ID: c@localhost\n\n",
     "message_id_domain:localhost"},
    {" mailer ", "X-Mailer:  The  =?utf-8?q?Bat!?=\nUser-Agent: Mutt/1.0 (x)\n\n",
     "mailer:The Bat! mailer:Mutt/1.0 (x)"},
    {" dkim_domain ",
     "Authentication-Results: mx.our.example; dkim=pass header.d=One.com;\n dkim=pass "
     "header.d=two.com; dkim=fail header.d=no.com\n"
     "Authentication-Results: mx.their.example; dkim=pass header.d=no.com\n\n",
     "dkim_domain:one.com dkim_domain:two.com"},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void test_features__of_each_message__are_these(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct buf got;
        unsigned limits = run(&rows[i], SIZE_MAX, &got);
        if (strcmp(text_of(&got), rows[i].features) != 0) {
            fail_msg("%s\ngave\n%s\nnot\n%s", rows[i].text, text_of(&got),
                     rows[i].features);
        }
        assert_int_equal(limits, 0);
        buf_fini(&got);
    }
}

static void test_features__cut_anywhere__are_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t step = 1; step < 60; step++) {
            struct buf got;
            (void)run(&rows[i], step, &got);
            assert_string_equal(text_of(&got), rows[i].features);
            buf_fini(&got);
        }
    }
}

/* count links of n bytes each before a base; the limits and how many of them were read. */
static unsigned run_early(size_t count, size_t n, size_t *retfound)
{
    enum { SIZE = 64 * 1024 };
    char *text = malloc(SIZE);
    size_t at = (size_t)snprintf(text, SIZE, "%s", HTML);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++) {
        at += (size_t)snprintf(text + at, SIZE - at, "<a href='%0*zu'>", (int)n, i);
    }
    at += (size_t)snprintf(text + at, SIZE - at, "<base href=http://evil.com/>");
    struct arena *arena = arena_new(ARENA);
    struct extract *x = extract_new(arena, &limits_default, NULL, 0);
    extract_raw(x, slice_of(text, at));
    const struct featureset *fs = extract_finish(x);
    unsigned limits = featureset_limits(fs);
    *retfound = featureset_count_type(fs, FEATURE_url) - 1;
    arena_free(&arena);
    free(text);
    return limits;
}

static void test_base__links_before_it__as_many_as_are_kept(void **state)
{
    static const struct {
        size_t count;
        size_t n;
        size_t found;
        bool is_limit;
    } table[] = {
        {63, 10, 63, false}, {64, 10, 64, false}, {65, 10, 64, true},
        {1, 4095, 1, false}, {1, 4096, 1, false}, {1, 4097, 0, true},
        {2, 2048, 2, false}, {2, 2049, 1, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        size_t found = 0;
        unsigned limits = run_early(table[i].count, table[i].n, &found);
        assert_int_equal(found, table[i].found);
        assert_int_equal(limits, table[i].is_limit ? LIMIT_FLAG(html_base) : 0);
    }
}

static void test_base__long_or_many__limit_is_told(void **state)
{
    static const struct {
        int bytes;
        bool is_limit;
    } table[] = {{2047, false}, {2048, false}, {2049, true}};
    char text[4096];
    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct row row = {" url_host ", text, NULL};
        struct buf got;
        snprintf(text, sizeof(text), HTML "<base href=http://evil.com/%0*d>",
                 table[i].bytes - 16, 1);
        unsigned limits = run(&row, SIZE_MAX, &got);
        assert_int_equal(limits, table[i].is_limit ? LIMIT_FLAG(html_base) : 0);
        assert_string_equal(text_of(&got), "url_host:evil.com");
        buf_fini(&got);
    }
}

/* Each trait is documented once, and no two have one name. */
static void test_traits__names_and_help__are_told(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TRAIT_COUNT; i++) {
        const char *name = trait_name((enum trait)i);
        assert_true(strlen(trait_help((enum trait)i)) > 0);
        assert_true(trait_is_known(slice_str(name)));
        for (unsigned k = 0; k < i; k++) {
            assert_string_not_equal(name, trait_name((enum trait)k));
        }
    }
    assert_false(trait_is_known(SLICE_LIT("no_such_trait")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features__of_each_message__are_these),
        cmocka_unit_test(test_features__cut_anywhere__are_the_same),
        cmocka_unit_test(test_base__links_before_it__as_many_as_are_kept),
        cmocka_unit_test(test_base__long_or_many__limit_is_told),
        cmocka_unit_test(test_traits__names_and_help__are_told),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
