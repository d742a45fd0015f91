/* watch - which atoms wake a rule: the cheapest set of which one is not false when it holds. */
#include "core/base/array.h"
#include "core/verdict/rule/rule_internal.h"

enum { COST_NEVER = 1 << 20 };

static unsigned cost_of_atom(const struct atom *a)
{
    switch (a->kind) {
    case CONDITION_TEXT:
    case CONDITION_LIST:
    case CONDITION_RULE:
    case CONDITION_CATEGORY:
        return 1;
    case CONDITION_TRAIT:
        return 2;
    case CONDITION_FEATURE:
        return a->from->least == 0 ? COST_NEVER : a->ntests > 0 ? 2 : 5;
    case CONDITION_COUNTED:
        return a->from->least == 0 ? COST_NEVER : 3;
    case CONDITION_JUDGED:
        return 4;
    case CONDITION_IDENTITY:
        return 6;
    default:
        return 7;
    }
}

struct waking {
    unsigned cost[RULE_NODES_MAX];
    uint16_t best[RULE_NODES_MAX]; /* part of an `all` */
    bool is_chosen[RULE_NODES_MAX];
};

/* From the leaves up: the cheapest way to know that a node is false. */
static void price_nodes(const struct ruleset *s, const struct made_rule *r,
                        struct waking *w)
{
    const struct node *nodes = &s->nodes[r->nodes];

    for (size_t i = 0; i < r->nnodes; i++) {
        w->cost[i] = nodes[i].kind == CONDITION_ANY ? 0 : COST_NEVER;
    }
    for (size_t i = r->nnodes; i-- > 0;) {
        const struct node *n = &nodes[i];
        unsigned *up = &w->cost[n->parent];

        if (!condition_is_group(n->kind)) {
            w->cost[i] = cost_of_atom(&s->atoms[n->atom]);
        }
        if (i == 0) {
            break;
        }
        if (nodes[n->parent].kind == CONDITION_ANY) {
            *up = *up + w->cost[i] > COST_NEVER ? COST_NEVER : *up + w->cost[i];
        } else if (nodes[n->parent].kind == CONDITION_ALL && w->cost[i] <= *up) {
            *up = w->cost[i];
            w->best[n->parent] = (uint16_t)i;
        }
    }
}

static void wake_rule(struct ruleset *s, uint32_t rank, struct waking *w,
                      uint64_t *pairs)
{
    const struct made_rule *r = &s->rules[rank];
    const struct node *nodes = &s->nodes[r->nodes];

    price_nodes(s, r, w);
    if (w->cost[0] >= COST_NEVER) {
        s->always[s->nalways++] = rank;
        return;
    }
    memset(w->is_chosen, 0, sizeof(w->is_chosen));
    w->is_chosen[0] = true;
    for (size_t i = 0; i < r->nnodes; i++) {
        const struct node *n = &nodes[i];

        if (i > 0) {
            w->is_chosen[i] =
                w->is_chosen[n->parent] &&
                (nodes[n->parent].kind == CONDITION_ANY || w->best[n->parent] == i);
        }
        if (w->is_chosen[i] && !condition_is_group(n->kind)) {
            pairs[s->nwatchers++] = (uint64_t)n->atom << 32 | rank;
            s->atoms[n->atom].nwatch++;
        }
    }
}

bool watch_rules(struct ruleset *s)
{
    uint64_t *pairs = calloc(s->nnodes + 1, sizeof(pairs[0]));
    struct waking *w = calloc(1, sizeof(*w));
    uint32_t at = 0;

    s->watchers = calloc(s->nnodes + 1, sizeof(s->watchers[0]));
    s->always = calloc(s->nrules + 1, sizeof(s->always[0]));
    if (pairs == NULL || w == NULL || s->watchers == NULL || s->always == NULL) {
        free(pairs);
        free(w);
        return false;
    }
    for (uint32_t rank = 0; rank < s->nrules; rank++) {
        wake_rule(s, rank, w, pairs);
    }
    qsort(pairs, s->nwatchers, sizeof(pairs[0]), array_u64_cmp);
    memset(s->atom_of_rule, 0xff, (s->config->nrules + 1) * sizeof(s->atom_of_rule[0]));
    for (size_t i = 0; i < s->natoms; i++) {
        if (s->atoms[i].kind == CONDITION_RULE && s->atoms[i].of_rule != RULE_NONE) {
            s->atom_of_rule[s->atoms[i].of_rule] = (uint32_t)i;
        }
        s->atoms[i].watch = at;
        at += s->atoms[i].nwatch;
    }
    for (size_t i = 0; i < s->nwatchers; i++) {
        s->watchers[i] = (uint32_t)pairs[i];
    }
    free(pairs);
    free(w);
    return true;
}
