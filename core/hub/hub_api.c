/* hub_api - the HTTP API of the running hub: started, renewed and ended with it. */
#include "core/base/log.h"
#include "core/hub/hub_own.h"

static enum err ask_feed(void *context, const char *name, bool rolls_back,
                         struct errinfo *reterr)
{
    struct hub *h = context;
    uint64_t job = 0;

    return feeds_ask(h->feeds, slice_str(name),
                     rolls_back ? FEEDS_ROLLBACK : FEEDS_UPDATE, 0, &job, reterr);
}

void hub_api_start(struct hub *h)
{
    struct api_options o = {
        .config = h->config,
        .board = h->board,
        .hooks = {.context = h, .metrics = hub_signs_metrics, .feed = ask_feed},
    };
    struct errinfo why = {.text = ""};

    if (h->o.is_once || h->config->api.listen.n == 0) {
        return;
    }
    enum err e = lists_new(h->config, &h->lists, &why);

    o.lists = h->lists;
    if (e == ERR_OK) {
        surveyor_set_lists(h->surveyor, h->lists);
        e = api_new(&o, &h->api, &why);
    }
    if (e != ERR_OK) {
        log_errinfo("api", &why);
    }
    surveyor_set_api(h->surveyor, h->api);
}

void hub_api_renew(struct hub *h)
{
    if (h->lists != NULL) {
        lists_renew(h->lists, h->config);
    }
    if (h->api != NULL) {
        api_renew(h->api, h->config);
    }
}

void hub_api_stop(struct hub *h)
{
    if (h->surveyor != NULL) {
        surveyor_set_api(h->surveyor, NULL);
    }
    api_free(&h->api);
    lists_free(&h->lists);
}
