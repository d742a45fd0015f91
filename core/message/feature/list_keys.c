#include "core/message/feature/list_keys.h"

#include <assert.h>

#include "core/base/checksum.h"
#include "core/message/feature/network.h"
#include "core/message/url/host.h"
#include "core/message/url/mailbox.h"
#include "core/message/url/safebrowsing.h"
#include "core/message/url/url.h"
#include "core/message/url/urlkey.h"

/* A long name is sought as itself and by its last suffixes only, so that 120 labels of a
 * spammer cost no more than six. */
enum { DOMAIN_SUFFIXES_MAX = 5 };

enum { URL_KEYS = 5 };
_Static_assert(2 * (int)SAFEBROWSING_EXPRESSIONS_MAX + (int)URL_KEYS <=
                   (int)FEATURE_KEYS_MAX,
               "all keys of a URL fit together");

/* ---- classes ---- */

bool feature_classes_are_known(const struct feature_classes *c)
{
    return (c->word[0] & 1) == 0;
}

bool feature_classes_have(const struct feature_classes *c, uint16_t class_type)
{
    return !feature_classes_are_known(c) ||
           (class_type < FEATURE_CLASSES_MAX &&
            (c->word[class_type / 64] >> (class_type % 64) & 1) != 0);
}

void feature_classes_add(struct feature_classes *c, uint16_t class_type)
{
    unsigned bit = class_type < FEATURE_CLASSES_MAX ? class_type : 0;

    c->word[bit / 64] |= (uint64_t)1 << (bit % 64);
}

void feature_classes_join(struct feature_classes *c, const struct feature_classes *more)
{
    for (size_t i = 0; i < FEATURE_CLASSES_WORDS; i++) {
        c->word[i] |= more->word[i];
    }
}

unsigned feature_derived_bit(uint16_t class_type)
{
    switch (class_type) {
    case FEATURE_url_expression:
        return FEATURE_EXPRESSIONS;
    case FEATURE_url_hash:
        return FEATURE_EXPRESSION_HASHES;
    case FEATURE_url_folded:
        return FEATURE_FOLDED;
    default:
        return 0;
    }
}

unsigned feature_derived(const struct feature_classes *held,
                         const struct feature_classes *named)
{
    static const uint16_t classes[] = {FEATURE_url_expression, FEATURE_url_hash,
                                       FEATURE_url_folded};
    bool is_known = feature_classes_are_known(held);
    unsigned which = is_known ? 0 : FEATURE_FOLDED | FEATURE_FORMER;

    for (size_t i = 0; i < LENGTH(classes); i++) {
        if (feature_classes_have(is_known ? held : named, classes[i])) {
            which |= feature_derived_bit(classes[i]);
        }
    }
    return which;
}

/* ---- keys ---- */

struct keys {
    struct feature_key *ret;
    size_t n;
    const struct feature_classes *asked; /* NULL: any */
};

static bool is_class_wanted(const struct keys *k, enum feature_type class_type)
{
    return k->asked == NULL || feature_classes_have(k->asked, (uint16_t)class_type);
}

static void add_key(struct keys *k, enum feature_type class_type,
                    enum feature_type report_type, struct slice text)
{
    if (!is_class_wanted(k, class_type)) {
        return;
    }
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
    if (!is_class_wanted(k, FEATURE_network)) {
        return;
    }
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
    if (!is_class_wanted(k, FEATURE_domain)) {
        return;
    }
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

/* Where the registrable domain of the host begins that expressions may not climb above. */
static size_t shortest_host(const struct safebrowsing *form)
{
    struct slice registrable =
        form->is_address ? SLICE_NONE : host_registrable(form->host);
    return registrable.n > 0 ? registrable.n : form->host.n;
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

static void add_expressions(struct keys *k, struct slice text, unsigned which,
                            struct arena *scratch)
{
    struct url url;
    struct safebrowsing form;
    struct slice all[SAFEBROWSING_EXPRESSIONS_MAX];
    if (url_parse(scratch, text, &url) != ERR_OK ||
        safebrowsing_of_url(scratch, &url, &form) != ERR_OK) {
        return;
    }
    size_t n = safebrowsing_expressions(scratch, &form, all);
    size_t shortest = shortest_host(&form);
    for (size_t i = 0; i < n; i++) {
        if (slice_find(all[i], '/') < shortest) {
            continue;
        }
        if ((which & FEATURE_EXPRESSIONS) != 0) {
            add_key(k, FEATURE_url_expression, FEATURE_url, all[i]);
        }
        if ((which & FEATURE_EXPRESSION_HASHES) != 0) {
            add_hash(k, scratch, all[i]);
        }
    }
}

/* Under the one class that lists had then; what does not differ is asked anyway. */
static void add_former(struct keys *k, struct slice text, struct arena *scratch)
{
    struct slice clean = urlkey_clean(scratch, text);
    struct slice folded = clean.p != NULL ? urlkey_folded(scratch, clean) : SLICE_NONE;
    if (folded.p == NULL) {
        return;
    }
    if (clean.p != text.p) {
        add_key(k, FEATURE_url_exact, FEATURE_url, clean);
    }
    add_key(k, FEATURE_url_folded, FEATURE_url, folded);
}

size_t feature_derived_keys(const struct feature *f, unsigned which,
                            struct arena *scratch,
                            struct feature_key ret[FEATURE_KEYS_MAX])
{
    struct keys k = {.ret = ret};
    struct slice folded;
    bool is_field = f->type == FEATURE_field_url;
    if ((f->type == FEATURE_url || is_field) && (which & FEATURE_FOLDED) != 0) {
        folded = urlkey_folded(scratch, f->text);
        if (folded.p != NULL) {
            add_key(&k, FEATURE_url_folded, FEATURE_url, folded);
        }
    }
    if (f->type == FEATURE_url_exact && (which & FEATURE_FORMER) != 0) {
        add_former(&k, f->text, scratch);
    }
    which &= FEATURE_EXPRESSIONS | FEATURE_EXPRESSION_HASHES;
    if ((f->type == FEATURE_url_exact || is_field) && which != 0) {
        add_expressions(&k, f->text, which, scratch);
    }
    return k.n;
}

bool feature_same_mailbox(struct slice a, struct slice b)
{
    return mailbox_eq(a, b);
}

static struct slice host_of_address(struct slice address)
{
    size_t at = address.n;
    while (at > 0 && address.p[at - 1] != '@') {
        at--;
    }
    return at > 0 ? slice_from(address, at) : SLICE_NONE;
}

/* The mailbox that an address reaches, where it differs. */
static void add_address(struct keys *k, enum feature_type class_type,
                        enum feature_type report, struct slice address,
                        struct arena *scratch)
{
    if (!is_class_wanted(k, class_type)) {
        return;
    }
    struct slice mailbox = mailbox_of(scratch, address);
    add_key(k, class_type, report, address);
    if (mailbox.p != NULL && mailbox.p != address.p) {
        add_key(k, class_type, report, mailbox);
    }
}

static void add_value(struct keys *k, enum feature_type type, struct slice text,
                      struct arena *scratch)
{
    if (type == FEATURE_text_address) {
        add_address(k, type, type, text, scratch);
    } else if (type == FEATURE_url_exact) {
        add_key(k, type, FEATURE_url, text);
        add_key(k, FEATURE_url_template, FEATURE_url, text); /* where it is its own */
    } else {
        add_key(k, type, type, text);
    }
}

static void add_sender(struct keys *k, enum feature_type type, struct slice address,
                       struct arena *scratch)
{
    struct slice host = host_of_address(address);
    enum feature_type report = domain_type_of(type);
    add_address(k, FEATURE_address, type, address, scratch);
    if (host.n > 0) {
        add_host(k, report, report, host, scratch);
    }
}

size_t feature_keys(const struct feature *f, const struct feature_classes *asked,
                    struct arena *scratch, struct feature_key ret[FEATURE_KEYS_MAX])
{
    struct keys k = {.ret = ret, .asked = asked};
    enum feature_type type = (enum feature_type)f->type;
    const struct feature_info *info = feature_info(type);
    uint8_t addr[16];
    if (info == NULL || f->text.n == 0) {
        return 0;
    }
    switch (info->lookup) {
    case FEATURE_LOOKUP_VALUE:
        add_value(&k, type, f->text, scratch);
        break;
    case FEATURE_LOOKUP_ADDRESS:
        add_sender(&k, type, f->text, scratch);
        break;
    case FEATURE_LOOKUP_HOST:
        add_host(&k, type, domain_type_of(type), f->text, scratch);
        break;
    case FEATURE_LOOKUP_URL:
        add_key(&k, FEATURE_url, type, f->text);
        if (type == FEATURE_field_url) { /* the message has it in both forms */
            add_key(&k, FEATURE_url_exact, type, f->text);
        }
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
