#include "core/extract/inside.h"
#include "core/url/address.h"
#include "core/url/find.h"
#include "core/url/find_number.h"
#include "core/url/host.h"
#include "core/url/safebrowsing.h"
#include "core/url/unwrap.h"
#include "core/url/url.h"
#include "core/url/urlkey.h"

/* Returns the registrable domain, which may be empty. */
static struct slice add_host(struct extract *x, const struct host *host)
{
    struct slice registrable = SLICE_NONE;
    if (host->kind != HOST_NAME) {
        featureset_add(x->set, FEATURE_url_ip, host->text);
        return registrable;
    }
    registrable = host_registrable(host->text);
    if (featureset_add(x->set, FEATURE_url_host, host->text)) {
        featureset_add(x->set, FEATURE_url_domain, registrable);
        if (unwrap_is_shortener(host->text)) {
            featureset_add(x->set, FEATURE_url_shortener, host->text);
        }
    }
    return registrable;
}

struct slice extract_domain_of(const struct host *host)
{
    struct slice registrable =
        host->kind == HOST_NAME ? host_registrable(host->text) : SLICE_NONE;
    return registrable.n > 0 ? registrable : host->text;
}

/* The looser keys, where they differ. */
static void add_keys(struct extract *x, const struct url *url, struct slice registrable)
{
    struct slice clean = urlkey_clean(x->scratch, url);
    struct slice folded = clean.n > 0 ? urlkey_folded(x->scratch, url, clean) : clean;
    struct slice template = urlkey_template(x->scratch, url, registrable);
    if (folded.p == NULL || template.p == NULL) {
        featureset_set_limit(x->set, LIMIT_FLAG(memory));
        return;
    }
    if (clean.p != url->canonical.p) {
        featureset_add(x->set, FEATURE_url_clean, clean);
    }
    if (folded.p != clean.p) {
        featureset_add(x->set, FEATURE_url_folded, folded);
    }
    if (template.p != url->canonical.p) {
        featureset_add(x->set, FEATURE_url_template, template);
    }
}

/* True: the message has not had it yet. */
static bool add_url(struct extract *x, const struct url *url)
{
    if (x->nurls >= x->limits.urls) {
        if (!featureset_has(x->set, FEATURE_url, url->canonical)) {
            featureset_set_limit(x->set, LIMIT_FLAG(urls));
        }
        return false;
    }
    if (!featureset_add(x->set, FEATURE_url, url->canonical)) {
        return false;
    }
    x->nurls++;
    add_keys(x, url, add_host(x, &url->host));
    return true;
}

/* What redirectors and wrappers in text, which is url, lead to: a URL like any other. */
static void add_targets(struct extract *x, struct slice text, const struct url *url)
{
    struct unwrap_target targets[UNWRAP_TARGETS_MAX];
    struct slice hosts[UNWRAP_TARGETS_MAX + 1] = {url->host.text};
    bool is_cut = false;
    size_t n = unwrap_url(x->scratch, text, targets, &is_cut);
    if (is_cut) {
        featureset_set_limit(x->set, LIMIT_FLAG(unwrap));
    }
    for (size_t i = 0; i < n; i++) {
        struct url target;
        extract_cpu_step(x, text.n);
        if (x->stopped || url_parse(x->scratch, targets[i].url, &target) != ERR_OK) {
            continue;
        }
        hosts[i + 1] = target.host.text;
        featureset_add(x->set, FEATURE_url_redirector, hosts[targets[i].from]);
        featureset_add(x->set, FEATURE_url_target, target.canonical);
        (void)add_url(x, &target);
    }
}

/* What the canonical form does not show any more. */
static void add_url_signs(struct extract *x, struct slice text, const struct url *url)
{
    size_t scheme = slice_find_slice(text, SLICE_LIT("//"));
    struct slice rest = slice_from(text, scheme < text.n ? scheme + 2 : 0);
    size_t at = slice_find(rest, '@');
    if (at < rest.n && slice_find(rest, '/') > at && slice_find(rest, '?') > at &&
        slice_find(rest, '#') > at && slice_find(rest, '\\') > at) {
        extract_sign(x, SIGN_url_user);
    }
    if (url->host.kind == HOST_IPV4 &&
        slice_find_slice(text, url->host.text) == text.n) {
        extract_sign(x, SIGN_url_odd_host);
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
            add_url_signs(x, text, &url);
            if (unwrap_may_carry(text, url.host.text)) {
                add_targets(x, text, &url);
            }
        }
    } else if (e == ERR_SYNTAX) {
        add_broken(x, text);
    } else if (e == ERR_LIMIT) {
        /* The URL as a whole is nobody's list entry; its host may be. */
        featureset_set_limit(x->set, LIMIT_FLAG(url_bytes));
        if (url_parse(x->scratch, slice_head(text, URL_BYTES_MAX / 4), &url) ==
            ERR_OK) {
            (void)add_host(x, &url.host);
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
    x->place.found_in = text.p;
    x->place.found_at = at;
}

void extract_tag_at(struct extract *x, size_t at)
{
    begin_finds(x, SLICE_NONE, at);
    featureset_set_offset(x->set, at);
}

static void set_offset(struct extract *x, struct slice raw)
{
    size_t in_text =
        x->place.found_in != NULL ? (size_t)(raw.p - x->place.found_in) : 0;
    featureset_set_offset(x->set, x->place.found_at + in_text);
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

static void add_find_signs(struct extract *x, unsigned flags)
{
    if ((flags & FIND_DEFANGED) != 0) {
        extract_sign(x, SIGN_url_defanged);
    }
    if ((flags & FIND_HIDDEN) != 0) {
        extract_sign(x, SIGN_url_hidden);
    }
    if ((flags & FIND_JOINED) != 0) {
        extract_sign(x, SIGN_url_joined);
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
        if (extract_try_link(x, find->text)) {
            add_find_signs(x, find->flags);
        }
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
