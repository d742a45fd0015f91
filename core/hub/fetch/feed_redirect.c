#include "core/hub/fetch/feed_redirect.h"

#include <strings.h>

#include "core/hub/fetch/feed_address.h"

static char *part_of(CURLU *url, CURLUPart what)
{
    char *text = NULL;

    return curl_url_get(url, what, &text, CURLU_DEFAULT_PORT) == CURLUE_OK ? text
                                                                           : NULL;
}

static bool has_same_part(CURLU *a, CURLU *b, CURLUPart what)
{
    char *x = part_of(a, what);
    char *y = part_of(b, what);
    bool is = x != NULL && y != NULL && strcasecmp(x, y) == 0;

    curl_free(x);
    curl_free(y);
    return is;
}

static bool has_scheme(CURLU *url, const char *scheme)
{
    char *text = part_of(url, CURLUPART_SCHEME);
    bool is = text != NULL && strcmp(text, scheme) == 0;

    curl_free(text);
    return is;
}

/* Takes the address in the place of the former one. */
static void set_url(struct feed_redirect *p, CURLU *url)
{
    char *text = NULL;

    (void)curl_url_set(url, CURLUPART_USER, NULL, 0);
    (void)curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
    (void)curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0);
    curl_url_cleanup(p->url);
    p->url = url;
    if (curl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK) {
        (void)feed_shown(p->shown, text);
    }
    curl_free(text);
}

enum err feed_redirect_begin(struct feed_redirect *p, const char *url,
                             struct errinfo *reterr)
{
    CURLU *parsed = curl_url();

    p->url = NULL;
    p->is_home = true;
    (void)feed_shown(p->shown, url);
    if (parsed == NULL) {
        return errinfo_nomem(reterr, "libcurl");
    }
    if (curl_url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK) {
        curl_url_cleanup(parsed);
        return errinfo_set(reterr, ERR_SYNTAX, p->shown, 0,
                           "`url` of the feed is no address of the web");
    }
    set_url(p, parsed);
    return ERR_OK;
}

void feed_redirect_end(struct feed_redirect *p)
{
    curl_url_cleanup(p->url);
    p->url = NULL;
}

enum err feed_redirect_move(struct feed_redirect *p, const char *to,
                            struct errinfo *reterr)
{
    CURLU *next = curl_url();
    bool may = next != NULL && to != NULL &&
               curl_url_set(next, CURLUPART_URL, to, 0) == CURLUE_OK;

    may = may && (has_scheme(next, "https") ||
                  (has_scheme(next, "http") && !feed_redirect_is_https(p)));
    if (!may) {
        curl_url_cleanup(next);
        return errinfo_set(reterr, ERR_DENIED, p->shown, 0,
                           "it redirects to what is not http or https, or from https "
                           "to http; set `url` to where the feed is now");
    }
    p->is_home = p->is_home && has_same_part(p->url, next, CURLUPART_SCHEME) &&
                 has_same_part(p->url, next, CURLUPART_HOST) &&
                 has_same_part(p->url, next, CURLUPART_PORT);
    set_url(p, next);
    return ERR_OK;
}

bool feed_redirect_is_https(const struct feed_redirect *p)
{
    return has_scheme(p->url, "https");
}

enum feed_reach feed_redirect_reach(const struct feed_redirect *p)
{
    char *host = part_of(p->url, CURLUPART_HOST);
    enum feed_reach reach = host == NULL ? FEED_REACH_MACHINE : feed_host_reach(host);

    curl_free(host);
    return reach;
}
