#include "core/message/extract/facts.h"

#include <assert.h>

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
