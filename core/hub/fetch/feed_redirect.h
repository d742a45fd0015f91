/*
 * feed_redirect - where a feed's download is asked for now: the configured address, or where that redirects to.
 *
 * Depends: base, feed, libcurl.   Threads: any.   Owns: its address.
 */
#ifndef CORE_HUB_FETCH_FEED_REDIRECT_H
#define CORE_HUB_FETCH_FEED_REDIRECT_H

#include <curl/curl.h>

#include "core/base/err.h"
#include "core/feed/show.h"
#include "core/hub/fetch/feed_address.h"

struct feed_redirect {
    CURLU *url; /* without user, password and fragment */
    char shown[FEED_SHOWN_MAX];
    bool
        is_home; /* scheme, host and port have been the configuration's from the beginning */
};

/* End it in any case. */
enum err feed_redirect_begin(struct feed_redirect *p, const char *url,
                             struct errinfo *reterr);
void feed_redirect_end(struct feed_redirect *p);
/* Follows a redirect; to: the whole address, NULL: none was said. ERR_DENIED: not to http or https, or to a worse scheme. */
enum err feed_redirect_move(struct feed_redirect *p, const char *to,
                            struct errinfo *reterr);
bool feed_redirect_is_https(const struct feed_redirect *p);
/* As feed_host_reach of its host. */
enum feed_reach feed_redirect_reach(const struct feed_redirect *p);

#endif
