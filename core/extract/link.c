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

/* What is found now stands in this text, which is at `at` in its part or field. */
static void begin_finds(struct extract *x, struct slice text, size_t at)
{
    x->found_in = text.p;
    x->found_at = at;
}

static void set_offset(struct extract *x, struct slice raw)
{
    size_t in_text = x->found_in != NULL ? (size_t)(raw.p - x->found_in) : 0;
    featureset_set_offset(x->set, x->found_at + in_text);
}

/* Of HTML, the place of all that stands in a tag or a run of text is where that begins. */
static void begin_tag(struct extract *x, size_t at)
{
    begin_finds(x, SLICE_NONE, at);
    featureset_set_offset(x->set, at);
}

static void on_number(void *context, const struct find_number *number)
{
    struct extract *x = context;
    set_offset(x, number->raw);
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
    set_offset(x, find->raw);
    if ((find->flags & FIND_CUT) != 0) {
        featureset_set_limit(x->set, LIMIT_FLAG(url_bytes));
    }
    if (find->kind == FIND_URL) {
        extract_link(x, find->text);
    } else if (find->kind == FIND_ADDRESS) {
        add_text_address(x, find->text);
    }
}

static void links_in(struct extract *x, struct slice text)
{
    find_in_text(text, FIND_IN_PROSE, on_found, x);
    if (!x->stopped) {
        find_numbers_in_text(text, on_number, x);
    }
}

void extract_links_in(struct extract *x, struct slice text, size_t at)
{
    begin_finds(x, text, at);
    links_in(x, text);
}

static void on_header_found(void *context, const struct find *find)
{
    if (find->kind == FIND_URL) {
        on_found(context, find);
    }
}

void extract_header_links(struct extract *x, struct slice value)
{
    begin_finds(x, value, 0);
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

static void on_text(void *context, const struct shown_text *text)
{
    struct extract *x = context;
    extract_cpu_step(x, text->text.n);
    if (x->stopped) {
        return;
    }
    begin_tag(x, text->at);
    if (text->where == SHOWN_SCRIPT || text->where == SHOWN_STYLE ||
        text->where == SHOWN_COMMENT) {
        links_in_code(x, text->text);
    } else {
        links_in(x, text->text); /* seen or not: another reader may show it */
    }
}

static void on_value(void *context, enum shown_value_kind kind, struct slice value)
{
    struct extract *x = context;
    extract_cpu_step(x, value.n);
    if (x->stopped || value.n < 4) {
        return;
    }
    if (kind == SHOWN_VALUE_TEXT) {
        links_in_code(x, value);
    } else {
        html_link(x, value);
    }
}

static void on_html(void *context, const struct html_token *token)
{
    struct extract *x = context;
    extract_cpu_step(x, token->value.n + 16);
    if (!x->stopped) {
        begin_tag(x, token->at);
        shown_take(x->shown, token);
    }
}

bool extract_html_begin(struct extract *x)
{
    static const struct shown_events events = {.text = on_text, .value = on_value};
    if (x->shown == NULL) {
        x->shown = shown_new(x->arena, &events, x);
    }
    if (x->html == NULL) {
        x->html = html_new(x->arena, on_html, x);
    }
    return x->shown != NULL && x->html != NULL;
}
