/* explain - a judged message as JSON. */
#include "core/verdict/explain.h"

#include "core/count/count_json.h"
#include "core/message/feature/feature_json.h"

static json_t *symbols_json(const struct verdict *v)
{
    json_t *array = json_array();

    for (size_t i = 0; i < v->nsymbols; i++) {
        const struct symbol *s = &v->symbols[i];
        (void)json_array_append_new(array, json_pack("{s:s, s:f, s:o}", "name", s->name,
                                                     "score", s->score, "detail",
                                                     json_text(s->detail)));
    }
    return array;
}

static json_t *hits_json(const struct explain_case *c)
{
    const struct listset *set = c->lists;
    json_t *array = json_array();

    for (size_t i = 0; i < c->hits->n; i++) {
        const struct list_hit *h = &c->hits->v[i];
        struct rating_result s = rating_of_hit(c->voices, set, c->hits, i);
        const char *silence =
            h->silence == LIST_NOT_SUPPRESSED
                ? NULL
                : list_suppression_name((enum list_suppression)h->silence);
        (void)json_array_append_new(
            array, json_pack("{s:s, s:s*, s:s*, s:s, s:o, s:s, s:s, s:b, s:f}", "list",
                             list_reader_name(listset_reader(set, h->list)), "origin",
                             listset_origin(set, h->list), "silent", silence, "type",
                             feature_type_name(h->report_type), "value",
                             json_text(h->value), "status", list_answer_name(h->answer),
                             "rating", rating_name(s.rating), "requires_blocking",
                             (int)s.requires_blocking, "confidence", s.confidence));
    }
    return array;
}

static json_t *identity_json(const struct identity *identity)
{
    json_t *array = json_array();

    for (unsigned w = 0; w < IDENTITY_WORDS; w++) {
        if (identity_has(identity, (enum identity_word)w)) {
            (void)json_array_append_new(array, json_string(identity_name(w)));
        }
    }
    return array;
}

json_t *explain_json(const struct explain_case *c)
{
    const struct verdict *v = c->verdict;

    return json_pack("{s:o, s:s, s:f, s:o, s:o*, s:o, s:o, s:o, s:o, s:o, s:I}", "file",
                     json_text(c->file), "action", action_name(v->action), "score",
                     v->score, "identity", identity_json(c->identity), "unproved",
                     v->unproved.n > 0 ? json_text(v->unproved) : NULL, "symbols",
                     symbols_json(v), "features", json_features(c->features, false),
                     "lists", hits_json(c), "counts",
                     count_json(c->counts, c->counts_are_exact), "limits",
                     json_limits(v->limits), "time_us", (json_int_t)c->time_us);
}
