/* compile - the rules of a configuration: their names, order and trees. */
#include "core/verdict/rule/atoms.h"

enum {
    OWN_NODES = 5 /* of a rule beside its conditions: itself, type, trait, any, none */
};

struct compiling {
    struct atoms atoms;
    struct ruleset *set;
    struct config *config;
    struct config_errors *errors;
    struct named_rule *names; /* sorted */
    /* of the rule at hand */
    struct made_rule *rule;
    struct node *nodes;
};

struct named_rule {
    const char *name;
    uint32_t rule;
};

/* ---- names of rules ---- */

static int rule_name_cmp(const void *a, const void *b)
{
    return strcmp(((const struct named_rule *)a)->name,
                  ((const struct named_rule *)b)->name);
}

static bool sort_names(struct compiling *k)
{
    k->names = calloc(k->config->nrules + 1, sizeof(k->names[0]));
    if (k->names == NULL) {
        return atoms_refuse_nomem(&k->atoms);
    }
    for (size_t i = 0; i < k->config->nrules; i++) {
        k->names[i] = (struct named_rule){k->config->rules[i].name, (uint32_t)i};
    }
    qsort(k->names, k->config->nrules, sizeof(k->names[0]), rule_name_cmp);
    return true;
}

static uint32_t find_rule(const struct compiling *k, const char *name)
{
    struct named_rule wanted = {name, 0};
    const struct named_rule *found = bsearch(&wanted, k->names, k->config->nrules,
                                             sizeof(k->names[0]), rule_name_cmp);

    return found != NULL ? found->rule : RULE_NONE;
}

/* ---- order ---- */

typedef bool condition_fn(struct compiling *k, uint32_t rule,
                          const struct config_condition *v);

static bool each_reference(struct compiling *k, uint32_t rule, condition_fn *fn)
{
    const struct config_rule *r = &k->config->rules[rule];
    const struct config_condition *v = NULL;
    bool ok = true;

    for (size_t i = 0; (v = config_rule_condition(r, i)) != NULL; i++) {
        if (v->kind == CONDITION_RULE) {
            ok = fn(k, rule, v) && ok;
        }
    }
    return ok;
}

static bool check_reference(struct compiling *k, uint32_t rule,
                            const struct config_condition *v)
{
    (void)rule;
    if (find_rule(k, v->word) != RULE_NONE) {
        return true;
    }
    atoms_refuse(&k->atoms, v, "there is no such rule; name one, or write it");
    return false;
}

/* Whether the rule that the condition names has its rank. */
static bool is_ranked(struct compiling *k, uint32_t rule,
                      const struct config_condition *v)
{
    uint32_t other = find_rule(k, v->word);

    (void)rule;
    return other == RULE_NONE || !k->config->rules[other].enabled ||
           k->set->rank_of[other] != RULE_NONE;
}

static bool refuse_circle(struct compiling *k, uint32_t rule,
                          const struct config_condition *v)
{
    if (!is_ranked(k, rule, v)) {
        atoms_refuse(
            &k->atoms, v,
            "the rule is in a circle, or waits for one; a rule may not lead back "
            "to itself");
    }
    return true;
}

/* Each pass ranks, in the order of the configuration, the rules whose references have ranks.
 * References mostly point back, so one pass or two do. */
static void rank_rules(struct compiling *k)
{
    struct ruleset *s = k->set;
    size_t before = 0;
    size_t enabled = 0;

    for (size_t i = 0; i < k->config->nrules; i++) {
        s->rank_of[i] = RULE_NONE;
        enabled += k->config->rules[i].enabled;
    }
    do {
        before = s->nrules;
        for (uint32_t i = 0; i < k->config->nrules; i++) {
            if (k->config->rules[i].enabled && s->rank_of[i] == RULE_NONE &&
                each_reference(k, i, is_ranked)) {
                s->rank_of[i] = (uint32_t)s->nrules;
                s->rules[s->nrules++].rule = i;
            }
        }
    } while (s->nrules > before && s->nrules < enabled);
    for (uint32_t i = 0; i < k->config->nrules; i++) {
        if (k->config->rules[i].enabled && s->rank_of[i] == RULE_NONE) {
            (void)each_reference(k, i, refuse_circle);
        }
    }
    s->stat.rules = enabled;
}

/* ---- trees ---- */

/* A live rule sees no shadow rule, and nobody one that is off. */
static uint32_t reference_of(const struct compiling *k,
                             const struct config_condition *v)
{
    uint32_t other = find_rule(k, v->word);
    const struct config_rule *r = other != RULE_NONE ? &k->config->rules[other] : NULL;

    return r != NULL && r->enabled &&
                   (!r->shadow || k->config->rules[k->rule->rule].shadow)
               ? other
               : RULE_NONE;
}

static struct node *add_node(struct compiling *k, enum condition_kind kind,
                             uint16_t parent, unsigned least)
{
    uint16_t i = k->rule->nnodes++;
    struct node *n = &k->nodes[i];

    *n = (struct node){.kind = kind,
                       .parent = parent,
                       .least = (uint16_t)least,
                       .is_negated =
                           i > 0 && k->nodes[parent].is_negated !=
                                        (k->nodes[parent].kind == CONDITION_NONE)};
    if (i > 0) {
        k->nodes[parent].nparts++;
    }
    return n;
}

static bool reads_judgements(const struct compiling *k, const struct atom *a)
{
    return a->kind == CONDITION_RULE && a->of_rule != RULE_NONE &&
           k->set->rules[k->set->rank_of[a->of_rule]].reads_judgements;
}

static bool add_leaf(struct compiling *k, const struct config_condition *v,
                     uint16_t parent)
{
    struct node *n = add_node(k, v->kind, parent, 0);

    n->atom = atoms_of(&k->atoms, v,
                       v->kind == CONDITION_RULE ? reference_of(k, v) : RULE_NONE);
    k->rule->asks_counts = k->rule->asks_counts || v->kind == CONDITION_COUNTED;
    k->rule->reads_judgements =
        k->rule->reads_judgements || v->kind == CONDITION_JUDGED ||
        (n->atom != RULE_NONE && reads_judgements(k, &k->set->atoms[n->atom]));
    return n->atom != RULE_NONE;
}

/* The conditions of a list below a node of the rule. */
static bool add_conditions(struct compiling *k, const struct config_conditions *c,
                           uint16_t below)
{
    struct {
        unsigned end;
        uint16_t node;
    } open[CONDITION_DEPTH_MAX + 2] = {{UINT32_MAX, below}};
    size_t depth = 1;
    bool ok = true;

    for (unsigned i = 0; i < c->n; i++) {
        const struct config_condition *v = &c->v[i];

        while (i >= open[depth - 1].end) {
            depth--;
        }
        if (condition_is_group(v->kind)) {
            uint16_t at = k->rule->nnodes;

            (void)add_node(k, v->kind, open[depth - 1].node, v->any_least);
            open[depth].end = v->end;
            open[depth++].node = at;
        } else {
            ok = add_leaf(k, v, open[depth - 1].node) && ok;
        }
    }
    return ok;
}

static bool add_group(struct compiling *k, enum condition_kind kind, unsigned least,
                      const struct config_conditions *c)
{
    uint16_t at = k->rule->nnodes;

    if (c->n == 0) {
        return true;
    }
    (void)add_node(k, kind, 0, least);
    return add_conditions(k, c, at);
}

static bool is_set(const char *s)
{
    return s != NULL && *s != '\0';
}

/* type and trait of a rule, as conditions. */
static bool add_brief(struct compiling *k, const struct config_rule *r)
{
    struct config_condition *brief = &k->set->brief[2 * (size_t)k->rule->rule];
    bool ok = true;

    brief[0] = (struct config_condition){.kind = CONDITION_COUNTED,
                                         .word = r->type,
                                         .least = r->count,
                                         .most = CONDITION_UNBOUNDED,
                                         .window = r->window,
                                         .against = RULE_14D,
                                         .burst = r->burst};
    memcpy(brief[0].distinct, r->distinct, sizeof(r->distinct));
    brief[1] = (struct config_condition){.kind = CONDITION_TRAIT,
                                         .word = r->trait,
                                         .least = 1,
                                         .most = CONDITION_UNBOUNDED};
    for (size_t i = 0; i < 2; i++) {
        config_rule_place(k->config, k->rule->rule, &brief[i].file, &brief[i].line);
    }
    if (is_set(r->type)) {
        ok = add_leaf(k, &brief[0], 0);
    }
    return (!is_set(r->trait) || add_leaf(k, &brief[1], 0)) && ok;
}

/* It holds on counts and on facts that are no evidence of content. */
static bool is_of_counts(const struct compiling *k)
{
    bool has_counts = false;

    for (uint16_t i = 0; i < k->rule->nnodes; i++) {
        const struct node *n = &k->nodes[i];

        if (condition_is_group(n->kind) || n->is_negated ||
            n->kind == CONDITION_DIRECTION || n->kind == CONDITION_SIZE ||
            n->kind == CONDITION_IDENTITY) {
            continue;
        }
        uint32_t other =
            n->kind == CONDITION_RULE ? k->set->atoms[n->atom].of_rule : RULE_NONE;

        if (n->kind != CONDITION_COUNTED &&
            (other == RULE_NONE ||
             !k->set->rules[k->set->rank_of[other]].is_of_counts)) {
            return false;
        }
        has_counts = true;
    }
    return has_counts;
}

static bool set_group(const struct compiling *k, const struct config_rule *r)
{
    unsigned file = 0;
    unsigned line = 0;

    k->rule->group = RULE_NONE;
    for (uint32_t i = 0; is_set(r->group) && i < k->config->nrule_groups; i++) {
        if (strcmp(k->config->rule_groups[i].name, r->group) == 0) {
            k->rule->group = i;
            return true;
        }
    }
    if (!is_set(r->group)) {
        return true;
    }
    config_rule_place(k->config, k->rule->rule, &file, &line);
    config_refuse(
        k->config, k->errors, file, line,
        "rules.%s.group: there is no group \"%.40s\"; write rule_groups = ( { name "
        "= \"%.40s\"; cap = 2.0; } );",
        r->name, r->group, r->group);
    return false;
}

static bool make_rule(struct compiling *k, size_t rank)
{
    struct ruleset *s = k->set;
    const struct config_rule *r = NULL;

    k->rule = &s->rules[rank];
    r = &k->config->rules[k->rule->rule];
    k->rule->nodes = (uint32_t)s->nnodes;
    k->nodes = &s->nodes[s->nnodes];
    (void)add_node(k, CONDITION_ALL, 0, 0);
    bool ok = add_brief(k, r);
    ok = add_conditions(k, &r->all, 0) && ok;
    ok = add_group(k, CONDITION_ANY, r->any_least, &r->any) && ok;
    ok = add_group(k, CONDITION_NONE, 0, &r->none) && ok;
    ok = set_group(k, r) && ok;
    s->nnodes += k->rule->nnodes;
    bool is_brief = r->all.n + r->any.n + r->none.n == 0;
    k->rule->prefix = !is_brief ? "RULE_" : is_set(r->type) ? "BULK_" : "TRAIT_";
    k->rule->is_of_counts = ok && ((is_brief && is_set(r->type)) || is_of_counts(k));
    return ok;
}

/* ---- the whole ---- */

static size_t count_nodes(const struct config *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->nrules; i++) {
        n += OWN_NODES + c->rules[i].all.n + c->rules[i].any.n + c->rules[i].none.n;
    }
    return n;
}

static struct ruleset *make_set(const struct config *c)
{
    struct ruleset *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return NULL;
    }
    s->config = c;
    pthread_mutex_init(&s->lock, NULL);
    s->rules = calloc(c->nrules + 1, sizeof(s->rules[0]));
    s->rank_of = calloc(c->nrules + 1, sizeof(s->rank_of[0]));
    s->atom_of_rule = calloc(c->nrules + 1, sizeof(s->atom_of_rule[0]));
    s->nodes = calloc(count_nodes(c) + 1, sizeof(s->nodes[0]));
    s->brief = calloc(2 * c->nrules + 1, sizeof(s->brief[0]));
    s->model = pattern_work_new();
    if (s->rules == NULL || s->rank_of == NULL || s->atom_of_rule == NULL ||
        s->nodes == NULL || s->brief == NULL || s->model == NULL) {
        ruleset_free(&s);
    }
    return s;
}

static bool compile_all(struct compiling *k)
{
    size_t before = k->errors->n;

    if (!sort_names(k) || !atoms_begin(&k->atoms, count_nodes(k->config))) {
        return false;
    }
    for (uint32_t i = 0; i < k->config->nrules; i++) {
        (void)each_reference(k, i, check_reference);
    }
    rank_rules(k);
    for (size_t rank = 0; rank < k->set->nrules; rank++) {
        (void)make_rule(k, rank);
    }
    return atoms_end(&k->atoms) && k->errors->n == before &&
           (watch_rules(k->set) || atoms_refuse_nomem(&k->atoms));
}

enum err ruleset_compile(struct config *c, struct config_errors *errors)
{
    struct compiling k = {.set = make_set(c), .config = c, .errors = errors};
    bool ok = false;

    k.atoms = (struct atoms){.set = k.set, .config = c, .errors = errors};
    if (k.set == NULL) {
        (void)atoms_refuse_nomem(&k.atoms);
        return ERR_NOMEM;
    }
    ok = compile_all(&k);
    atoms_fini(&k.atoms);
    free(k.names);
    if (!ok) {
        ruleset_free(&k.set);
        return ERR_SYNTAX;
    }
    if (c->ruleset != NULL) {
        c->ruleset_free(&c->ruleset);
    }
    c->ruleset = k.set;
    c->ruleset_free = ruleset_free;
    return ERR_OK;
}

bool ruleset_keep(const struct config *c)
{
    const struct ruleset *s = c->ruleset;
    struct buf entries;
    bool ok = !s->stat.is_cached;

    buf_init(&entries, PATTERN_CACHE_MAX - HASH256_BYTES);
    for (size_t i = 0; i < VALUE_TABLE_TYPES && ok; i++) {
        ok = s->patterns[i] == NULL || pattern_set_pack(s->patterns[i], &entries);
    }
    ok = ok && (s->text == NULL || pattern_set_pack(s->text, &entries)) &&
         pattern_cache_write(c->state_dir, buf_slice(&entries));
    buf_fini(&entries);
    return ok;
}

void ruleset_free(struct ruleset **s)
{
    struct ruleset *was = *s;

    *s = NULL;
    if (was == NULL) {
        return;
    }
    work_free_all(was);
    pattern_work_free(&was->model);
    for (size_t i = 0; i < VALUE_TABLE_TYPES; i++) {
        pattern_set_free(&was->patterns[i]);
    }
    pattern_set_free(&was->text);
    value_table_free(&was->values);
    free(was->rules);
    free(was->rank_of);
    free(was->atom_of_rule);
    free(was->nodes);
    free(was->atoms);
    free(was->watchers);
    free(was->always);
    free(was->brief);
    free(was->tests);
    free(was->initial);
    free(was->facts);
    pthread_mutex_destroy(&was->lock);
    free(was);
}

void ruleset_stat(const struct ruleset *s, struct ruleset_stat *ret)
{
    *ret = s->stat;
}

bool ruleset_counts_type(const struct ruleset *s, uint16_t type)
{
    return s != NULL && type < VALUE_TABLE_TYPES && s->counts_type[type];
}

/* e: how the configuration was loaded. */
static enum err compile_loaded(enum err e, struct config **ret,
                               struct config_errors *reterrors)
{
    if (e == ERR_OK) {
        *reterrors = (struct config_errors){0, NULL};
        e = ruleset_compile(*ret, reterrors);
        if (e != ERR_OK) {
            config_release(ret);
        }
    }
    return e;
}

enum err ruleset_load(const char *file, struct config **ret,
                      struct config_errors *reterrors)
{
    enum err e = config_load(file, rule_config_types(), ret, reterrors);

    return compile_loaded(e, ret, reterrors);
}

bool ruleset_load_or_print(const char *program, const char *file, struct config **ret)
{
    struct config_errors errors = {0, NULL};
    char line[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];
    enum err e = config_load_start(file, rule_config_types(), ret, &errors);

    if (compile_loaded(e, ret, &errors) == ERR_OK) {
        config_print_tuning_fault(program, *ret);
        return true;
    }
    for (size_t i = 0; i < errors.n; i++) {
        (void)fprintf(stderr, "%s: %s\n", program,
                      errinfo_format(&errors.v[i], line, sizeof(line)));
    }
    config_errors_free(&errors);
    return false;
}
