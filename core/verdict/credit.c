/* credit - a known sender lowers the score. */
#include "core/verdict/verdict_internal.h"

bool credit_has_grave_hit(const struct judging *j)
{
    for (size_t i = 0; i < j->hits->n; i++) {
        const struct list_hit *hit = &j->hits->v[i];
        const struct config_list *list = listset_config(j->lists, hit->list);
        const char *category = list->category != NULL ? list->category : "";
        bool is_grave =
            strcmp(category, "phish") == 0 || strcmp(category, "malware") == 0;

        if (is_grave && hit->answer == LIST_CONFIRMED && !list->shadow &&
            !list_symbols_is_exempt(j, hit->value)) {
            return true;
        }
    }
    return false;
}

void credit_judge(struct judging *j)
{
    const struct identity *i = j->facts.context->identity;
    const struct config_identity *scores = &j->facts.config->identity;
    const struct feature *from = featureset_first(j->facts.features, FEATURE_from);
    bool is_known =
        identity_has(i, IDENTITY_correspondent) && identity_has(i, IDENTITY_proved);
    bool is_answer = identity_has(i, IDENTITY_answer) &&
                     !identity_has(i, IDENTITY_dmarc_fail) &&
                     !identity_has(i, IDENTITY_spf_fail);

    if (from == NULL || (!is_known && !is_answer)) {
        return;
    }
    bool is_void = credit_has_grave_hit(j);
    double answer = is_answer && !is_void ? scores->answer_score : 0;
    double known = is_known && !is_void ? scores->correspondent_score : 0;
    if (is_answer) { /* the stronger of the two counts */
        verdict_add_symbol(j->v, "", "ANSWER", answer <= known ? answer : 0,
                           from->text);
    }
    if (is_known) {
        verdict_add_symbol(j->v, "", "KNOWN_CORRESPONDENT",
                           is_answer && answer <= known ? 0 : known, from->text);
    }
}
