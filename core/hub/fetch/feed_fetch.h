/*
 * feed_fetch - one download of one feed: asked for only what is new, bounded in bytes, time, steps and reach.
 *
 * http and https; certificates are always verified. Redirects, up to FEED_REDIRECTS, go to the same scheme or a better one, and
 * what proves who we are (password, header fields of the feed) goes to no other host. Addresses are checked
 * when the connection is made (feed_address.h), so that DNS cannot lie between. Bodies may come compressed; what
 * they become is bounded too. file:// is core/feed/local.h's.
 * Depends: base, config, feed, libcurl.   Threads: any; blocking.   Owns: nothing.   ADR 0043.
 */
#ifndef CORE_HUB_FETCH_FEED_FETCH_H
#define CORE_HUB_FETCH_FEED_FETCH_H

#include "core/config/config.h"
#include "core/hub/fetch/fetch.h"

enum {
    FEED_REDIRECTS = 3,
    FEED_CONNECT_S = 20,
    FEED_RETRY_AFTER_MOST_S = 86400,
    FEED_SECRET_BYTES = 64 * 1024 /* of headers_file and password_file */
};

struct feed_request {
    const struct config_feed *feed;
    const char *etag; /* of the body that is known; "": none */
    const char *last_modified;
    const char *body;        /* where it goes, decompressed; BODY.part meanwhile */
    const atomic_bool *stop; /* set by another thread: it ends within a second */
    /* share: 0..1, or below 0: unknown. May be NULL */
    void (*progress)(void *context, double share);
    void *context;
};
struct feed_answer {
    bool is_same;           /* as the body that is known; nothing was written */
    uint64_t bytes;         /* that came, as they came */
    unsigned retry_after_s; /* asked for with a failure; 0: no word of it */
    char etag[FETCH_ETAG_MAX];
    char last_modified[FETCH_MODIFIED_MAX];
};
/* ERR_OK: the body is whole and in its place, or is_same. Else reterr says what came instead, without secrets. */
enum err feed_fetch(const struct feed_request *request, struct feed_answer *ret,
                    struct errinfo *reterr);

#endif
