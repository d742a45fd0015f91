/*
 * feed_credentials - user, password and header fields for a feed's server.
 *
 * They come from files that other users must not be able to read, and from the address
 * (https://USER:PASSWORD@HOST/...).
 * Depends: base, config, libcurl.   Threads: any.   Owns: the texts, until forgotten.
 */
#ifndef CORE_HUB_FETCH_FEED_CREDENTIALS_H
#define CORE_HUB_FETCH_FEED_CREDENTIALS_H

#include "core/base/buf.h"
#include "core/config/config.h"

enum { FEED_HEADERS_MAX = 64, FEED_USER_MAX = 256 };

struct feed_credentials {
    char user[FEED_USER_MAX];
    char password[FEED_USER_MAX];
    const char *header[FEED_HEADERS_MAX]; /* "Name: value" */
    size_t nheaders;
    struct buf text; /* of the headers */
};
/* Call feed_credentials_forget in any case. ERR_DENIED: others may read the file. */
enum err feed_credentials_read(const struct config_feed *feed,
                               struct feed_credentials *ret, struct errinfo *reterr);
void feed_credentials_forget(struct feed_credentials *s);

#endif
