/* hub_ring - the hub and its ring: opens and closes the files, activates new keys, answers
 * peers. */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/main/hub_internal.h"
#include "core/ring/trust/digest_key.h"
#include "core/ring/trust/invite.h"
#include "core/ring/trust/ring.h"

enum {
    TURN_TICKS = 10, /* between looks at keys that wait for their time */
    LOCK_TICKS = 10, /* while a command has the folder, before it is logged */
    EXPIRY_WARN_DAYS = 14,
    ONCE_LEAST_S = 1 /* counts are looked at once */
};

/* ---- opening and closing the ring's files ---- */

void hub_ring_close(struct hub *h)
{
    struct errinfo why;

    if (h->shared != NULL) {
        shared_pause(h->shared);
    }
    count_publisher_free(&h->counts);
    list_publisher_free(&h->share);
    vote_publisher_free(&h->votes);
    summary_publisher_free(&h->summary);
    node_close(&h->node);
    (void)exchange_renew(h->exchange, h->config, &why); /* nothing is made */
    peer_server_wake(h->server);
}

static void listen_for_peers(struct hub *h)
{
    const char *address = h->config->hub.listen;
    bool is_auto = strcmp(address, "auto") == 0;
    const struct manifest_member *self = node_self(&h->node);
    struct errinfo why;

    if (h->o.is_once || strcmp(address, "off") == 0 ||
        peer_server_is_listening(h->server) ||
        (is_auto && (self == NULL || self->address[0] == '\0'))) {
        return;
    }
    address = is_auto ? self->address : address;
    if (peer_server_listen(h->server, address, is_auto, &why) != ERR_OK) {
        hub_trouble(h, "listen", &why);
        return;
    }
    log_info("event=listen address=%s", address);
}

/* Adapts the connections to the current manifest and keys. */
static void renew(struct hub *h)
{
    struct errinfo why;

    if (node_self(&h->node) == NULL) {
        log_error(
            "event=ring state=out: this server is no longer an active member of its "
            "ring: peers refuse it, its counts and lists stay local");
    }
    if (peer_server_renew(h->server, &why) != ERR_OK ||
        exchange_renew(h->exchange, h->config, &why) != ERR_OK) {
        hub_trouble(h, "ring", &why);
        return;
    }
    listen_for_peers(h);
}

void hub_ring_on_renew(evutil_socket_t fd, short what, void *context)
{
    struct hub *h = context;

    (void)fd;
    (void)what;
    if (h->needs_reopen && h->node.is_open) {
        h->needs_reopen = false;
        hub_ring_close(h);
        hub_ring_open(h);
    } else if (h->node.is_open) {
        renew(h);
    }
}

void hub_ring_renew_soon(struct hub *h)
{
    static const struct timeval now = {0, 0};

    (void)event_add(h->renew, &now);
}

void hub_ring_open(struct hub *h)
{
    struct errinfo why = {.text = ""};
    enum err e = ERR_OK;

    if (h->is_paused || h->node.is_open) {
        return;
    }
    e = node_open(&h->node, &why);
    h->is_locked = e == ERR_LOCKED;
    if (e == ERR_LOCKED && !h->o.is_once && h->ticks % LOCK_TICKS != LOCK_TICKS - 1) {
        return; /* a command is at work: a moment later */
    }
    if (e == ERR_NOT_FOUND) { /* no failure: `gillnet peer` makes a ring */
        if (!h->is_waiting) {
            h->is_waiting = true;
            log_info("event=ring state=none: waiting for `gillnet peer ring create` or "
                     "`gillnet peer join TOKEN`");
        }
        return;
    }
    if (e != ERR_OK) {
        hub_trouble(h, "ring", &why);
        return;
    }
    h->is_waiting = false;
    hub_trouble(h, NULL, NULL);
    log_info("event=ring state=open manifest=%llu members=%u",
             (unsigned long long)h->node.manifest.version, h->node.manifest.nmembers);
    if (!hub_counts_in_store(h) &&
        count_publisher_new(&h->node, &h->counts, &why) != ERR_OK) {
        hub_trouble(h, "counts", &why);
    }
    if (list_publisher_new(h->node.sync, h->node.state_dir, &h->node.keys,
                           &h->node.self.origin, &h->share, &why) != ERR_OK) {
        hub_trouble(h, "share", &why);
    }
    h->votes = vote_publisher_new(&h->node);
    h->summary = summary_publisher_new(&h->node);
    renew(h);
}

/* ---- each second ---- */

/* Keys that waited for their time. */
static void turn_keys(struct hub *h)
{
    uint64_t now_ms = clock_wall_us() / 1000;
    struct errinfo why = {.text = ""};
    bool changed = false;

    if (h->ticks < h->turn_ticks) {
        return;
    }
    h->turn_ticks = h->ticks + TURN_TICKS;
    if (digest_key_turn(h->node.state_dir, &h->node.manifest, &h->node.keys, now_ms,
                        &changed, &why) != ERR_OK) {
        hub_trouble(h, "digest_key", &why);
    }
    if (!changed && ring_turn_identity(h->node.dir, &h->node.manifest, &h->node.self,
                                       now_ms, &changed, &why) != ERR_OK) {
        hub_trouble(h, "rotate", &why);
    } else if (changed) {
        log_info("event=keys state=turned: another key of this server is in force");
    }
    if (changed) {
        h->needs_reopen = true;
        hub_ring_renew_soon(h);
    }
}

static void warn_of_expiry(struct hub *h)
{
    static struct clock_pace pace;
    uint64_t now_ms = clock_wall_us() / 1000;
    uint64_t at = h->node.manifest.expires_ms;

    if (at > now_ms + EXPIRY_WARN_DAYS * 86400000ULL ||
        !clock_take_turn(&pace, 86400 * 1000000ULL)) {
        return;
    }
    log_warn(
        "event=manifest state=%s: `gillnet peer renew` on an administrator's server; "
        "exchange continues with the current members",
        at <= now_ms ? "expired" : "expiring");
}

static void publish_all(struct hub *h)
{
    struct errinfo why = {.text = ""};

    if (!exchange_may_publish(h->exchange, hub_shared_source(h)) ||
        node_self(&h->node) == NULL) {
        return;
    }
    if (!h->publishes) {
        h->publishes = true;
        log_info("event=publish state=begins");
    }
    if (count_publisher_tick(h->counts, &why) != ERR_OK) {
        hub_trouble(h, "counts", &why);
    }
    if (h->share != NULL && list_publisher_tick(h->share, h->config, &why) != ERR_OK) {
        hub_trouble(h, "share", &why);
    }
    if (vote_publisher_tick(h->votes, &why) != ERR_OK) {
        hub_trouble(h, "votes", &why);
    }
    if (summary_publisher_tick(h->summary, &h->headline, &why) != ERR_OK) {
        hub_trouble(h, "summary", &why);
    }
    if (h->o.is_once) {
        h->has_published = h->ticks > ONCE_LEAST_S &&
                           (h->share == NULL || list_publisher_is_settled(h->share));
    }
}

void hub_ring_tick(struct hub *h)
{
    struct errinfo why = {.text = ""};

    if (sync_tick(h->node.sync, &why) != ERR_OK) {
        hub_trouble(h, "sync", &why);
    }
    publish_all(h);
    if (hub_shares(h)) {
        shared_tick(h->shared);
    }
    turn_keys(h);
    warn_of_expiry(h);
    peer_server_wake(h->server);
}

/* ---- hooks ---- */

static void on_changed(void *context)
{
    struct hub *h = context;

    peer_server_wake(h->server);
}

static void on_manifest(void *context)
{
    hub_ring_renew_soon(context);
}

static void on_ring_key(void *context)
{
    struct hub *h = context;

    h->needs_reopen = true;
    hub_ring_renew_soon(h);
}

static bool may_join(const struct node *n)
{
    return n->is_open && invite_is_open(n->dir);
}

static enum err answer_join(void *context, const uint8_t key[OBJECT_KEY_BYTES],
                            struct slice request, struct buf *ret,
                            struct errinfo *reterr)
{
    struct hub *h = context;
    const struct invite_server s = {
        .dir = h->node.dir, .self = &h->node.self, .keys = &h->node.keys};
    uint64_t version = h->node.manifest.version;
    enum err e = invite_redeem(&s, key, request, &h->node.manifest, ret, reterr);

    log_info("event=join result=%s manifest=%llu %s", e == ERR_OK ? "ok" : "refused",
             (unsigned long long)h->node.manifest.version,
             e == ERR_OK ? "" : reterr->text);
    if (h->node.manifest.version != version) {
        struct errinfo why;

        if (node_use_manifest(&h->node, &why) != ERR_OK) {
            hub_trouble(h, "manifest", &why);
        }
        hub_ring_renew_soon(h);
    }
    return e;
}

static enum err answer_ring_key(void *context, uint32_t id, struct buf *ret)
{
    struct hub *h = context;

    return digest_key_print(&h->node.keys, id, ret);
}

void hub_ring_pause(void *context)
{
    struct hub *h = context;

    if (h->node.is_open) {
        publish_all(h); /* peers then have at least the counts of a backup */
    }
    h->is_paused = true;
    hub_ring_close(h);
    log_info("event=pause state=paused");
}

void hub_ring_release(void *context)
{
    struct hub *h = context;

    h->is_paused = false;
    log_info("event=pause state=resumed");
    hub_ring_open(h);
}

/* ---- up and down ---- */

enum err hub_ring_make_ends(struct hub *h, struct errinfo *reterr)
{
    const struct peer_server_options server = {.base = h->base,
                                               .node = &h->node,
                                               .bytes_per_s =
                                                   h->config->hub.bytes_per_s,
                                               .may_join = may_join,
                                               .join = answer_join,
                                               .ring_key = answer_ring_key,
                                               .context = h};
    const struct exchange_hooks hooks = {.context = h,
                                         .changed = on_changed,
                                         .manifest = on_manifest,
                                         .ring_key = on_ring_key};
    enum err e = peer_server_new(&server, &h->server, reterr);

    return e == ERR_OK ? exchange_new(h->base, &h->node, &hooks, h->o.is_once,
                                      &h->exchange, reterr)
                       : e;
}
