#include "core/hub/main/hub.h"

#include <event2/thread.h>
#include <signal.h>
#include <sysexits.h>
#include <systemd/sd-daemon.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/statedir.h"
#include "core/base/version.h"
#include "core/feed/feed.h"
#include "core/hub/main/hub_internal.h"
#include "core/message/feature/feature.h"
#include "core/ring/trust/peer_file.h"
#include "core/telemetry/stats.h"

enum { STATUS_TICKS = 10, ONCE_MOST_S = 600, HUB_STATS_MODE = 0640 };

void hub_trouble(struct hub *h, const char *event, const struct errinfo *why)
{
    char text[sizeof(h->trouble)];

    if (why == NULL) {
        h->trouble[0] = '\0';
        return;
    }
    errinfo_format(why, text, sizeof(text));
    if (strcmp(text, h->trouble) != 0) {
        memcpy(h->trouble, text, sizeof(text));
        log_errinfo(event, why);
    }
}

/* ---- each second ---- */

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
    unsigned unfed = 0;

    if (!feeds_is_done(h->feeds, &unfed)) {
        return; /* each has an end of its own: `timeout` */
    }
    if (!subscribe_is_done(h->subscribe, h->config, &unfollowed)) {
        if (h->ticks > ONCE_MOST_S) {
            end(h, EX_TEMPFAIL);
        }
        return;
    }
    unfollowed += unfed;
    if (!h->node.is_open && h->is_waiting &&
        h->config->nsubscriptions + h->config->nfeeds > 0) {
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

    (void)fd;
    (void)what;
    hub_ring_open(h);
    h->ticks++;
    peer_server_tick(h->server);
    if (h->node.is_open) {
        hub_ring_tick(h);
    }
    feeds_tick(h->feeds);
    hub_show(h);
    stats_keep();
    hub_signs_tick(h);
    tell_manager(h);
    if (h->o.is_once) {
        end_once(h);
    }
}

static void reload(struct hub *h, struct buf *ret)
{
    static const struct config_types types = {.is_sought = feature_is_sought,
                                              .is_counted = feature_is_counted,
                                              .is_trait = trait_is_known,
                                              .is_format = feed_format_is_known,
                                              .is_feature = feature_is_of_message};
    struct config_errors errors = {.n = 0};
    struct config *fresh = NULL;
    struct buf restart;

    if (config_load(h->o.config_file, &types, &fresh, &errors) != ERR_OK) {
        buf_add_str(ret, "error the configuration has errors; the running one stays\n");
        for (size_t i = 0; i < errors.n; i++) {
            char line[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];

            buf_printf(ret, "%s\n", errinfo_format(&errors.v[i], line, sizeof(line)));
            log_errinfo("reload", &errors.v[i]);
        }
        config_errors_free(&errors);
        return;
    }
    config_release(&h->config);
    h->config = fresh;
    buf_init(&restart, 4096);
    h->nrestart_keys = config_needs_restart(h->started, fresh, CONFIG_OF_HUB, &restart);
    (void)snprintf(h->restart_keys, sizeof(h->restart_keys), "%s",
                   restart.n > 0 ? restart.p : "");
    buf_fini(&restart);
    h->config_id = config_id(fresh);
    buf_printf(ret, "ok reloaded\ngillnet-hub runs configuration %08x\n",
               (unsigned)h->config_id);
    if (h->nrestart_keys > 0) {
        buf_printf(ret, "a restart of gillnet-hub is needed for: %s\n",
                   h->restart_keys);
    }
    log_info("event=reload result=ok config=%08x restart=\"%s\"",
             (unsigned)h->config_id, h->restart_keys);
    metrics_collector_renew(h->surveyor, h->config);
    subscribe_renew(&h->subscribe, h->config, h->o.is_once);
    feeds_renew(h->feeds, h->config);
    shared_renew(h->shared, h->config);
    hub_api_renew(h);
    log_set_level(fresh->log_level);
    peer_server_set_rate(h->server, fresh->hub.bytes_per_s);
    h->needs_reopen = true;
    hub_ring_renew_soon(h);
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

    for (size_t i = 0; ok && i < LENGTH(numbers); i++) {
        h->signals[i] = evsignal_new(h->base, numbers[i], on_signal, h);
        ok = h->signals[i] != NULL && event_add(h->signals[i], NULL) == 0;
    }
    if (ok) {
        h->renew = evtimer_new(h->base, hub_ring_on_renew, h);
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
                                        .alerts = hub_answer_alerts,
                                        .reload = answer_reload,
                                        .feed = hub_answer_feed,
                                        .store = hub_answer_store,
                                        .pause = hub_ring_pause,
                                        .release = hub_ring_release};

    return h->o.is_once ? ERR_OK
                        : control_new(h->base, h->config->hub.control_socket, &hooks,
                                      &h->control, reterr);
}

/* For gillnetd, which adds the URL checks of the API to its own. */
static void open_stats(const struct hub *h)
{
    char path[FILE_PATH_MAX];
    struct errinfo why;
    enum err e =
        path_make(path, &why, "%s/%s", h->config->state_dir, STATE_HUB_STATS_FILE);

    if (e == ERR_OK && h->o.is_once) {
        return;
    }
    THEN(e, stats_open(path, &why));
    if (e == ERR_OK && chmod(path, HUB_STATS_MODE) != 0) {
        e = errinfo_errno(&why, path, "its mode cannot be set");
    }
    if (e != ERR_OK) {
        log_errinfo("stats", &why);
    }
}

static enum err make_parts(struct hub *h, struct errinfo *reterr)
{
    enum err e = statedir_make(h->config->state_dir, reterr);

    h->board = status_board_new();
    THEN(e, node_init(&h->node, h->config->state_dir, reterr));
    h->node.has_store = h->config->store.kind != STORE_OFF;
    if (e == ERR_OK && h->board == NULL) {
        e = errinfo_nomem(reterr, "");
    }
    THEN(e, hub_signs_start(h, reterr));
    THEN(e, make_events(h, reterr));
    if (e == ERR_OK) { /* the control socket lies there */
        e = peer_file_make_dir(h->node.dir, reterr);
    }
    THEN(e, make_control(h, reterr));
    if (e == ERR_OK) {
        subscribe_renew(&h->subscribe, h->config, h->o.is_once);
        e = hub_ring_make_ends(h, reterr);
    }
    THEN(e, feeds_new(h->config, h->board, h->o.is_once, &h->feeds, reterr));
    if (e == ERR_OK) {
        open_stats(h);
        hub_shared_start(h);
        hub_api_start(h);
    }
    return e;
}

static void tear_down(struct hub *h)
{
    hub_api_stop(h);
    shared_free(&h->shared);
    control_free(&h->control);
    feeds_free(&h->feeds);
    subscribe_free(&h->subscribe);
    exchange_free(&h->exchange);
    peer_server_free(&h->server);
    count_publisher_free(&h->counts);
    list_publisher_free(&h->share);
    vote_publisher_free(&h->votes);
    summary_publisher_free(&h->summary);
    node_close(&h->node);
    for (size_t i = 0; i < LENGTH(h->signals); i++) {
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
    hub_signs_stop(h);
    status_board_free(&h->board);
    config_release(&h->started);
    config_release(&h->config);
}

static void open_log(const struct hub *h)
{
    enum log_target target = h->config->log_target;

    if (h->o.logs_to_stderr) {
        target = LOG_TARGET_STDERR;
    } else if (h->config->log_target_auto) {
        target = log_target_auto();
    }
    if (log_start("gillnet-hub", target, h->config->log_level) != ERR_OK) {
        log_error("event=start error=log: the log cannot be opened; lines go to "
                  "standard error");
    }
}

int hub_run(struct config *config, const struct hub_options *options)
{
    struct hub *h = calloc(1, sizeof(*h));
    struct config *first = config_acquire(config); /* whose folder it works in */
    struct errinfo why = {.text = ""};
    enum err e = ERR_OK;
    int status = EX_OSERR;

    if (h == NULL) {
        config_release(&first);
        config_release(&config);
        return EX_OSERR;
    }
    h->o = *options;
    h->config = config;
    h->started = config_acquire(config);
    h->config_id = config_id(config);
    h->start_us = clock_mono_us();
    open_log(h);
    log_info("event=start version=%s pid=%ld config=%s config_id=%08x", GILLNET_VERSION,
             (long)getpid(), config->file, (unsigned)h->config_id);
    e = make_parts(h, &why);
    if (e != ERR_OK) {
        log_errinfo("start", &why);
        status = e == ERR_EXISTS || e == ERR_LIMIT ? EX_UNAVAILABLE : EX_OSERR;
    } else {
        hub_ring_open(h);
        (void)sd_notify(0, "READY=1");
        (void)event_base_dispatch(h->base);
        status = h->status;
    }
    tear_down(h);
    statedir_settle(first->state_dir);
    config_release(&first);
    free(h);
    log_info("event=stopped");
    log_stop();
    return status;
}
