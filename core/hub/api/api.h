/*
 * api - the HTTP API of the hub: look-ups, status, reports and the status page.
 *
 * It has its own threads, each with an event loop and a share of the connections. Slow requests
 * (scan, counts, history, changes of lists) go to a few workers with short queues. Heads, bodies,
 * memory, connections, requests a second of one address and the time of each step are bounded.
 * Under load optional requests are rejected first, with 503 and Retry-After.
 * Reading order of the room: api_route.def, api_route, api_auth; the handlers api_check,
 * api_tables, api_campaign, api_messages, api_explain, api_status, api_servers, api_history,
 * api_counts, api_scan, api_write, api_report, api_reports, api_quarantine, api_changes, api_users,
 * api_replay, api_tuning;
 * api_list_change, api_body, api_rows, api_answer; api, api_conn, api_pool; page/.
 * To add a route: a row in api_route.def, its handler api_NAME in the file of its subject (or a new
 * api_NAME.c), its path in contrib/openapi.yaml.
 * Depends: base, config, list, libevent, OpenSSL, jansson.   Threads: api_new to api_free by one.
 * Owns: its sockets and threads.   ADR 0042.
 */
#ifndef CORE_HUB_API_API_H
#define CORE_HUB_API_API_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/config/config.h"
#include "core/hub/status/list_watcher.h"
#include "core/hub/status/status_board.h"
#include "core/telemetry/scan_request.h"

enum {
    API_THREADS_MAX = 4,
    API_BODY_S = 10, /* for a body, and more for a long one (http_server.h) */
    API_MESSAGE_MAX = 64 << 20, /* of one message to scan or report */
    API_ANSWER_MAX = 64 << 20,  /* of one answer */
    API_LAG_OPTIONAL_US =
        100000,               /* how far behind a loop may be for what is optional, */
    API_LAG_CHECK_US = 500000 /* and for look-ups */
};

/* A message to be scanned came with these. */
enum { API_RECIPIENTS_MAX = 100, API_VALUE_MAX = 1024 };
struct api_envelope {
    const char *client; /* address; NULL: not said, as the others */
    const char *helo;
    const char *from;
    const char *rcpt[API_RECIPIENTS_MAX];
    unsigned nrcpt;
};

/* What other parts of the hub do for a request; NULL: not offered here (404). All but metrics run
 * on a worker thread. */
struct api_hooks {
    void *context;
    /* Prometheus text. */
    void (*metrics)(void *context, bool has_source_names, struct buf *ret);
    /* GET /v1/history, the day of this server. NULL: no memory. */
    json_t *(*history)(void *context);
    /* The object of `gillnet check --json`. */
    enum err (*scan)(void *context, struct slice message,
                     const struct api_envelope *envelope, struct buf *ret,
                     struct errinfo *reterr);
    /* A report or its end: `line` is sealed; its bytes are set here. Appends the answer's JSON. */
    enum err (*report)(void *context, struct scan_request *line, struct slice body,
                       struct buf *ret, struct errinfo *reterr);
    /* A request line for gillnetd's control socket; the whole answer. Errors as
     * control_client_ask. */
    enum err (*ask)(void *context, struct slice line, struct buf *ret,
                    struct errinfo *reterr);
    /* A request line for gillnet-queue (core/quarantine/quarantine.h); the whole answer.
     * ERR_SYNTAX: it refuses, reterr has its words. */
    enum err (*queue)(void *context, struct slice line, struct buf *ret,
                      struct errinfo *reterr);
    /* The words that a configuration may have, for a check of it. */
    const struct config_types *types;
    /* Asks a feed now, or puts its former version in force. ERR_NOT_FOUND: no such feed. */
    enum err (*feed)(void *context, const char *name, bool rolls_back,
                     struct errinfo *reterr);
};

struct api_options {
    const struct config *config; /* a reference is taken */
    struct status_board *board;  /* borrowed, as lists */
    struct list_watcher *lists;
    struct api_hooks hooks;
};

struct api;
/* Listens on api.listen. Where one of them cannot be had it is logged, and the others are. */
enum err api_new(const struct api_options *options, struct api **ret,
                 struct errinfo *reterr);
/* Ends connections and threads; work under way is waited for. Accepts NULL. */
void api_free(struct api **a);
/* Another configuration is in force. */
void api_renew(struct api *a, const struct config *config);

/* ---- numbers, since the start ---- */

enum { API_LATENCY_BUCKETS = 12, API_STATUS_CLASSES = 6 };
/* Upper bounds in seconds of all but the last, which is the rest. */
extern const double api_latency_le_s[API_LATENCY_BUCKETS - 1];

struct api_route_numbers {
    const char *path; /* as in the OpenAPI file; "other": none of them */
    uint64_t requests[API_STATUS_CLASSES]; /* by the first digit of the status */
    uint64_t latency[API_LATENCY_BUCKETS]; /* each alone, not added up */
    uint64_t latency_us;
};
enum { API_ROUTES_MAX = 64 };
struct api_numbers {
    unsigned nroutes;
    struct api_route_numbers route[API_ROUTES_MAX];
    uint64_t connections; /* accepted */
    uint64_t open;        /* now */
    uint64_t refused;     /* connections: there were too many */
    uint64_t limited;     /* requests: too many of one address */
    uint64_t shed;        /* requests: too much to do */
    uint64_t timeouts;    /* connections that were too slow */
    uint64_t values;      /* looked up */
    uint64_t
        url_checks[RATING_COUNT]; /* those that are URLs, by what they were called */
    uint64_t reports_ham;         /* accepted: something good was listed */
    uint64_t reports_spam;
    uint64_t bytes_in;
    uint64_t bytes_out;
};
/* From any thread. */
void api_numbers(const struct api *a, struct api_numbers *ret);

#endif
