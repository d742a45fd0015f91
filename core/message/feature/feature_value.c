#include "core/message/feature/feature_value.h"

#include "core/base/uninitialized.h"
#include "core/message/feature/network.h"
#include "core/message/url/host.h"
#include "core/message/url/url.h"
#include "core/message/url/url_normal.h"
#include "core/message/url/urlkey.h"

enum { NET_V4 = 24, NET_V6 = 48 }; /* bits of client_net */

/* ---- keys ---- */

struct keys {
    struct arena *arena;
    struct feature_key *v;
    size_t n;
};

static void add_key(struct keys *k, uint16_t class_type, struct slice text)
{
    for (size_t i = 0; i < k->n; i++) {
        if (k->v[i].class_type == class_type && slice_eq(k->v[i].text, text)) {
            return;
        }
    }
    k->v[k->n++] = (struct feature_key){.class_type = class_type, .text = text};
}

/* The keys under which a message with this feature would be sought. */
static void expand(struct keys *k, enum feature_type type, struct slice text)
{
    struct feature_key keys[FEATURE_KEYS_MAX] UNINITIALIZED;
    struct feature f = {.type = (uint16_t)type, .text = text};
    size_t n = feature_keys(&f, NULL, k->arena, keys);

    for (size_t i = 0; i < n; i++) {
        add_key(k, keys[i].class_type, keys[i].text);
    }
}

static unsigned prefix_of(struct slice network)
{
    struct slice rest = network;
    unsigned prefix = 0;

    (void)slice_cut(&rest, '/');
    for (size_t i = 0; i < rest.n && rest.p[i] >= '0' && rest.p[i] <= '9'; i++) {
        prefix = prefix * 10 + (unsigned)(rest.p[i] - '0');
    }
    return rest.p == NULL ? 128 : prefix;
}

/* A network is found by wider ones, not by those inside it. */
static void expand_network(struct keys *k, struct slice network)
{
    struct feature_key keys[FEATURE_KEYS_MAX] UNINITIALIZED;
    struct feature f = {.type = FEATURE_client_ip,
                        .text = slice_head(network, slice_find(network, '/'))};
    size_t n = feature_keys(&f, NULL, k->arena, keys);

    for (size_t i = 0; i < n; i++) {
        if (prefix_of(keys[i].text) <= prefix_of(network)) {
            add_key(k, keys[i].class_type, keys[i].text);
        }
    }
}

static void expand_derived(struct keys *k, enum feature_type type, struct slice text,
                           unsigned which)
{
    struct feature_key keys[FEATURE_KEYS_MAX] UNINITIALIZED;
    struct feature f = {.type = (uint16_t)type, .text = text};
    size_t n = feature_derived_keys(&f, which, k->arena, keys);

    for (size_t i = 0; i < n; i++) {
        add_key(k, keys[i].class_type, keys[i].text);
    }
}

/* As link.c makes features of it. */
static void expand_url(struct keys *k, const struct url *url, unsigned which)
{
    bool has_domain = url->host.kind == HOST_NAME;
    struct slice normal = url_normal(k->arena, url);
    struct slice template = urlkey_template(
        k->arena, url, has_domain ? host_registrable(url->host.text) : SLICE_NONE);

    if (normal.p == NULL || template.p == NULL) {
        return; /* the arena is full */
    }
    expand(k, FEATURE_url, normal);
    expand(k, FEATURE_url_exact, url->canonical);
    expand_derived(k, FEATURE_url, normal, which);
    expand_derived(k, FEATURE_url_exact, url->canonical, which);
    add_key(k, FEATURE_url_template, template);
    expand(k, has_domain ? FEATURE_url_host : FEATURE_url_ip, url->host.text);
}

enum err value_keys(struct slice value, const struct value_reading *how,
                    struct arena *arena, struct feature_key ret[VALUE_KEYS_MAX],
                    size_t *retn, struct errinfo *reterr)
{
    struct keys k = {.arena = arena, .v = ret};
    struct feature_entry e;
    struct url url = {.canonical = SLICE_NONE};
    enum err result =
        feature_entry_parse_url(value, how->hint, arena, &e, &url, reterr);

    *retn = 0;
    if (result != ERR_OK) {
        return result;
    }
    add_key(&k, e.class_type, e.text);
    if (e.class_type == FEATURE_text_address) {
        add_key(&k, e.class_type, e.written); /* as lists have it from before */
    }
    switch (e.class_type) {
    case FEATURE_url:
    case FEATURE_url_exact:
        expand_url(&k, &url, how->derived);
        break;
    case FEATURE_host:
    case FEATURE_domain:
        expand(&k, FEATURE_url_host, e.text);
        break;
    case FEATURE_address:
        expand(&k, FEATURE_from, e.written);
        break;
    case FEATURE_network:
        expand_network(&k, e.text);
        break;
    default:
        break;
    }
    *retn = k.n;
    return ERR_OK;
}

/* ---- counted features ---- */

/* For each class of entries: the feature types that messages have of it. */
static const struct {
    enum feature_type class_type;
    enum feature_type type;
} standing_for[] = {
    {FEATURE_domain, FEATURE_url_domain},
    {FEATURE_domain, FEATURE_from_domain},
    {FEATURE_domain, FEATURE_envelope_domain},
    {FEATURE_domain, FEATURE_reply_to_domain},
    {FEATURE_domain, FEATURE_sender_domain},
    {FEATURE_domain, FEATURE_return_path_domain},
    {FEATURE_host, FEATURE_url_host},
    {FEATURE_host, FEATURE_helo},
    {FEATURE_host, FEATURE_client_name},
    {FEATURE_host, FEATURE_dkim_domain},
    {FEATURE_host, FEATURE_message_id_domain},
    {FEATURE_host, FEATURE_url_shortener},
    {FEATURE_host, FEATURE_url_redirector},
    {FEATURE_host, FEATURE_form_host},
    {FEATURE_address, FEATURE_from},
    {FEATURE_address, FEATURE_envelope_from},
    {FEATURE_address, FEATURE_reply_to},
    {FEATURE_address, FEATURE_sender},
    {FEATURE_address, FEATURE_return_path},
    {FEATURE_address, FEATURE_text_address},
    {FEATURE_attachment, FEATURE_attachment},
    {FEATURE_attachment, FEATURE_body},
    {FEATURE_attachment, FEATURE_text},
    {FEATURE_attachment, FEATURE_html_structure},
    {FEATURE_attachment, FEATURE_link_set},
};
enum { NSTANDING = LENGTH(standing_for) };

static void add(struct value_features *f, enum feature_type type, struct slice text)
{
    for (size_t i = 0; i < f->n; i++) {
        if (f->v[i].type == type && slice_eq(f->v[i].text, text)) {
            return;
        }
    }
    if (f->n < VALUE_FEATURES_MAX && text.n > 0) {
        f->v[f->n].type = type;
        f->v[f->n].text = text;
        f->n++;
    }
}

static void add_class(struct value_features *f, enum feature_type class_type,
                      struct slice text)
{
    for (size_t i = 0; i < NSTANDING; i++) {
        if (standing_for[i].class_type == class_type) {
            add(f, standing_for[i].type, text);
        }
    }
}

static void add_name(struct value_features *f, struct slice name)
{
    add_class(f, FEATURE_domain, name);
    add_class(f, FEATURE_host, name);
}

static void add_url(struct value_features *f, struct arena *arena,
                    const struct feature_entry *e, const struct url *url)
{
    bool is_name = url->host.kind == HOST_NAME;
    struct slice domain = is_name ? host_registrable(url->host.text) : SLICE_NONE;

    add(f, FEATURE_url, e->text);
    add(f, FEATURE_url_template, urlkey_template(arena, url, domain));
    add(f, is_name ? FEATURE_url_host : FEATURE_url_ip, url->host.text);
    add(f, FEATURE_url_domain, domain);
}

static void add_network(struct value_features *f, struct arena *arena,
                        struct slice network)
{
    struct slice ip = slice_head(network, slice_find(network, '/'));
    uint8_t addr[16];

    if (!host_ip_parse(ip, addr)) {
        return;
    }
    if (ip.n < network.n) {
        add(f, FEATURE_client_net, network);
        return;
    }
    add(f, FEATURE_client_ip, ip);
    add(f, FEATURE_url_ip, ip);
    add(f, FEATURE_client_net,
        feature_network_text(arena, addr, host_ip_is_v4(addr) ? NET_V4 : NET_V6));
}

/* The row of the type that the value names, and *retvalue what is behind it. */
static const struct feature_info *typed(struct slice value, struct slice *retvalue)
{
    struct slice rest = value;
    const struct feature_info *info = NULL;
    struct slice name = slice_cut(&rest, ':');

    if (rest.p != NULL) {
        info = feature_info_by_name(name);
    }
    *retvalue = slice_trim(rest);
    return info;
}

bool value_is_only_counted(struct slice value)
{
    struct slice rest;
    const struct feature_info *info = typed(slice_trim(value), &rest);

    if (info == NULL) {
        return false;
    }
    switch ((int)info->type) { /* the others of no class are names, which lists have */
    case FEATURE_text_band:
    case FEATURE_template_sender:
    case FEATURE_template_network:
    case FEATURE_url_broken:
        return true;
    default:
        return false;
    }
}

/* A feature as messages have it: in the normal form of entries where there is one. */
static enum err add_typed(struct value_features *f, struct arena *arena,
                          const struct feature_info *info, struct slice text,
                          struct errinfo *reterr)
{
    struct feature_entry e;

    if (text.n == 0) {
        return errinfo_set(reterr, ERR_SYNTAX, "", 0, "an empty value");
    }
    f->is_typed = true;
    if (info->lookup == FEATURE_LOOKUP_NONE) {
        add(f, info->type,
            text); /* keys and domains, as `gillnet extract` shows them */
        return ERR_OK;
    }
    enum err result = feature_entry_parse(text, info->type, arena, &e, reterr);
    if (result == ERR_OK) { /* an address is counted as it was written */
        add(f, info->type, info->lookup == FEATURE_LOOKUP_URL ? e.text : e.written);
    }
    return result;
}

enum err value_features_of(struct slice value, struct arena *arena,
                           struct value_features *ret, struct errinfo *reterr)
{
    struct slice text;
    struct feature_entry e;
    struct url url = {.canonical = SLICE_NONE};
    const struct feature_info *info = typed(slice_trim(value), &text);

    ret->n = 0;
    ret->is_typed = false;
    if (info != NULL && info->counted) {
        return add_typed(ret, arena, info, text, reterr);
    }
    enum err result =
        feature_entry_parse_url(value, FEATURE_NONE, arena, &e, &url, reterr);
    if (result != ERR_OK) {
        return result;
    }
    switch ((int)e.class_type) {
    case FEATURE_url:
        add_url(ret, arena, &e, &url);
        break;
    case FEATURE_network:
        add_network(ret, arena, e.text);
        break;
    case FEATURE_domain:
    case FEATURE_host:
        add_name(ret, e.text);
        break;
    default:
        add_class(ret, (enum feature_type)e.class_type, e.written);
        break;
    }
    return arena_is_full(arena) ? errinfo_set(reterr, ERR_NOMEM, "", 0, "out of memory")
                                : ERR_OK;
}
