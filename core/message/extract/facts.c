#include "core/message/extract/facts.h"

#include <assert.h>

#include "core/message/trait/look.h"

enum { SHORT_FORM_MIN = 4 /* bytes; shorter ones stand in any name */ };

void facts_close(struct facts *facts, const struct featureset *set)
{
    facts->set = set;
    for (size_t i = 0; i < featureset_count(set); i++) {
        const struct feature *f = featureset_at(set, i);
        assert(f->type < FACTS_TYPES);
        if (facts->of_type[f->type].count++ == 0) {
            facts->of_type[f->type].first = f;
        }
    }
}

const struct feature *facts_first(const struct facts *facts, enum feature_type type)
{
    return facts->of_type[type].first;
}

size_t facts_count(const struct facts *facts, enum feature_type type)
{
    return facts->of_type[type].count;
}

/* Not the other way: anybody gets a longer name. */
static bool is_short_form(struct slice domain, struct slice of)
{
    struct slice label = look_owner_label(domain);
    struct slice whole = look_owner_label(of);
    return label.n >= SHORT_FORM_MIN &&
           (slice_has_prefix(whole, label) || slice_has_suffix_nocase(whole, label));
}

bool facts_is_of_sender(const struct featureset *set, struct slice domain)
{
    const struct feature *from = featureset_first(set, FEATURE_from_domain);
    return from != NULL && (look_is_same_owner(from->text, domain) ||
                            is_short_form(domain, from->text) ||
                            featureset_has(set, FEATURE_from_domain, domain));
}
