/* evaluate - rules that hold, with their scores and details. */
#include <stdarg.h>

#include "core/base/clock.h"
#include "core/base/uninitialized.h"
#include "core/base/utf8.h"
#include "core/telemetry/stats.h"
#include "core/verdict/rule/counted.h"

enum {
    DETAIL_MAX = 400,
    DETAIL_PARTS_MAX = 4,
    DETAIL_VALUE_MAX = 80,
    GROUPS_MAX = 256,
    NOTE_MAX = 80,
    US_PER_S = 1000000
};

struct judging {
    const struct rule_case *c;
    struct ruleset *s;
    struct work *w;
    struct counting counting;
    uint64_t now_s;
    bool has_newsletter; /* shown */
    bool has_burst;
    double in_group[GROUPS_MAX]; /* score so far */
};

/* ---- which rules hold ---- */

static void wake(struct judging *j, uint32_t atom)
{
    const struct atom *a = &j->s->atoms[atom];

    for (uint32_t i = 0; i < a->nwatch; i++) {
        uint32_t rank = j->s->watchers[a->watch + i];

        j->w->candidates[rank / 64] |= UINT64_C(1) << rank % 64;
    }
}

static void on_true(void *context, uint32_t atom)
{
    wake(context, atom);
}

/* Undecided counts may still become true; nothing else that is undecided can. */
static void wake_counts(struct judging *j)
{
    for (size_t i = 0; i < j->s->nfacts; i++) {
        uint32_t atom = j->s->facts[i];
        const struct atom *a = &j->s->atoms[atom];

        if (condition_is_counted(a->kind)) {
            j->w->state[atom] = (uint8_t)counted_sketch(&j->counting, a);
            if (j->w->state[atom] == IS_UNDECIDED && j->counting.counts != NULL) {
                wake(j, atom);
            }
        }
    }
}

static void wake_always(struct judging *j)
{
    for (size_t i = 0; i < j->s->nalways; i++) {
        uint32_t rank = j->s->always[i];

        j->w->candidates[rank / 64] |= UINT64_C(1) << rank % 64;
    }
}

static enum truth group_truth(const struct node *n, unsigned yes, unsigned open)
{
    switch (n->kind) {
    case CONDITION_ALL:
        return yes == n->nparts         ? IS_TRUE
               : yes + open < n->nparts ? IS_FALSE
                                        : IS_UNDECIDED;
    case CONDITION_ANY:
        return yes >= n->least         ? IS_TRUE
               : yes + open < n->least ? IS_FALSE
                                       : IS_UNDECIDED;
    default:
        return yes > 0 ? IS_FALSE : open > 0 ? IS_UNDECIDED : IS_TRUE;
    }
}

/* From the leaves up: a node stands behind its parent. */
static enum truth tree_truth(const struct judging *j, const struct made_rule *r)
{
    const struct node *nodes = &j->s->nodes[r->nodes];
    uint16_t yes[RULE_NODES_MAX] UNINITIALIZED;
    uint16_t open[RULE_NODES_MAX] UNINITIALIZED;
    enum truth t = IS_FALSE;

    memset(yes, 0, r->nnodes * sizeof(yes[0]));
    memset(open, 0, r->nnodes * sizeof(open[0]));
    for (size_t i = r->nnodes; i-- > 0;) {
        const struct node *n = &nodes[i];

        t = condition_is_group(n->kind) ? group_truth(n, yes[i], open[i])
                                        : (enum truth)j->w->state[n->atom];
        if (i > 0) {
            yes[n->parent] = (uint16_t)(yes[n->parent] + (t == IS_TRUE));
            open[n->parent] = (uint16_t)(open[n->parent] + (t == IS_UNDECIDED));
        }
    }
    return t;
}

/* Reads the exact counts of an atom, once. True: it is decided now. */
static bool decide(struct judging *j, uint32_t atom)
{
    struct work *w = j->w;

    if (w->given_up[atom] != 0) {
        return false;
    }
    w->given_up[atom] = 1;
    w->state[atom] =
        (uint8_t)counted_confirm(&j->counting, &j->s->atoms[atom], &w->first[atom]);
    return w->state[atom] != IS_UNDECIDED;
}

static bool holds(struct judging *j, const struct made_rule *r)
{
    const struct node *nodes = &j->s->nodes[r->nodes];
    enum truth t = tree_truth(j, r);

    for (size_t i = 0; t == IS_UNDECIDED && i < r->nnodes; i++) {
        if (condition_is_counted(nodes[i].kind) &&
            j->w->state[nodes[i].atom] == IS_UNDECIDED && decide(j, nodes[i].atom)) {
            t = tree_truth(j, r);
        }
    }
    return t == IS_TRUE;
}

static void try_rule(struct judging *j, uint32_t rank)
{
    const struct made_rule *r = &j->s->rules[rank];
    const struct config_rule *rule = &j->c->config->rules[r->rule];

    if ((rule->until_s > 0 && j->now_s >= rule->until_s) ||
        (rule->only_in_emergency && !j->c->is_emergency) || !holds(j, r)) {
        return;
    }
    j->w->held[rank / 64] |= UINT64_C(1) << rank % 64;
    if (j->s->atom_of_rule[r->rule] != RULE_NONE) {
        j->w->state[j->s->atom_of_rule[r->rule]] = IS_TRUE;
        wake(j, j->s->atom_of_rule[r->rule]);
    }
}

/* A rule that holds wakes only rules of higher rank. */
static void try_candidates(struct judging *j)
{
    for (size_t word = 0; word * 64 < j->s->nrules; word++) {
        uint64_t tried = 0;
        uint64_t left = j->w->candidates[word];

        while (left != 0) {
            unsigned bit = (unsigned)__builtin_ctzll(left);

            tried |= UINT64_C(1) << bit;
            try_rule(j, (uint32_t)(word * 64 + bit));
            left = j->w->candidates[word] & ~tried;
        }
    }
}

/* ---- why ---- */

struct detail {
    char text[DETAIL_MAX];
    size_t used;
};

static void add(struct detail *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct detail *d, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(d->text + d->used, sizeof(d->text) - d->used, format, args);
    va_end(args);
    d->used += n < 0 ? 0 : (size_t)n;
    d->used = d->used < sizeof(d->text) ? d->used : sizeof(d->text) - 1;
}

static void add_feature(const struct judging *j, const struct atom *a, uint32_t i,
                        struct detail *d)
{
    const struct feature *f = NULL;
    uint32_t hits = j->w->hits[i];

    if (j->w->first[i] == RULE_NONE) {
        add(d, "no %s", a->from->word);
        return;
    }
    f = featureset_at(j->c->features, j->w->first[i]);
    struct slice value = slice_head(f->text, DETAIL_VALUE_MAX);

    add(d, "%s=%.*s%s", feature_type_name(f->type), SLICE_ARGS(value),
        value.n < f->text.n ? "..." : "");
    if (f->place != NULL && f->place->header.n > 0) {
        add(d, " in %.*s", SLICE_ARGS(slice_head(f->place->header, DETAIL_VALUE_MAX)));
    } else if (f->place != NULL && f->place->within.n > 0) {
        add(d, " in %.*s", SLICE_ARGS(utf8_head(f->place->within, DETAIL_VALUE_MAX)));
    } else if (f->place != NULL && f->place->part.n > 0) {
        add(d, " in part %.*s",
            SLICE_ARGS(slice_head(f->place->part, DETAIL_VALUE_MAX)));
    }
    if (hits > 1) {
        add(d, " (+%u more)", (unsigned)hits - 1);
    }
}

static void add_atom(const struct judging *j, uint32_t i, struct detail *d)
{
    const struct atom *a = &j->s->atoms[i];
    struct slice s;

    switch (a->kind) {
    case CONDITION_FEATURE:
        add_feature(j, a, i, d);
        break;
    case CONDITION_LIST:
    case CONDITION_CATEGORY:
        s = slice_head(j->c->lists[j->w->first[i]].value, DETAIL_VALUE_MAX);
        add(d, "%s=%s (%.*s)", condition_kind_name(a->kind), a->from->word,
            SLICE_ARGS(s));
        break;
    case CONDITION_DIRECTION:
        add(d, "direction=%s", j->c->is_outgoing ? "out" : "in");
        break;
    case CONDITION_SIZE:
        add(d, "%llu bytes", (unsigned long long)j->c->bytes);
        break;
    case CONDITION_TEXT:
        add(d, "text=/%.60s/", a->from->pattern);
        break;
    case CONDITION_COUNTED:
    case CONDITION_JUDGED:
        s = counted_detail(&j->counting, a, j->w->first[i]);
        add(d, "%.*s", SLICE_ARGS(s));
        break;
    default:
        add(d, "%s=%s", condition_kind_name(a->kind), a->from->word);
        break;
    }
}

/* The first conditions that hold and speak for the rule. */
static struct slice explain_rule(const struct judging *j, const struct made_rule *r,
                                 const char *note)
{
    const struct node *nodes = &j->s->nodes[r->nodes];
    struct detail d = {.used = 0};
    unsigned parts = 0;

    add(&d, "%s", note);
    for (size_t i = 0; i < r->nnodes && parts < DETAIL_PARTS_MAX; i++) {
        if (!condition_is_group(nodes[i].kind) && !nodes[i].is_negated &&
            j->w->state[nodes[i].atom] == IS_TRUE) {
            add(&d, "%s", parts++ > 0 ? ", " : "");
            add_atom(j, nodes[i].atom, &d);
        }
    }
    return arena_copy(j->c->arena, slice_of(d.text, d.used));
}

/* ---- scores ---- */

/* The first count that speaks for the rule; RULE_NONE: it holds without. */
static uint32_t count_of(const struct judging *j, const struct made_rule *r)
{
    const struct node *nodes = &j->s->nodes[r->nodes];

    for (size_t i = 0; r->asks_counts && i < r->nnodes; i++) {
        if (nodes[i].kind == CONDITION_COUNTED && !nodes[i].is_negated &&
            j->w->state[nodes[i].atom] == IS_TRUE) {
            return nodes[i].atom;
        }
    }
    return RULE_NONE;
}

static void show(const struct judging *j, const struct made_rule *r, const char *prefix,
                 const char *name, struct slice detail)
{
    struct rule_symbol s = {.prefix = prefix,
                            .name = name,
                            .detail = detail,
                            .rule = SIZE_MAX,
                            .is_of_counts = r->is_of_counts};

    j->c->on_symbol(j->c->context, &s);
}

/* NEWSLETTER and BURST, once a message. */
static void show_notes(struct judging *j, const struct made_rule *r, uint32_t count,
                       bool spares)
{
    const struct exact *e = &j->counting.exact[j->w->first[count]];

    if (spares && !j->has_newsletter) {
        j->has_newsletter = true;
        show(j, r, "", "NEWSLETTER", arena_copy(j->c->arena, j->c->proved_domain));
    }
    if (j->s->atoms[count].from->burst > 0 && !j->has_burst) {
        struct detail d = {.used = 0};

        j->has_burst = true;
        add(&d, "%llu of %llu in ten minutes", (unsigned long long)e->most,
            (unsigned long long)e->sum);
        show(j, r, "", "BURST", arena_copy(j->c->arena, slice_of(d.text, d.used)));
    }
}

/* The part of a score that the cap of its group allows. */
static double capped(struct judging *j, const struct made_rule *r, double score)
{
    double *sum = NULL;
    double cap = 0;

    if (r->group == RULE_NONE || score <= 0) {
        return score;
    }
    sum = &j->in_group[r->group];
    cap = j->c->config->rule_groups[r->group].cap;
    score = *sum + score > cap ? cap - *sum : score;
    score = score > 0 ? score : 0;
    *sum += score;
    return score;
}

static void show_rule(struct judging *j, const struct made_rule *r)
{
    const struct config_rule *rule = &j->c->config->rules[r->rule];
    uint32_t count = count_of(j, r);
    bool spares =
        count != RULE_NONE && rule->spares_newsletters && j->c->is_proved &&
        counted_is_newsletter(&j->counting, &j->s->atoms[count], j->w->first[count]);
    char note[NOTE_MAX] = "";
    struct rule_symbol s = {.prefix = rule->only_in_emergency ? "BLOCKED_PATTERN_"
                                                              : r->prefix,
                            .name = rule->name,
                            .rule = r->rule,
                            .is_shadow = rule->shadow,
                            .is_of_counts = r->is_of_counts,
                            .is_of_judgements = r->reads_judgements};

    if (rule->shadow || spares) {
        (void)snprintf(note, sizeof(note), "%s, ",
                       rule->shadow ? "shadow" : "newsletter");
    } else {
        s.score = capped(j, r, rule->score);
    }
    if (s.score < rule->score && *note == '\0') {
        (void)snprintf(note, sizeof(note), "of %g, cap of group %s, ", rule->score,
                       rule->group);
    }
    s.detail = explain_rule(j, r, note);
    j->c->on_symbol(j->c->context, &s);
    if (count != RULE_NONE) {
        stats_add(STAT_bulk_confirmed, 1);
        show_notes(j, r, count, spares);
    }
}

/* In the order of the configuration. */
static void show_rules(struct judging *j, bool are_of_counts)
{
    for (size_t i = 0; i < j->c->config->nrules; i++) {
        uint32_t rank = j->s->rank_of[i];

        if (rank != RULE_NONE && (j->w->held[rank / 64] >> rank % 64 & 1) != 0 &&
            j->s->rules[rank].is_of_counts == are_of_counts) {
            show_rule(j, &j->s->rules[rank]);
        }
    }
}

unsigned ruleset_judge(const struct rule_case *c)
{
    struct judging j UNINITIALIZED;
    unsigned limits = 0;

    j.c = c;
    j.s = c->config->ruleset;
    j.w = j.s != NULL ? work_take(j.s) : NULL;
    if (j.w == NULL) {
        return j.s != NULL ? LIMIT_FLAG(memory) : 0;
    }
    j.now_s = clock_wall_us() / US_PER_S;
    j.has_newsletter = false;
    j.has_burst = false;
    memset(j.in_group, 0, sizeof(j.in_group));
    work_clear(j.s, j.w);
    counted_begin(&j.counting, c);
    evidence_gather(j.s, c, j.w, on_true, &j);
    wake_counts(&j);
    wake_always(&j);
    try_candidates(&j);
    show_rules(&j, false);
    show_rules(&j, true);
    limits = j.counting.limits;
    counted_end(&j.counting);
    work_give(j.s, j.w);
    return limits;
}
