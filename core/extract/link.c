#include <string.h>

#include "core/extract/inside.h"
#include "core/text/address.h"
#include "core/text/find.h"
#include "core/text/find_number.h"
#include "core/text/host.h"
#include "core/text/safebrowsing.h"
#include "core/text/unwrap.h"
#include "core/text/url.h"

static void add_host(struct extract *x, const struct host *host)
{
    if (host->kind != HOST_NAME) {
        featureset_add(x->set, FEATURE_url_ip, host->text);
        return;
    }
    featureset_add(x->set, FEATURE_url_host, host->text);
    featureset_add(x->set, FEATURE_url_domain, host_registrable(host->text));
    if (unwrap_is_shortener(host->text)) {
        featureset_add(x->set, FEATURE_url_shortener, host->text);
    }
}

/* True: the message has not had it yet. */
static bool add_url(struct extract *x, const struct url *url)
{
    if (featureset_has(x->set, FEATURE_url, url->canonical)) {
        return false;
    }
    if (x->nurls >= x->limits.urls) {
        featureset_set_limit(x->set, LIMIT_FLAG(urls));
        return false;
    }
    x->nurls++;
    featureset_add(x->set, FEATURE_url, url->canonical);
    add_host(x, &url->host);
    return true;
}

/* What redirectors and wrappers in text lead to: a URL like any other. */
static void add_targets(struct extract *x, struct slice text)
{
    struct unwrap_target targets[UNWRAP_TARGETS_MAX];
    bool is_cut = false;
    size_t n = unwrap_url(x->scratch, text, targets, &is_cut);
    if (is_cut) {
        featureset_set_limit(x->set, LIMIT_FLAG(unwrap));
    }
    for (size_t i = 0; i < n; i++) {
        struct url url;
        extract_cpu_step(x, text.n);
        if (!x->stopped && url_parse(x->scratch, targets[i].url, &url) == ERR_OK) {
            (void)add_url(x, &url);
        }
    }
}

/* A link that begins like one and that nothing can open: its look tells it apart. */
static void add_broken(struct extract *x, struct slice text)
{
    struct safebrowsing form;
    if ((slice_has_prefix_nocase(text, SLICE_LIT("http://")) ||
         slice_has_prefix_nocase(text, SLICE_LIT("https://"))) &&
        safebrowsing_parse(x->scratch, text, &form) == ERR_OK) {
        size_t scheme = form.scheme.n + 3;
        featureset_add(x->set, FEATURE_url_broken, slice_from(form.canonical, scheme));
    }
}

/* False: no URL, or of a scheme that is not looked up. */
static bool try_link(struct extract *x, struct slice text)
{
    struct url url;
    enum err e = url_parse(x->scratch, text, &url);
    if (e == ERR_OK) {
        if (add_url(x, &url)) {
            add_targets(x, text);
        }
    } else if (e == ERR_SYNTAX) {
        add_broken(x, text);
    } else if (e == ERR_LIMIT) {
        /* The URL as a whole is nobody's list entry; its host may be. */
        featureset_set_limit(x->set, LIMIT_FLAG(url_bytes));
        if (url_parse(x->scratch, slice_head(text, URL_BYTES_MAX / 4), &url) ==
            ERR_OK) {
            add_host(x, &url.host);
        }
    } else if (e == ERR_NOMEM) {
        featureset_set_limit(x->set, LIMIT_FLAG(memory));
    }
    arena_reset(x->scratch);
    return e == ERR_OK || e == ERR_LIMIT;
}

void extract_link(struct extract *x, struct slice url)
{
    (void)try_link(x, url);
}

static void add_text_address(struct extract *x, struct slice text)
{
    struct address address;
    enum err e = address_parse(x->scratch, text, &address);
    if (e == ERR_OK) {
        featureset_add(x->set, FEATURE_text_address, address.text);
    } else if (e == ERR_NOMEM) {
        featureset_set_limit(x->set, LIMIT_FLAG(memory));
    }
    arena_reset(x->scratch);
}

static void on_number(void *context, const struct find_number *number)
{
    struct extract *x = context;
    extract_cpu_step(x, number->raw.n + EXTRACT_CPU_STEP / 256);
    if (!x->stopped) {
        featureset_add(x->set,
                       number->kind == FIND_PHONE ? FEATURE_phone : FEATURE_wallet,
                       number->text);
    }
}

static void on_found(void *context, const struct find *find)
{
    struct extract *x = context;
    extract_cpu_step(x, find->raw.n + EXTRACT_CPU_STEP / 256);
    if (x->stopped) {
        return;
    }
    if ((find->flags & FIND_CUT) != 0) {
        featureset_set_limit(x->set, LIMIT_FLAG(url_bytes));
    }
    if (find->kind == FIND_URL) {
        extract_link(x, find->text);
    } else if (find->kind == FIND_ADDRESS) {
        add_text_address(x, find->text);
    }
}

void extract_links_in(struct extract *x, struct slice text)
{
    find_in_text(text, FIND_IN_PROSE, on_found, x);
    if (!x->stopped) {
        find_numbers_in_text(text, on_number, x);
    }
}

static void on_header_found(void *context, const struct find *find)
{
    if (find->kind == FIND_URL) {
        on_found(context, find);
    }
}

void extract_header_links(struct extract *x, struct slice value)
{
    find_in_text(value, FIND_IN_CODE, on_header_found, x);
}

/* Of attributes, style sheets and comments: "p.link" is no host there. */
static void links_in_code(struct extract *x, struct slice text)
{
    find_in_text(text, FIND_IN_CODE, on_found, x);
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* "scheme:" at the beginning, control bytes inside do not count. */
static bool has_scheme(struct slice value)
{
    size_t i = 0;
    while (i < value.n && value.p[i] != ':') {
        char c = value.p[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && c != '\t' && c != '\r' && c != '\n') {
            return false;
        }
        i++;
    }
    return i > 0 && i < value.n;
}

/* The value of an attribute that holds a URL. Relative ones say nothing about a host. */
static void html_link(struct extract *x, struct slice value)
{
    while (value.n > 0 && (unsigned char)value.p[0] <= ' ') {
        value = slice_from(value, 1);
    }
    value = slice_trim(value);
    if (has_scheme(value)) {
        if (!try_link(x, value)) {
            links_in_code(x, value); /* javascript:, data: and what hides in them */
            find_numbers_in_text(value, on_number, x); /* tel:, bitcoin: */
        }
    } else if (value.n > 2 && is_slash(value.p[0]) && is_slash(value.p[1])) {
        while (value.n > 0 && is_slash(value.p[0])) {
            value = slice_from(value, 1);
        }
        extract_link(x, value);
    } else {
        links_in_code(x, value);
    }
}

/* "a.png 1x, //host/b.png 2x" */
static void srcset(struct extract *x, struct slice value)
{
    while (value.p != NULL && !x->stopped) {
        struct slice one = slice_trim(slice_cut(&value, ','));
        size_t end = 0;
        while (end < one.n && (unsigned char)one.p[end] > ' ') {
            end++;
        }
        if (end > 0) {
            html_link(x, slice_head(one, end));
        }
    }
}

/* What stands in quotes, up to the closing one; else s. */
static struct slice without_quotes(struct slice s)
{
    if (s.n == 0 || (s.p[0] != '"' && s.p[0] != '\'')) {
        return s;
    }
    struct slice inside = slice_from(s, 1);
    return slice_head(inside, slice_find(inside, s.p[0]));
}

/* url("...") of style sheets; URLs elsewhere in them too. */
static void css(struct extract *x, struct slice value)
{
    links_in_code(x, value);
    struct slice rest = value;
    while (rest.n > 0 && !x->stopped) {
        size_t at = slice_find(rest, '(');
        bool is_url = at >= 3 && at < rest.n &&
                      slice_eq_nocase(slice_of(rest.p + at - 3, 3), SLICE_LIT("url"));
        rest = slice_from(rest, at + 1);
        if (!is_url) {
            continue;
        }
        struct slice inside = slice_trim(slice_head(rest, slice_find(rest, ')')));
        inside = without_quotes(inside);
        if (inside.n > 2 && is_slash(inside.p[0]) && is_slash(inside.p[1])) {
            html_link(x, inside);
        }
    }
}

/* <meta http-equiv=refresh content="0; url=..."> */
static void meta_content(struct extract *x, struct slice value)
{
    for (size_t i = 0; i + 4 <= value.n; i++) {
        if (!slice_eq_nocase(slice_of(value.p + i, 3), SLICE_LIT("url"))) {
            continue;
        }
        struct slice rest = slice_trim(slice_from(value, i + 3));
        if (rest.n > 0 && rest.p[0] == '=') {
            html_link(x, without_quotes(slice_trim(slice_from(rest, 1))));
            return;
        }
    }
    links_in_code(x, value);
}

static bool is_one_of(struct slice name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (slice_eq(name, slice_str(*names))) {
            return true;
        }
    }
    return false;
}

static void on_attribute(struct extract *x, const struct html_token *t)
{
    static const char *const link_names[] = {
        "href", "src",      "action",     "formaction", "background", "poster",
        "data", "cite",     "xlink:href", "longdesc",   "lowsrc",     "dynsrc",
        "ping", "codebase", "manifest",   "archive",    NULL};
    if (t->value.n < 4 || slice_has_prefix(t->name, SLICE_LIT("xmlns"))) {
        return;
    }
    if (is_one_of(t->name, link_names)) {
        html_link(x, t->value);
    } else if (slice_eq(t->name, SLICE_LIT("srcset")) ||
               slice_eq(t->name, SLICE_LIT("imagesrcset"))) {
        srcset(x, t->value);
    } else if (slice_eq(t->name, SLICE_LIT("style"))) {
        css(x, t->value);
    } else if (slice_eq(t->name, SLICE_LIT("content")) &&
               slice_eq(t->tag, SLICE_LIT("meta"))) {
        meta_content(x, t->value);
    } else {
        links_in_code(x, t->value);
    }
}

void extract_visible_end(struct extract *x)
{
    extract_links_in(x, slice_of(x->visible, x->nvisible));
    x->nvisible = 0;
}

/* Text that a reader sees in one run, over inline tags: "http://ev<b>il</b>.example". */
static void on_text(struct extract *x, struct slice text)
{
    if (text.n > EXTRACT_VISIBLE - x->nvisible) {
        extract_visible_end(x);
    }
    if (text.n > EXTRACT_VISIBLE) {
        extract_links_in(x, text);
        return;
    }
    memcpy(x->visible + x->nvisible, text.p, text.n);
    x->nvisible += text.n;
}

static void on_tag(struct extract *x, struct slice tag)
{
    static const char *const inline_tags[] = {"b",    "i",    "u",     "em", "strong",
                                              "font", "wbr",  "small", "tt", "big",
                                              "span", "code", NULL};
    if (x->nvisible > 0 && !is_one_of(tag, inline_tags)) {
        extract_visible_end(x);
    }
}

void extract_on_html(void *context, const struct html_token *t)
{
    struct extract *x = context;
    extract_cpu_step(x, t->value.n + 16);
    if (x->stopped) {
        return;
    }
    switch (t->kind) {
    case HTML_TEXT:
        if (t->value.n > 0) {
            on_text(x, t->value);
        }
        break;
    case HTML_START_TAG:
    case HTML_END_TAG:
        on_tag(x, t->tag);
        break;
    case HTML_ATTRIBUTE:
        on_attribute(x, t);
        break;
    case HTML_COMMENT:
        links_in_code(x, t->value);
        break;
    case HTML_RAW_TEXT:
        css(x, t->value);
        break;
    case HTML_TAG_END:
    case HTML_DOCTYPE:
    case HTML_NUL:
        break;
    }
}
