#include "core/campaign/campaign_report.h"

#include "core/message/feature/feature.h"

enum { ITEMS_MAX = 64 };

/* Whether a report about the campaign votes on the key. An attachment such as a logo may be in mail
 * of others, so most messages must have it. */
static bool is_voted_on(const struct campaign *c, const struct campaign_item *k)
{
    bool is_of_most = k->messages == UINT8_MAX || k->messages * 2 >= c->messages;

    return k->messages > 1 && report_proof(k->type, SLICE_NONE) != REPORT_NO_PROOF &&
           (k->type != FEATURE_attachment || is_of_most);
}

static void add_items(const struct campaign *c, struct report *ret)
{
    for (size_t i = 0; i < c->nitems && ret->nitems < REPORT_ITEMS_MAX; i++) {
        const struct campaign_item *k = &c->items[i];
        if (is_voted_on(c, k)) {
            struct report_item *to = &ret->items[ret->nitems++];
            to->digest = k->digest;
            to->type = k->type;
            to->proof = (uint8_t)report_proof(k->type, SLICE_NONE);
        }
    }
}

enum err campaign_add_items(const char *state_dir, struct slice id, struct report *ret,
                            struct errinfo *reterr)
{
    struct campaign_list list = {.n = 0};
    uint64_t number = 0;
    bool is_id = campaign_id_read(id, &number);
    enum err e = is_id ? campaigns_read(state_dir, &list, reterr) : ERR_OK;
    const struct campaign *c = is_id ? campaign_find(&list, number) : NULL;

    if (e == ERR_OK && c == NULL) {
        e = errinfo_set(reterr, ERR_NOT_FOUND, "campaign", 0,
                        "there is no campaign %.*s; it may have ended, because none of "
                        "its messages came for 14 days",
                        SLICE_ARGS(slice_head(id, CAMPAIGN_ID_SIZE)));
    }
    if (e == ERR_OK && c != NULL) {
        add_items(c, ret);
        ret->message = number;
    }
    if (e == ERR_OK && ret->nitems == 0) {
        e = errinfo_set(reterr, ERR_UNSUPPORTED, "campaign", 0,
                        "its messages share links and HTML, and no text on which a "
                        "report could vote; report messages of it instead");
    }
    campaign_list_fini(&list);
    return e;
}

void campaign_judge(struct votes *v, const struct campaign *c, uint64_t now_s,
                    struct votes_opinion *ret)
{
    struct votes_item items[ITEMS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < c->nitems && n < ITEMS_MAX; i++) {
        const struct campaign_item *k = &c->items[i];
        if (is_voted_on(c, k)) {
            items[n] = (struct votes_item){.digest = {k->digest}, .n = 1};
            items[n++].proof = (uint8_t)report_proof(k->type, SLICE_NONE);
        }
    }
    votes_judge(v, items, n, c->messages, now_s, ret);
}
