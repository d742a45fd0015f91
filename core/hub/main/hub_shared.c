/* hub_shared - the hub and the store that the servers of its ring share. */
#include "core/base/log.h"
#include "core/hub/main/hub_internal.h"

void hub_shared_start(struct hub *h)
{
    struct errinfo why;

    if (h->config->store.kind == STORE_OFF || h->o.is_once) {
        return;
    }
    if (shared_new(h->base, h->config, &h->node, h->exchange, &h->shared, &why) !=
        ERR_OK) {
        log_errinfo("store", &why);
    }
}

bool hub_counts_in_store(const struct hub *h)
{
    return h->started->store.kind != STORE_OFF && h->node.manifest.kind == RING_OWN;
}

bool hub_shares(const struct hub *h)
{
    return h->shared != NULL && h->node.is_open && h->node.manifest.kind == RING_OWN;
}

struct exchange_sources hub_shared_source(const struct hub *h)
{
    return hub_shares(h) ? shared_source(h->shared)
                         : (struct exchange_sources){.called = 0};
}
