#include "core/hub/fetch/feed_credentials.h"

#include <curl/curl.h>
#include <openssl/crypto.h>

#include "core/base/file.h"
#include "core/hub/fetch/feed_fetch.h"

enum { OTHERS = 0007 };

static enum err read_secret(const char *path, struct buf *ret, struct errinfo *reterr)
{
    struct stat st;

    if (stat(path, &st) != 0) {
        return errinfo_errno(reterr, path, "cannot be read");
    }
    if ((st.st_mode & OTHERS) != 0) {
        return errinfo_set(reterr, ERR_DENIED, path, 0,
                           "everybody may read or change this secret (mode %04o): "
                           "chmod 640, and give it to the group of gillnet-hub",
                           (unsigned)st.st_mode & 07777);
    }
    enum err e = file_read(path, ret, reterr);
    if (e == ERR_OK && ret->n > 0 && memchr(ret->p, '\0', ret->n) != NULL) {
        e = errinfo_set(reterr, ERR_SYNTAX, path, 0, "it is no text");
    }
    return e;
}

/* The first line of the file. */
static enum err read_password(const char *path, struct feed_credentials *ret,
                              struct errinfo *reterr)
{
    struct buf text;
    enum err e = ERR_OK;

    buf_init(&text, FEED_SECRET_BYTES);
    e = read_secret(path, &text, reterr);
    if (e == ERR_OK) {
        struct slice all = buf_slice(&text);
        struct slice line = slice_trim(slice_cut(&all, '\n'));

        if (line.n == 0 || line.n >= sizeof(ret->password)) {
            e = errinfo_set(reterr, ERR_SYNTAX, path, 0,
                            "the first line must be the password");
        } else {
            memcpy(ret->password, line.p, line.n);
            ret->password[line.n] = '\0';
        }
    }
    if (text.p != NULL) {
        OPENSSL_cleanse(text.p, text.size);
    }
    buf_fini(&text);
    return e;
}

static bool is_field(const char *line)
{
    size_t name = strcspn(line, ": \t");

    return name > 0 && line[name] == ':';
}

static enum err read_headers(const char *path, struct feed_credentials *ret,
                             struct errinfo *reterr)
{
    enum err e = read_secret(path, &ret->text, reterr);
    char *at = ret->text.p;
    unsigned number = 0;

    while (e == ERR_OK && at != NULL && *at != '\0') {
        size_t n = strcspn(at, "\r\n");
        char *next = at + n + strspn(at + n, "\r");

        next += *next == '\n' ? 1 : 0;

        at[n] = '\0';
        number++;
        if (*at != '\0' && *at != '#') {
            if (!is_field(at) || ret->nheaders == FEED_HEADERS_MAX) {
                e = errinfo_set(reterr, ERR_SYNTAX, path, number,
                                "write one header field a line, such as \"Auth-Key: "
                                "...\", up to %d",
                                (int)FEED_HEADERS_MAX);
                break;
            }
            ret->header[ret->nheaders++] = at;
        }
        at = next;
    }
    return e;
}

/* Of the address; stays as it is where there is none. */
static enum err take_part(CURLU *url, CURLUPart what, const char *feed, char *ret,
                          struct errinfo *reterr)
{
    char *text = NULL;
    CURLUcode code = curl_url_get(url, what, &text, CURLU_URLDECODE);
    enum err e = ERR_OK;

    if (code == CURLUE_OK && strlen(text) < FEED_USER_MAX) {
        (void)snprintf(ret, FEED_USER_MAX, "%s", text);
    } else if (code != CURLUE_NO_USER && code != CURLUE_NO_PASSWORD) {
        e = errinfo_set(reterr, ERR_SYNTAX, feed, 0,
                        "user or password in `url` cannot be read, or have more than "
                        "%d bytes: write what is no letter or digit as %%XX",
                        (int)FEED_USER_MAX - 1);
    }
    curl_free(text);
    return e;
}

/* User and password of the address, then the user of the configuration. */
static enum err take_names(const struct config_feed *feed, struct feed_credentials *ret,
                           struct errinfo *reterr)
{
    CURLU *url = curl_url();
    enum err e = ERR_OK;

    if (url != NULL && curl_url_set(url, CURLUPART_URL, feed->url, 0) == CURLUE_OK) {
        e = take_part(url, CURLUPART_USER, feed->name, ret->user, reterr);
        THEN(e, take_part(url, CURLUPART_PASSWORD, feed->name, ret->password, reterr));
    }
    curl_url_cleanup(url);
    if (e == ERR_OK && *feed->user != '\0' &&
        (size_t)snprintf(ret->user, sizeof(ret->user), "%s", feed->user) >=
            sizeof(ret->user)) {
        e = errinfo_set(reterr, ERR_LIMIT, feed->name, 0,
                        "`user` may have at most %d bytes", (int)FEED_USER_MAX - 1);
    }
    return e;
}

enum err feed_credentials_read(const struct config_feed *feed,
                               struct feed_credentials *ret, struct errinfo *reterr)
{
    *ret = (struct feed_credentials){.nheaders = 0};
    buf_init(&ret->text, FEED_SECRET_BYTES);
    enum err e = take_names(feed, ret, reterr);
    if (e == ERR_OK && *feed->password_file != '\0') {
        e = read_password(feed->password_file, ret, reterr);
    }
    if (e == ERR_OK && *feed->headers_file != '\0') {
        e = read_headers(feed->headers_file, ret, reterr);
    }
    return e;
}

void feed_credentials_forget(struct feed_credentials *s)
{
    OPENSSL_cleanse(s->user, sizeof(s->user));
    OPENSSL_cleanse(s->password, sizeof(s->password));
    if (s->text.p != NULL) {
        OPENSSL_cleanse(s->text.p, s->text.size);
    }
    buf_fini(&s->text);
}
