/* hub_metrics - metrics and alerts of the running hub. */
#include "core/hub/main/hub_internal.h"

enum err hub_signs_start(struct hub *h, struct errinfo *reterr)
{
    h->surveyor = metrics_collector_new(h->config, h->board);
    h->metrics = metrics_new(h->board);
    h->alerts = alerts_new(h->board);
    return h->surveyor != NULL && h->metrics != NULL && h->alerts != NULL
               ? ERR_OK
               : errinfo_nomem(reterr, "metrics");
}

void hub_signs_stop(struct hub *h)
{
    alerts_free(&h->alerts);
    metrics_free(&h->metrics);
    metrics_collector_free(&h->surveyor);
}

void hub_signs_tick(struct hub *h)
{
    struct metrics_snapshot *s = NULL;

    metrics_tick(h->metrics);
    if (alerts_are_due(h->alerts, h->config->alerts.interval_s)) {
        s = metrics_snapshot_take(h->surveyor);
    }
    if (s != NULL) {
        alerts_look(h->alerts, s);
        metrics_snapshot_free(&s);
    }
}

void hub_signs_metrics(void *context, bool has_source_names, struct buf *ret)
{
    struct hub *h = context;
    struct metrics_snapshot *s = metrics_snapshot_take(h->surveyor);

    if (s != NULL) {
        metrics_render(h->metrics, s, has_source_names, ret);
        metrics_snapshot_free(&s);
    }
}
