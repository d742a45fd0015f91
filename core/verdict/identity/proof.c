#include "core/verdict/identity/proof.h"

struct slice proof_domain_of(struct slice address)
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

static bool is_only_from(const struct featureset *features, struct slice domain)
{
    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        if (f->type == FEATURE_from &&
            !slice_eq_nocase(proof_domain_of(f->text), domain)) {
            return false;
        }
    }
    return true;
}

/* Whether a good signature is of a domain at or below least, and the domain at or below it. */
static bool is_signed(const struct extract_auth *auth, struct slice domain,
                      struct slice least)
{
    for (unsigned i = 0; i <= auth->nsigners; i++) {
        /* the last one may be beyond AUTH_SIGNATURES */
        const struct slice d = i < auth->nsigners ? auth->signer[i] : auth->dkim_domain;
        bool is_between = domain.n == 0 || slice_is_at_or_below(domain, d);
        if (is_between && slice_is_at_or_below(d, least)) {
            return auth->dkim_pass;
        }
    }
    return false;
}

bool proof_covers(const struct featureset *features, const struct extract_auth *auth,
                  struct slice domain)
{
    if (auth == NULL || domain.n == 0 || !is_only_from(features, domain)) {
        return false;
    }
    return (auth->dmarc_pass && slice_eq_nocase(auth->dmarc_domain, domain)) ||
           is_signed(auth, domain, organisation_of(features, domain));
}

bool proof_is_aligned(const struct featureset *features,
                      const struct extract_auth *auth)
{
    const struct feature *from = featureset_first(features, FEATURE_from_domain);

    if (auth == NULL || from == NULL ||
        featureset_count_type(features, FEATURE_from_domain) > 1) {
        return false;
    }
    return (auth->spf_pass && slice_is_at_or_below(auth->spf_domain, from->text)) ||
           is_signed(auth, SLICE_NONE, from->text);
}
