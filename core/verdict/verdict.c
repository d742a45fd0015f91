/*
 * verdict - evidence -> symbols -> score -> action, and the reason for it.
 *
 * Needs no memory to find the score: a message that used up its arena is still judged, only
 * details are missing then.
 */
#include "core/verdict/verdict.h"

#include <math.h>

#include "core/base/clock.h"
#include "core/verdict/allow.h"
#include "core/verdict/bulk.h"
#include "core/verdict/peers.h"

enum {
    DETAIL_VALUE_MAX = 200, /* of a value in a detail */
    DETAIL_MAX = 320,
    EXEMPTIONS_MAX = 256 /* values that allow lists take from the others, a message */
};

struct judging {
    struct allow_case facts;
    const struct listset *lists;
    const struct list_hits *hits;
    struct arena *arena;
    double unsure; /* part of the score that lacks a quorum of peers */
    size_t nexempt;
    struct slice exempt[EXEMPTIONS_MAX];
    struct verdict *v;
};

void verdict_extract_limits(const struct config *config, struct extract_limits *ret)
{
    const struct config_limits *l = &config->limits;
    *ret = (struct extract_limits){
        .mail =
            {
                .message_bytes = l->message_bytes,
                .decoded_bytes = l->decoded_bytes,
                .headers = l->headers,
                .header_bytes = l->header_bytes,
                .header_field = l->header_field,
                .parts = l->parts,
                .depth = l->mime_depth,
            },
        .urls = l->urls,
        .recipients = l->recipients,
        .features = l->features,
        .addresses = l->addresses,
        .attachment_bytes = l->attachment_bytes,
        .archive_entries = l->archive_entries,
        .archive_bytes = l->archive_bytes,
        .archive_ratio = l->archive_ratio,
        .archive_depth = l->archive_depth,
        .cpu_us = l->cpu_us,
    };
}

/* The symbol to fill in; past the end the last one gathers the rest. */
static struct symbol *next_symbol(struct verdict *v)
{
    if (v->nsymbols < VERDICT_SYMBOLS_MAX) {
        return &v->symbols[v->nsymbols++];
    }
    struct symbol *last = &v->symbols[VERDICT_SYMBOLS_MAX - 1];
    last->detail = SLICE_LIT("several symbols");
    (void)snprintf(last->name, sizeof(last->name), "OTHERS");
    return last;
}

static void add_symbol(struct verdict *v, const char *prefix, const char *name,
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
    for (char *p = s->name; *p != '\0'; p++) {
        if (*p >= 'a' && *p <= 'z') {
            *p = (char)(*p - 'a' + 'A');
        } else if (!((*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9'))) {
            *p = '_';
        }
    }
}

/* "shadow, url_domain=evil.example (+2 more)" */
static struct slice make_detail(struct arena *arena, const char *note,
                                const struct list_hit *hit, size_t more)
{
    char text[DETAIL_MAX];
    const struct feature_info *info = feature_info((enum feature_type)hit->report_type);
    struct slice value = slice_head(hit->value, DETAIL_VALUE_MAX);
    int n = snprintf(text, sizeof(text), "%s%s=%.*s%s", note,
                     info == NULL ? "value" : info->name, SLICE_ARGS(value),
                     value.n < hit->value.n ? "..." : "");
    size_t used = n < 0 ? 0 : (size_t)n;
    if (used < sizeof(text) && more > 0) {
        n = snprintf(text + used, sizeof(text) - used, " (+%zu more)", more);
        used += n < 0 ? 0 : (size_t)n;
    }
    return arena_copy(arena,
                      slice_of(text, used < sizeof(text) ? used : sizeof(text) - 1));
}

static const struct config_list *list_of(const struct judging *j,
                                         const struct list_hit *hit)
{
    return listset_config(j->lists, hit->list);
}

/* A confirmed hit that counts against the others: on an allow list that has effect. */
static bool is_allowing(const struct judging *j, const struct list_hit *hit)
{
    const struct config_list *list = list_of(j, hit);
    return hit->answer == LIST_CONFIRMED && list->is_allow && !list->shadow;
}

static bool is_exempt(const struct judging *j, struct slice value)
{
    for (size_t i = 0; i < j->nexempt; i++) {
        if (slice_eq(j->exempt[i], value)) {
            return true;
        }
    }
    return false;
}

static void find_exemptions(struct judging *j)
{
    for (size_t i = 0; i < j->hits->n; i++) {
        const struct list_hit *hit = &j->hits->v[i];
        if (!is_allowing(j, hit) || !allow_is_exemption(hit->report_type) ||
            is_exempt(j, hit->value)) {
            continue;
        }
        if (j->nexempt == EXEMPTIONS_MAX) {
            j->v->limits |= LIMIT_FLAG(features);
            return;
        }
        j->exempt[j->nexempt++] = hit->value;
    }
}

/* Sets v->allow and its symbol when something lets the message through. */
static void find_allow(struct judging *j)
{
    struct slice value = SLICE_NONE;
    const char *rule = allow_by_config(&j->facts, &value);

    if (rule != NULL) {
        j->v->allow = rule;
        add_symbol(j->v, "ALLOW_", rule, 0,
                   arena_copy(j->arena, slice_head(value, DETAIL_VALUE_MAX)));
        return;
    }
    for (size_t i = 0; i < j->hits->n; i++) {
        const struct list_hit *hit = &j->hits->v[i];
        if (is_allowing(j, hit) && allow_by_hit(&j->facts, hit)) {
            j->v->allow = "list";
            add_symbol(j->v, "ALLOW_",
                       list_reader_name(listset_reader(j->lists, hit->list)), 0,
                       make_detail(j->arena, "", hit, 0));
            return;
        }
    }
    j->v->unproved = allow_unproved(&j->facts);
}

/* The symbol of the i-th list, if it has a confirmed hit. */
static void judge_list(struct judging *j, size_t i)
{
    const struct config_list *list = listset_config(j->lists, i);
    const char *name = list_reader_name(listset_reader(j->lists, i));
    const struct list_hit *first = NULL;
    const struct list_hit *first_exempt = NULL;
    size_t count = 0;

    for (size_t k = 0; k < j->hits->n; k++) {
        const struct list_hit *hit = &j->hits->v[k];
        if (hit->list != i || hit->answer != LIST_CONFIRMED) {
            continue;
        }
        if (!list->is_allow && is_exempt(j, hit->value)) {
            first_exempt = first_exempt == NULL ? hit : first_exempt;
            continue;
        }
        first = first == NULL ? hit : first;
        count++;
    }
    if (first == NULL && first_exempt == NULL) {
        return;
    }
    if (first == NULL) {
        add_symbol(j->v, "LIST_", name, 0,
                   make_detail(j->arena, "exempt, ", first_exempt, 0));
    } else if (list->shadow) {
        add_symbol(j->v, "LIST_", name, 0,
                   make_detail(j->arena, "shadow, ", first, count - 1));
    } else if (!list->is_allow) {
        add_symbol(j->v, "LIST_", name, j->v->allow == NULL ? list->weight : 0,
                   make_detail(j->arena, "", first, count - 1));
    } else if (j->v->allow == NULL) { /* why a listed sender was not let through */
        add_symbol(j->v, "LIST_", name, 0,
                   make_detail(j->arena,
                               allow_is_exemption(first->report_type)
                                   ? "allow, "
                                   : "allow, not authenticated, ",
                               first, count - 1));
    }
}

double verdict_required(const struct config *config, enum action action)
{
    double required = config->threshold[action];
    for (unsigned a = ACTION_ACCEPT + 1; action == ACTION_ACCEPT && a < ACTION_COUNT;
         a++) {
        required = a == ACTION_ACCEPT + 1 ? config->threshold[a]
                                          : fmin(required, config->threshold[a]);
    }
    return required;
}

static void on_bulk_symbol(void *context, const char *prefix, const char *name,
                           double score, struct slice detail)
{
    struct judging *j = context;
    add_symbol(j->v, prefix, name, score, detail);
}

/* A limit that honest mail never meets is evidence. However many are met, it is one trick. */
static void judge_limits(struct judging *j)
{
    double score = j->v->allow == NULL ? j->facts.config->limits.score : 0;

    for (unsigned bit = 0; bit < LIMIT_FLAG_COUNT; bit++) {
        if ((j->v->limits & (1U << bit)) != 0 && limit_is_odd(bit)) {
            enum trait trait = (enum trait)(TRAIT_limit_message_bytes + bit);
            add_symbol(j->v, "LIMIT_", limit_name(bit), score,
                       slice_str(trait_help(trait)));
            score = 0;
        }
    }
}

/* Rules that a trait alone decides. */
static void judge_signs(struct judging *j)
{
    const struct config *config = j->facts.config;

    for (size_t i = 0; i < config->nrules; i++) {
        const struct config_rule *rule = &config->rules[i];
        if (!rule->enabled || *rule->type != '\0' || !bulk_has_trait(&j->facts, rule)) {
            continue;
        }
        add_symbol(j->v, "TRAIT_", rule->name, rule->shadow ? 0 : rule->score,
                   slice_str(rule->shadow ? "shadow" : rule->trait));
    }
}

static bool is_exempt_from_bulk(const void *context, struct slice value)
{
    return is_exempt(context, value);
}

static bool is_exempt_from_peers(const void *context, struct slice value)
{
    return is_exempt(context, value);
}

static void on_peers_symbol(void *context, const struct peers_symbol *s)
{
    struct judging *j = context;
    double score = j->v->allow == NULL ? s->score : 0;
    add_symbol(j->v, "LIST_", s->name, score,
               make_detail(j->arena, s->note, s->hit, 0));
    j->unsure += s->has_quorum ? 0 : score;
}

static void judge_peers(struct judging *j)
{
    struct peers_case c = {.config = j->facts.config,
                           .lists = j->lists,
                           .hits = j->hits,
                           .on_symbol = on_peers_symbol,
                           .is_exempt = is_exempt_from_peers,
                           .context = j};
    peers_judge(&c);
}

static enum action milder(enum action a, enum action b)
{
    return a < b ? a : b;
}

/* After the lists. Their score alone may lead to any action, together with that of bulk rules to
 * bulk_alone at most, and with values that lack a quorum of peers only to a header. */
static void judge_bulk(struct judging *j)
{
    const struct config *config = j->facts.config;
    double lists = j->v->score - j->unsure;
    enum action alone = config_action(config, lists);
    struct bulk_case c = {.facts = &j->facts,
                          .deadline_mono_us = j->facts.context->deadline_mono_us,
                          .arena = j->arena,
                          .on_symbol = on_bulk_symbol,
                          .is_exempt = is_exempt_from_bulk,
                          .context = j};

    j->v->limits |= bulk_judge(&c);
    enum action together =
        milder(config_action(config, j->v->score - j->unsure), config->bulk_alone);
    enum action all = milder(config_action(config, j->v->score), ACTION_HEADER);
    alone = alone > together ? alone : together;
    j->v->action = alone > all ? alone : all;
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
    find_exemptions(&j);
    find_allow(&j);
    for (size_t i = 0; i < listset_count(lists); i++) {
        judge_list(&j, i);
    }
    judge_peers(&j);
    judge_limits(&j);
    if (ret->allow == NULL) {
        judge_signs(&j);
        judge_bulk(&j);
    }
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

    timed.deadline_mono_us = deadline_mono_us;
    verdict_make(config, features, set, rethits, &timed, arena, ret);
    if (e == ERR_NOMEM) {
        ret->limits |= LIMIT_FLAG(memory);
    }
    ret->lookup_us = looked_us - begin_us;
    ret->judge_us = clock_mono_us() - looked_us;
}
