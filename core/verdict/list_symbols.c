/* list_symbols - hits on lists become symbols; allow lists take values from the others. */
#include "core/base/utf8.h"
#include "core/verdict/peers.h"
#include "core/verdict/verdict_internal.h"

enum {
    DETAIL_VALUE_MAX = 200, /* of a value in a detail */
    DETAIL_PLACE_MAX = 200, /* of where it stood */
    DETAIL_MAX = 560
};

/* Where the feature of a hit stood in a file; empty: in the message itself. */
static struct slice where_found(const struct judging *j, const struct list_hit *hit)
{
    const struct feature *f = hit->feature < featureset_count(j->facts.features)
                                  ? featureset_at(j->facts.features, hit->feature)
                                  : NULL;

    return f != NULL && f->place != NULL ? f->place->within : SLICE_NONE;
}

/* "shadow, url_domain=evil.example in page 2 of invoice.pdf (+2 more)" */
static struct slice make_detail(const struct judging *j, const char *note,
                                const struct list_hit *hit, size_t more)
{
    char text[DETAIL_MAX];
    const struct feature_info *info = feature_info((enum feature_type)hit->report_type);
    struct slice value = slice_head(hit->value, DETAIL_VALUE_MAX);
    const struct slice place = utf8_head(where_found(j, hit), DETAIL_PLACE_MAX);
    int n = snprintf(text, sizeof(text), "%s%s=%.*s%s%s%.*s", note,
                     info == NULL ? "value" : info->name, SLICE_ARGS(value),
                     value.n < hit->value.n ? "..." : "", place.n > 0 ? " in " : "",
                     SLICE_ARGS(place));
    size_t used = n < 0 ? 0 : (size_t)n;
    if (used < sizeof(text) && more > 0) {
        n = snprintf(text + used, sizeof(text) - used, " (+%zu more)", more);
        used += n < 0 ? 0 : (size_t)n;
    }
    return arena_copy(j->arena,
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

bool list_symbols_is_exempt(const void *context, struct slice value)
{
    const struct judging *j = context;

    for (size_t i = 0; i < j->nexempt; i++) {
        if (slice_eq(j->exempt[i], value)) {
            return true;
        }
    }
    return false;
}

void list_symbols_exempt(struct judging *j)
{
    for (size_t i = 0; i < j->hits->n; i++) {
        const struct list_hit *hit = &j->hits->v[i];
        if (!is_allowing(j, hit) || !allow_is_exemption(hit->report_type) ||
            list_symbols_is_exempt(j, hit->value)) {
            continue;
        }
        if (j->nexempt == VERDICT_EXEMPTIONS_MAX) {
            j->v->limits |= LIMIT_FLAG(features);
            return;
        }
        j->exempt[j->nexempt++] = hit->value;
    }
}

void list_symbols_allow(struct judging *j)
{
    struct slice value = SLICE_NONE;
    const char *rule = allow_by_config(&j->facts, &value);

    if (rule != NULL) {
        j->v->allow = rule;
        verdict_add_word(j->v, "ALLOW_", rule,
                         arena_copy(j->arena, slice_head(value, DETAIL_VALUE_MAX)));
        return;
    }
    for (size_t i = 0; i < j->hits->n; i++) {
        const struct list_hit *hit = &j->hits->v[i];
        if (is_allowing(j, hit) && allow_by_hit(&j->facts, hit)) {
            j->v->allow = "list";
            verdict_add_word(j->v, "ALLOW_",
                             list_reader_name(listset_reader(j->lists, hit->list)),
                             make_detail(j, "", hit, 0));
            return;
        }
    }
    j->v->unproved = allow_unproved(&j->facts);
}

/* Adds the score of a list. An entry of a model marks at most, as the model itself does. */
static void add_list_symbol(struct judging *j, const char *name, bool is_sure,
                            double score, struct slice detail)
{
    bool is_last = j->v->nsymbols == VERDICT_SYMBOLS_MAX;

    verdict_add_symbol(j->v, "LIST_", name, score, detail);
    if (!is_sure) {
        j->unsure += score;
        if (!is_last) {
            j->v->symbols[j->v->nsymbols - 1].kind = SYMBOL_UNSURE;
        }
    }
}

/* A hit that conditions of rules see: it has the effect that it should have. */
static void keep_list_hit(struct judging *j, const struct list_hit *hit)
{
    if (j->nheld == RULE_LISTS_MAX) {
        j->v->limits |= LIMIT_FLAG(features);
        return;
    }
    j->held[j->nheld++] =
        (struct rule_list){list_reader_name(listset_reader(j->lists, hit->list)),
                           list_of(j, hit)->category, hit->value};
}

/* An allow list may hold the value: it could not be asked either. */
static bool may_be_allowed(const struct listset *lists, const struct list_hits *hits,
                           struct slice value)
{
    for (size_t i = 0; i < hits->n; i++) {
        const struct list_hit *hit = &hits->v[i];
        if (hit->answer == LIST_POSSIBLE &&
            listset_config(lists, hit->list)->is_allow && slice_eq(hit->value, value)) {
            return true;
        }
    }
    return false;
}

void list_symbols_trust_filters(const struct listset *lists, struct list_hits *hits)
{
    for (size_t i = 0; i < hits->n; i++) {
        struct list_hit *hit = &hits->v[i];
        if (hit->answer == LIST_POSSIBLE && hit->is_filtered &&
            !listset_config(lists, hit->list)->is_allow &&
            !may_be_allowed(lists, hits, hit->value)) {
            hit->answer = LIST_UNVERIFIED;
        }
    }
}

/* What there is of one list: the first hit of each kind, and how many count. */
struct found {
    const struct list_hit *confirmed;
    const struct list_hit *unverified;
    const struct list_hit *exempt;
    size_t n;
};

static void add_found(const struct list_hit **place, const struct list_hit *hit)
{
    *place = *place == NULL ? hit : *place;
}

static struct found find_hits(const struct judging *j, size_t list)
{
    bool is_allow = listset_config(j->lists, list)->is_allow;
    struct found f = {.n = 0};

    for (size_t k = 0; k < j->hits->n; k++) {
        const struct list_hit *hit = &j->hits->v[k];
        bool is_confirmed = hit->answer == LIST_CONFIRMED;
        if (hit->list != list || (!is_confirmed && hit->answer != LIST_UNVERIFIED)) {
            continue;
        }
        if (!is_allow && list_symbols_is_exempt(j, hit->value)) {
            add_found(&f.exempt, hit);
            continue;
        }
        add_found(is_confirmed ? &f.confirmed : &f.unverified, hit);
        f.n++;
    }
    return f;
}

/* A hit of the filter alone: it scores, but no rule sees it. */
static void judge_unverified(struct judging *j, size_t i, const struct found *f)
{
    const struct config_list *list = listset_config(j->lists, i);
    double score = j->v->allow == NULL ? list->weight : 0;

    add_list_symbol(j, list_reader_name(listset_reader(j->lists, i)), !list->is_learnt,
                    score, make_detail(j, "unverified, ", f->unverified, f->n - 1));
    j->unverified += list->is_learnt ? 0 : score;
    j->v->limits |= LIMIT_FLAG(unverified);
}

/* The symbol of the i-th list, if it has a hit that counts. */
static void judge_list(struct judging *j, size_t i)
{
    const struct config_list *list = listset_config(j->lists, i);
    const char *name = list_reader_name(listset_reader(j->lists, i));
    const struct found f = find_hits(j, i);
    const struct list_hit *first = f.confirmed == NULL ? f.unverified : f.confirmed;

    if (first == NULL && f.exempt == NULL) {
        return;
    }
    if (first == NULL) {
        verdict_add_symbol(j->v, "LIST_", name, 0,
                           make_detail(j, "exempt, ", f.exempt, 0));
    } else if (list->shadow) {
        verdict_add_symbol(j->v, "LIST_", name, 0,
                           make_detail(j, "shadow, ", first, f.n - 1));
    } else if (f.confirmed == NULL) {
        judge_unverified(j, i, &f);
    } else if (!list->is_allow) {
        keep_list_hit(j, first);
        add_list_symbol(j, name, !list->is_learnt,
                        j->v->allow == NULL ? list->weight : 0,
                        make_detail(j, "", first, f.n - 1));
    } else if (j->v->allow == NULL) { /* why a listed sender was not let through */
        keep_list_hit(j, first);
        verdict_add_symbol(j->v, "LIST_", name, 0,
                           make_detail(j,
                                       allow_is_exemption(first->report_type)
                                           ? "allow, "
                                           : "allow, not authenticated, ",
                                       first, f.n - 1));
    }
}

static void on_peers_symbol(void *context, const struct peers_symbol *s)
{
    struct judging *j = context;
    double score = j->v->allow == NULL ? s->score : 0;
    bool is_learnt = config_list_find(j->facts.config, slice_str(s->name))->is_learnt;

    add_list_symbol(j, s->name, s->has_quorum && !is_learnt, score,
                    make_detail(j, s->note, s->hit, 0));
    if (s->has_quorum && score > 0) {
        keep_list_hit(j, s->hit);
    }
}

static void judge_peers(struct judging *j)
{
    struct peers_case c = {.config = j->facts.config,
                           .lists = j->lists,
                           .hits = j->hits,
                           .on_symbol = on_peers_symbol,
                           .is_exempt = list_symbols_is_exempt,
                           .context = j};
    peers_judge(&c);
}

void list_symbols_add(struct judging *j)
{
    for (size_t i = 0; i < listset_count(j->lists); i++) {
        judge_list(j, i);
    }
    judge_peers(j);
}
