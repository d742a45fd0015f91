#include "core/verdict/journal/journal_replay.h"

#include <math.h>

/* The parts of a score, as they change. */
struct parts {
    double score;
    double sure;
    double firm;
};

static void add_to(struct parts *p, uint8_t part, double change)
{
    p->score += change;
    p->sure += part == SYMBOL_UNSURE ? 0 : change;
    p->firm += part == SYMBOL_FIRM ? change : 0;
}

static bool has_prefix(struct slice s, const char *prefix)
{
    return slice_has_prefix(s, slice_str(prefix));
}

static enum action action_of(const struct replay *r, const struct record *record,
                             const struct parts *p, bool with_changes)
{
    struct verdict_scale scale = {.bulk_alone = with_changes && r->has_bulk_alone
                                                    ? r->bulk_alone
                                                    : (enum action)record->bulk_alone};

    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        scale.threshold[a] = with_changes && r->has_threshold[a] ? r->threshold[a]
                                                                 : record->threshold[a];
    }
    return verdict_action(&scale, p->score, p->sure, p->firm);
}

/* ---- limits ---- */

static void change_limits(const struct replay *r, const struct record *record,
                          struct parts *p)
{
    bool is_first = true;

    for (size_t i = 0; r->has_limits_score && i < record->nsymbols; i++) {
        const struct record_symbol *s = &record->symbol[i];
        if (has_prefix(s->name, "LIMIT_")) {
            add_to(p, s->part, (is_first ? r->limits_score : 0) - s->score);
            is_first = false;
        }
    }
}

/* ---- lists ---- */

/* The hit that gave the symbol of the list; NULL: the record lacks it. */
static const struct record_hit *hit_of(const struct record *record, const char *name)
{
    const struct record_hit *best = NULL;

    for (size_t i = 0; i < record->nhits; i++) {
        const struct record_hit *h = &record->hit[i];
        bool has_scored = h->answer == LIST_CONFIRMED || h->answer == LIST_UNVERIFIED;
        if (has_scored && slice_eq(h->list, slice_str(name)) &&
            (best == NULL || h->weight * h->factor > best->weight * best->factor)) {
            best = h;
        }
    }
    return best;
}

static double weigh(const struct replay_list *l, double weight, double factor)
{
    return (l->has_weight ? l->weight : weight) * factor;
}

/* The new score of a list's symbol. False: the record cannot tell. */
static bool list_score(const struct replay_list *l, const struct record *record,
                       const struct record_symbol *s, double *ret)
{
    const struct record_hit *h = hit_of(record, l->name);

    *ret = s->score;
    if ((l->has_enabled && !l->enabled) || (l->has_shadow && l->shadow)) {
        *ret = 0;
        return true;
    }
    if (h == NULL) {
        return s->score == 0 && !l->has_weight && !l->has_shadow;
    }
    if (s->score != 0) {
        *ret = weigh(l, h->weight, h->factor);
        return true;
    }
    if (h->weight ==
        0) { /* it scored nothing by its weight, or for another reason too */
        return !l->has_weight;
    }
    if (s->detail.n == 0) {
        return !l->has_shadow || l->shadow;
    }
    if (l->has_shadow && has_prefix(s->detail, "shadow, ")) {
        *ret = weigh(l, h->weight, h->factor);
    }
    return true;
}

static const char *change_lists(const struct replay *r, const struct record *record,
                                struct parts *p)
{
    const char *undecided = NULL;

    for (size_t i = 0; i < r->nlists; i++) {
        for (size_t k = 0; k < record->nsymbols; k++) {
            const struct record_symbol *s = &record->symbol[k];
            double score = 0;
            if (!slice_eq(s->name, slice_str(r->list[i].symbol))) {
                continue;
            }
            if (list_score(&r->list[i], record, s, &score)) {
                add_to(p, s->part, score - s->score);
            } else {
                undecided = "why a list scored nothing is not in the record";
            }
        }
    }
    return undecided;
}

/* ---- rules ---- */

static bool has_trait(const struct record *record, const struct journal_names *names,
                      const char *trait)
{
    int number = journal_number(names, JOURNAL_TRAIT, slice_str(trait));

    for (size_t i = 0; number >= 0 && i < record->ntraits; i++) {
        if (record->trait[i] == number) {
            return true;
        }
    }
    return false;
}

static bool is_proved(const struct record *record, const struct journal_names *names)
{
    int word = journal_number(names, JOURNAL_IDENTITY, SLICE_LIT("proved"));

    return word >= 0 && (record->identity >> word & 1) != 0;
}

static const struct record_symbol *symbol_of(const struct record *record,
                                             const char *name)
{
    for (size_t i = 0; i < record->nsymbols; i++) {
        if (slice_eq(record->symbol[i].name, slice_str(name))) {
            return &record->symbol[i];
        }
    }
    return NULL;
}

static bool is_stricter(const struct config_rule *a, const struct config_rule *b)
{
    bool is = a->count >= b->count;

    for (unsigned kind = 0; kind < RULE_DISTINCTS; kind++) {
        is = is && a->distinct[kind] >= b->distinct[kind];
    }
    return is;
}

/* Whether the rule as changed is met. s: its symbol, or NULL. */
static enum replay_met is_met(const struct replay *r, const struct replay_rule *rule,
                              const struct record *record,
                              const struct journal_names *names,
                              const struct record_symbol *s, bool *retestimate)
{
    const struct config_rule *now = &rule->now;
    /* only the rule that was in force tells anything by its symbol */
    bool is_same = record->config_id == r->config_id && rule->was->enabled;

    if (!rule->is_brief) { /* its conditions stay as they were */
        return s != NULL        ? REPLAY_MET
               : record->is_cut ? REPLAY_UNKNOWN
                                : REPLAY_NOT_MET;
    }
    if (*now->trait != '\0' && !has_trait(record, names, now->trait)) {
        return REPLAY_NOT_MET;
    }
    if (rule->type == 0 || (s != NULL && is_same && is_stricter(rule->was, now))) {
        return REPLAY_MET;
    }
    if (s == NULL && !record->is_cut && is_same && is_stricter(now, rule->was)) {
        return REPLAY_NOT_MET;
    }
    enum replay_met met = replay_counts_met(record, now, rule->type);
    if (met == REPLAY_MET && s == NULL && now->burst > 0) {
        return REPLAY_UNKNOWN; /* the fullest ten minutes are not in the record */
    }
    *retestimate = *retestimate || met == REPLAY_MET;
    return met;
}

/* The score of a rule that is met. False: the record cannot tell. */
static bool rule_score(const struct replay_rule *rule, const struct record *record,
                       const struct journal_names *names, const struct record_symbol *s,
                       double *ret)
{
    bool may_spare = rule->type != 0 && rule->now.spares_newsletters;

    *ret = rule->now.score;
    if (s != NULL && s->score != 0) {
        return true;
    }
    if (s != NULL && has_prefix(s->detail, "newsletter, ")) {
        *ret = 0;
        return true;
    }
    return !may_spare || !is_proved(record, names);
}

/* The score of a changed rule for this message, before the cap of its group. */
static const char *score_rule(const struct replay *r, const struct replay_rule *rule,
                              const struct record *record,
                              const struct journal_names *names, double *retscore,
                              bool *retestimate)
{
    const struct record_symbol *s = symbol_of(record, rule->symbol);

    *retscore = 0;
    if (!rule->now.enabled || rule->now.shadow) {
        return NULL;
    }
    switch (is_met(r, rule, record, names, s, retestimate)) {
    case REPLAY_UNKNOWN:
        return "its counts do not decide a rule";
    case REPLAY_MET:
        return rule_score(rule, record, names, s, retscore)
                   ? NULL
                   : "whether it was a newsletter is not in the record";
    case REPLAY_NOT_MET:
        break;
    }
    return NULL;
}

static uint8_t part_of(const struct replay_rule *rule, const struct record_symbol *s)
{
    return s != NULL         ? s->part
           : rule->type == 0 ? (uint8_t)SYMBOL_FIRM
                             : (uint8_t)SYMBOL_BULK;
}

/* The rule of the configuration that a symbol is of; NULL: none of this group. */
static const struct config_rule *rule_in_group(const struct replay *r,
                                               const char *group, struct slice symbol)
{
    char name[VERDICT_SYMBOL_NAME];

    for (size_t i = 0; i < r->config->nrules; i++) {
        const struct config_rule *rule = &r->config->rules[i];
        if (strcmp(rule->group, group) == 0) {
            replay_symbol(rule, name);
            if (slice_eq(symbol, slice_str(name))) {
                return rule;
            }
        }
    }
    return NULL;
}

static double cap_of(const struct config *c, const char *group)
{
    for (size_t i = 0; i < c->nrule_groups; i++) {
        if (strcmp(c->rule_groups[i].name, group) == 0) {
            return c->rule_groups[i].cap;
        }
    }
    return HUGE_VAL;
}

/* The changed rule of this configured one, or -1. */
static int changed_rule(const struct replay *r, const struct config_rule *was)
{
    for (size_t i = 0; i < r->nrules; i++) {
        if (r->rule[i].was == was) {
            return (int)i;
        }
    }
    return -1;
}

static double capped(double score, double cap, double *sum)
{
    if (score > 0) {
        score = *sum + score > cap ? cap - *sum : score;
        score = score > 0 ? score : 0;
        *sum += score;
    }
    return score;
}

/* A group with a changed rule: the cap is shared out again, in the order of the symbols. */
static void change_group(const struct replay *r, const struct record *record,
                         const char *group, const double *score, struct parts *p)
{
    double cap = cap_of(r->config, group);
    double sum = 0;

    for (size_t i = 0; i < record->nsymbols; i++) {
        const struct record_symbol *s = &record->symbol[i];
        const struct config_rule *was = rule_in_group(r, group, s->name);
        if (was == NULL) {
            continue;
        }
        int k = changed_rule(r, was);
        bool is_silent = was->shadow || has_prefix(s->detail, "newsletter, ");
        double raw = k >= 0 ? score[k] : is_silent ? 0 : was->score;
        add_to(p, s->part, capped(raw, cap, &sum) - s->score);
    }
    for (size_t k = 0; k < r->nrules; k++) {
        const struct replay_rule *rule = &r->rule[k];
        if (strcmp(rule->was->group, group) == 0 &&
            symbol_of(record, rule->symbol) == NULL) {
            add_to(p, part_of(rule, NULL), capped(score[k], cap, &sum));
        }
    }
}

/* Whether an earlier changed rule is of the same group. */
static bool is_group_done(const struct replay *r, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (strcmp(r->rule[k].was->group, r->rule[i].was->group) == 0) {
            return true;
        }
    }
    return false;
}

static const char *change_rules(const struct replay *r, const struct record *record,
                                const struct journal_names *names, struct parts *p,
                                bool *retestimate)
{
    double score[REPLAY_CHANGES_MAX];

    for (size_t i = 0; i < r->nrules; i++) {
        const char *why =
            score_rule(r, &r->rule[i], record, names, &score[i], retestimate);
        if (why != NULL) {
            return why;
        }
    }
    for (size_t i = 0; i < r->nrules; i++) {
        const struct replay_rule *rule = &r->rule[i];
        const struct record_symbol *s = symbol_of(record, rule->symbol);
        if (*rule->was->group == '\0') {
            add_to(p, part_of(rule, s), score[i] - (s == NULL ? 0 : s->score));
        } else if (record->config_id != r->config_id) {
            return "it was judged with another configuration, so the cap of a group is "
                   "not known";
        } else if (!is_group_done(r, i)) {
            change_group(r, record, rule->was->group, score, p);
        }
    }
    return NULL;
}

static bool has_changes(const struct replay *r)
{
    bool has = r->nlists + r->nrules > 0 || r->has_bulk_alone || r->has_limits_score;

    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        has = has || r->has_threshold[a];
    }
    return has;
}

void replay_judge(const struct replay *r, const struct record *record,
                  const struct journal_names *names, struct replay_result *ret)
{
    struct parts p = {record->score, record->sure, record->firm};
    enum action before = (enum action)record->wanted;

    *ret = (struct replay_result){.before = before,
                                  .after = before,
                                  .score_before = record->score,
                                  .score_after = record->score};
    if (record->unjudged.n > 0) {
        ret->undecided =
            "they were not examined, after an error or above limits.sessions";
        return;
    }
    if (record->allow.n > 0) {
        return; /* nothing changes what an allow rule let through */
    }
    if (record->is_of_users) {
        ret->undecided =
            has_changes(r) ? "settings of its recipients decided it" : NULL;
        return;
    }
    if (action_of(r, record, &p, false) != before) {
        ret->undecided = "the record does not give the action that was taken";
        return;
    }
    change_limits(r, record, &p);
    ret->undecided = change_lists(r, record, &p);
    const char *why = change_rules(r, record, names, &p, &ret->is_estimate);
    ret->undecided = ret->undecided == NULL ? why : ret->undecided;
    if (ret->undecided == NULL) {
        ret->score_after = p.score;
        ret->after = action_of(r, record, &p, true);
    }
}
