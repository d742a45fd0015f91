/* worth_json - the numbers of a rule or a list, as the API and the commands print them. */
#include "core/verdict/journal/journal_replay.h"
#include "core/verdict/journal/worth.h"

const char *worth_useless(const struct worth_numbers *n)
{
    return n->hits == 0 ? "no hit" : n->alone == 0 ? "never alone" : NULL;
}

json_t *worth_json(const struct worth_numbers *n)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:s?}", "hits_today",
                     (json_int_t)n->today, "hits_7d", (json_int_t)n->week, "hits",
                     (json_int_t)n->hits, "scored", (json_int_t)n->scored, "alone",
                     (json_int_t)n->alone, "reported_spam", (json_int_t)n->spam,
                     "reported_ham", (json_int_t)n->ham, "last_hit_s",
                     n->last_s > 0 ? json_integer((json_int_t)n->last_s) : json_null(),
                     "useless", worth_useless(n));
}

json_t *worth_totals_json(const struct worth *w, uint64_t today, bool is_whole)
{
    struct worth_totals t;

    worth_totals(w, today, &t);
    return json_pack("{s:I, s:I, s:o, s:b, s:b}", "judged", (json_int_t)t.judged,
                     "others", (json_int_t)t.others, "since_s",
                     t.first_s > 0 ? json_integer((json_int_t)t.first_s) : json_null(),
                     "complete", (int)is_whole, "cut", (int)t.is_cut);
}

static const char *rule_state(const struct config_rule *rule)
{
    return !rule->enabled ? "off" : rule->shadow ? "shadow" : "live";
}

static bool may_be_useless(const struct config_rule *rule)
{
    return rule->enabled && !rule->only_in_emergency &&
           (rule->shadow || rule->score != 0);
}

json_t *worth_rule_json(const struct worth *w, const struct config_rule *rule,
                        uint64_t today)
{
    char symbol[VERDICT_SYMBOL_NAME];
    struct worth_numbers n;

    replay_symbol(rule, symbol);
    worth_of_rule(w, slice_str(symbol), today, &n);
    json_t *row = json_pack("{s:s, s:s, s:s, s:f, s:s, s:s, s:b}", "rule", rule->name,
                            "symbol", symbol, "state", rule_state(rule), "score",
                            rule->score, "description", rule->description, "group",
                            rule->group, "emergency", (int)rule->only_in_emergency);
    json_t *numbers = worth_json(&n);
    if (!may_be_useless(rule)) {
        (void)json_object_set_new(numbers, "useless", json_null());
    }
    if (json_object_update(row, numbers) != 0) {
        json_decref(row);
        row = NULL;
    }
    json_decref(numbers);
    return row;
}
