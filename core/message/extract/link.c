#include "core/message/extract/extract_internal.h"
#include "core/message/trait/link_address.h"
#include "core/message/trait/link_trait.h"
#include "core/message/url/address.h"
#include "core/message/url/find.h"
#include "core/message/url/find_number.h"
#include "core/message/url/host.h"
#include "core/message/url/safebrowsing.h"
#include "core/message/url/unwrap.h"
#include "core/message/url/url.h"
#include "core/message/url/url_normal.h"
#include "core/message/url/urlkey.h"

/* How a URL is added: kept, or only looked up. */
struct adding {
    struct extract *x;
    bool has_room;
};

static bool add_link_feature(const struct adding *a, enum feature_type type,
                             struct slice text)
{
    if (a->has_room || featureset_has(a->x->set, type, text)) {
        return featureset_add(a->x->set, type, text);
    }
    featureset_overflow(a->x->set, type, text);
    return text.n > 0;
}

static void add_host(const struct adding *a, const struct host *host,
                     struct slice registrable)
{
    if (host->kind != HOST_NAME) {
        (void)add_link_feature(a, FEATURE_url_ip, host->text);
    } else if (add_link_feature(a, FEATURE_url_host, host->text)) {
        struct traits found = {0};
        link_host_traits(host->text, registrable, &found);
        extract_traits(a->x, &found);
        (void)add_link_feature(a, FEATURE_url_domain, registrable);
        if (unwrap_is_shortener(host->text)) {
            (void)add_link_feature(a, FEATURE_url_shortener, host->text);
        }
    } else {
        /* the message has had it */
    }
}

static struct slice registrable_of(const struct host *host)
{
    return host->kind == HOST_NAME ? host_registrable(host->text) : SLICE_NONE;
}

struct slice extract_domain_of(const struct host *host)
{
    struct slice registrable = registrable_of(host);
    return registrable.n > 0 ? registrable : host->text;
}

/* Whether the message has room for one more URL. The first of each domain has room that the others
 * cannot take. */
static bool has_room(struct extract *x, const struct url *url, struct slice registrable)
{
    enum feature_type type = registrable.n > 0             ? FEATURE_url_domain
                             : url->host.kind == HOST_NAME ? FEATURE_url_host
                                                           : FEATURE_url_ip;
    struct slice domain = registrable.n > 0 ? registrable : url->host.text;
    unsigned *n = featureset_has(x->set, type, domain) ? &x->nurls : &x->ndomains;

    if (*n >= x->limits.urls) {
        featureset_set_limit(x->set, LIMIT_FLAG(urls));
        return false;
    }
    (*n)++;
    return true;
}

/* True: the message has not had it yet, as far as is known. */
static bool add_url(struct extract *x, const struct url *url)
{
    struct slice registrable = registrable_of(&url->host);
    struct adding a = {.x = x};

    if (featureset_has(x->set, FEATURE_url_exact, url->canonical)) {
        return false;
    }
    struct slice normal = url_normal(x->scratch, url);
    struct slice template = urlkey_template(x->scratch, url, registrable);
    if (normal.p == NULL || template.p == NULL) {
        featureset_set_limit(x->set, LIMIT_FLAG(memory));
    }
    a.has_room = has_room(x, url, registrable);
    (void)add_link_feature(&a, FEATURE_url_exact, url->canonical);
    add_host(&a, &url->host, registrable);
    (void)add_link_feature(&a, FEATURE_url, normal);
    if (template.p != url->canonical.p) {
        (void)add_link_feature(&a, FEATURE_url_template, template);
    }
    return true;
}

/* Adds the targets of redirectors and wrappers in text, which is url, like any other URL. */
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
        featureset_add(x->set, FEATURE_url_target, url_normal(x->scratch, &target));
        (void)add_url(x, &target);
    }
}

static bool is_recipient(const struct extract *x, const struct link_address *a)
{
    const struct slice *known = x->nkept > 0 ? x->recipients : x->facts.named;
    size_t n = x->nkept > 0 ? x->nkept : x->facts.nnamed;
    for (size_t i = 0; i < n; i++) {
        if (slice_eq_nocase(known[i], slice_of(a->text, a->n))) {
            return true;
        }
    }
    return false;
}

/* Whom the link was sent to. Senders may sign links with their own address. */
static void add_address_traits(struct extract *x, struct slice text)
{
    struct link_address a;
    if (link_address_find(text, &a) &&
        !featureset_has(x->set, FEATURE_from, slice_of(a.text, a.n))) {
        struct traits found = {0};
        traits_add(&found, TRAIT_link_has_address);
        traits_note(&found, TRAIT_link_has_coded_address, a.is_coded);
        traits_note(&found, TRAIT_link_has_fragment_address, a.is_in_fragment);
        traits_note(&found, TRAIT_link_has_recipient, is_recipient(x, &a));
        extract_traits(x, &found);
    }
}

/* Traits that the normal form no longer shows. */
static void add_url_traits(struct extract *x, struct slice text, const struct url *url)
{
    struct slice rest = link_behind_scheme(text);
    size_t at = slice_find(rest, '@');
    if (at < rest.n && slice_find(rest, '/') > at && slice_find(rest, '?') > at &&
        slice_find(rest, '#') > at && slice_find(rest, '\\') > at) {
        extract_trait(x, TRAIT_url_user);
    }
    if (url->host.kind == HOST_IPV4 &&
        slice_find_slice(text, url->host.text) == text.n) {
        extract_trait(x, TRAIT_url_odd_host);
    }
    struct traits found = {0};
    link_path_traits(text, url, &found);
    extract_traits(x, &found);
    add_address_traits(x, text);
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
        if (text.n > URL_BYTES_MAX) {
            featureset_set_limit(x->set, LIMIT_FLAG(url_bytes));
        }
        if (add_url(x, &url)) {
            add_url_traits(x, text, &url);
            if (unwrap_may_carry(text, url.host.text)) {
                add_targets(x, text, &url);
            }
        }
    } else if (e == ERR_SYNTAX) {
        add_broken(x, text);
    } else if (e == ERR_NOMEM) {
        featureset_set_limit(x->set, LIMIT_FLAG(memory));
    }
    arena_reset(x->scratch);
    return e == ERR_OK;
}

void extract_link(struct extract *x, struct slice url)
{
    (void)extract_try_link(x, url);
}

static bool is_own(const struct extract *x, const struct host *host)
{
    return facts_is_of_sender(x->set, extract_domain_of(host));
}

void extract_note_own_link(struct extract *x, const struct url *url)
{
    struct unwrap_target targets[UNWRAP_TARGETS_MAX];
    bool is_cut = false;
    bool leads_home = is_own(x, &url->host);
    size_t n = !leads_home && unwrap_may_carry(url->canonical, url->host.text)
                   ? unwrap_url(x->scratch, url->canonical, targets, &is_cut)
                   : 0;
    for (size_t i = 0; i < n && !leads_home; i++) {
        struct url target;
        leads_home = url_parse(x->scratch, targets[i].url, &target) == ERR_OK &&
                     is_own(x, &target.host);
    }
    bool *has = x->kind == TEXT_HTML ? &x->facts.has_own_link_in_html
                                     : &x->facts.has_own_link_in_plain;
    *has = *has || leads_home;
}

/* Once the reader has seen such a link, no other is looked at. */
static void note_seen(struct extract *x, struct slice text)
{
    struct url url;
    bool has = x->kind == TEXT_HTML ? x->facts.has_own_link_in_html
                                    : x->facts.has_own_link_in_plain;
    if (x->is_seen && !has && url_parse(x->scratch, text, &url) == ERR_OK) {
        extract_note_own_link(x, &url);
    }
    arena_reset(x->scratch);
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

/* A name that is no link is only looked up, never counted or learnt. */
static void add_bare_host(struct extract *x, struct slice text)
{
    struct host host;
    enum err e = host_parse(x->scratch, text, &host);
    if (e == ERR_OK) {
        featureset_add(x->set, FEATURE_bare_host, host.text);
    } else if (e == ERR_NOMEM) {
        featureset_set_limit(x->set, LIMIT_FLAG(memory));
    }
    arena_reset(x->scratch);
}

/* Later finds are in this text, which begins at `at` in its part or field. */
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
    extract_cpu_step(x, number->raw.n + EXTRACT_CPU_FIND);
    if (!x->stopped) {
        featureset_add(x->set,
                       number->kind == FIND_PHONE ? FEATURE_phone : FEATURE_wallet,
                       number->text);
    }
}

static void add_find_traits(struct extract *x, unsigned flags)
{
    if ((flags & FIND_DEFANGED) != 0) {
        extract_trait(x, TRAIT_url_defanged);
    }
    if ((flags & FIND_HIDDEN) != 0) {
        extract_trait(x, TRAIT_url_hidden);
    }
    if ((flags & FIND_JOINED) != 0) {
        extract_trait(x, TRAIT_url_joined);
    }
}

static void on_found(void *context, const struct find *find)
{
    struct extract *x = context;
    extract_cpu_step(x, find->raw.n + EXTRACT_CPU_FIND);
    if (x->stopped) {
        return;
    }
    set_offset(x, find->raw);
    if ((find->flags & FIND_CUT) != 0) {
        featureset_set_limit(x->set, LIMIT_FLAG(url_bytes));
    }
    if (find->kind == FIND_URL) {
        if (extract_try_link(x, find->text)) {
            add_find_traits(x, find->flags);
            note_seen(x, find->text);
        }
    } else if (find->kind == FIND_ADDRESS) {
        add_text_address(x, find->text);
    } else if (find->kind == FIND_BARE) {
        add_bare_host(x, find->text);
    }
}

void extract_found(struct extract *x, const struct find *find)
{
    on_found(x, find);
}

void extract_found_host(struct extract *x, struct slice text)
{
    struct url url;
    struct slice rest = slice_from(text, slice_find_slice(text, SLICE_LIT("//")) + 2);
    bool is_whole = slice_find(rest, '/') < rest.n || slice_find(rest, '?') < rest.n;
    if (is_whole && url_parse(x->scratch, text, &url) == ERR_OK) {
        add_host(&(struct adding){.x = x, .has_room = true}, &url.host,
                 registrable_of(&url.host));
    }
    arena_reset(x->scratch);
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

static void on_field_url(void *context, const struct find *find)
{
    struct extract *x = context;
    struct url url;
    extract_cpu_step(x, find->raw.n + EXTRACT_CPU_FIND);
    if (x->stopped || find->kind != FIND_URL) {
        return;
    }
    set_offset(x, find->raw);
    if (url_parse(x->scratch, find->text, &url) == ERR_OK) {
        featureset_add(x->set, FEATURE_field_url, url.canonical);
        featureset_add(x->set, FEATURE_field_url, url_normal(x->scratch, &url));
        featureset_add(x->set, FEATURE_bare_host, url.host.text);
    }
    arena_reset(x->scratch);
}

void extract_field_urls(struct extract *x, struct slice value)
{
    begin_finds(x, value, 0);
    find_in_text(value, FIND_IN_HEADER, on_field_url, x);
}

void extract_links_in_code(struct extract *x, struct slice text)
{
    find_in_text(text, FIND_IN_CODE, on_found, x);
}

void extract_numbers_in(struct extract *x, struct slice text)
{
    find_numbers_in_text(text, on_number, x);
}
