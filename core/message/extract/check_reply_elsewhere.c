/* check_reply_elsewhere - answers go to another domain than the one that the reader sees. */
#include "core/message/extract/check.h"

/* True: domain is the domain of some From address. */
static bool is_from_domain(const struct featureset *set, struct slice domain)
{
    return featureset_has(set, FEATURE_from_domain, domain);
}

static bool is_named(const struct facts *facts, struct slice address)
{
    for (size_t i = 0; i < facts->nnamed; i++) {
        if (slice_eq_nocase(facts->named[i], address)) {
            return true;
        }
    }
    return false;
}

bool check_reply_to_list(const struct facts *facts)
{
    for (size_t i = 0; i < featureset_count(facts->set); i++) {
        const struct feature *f = featureset_at(facts->set, i);
        if (f->type == FEATURE_reply_to && is_named(facts, f->text)) {
            return true;
        }
    }
    return false;
}

bool check_reply_elsewhere(const struct facts *facts)
{
    const struct featureset *set = facts->set;
    if (facts_count(facts, FEATURE_reply_to_domain) == 0 ||
        facts_count(facts, FEATURE_from_domain) == 0 || check_reply_to_list(facts)) {
        return false;
    }
    for (size_t i = 0; i < featureset_count(set); i++) {
        const struct feature *f = featureset_at(set, i);
        if (f->type == FEATURE_reply_to_domain && !is_from_domain(set, f->text)) {
            return true;
        }
    }
    return false;
}

bool check_reply_several(const struct facts *facts)
{
    return facts_count(facts, FEATURE_reply_to_domain) > 1;
}
