#include "core/hub/hub.h"

#include <errno.h>
#include <event2/thread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/version.h"
#include "core/feature/feature.h"
#include "core/hub/hub_own.h"
#include "core/peer/invite.h"
#include "core/peer/place.h"
#include "core/peer/ring.h"
#include "core/peer/ringkey.h"

enum {
    TURN_TICKS = 10, /* between looks at keys that wait for their time */
    STATUS_TICKS = 10,
    EXPIRY_WARN_DAYS = 14,
    ONCE_LEAST_S = 1, /* counts are looked at once */
    ONCE_MOST_S = 600
};

static void open_node(struct hub *h);

void hub_trouble(struct hub *h, const char *event, const struct errinfo *why)
{
    char text[sizeof h->trouble];

    if (why == NULL) {
        h->trouble[0] = '\0';
        return;
    }
    errinfo_format(why, text, sizeof text);
    if (strcmp(text, h->trouble) != 0) {
        memcpy(h->trouble, text, sizeof text);
        log_errinfo(event, why);
    }
}

/* ---- the ring's files: taken up, let go ---- */

static void close_node(struct hub *h)
{
    struct errinfo why;

    counts_free(&h->counts);
    share_free(&h->share);
    node_close(&h->node);
    (void)exchange_renew(h->exchange, h->config, &why); /* nothing is made */
    server_wake(h->server);
}

static void listen_for_peers(struct hub *h)
{
    const char *address = h->config->hub.listen;
    bool is_auto = strcmp(address, "auto") == 0;
    const struct manifest_member *self = node_self(&h->node);
    struct errinfo why;

    if (h->o.is_once || strcmp(address, "off") == 0 || server_is_listening(h->server) ||
        (is_auto && (self == NULL || self->address[0] == '\0'))) {
        return;
    }
    address = is_auto ? self->address : address;
    if (server_listen(h->server, address, is_auto, &why) != ERR_OK) {
        hub_trouble(h, "listen", &why);
        return;
    }
    log_info("event=listen address=%s", address);
}

/* Connections follow the manifest and keys of now. */
static void renew(struct hub *h)
{
    struct errinfo why;

    if (node_self(&h->node) == NULL) {
        log_error(
            "event=ring state=out: this server is no active member of its ring any "
            "more; peers refuse it, and its counts and lists stay here");
    }
    if (server_renew(h->server, &why) != ERR_OK ||
        exchange_renew(h->exchange, h->config, &why) != ERR_OK) {
        hub_trouble(h, "ring", &why);
        return;
    }
    listen_for_peers(h);
}

static void on_renew(evutil_socket_t fd, short what, void *context)
{
    struct hub *h = context;

    (void)fd;
    (void)what;
    if (h->needs_reopen && h->node.is_open) {
        h->needs_reopen = false;
        close_node(h);
        open_node(h);
    } else if (h->node.is_open) {
        renew(h);
    }
}

static void ask_renew(struct hub *h)
{
    static const struct timeval now = {0, 0};

    (void)event_add(h->renew, &now);
}

static void open_node(struct hub *h)
{
    struct errinfo why = {.text = ""};
    enum err e = ERR_OK;

    if (h->is_held || h->node.is_open) {
        return;
    }
    e = node_open(&h->node, &why);
    h->is_locked = e == ERR_LOCKED;
    if (e == ERR_LOCKED && !h->o.is_once &&
        h->ticks % STATUS_TICKS != STATUS_TICKS - 1) {
        return; /* a command is at work: a moment later */
    }
    if (e == ERR_NOT_FOUND) { /* no trouble: it comes with `gillnet peer` */
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
    if (counts_new(&h->node, &h->counts, &why) != ERR_OK) {
        hub_trouble(h, "counts", &why);
    }
    if (share_new(h->node.sync, h->node.state_dir, &h->node.keys, &h->node.self.origin,
                  &h->share, &why) != ERR_OK) {
        hub_trouble(h, "share", &why);
    }
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
    if (ringkey_turn(h->node.state_dir, &h->node.manifest, &h->node.keys, now_ms,
                     &changed, &why) != ERR_OK) {
        hub_trouble(h, "ringkey", &why);
    }
    if (!changed && ring_turn_identity(h->node.dir, &h->node.manifest, &h->node.self,
                                       now_ms, &changed, &why) != ERR_OK) {
        hub_trouble(h, "rotate", &why);
    } else if (changed) {
        log_info("event=keys state=turned: another key of this server is in force");
    }
    if (changed) {
        h->needs_reopen = true;
        ask_renew(h);
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
        "exchange goes on with the members of now",
        at <= now_ms ? "expired" : "expiring");
}

static void publish(struct hub *h)
{
    struct errinfo why = {.text = ""};

    if (!exchange_may_publish(h->exchange) || node_self(&h->node) == NULL) {
        return;
    }
    if (!h->publishes) {
        h->publishes = true;
        log_info("event=publish state=begins");
    }
    if (counts_tick(h->counts, &why) != ERR_OK) {
        hub_trouble(h, "counts", &why);
    }
    if (h->share != NULL && share_tick(h->share, h->config, &why) != ERR_OK) {
        hub_trouble(h, "share", &why);
    }
    if (h->o.is_once) {
        h->has_published =
            h->ticks > ONCE_LEAST_S && (h->share == NULL || share_is_settled(h->share));
    }
}

static void tell_manager(struct hub *h)
{
    unsigned connected = 0;
    unsigned members = 0;

    (void)sd_notify(0, "WATCHDOG=1");
    if (h->ticks % STATUS_TICKS != 1) {
        return;
    }
    for (unsigned i = 0; h->node.is_open && i < h->node.manifest.nmembers; i++) {
        const struct manifest_member *m = &h->node.manifest.members[i];
        const struct exchange_peer *p = exchange_peer(h->exchange, &m->origin);

        members += m->state == MEMBER_ACTIVE ? 1 : 0;
        connected += p != NULL && p->is_connected ? 1 : 0;
    }
    (void)sd_notifyf(0,
                     h->node.is_open ? "STATUS=ring of %u, %u answer"
                                     : "STATUS=waiting for a ring",
                     members, connected);
}

static void end(struct hub *h, int status)
{
    h->status = status;
    (void)event_base_loopbreak(h->base);
}

static void end_once(struct hub *h)
{
    unsigned failed = 0;
    unsigned unfollowed = 0;

    if (!subscribe_is_done(h->subscribe, h->config, &unfollowed)) {
        if (h->ticks > ONCE_MOST_S) {
            end(h, EX_TEMPFAIL);
        }
        return;
    }
    if (!h->node.is_open && h->is_waiting && h->config->nsubscriptions > 0) {
        end(h, unfollowed > 0 ? EX_UNAVAILABLE : EX_OK); /* without a ring */
        return;
    }
    if (!h->node.is_open) {
        log_error("event=once error=\"%s\"",
                  h->trouble[0] != '\0' ? h->trouble : "there is no ring yet");
        end(h, h->is_locked ? EX_TEMPFAIL : EX_CONFIG);
        return;
    }
    if (exchange_is_done(h->exchange, &failed) && h->has_published) {
        end(h, failed + unfollowed > 0 ? EX_UNAVAILABLE : EX_OK);
    } else if (h->ticks > ONCE_MOST_S) {
        end(h, EX_TEMPFAIL);
    }
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
    struct hub *h = context;
    struct errinfo why = {.text = ""};

    (void)fd;
    (void)what;
    open_node(h);
    h->ticks++;
    server_tick(h->server);
    if (h->node.is_open) {
        if (sync_tick(h->node.sync, &why) != ERR_OK) {
            hub_trouble(h, "sync", &why);
        }
        publish(h);
        turn_keys(h);
        warn_of_expiry(h);
        server_wake(h->server);
    }
    tell_manager(h);
    if (h->o.is_once) {
        end_once(h);
    }
}

/* ---- hooks ---- */

static void on_changed(void *context)
{
    struct hub *h = context;

    server_wake(h->server);
}

static void on_manifest(void *context)
{
    ask_renew(context);
}

static void on_ring_key(void *context)
{
    struct hub *h = context;

    h->needs_reopen = true;
    ask_renew(h);
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
        ask_renew(h);
    }
    return e;
}

static enum err answer_ring_key(void *context, uint32_t id, struct buf *ret)
{
    struct hub *h = context;

    return ringkey_print(&h->node.keys, id, ret);
}

static void hold(void *context)
{
    struct hub *h = context;

    h->is_held = true;
    close_node(h);
    log_info("event=hold state=held");
}

static void release(void *context)
{
    struct hub *h = context;

    h->is_held = false;
    log_info("event=hold state=released");
    open_node(h);
}

static void reload(struct hub *h, struct buf *ret)
{
    static const struct config_types types = {feature_is_sought, feature_is_counted};
    struct config_errors errors = {.n = 0};
    struct config *fresh = NULL;
    struct buf restart;

    if (config_load(h->o.config_file, &types, &fresh, &errors) != ERR_OK) {
        buf_add_str(ret, "error the configuration has errors; the running one stays\n");
        for (size_t i = 0; i < errors.n; i++) {
            char line[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];

            buf_printf(ret, "%s\n", errinfo_format(&errors.v[i], line, sizeof line));
            log_errinfo("reload", &errors.v[i]);
        }
        config_errors_free(&errors);
        return;
    }
    buf_init(&restart, 4096);
    config_needs_restart(h->config, fresh, &restart);
    buf_add_str(ret, "ok reloaded\n");
    if (restart.n > 0) {
        buf_printf(ret, "takes effect after a restart: %s\n", restart.p);
    }
    log_info("event=reload result=ok restart=%s", restart.n > 0 ? restart.p : "-");
    buf_fini(&restart);
    config_release(&h->config);
    h->config = fresh;
    subscribe_renew(&h->subscribe, h->config, h->o.is_once);
    log_set_level(fresh->log_level);
    server_set_rate(h->server, fresh->hub.bytes_per_s);
    h->needs_reopen = true;
    ask_renew(h);
}

static void answer_reload(void *context, struct buf *ret)
{
    reload(context, ret);
}

static void on_signal(evutil_socket_t number, short what, void *context)
{
    struct hub *h = context;

    (void)what;
    if (number == SIGHUP || number == SIGUSR1) {
        struct timespec t = {.tv_sec = 0};
        struct buf text;

        clock_gettime(CLOCK_MONOTONIC, &t); /* the manager compares it with its own */
        (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
                         (unsigned long long)t.tv_sec * 1000000 +
                             (unsigned long long)t.tv_nsec / 1000);
        buf_init(&text, CONTROL_ANSWER_MAX);
        reload(h, &text);
        buf_fini(&text);
        (void)sd_notify(0, "READY=1");
        return;
    }
    log_info("event=stop signal=%d", (int)number);
    (void)sd_notify(0, "STOPPING=1");
    end(h, EX_OK);
}

/* ---- up and down ---- */

static enum err make_events(struct hub *h, struct errinfo *reterr)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1};
    static const struct timeval second = {1, 0};
    bool ok = (h->base = event_base_new()) != NULL;

    for (size_t i = 0; ok && i < sizeof numbers / sizeof numbers[0]; i++) {
        h->signals[i] = evsignal_new(h->base, numbers[i], on_signal, h);
        ok = h->signals[i] != NULL && event_add(h->signals[i], NULL) == 0;
    }
    if (ok) {
        h->renew = evtimer_new(h->base, on_renew, h);
        h->tick = event_new(h->base, -1, EV_PERSIST, on_tick, h);
        ok = h->renew != NULL && h->tick != NULL && event_add(h->tick, &second) == 0;
    }
    return ok ? ERR_OK
              : errinfo_set(reterr, ERR_NOMEM, "libevent", 0,
                            "the event loop cannot be made");
}

static enum err make_control(struct hub *h, struct errinfo *reterr)
{
    const struct control_hooks hooks = {.context = h,
                                        .ping = hub_answer_ping,
                                        .stat = hub_answer_stat,
                                        .status = hub_answer_status,
                                        .reload = answer_reload,
                                        .hold = hold,
                                        .release = release};

    return h->o.is_once ? ERR_OK
                        : control_new(h->base, h->config->hub.control_socket, &hooks,
                                      &h->control, reterr);
}

static enum err make_ends(struct hub *h, struct errinfo *reterr)
{
    const struct server_options server = {.base = h->base,
                                          .node = &h->node,
                                          .bytes_per_s = h->config->hub.bytes_per_s,
                                          .may_join = may_join,
                                          .join = answer_join,
                                          .ring_key = answer_ring_key,
                                          .context = h};
    const struct exchange_hooks hooks = {.context = h,
                                         .changed = on_changed,
                                         .manifest = on_manifest,
                                         .ring_key = on_ring_key};
    enum err e = server_new(&server, &h->server, reterr);

    return e == ERR_OK ? exchange_new(h->base, &h->node, &hooks, h->o.is_once,
                                      &h->exchange, reterr)
                       : e;
}

static enum err make_parts(struct hub *h, struct errinfo *reterr)
{
    enum err e = node_init(&h->node, h->config->state_dir, reterr);

    if (e == ERR_OK) {
        e = make_events(h, reterr);
    }
    if (e == ERR_OK) { /* the control socket lies there */
        e = place_make_dir(h->node.dir, reterr);
    }
    if (e == ERR_OK) {
        e = make_control(h, reterr);
    }
    if (e == ERR_OK) {
        subscribe_renew(&h->subscribe, h->config, h->o.is_once);
    }
    return e == ERR_OK ? make_ends(h, reterr) : e;
}

static void tear_down(struct hub *h)
{
    control_free(&h->control);
    subscribe_free(&h->subscribe);
    exchange_free(&h->exchange);
    server_free(&h->server);
    counts_free(&h->counts);
    share_free(&h->share);
    node_close(&h->node);
    for (size_t i = 0; i < sizeof h->signals / sizeof h->signals[0]; i++) {
        if (h->signals[i] != NULL) {
            event_free(h->signals[i]);
        }
    }
    if (h->tick != NULL) {
        event_free(h->tick);
    }
    if (h->renew != NULL) {
        event_free(h->renew);
    }
    if (h->base != NULL) {
        event_base_free(h->base);
    }
    config_release(&h->config);
}

static void open_log(const struct hub *h)
{
    enum log_target target = h->config->log_target;

    if (h->o.logs_to_stderr) {
        target = LOG_TARGET_STDERR;
    } else if (h->config->log_target_auto) {
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread yet */
        target = getenv("JOURNAL_STREAM") ? LOG_TARGET_JOURNAL : LOG_TARGET_SYSLOG;
    }
    if (log_start("gillnet-hub", target, h->config->log_level) != ERR_OK) {
        log_error("event=start error=log: the log cannot be opened; lines go to "
                  "standard error");
    }
}

int hub_run(struct config *config, const struct hub_options *options)
{
    struct hub *h = calloc(1, sizeof *h);
    struct errinfo why = {.text = ""};
    enum err e = ERR_OK;
    int status = EX_OSERR;

    if (h == NULL) {
        config_release(&config);
        return EX_OSERR;
    }
    h->o = *options;
    h->config = config;
    h->start_us = clock_mono_us();
    open_log(h);
    log_info("event=start version=%s pid=%ld config=%s", GILLNET_VERSION,
             (long)getpid(), config->file);
    e = make_parts(h, &why);
    if (e != ERR_OK) {
        log_errinfo("start", &why);
        status = e == ERR_EXISTS || e == ERR_LIMIT ? EX_UNAVAILABLE : EX_OSERR;
    } else {
        open_node(h);
        (void)sd_notify(0, "READY=1");
        (void)event_base_dispatch(h->base);
        status = h->status;
    }
    tear_down(h);
    free(h);
    log_info("event=stopped");
    log_stop();
    return status;
}
