#include "core/hub/fetch/feed_credentials.h"

#include <curl/curl.h>
#include <openssl/crypto.h>

#include "core/base/secret_file.h"

static bool is_field(const char *line)
{
    size_t name = strcspn(line, ": \t");

    return name > 0 && line[name] == ':';
}

static enum err read_headers(const char *path, struct feed_credentials *ret,
                             struct errinfo *reterr)
{
    enum err e = secret_read(path, &ret->text, reterr);
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
    buf_init(&ret->text, SECRET_FILE_MAX);
    enum err e = take_names(feed, ret, reterr);
    if (e == ERR_OK && *feed->password_file != '\0') {
        e = secret_read_line(feed->password_file, ret->password, sizeof(ret->password),
                             reterr);
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
    secret_forget(&s->text);
}
