/*
 * fetch - one transfer from a web server with libcurl, and two simple uses of it: a file into
 * memory, and a file on disk that a broken transfer leaves for resuming.
 *
 * http and https with verified certificates; redirects are not followed. A longer body than
 * requested ends the transfer. Blocking: use an own thread. feed_fetch.h adds redirects,
 * credentials and reach.
 * Depends: base, libcurl.   Threads: one for each.   Owns: its connections.   ADR 0037.
 */
#ifndef CORE_HUB_FETCH_FETCH_H
#define CORE_HUB_FETCH_FETCH_H

#include <curl/curl.h>
#include <stdatomic.h>

#include "core/base/buf.h"
#include "core/base/err.h"

enum {
    FETCH_ETAG_MAX = 256, /* longer ones are as none */
    FETCH_MODIFIED_MAX = 64,
    FETCH_HEAD_BYTES = 256 * 1024, /* of all header fields of one answer */
    FETCH_CONNECT_S = 10,
    FETCH_STALL_S = 60, /* below FETCH_STALL_BYTES a second */
    FETCH_STALL_BYTES = 64,
    FETCH_SMALL_S = 60,   /* longest transfer into memory */
    FETCH_LARGE_S = 7200, /* longest transfer into a file */
    FETCH_URL_MAX = 1024
};
enum { FETCH_OK = 200, FETCH_PARTIAL = 206, FETCH_NOT_MODIFIED = 304 };

/* ---- one transfer ---- */

struct fetch_answer {
    long status; /* of HTTP; 0: none came */
    char etag[FETCH_ETAG_MAX];
    char last_modified[FETCH_MODIFIED_MAX];
    uint64_t bytes; /* of the body that was kept, decoded */
};

/* Why a transfer was ended from here. */
enum fetch_refusal {
    FETCH_NOT_REFUSED,
    FETCH_TOO_LONG,  /* more than most_bytes came */
    FETCH_TOO_LARGE, /* the decoded body has more than most_decoded */
    FETCH_LONG_HEAD,
    FETCH_STOPPED
};

struct transfer {
    /* set by the caller */
    CURL *easy;
    const atomic_bool
        *stop;        /* set by another thread: the transfer ends within a second */
    struct buf *into; /* where the body goes; NULL: to fd */
    int fd;
    uint64_t most_bytes;   /* on the wire; 0: any */
    uint64_t most_decoded; /* of the body */
    unsigned connect_s;
    unsigned stall_s;
    uint64_t whole_ms;
    /* share: 0..1, below 0: unknown. May be NULL */
    void (*progress)(void *context, double share);
    void *context;
    struct fetch_answer *answer;
    /* set by the transfer */
    size_t head_bytes;
    enum fetch_refusal refusal;
    int errnum; /* of writing; 0: none */
    char why[CURL_ERROR_SIZE];
};
/* Resets the handle and sets the options of every transfer. The caller then adds its own. */
void transfer_begin(struct transfer *t);
/* ERR_OK: there is an answer, of any status. source: named in reterr. */
enum err transfer_run(struct transfer *t, const char *source, struct errinfo *reterr);

/* ---- files ---- */

/* A handle for many transfers; the caller frees easy. */
struct fetch {
    CURL *easy;
    const atomic_bool *stop; /* as above */
};

/* Appends the body to ret, up to its cap. etag: of the known body, or "". The answer to a known one
 * may be 304. ERR_OK: an answer 200 or 304. */
enum err fetch_small(const struct fetch *f, const char *url, const char *etag,
                     struct buf *ret, struct fetch_answer *retanswer,
                     struct errinfo *reterr);
/* Resumes the file where it ends. ERR_OK: it is whole. */
enum err fetch_large(const struct fetch *f, const char *url, const char *path,
                     uint64_t most_bytes, struct fetch_answer *retanswer,
                     struct errinfo *reterr);

#endif
