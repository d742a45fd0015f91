/* replay_setting - KEY=VALUE of a replay. */
#include <math.h>

#include "core/config/user_thresholds.h"
#include "core/verdict/journal/journal_replay.h"

enum { DECIMAL = 10 };

void replay_init(struct replay *r, const struct config *config)
{
    *r = (struct replay){.config = config, .config_id = config_id(config)};
}

/* ---- values ---- */

static enum err refuse_setting(struct errinfo *reterr, enum err code,
                               const char *setting, const char *why)
{
    return errinfo_set(reterr, code, setting, 0, "%s", why);
}

static bool read_score(struct slice text, double least, double most, double *ret)
{
    char copy[32];
    char *end = copy;

    if (text.n == 0 || text.n >= sizeof(copy)) {
        return false;
    }
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    double v = strtod(copy, &end);
    if (*end != '\0' || !(v >= least && v <= most)) {
        return false;
    }
    *ret = v;
    return true;
}

static bool read_bool(struct slice text, bool *ret)
{
    *ret = slice_eq(text, SLICE_LIT("true"));
    return *ret || slice_eq(text, SLICE_LIT("false"));
}

static bool read_action(struct slice text, enum action *ret)
{
    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        if (slice_eq(text, slice_str(action_name((enum action)a)))) {
            *ret = (enum action)a;
            return true;
        }
    }
    return false;
}

/* The name of the symbol, as verdict_add_symbol makes it. */
static void symbol_of(const char *prefix, const char *name,
                      char ret[VERDICT_SYMBOL_NAME])
{
    char text[VERDICT_SYMBOL_NAME]; /* name and ret may be of one object */

    (void)snprintf(text, sizeof(text), "%s%s", prefix, name);
    verdict_symbol_name(text);
    memcpy(ret, text, sizeof(text));
}

static bool is_brief(const struct config_rule *rule)
{
    return rule->all.n + rule->any.n + rule->none.n == 0;
}

void replay_symbol(const struct config_rule *rule, char ret[VERDICT_SYMBOL_NAME])
{
    symbol_of(rule->only_in_emergency ? "BLOCKED_PATTERN_"
              : !is_brief(rule)       ? "RULE_"
              : *rule->type != '\0'   ? "BULK_"
                                      : "TRAIT_",
              rule->name, ret);
}

void replay_list_symbol(const char *name, char ret[VERDICT_SYMBOL_NAME])
{
    symbol_of("LIST_", name, ret);
}

static bool is_among(const struct config_conditions *group, enum condition_kind kind,
                     const char *word)
{
    for (size_t i = 0; i < group->n; i++) {
        if (group->v[i].kind == kind && strcmp(group->v[i].word, word) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether a condition of this kind and word stands in an enabled rule. */
static bool has_condition(const struct config *c, enum condition_kind kind,
                          const char *word)
{
    for (size_t i = 0; i < c->nrules; i++) {
        const struct config_rule *rule = &c->rules[i];
        if (rule->enabled &&
            (is_among(&rule->all, kind, word) || is_among(&rule->any, kind, word) ||
             is_among(&rule->none, kind, word))) {
            return true;
        }
    }
    return false;
}

/* ---- keys ---- */

static enum err set_threshold(struct replay *r, struct slice key, struct slice value,
                              const char *setting, struct errinfo *reterr)
{
    enum action a = ACTION_ACCEPT;
    double v = HUGE_VAL;

    if (!read_action(key, &a) || a == ACTION_ACCEPT) {
        return refuse_setting(
            reterr, ERR_NOT_FOUND, setting,
            "write thresholds.header, quarantine, defer, reject or discard");
    }
    if (!slice_eq(value, SLICE_LIT("off")) && !read_score(value, 0.01, 100000, &v)) {
        return refuse_setting(reterr, ERR_RANGE, setting,
                              "write off, or 0.01 to 100000");
    }
    r->has_threshold[a] = true;
    r->threshold[a] = v;
    return ERR_OK;
}

static struct replay_list *list_at(struct replay *r, struct slice name)
{
    for (size_t i = 0; i < r->nlists; i++) {
        if (slice_eq(slice_str(r->list[i].name), name)) {
            return &r->list[i];
        }
    }
    if (r->nlists == REPLAY_CHANGES_MAX) {
        return NULL;
    }
    struct replay_list *l = &r->list[r->nlists++];
    *l = (struct replay_list){.weight = 0};
    (void)snprintf(l->name, sizeof(l->name), "%.*s", SLICE_ARGS(name));
    replay_list_symbol(l->name, l->symbol);
    return l;
}

static enum err set_list(struct replay *r, struct slice key, struct slice value,
                         const char *setting, struct errinfo *reterr)
{
    struct slice name = slice_cut(&key, '.');
    if (!list_name_is_valid(name)) {
        return refuse_setting(reterr, ERR_NOT_FOUND, setting,
                              "this is no name of a list");
    }
    const struct config_list *was = config_list_find(r->config, name);
    struct replay_list *l = list_at(r, name);
    if (l == NULL) {
        return refuse_setting(reterr, ERR_LIMIT, setting,
                              "too many lists are changed at once");
    }
    if (was->is_allow) {
        return refuse_setting(
            reterr, ERR_UNSUPPORTED, setting,
            "the journal cannot tell: a message that an allow list lets through "
            "is not examined in full");
    }
    if (!slice_eq(key, SLICE_LIT("weight")) &&
        (has_condition(r->config, CONDITION_LIST, l->name) ||
         has_condition(r->config, CONDITION_CATEGORY, was->category))) {
        return refuse_setting(
            reterr, ERR_UNSUPPORTED, setting,
            "the journal cannot tell: a rule has a condition on this list, and "
            "the other conditions are not in it; only weight can be replayed");
    }
    l->has_weight = l->has_weight || slice_eq(key, SLICE_LIT("weight"));
    l->has_shadow = l->has_shadow || slice_eq(key, SLICE_LIT("shadow"));
    l->has_enabled = l->has_enabled || slice_eq(key, SLICE_LIT("enabled"));
    if (slice_eq(key, SLICE_LIT("weight"))) {
        return read_score(value, -100000, 100000, &l->weight)
                   ? ERR_OK
                   : refuse_setting(reterr, ERR_RANGE, setting, "write a number");
    }
    if (slice_eq(key, SLICE_LIT("shadow"))) {
        return read_bool(value, &l->shadow)
                   ? ERR_OK
                   : refuse_setting(reterr, ERR_SYNTAX, setting, "write true or false");
    }
    if (!slice_eq(key, SLICE_LIT("enabled"))) {
        return refuse_setting(
            reterr, ERR_UNSUPPORTED, setting,
            "the journal can answer weight, shadow and enabled of a list; "
            "it lacks the look-ups of another key");
    }
    if (!read_bool(value, &l->enabled)) {
        return refuse_setting(reterr, ERR_SYNTAX, setting, "write true or false");
    }
    return !l->enabled || was->enabled
               ? ERR_OK
               : refuse_setting(
                     reterr, ERR_UNSUPPORTED, setting,
                     "the journal cannot tell: a list that is off is not looked up; "
                     "switch it on with shadow = true, wait, and replay then");
}

/* The rule with its changes; NULL: the configuration has no such rule, or too many are changed. */
static struct replay_rule *rule_at(struct replay *r, struct slice name)
{
    for (size_t i = 0; i < r->nrules; i++) {
        if (slice_eq(slice_str(r->rule[i].was->name), name)) {
            return &r->rule[i];
        }
    }
    for (size_t i = 0; i < r->config->nrules && r->nrules < REPLAY_CHANGES_MAX; i++) {
        const struct config_rule *was = &r->config->rules[i];
        if (slice_eq(slice_str(was->name), name)) {
            struct replay_rule *rule = &r->rule[r->nrules++];
            const struct feature_info *info =
                feature_info_by_name(slice_str(was->type));
            *rule =
                (struct replay_rule){.was = was,
                                     .now = *was,
                                     .type = (uint16_t)(info == NULL ? 0 : info->type),
                                     .is_brief = is_brief(was)};
            replay_symbol(was, rule->symbol);
            return rule;
        }
    }
    return NULL;
}

static unsigned *rule_number(struct config_rule *rule, struct slice key)
{
    static const char *const names[] = {"count", "recipients", "networks", "senders"};
    unsigned *const numbers[] = {&rule->count, &rule->distinct[RULE_RECIPIENTS],
                                 &rule->distinct[RULE_NETWORKS],
                                 &rule->distinct[RULE_SENDERS]};
    int i = name_index(key, names, LENGTH(names));

    return i < 0 ? NULL : numbers[i];
}

/* A condition of the rule, or of another that names it, would have to be decided again. */
static enum err refuse_conditions(const struct replay *r,
                                  const struct replay_rule *rule, bool is_number,
                                  const char *setting, struct errinfo *reterr)
{
    if (!is_brief(rule->was) && is_number) {
        return refuse_setting(
            reterr, ERR_UNSUPPORTED, setting,
            "the journal cannot tell: the conditions of this rule are not in it; "
            "add a rule with shadow = true and the other number, and see "
            "`gillnet rules`");
    }
    if (has_condition(r->config, CONDITION_RULE, rule->was->name)) {
        return refuse_setting(
            reterr, ERR_UNSUPPORTED, setting,
            "the journal cannot tell: another rule names this one as a "
            "condition");
    }
    return ERR_OK;
}

static enum err set_rule_number(struct replay *r, struct replay_rule *rule,
                                unsigned *number, struct slice value,
                                const char *setting, struct errinfo *reterr)
{
    uint64_t n = 0;
    enum err e = refuse_conditions(r, rule, true, setting, reterr);

    if (e == ERR_OK && rule->type == 0) {
        e = refuse_setting(reterr, ERR_UNSUPPORTED, setting,
                           "this rule reads no counts");
    }
    if (e == ERR_OK && !slice_to_u64(value, DECIMAL, UINT32_MAX, &n)) {
        e = refuse_setting(reterr, ERR_RANGE, setting, "write a number of 0 or more");
    }
    *number = e == ERR_OK ? (unsigned)n : *number;
    return e;
}

static enum err set_rule_enabled(struct replay *r, struct replay_rule *rule,
                                 const char *setting, struct errinfo *reterr)
{
    enum err e = refuse_conditions(r, rule, false, setting, reterr);

    if (e == ERR_OK && rule->now.enabled && !rule->was->enabled &&
        !is_brief(rule->was)) {
        e = refuse_setting(
            reterr, ERR_UNSUPPORTED, setting,
            "the journal cannot tell: a rule that is off is not evaluated; switch "
            "it on with shadow = true, wait, and replay then");
    }
    return e;
}

static enum err set_rule(struct replay *r, struct slice key, struct slice value,
                         const char *setting, struct errinfo *reterr)
{
    struct slice name = slice_cut(&key, '.');
    struct replay_rule *rule = rule_at(r, name);

    if (rule == NULL) {
        return refuse_setting(
            reterr, ERR_NOT_FOUND, setting,
            "the configuration has no rule of this name; a new rule needs "
            "evidence that the journal may not have: add it with shadow = true, "
            "wait, and see `gillnet rules`");
    }
    unsigned *number = rule_number(&rule->now, key);
    if (number != NULL) {
        return set_rule_number(r, rule, number, value, setting, reterr);
    }
    if (slice_eq(key, SLICE_LIT("score"))) {
        return read_score(value, -100000, 100000, &rule->now.score)
                   ? ERR_OK
                   : refuse_setting(reterr, ERR_RANGE, setting, "write a number");
    }
    bool is_enabled = slice_eq(key, SLICE_LIT("enabled"));
    if (!is_enabled && !slice_eq(key, SLICE_LIT("shadow"))) {
        return refuse_setting(
            reterr, ERR_UNSUPPORTED, setting,
            "the journal can answer count, networks, senders, recipients, score, "
            "shadow and enabled of a rule; for another condition it would need "
            "the message: add a rule with shadow = true, and see `gillnet rules`");
    }
    if (!read_bool(value, is_enabled ? &rule->now.enabled : &rule->now.shadow)) {
        return refuse_setting(reterr, ERR_SYNTAX, setting, "write true or false");
    }
    return is_enabled ? set_rule_enabled(r, rule, setting, reterr) : ERR_OK;
}

static enum err set_single(struct replay *r, struct slice key, struct slice value,
                           const char *setting, struct errinfo *reterr)
{
    if (slice_eq(key, SLICE_LIT("bulk_alone"))) {
        r->has_bulk_alone = true;
        return read_action(value, &r->bulk_alone) && r->bulk_alone != ACTION_ACCEPT
                   ? ERR_OK
                   : refuse_setting(
                         reterr, ERR_SYNTAX, setting,
                         "write header, quarantine, defer, reject or discard");
    }
    if (slice_eq(key, SLICE_LIT("limits.score"))) {
        r->has_limits_score = true;
        return read_score(value, 0, 1000, &r->limits_score)
                   ? ERR_OK
                   : refuse_setting(reterr, ERR_RANGE, setting, "write 0 to 1000");
    }
    return refuse_setting(
        reterr, ERR_UNSUPPORTED, setting,
        "the journal cannot tell; it can answer thresholds.ACTION, "
        "rules.NAME.KEY, lists.NAME.KEY, limits.score and bulk_alone");
}

enum err replay_set(struct replay *r, const char *setting, struct errinfo *reterr)
{
    struct slice value = slice_str(setting);
    struct slice whole = slice_trim(slice_cut(&value, '='));
    struct slice rest = whole;

    value = slice_trim(value);
    if (whole.n == 0 || value.n == 0) {
        return refuse_setting(reterr, ERR_SYNTAX, setting, "write KEY=VALUE");
    }
    struct slice first = slice_cut(&rest, '.');
    if (slice_eq(first, SLICE_LIT("thresholds"))) {
        return set_threshold(r, rest, value, setting, reterr);
    }
    if (slice_eq(first, SLICE_LIT("lists"))) {
        return set_list(r, rest, value, setting, reterr);
    }
    if (slice_eq(first, SLICE_LIT("rules"))) {
        return set_rule(r, rest, value, setting, reterr);
    }
    return set_single(r, whole, value, setting, reterr);
}

enum err replay_check(const struct replay *r, struct errinfo *reterr)
{
    double threshold[ACTION_COUNT];

    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        threshold[a] = r->has_threshold[a] ? r->threshold[a] : r->config->threshold[a];
    }
    return thresholds_check_order(threshold, r->has_threshold, reterr);
}
