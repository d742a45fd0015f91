/* evidence - the atoms of a message that are decided from facts. */
#include "core/verdict/rule/rule_internal.h"

struct gathering {
    const struct ruleset *s;
    struct work *w;
    uint32_t feature; /* at hand */
};

static void count_atom(struct gathering *g, uint32_t atom)
{
    struct work *w = g->w;

    w->hits[atom]++;
    if (w->first[atom] == RULE_NONE) {
        w->first[atom] = g->feature;
    }
}

/* The value at hand meets a test. One with several tests counts when it meets them all. */
static void on_test(void *context, uint32_t test)
{
    struct gathering *g = context;
    struct work *w = g->w;
    uint32_t atom = g->s->tests[test];
    uint32_t now = g->feature + 1;

    if (w->seen[test] == now) {
        return;
    }
    w->seen[test] = now;
    if (w->met_of[atom] != now) {
        w->met_of[atom] = now;
        w->met[atom] = 0;
    }
    if (++w->met[atom] == g->s->atoms[atom].ntests) {
        count_atom(g, atom);
    }
}

static void on_pattern(void *context, uint32_t test, bool given_up)
{
    struct gathering *g = context;

    if (given_up) {
        g->w->given_up[g->s->tests[test]] = 1;
    } else {
        on_test(context, test);
    }
}

static void gather_feature(struct gathering *g, const struct feature *f)
{
    const struct ruleset *s = g->s;
    const struct value_plan *plan = NULL;

    if (f->type >= VALUE_TABLE_TYPES) {
        return;
    }
    plan = &s->values.plans[f->type];
    if (plan->has_values || plan->longest > 0) {
        value_table_match(&s->values, f->type, f->text, on_test, g);
    }
    if (s->patterns[f->type] != NULL) {
        pattern_match(s->patterns[f->type], g->w->patterns, f->text, on_pattern, g);
    }
    for (uint32_t a = s->presence[f->type]; a != RULE_NONE;
         a = s->atoms[a].next_presence) {
        count_atom(g, a);
    }
}

static enum truth truth_of(bool is)
{
    return is ? IS_TRUE : IS_FALSE;
}

/* More values may match than are known to, where PCRE2 gave up on some. */
static enum truth feature_state(const struct work *w, const struct atom *atom, size_t i)
{
    uint32_t n = w->hits[i];

    if (n > atom->from->most) {
        return IS_FALSE;
    }
    if (w->given_up[i] != 0) {
        return n >= atom->from->least && atom->from->most == CONDITION_UNBOUNDED
                   ? IS_TRUE
                   : IS_UNDECIDED;
    }
    return truth_of(n >= atom->from->least);
}

/* By name, or by category. */
static enum truth list_state(const struct rule_case *c, const struct atom *atom,
                             uint32_t *retfirst)
{
    for (size_t i = 0; i < c->nlists; i++) {
        const char *name = atom->kind == CONDITION_LIST ? c->lists[i].name
                                                        : c->lists[i].category;

        if (name != NULL && strcmp(name, atom->from->word) == 0) {
            *retfirst = (uint32_t)i;
            return IS_TRUE;
        }
    }
    return IS_FALSE;
}

static enum truth state_of(const struct rule_case *c, const struct work *w,
                           const struct atom *atom, size_t i, uint32_t *retfirst)
{
    switch (atom->kind) {
    case CONDITION_TRAIT:
    case CONDITION_FEATURE:
        return feature_state(w, atom, i);
    case CONDITION_LIST:
    case CONDITION_CATEGORY:
        return list_state(c, atom, retfirst);
    case CONDITION_IDENTITY:
        return truth_of(identity_has(c->identity, (enum identity_word)atom->word));
    case CONDITION_DIRECTION:
        return truth_of(c->is_outgoing == (atom->from->direction == DIRECTION_OUT));
    case CONDITION_SIZE:
        return truth_of(c->bytes >= atom->from->size_least &&
                        c->bytes <= atom->from->size_most);
    case CONDITION_TEXT:
        return rule_text_state(c->text, (uint32_t)i);
    default: /* of counts and rules: evaluate.c */
        return IS_FALSE;
    }
}

void evidence_gather(const struct ruleset *s, const struct rule_case *c, struct work *w)
{
    struct gathering g = {s, w, 0};
    size_t n = featureset_count(c->features);

    for (; g.feature < n; g.feature++) {
        gather_feature(&g, featureset_at(c->features, g.feature));
    }
    for (size_t i = 0; i < s->natoms; i++) {
        w->state[i] = (uint8_t)state_of(c, w, &s->atoms[i], i, &w->first[i]);
    }
}
