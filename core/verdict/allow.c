/*
 * allow - clients and senders that are accepted although a list names them.
 *
 * Anybody can write any From. So an address or a domain counts only with proof that the sender
 * may use it: our own network, a login, or an aligned pass in a trusted Authentication-Results.
 * Source: RFC 7489 3.1 (alignment), RFC 8601.
 */
#include "core/verdict/allow.h"

static struct slice domain_of(struct slice address)
{
    size_t at = address.n;
    while (at > 0 && address.p[at - 1] != '@') {
        at--;
    }
    return at == 0 ? SLICE_NONE : slice_from(address, at);
}

/* The registrable domain of name as extraction found it, or name. */
static struct slice organisation_of(const struct featureset *features,
                                    struct slice name)
{
    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        if (f->type == FEATURE_from_domain && slice_is_at_or_below(name, f->text)) {
            return f->text;
        }
    }
    return name;
}

/* A pass for d covers name when d is name, or lies between it and its registrable domain. */
static bool is_aligned(const struct featureset *features, struct slice name,
                       struct slice d)
{
    return slice_is_at_or_below(name, d) && d.n >= organisation_of(features, name).n;
}

/* With several From domains it is unknown which one was proved (RFC 7489 6.6.1). */
static bool is_only_from(const struct featureset *features, struct slice domain)
{
    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        if (f->type == FEATURE_from && !slice_eq_nocase(domain_of(f->text), domain)) {
            return false;
        }
    }
    return true;
}

static bool is_from_authentic(const struct allow_case *c, struct slice domain)
{
    const struct extract_auth *auth = c->context->auth;

    if (c->context->is_trusted_network || c->context->is_authenticated) {
        return true;
    }
    if (auth == NULL || domain.n == 0 || !is_only_from(c->features, domain)) {
        return false;
    }
    return (auth->dmarc_pass && slice_eq_nocase(auth->dmarc_domain, domain)) ||
           (auth->dkim_pass && is_aligned(c->features, domain, auth->dkim_domain));
}

bool allow_proved_from(const struct allow_case *c, struct slice *ret)
{
    const struct verdict_context proof = {.auth = c->context->auth};
    const struct allow_case with = {c->config, c->features, &proof};
    const struct feature *from = featureset_first(c->features, FEATURE_from);

    if (from == NULL || !is_from_authentic(&with, domain_of(from->text))) {
        return false;
    }
    *ret = domain_of(from->text);
    return true;
}

static bool is_envelope_authentic(const struct allow_case *c, struct slice domain)
{
    const struct extract_auth *auth = c->context->auth;

    if (c->context->is_trusted_network || c->context->is_authenticated) {
        return true;
    }
    return auth != NULL && domain.n > 0 && auth->spf_pass &&
           slice_eq_nocase(auth->spf_domain, domain);
}

static bool is_sender(uint16_t type)
{
    return type == FEATURE_from || type == FEATURE_envelope_from;
}

/* f is a From or envelope sender; with proof that it may be used. */
static bool is_authentic(const struct allow_case *c, const struct feature *f)
{
    struct slice domain = domain_of(f->text);
    return f->type == FEATURE_from ? is_from_authentic(c, domain)
                                   : is_envelope_authentic(c, domain);
}

static bool is_in(const struct ipnet *nets, size_t n, const uint8_t *addr)
{
    for (size_t i = 0; addr != NULL && i < n; i++) {
        if (ipnet_contains(&nets[i], addr)) {
            return true;
        }
    }
    return false;
}

/* Local parts are compared exactly: whether they ignore case is their server's business. */
static bool is_same_address(struct slice a, struct slice b)
{
    struct slice da = domain_of(a);
    struct slice db = domain_of(b);
    return a.n == b.n && da.n == db.n && slice_eq_nocase(da, db) &&
           slice_eq(slice_head(a, a.n - da.n), slice_head(b, b.n - db.n));
}

static bool has_address(const struct config_strings *list, struct slice address)
{
    for (size_t i = 0; i < list->n; i++) {
        if (is_same_address(slice_str(list->v[i]), address)) {
            return true;
        }
    }
    return false;
}

static bool has_domain(const struct config_strings *list, struct slice domain)
{
    for (size_t i = 0; i < list->n; i++) {
        if (slice_is_at_or_below(domain, slice_str(list->v[i]))) {
            return true;
        }
    }
    return false;
}

/* "address" or "domain" when f is named by the configuration, or NULL. */
static const char *sender_rule(const struct config *config, const struct feature *f)
{
    if (has_address(&config->allow_addresses, f->text)) {
        return "address";
    }
    return has_domain(&config->allow_domains, domain_of(f->text)) ? "domain" : NULL;
}

const char *allow_by_config(const struct allow_case *c, struct slice *retvalue)
{
    const struct config *config = c->config;
    const struct feature *client = featureset_first(c->features, FEATURE_client_ip);

    if (c->context->is_trusted_network ||
        is_in(config->allow_networks, config->nallow_networks,
              c->context->client_addr)) {
        *retvalue = client == NULL ? SLICE_NONE : client->text;
        return "network";
    }
    if (c->context->is_authenticated && config->skip_authenticated) {
        *retvalue = SLICE_NONE;
        return "login";
    }
    if (config->allow_addresses.n == 0 && config->allow_domains.n == 0) {
        return NULL;
    }
    for (size_t i = 0; i < featureset_count(c->features); i++) {
        const struct feature *f = featureset_at(c->features, i);
        const char *rule = is_sender(f->type) ? sender_rule(config, f) : NULL;
        if (rule != NULL && is_authentic(c, f)) {
            *retvalue = f->text;
            return rule;
        }
    }
    return NULL;
}

struct slice allow_unproved(const struct allow_case *c)
{
    if (c->config->allow_addresses.n == 0 && c->config->allow_domains.n == 0) {
        return SLICE_NONE;
    }
    for (size_t i = 0; i < featureset_count(c->features); i++) {
        const struct feature *f = featureset_at(c->features, i);
        if (is_sender(f->type) && sender_rule(c->config, f) != NULL &&
            !is_authentic(c, f)) {
            return f->text;
        }
    }
    return SLICE_NONE;
}

bool allow_has_sender(const struct allow_case *c, struct slice value, bool is_domain,
                      bool needs_proof, struct slice *retvalue)
{
    for (size_t i = 0; i < featureset_count(c->features); i++) {
        const struct feature *f = featureset_at(c->features, i);
        bool is_it =
            is_sender(f->type) &&
            (is_domain ? slice_is_at_or_below(domain_of(f->text), value)
                       : slice_eq_nocase(f->text, value));
        if (is_it && (!needs_proof || is_authentic(c, f))) {
            *retvalue = f->text;
            return true;
        }
    }
    return false;
}

/* The sender's feature that a hit of this type is about. */
static uint16_t sender_type(uint16_t report_type)
{
    switch (report_type) {
    case FEATURE_from:
    case FEATURE_from_domain:
        return FEATURE_from;
    case FEATURE_envelope_from:
    case FEATURE_envelope_domain:
        return FEATURE_envelope_from;
    default:
        return FEATURE_NONE;
    }
}

bool allow_by_hit(const struct allow_case *c, const struct list_hit *hit)
{
    if (hit->report_type == FEATURE_client_ip ||
        hit->report_type == FEATURE_client_net) {
        return true;
    }
    uint16_t type = sender_type(hit->report_type);
    bool is_address = slice_find(hit->value, '@') < hit->value.n;
    for (size_t i = 0; type != FEATURE_NONE && i < featureset_count(c->features); i++) {
        const struct feature *f = featureset_at(c->features, i);
        if (f->type != type) {
            continue;
        }
        bool is_meant = is_address
                            ? is_same_address(hit->value, f->text)
                            : slice_is_at_or_below(domain_of(f->text), hit->value);
        if (is_meant && is_authentic(c, f)) {
            return true;
        }
    }
    return false;
}

bool allow_is_exemption(uint16_t report_type)
{
    switch (report_type) {
    case FEATURE_url:
    case FEATURE_url_exact:
    case FEATURE_url_folded:
    case FEATURE_url_template:
    case FEATURE_url_host:
    case FEATURE_url_domain:
    case FEATURE_url_ip:
    case FEATURE_field_url:
    case FEATURE_bare_host:
    case FEATURE_attachment:
    case FEATURE_attachment_name:
    case FEATURE_body:
    case FEATURE_subject:
        return true;
    default:
        return false;
    }
}
