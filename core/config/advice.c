#include "core/config/advice.h"

#include <math.h>
#include <strings.h>

#include "core/base/clock.h"
#include "core/config/config_internal.h"
#include "core/config/tuning.h"

/* An allowed sender counts once somebody proved it: a server that we trust, or a login. */
static bool allow_is_idle(const struct config *c)
{
    return c->allow_domains.n + c->allow_addresses.n > 0 &&
           c->trusted_authserv.n == 0 && c->outgoing;
}

static bool never_ages(const struct config_list *list)
{
    return list->inactive_after_s > 0 && list->period_s == 0;
}

static bool is_resting(const struct config_rule *rule)
{
    return rule->enabled && rule->until_s > 0 &&
           clock_wall_us() / 1000000 >= rule->until_s;
}

static bool has_category(const struct config *c, const char *name)
{
    bool has = strcmp(name, "unknown") == 0; /* of lists without a group */

    for (size_t i = 0; !has && i < c->nlists; i++) {
        has = strcmp(c->lists[i].category, name) == 0;
    }
    return has;
}

static bool asks_for(const struct config_rule *rule, const char *name)
{
    const struct config_condition *v = NULL;

    for (size_t i = 0; (v = config_rule_condition(rule, i)) != NULL; i++) {
        if (v->kind == CONDITION_RULE && strcmp(v->word, name) == 0) {
            return true;
        }
    }
    return false;
}

/* A live rule sees no rule in shadow, and nobody sees one that is disabled. */
static bool is_asked_in_vain(const struct config *c, const struct config_rule *of)
{
    bool is = false;

    for (size_t i = 0; !is && i < c->nrules && (!of->enabled || of->shadow); i++) {
        const struct config_rule *rule = &c->rules[i];

        is = rule->enabled && (!of->enabled || !rule->shadow) &&
             asks_for(rule, of->name);
    }
    return is;
}

static bool asks_for_no_category(const struct config *c, const struct config_rule *rule)
{
    const struct config_condition *v = NULL;

    for (size_t i = 0; rule->enabled && (v = config_rule_condition(rule, i)) != NULL;
         i++) {
        if (v->kind == CONDITION_CATEGORY && !has_category(c, v->word)) {
            return true;
        }
    }
    return false;
}

/* A default threshold above one that the administrator set for a harsher action. */
static bool is_idle(const struct config *c, enum action a)
{
    bool is_default = config_key_source(c, offsetof(struct config, threshold) +
                                               (size_t)a * sizeof(c->threshold[0]))
                          .file == 0;

    for (enum action harsher = a + 1; is_default && harsher < ACTION_COUNT; harsher++) {
        if (c->threshold[harsher] < c->threshold[a] && c->threshold[a] < HUGE_VAL) {
            return true;
        }
    }
    return false;
}

static bool has_text(const struct config_strings *strings, const char *text)
{
    bool has = false;

    for (size_t i = 0; !has && i < strings->n; i++) {
        has = strcasecmp(strings->v[i], text) == 0;
    }
    return has;
}

/* Somebody uses the trap: a whole domain of ours, a user with settings, a report address. */
static bool is_used(const struct config *c, const char *trap)
{
    const struct config_report_mail *r = &c->report_mail;
    bool is = (*trap == '@' && has_text(&c->protected_domains, trap + 1)) ||
              has_text(&r->spam, trap) || has_text(&r->ham, trap);

    for (size_t i = 0; !is && i < c->nusers; i++) {
        is = strcasecmp(c->users[i].name, trap) == 0;
    }
    return is;
}

/* Nobody can be proved to be a feedback loop, or its reports have no address. */
static bool feedback_is_idle(const struct config *c)
{
    const struct config_report_mail *r = &c->report_mail;

    return r->senders.n > 0 &&
           (c->trusted_authserv.n == 0 || r->spam.n + r->ham.n == 0);
}

static bool advice_on_reports(const struct config *c, size_t *i,
                              struct config_advice *ret)
{
    if (feedback_is_idle(c) && (*i)-- == 0) {
        *ret = (struct config_advice){
            "", "",
            "feedback.senders has no effect: trusted_authserv is empty, so no sender is "
            "proved, or report_addresses has no address to which reports come",
            "set both keys"};
        return true;
    }
    for (size_t k = 0; k < c->report_mail.traps.n; k++) {
        if (is_used(c, c->report_mail.traps.v[k]) && (*i)-- == 0) {
            *ret = (struct config_advice){
                "trap ", c->report_mail.traps.v[k],
                "it gets wanted mail, which is reported as spam: it is a domain of "
                "protected, a user, or a report address",
                "take it out of traps"};
            return true;
        }
    }
    return false;
}

/* Settings of the state folder that have no effect. */
static bool advice_on_tuning(const struct config *c, size_t *i,
                             struct config_advice *ret)
{
    for (size_t k = 0; c->tuning != NULL && k < c->tuning->n; k++) {
        if (c->tuning->v[k].is_gone && (*i)-- == 0) {
            *ret = (struct config_advice){
                "", c->tuning->v[k].text,
                "the configuration has no such rule any longer, so this setting of "
                "`gillnet tune` has no effect",
                "take it out: gillnet tune set KEY="};
            return true;
        }
    }
    return false;
}

bool config_advice(const struct config *c, size_t i, struct config_advice *ret)
{
    if (advice_on_tuning(c, &i, ret)) {
        return true;
    }
    if (allow_is_idle(c) && i-- == 0) {
        *ret = (struct config_advice){
            "", "",
            "allow.domains and allow.addresses let no mail from outside through: nothing "
            "proves who sent it, because trusted_authserv is empty",
            "put OpenDKIM and OpenDMARC in front of gillnetd, and their AuthservID (as a "
            "rule the host's name) into trusted_authserv; gillnet setup postfix or gillnet "
            "setup sendmail does the latter"};
        return true;
    }
    for (enum action a = ACTION_HEADER; a < ACTION_COUNT; a++) {
        if (is_idle(c, a) && i-- == 0) {
            *ret = (struct config_advice){
                "thresholds.", action_name(a),
                "its default never applies, because a harsher action has a lower "
                "threshold",
                "set it below that one, or to \"off\""};
            return true;
        }
    }
    if (advice_on_reports(c, &i, ret)) {
        return true;
    }
    for (size_t k = 0; k < c->nlists; k++) {
        if (never_ages(&c->lists[k]) && i-- == 0) {
            *ret = (struct config_advice){
                "list ", c->lists[k].name,
                "inactive_after has no effect without period: entries that do not age by "
                "periods are never dropped",
                "set period, such as \"7d\""};
            return true;
        }
    }
    for (size_t k = 0; k < c->nrules; k++) {
        if (is_resting(&c->rules[k]) && i-- == 0) {
            *ret = (struct config_advice){"rule ", c->rules[k].name,
                                          "its last day (until) is over, so it rests",
                                          "set a later day, or remove the rule"};
            return true;
        }
        if (is_asked_in_vain(c, &c->rules[k]) && i-- == 0) {
            *ret = (struct config_advice){
                "rule ", c->rules[k].name,
                "other rules ask for it, but it is disabled, or in shadow while they are "
                "not: such a condition never holds",
                "enable it, or take it out of their conditions"};
            return true;
        }
        if (asks_for_no_category(c, &c->rules[k]) && i-- == 0) {
            *ret = (struct config_advice){
                "rule ", c->rules[k].name,
                "it asks for a category that no list of the configuration has: that "
                "condition never holds",
                "mend the name, or give a list that category"};
            return true;
        }
    }
    return false;
}
