/* rating_input - what each list is like, and what all of them call a value. */
#include "core/list/rating_input.h"

static bool read_counts(const struct voices *v, struct slice list,
                        struct hits_counts *ret)
{
    if (v->view != NULL) {
        return hits_view_find(v->view, list, HITS_WHOLE, ret);
    }
    const struct hits_row *row =
        v->hits == NULL ? NULL : hits_row_find(v->hits, list, HITS_WHOLE);
    if (row != NULL) {
        hits_row_read(row, ret);
    }
    return row != NULL;
}

struct standing_voice voice_of(const struct voices *v, const struct list_reader *r)
{
    struct slice name = slice_str(list_reader_name(r));
    const struct config_list *list = config_list_find(v->config, name);
    struct hits_counts counts = {.since_s = 0};
    struct standing_voice ret = {
        .is_allow = list->is_allow, .is_shadow = list->shadow, .weight = list->weight};

    list_reader_totals(r, &ret.listed, &ret.revoked);
    if (read_counts(v, name, &counts)) {
        ret.confirmed = counts.number[HITS_CONFIRMED] + counts.number[HITS_REVOKED];
        ret.false_positives = counts.number[HITS_FALSE];
    }
    return ret;
}

struct standing_result voice_standing(const struct voices *v, const struct listset *set,
                                      const struct list_hits *hits, size_t i)
{
    const struct list_hit *of = &hits->v[i];
    struct standing_sum sum = standing_begin(1, 1);

    if (list_is_allowed(v->config, of->value)) {
        standing_allow(&sum);
    }

    for (size_t k = 0; k < hits->n; k++) {
        const struct list_hit *h = &hits->v[k];
        if (h->report_type != of->report_type || !slice_eq(h->value, of->value) ||
            h->silence != LIST_HEARD) {
            continue;
        }
        struct standing_voice one = voice_of(v, listset_reader(set, h->list));
        /* all peers together are as one list */
        one.list = h->list < listset_count(set) ? h->list : listset_count(set);
        one.answer = h->answer;
        one.is_explicit = h->is_explicit;
        one.is_shadow = one.is_shadow || !(listset_weight(set, h->list) > 0);
        one.weight *= listset_weight(set, h->list);
        standing_add(&sum, &one);
    }
    return standing_end(&sum, v->config);
}
