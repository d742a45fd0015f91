#include "core/hub/exchange/peer_client.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/version.h"

enum { CONNECT_TO_MAX = 320 };

struct peer_client {
    struct event_base *base;
    CURLM *multi;
    struct event *timer;
    const char *key_dir; /* NULL or dir */
    struct client_call *calls;
    char dir[FILE_PATH_MAX];
};

struct client_call {
    struct peer_client *client;
    struct client_call *next;
    CURL *easy;
    struct curl_slist *headers;
    struct curl_slist *connect_to;
    struct peer_client_request r;
    struct buf body;
    size_t most;
    bool has_looked;
    uint64_t begun_us;
    struct peer_client_answer answer;
    char why[CURL_ERROR_SIZE];
};

/* ---- libcurl's sockets and its one timer on our loop ---- */

static void finish_some(struct peer_client *c);

static void act(struct peer_client *c, curl_socket_t fd, int what)
{
    int running = 0;

    (void)curl_multi_socket_action(c->multi, fd, what, &running);
    finish_some(c);
}

static void on_socket(evutil_socket_t fd, short what, void *context)
{
    act(context, fd,
        ((what & EV_READ) != 0 ? CURL_CSELECT_IN : 0) |
            ((what & EV_WRITE) != 0 ? CURL_CSELECT_OUT : 0));
}

static void on_timer(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    act(context, CURL_SOCKET_TIMEOUT, 0);
}

static int set_socket(CURL *easy, curl_socket_t fd, int what, void *context,
                      void *socket_context)
{
    struct peer_client *c = context;
    struct event *e = socket_context;
    short events = (short)(((what & CURL_POLL_IN) != 0 ? EV_READ : 0) |
                           ((what & CURL_POLL_OUT) != 0 ? EV_WRITE : 0) | EV_PERSIST);

    (void)easy;
    if (e != NULL) {
        event_free(e);
        (void)curl_multi_assign(c->multi, fd, NULL);
    }
    if (what == CURL_POLL_REMOVE) {
        return 0;
    }
    e = event_new(c->base, fd, events, on_socket, c);
    if (e == NULL || event_add(e, NULL) != 0) {
        if (e != NULL) {
            event_free(e);
        }
        return -1;
    }
    (void)curl_multi_assign(c->multi, fd, e);
    return 0;
}

static int set_timer(CURLM *multi, long ms, void *context)
{
    struct peer_client *c = context;
    struct timeval t = {.tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000};

    (void)multi;
    if (ms < 0) {
        return event_del(c->timer);
    }
    return event_add(c->timer, &t);
}

/* ---- one call ---- */

static void destroy(struct client_call *call)
{
    if (call->easy != NULL) {
        (void)curl_multi_remove_handle(call->client->multi, call->easy);
        curl_easy_cleanup(call->easy);
    }
    curl_slist_free_all(call->headers);
    curl_slist_free_all(call->connect_to);
    buf_fini(&call->body);
    free(call);
}

static void drop(struct client_call *call)
{
    struct client_call **at = &call->client->calls;

    while (*at != call) {
        at = &(*at)->next;
    }
    *at = call->next;
    destroy(call);
}

/* The handshake was over and nothing of the request sent: in TLS 1.3 the other side looks at our
 * key only then, and its alert is lost when it closes before we write. */
static bool is_shut_out(const struct client_call *call)
{
    curl_off_t agreed_us = 0;
    long sent = 0;

    return curl_easy_getinfo(call->easy, CURLINFO_APPCONNECT_TIME_T, &agreed_us) ==
               CURLE_OK &&
           curl_easy_getinfo(call->easy, CURLINFO_REQUEST_SIZE, &sent) == CURLE_OK &&
           agreed_us > 0 && sent == 0;
}

static void explain_call(struct client_call *call, CURLcode code)
{
    const struct tls_pins *pins = call->r.pins;

    if (code == CURLE_WRITE_ERROR) {
        call->answer.why = "the answer is longer than it may be";
    } else if (pins != NULL && pins->why[0] != '\0') {
        call->answer.why = pins->why;
    } else if (strstr(call->why, "alert handshake failure") != NULL ||
               (code == CURLE_SEND_ERROR && is_shut_out(call))) {
        call->answer.why = "it does not take this server's key: this server is not in "
                           "its manifest, was dropped there, or its key is revoked or "
                           "was changed since the backup that was restored here; "
                           "compare `gillnet peer list` here and there";
    } else {
        call->answer.why = call->why[0] != '\0' ? call->why : curl_easy_strerror(code);
    }
}

static void finish_call(struct client_call *call, CURLcode code)
{
    long status = 0;
    peer_client_done_fn *done = call->r.done;
    void *context = call->r.context;

    (void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    call->answer.time_ms = (clock_mono_us() - call->begun_us) / 1000;
    if (code == CURLE_OK) {
        call->answer.status = (unsigned)status;
        call->answer.body = buf_slice(&call->body);
        call->answer.why = "";
    } else {
        explain_call(call, code);
    }
    /* the body is needed in done, the call is not to be cancelled there */
    done(context, &call->answer);
    drop(call);
}

static void finish_some(struct peer_client *c)
{
    CURLMsg *m = NULL;
    int left = 0;

    while ((m = curl_multi_info_read(c->multi, &left)) != NULL) {
        struct client_call *call = NULL;

        if (m->msg == CURLMSG_DONE &&
            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &call) == CURLE_OK &&
            call != NULL) {
            finish_call(call, m->data.result);
        }
    }
}

static size_t on_call_body(char *p, size_t size, size_t n, void *context)
{
    struct client_call *call = context;
    size_t bytes = size * n;

    if (bytes > call->most - call->body.n) {
        return 0;
    }
    buf_add(&call->body, slice_of(p, bytes));
    if (call->r.look != NULL && !call->has_looked && call->body.n >= PEER_CLIENT_LOOK) {
        size_t most = call->r.look(call->r.context, buf_slice(&call->body));

        call->has_looked = true;
        call->most = most < call->most ? most : call->most;
        if (call->body.n > call->most) {
            return 0;
        }
    }
    return buf_failed(&call->body) ? 0 : bytes;
}

static bool number_of(struct slice line, struct slice name, uint64_t *ret)
{
    return slice_has_prefix_nocase(line, name) &&
           slice_to_u64(slice_trim(slice_from(line, name.n)), 10, UINT64_MAX, ret);
}

static size_t on_header(char *p, size_t size, size_t n, void *context)
{
    struct client_call *call = context;
    struct slice line = slice_of(p, size * n);
    uint64_t v = 0;

    if (number_of(line, SLICE_LIT("gillnet-manifest:"), &v)) {
        call->answer.manifest = v;
    } else if (number_of(line, SLICE_LIT("retry-after:"), &v)) {
        call->answer.retry_s = v < 3600 ? (unsigned)v : 3600;
    }
    return size * n;
}

static CURLcode on_tls(CURL *easy, void *ctx, void *context)
{
    struct client_call *call = context;
    struct errinfo why;

    (void)easy;
    call->r.pins->why[0] = '\0';
    if (tls_client_set(ctx, call->client->key_dir, call->r.pins, &why) != ERR_OK) {
        (void)snprintf(call->r.pins->why, sizeof(call->r.pins->why), "%.100s",
                       why.text);
        return CURLE_SSL_CERTPROBLEM;
    }
    return CURLE_OK;
}

/* A connection through a net that was cut: the kernel alone would wait up to a quarter of an hour,
 * and after that as long again as it was cut. */
static int on_new_socket(void *context, curl_socket_t fd, curlsocktype purpose)
{
    static const struct {
        int level;
        int name;
        int value;
    } rows[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
                {IPPROTO_TCP, TCP_KEEPIDLE, PEER_CLIENT_PROBE_S},
                {IPPROTO_TCP, TCP_KEEPINTVL, PEER_CLIENT_PROBE_S},
                {IPPROTO_TCP, TCP_USER_TIMEOUT, PEER_CLIENT_LOST_S * 1000}};

    (void)context;
    if (purpose == CURLSOCKTYPE_IPCXN) {
        for (size_t i = 0; i < LENGTH(rows); i++) {
            (void)setsockopt(fd, rows[i].level, rows[i].name, &rows[i].value,
                             sizeof(rows[i].value));
        }
    }
    return CURL_SOCKOPT_OK;
}

#define SET(option, value) ok = ok && curl_easy_setopt(e, option, value) == CURLE_OK

static bool set_safe(CURL *e, struct client_call *call)
{
    bool ok = true;

    SET(CURLOPT_PRIVATE, call);
    SET(CURLOPT_ERRORBUFFER, call->why);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "https");
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_TCP_NODELAY, 1L);
    SET(CURLOPT_SOCKOPTFUNCTION, on_new_socket);
    SET(CURLOPT_CONNECTTIMEOUT, (long)PEER_CLIENT_CONNECT_S);
    SET(CURLOPT_LOW_SPEED_LIMIT, 1024L);
    SET(CURLOPT_LOW_SPEED_TIME, (long)PEER_CLIENT_STALL_S);
    SET(CURLOPT_USERAGENT, "gillnet/" GILLNET_VERSION);
    SET(CURLOPT_WRITEFUNCTION, on_call_body);
    SET(CURLOPT_WRITEDATA, call);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, call);
    return ok;
}

/* The pins decide, in the place of authorities and names. */
static bool set_pins(CURL *e, struct client_call *call)
{
    bool ok = true;

    SET(CURLOPT_SSLVERSION,
        (long)CURL_SSLVERSION_TLSv1_3 | (long)CURL_SSLVERSION_MAX_TLSv1_3);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 0L);
    SET(CURLOPT_CAINFO, NULL);
    SET(CURLOPT_CAPATH, NULL);
    SET(CURLOPT_SSL_SESSIONID_CACHE, 0L);
    SET(CURLOPT_SSL_ENABLE_ALPN, 1L);
    SET(CURLOPT_SSL_CTX_FUNCTION, on_tls);
    SET(CURLOPT_SSL_CTX_DATA, call);
    return ok;
}

static bool set_request(CURL *e, struct client_call *call)
{
    const struct peer_client_request *r = &call->r;
    char to[CONNECT_TO_MAX];
    bool ok = true;

    SET(CURLOPT_URL, r->url);
    SET(CURLOPT_TIMEOUT, (long)r->timeout_s);
    if (r->connect_to != NULL) {
        ok = ok && (size_t)snprintf(to, sizeof(to), "::%s", r->connect_to) < sizeof(to);
        call->connect_to = curl_slist_append(NULL, to);
        ok = ok && call->connect_to != NULL;
        SET(CURLOPT_CONNECT_TO, call->connect_to);
    }
    if (r->post.n > 0) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->post.n);
        SET(CURLOPT_COPYPOSTFIELDS, r->post.p);
        call->headers =
            curl_slist_append(NULL, "Content-Type: application/octet-stream");
        ok = ok && call->headers != NULL;
        SET(CURLOPT_HTTPHEADER, call->headers);
    }
    return ok;
}

enum err peer_client_start(struct peer_client *c,
                           const struct peer_client_request *request,
                           struct client_call **retcall, struct errinfo *reterr)
{
    struct client_call *call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return errinfo_nomem(reterr, request->url);
    }
    call->client = c;
    call->r = *request;
    call->most = request->max_bytes;
    call->begun_us = clock_mono_us();
    buf_init(&call->body, request->max_bytes);
    call->next = c->calls;
    c->calls = call;
    call->easy = curl_easy_init();
    if (call->easy == NULL || !set_safe(call->easy, call) ||
        !(request->pins == NULL || set_pins(call->easy, call)) ||
        !set_request(call->easy, call) ||
        curl_multi_add_handle(c->multi, call->easy) != CURLM_OK) {
        drop(call);
        return errinfo_set(reterr, ERR_UNSUPPORTED, request->url, 0,
                           "libcurl refuses the request; it must be 7.85 or later with "
                           "OpenSSL");
    }
    *retcall = call;
    return ERR_OK;
}

void peer_client_cancel(struct client_call **call)
{
    if (*call != NULL) {
        drop(*call);
        *call = NULL;
    }
}

/* ---- the client ---- */

enum err peer_client_new(struct event_base *base, const char *key_dir,
                         struct peer_client **ret, struct errinfo *reterr)
{
    struct peer_client *c = calloc(1, sizeof(*c));

    if (c != NULL) {
        c->base = base;
        c->multi = curl_multi_init();
        c->timer = evtimer_new(base, on_timer, c);
    }
    if (c == NULL || c->multi == NULL || c->timer == NULL) {
        peer_client_free(&c);
        return errinfo_nomem(reterr, "libcurl");
    }
    if (key_dir != NULL && file_path(c->dir, "%s", key_dir) == ERR_OK) {
        c->key_dir = c->dir;
    }
    (void)curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
    (void)curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    (void)curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    (void)curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    (void)curl_multi_setopt(c->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
                            (long)PEER_CLIENT_HOST_CONNS);
    (void)curl_multi_setopt(c->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    *ret = c;
    return ERR_OK;
}

void peer_client_free(struct peer_client **c)
{
    if (*c == NULL) {
        return;
    }
    for (struct client_call *call = (*c)->calls; call != NULL; call = (*c)->calls) {
        (*c)->calls = call->next;
        destroy(call);
    }
    if ((*c)->multi != NULL) {
        (void)curl_multi_cleanup((*c)->multi);
    }
    if ((*c)->timer != NULL) {
        event_free((*c)->timer);
    }
    free(*c);
    *c = NULL;
}
