#include "core/hub/fetch/fetch.h"

#include <curl/curl.h>
#include <strings.h>

#include "core/base/version.h"

enum { FILE_MODE = 0600, OK = 200, PARTIAL = 206, NOT_MODIFIED = 304, BAD_RANGE = 416 };

struct fetch {
    CURL *easy;
    const atomic_bool *stop;
    char why[CURL_ERROR_SIZE];
};

/* One transfer. */
struct transfer {
    struct fetch *f;
    struct buf *into; /* or */
    int fd;
    uint64_t have; /* of a file, before */
    uint64_t got;
    uint64_t most;
    bool is_too_long;
    int errnum; /* of writing; 0: none */
    struct fetch_answer *answer;
};

enum err fetch_new(const atomic_bool *stop, struct fetch **ret)
{
    struct fetch *f = calloc(1, sizeof(*f));

    if (f == NULL || (f->easy = curl_easy_init()) == NULL) {
        free(f);
        return ERR_NOMEM;
    }
    f->stop = stop;
    *ret = f;
    return ERR_OK;
}

void fetch_free(struct fetch **f)
{
    if (*f != NULL) {
        curl_easy_cleanup((*f)->easy);
        free(*f);
    }
    *f = NULL;
}

static bool write_all(struct transfer *t, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t done = write(t->fd, p, n);

        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            t->errnum = errno;
            return false;
        }
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static size_t on_body(char *p, size_t size, size_t n, void *context)
{
    struct transfer *t = context;
    long status = 0;

    n *= size;
    (void)curl_easy_getinfo(t->f->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status != OK && status != PARTIAL) {
        return n; /* the text of a failure is nobody's */
    }
    if (n > t->most || t->have + t->got > t->most - n) {
        t->is_too_long = true;
        return 0;
    }
    t->got += n;
    if (t->into == NULL) {
        return write_all(t, p, n) ? n : 0;
    }
    buf_add(t->into, slice_of(p, n));
    return buf_failed(t->into) ? 0 : n;
}

static size_t on_header(char *p, size_t size, size_t n, void *context)
{
    static const char name[] = "etag:";
    struct transfer *t = context;
    struct slice line = slice_of(p, n * size);

    if (line.n > sizeof(name) - 1 && strncasecmp(line.p, name, sizeof(name) - 1) == 0) {
        struct slice v = slice_trim(slice_from(line, sizeof(name) - 1));

        if (v.n < FETCH_ETAG_MAX && memchr(v.p, '\r', v.n) == NULL) {
            memcpy(t->answer->etag, v.p, v.n);
            t->answer->etag[v.n] = '\0';
        }
    }
    return n * size;
}

static int on_progress(void *context, curl_off_t all, curl_off_t now, curl_off_t all_up,
                       curl_off_t now_up)
{
    const struct transfer *t = context;

    (void)all;
    (void)now;
    (void)all_up;
    (void)now_up;
    return atomic_load(t->f->stop) ? 1 : 0;
}

static void set_all(CURL *easy, struct transfer *t, const char *url)
{
    curl_easy_reset(easy);
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)FETCH_CONNECT_S);
    (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)FETCH_STALL_BYTES);
    (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)FETCH_STALL_S);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT,
                           t->into != NULL ? (long)FETCH_SMALL_S : (long)FETCH_LARGE_S);
    (void)curl_easy_setopt(easy, CURLOPT_USERAGENT, "gillnet-hub/" GILLNET_VERSION);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    (void)curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    (void)curl_easy_setopt(easy, CURLOPT_XFERINFODATA, t);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->f->why);
    t->f->why[0] = '\0';
}

static enum err run(struct transfer *t, const char *url, struct errinfo *reterr)
{
    struct fetch *f = t->f;
    CURLcode code = curl_easy_perform(f->easy);

    (void)curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &t->answer->status);
    t->answer->bytes = t->got;
    if (t->is_too_long) {
        return errinfo_set(reterr, ERR_LIMIT, url, 0, "longer than it may be");
    }
    if (t->errnum != 0) {
        return errinfo_set(reterr, err_of_errno(t->errnum), url, 0,
                           "what came cannot be written: %s",
                           strerrordesc_np(t->errnum));
    }
    if (t->answer->status != 0 && t->answer->status != OK &&
        t->answer->status != PARTIAL && t->answer->status != NOT_MODIFIED) {
        return errinfo_set(reterr,
                           t->answer->status == BAD_RANGE ? ERR_RANGE : ERR_NOT_FOUND,
                           url, 0, "the server answers %ld", t->answer->status);
    }
    if (code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME) {
        return errinfo_set(reterr, ERR_RANGE, url, 0, "the server has no ranges");
    }
    if (code != CURLE_OK) {
        return errinfo_set(reterr, ERR_IO, url, 0, "%s",
                           f->why[0] != '\0' ? f->why : curl_easy_strerror(code));
    }
    return ERR_OK;
}

enum err fetch_small(struct fetch *f, const char *url, const char *etag,
                     struct buf *ret, struct fetch_answer *retanswer,
                     struct errinfo *reterr)
{
    struct transfer t = {
        .f = f, .into = ret, .fd = -1, .most = ret->max, .answer = retanswer};
    char line[FETCH_ETAG_MAX + 32];
    struct curl_slist *headers = NULL;

    *retanswer = (struct fetch_answer){.status = 0};
    set_all(f->easy, &t, url);
    if (etag[0] != '\0') {
        (void)snprintf(line, sizeof(line), "If-None-Match: %s", etag);
        headers = curl_slist_append(NULL, line);
        (void)curl_easy_setopt(f->easy, CURLOPT_HTTPHEADER, headers);
    }
    enum err e = run(&t, url, reterr);
    curl_slist_free_all(headers);
    return e;
}

/* From where the file ends. */
static enum err go_on(struct fetch *f, const char *url, int fd, uint64_t most,
                      struct fetch_answer *retanswer, struct errinfo *reterr)
{
    struct transfer t = {.f = f, .fd = fd, .most = most, .answer = retanswer};
    struct stat st;

    *retanswer = (struct fetch_answer){.status = 0};
    if (fstat(fd, &st) != 0) {
        return errinfo_errno(reterr, url, "what came before cannot be examined");
    }
    t.have = (uint64_t)st.st_size;
    set_all(f->easy, &t, url);
    if (t.have > 0) {
        (void)curl_easy_setopt(f->easy, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)t.have);
    }
    return run(&t, url, reterr);
}

enum err fetch_large(struct fetch *f, const char *url, const char *path,
                     uint64_t most_bytes, struct fetch_answer *retanswer,
                     struct errinfo *reterr)
{
    int fd =
        open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    enum err e =
        fd >= 0 ? go_on(f, url, fd, most_bytes, retanswer, reterr)
                : errinfo_errno(reterr, path, "cannot open the file for what comes");

    if (fd >= 0 && (e == ERR_RANGE || e == ERR_LIMIT)) { /* once more, from its begin */
        e = ftruncate(fd, 0) == 0
                ? go_on(f, url, fd, most_bytes, retanswer, reterr)
                : errinfo_errno(reterr, path, "cannot begin the file anew");
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return e;
}
