#include "core/hub/status/link_patterns.h"

#include <stdatomic.h>

#include "core/base/log.h"
#include "core/verdict/rule/rule.h"

struct link_patterns {
    struct config *config;
    struct config alone; /* a shallow copy of it, with the rules for emergency mode */
    atomic_uint refs;
};

static void free_patterns(struct link_patterns *p)
{
    if (p->alone.ruleset != NULL) {
        p->alone.ruleset_free(&p->alone.ruleset);
    }
    free(p->alone.rules);
    config_release(&p->config);
    free(p);
}

static void take_rules(const struct config *config, struct config *ret)
{
    *ret = *config;
    ret->ruleset = NULL;
    ret->nrules = 0;
    ret->rules = calloc(config->nrules + 1, sizeof(*ret->rules));
    for (size_t i = 0; ret->rules != NULL && i < config->nrules; i++) {
        if (config->rules[i].only_in_emergency) {
            ret->rules[ret->nrules++] = config->rules[i];
        }
    }
}

struct link_patterns *link_patterns_new(const struct config *config)
{
    struct link_patterns *p = calloc(1, sizeof(*p));
    struct config_errors errors = {0, NULL};

    if (p == NULL) {
        return NULL;
    }
    p->config = config_acquire(config);
    atomic_init(&p->refs, 1);
    take_rules(config, &p->alone);
    if (p->alone.nrules > 0 && ruleset_compile(&p->alone, &errors) != ERR_OK) {
        log_warn("event=emergency error=%s: the API does not use the rules for "
                 "emergency mode",
                 errors.n > 0 ? errors.v[0].text : "memory");
        config_errors_free(&errors);
    }
    return p;
}

bool link_patterns_is_of(const struct link_patterns *p, const struct config *config)
{
    return p != NULL && p->config == config;
}

struct link_patterns *link_patterns_acquire(struct link_patterns *p)
{
    if (p != NULL) {
        atomic_fetch_add(&p->refs, 1);
    }
    return p;
}

void link_patterns_release(struct link_patterns **p)
{
    if (*p != NULL && atomic_fetch_sub(&(*p)->refs, 1) == 1) {
        free_patterns(*p);
    }
    *p = NULL;
}

static void note_first(void *context, const struct rule_symbol *s)
{
    const char **first = context;

    if (*first == NULL && !s->is_shadow && s->rule != SIZE_MAX) {
        *first = s->name;
    }
}

const char *link_patterns_find(const struct link_patterns *p, struct slice url,
                               struct arena *arena)
{
    struct featureset *features =
        p->alone.ruleset == NULL ? NULL : featureset_new(arena, 1);
    const char *found = NULL;

    if (features == NULL || !featureset_add(features, FEATURE_url, url)) {
        return NULL;
    }
    struct rule_case c = {.config = &p->alone,
                          .features = features,
                          .is_emergency = true,
                          .arena = arena,
                          .on_symbol = note_first,
                          .context = &found};
    (void)ruleset_judge(&c);
    return found;
}
