/* hub_http - the HTTP API of the running hub: started, renewed and ended with it. */
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/feed/feed.h"
#include "core/hub/main/hub_internal.h"
#include "core/message/feature/feature.h"
#include "core/telemetry/control_client.h"

enum {
    ASK_WAIT_US = 2 * 1000 * 1000,
    SCAN_WAIT_US = 30 * 1000 * 1000,
    QUEUE_WAIT_US = 60 * 1000 * 1000
};

/* ---- requests of the API's workers to gillnetd ---- */

static json_t *history(void *context)
{
    struct hub *h = context;
    const struct list_watcher_view *v = list_watcher_acquire(h->lists);
    json_t *all = api_history_json(h->history, v->config);

    list_watcher_release(h->lists, &v);
    return all;
}

static enum err scan(void *context, struct slice message,
                     const struct api_envelope *envelope, struct buf *ret,
                     struct errinfo *reterr)
{
    struct hub *h = context;
    struct scan_request line = {.client = slice_str(envelope->client),
                                .helo = slice_str(envelope->helo),
                                .from = slice_str(envelope->from)};
    const struct list_watcher_view *v = list_watcher_acquire(h->lists);

    for (unsigned i = 0; i < envelope->nrcpt; i++) {
        line.rcpt[line.nrcpt] = slice_str(envelope->rcpt[i]);
        line.nrcpt += line.rcpt[line.nrcpt].n > 0;
    }
    enum err e = control_client_scan(v->config->control_socket, &line, message,
                                     clock_mono_us() + SCAN_WAIT_US, ret, reterr);
    list_watcher_release(h->lists, &v);
    return e;
}

static enum err send_report(void *context, struct scan_request *line, struct slice body,
                            struct buf *ret, struct errinfo *reterr)
{
    struct hub *h = context;
    const struct list_watcher_view *v = list_watcher_acquire(h->lists);
    enum err e = control_client_scan(v->config->control_socket, line, body,
                                     clock_mono_us() + SCAN_WAIT_US, ret, reterr);

    list_watcher_release(h->lists, &v);
    return e;
}

static enum err ask(void *context, struct slice line, struct buf *ret,
                    struct errinfo *reterr)
{
    struct hub *h = context;
    const struct list_watcher_view *v = list_watcher_acquire(h->lists);
    enum err e = control_client_ask(v->config->control_socket, line, SLICE_NONE,
                                    clock_mono_us() + ASK_WAIT_US, ret, reterr);

    list_watcher_release(h->lists, &v);
    return e;
}

static enum err ask_queue(void *context, struct slice line, struct buf *ret,
                          struct errinfo *reterr)
{
    struct hub *h = context;
    const struct list_watcher_view *v = list_watcher_acquire(h->lists);
    const char *path = v->config->quarantine.socket;
    enum err e = control_client_ask(path, line, SLICE_NONE,
                                    clock_mono_us() + QUEUE_WAIT_US, ret, reterr);

    if (e == ERR_NOT_FOUND) {
        e = errinfo_set(reterr, e, path, 0,
                        "gillnet-queue does not listen there; systemctl enable --now "
                        "gillnet-queue.socket");
    }
    list_watcher_release(h->lists, &v);
    return e;
}

/* ---- feeds ---- */

static enum err ask_feed(void *context, const char *name, bool rolls_back,
                         struct errinfo *reterr)
{
    struct hub *h = context;
    uint64_t job = 0;

    return feeds_ask(h->feeds, slice_str(name),
                     rolls_back ? FEEDS_ROLLBACK : FEEDS_UPDATE, 0, &job, reterr);
}

/* ---- up and down ---- */

void hub_api_start(struct hub *h)
{
    static const struct config_types types = {.is_sought = feature_is_sought,
                                              .is_counted = feature_is_counted,
                                              .is_trait = trait_is_known,
                                              .is_format = feed_format_is_known,
                                              .is_feature = feature_is_of_message};
    struct api_options o = {
        .config = h->config,
        .board = h->board,
        .hooks = {.context = h,
                  .metrics = hub_signs_metrics,
                  .history = history,
                  .scan = scan,
                  .report = send_report,
                  .ask = ask,
                  .queue = ask_queue,
                  .types = &types,
                  .feed = ask_feed},
    };
    struct errinfo why = {.text = ""};

    if (h->o.is_once) {
        return;
    }
    if (forms_new(h->config, &h->forms, &why) != ERR_OK) {
        log_errinfo("list_form", &why);
    }
    if (h->config->api.listen.n == 0) {
        return;
    }
    enum err e = list_watcher_new(h->config, &h->lists, &why);

    h->history = api_history_new();
    if (e == ERR_OK && h->history == NULL) {
        e = errinfo_nomem(&why, "api");
    }
    hub_show_headline(h);
    o.lists = h->lists;
    metrics_collector_set(h->surveyor, h->lists, NULL);
    THEN(e, api_new(&o, &h->api, &why));
    if (e != ERR_OK) {
        log_errinfo("api", &why);
    }
    metrics_collector_set(h->surveyor, h->lists, h->api);
}

void hub_api_renew(struct hub *h)
{
    if (h->forms != NULL) {
        forms_renew(h->forms, h->config);
    }
    if (h->lists != NULL) {
        list_watcher_renew(h->lists, h->config);
    }
    if (h->api != NULL) {
        api_renew(h->api, h->config);
    }
}

void hub_api_stop(struct hub *h)
{
    if (h->surveyor != NULL) {
        metrics_collector_set(h->surveyor, NULL, NULL);
    }
    api_free(&h->api);
    api_history_free(&h->history);
    list_watcher_free(&h->lists);
    forms_free(&h->forms);
}
