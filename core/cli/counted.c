/* counted - how often the features of a message were seen. */
#include "core/cli/counted.h"

#include <stdio.h>

#include "core/base/hash256.h"
#include "core/cli/evidence.h"
#include "core/cli/figure.h"
#include "core/cli/text.h"

json_t *counted_windows_json(const uint64_t w[COUNT_WINDOWS])
{
    return json_pack("{s:I, s:I, s:I, s:I}", "w10m", (json_int_t)w[COUNT_10M], "w1h",
                     (json_int_t)w[COUNT_1H], "w1d", (json_int_t)w[COUNT_1D], "w14d",
                     (json_int_t)w[COUNT_14D]);
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

json_t *counted_peers_json(const struct count_shares *s)
{
    json_t *peers = json_array();

    for (unsigned i = 1; i < s->n; i++) {
        const struct origin_row *row = s->v[i].origin;
        char hex[2 * ORIGIN_BYTES + 1];
        json_t *windows = counted_windows_json(s->v[i].w);

        hex_print(row->origin, ORIGIN_BYTES, hex);
        json_t *object = json_pack("{s:s, s:s, s:I}", "origin", hex, "name", row->name,
                                   "cap", (json_int_t)row->cap);
        if (object != NULL && windows != NULL) {
            (void)json_object_update(object, windows);
        }
        json_decref(windows);
        (void)json_array_append_new(peers, object);
    }
    return peers;
}

/* Who counted it. False: there is no ring, and no need to ask again. */
static bool ask_shares(const struct message_counts *counts, const struct counted *c,
                       struct count_shares *ret)
{
    const struct count_port *port = counts->port;

    *ret = (struct count_shares){.n = 0};
    if (port == NULL || port->shares == NULL) {
        return false;
    }
    port->shares(port->context, c->digest, ret);
    if (ret->n == 0 || ret->npeers == 0) {
        count_shares_fini(ret);
        return false;
    }
    return true;
}

static void add_shares(json_t *object, const struct count_shares *s)
{
    if (s->n > 1) {
        (void)json_object_set_new(object, "own", counted_windows_json(s->v[0].w));
        (void)json_object_set_new(object, "peers", counted_peers_json(s));
    }
}

json_t *counted_json(const struct message_counts *counts, bool is_exact)
{
    json_t *array = json_array();
    bool is_ring = true;

    for (size_t i = 0; i < counts->n; i++) {
        const struct counted *c = &counts->v[i];
        struct count_shares shares;
        if (c->value.w[COUNT_14D] == 0) {
            continue;
        }
        json_t *object =
            json_pack("{s:s, s:o, s:b}", "type", evidence_type_name(c->feature->type),
                      "value", json_text(c->feature->text), "exact", (int)is_exact);
        json_t *windows = counted_windows_json(c->value.w);
        if (object != NULL && windows != NULL) {
            (void)json_object_update(object, windows);
        }
        json_decref(windows);
        if (c->has_distinct) {
            (void)json_object_set_new(object, "distinct", distinct_json(c));
        }
        is_ring = is_ring && ask_shares(counts, c, &shares);
        if (is_ring) {
            add_shares(object, &shares);
            count_shares_fini(&shares);
        }
        (void)json_array_append_new(array, object);
    }
    return array;
}

void counted_print_windows(const uint64_t w[COUNT_WINDOWS])
{
    char number[FIGURE_MAX];

    for (unsigned i = 0; i < COUNT_WINDOWS; i++) {
        printf("%s%s in %s", i == 0 ? "" : ", ", figure_count(w[i], number),
               count_window_name(i));
    }
}

static void print_shares(const struct count_shares *s)
{
    if (s->n < 2) {
        return;
    }
    printf(" (in %s own %llu", count_window_name(COUNT_14D),
           (unsigned long long)s->v[0].w[COUNT_14D]);
    for (unsigned i = 1; i < s->n; i++) {
        printf(", %s %llu", s->v[i].origin->name,
               (unsigned long long)s->v[i].w[COUNT_14D]);
    }
    (void)putchar(')');
}

void counted_print(const struct message_counts *counts)
{
    bool is_ring = true;

    for (size_t i = 0; i < counts->n; i++) {
        const struct counted *c = &counts->v[i];
        struct count_shares shares;
        if (c->value.w[COUNT_14D] == 0) {
            continue;
        }
        printf("  count %s ", evidence_type_name(c->feature->type));
        text_print(stdout, c->feature->text, EVIDENCE_SHOWN);
        (void)putchar(' ');
        counted_print_windows(c->value.w);
        for (unsigned kind = 0; c->has_distinct && kind < DISTINCT_KINDS; kind++) {
            printf(", %llu %s", (unsigned long long)c->distinct[kind],
                   count_distinct_name(kind));
        }
        is_ring = is_ring && ask_shares(counts, c, &shares);
        if (is_ring) {
            print_shares(&shares);
            count_shares_fini(&shares);
        }
        (void)putchar('\n');
    }
    if (counts->is_cut) {
        (void)puts("  count: some features were too many to be counted");
    }
}
