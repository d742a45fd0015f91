/*
 * hub_internal - the parts of the running service.
 */
#ifndef CORE_HUB_MAIN_HUB_INTERNAL_H
#define CORE_HUB_MAIN_HUB_INTERNAL_H

#include <event2/event.h>

#include "core/hub/api/api.h"
#include "core/hub/api/api_history.h"
#include "core/hub/exchange/count_publisher.h"
#include "core/hub/exchange/exchange.h"
#include "core/hub/exchange/node.h"
#include "core/hub/exchange/peer_server.h"
#include "core/hub/exchange/summary_publisher.h"
#include "core/hub/exchange/vote_publisher.h"
#include "core/hub/fetch/feeds.h"
#include "core/hub/fetch/subscribe.h"
#include "core/hub/main/hub.h"
#include "core/hub/main/hub_control.h"
#include "core/hub/metrics/alerts.h"
#include "core/hub/metrics/metrics.h"
#include "core/hub/metrics/metrics_snapshot.h"
#include "core/hub/shared/shared.h"
#include "core/hub/status/status_board.h"
#include "core/ring/sync/list_publisher.h"

enum { RESTART_KEYS_MAX = 512 };

struct hub {
    struct hub_options o;
    struct config *config;
    struct config *started; /* for keys that need a restart */
    uint32_t config_id;     /* of config */
    unsigned nrestart_keys;
    char restart_keys[RESTART_KEYS_MAX]; /* "key, key" */
    struct event_base *base;
    struct event *tick;
    struct event *renew; /* requested by a hook, runs after it */
    struct event *signals[4];
    struct status_board *board; /* the status of all parts */
    struct list_watcher *lists; /* NULL: no API */
    struct forms *forms;        /* NULL: once */
    struct api_history *history;
    struct api *api;
    struct metrics_collector *surveyor;
    struct metrics *metrics;
    struct alerts *alerts;
    struct node node;
    struct peer_server *server;
    struct exchange *exchange; /* NULL: while the hub is paused */
    struct count_publisher *counts;
    struct list_publisher *share;
    struct vote_publisher *votes;
    struct summary_publisher *summary;
    struct headline headline; /* of the last second; at_s 0: none yet */
    struct control *control;
    struct shared *shared;       /* NULL: no store */
    struct subscribe *subscribe; /* NULL: no subscriptions */
    struct feeds *feeds;
    bool is_paused;
    bool is_locked;     /* another process has the folder */
    bool is_waiting;    /* for a ring; it was logged */
    bool needs_reopen;  /* keys changed: opens the node again */
    bool publishes;     /* it was logged */
    bool has_published; /* once: everything */
    int status;         /* the exit status */
    uint64_t start_us;
    uint64_t ticks;
    uint64_t turn_ticks;
    char trouble[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX +
                 16]; /* the last one that was logged; "": none */
};

/* Stores a failure, and logs it if it is a new one. why NULL: clears it. */
void hub_trouble(struct hub *h, const char *event, const struct errinfo *why);

/* ---- the ring: hub_ring.c ---- */

/* Opens the ring's files if they exist and no command holds them. */
void hub_ring_open(struct hub *h);
void hub_ring_close(struct hub *h);
/* Adapts the connections to the current manifest and keys, after the current event. */
void hub_ring_renew_soon(struct hub *h);
void hub_ring_on_renew(evutil_socket_t fd, short what, void *context);
/* Each second while the node is open. */
void hub_ring_tick(struct hub *h);
enum err hub_ring_make_ends(struct hub *h, struct errinfo *reterr);
/* Begin and end of a command that changes the files. */
void hub_ring_pause(void *context);
void hub_ring_release(void *context);

/* ---- the store of the ring: hub_shared.c ---- */

/* A failure is logged, and the hub goes on without. */
void hub_shared_start(struct hub *h);
/* The ring is open, and its servers share a store. */
bool hub_shares(const struct hub *h);
/* NULL: no store, or no memory. */
json_t *hub_shared_json(const struct hub *h);
/* "store", "store-look", "store-verify", "store-repair", "store-job JOB". */
void hub_answer_store(void *context, struct slice line, bool may_change,
                      struct buf *ret);
/* Counts of the open ring go to the store, or wait for it, and are not published to peers. */
bool hub_counts_in_store(const struct hub *h);
/* The store as a source of this server's own objects. */
struct exchange_sources hub_shared_source(const struct hub *h);

/* ---- the HTTP API: hub_http.c ---- */

/* Without an address in api.listen there is none. A failure is logged, and the hub goes on. */
void hub_api_start(struct hub *h);
void hub_api_renew(struct hub *h);
void hub_api_stop(struct hub *h);
/* ---- metrics and alerts: hub_metrics.c ---- */

enum err hub_signs_start(struct hub *h, struct errinfo *reterr);
/* Call this after hub_api_stop. */
void hub_signs_stop(struct hub *h);
void hub_signs_tick(struct hub *h);
/* Answers GET /metrics; any thread. */
void hub_signs_metrics(void *context, bool has_source_names, struct buf *ret);
/* "ok" and a line for each alert that fires. */
void hub_answer_alerts(void *context, struct buf *ret);

/* ---- automatic rewrite of lists that are not in their configured form: forms.c ---- */

/* A list is in another form if it is older than the normal form of URLs, or if its url_match was
 * changed. A thread checks all lists every FORMS_LOOK_S seconds and rewrites one after the other,
 * while mail continues. After a failure it writes one log line and waits for FORMS_AGAIN_S
 * seconds. */
enum { FORMS_LOOK_S = 5, FORMS_AGAIN_S = 600 };

struct forms;
enum err forms_new(const struct config *config, struct forms **ret,
                   struct errinfo *reterr);
/* Sets another configuration. */
void forms_renew(struct forms *f, const struct config *config);
/* Stops the thread. A rewrite that is not finished changes nothing. Accepts NULL. */
void forms_free(struct forms **f);

/* ---- status ---- */

/* Adds one line for each row; takes them. */
void hub_add_lines(struct buf *ret, json_t *rows);
void hub_answer_ping(void *context, struct buf *ret);
void hub_answer_stat(void *context, struct buf *ret);
/* "ok ..." and one JSON object a line: first this server, then each member. */
void hub_answer_status(void *context, struct buf *ret);
/* "feeds", "feed-update NAME", "feed-force", "feed-test", "feed-rollback NAME [VERSION]", "feed-job
 * NAME JOB". */
void hub_answer_feed(void *context, struct slice line, bool may_change,
                     struct buf *ret);
/* Puts its sections on the board. */
void hub_show(struct hub *h);
/* Only the headline. */
void hub_show_headline(struct hub *h);

#endif
