/* feed_secret - files of passwords and header fields. */
#include "core/hub/feed_secret.h"

#include <curl/curl.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/hub/feed_fetch.h"

enum { OTHERS = 0007 };

static enum err read_file(const char *path, struct buf *ret, struct errinfo *reterr)
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
    return file_read(path, ret, reterr);
}

/* The first line of the file. */
static enum err read_password(const char *path, struct feed_secret *ret,
                              struct errinfo *reterr)
{
    struct buf text;
    enum err e = ERR_OK;

    buf_init(&text, FEED_SECRET_BYTES);
    e = read_file(path, &text, reterr);
    if (e == ERR_OK) {
        struct slice all = buf_slice(&text);
        struct slice line = slice_trim(slice_cut(&all, '\n'));

        if (line.n == 0 || line.n >= sizeof ret->password) {
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

static enum err read_headers(const char *path, struct feed_secret *ret,
                             struct errinfo *reterr)
{
    enum err e = read_file(path, &ret->text, reterr);
    char *at = ret->text.p;
    unsigned number = 0;

    while (e == ERR_OK && at != NULL && *at != '\0') {
        size_t n = strcspn(at, "\r\n");
        char *next = at + n + (at[n] != '\0' ? 1 : 0);

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

/* Of the address. */
static void take_part(CURLU *url, CURLUPart what, char *ret, size_t size)
{
    char *text = NULL;

    if (curl_url_get(url, what, &text, CURLU_URLDECODE) == CURLUE_OK &&
        strlen(text) < size) {
        (void)snprintf(ret, size, "%s", text);
    }
    curl_free(text);
}

enum err feed_secret_read(const struct config_feed *feed, struct feed_secret *ret,
                          struct errinfo *reterr)
{
    CURLU *url = curl_url();
    enum err e = ERR_OK;

    *ret = (struct feed_secret){.nheaders = 0};
    buf_init(&ret->text, FEED_SECRET_BYTES);
    if (url != NULL && curl_url_set(url, CURLUPART_URL, feed->url, 0) == CURLUE_OK) {
        take_part(url, CURLUPART_USER, ret->user, sizeof ret->user);
        take_part(url, CURLUPART_PASSWORD, ret->password, sizeof ret->password);
    }
    curl_url_cleanup(url);
    if (*feed->user != '\0') {
        (void)snprintf(ret->user, sizeof ret->user, "%s", feed->user);
    }
    if (*feed->password_file != '\0') {
        e = read_password(feed->password_file, ret, reterr);
    }
    if (e == ERR_OK && *feed->headers_file != '\0') {
        e = read_headers(feed->headers_file, ret, reterr);
    }
    return e;
}

void feed_secret_forget(struct feed_secret *s)
{
    OPENSSL_cleanse(s->user, sizeof s->user);
    OPENSSL_cleanse(s->password, sizeof s->password);
    if (s->text.p != NULL) {
        OPENSSL_cleanse(s->text.p, s->text.size);
    }
    buf_fini(&s->text);
}
