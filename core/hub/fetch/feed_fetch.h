/*
 * feed_fetch - one conditional download of one feed, bounded in bytes, time, redirects and reach.
 *
 * http and https; certificates are always verified. Up to FEED_REDIRECTS redirects are followed,
 * from https only to https. Passwords and header fields of the feed are sent to no other host.
 * Addresses are checked when the connection is made (feed_address.h), so that a second DNS answer
 * cannot differ. Bodies may be compressed; the decompressed size is bounded too. core/feed/local.h
 * reads file:// feeds.
 * Depends: base, config, feed, libcurl.   Threads: any; blocking.   Owns: nothing.   ADR 0043.
 */
#ifndef CORE_HUB_FETCH_FEED_FETCH_H
#define CORE_HUB_FETCH_FEED_FETCH_H

#include "core/config/config.h"
#include "core/hub/fetch/fetch.h"

enum { FEED_REDIRECTS = 3, FEED_CONNECT_S = 20, FEED_RETRY_AFTER_MOST_S = 86400 };

struct feed_request {
    const struct config_feed *feed;
    const char *etag; /* of the known body; "": none */
    const char *last_modified;
    const char *body; /* path of the decompressed body; BODY.part meanwhile */
    const atomic_bool
        *stop; /* set by another thread: the download ends within a second */
    /* share: 0..1, or below 0: unknown. May be NULL */
    void (*progress)(void *context, double share);
    void *context;
};
struct feed_answer {
    bool is_same;           /* the known body is current; nothing was written */
    uint64_t bytes;         /* received, before decompression */
    unsigned retry_after_s; /* from the Retry-After field; 0: none */
    char etag[FETCH_ETAG_MAX];
    char last_modified[FETCH_MODIFIED_MAX];
};
/* ERR_OK: the body is complete and in its place, or is_same. Else reterr has the reason, without
 * secrets. */
enum err feed_fetch(const struct feed_request *request, struct feed_answer *ret,
                    struct errinfo *reterr);

#endif
