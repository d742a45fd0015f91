#include "core/verdict/journal/journal_gather.h"

#include "core/verdict/journal/journal_items.h"

enum { TYPES_MAX = 256 };
_Static_assert((int)RECORD_WINDOWS == (int)COUNT_WINDOWS &&
                   (int)RECORD_DISTINCTS == (int)DISTINCT_KINDS &&
                   (int)RECORD_THRESHOLDS == (int)ACTION_COUNT,
               "the record has the form of the verdict");

static bool trait_number(struct slice name, uint16_t *ret)
{
    for (unsigned i = 0; i < TRAIT_COUNT; i++) {
        if (slice_eq(slice_str(trait_name((enum trait)i)), name)) {
            *ret = (uint16_t)i;
            return true;
        }
    }
    return false;
}

/* Traits, and the address of From. */
static void gather_features(const struct journal_case *c, struct record *ret)
{
    size_t n = featureset_count(c->features);
    const struct feature *from = featureset_first(c->features, FEATURE_from);

    if (from != NULL && c->config->journal.addresses) {
        ret->header_from = from->text;
    }
    for (size_t i = 0; i < n && ret->ntraits < RECORD_TRAITS; i++) {
        const struct feature *f = featureset_at(c->features, i);
        if (f->type == FEATURE_trait &&
            trait_number(f->text, &ret->trait[ret->ntraits])) {
            ret->ntraits++;
        }
    }
    if (c->config->journal.subjects) {
        const struct feature *subject = featureset_first(c->features, FEATURE_subject);
        ret->subject = subject == NULL ? SLICE_NONE : subject->text;
    }
}

/* A value with an address in it is readable only where addresses are kept. */
static struct slice shown(const struct config *config, struct slice text)
{
    return config->journal.addresses || slice_find(text, '@') == text.n ? text
                                                                        : SLICE_NONE;
}

static void gather_hits(const struct journal_case *c, struct arena *arena,
                        struct record *ret)
{
    for (size_t i = 0; i < c->hits->n && ret->nhits < RECORD_HITS; i++) {
        const struct list_hit *h = &c->hits->v[i];
        const struct config_list *list = listset_config(c->lists, h->list);
        const char *origin = listset_origin(c->lists, h->list);
        double factor = origin == NULL ? 1 : listset_weight(c->lists, h->list);

        if (h->answer == LIST_NO || h->answer == LIST_FALSE_POSITIVE) {
            continue;
        }
        ret->hit[ret->nhits++] = (struct record_hit){
            .list = arena_copy(
                arena, slice_str(list_reader_name(listset_reader(c->lists, h->list)))),
            .origin = arena_copy(arena, slice_str(origin)),
            .category = slice_str(list->category),
            .value = shown(c->config, h->value),
            .weight = list->weight,
            .factor = factor,
            .type = h->report_type,
            .answer = (uint8_t)h->answer,
            .silence = h->silence};
    }
}

/* The row of a type; NULL: no room. at: a number above 0 for each type that has one. */
static struct record_type *type_row(struct record *ret, uint8_t at[TYPES_MAX],
                                    uint16_t type)
{
    if (type >= TYPES_MAX) {
        return NULL;
    }
    if (at[type] == 0 && ret->ntypes < RECORD_TYPES) {
        ret->type[ret->ntypes++] = (struct record_type){.type = type};
        at[type] = (uint8_t)ret->ntypes;
    }
    return at[type] == 0 ? NULL : &ret->type[at[type] - 1];
}

static void keep_count(const struct counted *k, struct record *ret)
{
    struct record_count *to = &ret->count[ret->ncounts++];
    uint32_t digest = 0;

    memcpy(&digest, k->digest[0].b, sizeof(digest));
    *to = (struct record_count){
        .type = k->feature->type, .digest = digest, .has_distinct = k->has_distinct};
    memcpy(to->w, k->value.w, sizeof(to->w));
    memcpy(to->distinct, k->distinct, sizeof(to->distinct));
}

/* For each type and window the number, plus 1, of the feature that was counted most. */
typedef uint32_t best_of_type[RECORD_TYPES][RECORD_WINDOWS];

static void keep_best(const struct message_counts *counts, best_of_type best,
                      struct record *ret)
{
    for (size_t t = 0; t < ret->ntypes; t++) {
        for (size_t w = 0; w < RECORD_WINDOWS; w++) {
            bool is_new = best[t][w] != 0;
            for (size_t k = 0; k < w; k++) {
                is_new = is_new && best[t][k] != best[t][w];
            }
            if (is_new && ret->ncounts < RECORD_COUNTS) {
                keep_count(&counts->v[best[t][w] - 1], ret);
                ret->type[t].kept++;
            }
        }
    }
}

static void gather_counts(const struct message_counts *counts, struct record *ret)
{
    uint8_t at[TYPES_MAX] = {0};
    best_of_type best = {{0}};

    for (size_t i = 0; i < counts->n; i++) {
        const struct counted *k = &counts->v[i];
        struct record_type *row = type_row(ret, at, k->feature->type);
        if (ret->nhashes < RECORD_HASHES) {
            uint32_t hash = 0;
            memcpy(&hash, k->digest[0].b, sizeof(hash));
            ret->hash[ret->nhashes++] = hash & ((1U << RECORD_HASH_BITS) - 1);
        }
        if (row == NULL) {
            continue;
        }
        row->features++;
        uint32_t *of_type = best[row - ret->type];
        for (size_t w = 0; w < RECORD_WINDOWS; w++) {
            if (of_type[w] == 0 ||
                k->value.w[w] > counts->v[of_type[w] - 1].value.w[w]) {
                of_type[w] = (uint32_t)i + 1;
            }
        }
    }
    keep_best(counts, best, ret);
}

void journal_gather(const struct journal_case *c, struct arena *arena,
                    struct record *ret)
{
    const struct verdict_context *context = c->context;

    ret->identity = context->identity == NULL ? 0 : context->identity->words;
    gather_features(c, ret);
    gather_hits(c, arena, ret);
    if (context->counts != NULL) {
        gather_counts(context->counts, ret);
        journal_gather_items(context->counts, ret);
    }
}

/* The parts of the score, as verdict_action takes them. */
static void gather_score(const struct verdict *v, struct record *ret)
{
    double of_kind[SYMBOL_KINDS] = {0};

    for (size_t i = 0; i < v->nsymbols; i++) {
        of_kind[v->symbols[i].kind] += v->symbols[i].score;
    }
    ret->score = v->score;
    ret->sure = v->score - of_kind[SYMBOL_UNSURE];
    ret->firm = ret->sure - of_kind[SYMBOL_BULK];
}

/* Those that score come first, so that a full record lacks others. */
static void gather_symbols(const struct config *config, const struct verdict *v,
                           bool with_score, struct record *ret)
{
    for (size_t i = 0; i < v->nsymbols; i++) {
        const struct symbol *s = &v->symbols[i];
        ret->is_of_users =
            ret->is_of_users || strcmp(s->name, "RECIPIENTS_DISAGREE") == 0;
        if ((s->score != 0) != with_score) {
            continue;
        }
        if (ret->nsymbols == RECORD_SYMBOLS) {
            ret->is_cut = true;
            return;
        }
        ret->symbol[ret->nsymbols++] =
            (struct record_symbol){.name = slice_str(s->name),
                                   .score = s->score,
                                   .part = (uint8_t)s->kind,
                                   .detail = shown(config, s->detail)};
    }
}

static void gather_scale(const struct config *config, struct record *ret)
{
    struct verdict_scale scale;

    verdict_scale_of(config, &scale);
    ret->bulk_alone = (uint8_t)scale.bulk_alone;
    memcpy(ret->threshold, scale.threshold, sizeof(ret->threshold));
}

void journal_gather_unjudged(const struct config *config, struct slice reason,
                             struct record *ret)
{
    gather_scale(config, ret);
    ret->unjudged = reason;
}

void journal_gather_verdict(const struct config *config, const struct verdict *v,
                            struct record *ret)
{
    gather_scale(config, ret);
    ret->wanted = (uint8_t)v->action;
    ret->fault = (uint32_t)v->fault;
    gather_score(v, ret);
    ret->is_of_users = v->required > 0;
    if (v->required > 0) {
        ret->threshold[v->action == ACTION_ACCEPT ? ACTION_HEADER : v->action] =
            v->required;
    }
    ret->allow = slice_str(v->allow);
    ret->limits = v->limits;
    gather_symbols(config, v, true, ret);
    gather_symbols(config, v, false, ret);
}
