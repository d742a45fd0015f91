#include "core/hub/fetch/fetch.h"

#include <strings.h>

#include "core/base/file.h"
#include "core/base/version.h"

enum { FILE_MODE = 0600, BAD_RANGE = 416 };

/* ---- one transfer ---- */

static size_t on_body(char *p, size_t size, size_t n, void *context)
{
    struct transfer *t = context;
    curl_off_t came = 0;
    long status = 0;

    n *= size;
    (void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(t->easy, CURLINFO_SIZE_DOWNLOAD_T, &came);
    if (t->most_bytes > 0 && came > 0 && (uint64_t)came > t->most_bytes) {
        t->refusal = FETCH_TOO_LONG;
        return 0;
    }
    if (status != FETCH_OK && status != FETCH_PARTIAL) {
        return n; /* the text of a failure is not used */
    }
    if (n > t->most_decoded || t->answer->bytes > t->most_decoded - n) {
        t->refusal = FETCH_TOO_LARGE;
        return 0;
    }
    t->answer->bytes += n;
    if (t->into != NULL) {
        buf_add(t->into, slice_of(p, n));
        return buf_failed(t->into) ? 0 : n;
    }
    if (!file_write_all(t->fd, slice_of(p, n))) {
        t->errnum = errno;
        return 0;
    }
    return n;
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
    struct transfer *t = context;
    struct fetch_answer *a = t->answer;
    struct slice line = slice_of(p, n * size);

    if (slice_has_prefix(line, SLICE_LIT("HTTP/"))) { /* another answer begins */
        a->etag[0] = '\0';
        a->last_modified[0] = '\0';
    }
    t->head_bytes += line.n;
    if (t->head_bytes > FETCH_HEAD_BYTES) {
        t->refusal = FETCH_LONG_HEAD;
        return 0;
    }
    take_field(line, "etag:", a->etag, sizeof(a->etag));
    take_field(line, "last-modified:", a->last_modified, sizeof(a->last_modified));
    return line.n;
}

static int on_progress(void *context, curl_off_t all, curl_off_t now, curl_off_t all_up,
                       curl_off_t now_up)
{
    struct transfer *t = context;

    (void)all_up;
    (void)now_up;
    if (atomic_load(t->stop)) {
        t->refusal = FETCH_STOPPED;
    } else if (t->most_bytes > 0 && now > 0 && (uint64_t)now > t->most_bytes) {
        t->refusal = FETCH_TOO_LONG;
    } else if (t->progress != NULL) {
        t->progress(t->context, all > 0 ? (double)now / (double)all : -1);
    }
    return t->refusal != FETCH_NOT_REFUSED;
}

void transfer_begin(struct transfer *t)
{
    CURL *easy = t->easy;

    *t->answer = (struct fetch_answer){.status = 0};
    t->head_bytes = 0;
    t->refusal = FETCH_NOT_REFUSED;
    t->errnum = 0;
    t->why[0] = '\0';
    curl_easy_reset(easy);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    (void)curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)t->connect_s);
    (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)FETCH_STALL_BYTES);
    (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)t->stall_s);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)t->whole_ms);
    (void)curl_easy_setopt(easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)t->most_bytes);
    (void)curl_easy_setopt(easy, CURLOPT_USERAGENT, "gillnet-hub/" GILLNET_VERSION);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
    (void)curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    (void)curl_easy_setopt(easy, CURLOPT_XFERINFODATA, t);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->why);
}

enum err transfer_run(struct transfer *t, const char *source, struct errinfo *reterr)
{
    CURLcode code = curl_easy_perform(t->easy);

    (void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &t->answer->status);
    if (code == CURLE_FILESIZE_EXCEEDED) {
        t->refusal = FETCH_TOO_LONG;
    }
    switch (t->refusal) {
    case FETCH_TOO_LONG:
    case FETCH_TOO_LARGE:
        return errinfo_set(reterr, ERR_LIMIT, source, 0, "longer than it may be");
    case FETCH_LONG_HEAD:
        return errinfo_set(reterr, ERR_LIMIT, source, 0,
                           "its header fields do not end");
    case FETCH_STOPPED:
        return errinfo_set(reterr, ERR_TIMEOUT, source, 0, "stopped");
    case FETCH_NOT_REFUSED:
        break;
    }
    if (t->errnum != 0) {
        return errinfo_set(reterr, err_of_errno(t->errnum), source, 0,
                           "what came cannot be written: %s",
                           strerrordesc_np(t->errnum));
    }
    if (code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME) {
        return errinfo_set(reterr, ERR_RANGE, source, 0, "the server has no ranges");
    }
    return code == CURLE_OK
               ? ERR_OK
               : errinfo_set(reterr,
                             code == CURLE_OPERATION_TIMEDOUT ? ERR_TIMEOUT : ERR_IO,
                             source, 0, "%s",
                             t->why[0] != '\0' ? t->why : curl_easy_strerror(code));
}

/* ---- files ---- */

static struct transfer transfer_of(const struct fetch *f, unsigned whole_s,
                                   uint64_t most, struct fetch_answer *answer)
{
    return (struct transfer){.easy = f->easy,
                             .stop = f->stop,
                             .fd = -1,
                             .most_decoded = most,
                             .connect_s = FETCH_CONNECT_S,
                             .stall_s = FETCH_STALL_S,
                             .whole_ms = whole_s * 1000UL,
                             .answer = answer};
}

static enum err get(struct transfer *t, const char *url, struct errinfo *reterr)
{
    (void)curl_easy_setopt(t->easy, CURLOPT_URL, url);
    enum err e = transfer_run(t, url, reterr);
    long status = t->answer->status;

    if (status == 0 || t->refusal != FETCH_NOT_REFUSED || t->errnum != 0 ||
        status == FETCH_OK || status == FETCH_PARTIAL || status == FETCH_NOT_MODIFIED) {
        return e;
    }
    return errinfo_set(reterr, status == BAD_RANGE ? ERR_RANGE : ERR_NOT_FOUND, url, 0,
                       "the server answers %ld", status);
}

enum err fetch_small(const struct fetch *f, const char *url, const char *etag,
                     struct buf *ret, struct fetch_answer *retanswer,
                     struct errinfo *reterr)
{
    struct transfer t = transfer_of(f, FETCH_SMALL_S, ret->max, retanswer);
    char line[FETCH_ETAG_MAX + 32];
    struct curl_slist *headers = NULL;

    if (etag[0] != '\0') {
        (void)snprintf(line, sizeof(line), "If-None-Match: %s", etag);
        headers = curl_slist_append(NULL, line);
    }
    t.into = ret;
    transfer_begin(&t);
    (void)curl_easy_setopt(f->easy, CURLOPT_HTTPHEADER, headers);
    enum err e = get(&t, url, reterr);
    curl_slist_free_all(headers);
    return e;
}

/* From where the file ends. */
static enum err resume(const struct fetch *f, const char *url, int fd, uint64_t most,
                       struct fetch_answer *retanswer, struct errinfo *reterr)
{
    struct transfer t = transfer_of(f, FETCH_LARGE_S, most, retanswer);
    struct stat st;

    if (fstat(fd, &st) != 0) {
        return errinfo_errno(reterr, url, "what came before cannot be examined");
    }
    t.fd = fd;
    t.most_decoded -= (uint64_t)st.st_size < most ? (uint64_t)st.st_size : most;
    transfer_begin(&t);
    (void)curl_easy_setopt(f->easy, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)st.st_size);
    return get(&t, url, reterr);
}

enum err fetch_large(const struct fetch *f, const char *url, const char *path,
                     uint64_t most_bytes, struct fetch_answer *retanswer,
                     struct errinfo *reterr)
{
    int fd =
        open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    enum err e = fd >= 0 ? resume(f, url, fd, most_bytes, retanswer, reterr)
                         : errinfo_errno(reterr, path, "cannot open the file");

    if (fd >= 0 && (e == ERR_RANGE || e == ERR_LIMIT)) { /* once more, from its begin */
        e = ftruncate(fd, 0) == 0
                ? resume(f, url, fd, most_bytes, retanswer, reterr)
                : errinfo_errno(reterr, path, "cannot empty the file");
    }
    fd_close(&fd);
    return e;
}
