/* rating_input - the properties of each list, and the rating of a hit by all lists. */
#include "core/list/rating_input.h"

static bool read_counts(const struct rating_sources *v, struct slice list,
                        struct lookup_stats_counts *ret)
{
    if (v->view != NULL) {
        return lookup_stats_view_find(v->view, list, LOOKUP_STATS_WHOLE, ret);
    }
    const struct lookup_stats_row *row =
        v->hits == NULL ? NULL
                        : lookup_stats_row_find(v->hits, list, LOOKUP_STATS_WHOLE);
    if (row != NULL) {
        lookup_stats_row_read(row, ret);
    }
    return row != NULL;
}

struct rating_input rating_input_of(const struct rating_sources *v,
                                    const struct list_reader *r)
{
    struct slice name = slice_str(list_reader_name(r));
    const struct config_list *list = config_list_find(v->config, name);
    struct lookup_stats_counts counts = {.since_s = 0};
    struct rating_input ret = {.is_allow = list->is_allow,
                               .is_learnt = list->is_learnt,
                               .is_shadow = list->shadow,
                               .weight = list->weight};

    list_reader_totals(r, &ret.listed, &ret.revoked);
    if (read_counts(v, name, &counts)) {
        ret.confirmed =
            counts.number[LOOKUP_STATS_CONFIRMED] + counts.number[LOOKUP_STATS_REVOKED];
        ret.false_positives = counts.number[LOOKUP_STATS_FALSE];
    }
    return ret;
}

struct rating_result rating_of_hit(const struct rating_sources *v,
                                   const struct listset *set,
                                   const struct list_hits *hits, size_t i)
{
    const struct list_hit *of = &hits->v[i];
    struct rating_sum sum = rating_begin(1, 1);

    if (list_is_allowed(v->config, of->value)) {
        rating_allow(&sum);
    }

    for (size_t k = 0; k < hits->n; k++) {
        const struct list_hit *h = &hits->v[k];
        if (h->report_type != of->report_type || !slice_eq(h->value, of->value) ||
            h->silence != LIST_NOT_SUPPRESSED) {
            continue;
        }
        struct rating_input one = rating_input_of(v, listset_reader(set, h->list));
        /* all peers together are as one list */
        one.list = h->list < listset_count(set) ? h->list : listset_count(set);
        one.answer = h->answer;
        one.is_explicit = h->is_explicit;
        one.is_shadow = one.is_shadow || !(listset_weight(set, h->list) > 0);
        one.weight *= listset_weight(set, h->list);
        rating_add(&sum, &one);
    }
    return rating_end(&sum, v->config);
}
