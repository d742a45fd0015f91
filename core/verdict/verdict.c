/*
 * verdict - evidence -> symbols -> score -> action, and the reason for it.
 *
 * Needs no memory to find the score: a message that used up its arena is still judged, only
 * details are missing then.
 */
#include "core/verdict/verdict.h"

#include "core/base/clock.h"
#include "core/verdict/verdict_internal.h"

/* The symbol to fill in; past the end the last one gathers the rest. */
static struct symbol *next_symbol(struct verdict *v)
{
    if (v->nsymbols < VERDICT_SYMBOLS_MAX) {
        return &v->symbols[v->nsymbols++];
    }
    struct symbol *last = &v->symbols[VERDICT_SYMBOLS_MAX - 1];
    last->detail = SLICE_LIT("several symbols");
    last->is_word = false;
    last->is_helper = false;
    (void)snprintf(last->name, sizeof(last->name), "OTHERS");
    return last;
}

void verdict_symbol_name(char *text)
{
    for (char *p = text; *p != '\0'; p++) {
        if (*p >= 'a' && *p <= 'z') {
            *p = (char)(*p - 'a' + 'A');
        } else if (!((*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9'))) {
            *p = '_';
        }
    }
}

void verdict_add_symbol(struct verdict *v, const char *prefix, const char *name,
                        double score, struct slice detail)
{
    bool is_last = v->nsymbols == VERDICT_SYMBOLS_MAX;
    struct symbol *s = next_symbol(v);

    v->score += score;
    s->score += score;
    if (is_last) {
        return;
    }
    (void)snprintf(s->name, sizeof(s->name), "%s%s", prefix, name);
    s->detail = detail;
    verdict_symbol_name(s->name);
}

void verdict_add_word(struct verdict *v, const char *prefix, const char *name,
                      struct slice detail)
{
    bool is_last = v->nsymbols == VERDICT_SYMBOLS_MAX;

    verdict_add_symbol(v, prefix, name, 0, detail);
    v->symbols[v->nsymbols - 1].is_word = !is_last;
}

/* A limit that honest mail never meets is evidence. However many are met, it is one trick. */
static void judge_limits(struct judging *j)
{
    double score = j->v->allow == NULL ? j->facts.config->limits.score : 0;

    for (unsigned bit = 0; bit < LIMIT_FLAG_COUNT; bit++) {
        if ((j->v->limits & (1U << bit)) != 0 && limit_is_odd(bit)) {
            enum trait trait = (enum trait)(TRAIT_limit_message_bytes + bit);
            verdict_add_symbol(j->v, "LIMIT_", limit_name(bit), score,
                               slice_str(trait_help(trait)));
            score = 0;
        }
    }
}

/* Keeps which rules held, for the journal; without memory the verdict is the same. */
static void keep_hit(struct judging *j, const struct rule_symbol *s)
{
    struct verdict *v = j->v;

    if (v->rule_hits == NULL) {
        v->rule_hits =
            arena_array(j->arena, VERDICT_RULE_HITS_MAX, sizeof(v->rule_hits[0]));
    }
    if (v->rule_hits != NULL && v->nrule_hits < VERDICT_RULE_HITS_MAX) {
        v->rule_hits[v->nrule_hits++] =
            (struct rule_hit){(uint16_t)s->rule, s->is_shadow, (float)s->score};
    }
}

static void on_rule_symbol(void *context, const struct rule_symbol *s)
{
    struct judging *j = context;
    bool is_last = j->v->nsymbols == VERDICT_SYMBOLS_MAX;

    verdict_add_symbol(j->v, s->prefix, s->name, s->score, s->detail);
    j->v->symbols[j->v->nsymbols - 1].is_helper =
        !is_last && s->rule != SIZE_MAX && !s->is_shadow &&
        j->facts.config->rules[s->rule].score == 0;
    if (s->is_of_counts) {
        j->v->symbols[j->v->nsymbols - 1].kind = SYMBOL_BULK;
        j->of_counts += s->score;
    }
    j->of_judgements += s->is_of_judgements ? s->score : 0;
    if (s->rule != SIZE_MAX) {
        keep_hit(j, s);
    }
}

static unsigned run_rules(struct judging *j)
{
    const struct verdict_context *context = j->facts.context;
    struct rule_case c = {.config = j->facts.config,
                          .features = j->facts.features,
                          .counts = context->counts,
                          .identity = context->identity,
                          .text = context->text,
                          .lists = j->held,
                          .nlists = j->nheld,
                          .is_outgoing = context->is_outgoing,
                          .is_emergency = context->is_emergency,
                          .bytes = context->bytes,
                          .deadline_mono_us = context->deadline_mono_us,
                          .arena = j->arena,
                          .on_symbol = on_rule_symbol,
                          .is_exempt = list_symbols_is_exempt,
                          .context = j};

    c.is_proved = allow_proved_from(&j->facts, &c.proved_domain);
    return ruleset_judge(&c);
}

/* What was learnt from people. It marks at most, whatever else there is. */
static void judge_model(struct judging *j)
{
    const struct model_answer *a = j->facts.context->model;
    char text[MODEL_DETAIL];

    if (a == NULL || !(a->score > 0) || j->v->nsymbols == VERDICT_SYMBOLS_MAX) {
        return;
    }
    model_describe(a, text, sizeof(text));
    verdict_add_symbol(j->v, "", "MODEL", a->score,
                       arena_copy(j->arena, slice_str(text)));
    j->v->symbols[j->v->nsymbols - 1].kind = SYMBOL_UNSURE;
    j->unsure += a->score;
}

/* After the lists. */
static void judge_rules(struct judging *j)
{
    struct verdict *v = j->v;
    struct verdict_scale scale;

    v->limits |= run_rules(j);
    double sure = v->score - j->unsure;
    verdict_scale_of(j->facts.config, &scale);
    v->action = verdict_action(&scale, v->score, sure, sure - j->of_counts);
}

/* NOLINTNEXTLINE(readability-function-size): the facts of one judgement, each its own */
void verdict_make(const struct config *config, const struct featureset *features,
                  const struct listset *lists, const struct list_hits *hits,
                  const struct verdict_context *context, struct arena *arena,
                  struct verdict *ret)
{
    struct judging j = {.facts = {config, features, context},
                        .lists = lists,
                        .hits = hits,
                        .arena = arena,
                        .v = ret};

    *ret = (struct verdict){.action = ACTION_ACCEPT,
                            .limits = featureset_limits(features),
                            .fault = listset_fault(lists)};
    if (hits->met_deadline) {
        ret->limits |= LIMIT_FLAG(deadline);
    }
    if (hits->lacks_lines) {
        ret->limits |= LIMIT_FLAG(lines);
    }
    list_symbols_exempt(&j);
    list_symbols_allow(&j);
    list_symbols_add(&j);
    if (context->evidence != NULL && ret->allow == NULL) {
        context->evidence(context->evidence_context, config, features, arena, ret);
    }
    judge_limits(&j);
    if (ret->allow == NULL) {
        credit_judge(&j);
        reported_judge(&j);
        judge_model(&j);
        unknown_url_judge(&j);
        judge_rules(&j);
    }
    ret->firm = ret->score - j.unsure - j.of_judgements - j.unverified;
    if (arena_is_full(arena)) {
        ret->limits |= LIMIT_FLAG(memory);
    }
}

/* NOLINTNEXTLINE(readability-function-size): as verdict_make */
void verdict_evaluate(const struct config *config, const struct listset *set,
                      struct featureset *features,
                      const struct verdict_context *context, uint64_t deadline_mono_us,
                      struct arena *arena, struct verdict *ret,
                      struct list_hits *rethits)
{
    struct verdict_context timed = *context;
    uint64_t begin_us = clock_mono_us();
    *rethits = (struct list_hits){.n = 0};
    enum err e = listset_lookup(set, features, deadline_mono_us, arena, rethits);
    uint64_t looked_us = clock_mono_us();

    if (context->trusts_filters) {
        list_symbols_trust_filters(set, rethits);
    }
    timed.deadline_mono_us = deadline_mono_us;
    verdict_make(config, features, set, rethits, &timed, arena, ret);
    if (e == ERR_NOMEM) {
        ret->limits |= LIMIT_FLAG(memory);
    }
    ret->lookup_us = looked_us - begin_us;
    ret->judge_us = clock_mono_us() - looked_us;
}
