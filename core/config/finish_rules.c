/* finish_rules - each rule asks something, and only of names that there are. */
#include "core/config/condition.h"
#include "core/config/config_internal.h"

enum { RULE_LABEL_MAX = 64 };

struct checking {
    struct config *c;
    const struct config_types *types; /* may be NULL */
    struct config_errors *errors;
    size_t rule;
};

/* Where the field of a rule was set, or the rule. */
static struct config_source rule_source(const struct checking *k, size_t offset)
{
    const struct config_group_origin *o = &k->c->origin->group[SCHEMA_RULES][k->rule];
    struct config_source source = config_group_source(SCHEMA_RULES, o, offset);

    return source.line != 0 ? source : o->named;
}

static void refuse(const struct checking *k, struct config_source at, enum err code,
                   const char *key, const char *what)
{
    config_errors_add(k->errors, code, config_file_name(k->c, at.file), at.line,
                      "rules.%s.%s: %s", k->c->rules[k->rule].name, key, what);
}

static struct config_source source_of(const struct config_condition *v)
{
    return (struct config_source){v->file, v->line};
}

static void refuse_name(const struct checking *k, struct config_source at,
                        const char *key, const char *name, const char *what)
{
    char text[ERRINFO_TEXT_MAX];

    (void)snprintf(text, sizeof(text), "\"%.80s\" %s", name, what);
    refuse(k, at, ERR_NOT_FOUND, key, text);
}

#define NOT_COUNTED \
    "is not a feature type that is counted; `gillnet extract --types` shows them"
#define NO_TRAIT   "is not a trait; `gillnet extract --types` shows them"
#define NO_FEATURE "is not a feature type; `gillnet extract --types` shows them"
#define NO_WORD    "is not a word of identity; gillnet.conf(5) has them"

static bool is_unknown(config_is_type_fn *is_known, const char *name)
{
    return is_known != NULL && !is_known(slice_str(name));
}

/* The names in one condition. */
static void check_names(const struct checking *k, const struct config_condition *v)
{
    const struct config_types *t = k->types;
    const char *key = condition_kind_name(v->kind);

    if (v->kind == CONDITION_TRAIT && is_unknown(t->is_trait, v->word)) {
        refuse_name(k, source_of(v), key, v->word, NO_TRAIT);
    } else if (v->kind == CONDITION_FEATURE && is_unknown(t->is_feature, v->word)) {
        refuse_name(k, source_of(v), key, v->word, NO_FEATURE);
    } else if ((v->kind == CONDITION_COUNTED || v->kind == CONDITION_JUDGED) &&
               is_unknown(t->is_counted, v->word)) {
        refuse_name(k, source_of(v), key, v->word, NOT_COUNTED);
    } else if (v->kind == CONDITION_IDENTITY && is_unknown(t->is_identity, v->word)) {
        refuse_name(k, source_of(v), key, v->word, NO_WORD);
    }
}

/* A condition on distinct values that are not counted would never hold. */
static void check_distinct(const struct checking *k, const unsigned *distinct,
                           const char *type, struct config_source at)
{
    static const char *const keys[RULE_DISTINCTS] = {"recipients", "networks",
                                                     "senders"};

    for (size_t i = 0; i < RULE_DISTINCTS; i++) {
        if (distinct[i] > 0 && !config_strings_has(&k->c->count.distinct_types, type)) {
            char text[ERRINFO_TEXT_MAX];

            (void)snprintf(text, sizeof(text),
                           "distinct %s of %s are not counted, the rule would never "
                           "apply; add \"%s\" to count.distinct_types",
                           keys[i], type, type);
            refuse(k, at, ERR_RANGE, keys[i], text);
        }
    }
}

/* A shipped rule whose distinct counts a file removes rests without an error. */
static bool is_shipped(const struct checking *k, unsigned file)
{
    return file <= k->c->origin->nshipped;
}

static void check_conditions(const struct checking *k,
                             const struct config_conditions *conditions)
{
    for (size_t i = 0; i < conditions->n; i++) {
        const struct config_condition *v = &conditions->v[i];

        if (k->types != NULL) {
            check_names(k, v);
        }
        if (v->kind == CONDITION_COUNTED && !is_shipped(k, v->file)) {
            check_distinct(k, v->distinct, v->word, source_of(v));
        }
        if (v->kind == CONDITION_JUDGED && !is_shipped(k, v->file) &&
            !config_strings_has(&k->c->count.judged_types, v->word)) {
            refuse_name(k, source_of(v), "judged", v->word,
                        "is not in count.judged_types, so the rule would never apply; add "
                        "it there");
        }
    }
}

/* type and trait of the rule itself. */
static void check_brief(const struct checking *k)
{
    const struct config_rule *r = &k->c->rules[k->rule];
    struct config_source type = rule_source(k, offsetof(struct config_rule, type));
    struct config_source trait = rule_source(k, offsetof(struct config_rule, trait));

    if (*r->type != '\0' && k->types != NULL &&
        is_unknown(k->types->is_counted, r->type)) {
        refuse_name(k, type, "type", r->type, NOT_COUNTED);
    }
    if (*r->trait != '\0' && k->types != NULL &&
        is_unknown(k->types->is_trait, r->trait)) {
        refuse_name(k, trait, "trait", r->trait, NO_TRAIT);
    }
    if (!is_shipped(k, type.file)) {
        check_distinct(k, r->distinct, r->type, type);
    }
}

/* Conditions that stand directly in the rule's list. */
static unsigned parts_of(const struct config_conditions *c)
{
    unsigned n = 0;

    for (size_t i = 0; i < c->n; i = c->v[i].end) {
        n++;
    }
    return n;
}

static bool has_conditions(const struct checking *k)
{
    const struct config_rule *r = &k->c->rules[k->rule];
    const struct config_group_origin *o = &k->c->origin->group[SCHEMA_RULES][k->rule];
    const size_t fields[] = {offsetof(struct config_rule, all),
                             offsetof(struct config_rule, any),
                             offsetof(struct config_rule, none)};
    bool has = r->all.n + r->any.n + r->none.n > 0;

    for (size_t i = 0; i < LENGTH(fields); i++) { /* written, and refused */
        bool is_empty = config_group_source(SCHEMA_RULES, o, fields[i]).line == 0;

        has = has || (!is_empty && k->errors->n > 0);
    }
    return has;
}

static void check_rule(const struct checking *k)
{
    const struct config_rule *r = &k->c->rules[k->rule];
    struct config_source least = rule_source(k, offsetof(struct config_rule, any_least));

    if (*r->type == '\0' && *r->trait == '\0' && !has_conditions(k)) {
        refuse(k, rule_source(k, offsetof(struct config_rule, type)), ERR_NOT_FOUND,
               "all",
               "the rule has no condition; write all = ( { trait = \"limit_cpu\"; } ), "
               "or type = \"text_band\", or others");
    }
    if (r->any_least > 1 && r->any_least > parts_of(&r->any)) {
        refuse(k, least, ERR_RANGE, "any_least",
               "above the number of conditions in any: the rule would never apply");
    }
    check_brief(k);
    check_conditions(k, &r->all);
    check_conditions(k, &r->any);
    check_conditions(k, &r->none);
}

/* The names are a key of the configuration; each must be a counted type. */
static void check_counted(const struct checking *k, const struct config_strings *names,
                          const char *key)
{
    size_t offset = (size_t)((const char *)names - (const char *)k->c);
    struct config_source at = config_key_source(k->c, offset);

    for (size_t i = 0; i < names->n; i++) {
        if (!k->types->is_counted(slice_str(names->v[i]))) {
            config_errors_add(k->errors, ERR_NOT_FOUND, config_file_name(k->c, at.file),
                              at.line, "%s: \"%s\" " NOT_COUNTED, key, names->v[i]);
        }
    }
}

void config_finish_rules(struct config *c, const struct config_types *types,
                         struct config_errors *errors)
{
    struct checking k = {c, types, errors, 0};

    if (types != NULL) {
        check_counted(&k, &c->count.distinct_types, "count.distinct_types");
        check_counted(&k, &c->count.judged_types, "count.judged_types");
    }
    for (; k.rule < c->nrules; k.rule++) {
        check_rule(&k);
    }
}
