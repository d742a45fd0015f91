#include "core/feature/lookup.h"

#include <assert.h>

#include "core/base/checksum.h"
#include "core/feature/network.h"
#include "core/url/host.h"
#include "core/url/safebrowsing.h"
#include "core/url/url.h"

/* A long name is sought as itself and by its last suffixes only, so that 120 labels of a
 * spammer cost no more than six. */
enum { DOMAIN_SUFFIXES_MAX = 5 };

enum { URL_CLASSES = 3 };
_Static_assert(2 * (int)SAFEBROWSING_EXPRESSIONS_MAX + (int)URL_CLASSES <=
                   (int)FEATURE_KEYS_MAX,
               "all keys of a URL fit together");

struct keys {
    struct feature_key *ret;
    size_t n;
};

static void add_key(struct keys *k, enum feature_type class_type,
                    enum feature_type report_type, struct slice text)
{
    assert(k->n < FEATURE_KEYS_MAX);
    k->ret[k->n++] = (struct feature_key){.class_type = (uint16_t)class_type,
                                          .report_type = (uint16_t)report_type,
                                          .text = text};
}

static void add_networks(struct keys *k, enum feature_type report,
                         const uint8_t addr[16], struct arena *scratch)
{
    size_t n = 0;
    bool v4 = host_ip_is_v4(addr);
    const uint8_t *lengths = v4 ? feature_prefixes_v4(&n) : feature_prefixes_v6(&n);
    for (size_t i = 0; i < n; i++) {
        struct slice text = feature_network_text(scratch, addr, lengths[i]);
        if (text.p == NULL) {
            return;
        }
        add_key(k, FEATURE_network, report, text);
    }
}

/* The type under which a hit on a domain suffix is shown. */
static enum feature_type domain_type_of(enum feature_type type)
{
    switch ((int)type) {
    case FEATURE_from:
        return FEATURE_from_domain;
    case FEATURE_envelope_from:
        return FEATURE_envelope_domain;
    case FEATURE_reply_to:
        return FEATURE_reply_to_domain;
    case FEATURE_sender:
        return FEATURE_sender_domain;
    case FEATURE_return_path:
        return FEATURE_return_path_domain;
    case FEATURE_url_host:
        return FEATURE_url_domain;
    default:
        return type;
    }
}

static void add_domains(struct keys *k, enum feature_type report, struct slice name)
{
    struct slice registrable = host_registrable(name);
    if (registrable.n == 0) {
        if (!host_is_public_suffix(name)) {
            add_key(k, FEATURE_domain, report, name);
        }
        return;
    }
    add_key(k, FEATURE_domain, report, name);
    /* From the registrable domain up, one label more each time, never the full name again. */
    size_t at = name.n - registrable.n;
    for (unsigned i = 0; i < DOMAIN_SUFFIXES_MAX && at > 0; i++) {
        add_key(k, FEATURE_domain, report, slice_from(name, at));
        at--; /* the dot */
        while (at > 0 && name.p[at - 1] != '.') {
            at--;
        }
    }
}

static void add_host(struct keys *k, enum feature_type host_report,
                     enum feature_type domain_report, struct slice name,
                     struct arena *scratch)
{
    uint8_t addr[16];
    if (host_ip_parse(name, addr)) {
        add_networks(k, host_report, addr, scratch);
        return;
    }
    add_key(k, FEATURE_host, host_report, name);
    add_domains(k, domain_report, name);
}

/* A looser key that does not differ from the URL is no feature of the message: the URL is sought
 * as it, too. */
static void add_url(struct keys *k, enum feature_type type, struct slice text)
{
    add_key(k, FEATURE_url, type, text);
    add_key(k, FEATURE_url_folded, type, text);
    if (type == FEATURE_url) {
        add_key(k, FEATURE_url_template, type, text);
    }
}

/* Where the registrable domain of the host begins that expressions may not climb above. */
static size_t shortest_host(const struct safebrowsing *form)
{
    struct slice registrable =
        form->is_address ? SLICE_NONE : host_registrable(form->host);
    return registrable.n > 0 ? registrable.n : form->host.n;
}

unsigned feature_expressions_bit(uint16_t class_type)
{
    return class_type == FEATURE_url_expression ? FEATURE_EXPRESSIONS
           : class_type == FEATURE_url_hash     ? FEATURE_EXPRESSION_HASHES
                                                : 0;
}

static void add_hash(struct keys *k, struct arena *scratch, struct slice expression)
{
    char *hex = arena_bytes(scratch, SHA256_HEX + 1);
    struct sha256 sum;

    if (hex == NULL || sha256_init(&sum) != ERR_OK) {
        return;
    }
    sha256_add(&sum, expression);
    sha256_final_hex(&sum, hex);
    add_key(k, FEATURE_url_hash, FEATURE_url, slice_str(hex));
}

size_t feature_url_expressions(const struct feature *f, unsigned which,
                               struct arena *scratch,
                               struct feature_key ret[FEATURE_KEYS_MAX])
{
    struct keys k = {.ret = ret};
    struct url url;
    struct safebrowsing form;
    struct slice all[SAFEBROWSING_EXPRESSIONS_MAX];
    if (which == 0 || f->type != FEATURE_url ||
        url_parse(scratch, f->text, &url) != ERR_OK ||
        safebrowsing_of_url(scratch, &url, &form) != ERR_OK) {
        return 0;
    }
    size_t n = safebrowsing_expressions(scratch, &form, all);
    size_t shortest = shortest_host(&form);
    for (size_t i = 0; i < n; i++) {
        if (slice_find(all[i], '/') < shortest) {
            continue;
        }
        if ((which & FEATURE_EXPRESSIONS) != 0) {
            add_key(&k, FEATURE_url_expression, FEATURE_url, all[i]);
        }
        if ((which & FEATURE_EXPRESSION_HASHES) != 0) {
            add_hash(&k, scratch, all[i]);
        }
    }
    return k.n;
}

static struct slice host_of_address(struct slice address)
{
    size_t at = address.n;
    while (at > 0 && address.p[at - 1] != '@') {
        at--;
    }
    return at > 0 ? slice_from(address, at) : SLICE_NONE;
}

size_t feature_keys(const struct feature *f, struct arena *scratch,
                    struct feature_key ret[FEATURE_KEYS_MAX])
{
    struct keys k = {.ret = ret};
    enum feature_type type = (enum feature_type)f->type;
    const struct feature_info *info = feature_info(type);
    if (info == NULL || f->text.n == 0) {
        return 0;
    }
    struct slice host;
    uint8_t addr[16];
    switch (info->lookup) {
    case FEATURE_LOOKUP_VALUE:
        add_key(&k, type, type, f->text);
        break;
    case FEATURE_LOOKUP_ADDRESS:
        add_key(&k, FEATURE_address, type, f->text);
        host = host_of_address(f->text);
        if (host.n > 0) {
            enum feature_type report = domain_type_of(type);
            add_host(&k, report, report, host, scratch);
        }
        break;
    case FEATURE_LOOKUP_HOST:
        add_host(&k, type, domain_type_of(type), f->text, scratch);
        break;
    case FEATURE_LOOKUP_URL:
        add_url(&k, type, f->text);
        break;
    case FEATURE_LOOKUP_IP:
        if (host_ip_parse(f->text, addr)) {
            add_networks(&k, type, addr, scratch);
        }
        break;
    case FEATURE_LOOKUP_NONE:
    case FEATURE_LOOKUP_CLASS:
        break;
    }
    return k.n;
}
