/*
 * fetch - one file from a web server at a time, into memory or into a file that a break leaves for going on with.
 *
 * http and https with the system's authorities; redirects are not followed; what is longer than asked for ends the
 * transfer. Blocking: for a thread of its own.
 * Depends: base, libcurl.   Threads: one for each; fetch_stop from any.   Owns: its connections.   ADR 0037.
 */
#ifndef CORE_HUB_FETCH_FETCH_H
#define CORE_HUB_FETCH_FETCH_H

#include <stdatomic.h>

#include "core/base/buf.h"
#include "core/base/err.h"

enum {
    FETCH_ETAG_MAX = 128,
    FETCH_CONNECT_S = 10,
    FETCH_STALL_S = 60, /* below FETCH_STALL_BYTES a second so long: the end */
    FETCH_STALL_BYTES = 64,
    FETCH_SMALL_S = 60,   /* whole time of what goes into memory */
    FETCH_LARGE_S = 7200, /* and into a file */
    FETCH_URL_MAX = 1024
};

struct fetch;
/* *stop: set by another thread, transfers end within a second. Borrowed. */
enum err fetch_new(const atomic_bool *stop, struct fetch **ret);
void fetch_free(struct fetch **f);

struct fetch_answer {
    long status; /* of HTTP; 0: none came */
    char etag[FETCH_ETAG_MAX];
    uint64_t bytes; /* that came */
};
/* Appends the body to ret, whose cap bounds it. etag: "" or that of the body known: then 304 may be the answer.
 * ERR_OK: an answer 200 or 304. Else reterr says what came instead. */
enum err fetch_small(struct fetch *f, const char *url, const char *etag,
                     struct buf *ret, struct fetch_answer *retanswer,
                     struct errinfo *reterr);
/* Goes on with the file where it ends. ERR_OK: it is whole. */
enum err fetch_large(struct fetch *f, const char *url, const char *path,
                     uint64_t most_bytes, struct fetch_answer *retanswer,
                     struct errinfo *reterr);

#endif
