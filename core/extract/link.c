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
    if (featureset_has(x->set, FEATURE_url_host, host->text)) {
        return; /* most URLs of a message are on few hosts */
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

bool extract_try_link(struct extract *x, struct slice text)
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
    (void)extract_try_link(x, url);
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

void extract_tag_at(struct extract *x, size_t at)
{
    begin_finds(x, SLICE_NONE, at);
    featureset_set_offset(x->set, at);
}

static void set_offset(struct extract *x, struct slice raw)
{
    size_t in_text = x->found_in != NULL ? (size_t)(raw.p - x->found_in) : 0;
    featureset_set_offset(x->set, x->found_at + in_text);
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

void extract_links_of_tag(struct extract *x, struct slice text)
{
    find_in_text(text, FIND_IN_PROSE, on_found, x);
    if (!x->stopped) {
        find_numbers_in_text(text, on_number, x);
    }
}

void extract_links_in(struct extract *x, struct slice text, size_t at)
{
    begin_finds(x, text, at);
    extract_links_of_tag(x, text);
}

void extract_header_links(struct extract *x, struct slice value)
{
    begin_finds(x, value, 0);
    find_in_text(value, FIND_IN_HEADER, on_found, x);
}

void extract_links_in_code(struct extract *x, struct slice text)
{
    find_in_text(text, FIND_IN_CODE, on_found, x);
}

void extract_numbers_in(struct extract *x, struct slice text)
{
    find_numbers_in_text(text, on_number, x);
}
