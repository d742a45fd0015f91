#include "core/hub/fetch/feed_fetch.h"

#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/feed/local.h"
#include "core/feed/unpack.h"
#include "core/hub/fetch/feed_address.h"
#include "core/hub/fetch/feed_credentials.h"
#include "core/hub/fetch/feed_redirect.h"

enum { PART_MODE = 0640, TOO_MANY = 429, UNAVAILABLE = 503 };

/* One feed's download, over all its redirects. */
struct download {
    const struct feed_request *r;
    struct feed_answer *answer;
    const struct feed_credentials *secret;
    struct transfer transfer;
    struct fetch_answer fetched; /* of the request at hand */
    struct feed_redirect place;
    enum feed_reach home; /* of the configured host, after the first check */
    bool is_proxied;
    bool is_refused; /* the address is refused, for the reason why */
    struct errinfo why;
    uint64_t until_us;
};

/* ---- which addresses ---- */

/* `private` is said of the configured host and its network. A redirect may lead to this machine or
 * its link only if the configured host is there itself. */
static enum err check_reach(struct download *d, enum feed_reach reach)
{
    if (d->place.is_home) {
        d->home = reach;
    }
    if (reach == FEED_REACH_PUBLIC) {
        return ERR_OK;
    }
    if (!d->r->feed->may_be_private) {
        return errinfo_set(&d->why, ERR_DENIED, d->place.shown, 0,
                           "the server has an address that is not public; if it is to "
                           "be so, set `private = true` for the feed");
    }
    if (d->place.is_home || reach == FEED_REACH_PRIVATE || reach == d->home) {
        return ERR_OK;
    }
    return errinfo_set(&d->why, ERR_DENIED, d->place.shown, 0,
                       "it redirects to an address of this machine or its link, which "
                       "a server elsewhere may not name; set `url` to where the feed "
                       "is");
}

/* libcurl calls this right before a connection to the address, so DNS cannot change it
 * afterwards. */
static curl_socket_t on_socket(void *context, curlsocktype purpose,
                               struct curl_sockaddr *a)
{
    struct download *d = context;

    (void)purpose;
    /* a refusal of a former address of the host is void */
    d->is_refused =
        !d->is_proxied && check_reach(d, feed_address_reach(&a->addr)) != ERR_OK;
    return d->is_refused ? CURL_SOCKET_BAD
                         : socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* ---- the request ---- */

/* The proxy: from the configuration, else from the environment. NULL: libcurl decides, because the
 * environment has exceptions; an address in this network then needs `private`. */
static const char *proxy_of(const struct download *d)
{
    const char *proxy = d->r->feed->proxy;

    if (*proxy == '\0') {
        bool is_https = feed_redirect_is_https(&d->place);
        const char *names[] = {is_https ? "https_proxy" : "http_proxy",
                               is_https ? "HTTPS_PROXY" : "", "all_proxy", "ALL_PROXY"};

        /* the service never changes its environment */
        proxy = NULL;
        for (size_t i = 0; proxy == NULL && i < LENGTH(names); i++) {
            proxy = getenv(names[i]); /* NOLINT(concurrency-mt-unsafe) */
        }
        if (proxy == NULL || *proxy == '\0' ||
            getenv("no_proxy") != NULL || /* NOLINT(concurrency-mt-unsafe) */
            getenv("NO_PROXY") != NULL) { /* NOLINT(concurrency-mt-unsafe) */
            return NULL;
        }
    }
    return strcmp(proxy, "none") == 0 ? "" : proxy;
}

static void begin_transfer(struct download *d)
{
    uint64_t now_us = clock_mono_us();
    struct transfer *t = &d->transfer;

    t->whole_ms = 1 + (d->until_us > now_us ? (d->until_us - now_us) / 1000 : 0);
    transfer_begin(t);
    (void)curl_easy_setopt(t->easy, CURLOPT_CURLU, d->place.url);
    (void)curl_easy_setopt(t->easy, CURLOPT_ACCEPT_ENCODING, "");
    (void)curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    (void)curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETDATA, d);
}

static bool add_header(struct curl_slist **to, const char *line)
{
    struct curl_slist *more = curl_slist_append(*to, line);

    *to = more != NULL ? more : *to;
    return more != NULL;
}

static bool add_field(struct curl_slist **to, const char *name, const char *value)
{
    char line[FETCH_ETAG_MAX + 64];

    (void)snprintf(line, sizeof(line), "%s%s", name, value);
    return *value == '\0' || add_header(to, line);
}

/* Credentials are sent only to the configured host. */
static struct curl_slist *set_request(struct download *d)
{
    const struct config_feed *feed = d->r->feed;
    CURL *easy = d->transfer.easy;
    struct curl_slist *headers = NULL;
    bool ok = add_field(&headers, "If-None-Match: ", d->r->etag) &&
              add_field(&headers, "If-Modified-Since: ", d->r->last_modified);

    if (d->place.is_home) {
        for (size_t i = 0; ok && i < feed->headers.n; i++) {
            ok = add_header(&headers, feed->headers.v[i]);
        }
        for (size_t i = 0; ok && i < d->secret->nheaders; i++) {
            ok = add_header(&headers, d->secret->header[i]);
        }
        if (d->secret->user[0] != '\0') {
            (void)curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
            (void)curl_easy_setopt(easy, CURLOPT_USERNAME, d->secret->user);
            (void)curl_easy_setopt(easy, CURLOPT_PASSWORD, d->secret->password);
        }
    }
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    if (*feed->ca_file != '\0') {
        (void)curl_easy_setopt(easy, CURLOPT_CAINFO, feed->ca_file);
        (void)curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    return headers;
}

/* ---- what it says ---- */

/* Explains a failure in terms of the feed's configuration. */
static enum err explain_failure(const struct download *d, enum err e,
                                struct errinfo *reterr)
{
    const struct config_feed *feed = d->r->feed;

    if (d->is_refused) {
        *reterr = d->why;
        return d->why.code;
    }
    if (d->transfer.errnum != 0) {
        errno = d->transfer.errnum;
        return errinfo_errno(reterr, d->r->body, "what came cannot be written");
    }
    switch (d->transfer.refusal) {
    case FETCH_TOO_LONG:
        return errinfo_set(
            reterr, ERR_LIMIT, d->place.shown, 0,
            "longer than the %llu bytes that `download_bytes` of the feed allows",
            (unsigned long long)feed->bytes);
    case FETCH_TOO_LARGE:
        return errinfo_set(reterr, ERR_LIMIT, d->place.shown, 0,
                           "decompressed it is longer than the %llu bytes that "
                           "`decompressed_bytes` of the feed allows",
                           (unsigned long long)feed->expanded);
    default:
        return e;
    }
}

/* Handles every status but 200, 304 and redirects. */
static enum err refuse_status(struct download *d, struct errinfo *reterr)
{
    long status = d->fetched.status;
    curl_off_t wait_s = 0;

    if (status == TOO_MANY || status == UNAVAILABLE) {
        (void)curl_easy_getinfo(d->transfer.easy, CURLINFO_RETRY_AFTER, &wait_s);
        wait_s = wait_s > 0 ? wait_s : 0;
        d->answer->retry_after_s = wait_s > FEED_RETRY_AFTER_MOST_S
                                       ? (unsigned)FEED_RETRY_AFTER_MOST_S
                                       : (unsigned)wait_s;
    }
    return errinfo_set(reterr, ERR_NOT_FOUND, d->place.shown, 0,
                       "the server answers %ld", status);
}

/* ---- from place to place ---- */

/* One request. Its answer is in d->fetched. */
static enum err request_once(struct download *d, struct errinfo *reterr)
{
    const char *proxy = proxy_of(d);
    CURL *easy = d->transfer.easy;
    curl_off_t came = 0;

    /* also for a proxy, as far as the address is known without DNS */
    d->is_refused = check_reach(d, feed_redirect_reach(&d->place)) != ERR_OK;
    if (d->is_refused) {
        return explain_failure(d, ERR_DENIED, reterr);
    }
    if (ftruncate(d->transfer.fd, 0) != 0 || lseek(d->transfer.fd, 0, SEEK_SET) != 0) {
        return errinfo_errno(reterr, d->r->body, "what came before cannot be removed");
    }
    begin_transfer(d);
    d->is_proxied = proxy != NULL && *proxy != '\0';
    if (proxy != NULL) {
        (void)curl_easy_setopt(easy, CURLOPT_PROXY, proxy);
        (void)curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    }
    struct curl_slist *headers = set_request(d);
    enum err e = transfer_run(&d->transfer, d->place.shown, reterr);

    (void)curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &came);
    d->answer->bytes += came > 0 ? (uint64_t)came : 0;
    curl_slist_free_all(headers);
    long status = d->fetched.status;

    if (e != ERR_OK || d->is_refused) {
        return explain_failure(d, e, reterr);
    }
    return status == FETCH_OK || status == FETCH_NOT_MODIFIED || status / 100 == 3
               ? ERR_OK
               : refuse_status(d, reterr);
}

static enum err follow_redirects(struct download *d, struct errinfo *reterr)
{
    bool is_known = d->r->etag[0] != '\0' || d->r->last_modified[0] != '\0';
    const char *to = NULL;

    for (unsigned steps = 0; steps <= FEED_REDIRECTS; steps++) {
        enum err e = request_once(d, reterr);

        if (e != ERR_OK || d->fetched.status == FETCH_OK) {
            return e;
        }
        if (d->fetched.status == FETCH_NOT_MODIFIED) {
            d->answer->is_same = true;
            return is_known ? ERR_OK
                            : errinfo_set(reterr, ERR_SYNTAX, d->place.shown, 0,
                                          "the server answers 304 to a request "
                                          "without conditions");
        }
        (void)curl_easy_getinfo(d->transfer.easy, CURLINFO_REDIRECT_URL, &to);
        e = feed_redirect_move(&d->place, to, reterr);
        if (e != ERR_OK) {
            return e;
        }
    }
    return errinfo_set(reterr, ERR_LIMIT, d->place.shown, 0, "more than %d redirects",
                       (int)FEED_REDIRECTS);
}

/* ---- from the part to the body ---- */

static enum err put_in_place(struct download *d, struct errinfo *reterr)
{
    uint64_t left = d->r->feed->expanded;
    int to = open(d->r->body, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                  PART_MODE);
    enum err e = to >= 0
                     ? feed_unpack(d->transfer.fd, d->place.shown, to, &left, reterr)
                     : errinfo_errno(reterr, d->r->body, "cannot be written");

    fd_close(&to);
    if (e != ERR_OK) {
        (void)unlink(d->r->body);
    }
    return e;
}

static enum err download(struct download *d, struct errinfo *reterr)
{
    const struct config_feed *feed = d->r->feed;
    char part[FILE_PATH_MAX];
    CURL *easy = curl_easy_init();
    int fd = -1;
    enum err e = easy != NULL ? feed_redirect_begin(&d->place, feed->url, reterr)
                              : errinfo_nomem(reterr, "libcurl");

    THEN(e, path_make(part, reterr, "%s.part", d->r->body));
    if (e == ERR_OK) {
        fd = open(part, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, PART_MODE);
        e = fd >= 0 ? ERR_OK : errinfo_errno(reterr, part, "cannot be written");
    }
    d->until_us = clock_mono_us() + feed->timeout_s * 1000000;
    d->transfer = (struct transfer){
        .easy = easy,
        .stop = d->r->stop,
        .fd = fd,
        .most_bytes = feed->bytes,
        .most_decoded = feed->expanded,
        .connect_s = FEED_CONNECT_S,
        .stall_s = feed->timeout_s < FETCH_STALL_S ? (unsigned)feed->timeout_s
                                                   : (unsigned)FETCH_STALL_S,
        .progress = d->r->progress,
        .context = d->r->context,
        .answer = &d->fetched,
    };
    THEN(e, follow_redirects(d, reterr));
    if (e == ERR_OK && !d->answer->is_same) {
        e = put_in_place(d, reterr);
    }
    if (fd >= 0) {
        (void)unlink(part);
        (void)close(fd);
    }
    (void)snprintf(d->answer->etag, sizeof(d->answer->etag), "%s", d->fetched.etag);
    (void)snprintf(d->answer->last_modified, sizeof(d->answer->last_modified), "%s",
                   d->fetched.last_modified);
    feed_redirect_end(&d->place);
    curl_easy_cleanup(easy);
    return e;
}

static enum err read_local(const struct feed_request *r, struct feed_answer *ret,
                           struct errinfo *reterr)
{
    struct feed_local local;
    enum err e = feed_local_read(r->feed, r->etag, r->body, &local, reterr);

    ret->is_same = local.is_same;
    ret->bytes = local.bytes;
    (void)snprintf(ret->etag, sizeof(ret->etag), "%s", local.tag);
    return e;
}

enum err feed_fetch(const struct feed_request *request, struct feed_answer *ret,
                    struct errinfo *reterr)
{
    struct feed_credentials secret;
    struct download d = {.r = request, .answer = ret, .secret = &secret};
    enum err e = ERR_OK;

    *ret = (struct feed_answer){.bytes = 0};
    if (feed_local_path(request->feed->url) != NULL) {
        return read_local(request, ret, reterr);
    }
    e = feed_credentials_read(request->feed, &secret, reterr);
    THEN(e, download(&d, reterr));
    feed_credentials_forget(&secret);
    return e;
}
