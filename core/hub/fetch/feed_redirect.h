/*
 * feed_redirect - the current address of a download: the configured one, or the target of a
 * redirect.
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
    bool is_home; /* scheme, host and port were always those of the configuration */
};

/* Call feed_redirect_end in any case. */
enum err feed_redirect_begin(struct feed_redirect *p, const char *url,
                             struct errinfo *reterr);
void feed_redirect_end(struct feed_redirect *p);
/* Follows a redirect. to: the whole address; NULL: the answer had none. ERR_DENIED: the target is
 * not http or https, or the redirect goes from https to http. */
enum err feed_redirect_move(struct feed_redirect *p, const char *to,
                            struct errinfo *reterr);
bool feed_redirect_is_https(const struct feed_redirect *p);
/* As feed_host_reach of its host. */
enum feed_reach feed_redirect_reach(const struct feed_redirect *p);

#endif
