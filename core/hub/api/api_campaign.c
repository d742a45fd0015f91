/* api_campaign - campaigns: mailings by near replicas, links and templates. */
#include "core/base/keyring.h"
#include "core/base/log.h"
#include "core/campaign/campaign_json.h"
#include "core/hub/api/api_handlers.h"
#include "core/report/reports.h"

static const char *const sorts[] = {"last",     "first",   "messages", "networks",
                                    "senders",  "score",   "sender",   "subject",
                                    "accepted", "refused", NULL};
static const char *const words[] = {"id", "sender", "subject", NULL};
static const char *const key[] = {"id", NULL};
static const struct api_table table = {.sorts = sorts, .words = words, .key = key};

/* Campaigns and reports. */
struct mailings {
    struct campaign_list list;
    struct reports_follower *reports;
    struct votes *votes; /* NULL: not known; of reports */
};

static void free_mailings(struct mailings *m)
{
    campaign_list_fini(&m->list);
    if (m->votes != NULL) {
        reports_follower_release(m->reports);
    }
}

bool api_votes(struct api_call *call, struct votes **ret, struct errinfo *reterr)
{
    struct keyring keys;
    const struct reports_options options = {
        .state_dir = call->config->state_dir, .keys = &keys, .config = call->config};
    enum err e = keyring_load(call->config->state_dir, &keys, reterr);

    *ret = NULL;
    THEN(e, reports_follower_votes(call->api->reports, &options, ret, reterr));
    explicit_bzero(&keys, sizeof(keys));
    return e == ERR_OK;
}

/* False: it was refused. */
static bool read_mailings(struct api_call *call, struct mailings *ret)
{
    struct errinfo why = {.text = ""};

    *ret = (struct mailings){.reports = call->api->reports};

    if (campaigns_read(call->config->state_dir, &ret->list, &why) == ERR_OK) {
        if (!api_votes(call, &ret->votes, &why)) {
            log_errinfo("campaigns", &why);
        }
        return true;
    }
    api_refuse(call, 503, "the campaigns cannot be read: %s", why.text);
    return false;
}

void api_v1_campaigns(struct api_call *call)
{
    struct mailings found;
    struct api_rows_query q;

    if (!api_table_query(call, &table, &q)) {
        return;
    }
    if (!read_mailings(call, &found)) {
        api_rows_fini(&q);
        return;
    }
    json_t *all = json_array();
    for (size_t i = 0; i < found.list.n; i++) {
        (void)json_array_append_new(
            all, campaign_json(&found.list.v[i], call->config, found.votes));
    }
    api_answer_json(call, api_table_page("campaigns", all, &table, &q));
    free_mailings(&found);
}

/* Reads ?id=ID. False: refused. */
static bool read_id(struct api_call *call, uint64_t *ret)
{
    char value[CAMPAIGN_ID_SIZE];
    struct slice rest = call->request.query;
    struct slice name;
    bool is_bad = false;
    unsigned n = 0;

    while (http_query_next(&rest, &name, value, sizeof(value), &is_bad)) {
        is_bad = is_bad || n++ > 0 || !slice_eq(name, SLICE_LIT("id")) ||
                 !campaign_id_read(slice_str(value), ret);
        if (is_bad) {
            break;
        }
    }
    if (is_bad || n != 1) {
        api_refuse(call, 422, "the query is ?id= and the id of a campaign");
        return false;
    }
    return true;
}

void api_v1_campaign(struct api_call *call)
{
    struct mailings found;
    uint64_t id = 0;

    if (!read_id(call, &id) || !read_mailings(call, &found)) {
        return;
    }
    const struct campaign *c = campaign_find(&found.list, id);
    if (c != NULL) {
        json_t *answer = campaign_json(c, call->config, found.votes);
        (void)json_object_set_new(answer, "keys", campaign_keys_json(c));
        api_answer_json(call, answer);
    } else {
        api_refuse(call, 404, "there is no such campaign; it may have ended");
    }
    free_mailings(&found);
}

json_t *api_campaign_of(struct api_call *call, const struct campaign_item *keys,
                        size_t n)
{
    struct errinfo why = {.text = ""};
    struct mailings found = {.reports = call->api->reports};
    json_t *ret = NULL;

    if (campaigns_read(call->config->state_dir, &found.list, &why) != ERR_OK) {
        log_errinfo("campaigns", &why);
        return json_null();
    }
    const struct campaign *c = campaign_of_keys(&found.list, keys, n);
    if (c != NULL) {
        if (!api_votes(call, &found.votes, &why)) {
            log_errinfo("campaigns", &why);
        }
        ret = campaign_json(c, call->config, found.votes);
    }
    free_mailings(&found);
    return ret != NULL ? ret : json_null();
}
