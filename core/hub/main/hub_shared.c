/* hub_shared - the hub and the store that the servers of its ring share. */
#include "core/base/log.h"
#include "core/hub/main/hub_internal.h"
#include "core/hub/shared/shared_json.h"

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

/* ---- status ---- */

json_t *hub_shared_json(const struct hub *h)
{
    static const char *const modes[] = {[STORE_SINGLE] = "single",
                                        [STORE_SENTINEL] = "sentinel",
                                        [STORE_CLUSTER] = "cluster"};
    struct shared_status *s = NULL;
    json_t *all = NULL;

    if (h->shared == NULL) {
        return json_null();
    }
    s = malloc(sizeof(*s));
    if (s != NULL) {
        shared_get_status(h->shared, s);
        all = shared_status_json(s, modes[h->started->store.mode]);
    }
    free(s);
    return all;
}

static void show_store(const struct hub *h, struct buf *ret)
{
    json_t *all = hub_shared_json(h);
    char *text = all != NULL ? json_dumps(all, JSON_COMPACT) : NULL;

    buf_printf(ret, text != NULL ? "ok store\n%s\n" : "error no memory%s\n",
               text != NULL ? text : "");
    free(text);
    json_decref(all);
}

/* "store-verify", "store-repair" */
static void begin_check(struct hub *h, bool is_repair, struct buf *ret)
{
    uint64_t job = 0;
    enum err e = shared_check(h->shared, is_repair, &job);

    if (e == ERR_OK) {
        buf_printf(ret, "ok job=%" PRIu64 "\n", job);
    } else {
        buf_printf(ret, "error %s\n",
                   e == ERR_LOCKED      ? "the store is being compared already"
                   : e == ERR_NOT_FOUND ? "no ring of kind own is open"
                                        : err_text(e));
    }
}

/* "store-job NUMBER" */
static void answer_check(const struct hub *h, struct slice job, struct buf *ret)
{
    enum { DECIMAL = 10 };
    uint64_t number = 0;
    json_t *rows = NULL;
    enum err e = slice_to_u64(job, DECIMAL, UINT64_MAX, &number)
                     ? shared_checked(h->shared, number, &rows)
                     : ERR_NOT_FOUND;

    if (e == ERR_OK) {
        buf_add_str(ret, "ok done\n");
        hub_add_lines(ret, rows);
    } else {
        buf_add_str(ret, e == ERR_LOCKED ? "ok running\n"
                                         : "error nothing is known of this\n");
    }
}

void hub_answer_store(void *context, struct slice line, bool may_change,
                      struct buf *ret)
{
    const struct slice job = SLICE_LIT("store-job ");
    struct hub *h = context;

    if (h->config->store.kind == STORE_OFF) {
        buf_add_str(ret, "error no store is configured: store.kind is off\n");
    } else if (h->shared == NULL) {
        buf_add_str(ret, "error the store was not opened at the hub's start: see its "
                         "log, and restart it\n");
    } else if (slice_eq(line, SLICE_LIT("store"))) {
        show_store(h, ret);
    } else if (slice_eq(line, SLICE_LIT("store-look"))) {
        shared_look(h->shared);
        show_store(h, ret);
    } else if (slice_eq(line, SLICE_LIT("store-verify"))) {
        begin_check(h, false, ret);
    } else if (slice_has_prefix(line, job)) {
        answer_check(h, slice_from(line, job.n), ret);
    } else if (!may_change) {
        buf_add_str(ret, "error only root and the hub's own user may do this\n");
    } else if (slice_eq(line, SLICE_LIT("store-repair"))) {
        begin_check(h, true, ret);
    } else {
        buf_add_str(ret, "error unknown request of the store\n");
    }
}
