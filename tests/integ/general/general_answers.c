/*
 * general_answers - the readers of core/message on rows of tables.
 *
 * Usage: general_answers < QUESTIONS
 * A question is a line "KIND<TAB>HEX[<TAB>HEX]", its answer a line of fields, each "NAME=HEX". Which
 * kinds there are stands in the table at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/base.h"
#include "core/message/html/shown.h"
#include "core/message/mail/params.h"
#include "core/message/text/ascii.h"
#include "core/message/text/charset.h"
#include "core/message/text/encoded_word.h"
#include "core/message/text/transfer.h"
#include "core/message/url/address.h"
#include "core/message/url/find.h"
#include "core/message/url/safebrowsing.h"
#include "core/message/url/url.h"
#include "core/message/url/weburl.h"

enum { ARENA_BYTES = 64 << 20, ADDRESSES_MAX = 64, HELD = 128 };

struct question {
    struct arena *arena;
    struct slice first;
    struct slice second; /* empty when there is none */
};

static void answer(const char *name, struct slice value)
{
    printf("%s=", name);
    for (size_t i = 0; i < value.n; i++) {
        printf("%02x", (unsigned char)value.p[i]);
    }
    putchar('\t');
}

/* ---- URLs and addresses ---- */

static void answer_find(void *context, const struct find *find)
{
    static const char *const kinds[] = {[FIND_URL] = "url",
                                        [FIND_ADDRESS] = "address",
                                        [FIND_BARE] = "bare",
                                        [FIND_OTHER] = "other"};

    (void)context;
    answer((find->flags & FIND_SHORT) != 0 ? "short" : kinds[find->kind], find->raw);
}

static void do_find(struct question *q)
{
    find_in_text(q->first, FIND_IN_PROSE, answer_find, q);
}

static void do_web(struct question *q)
{
    struct weburl base = {0};
    struct weburl url = {0};
    bool has_base = q->second.n > 0;

    if ((!has_base || weburl_parse(q->arena, q->second, NULL, &base) == ERR_OK) &&
        weburl_parse(q->arena, q->first, has_base ? &base : NULL, &url) == ERR_OK) {
        answer("href", url.href);
        answer("host", url.host.text);
        answer("path", url.path);
        answer("query", url.query);
        answer("fragment", url.fragment);
    }
}

static void do_url(struct question *q)
{
    struct url url;

    if (url_parse(q->arena, q->first, &url) == ERR_OK) {
        answer("canonical", url.canonical);
        answer("host", url.host.text);
    }
}

static void do_host(struct question *q)
{
    struct host host;

    if (host_parse_web(q->arena, q->first, &host) == ERR_OK) {
        answer("host", host.text);
    }
}

static void do_registrable(struct question *q)
{
    struct host host;

    if (host_parse(q->arena, q->first, &host) == ERR_OK) {
        answer("domain", host_registrable(host.text));
    }
}

static void do_safebrowsing(struct question *q)
{
    struct slice all[SAFEBROWSING_EXPRESSIONS_MAX];
    struct safebrowsing url;

    if (safebrowsing_parse(q->arena, q->first, &url) == ERR_OK) {
        size_t n = safebrowsing_expressions(q->arena, &url, all);

        answer("canonical", url.canonical);
        for (size_t i = 0; i < n; i++) {
            answer("expression", all[i]);
        }
    }
}

static void do_addresses(struct question *q)
{
    struct address all[ADDRESSES_MAX];
    size_t n = address_list_parse(q->arena, q->first, all, ADDRESSES_MAX, NULL);

    for (size_t i = 0; i < n; i++) {
        answer("name", encoded_word_decode(q->arena, all[i].display));
        answer("address", all[i].text);
    }
}

/* ---- text ---- */

static void do_word(struct question *q)
{
    answer("text", encoded_word_decode(q->arena, q->first));
}

static void transfer(const struct question *q, enum transfer_kind kind)
{
    struct transfer t;
    char *out = arena_bytes(q->arena, transfer_bound(q->first.n) + HELD);

    if (out != NULL) {
        transfer_init(&t, kind);
        size_t n = transfer_feed(&t, q->first, out);
        answer("bytes", slice_of(out, n + transfer_end(&t, out + n)));
    }
}

static void do_quoted_printable(struct question *q)
{
    transfer(q, TRANSFER_QUOTED_PRINTABLE);
}

static void do_base64(struct question *q)
{
    transfer(q, TRANSFER_BASE64);
}

static void do_charset(struct question *q)
{
    bool is_known = false;
    size_t mark = 0;
    struct slice charset = charset_by_head(q->second, slice_head(q->first, 64), &mark);
    struct slice text =
        charset_to_utf8(q->arena, charset, slice_from(q->first, mark), &is_known);

    if (is_known) {
        answer("text", text);
    }
}

/* ---- structured fields; second names the parameter ---- */

static void do_main(struct question *q)
{
    answer("main", param_main(q->first));
}

static void do_parameter(struct question *q)
{
    answer("token", param_token(q->arena, q->first, q->second));
    answer("text", param_text(q->arena, q->first, q->second));
}

/* ---- HTML ---- */

static void answer_token(void *context, const struct html_token *t)
{
    static const char *const kinds[] = {
        [HTML_TEXT] = "text",     [HTML_START_TAG] = "start", [HTML_ATTRIBUTE] = "name",
        [HTML_END_TAG] = "end",   [HTML_COMMENT] = "comment", [HTML_RAW_TEXT] = "text",
        [HTML_TAG_END] = "close", [HTML_DOCTYPE] = "doctype", [HTML_NUL] = "nul"};

    (void)context;
    if (t->kind == HTML_ATTRIBUTE) {
        if (!t->is_duplicate) {
            answer("name", t->name);
            answer("value", t->value);
        }
    } else if (t->kind == HTML_START_TAG || t->kind == HTML_END_TAG) {
        answer(kinds[t->kind], t->tag);
    } else if (t->kind == HTML_TAG_END) {
        answer(t->is_self_closing ? "selfclose" : "close", SLICE_NONE);
    } else {
        answer(kinds[t->kind], t->value);
    }
}

static void do_html(struct question *q)
{
    struct html *h = html_new(q->arena, answer_token, q);

    if (h != NULL) {
        html_feed(h, q->first);
        html_end(h);
    }
}

static void answer_shown(void *context, const struct shown_text *text)
{
    (void)context;
    if (text->where == SHOWN_BODY && text->flags == 0) {
        answer("text", text->text);
    }
}

static void answer_value(void *context, enum shown_value_kind kind, struct slice value)
{
    (void)context;
    if (kind == SHOWN_VALUE_LINK) {
        answer("link", value);
    }
}

static void take_shown(void *context, const struct html_token *token)
{
    shown_take(context, token);
}

static void do_shown(struct question *q)
{
    static const struct shown_events events = {.text = answer_shown,
                                               .value = answer_value};
    struct shown *s = shown_new(q->arena, &events, q);
    struct html *h = s != NULL ? html_new(q->arena, take_shown, s) : NULL;

    if (h != NULL) {
        html_feed(h, q->first);
        html_end(h);
        shown_end(s);
    }
}

/* ---- the lines ---- */

static const struct {
    const char *name;
    void (*run)(struct question *q);
} kinds[] = {
    {"find", do_find},                 /* what stands in text, by its kind */
    {"web", do_web},                   /* as a browser reads a URL; second: base */
    {"url", do_url},                   /* canonical form */
    {"host", do_host},                 /* as a browser reads it */
    {"registrable", do_registrable},   /* domain */
    {"safebrowsing", do_safebrowsing}, /* canonical form and lookups */
    {"addresses", do_addresses},       /* name and address of each */
    {"word", do_word},                 /* RFC 2047 */
    {"qp", do_quoted_printable},
    {"base64", do_base64},
    {"charset", do_charset}, /* second: its name */
    {"main", do_main},
    {"parameter", do_parameter},
    {"html", do_html},   /* tokens */
    {"shown", do_shown}, /* text of the body and links */
};

/* Bytes of hexadecimal digits, in their place. */
static struct slice unhex(char *text)
{
    size_t n = strlen(text) / 2;

    for (size_t i = 0; i < n; i++) {
        unsigned high = ascii_hex[(unsigned char)text[2 * i]];
        unsigned low = ascii_hex[(unsigned char)text[2 * i + 1]];
        text[i] = (char)(unsigned char)(high << 4 | low);
    }
    return slice_of(text, n);
}

static bool reply(char *line)
{
    char *rest = line;
    const char *kind = strsep(&rest, "\t\n");
    char *first = strsep(&rest, "\t\n");
    char *second = strsep(&rest, "\t\n");

    for (size_t i = 0; first != NULL && i < LENGTH(kinds); i++) {
        if (strcmp(kind, kinds[i].name) == 0) {
            struct question q = {.arena = arena_new(ARENA_BYTES),
                                 .first = unhex(first)};
            if (second != NULL) {
                q.second = unhex(second);
            }
            kinds[i].run(&q);
            arena_free(&q.arena);
            putchar('\n');
            return true;
        }
    }
    return false;
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    bool is_good = base_init() == ERR_OK;

    while (is_good && getline(&line, &size, stdin) > 0) {
        is_good = reply(line);
    }
    free(line);
    return is_good ? 0 : 1;
}
