/* feed_fetch - a download with libcurl: see feed_fetch.h for what is refused. */
#include "core/hub/fetch/feed_fetch.h"

#include <curl/curl.h>
#include <strings.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/version.h"
#include "core/feed/local.h"
#include "core/feed/unpack.h"
#include "core/hub/fetch/feed_address.h"
#include "core/hub/fetch/feed_credentials.h"
#include "core/hub/fetch/feed_redirect.h"

enum {
    PART_MODE = 0640,
    OK = 200,
    NOT_MODIFIED = 304,
    TOO_MANY = 429,
    UNAVAILABLE = 503
};

enum refusal { NONE, TOO_LONG, TOO_LARGE, LONG_HEAD, PRIVATE, LOCAL, STOPPED };

/* One feed's download, over all its redirects. */
struct download {
    const struct feed_request *r;
    struct feed_answer *answer;
    const struct feed_credentials *secret;
    CURL *easy;
    struct feed_redirect place;
    enum feed_reach home; /* of the configured host, once it was asked */
    bool is_proxied;
    int fd;
    uint64_t until_us;
    uint64_t decoded;
    size_t head_bytes;
    enum refusal refusal;
    int errnum; /* of writing; 0: none */
    char why[CURL_ERROR_SIZE];
};

/* ---- what comes ---- */

static bool write_all(struct download *d, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t done = write(d->fd, p, n);

        if (done < 0 && errno != EINTR) {
            d->errnum = errno;
            return false;
        }
        p += done > 0 ? done : 0;
        n -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

static size_t on_body(char *p, size_t size, size_t n, void *context)
{
    struct download *d = context;
    curl_off_t came = 0;
    long status = 0;

    n *= size;
    (void)curl_easy_getinfo(d->easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(d->easy, CURLINFO_SIZE_DOWNLOAD_T, &came);
    if (came > 0 && (uint64_t)came > d->r->feed->bytes) {
        d->refusal = TOO_LONG;
        return 0;
    }
    if (status != OK) {
        return n; /* the text of a failure is nobody's */
    }
    if (n > d->r->feed->expanded - d->decoded) {
        d->refusal = TOO_LARGE;
        return 0;
    }
    d->decoded += n;
    return write_all(d, p, n) ? n : 0;
}

/* The value of a field with this name, when it is one that may be kept. */
static void take_field(struct slice line, const char *name, char *ret, size_t size)
{
    size_t n = strlen(name);

    if (line.n <= n || strncasecmp(line.p, name, n) != 0) {
        return;
    }
    struct slice v = slice_trim(slice_from(line, n));
    for (size_t i = 0; i < v.n; i++) {
        if (v.p[i] < ' ' || v.p[i] > '~') {
            return;
        }
    }
    if (v.n < size) {
        memcpy(ret, v.p, v.n);
        ret[v.n] = '\0';
    }
}

static size_t on_header(char *p, size_t size, size_t n, void *context)
{
    struct download *d = context;
    struct slice line = slice_of(p, n * size);

    if (slice_has_prefix(line, SLICE_LIT("HTTP/"))) { /* another answer begins */
        d->answer->etag[0] = '\0';
        d->answer->last_modified[0] = '\0';
    }
    d->head_bytes += line.n;
    if (d->head_bytes > FEED_HEAD_BYTES) {
        d->refusal = LONG_HEAD;
        return 0;
    }
    take_field(line, "etag:", d->answer->etag, sizeof(d->answer->etag));
    take_field(line, "last-modified:", d->answer->last_modified,
               sizeof(d->answer->last_modified));
    return line.n;
}

static int on_progress(void *context, curl_off_t all, curl_off_t now, curl_off_t all_up,
                       curl_off_t now_up)
{
    struct download *d = context;

    (void)all_up;
    (void)now_up;
    if (atomic_load(d->r->stop)) {
        d->refusal = STOPPED;
        return 1;
    }
    if (now > 0 && (uint64_t)now > d->r->feed->bytes) {
        d->refusal = TOO_LONG;
        return 1;
    }
    if (d->r->progress != NULL) {
        d->r->progress(d->r->context, all > 0 ? (double)now / (double)all : -1);
    }
    return 0;
}

/* What may be asked. `private` is said of the configured host and its network: where that redirects to, nothing of this
 * machine or its link answers, unless it is there itself. */
static enum refusal check_reach(struct download *d, enum feed_reach reach)
{
    if (d->place.is_home) {
        d->home = reach;
    }
    if (reach == FEED_REACH_PUBLIC) {
        return NONE;
    }
    if (!d->r->feed->may_be_private) {
        return PRIVATE;
    }
    return d->place.is_home || reach == FEED_REACH_PRIVATE || reach == d->home ? NONE
                                                                               : LOCAL;
}

/* Right before a connection: this is the address it goes to, whatever DNS says next. */
static curl_socket_t on_socket(void *context, curlsocktype purpose,
                               struct curl_sockaddr *a)
{
    struct download *d = context;

    (void)purpose;
    /* it may be the next of several addresses: what was said of the former is past */
    d->refusal = d->is_proxied ? NONE : check_reach(d, feed_address_reach(&a->addr));
    if (d->refusal != NONE) {
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* ---- how it is asked ---- */

/* The proxy that the environment names is taken as if the configuration did; where it has exceptions it is libcurl's to know
 * them, and an address in this network then needs `private`. */
static const char *proxy_of(const struct download *d)
{
    const char *proxy = d->r->feed->proxy;

    if (*proxy == '\0') {
        bool is_https = feed_redirect_is_https(&d->place);
        const char *names[] = {is_https ? "https_proxy" : "http_proxy",
                               is_https ? "HTTPS_PROXY" : "", "all_proxy", "ALL_PROXY"};

        /* nobody changes the environment of the service */
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

static void set_bounds(struct download *d)
{
    CURL *easy = d->easy;
    uint64_t now_us = clock_mono_us();
    uint64_t left_ms = d->until_us > now_us ? (d->until_us - now_us) / 1000 : 0;
    long stall_s = d->r->feed->timeout_s < FEED_STALL_S ? (long)d->r->feed->timeout_s
                                                        : (long)FEED_STALL_S;

    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)FEED_CONNECT_S);
    (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)FEED_STALL_BYTES);
    (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, stall_s);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)left_ms + 1);
    (void)curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE,
                           (curl_off_t)d->r->feed->bytes);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    (void)curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
}

static void set_hooks(struct download *d)
{
    CURL *easy = d->easy;

    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, d);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, d);
    (void)curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    (void)curl_easy_setopt(easy, CURLOPT_XFERINFODATA, d);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, d);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, d->why);
}

static bool add_header(struct curl_slist **to, const char *name, const char *value)
{
    char line[FEED_ETAG_MAX + 64];
    struct curl_slist *more = NULL;

    if (*value == '\0') {
        return true;
    }
    (void)snprintf(line, sizeof(line), "%s%s", name, value);
    more = curl_slist_append(*to, line);
    *to = more != NULL ? more : *to;
    return more != NULL;
}

/* What proves who we are goes to the host of the configuration alone. */
static struct curl_slist *set_request(struct download *d)
{
    const struct config_feed *feed = d->r->feed;
    struct curl_slist *headers = NULL;
    bool ok = add_header(&headers, "If-None-Match: ", d->r->etag) &&
              add_header(&headers, "If-Modified-Since: ", d->r->last_modified);

    if (d->place.is_home) {
        for (size_t i = 0; ok && i < feed->headers.n; i++) {
            struct curl_slist *more = curl_slist_append(headers, feed->headers.v[i]);
            ok = more != NULL;
            headers = ok ? more : headers;
        }
        for (size_t i = 0; ok && i < d->secret->nheaders; i++) {
            struct curl_slist *more = curl_slist_append(headers, d->secret->header[i]);
            ok = more != NULL;
            headers = ok ? more : headers;
        }
        if (d->secret->user[0] != '\0') {
            (void)curl_easy_setopt(d->easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
            (void)curl_easy_setopt(d->easy, CURLOPT_USERNAME, d->secret->user);
            (void)curl_easy_setopt(d->easy, CURLOPT_PASSWORD, d->secret->password);
        }
    }
    (void)curl_easy_setopt(d->easy, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(d->easy, CURLOPT_ACCEPT_ENCODING, "");
    (void)curl_easy_setopt(d->easy, CURLOPT_USERAGENT, "gillnet-hub/" GILLNET_VERSION);
    if (*feed->ca_file != '\0') {
        (void)curl_easy_setopt(d->easy, CURLOPT_CAINFO, feed->ca_file);
        (void)curl_easy_setopt(d->easy, CURLOPT_CAPATH, NULL);
    }
    return headers;
}

/* ---- what it says ---- */

static enum err refused(const struct download *d, struct errinfo *reterr)
{
    const struct config_feed *feed = d->r->feed;

    switch (d->refusal) {
    case TOO_LONG:
        return errinfo_set(
            reterr, ERR_LIMIT, d->place.shown, 0,
            "longer than the %llu bytes that `download_bytes` of the feed allows",
            (unsigned long long)feed->bytes);
    case TOO_LARGE:
        return errinfo_set(reterr, ERR_LIMIT, d->place.shown, 0,
                           "decompressed it is longer than the %llu bytes that "
                           "`decompressed_bytes` of the feed allows",
                           (unsigned long long)feed->expanded);
    case LONG_HEAD:
        return errinfo_set(reterr, ERR_LIMIT, d->place.shown, 0,
                           "its header fields do not end");
    case PRIVATE:
        return errinfo_set(reterr, ERR_DENIED, d->place.shown, 0,
                           "the server has an address that is not public; if it is to "
                           "be so, set `private = true` for the feed");
    case LOCAL:
        return errinfo_set(reterr, ERR_DENIED, d->place.shown, 0,
                           "it redirects to an address of this machine or its link, "
                           "which a server elsewhere may not name; set `url` to where "
                           "the feed is");
    case STOPPED:
        return errinfo_set(reterr, ERR_TIMEOUT, d->place.shown, 0, "stopped");
    case NONE:
        break;
    }
    return ERR_OK;
}

static enum err result_of(struct download *d, CURLcode code, long status,
                          struct errinfo *reterr)
{
    curl_off_t wait_s = 0;
    enum err e = refused(d, reterr);

    if (e != ERR_OK) {
        return e;
    }
    if (d->errnum != 0) {
        return errinfo_set(reterr, err_of_errno(d->errnum), d->r->body, 0,
                           "what came cannot be written: %s",
                           strerrordesc_np(d->errnum));
    }
    if (code == CURLE_FILESIZE_EXCEEDED) {
        d->refusal = TOO_LONG;
        return refused(d, reterr);
    }
    if (code != CURLE_OK) {
        return errinfo_set(reterr,
                           code == CURLE_OPERATION_TIMEDOUT ? ERR_TIMEOUT : ERR_IO,
                           d->place.shown, 0, "%s",
                           d->why[0] != '\0' ? d->why : curl_easy_strerror(code));
    }
    if (status == TOO_MANY || status == UNAVAILABLE) {
        (void)curl_easy_getinfo(d->easy, CURLINFO_RETRY_AFTER, &wait_s);
        d->answer->retry_after_s = wait_s > FEED_RETRY_AFTER_MOST_S
                                       ? (unsigned)FEED_RETRY_AFTER_MOST_S
                                   : wait_s > 0 ? (unsigned)wait_s
                                                : 0;
    }
    return errinfo_set(reterr, ERR_NOT_FOUND, d->place.shown, 0,
                       "the server answers %ld", status);
}

/* ---- from place to place ---- */

/* Also of what a proxy would fetch for us, as far as it can be seen from here. */
static enum err check_host(struct download *d, struct errinfo *reterr)
{
    d->refusal = check_reach(d, feed_redirect_reach(&d->place));
    return refused(d, reterr);
}

/* One request. *retstatus: what it was answered with when the exchange went well. */
static enum err ask(struct download *d, long *retstatus, struct errinfo *reterr)
{
    const char *proxy = proxy_of(d);
    struct curl_slist *headers = NULL;
    CURLcode code = CURLE_OK;
    curl_off_t came = 0;
    enum err e = check_host(d, reterr);

    if (e != ERR_OK) {
        return e;
    }
    if (ftruncate(d->fd, 0) != 0 || lseek(d->fd, 0, SEEK_SET) != 0) {
        return errinfo_errno(reterr, d->r->body, "what came before cannot be removed");
    }
    curl_easy_reset(d->easy);
    d->decoded = 0;
    d->head_bytes = 0;
    d->why[0] = '\0';
    d->is_proxied = proxy != NULL && *proxy != '\0';
    if (proxy != NULL) {
        (void)curl_easy_setopt(d->easy, CURLOPT_PROXY, proxy);
        (void)curl_easy_setopt(d->easy, CURLOPT_NOPROXY, "");
    }
    (void)curl_easy_setopt(d->easy, CURLOPT_CURLU, d->place.url);
    set_bounds(d);
    set_hooks(d);
    headers = set_request(d);
    code = curl_easy_perform(d->easy);
    (void)curl_easy_getinfo(d->easy, CURLINFO_RESPONSE_CODE, retstatus);
    (void)curl_easy_getinfo(d->easy, CURLINFO_SIZE_DOWNLOAD_T, &came);
    d->answer->bytes += came > 0 ? (uint64_t)came : 0;
    curl_slist_free_all(headers);
    if (code == CURLE_OK && d->refusal == NONE &&
        (*retstatus == OK || *retstatus == NOT_MODIFIED || *retstatus / 100 == 3)) {
        return ERR_OK;
    }
    return result_of(d, code, *retstatus, reterr);
}

static enum err run(struct download *d, struct errinfo *reterr)
{
    bool is_known = d->r->etag[0] != '\0' || d->r->last_modified[0] != '\0';
    const char *to = NULL;
    long status = 0;

    for (unsigned steps = 0; steps <= FEED_REDIRECTS; steps++) {
        enum err e = ask(d, &status, reterr);

        if (e != ERR_OK || status == OK) {
            return e;
        }
        if (status == NOT_MODIFIED) {
            d->answer->is_same = true;
            return is_known ? ERR_OK
                            : errinfo_set(reterr, ERR_SYNTAX, d->place.shown, 0,
                                          "the server answers 304 to a request "
                                          "without conditions");
        }
        (void)curl_easy_getinfo(d->easy, CURLINFO_REDIRECT_URL, &to);
        e = feed_redirect_move(&d->place, to, reterr);
        if (e != ERR_OK) {
            return e;
        }
    }
    return errinfo_set(reterr, ERR_LIMIT, d->place.shown, 0, "more than %d redirects",
                       (int)FEED_REDIRECTS);
}

/* ---- from the part to the body ---- */

static enum err put_in_place(struct download *d, const char *part,
                             struct errinfo *reterr)
{
    uint64_t left = d->r->feed->expanded;
    int to = open(d->r->body, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                  PART_MODE);
    enum err e = to >= 0 ? feed_unpack(d->fd, d->place.shown, to, &left, reterr)
                         : errinfo_errno(reterr, d->r->body, "cannot be written");

    if (to >= 0) {
        (void)close(to);
    }
    if (e != ERR_OK) {
        (void)unlink(d->r->body);
    }
    (void)unlink(part);
    return e;
}

static enum err begin(struct download *d, struct errinfo *reterr)
{
    d->until_us = clock_mono_us() + d->r->feed->timeout_s * 1000000;
    d->easy = curl_easy_init();
    return d->easy != NULL
               ? feed_redirect_begin(&d->place, d->r->feed->url, reterr)
               : errinfo_set(reterr, ERR_NOMEM, "libcurl", 0, "out of memory");
}

static enum err download(struct download *d, struct errinfo *reterr)
{
    char part[FILE_PATH_MAX];
    enum err e = begin(d, reterr);

    if (e == ERR_OK && file_path(part, "%s.part", d->r->body) != ERR_OK) {
        e = errinfo_set(reterr, ERR_LIMIT, d->r->body, 0, "the path is too long");
    }
    if (e == ERR_OK) {
        d->fd =
            open(part, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, PART_MODE);
        e = d->fd >= 0 ? run(d, reterr)
                       : errinfo_errno(reterr, part, "cannot be written");
    }
    if (e == ERR_OK && !d->answer->is_same) {
        e = put_in_place(d, part, reterr);
    } else if (d->fd >= 0) {
        (void)unlink(part);
    }
    if (d->fd >= 0) {
        (void)close(d->fd);
    }
    feed_redirect_end(&d->place);
    curl_easy_cleanup(d->easy);
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
    struct download d = {.r = request, .answer = ret, .secret = &secret, .fd = -1};
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
