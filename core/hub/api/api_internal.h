/*
 * api_internal - what the threads, connections and routes of the API share.
 */
#ifndef CORE_HUB_API_API_INTERNAL_H
#define CORE_HUB_API_API_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/arena.h"
#include "core/hub/api/api.h"
#include "core/hub/api/api_auth.h"
#include "core/hub/http/http_server.h"
#include "core/hub/http/rate_limit.h"
#include "core/report/reports.h"

struct api_thread;
struct api_call;
struct api_live;
struct message_tail;
struct worth_tail;
struct own_sessions;

/* ---- routes ---- */

/* What gives way when there is too much to do: the first first. */
enum api_rank { API_OPTIONAL, API_LOOKUP, API_HEALTH };

enum api_body { API_BODY_NONE, API_BODY_JSON, API_BODY_MESSAGE, API_BODY_EITHER };

/* Blocking work, each kind with its own few places. */
enum api_kind {
    API_INLINE,
    API_REPLAY, /* of the whole journal */
    API_SAMPLE, /* a replay of a few messages */
    API_SCAN,
    API_COUNTS,
    API_ASK, /* of another program, which may be slow: gillnetd, the MTA's queue */
    API_SHOW,
    API_WRITE,
    API_KINDS
};

typedef void api_handler_fn(struct api_call *call);
struct api_route {
    const char *path;
    enum http_method method;
    enum api_role role;
    enum api_rank rank;
    enum api_body body;
    enum api_kind kind; /* where the handler runs */
    const char *type;   /* of the answer */
    const char *query;  /* names of its parameters, a blank between them */
    api_handler_fn *handler;
};
extern const struct api_route api_routes[];
extern const unsigned api_nroutes; /* at most API_ROUTES_MAX - 1 */
/* Whether path has the form of "/q/{token}"; the token may have any bytes but a slash. */
bool api_path_token(const char *pattern, struct slice path, struct slice *rettoken);

/* ---- calls ---- */

enum { API_FIELD_MAX = 256 };
struct api_answer {
    unsigned status;
    const char *type;
    struct buf body;
    struct slice fixed; /* instead of the body; lives as long as the program */
    unsigned retry_s;   /* 0: not said */
    const char *allow;  /* NULL: not said, as the others */
    const char *etag;
    const char *policy;         /* Content-Security-Policy */
    const char *referrer;       /* Referrer-Policy; NULL: no-referrer */
    char cookie[API_FIELD_MAX]; /* Set-Cookie; "": none, as with location */
    char location[API_FIELD_MAX];
    struct api_live
        *live; /* the body has no end, and this makes it; NULL: it has one */
};

/* One request on its way to its answer. */
struct api_call {
    struct api *api;
    const struct api_route *route; /* NULL: none of them */
    enum api_kind
        kind; /* where it runs: the route's, unless its handler sets another and returns */
    struct api_counts *counts; /* asked for; NULL: not */
    struct http_request request;
    struct slice body;
    struct api_who who;
    char from[64];    /* address, for the log */
    bool is_of_proxy; /* the connection is one of api.proxies */
    struct config *config;
    struct arena *arena; /* until the answer is made */
    struct query *ask;   /* of the thread */
    uint64_t begun_us;
    struct slice undoes;  /* id of the change that it undoes (api_changes.c) */
    atomic_bool *is_gone; /* the client is; NULL: not known */
    struct api_answer answer;
};

/* What is wrong, as application/problem+json; whatever the answer had is dropped. */
void api_refuse(struct api_call *call, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A JSON value as the body; it is taken. NULL: 500. */
void api_answer_json(struct api_call *call, json_t *value);
struct api_counts;
struct api_member;
/* Reads the JSON body into them (api_body.h). False: it was refused. */
bool api_read_body(struct api_call *call, const struct api_member *members, size_t n);
/* A string with its quotes. s is UTF-8. */
void api_add_text(struct buf *b, struct slice s);
/* Time since the request was read, "1.234". */
void api_add_ms(struct buf *b, uint64_t begun_us);
/* The fields of the answer's head, except type and length of the body. */
void api_print_fields(const struct api_call *call, struct buf *ret);

/* Finds route and role; fills the answer, unless *retwaits: the handler is for a worker. lag_us:
 * how far the loop is behind. */
void api_dispatch(struct api_call *call, bool is_local, bool is_unix, uint64_t lag_us,
                  bool *retwaits);
/* Counts an answer that is made. */
void api_count(struct api_thread *t, const struct api_call *call);
/* How long a body of this request may be, before it is read; *retstatus: why not at all, or 0. */
uint64_t api_body_max(const struct config *config, const struct http_request *request);

/* ---- workers ---- */

struct api_work {
    struct api_call call;
    struct buf bytes;       /* head and body of the request */
    struct http_conn *conn; /* NULL: it is gone; only its own thread reads this */
    atomic_bool is_gone;    /* the same for the worker */
    struct api_thread *home;
    struct api_work *next;
};
struct api_pool;
enum err api_pool_new(struct api *a, struct api_pool **ret);
void api_pool_free(struct api_pool **p);
/* Takes w. False: there is no place. */
bool api_pool_put(struct api_pool *p, struct api_work *w);
/* An answer is there: from a worker. */
void api_thread_return(struct api_thread *t, struct api_work *w);
void api_work_free(struct api_work *w);

/* ---- a tail of messages (api_messages.c) ---- */

enum {
    API_LIVE_MAX = 16,        /* at once */
    API_LIVE_ROWS = 1000,     /* looked at in one turn of a loop, for one client */
    API_LIVE_PIECE = 1 << 17, /* bytes of events in one turn */
    API_LIVE_BEAT_S = 15,     /* seconds without an event until a comment comes */
    API_LIVE_S = 3600,        /* then the client begins again */
    API_LIVE_RETRY_S = 5
};
void api_live_free(struct api_live **l);
/* Takes l: the connection has sent the head of its answer. */
void api_live_begin(struct api_thread *t, struct http_conn *c, struct api_live *l);
/* The connection ends, with or without one. */
void api_live_end(struct api_thread *t, const struct http_conn *c);
/* Sends what is new. Ends those whose token was revoked. */
void api_live_look(struct api_thread *t);

/* ---- threads ---- */

struct api_cell {
    _Atomic uint64_t requests[API_STATUS_CLASSES];
    _Atomic uint64_t latency[API_LATENCY_BUCKETS];
    _Atomic uint64_t latency_us;
};

struct api_thread {
    struct api *api;
    pthread_t thread;
    bool is_started;
    struct event_base *base;
    struct http_server *server;
    struct event *tick;
    struct event *wake;
    int wake_fd;
    struct config *config; /* that of api when the generation was this */
    unsigned generation;
    struct arena *arena;
    struct query *ask;
    struct buf fields;     /* of the answer at hand */
    pthread_mutex_t mutex; /* guards back */
    struct api_work *back; /* answered by workers */
    struct api_live *live[API_LIVE_MAX];
    unsigned nlive;
    /* counted by this thread, read by any */
    struct api_cell cell[API_ROUTES_MAX];
    _Atomic uint64_t limited;
    _Atomic uint64_t shed;
};

struct api {
    struct status_board *board;
    struct list_watcher *lists;
    struct api_hooks hooks;
    struct api_tokens *tokens;
    struct api_pool *pool;
    struct reports_follower *reports; /* votes on campaigns */
    struct message_tail *messages;
    struct worth_tail *worth; /* of lists and rules */
    struct own_sessions *own;
    _Atomic unsigned nlive;
    SSL_CTX *tls; /* NULL: TCP is plain */
    uint64_t start_us;
    pthread_mutex_t mutex; /* guards config, limit */
    struct config *config;
    struct rate_limit *limit;
    _Atomic unsigned generation; /* of config */
    _Atomic bool stops;
    _Atomic uint64_t memory; /* bytes of requests and answers that wait */
    _Atomic uint64_t values;
    _Atomic uint64_t url_checks[RATING_COUNT];
    _Atomic uint64_t reports_ham;
    _Atomic uint64_t reports_spam;
    unsigned nthreads;
    struct api_thread threads[API_THREADS_MAX];
};

/* Calls on a connection of an api_thread, whose state is a struct api_work *. */
extern const struct http_hooks api_conn_hooks;
/* A worker is done. */
void api_conn_answered(struct api_work *w);

/* The configuration of now, for a call; released by the caller. */
struct config *api_config(struct api *a);

#endif
