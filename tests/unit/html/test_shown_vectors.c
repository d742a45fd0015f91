/*
 * test_shown_vectors - links and text that a reader of HTML sees, by the tables of other projects.
 */
#include "core/message/html/shown.h"
#include "core/message/url/url_path.h"

#include "tests/unit/text/vectors.h"
#include "tests/unit/url/uri_rows.h"

enum { ELSE_PERCENT = 95 };

static const struct vector_reason reasons[] = {
    /* rspamd-html-text */
    {"<!DOCTYPE html>\n<html lang=\"en\">\n  <head>\n    <meta charset=\"utf-8\">\n    "
     "<title>title</title>\n    <link rel=\"stylesheet\" href=\"style.css\">\n    "
     "<script src=\"script.js\"></script>\n    <style><!--\n- -a -a -a -- --- -\n  "
     "--></head>\n  <body>\n    <!-- page content -->\n    Hello, world!\n  </body>\n"
     "</html>\n      ",
     "<style> is never closed: to browsers all the rest is a style sheet, and nothing is seen"},
    {NULL, NULL},
};

struct page {
    struct arena *arena;
    struct uri_listing list;
    struct buf
        text; /* what is seen, a blank for each run of white space and between runs */
};

/* As mail programs take an address without a scheme, and as core/message/extract does. */
static void on_value(void *context, enum shown_value_kind kind, struct slice value)
{
    struct page *page = context;
    char *plain = NULL;

    if (kind != SHOWN_VALUE_LINK) {
        return;
    }
    buf_add(&page->list.lines, value);
    buf_add_str(&page->list.lines, "\n");
    plain = arena_bytes(page->arena, value.n);
    assert_non_null(plain);
    buf_add(&page->list.lines, slice_of(plain, url_decode_fully(value, '\\', plain)));
    buf_add_str(&page->list.lines, "\n");
    find_in_text(value, FIND_IN_PROSE, uri_list_find, &page->list);
}

static void on_text(void *context, const struct shown_text *text)
{
    struct page *page = context;
    size_t i = 0;

    if (text->where != SHOWN_BODY || text->flags != 0) {
        return;
    }
    for (i = 0; i < text->text.n; i++) {
        char c = text->text.p[i];
        bool is_space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        bool was_space = page->text.n == 0 || page->text.p[page->text.n - 1] == ' ';

        if (!is_space || !was_space) {
            buf_add_char(&page->text, is_space ? ' ' : c);
        }
    }
    if (page->text.n > 0 && page->text.p[page->text.n - 1] != ' ') {
        buf_add_char(&page->text, ' ');
    }
}

static void on_token(void *context, const struct html_token *token)
{
    shown_take(context, token);
}

static void page_open(struct page *page, struct arena *arena)
{
    *page = (struct page){.arena = arena, .list = {.arena = arena}};
    buf_init(&page->list.lines, LIST_MAX);
    buf_init(&page->text, LIST_MAX);
}

static void page_close(struct page *page)
{
    buf_fini(&page->list.lines);
    buf_fini(&page->text);
}

static void page_read(struct page *page, const struct slice *pieces, size_t n)
{
    static const struct shown_events events = {.text = on_text, .value = on_value};
    struct shown *shown = shown_new(page->arena, &events, page);
    struct html *html = html_new(page->arena, on_token, shown);
    size_t i = 0;

    assert_true(shown != NULL && html != NULL);
    for (i = 0; i < n; i++) {
        html_feed(html, pieces[i]);
    }
    html_end(html);
    shown_end(shown);
}

static void test_shown__spamassassin_links__same_uris(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "sa-uri-html");
    v.reasons = reasons;
    json_array_foreach(v.rows, i, row)
    {
        struct slice in = json_slice(json_object_get(row, "text"));
        struct slice pieces[] = {SLICE_LIT("<a href=\""), in, SLICE_LIT("\">x</a>")};
        struct page page;

        page_open(&page, *state);
        page_read(&page, pieces, COUNT_OF(pieces));
        buf_add(&page.list.lines, slice_of("", 1));
        vectors_row(&v,
                    uri_all_match(page.list.lines.p, json_object_get(row, "must_match"),
                                  true) &&
                        uri_all_match(page.list.lines.p,
                                      json_object_get(row, "must_not_match"), false),
                    in, slice_str(page.list.lines.p),
                    json_slice(json_array_get(json_object_get(row, "must_match"), 0)));
        page_close(&page);
    }
    vectors_close(&v, ELSE_PERCENT);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The same except white space: that project shows tables and lines in its own way. */
static bool same_words(struct slice a, struct slice b)
{
    size_t i = 0;
    size_t k = 0;

    for (;;) {
        while (i < a.n && is_space(a.p[i])) {
            i++;
        }
        while (k < b.n && is_space(b.p[k])) {
            k++;
        }
        if (i == a.n || k == b.n) {
            return i == a.n && k == b.n;
        }
        if (a.p[i++] != b.p[k++]) {
            return false;
        }
    }
}

static void test_shown__rspamd_text__same_words(void **state)
{
    struct vectors v;
    json_t *row = NULL;
    size_t i = 0;

    vectors_open(&v, "rspamd-html-text");
    v.reasons = reasons;
    json_array_foreach(v.rows, i, row)
    {
        struct slice in = json_slice(json_array_get(row, 0));
        struct slice want = json_slice(json_array_get(row, 1));
        struct page page;

        page_open(&page, *state);
        page_read(&page, &in, 1);
        vectors_row(&v, same_words(buf_slice(&page.text), want), in,
                    buf_slice(&page.text), want);
        page_close(&page);
    }
    vectors_close(&v, ELSE_PERCENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_shown__spamassassin_links__same_uris),
        ARENA_TEST(test_shown__rspamd_text__same_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
