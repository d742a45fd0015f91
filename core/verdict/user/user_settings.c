#include "core/verdict/user/user_settings.h"

/* One level while its words are read. Senders: the first hit in this order decides. */
enum { NAME_SHOWN = 40 /* as many bytes of a name as a symbol has at most */ };
enum { BY_ALLOW_ADDRESS, BY_BLOCK_ADDRESS, BY_ALLOW_DOMAIN, BY_BLOCK_DOMAIN, BY_COUNT };

struct level {
    struct user_settings *s;
    const struct allow_case *message;
    bool has_hit[BY_COUNT];
    struct slice hit[BY_COUNT];
};

void user_settings_begin(struct user_settings *s, const struct config *config)
{
    *s = (struct user_settings){.nchanges = 0};
    user_thresholds_begin(&s->thresholds, config);
    user_thresholds_get(&s->thresholds, s->threshold);
}

static struct user_change *change_of(struct user_settings *s,
                                     const struct user_setting *set)
{
    for (size_t i = 0; i < s->nchanges; i++) {
        if (s->changes[i].is_list == set->is_list &&
            slice_eq(s->changes[i].name, set->name)) {
            return &s->changes[i];
        }
    }
    if (s->nchanges == USER_CHANGES_MAX) {
        s->is_damaged = true;
        return NULL;
    }
    struct user_change *c = &s->changes[s->nchanges++];
    *c = (struct user_change){.is_list = set->is_list, .name = set->name};
    return c;
}

static void take_change(struct user_settings *s, const struct user_setting *set)
{
    struct user_change *c = change_of(s, set);
    enum user_flag flag = set->flag ? USER_FLAG_YES : USER_FLAG_NO;

    if (c == NULL) {
        return;
    }
    if (set->key == USER_SCORE) {
        c->has_score = true;
        c->score = set->number;
    } else if (set->key == USER_SHADOW) {
        c->shadow = flag;
    } else {
        c->enabled = flag;
    }
}

static void take_sender(struct level *l, const struct user_setting *set, unsigned by)
{
    bool is_domain = by == BY_ALLOW_DOMAIN || by == BY_BLOCK_DOMAIN;
    bool needs_proof = by == BY_ALLOW_ADDRESS || by == BY_ALLOW_DOMAIN;
    struct slice rest = set->values;

    while (!l->has_hit[by] && rest.p != NULL) {
        l->has_hit[by] = allow_has_sender(l->message, slice_cut(&rest, ','), is_domain,
                                          needs_proof, &l->hit[by]);
    }
}

static void take_setting(struct level *l, const struct user_setting *set)
{
    struct user_settings *s = l->s;

    switch (set->key) {
    case USER_SENSITIVITY:
    case USER_THRESHOLD:
        user_thresholds_take(&s->thresholds, set);
        break;
    case USER_SCORE:
    case USER_SHADOW:
    case USER_ENABLED:
        take_change(s, set);
        break;
    case USER_ALLOW_ADDRESSES:
        take_sender(l, set, BY_ALLOW_ADDRESS);
        break;
    case USER_ALLOW_DOMAINS:
        take_sender(l, set, BY_ALLOW_DOMAIN);
        break;
    case USER_BLOCK_ADDRESSES:
        take_sender(l, set, BY_BLOCK_ADDRESS);
        break;
    case USER_BLOCK_DOMAINS:
        take_sender(l, set, BY_BLOCK_DOMAIN);
        break;
    }
}

static void take_word(struct level *l, struct slice word)
{
    struct user_setting set;

    if (word.n == 0) {
        return;
    }
    if (user_setting_parse(word, &set, NULL) != ERR_OK) {
        l->s->is_damaged = true;
    } else {
        take_setting(l, &set);
    }
}

static void take_words(struct level *l, struct slice words,
                       const struct config_strings *set)
{
    while (words.p != NULL) {
        take_word(l, slice_cut(&words, ' '));
    }
    for (size_t i = 0; set != NULL && i < set->n; i++) {
        take_word(l, slice_str(set->v[i]));
    }
}

void user_settings_take(struct user_settings *s, const struct allow_case *message,
                        struct slice words, const struct config_strings *set)
{
    struct level l = {.s = s, .message = message};

    user_thresholds_level(&s->thresholds);
    take_words(&l, words, set);
    for (unsigned by = 0; by < BY_COUNT; by++) {
        if (l.has_hit[by]) {
            s->sender = by == BY_ALLOW_ADDRESS || by == BY_ALLOW_DOMAIN
                            ? USER_SENDER_ALLOWED
                            : USER_SENDER_BLOCKED;
            s->value = l.hit[by];
            return;
        }
    }
}

void user_settings_end(struct user_settings *s)
{
    user_thresholds_get(&s->thresholds, s->threshold);
}

/* ---- scores ---- */

/* Whether the symbol is of that rule or list; its name is a prefix and the name in upper case. */
static bool is_about(const struct user_change *c, const struct symbol *symbol)
{
    static const char *const of_rules[] = {"RULE_", "BULK_", "TRAIT_",
                                           "BLOCKED_PATTERN_"};
    static const char *const of_lists[] = {"LIST_"};
    const char *const *prefixes = c->is_list ? of_lists : of_rules;
    size_t n = c->is_list ? LENGTH(of_lists) : LENGTH(of_rules);
    char name[VERDICT_SYMBOL_NAME];

    for (size_t i = 0; i < n; i++) {
        (void)snprintf(name, sizeof(name), "%s%.*s", prefixes[i],
                       SLICE_ARGS(slice_head(c->name, NAME_SHOWN)));
        verdict_symbol_name(name);
        if (strcmp(symbol->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The score of the configuration, and whether the rule or list is in shadow there. */
static double site_score(const struct config *config, const struct user_change *c,
                         bool *retshadow)
{
    *retshadow = false;
    if (c->is_list) {
        const struct config_list *list = config_list_find(config, c->name);
        *retshadow = list->shadow;
        return list->weight;
    }
    for (size_t i = 0; i < config->nrules; i++) {
        if (slice_eq(c->name, slice_str(config->rules[i].name))) {
            *retshadow = config->rules[i].shadow;
            return config->rules[i].score;
        }
    }
    return 0;
}

/* Values that an allow list takes from the others score for nobody. */
static bool is_exempt(const struct symbol *symbol)
{
    return slice_has_prefix(symbol->detail, SLICE_LIT("exempt")) ||
           slice_has_prefix(symbol->detail, SLICE_LIT("allow"));
}

static double changed_score(const struct config *config, const struct user_change *c,
                            const struct symbol *symbol)
{
    bool is_shadow = false;
    double site = site_score(config, c, &is_shadow);

    if (c->enabled == USER_FLAG_NO || c->shadow == USER_FLAG_YES) {
        return 0;
    }
    if (is_shadow ? c->shadow != USER_FLAG_NO || is_exempt(symbol)
                  : symbol->score == 0) {
        return symbol->score;
    }
    if (!c->has_score) {
        return is_shadow ? site : symbol->score;
    }
    /* a hit on a list of a peer weighs a part of the list's weight */
    return c->is_list && !is_shadow && site != 0 ? symbol->score * (c->score / site)
                                                 : c->score;
}

double user_settings_score(const struct user_settings *s, const struct config *config,
                           const struct symbol *symbol)
{
    for (size_t i = 0; i < s->nchanges; i++) {
        if (is_about(&s->changes[i], symbol)) {
            return changed_score(config, &s->changes[i], symbol);
        }
    }
    return symbol->score;
}
