/* count_json - how often keys were counted, as JSON. */
#include "core/count/count_json.h"

#include "core/base/hash256.h"
#include "core/message/feature/feature_json.h"

json_t *count_json_windows(const uint64_t w[COUNT_WINDOWS])
{
    return json_pack("{s:I, s:I, s:I, s:I}", "w10m", (json_int_t)w[COUNT_10M], "w1h",
                     (json_int_t)w[COUNT_1H], "w1d", (json_int_t)w[COUNT_1D], "w14d",
                     (json_int_t)w[COUNT_14D]);
}

json_t *count_json_judged(const struct judged *j)
{
    json_t *object = json_object();

    for (unsigned kind = 0; kind < JUDGEMENTS; kind++) {
        uint64_t w[COUNT_WINDOWS];
        for (unsigned i = 0; i < COUNT_WINDOWS; i++) {
            w[i] = j->n[i][kind];
        }
        (void)json_object_set_new(object, judgement_name(kind), count_json_windows(w));
    }
    return object;
}

static json_t *distinct_json(const struct counted *c)
{
    json_t *object = json_object();

    for (unsigned kind = 0; kind < DISTINCT_KINDS; kind++) {
        (void)json_object_set_new(object, count_distinct_name(kind),
                                  json_integer((json_int_t)c->distinct[kind]));
    }
    return object;
}

json_t *count_json_row(const uint64_t *v, size_t n)
{
    json_t *array = json_array();

    for (size_t i = 0; i < n; i++) {
        (void)json_array_append_new(array, json_integer((json_int_t)v[i]));
    }
    return array;
}

static json_t *peers_json(const struct count_breakdown *s)
{
    json_t *peers = json_array();

    for (unsigned i = 1; i < s->n; i++) {
        const struct origin_row *row = s->v[i].origin;
        char hex[2 * ORIGIN_BYTES + 1];
        json_t *windows = count_json_windows(s->v[i].w);

        hex_print(row->origin, ORIGIN_BYTES, hex);
        json_t *object =
            json_pack("{s:s, s:s, s:o}", "origin", hex, "name", row->name, "cap",
                      row->cap >= ORIGIN_NO_CAP ? json_null()
                                                : json_integer((json_int_t)row->cap));
        if (object != NULL && windows != NULL) {
            (void)json_object_update(object, windows);
        }
        json_decref(windows);
        (void)json_array_append_new(peers, object);
    }
    return peers;
}

static void add_who(json_t *object, const struct count_breakdown *s)
{
    (void)json_object_set_new(object, "own", count_json_windows(s->v[0].w));
    (void)json_object_set_new(object, "peers", peers_json(s));
}

void count_json_add_shares(json_t *object, const struct count_breakdown *s)
{
    uint64_t bounded[COUNT_WINDOWS];

    if (s->npeers == 0) {
        return;
    }
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        bounded[w] = count_breakdown_bounded(s, w);
    }
    add_who(object, s);
    (void)json_object_set_new(object, "counts", count_json_windows(bounded));
}

json_t *count_json(const struct message_counts *counts, bool is_exact)
{
    json_t *array = json_array();
    bool is_ring = true;

    for (size_t i = 0; i < counts->n; i++) {
        const struct counted *c = &counts->v[i];
        struct count_breakdown shares;
        if (c->value.w[COUNT_14D] == 0) {
            continue;
        }
        json_t *object =
            json_pack("{s:s, s:o, s:b}", "type", feature_type_name(c->feature->type),
                      "value", json_text(c->feature->text), "exact", (int)is_exact);
        json_t *windows = count_json_windows(c->value.w);
        if (object != NULL && windows != NULL) {
            (void)json_object_update(object, windows);
        }
        json_decref(windows);
        if (c->has_distinct) {
            (void)json_object_set_new(object, "distinct", distinct_json(c));
        }
        is_ring = is_ring && message_counts_shares(counts, c, &shares);
        if (is_ring) {
            if (shares.n > 1) {
                add_who(object, &shares);
            }
            count_breakdown_fini(&shares);
        }
        (void)json_array_append_new(array, object);
    }
    return array;
}
