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

static void read_votes(struct mailings *m, const struct config *config)
{
    struct errinfo why = {.text = ""};
    struct keyring keys;
    const struct reports_options options = {
        .state_dir = config->state_dir, .keys = &keys, .config = config};
    enum err e = keyring_load(config->state_dir, &keys, &why);

    THEN(e, reports_follower_votes(m->reports, &options, &m->votes, &why));
    if (e != ERR_OK) {
        log_errinfo("campaigns", &why);
    }
    explicit_bzero(&keys, sizeof(keys));
}

/* False: it was refused. */
static bool read_mailings(struct api_call *call, struct mailings *ret)
{
    struct errinfo why = {.text = ""};

    *ret = (struct mailings){.reports = call->api->reports};

    if (campaigns_read(call->config->state_dir, &ret->list, &why) == ERR_OK) {
        read_votes(ret, call->config);
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
        api_answer_json(call, campaign_json(c, call->config, found.votes));
    } else {
        api_refuse(call, 404, "there is no such campaign; it may have ended");
    }
    free_mailings(&found);
}
