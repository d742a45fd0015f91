/*
 * http_request - the head of a request to the HTTP API, read strictly.
 *
 * One reading only: HTTP/1.0 or 1.1, an absolute path, whole lines, one Host, a body by Content-Length alone. What two
 * readers could take for two things (folded fields, bare line ends, two lengths, any transfer coding) is refused, and the
 * connection ends with it.
 * Depends: base, http.h.   Threads: pure.   Allocates: nothing.   Source: RFC 9110, 9112.   ADR 0042.
 */
#ifndef CORE_HUB_HTTP_HTTP_REQUEST_H
#define CORE_HUB_HTTP_HTTP_REQUEST_H

#include "core/base/buf.h"
#include "core/base/slice.h"

enum {
    API_HEAD_MAX = 8192, /* bytes of a request's head */
    API_FIELDS_MAX = 64
};

/* API_OTHER: HTTP knows it, and no path here has it. */
enum api_method { API_GET, API_POST, API_OPTIONS, API_OTHER, API_METHODS };

/* All slices point into the head. */
struct api_request {
    enum api_method method;
    bool is_head; /* HEAD: as GET, answered without the body */
    bool is_1_1;
    bool keeps_alive;
    bool expects; /* 100-continue */
    bool
        is_passed_on; /* by a proxy, as a field or HTTP/1.0 shows: it does not come from the client's address */
    bool has_length;
    uint64_t length; /* bytes of the body */
    struct slice path;
    struct slice query; /* behind '?'; empty: none */
    struct slice host;
    struct slice origin;
    struct slice referer;
    struct slice site; /* Sec-Fetch-Site */
    struct slice type; /* Content-Type */
    struct slice accept;
    struct slice authorization;
    struct slice match; /* If-None-Match */
};

/* head: of http_head_length bytes. 0: *ret is filled; else the status of the refusal, after which the connection is to be
 * closed; *retwhy says what is wrong. */
unsigned api_request_parse(struct slice head, struct api_request *ret,
                           const char **retwhy);

/* Whether a media type may be answered to this Accept field; empty: any. */
bool api_accepts(struct slice accept, struct slice type);
/* Whether Content-Type is this media type, parameters aside. */
bool api_type_is(struct slice field, const char *type);
/* The next NAME=VALUE of a query, %XX and + undone into ret (size bytes, NUL at the end). False: no more, or (*retbad)
 * one that cannot be read. */
bool api_query_next(struct slice *rest, struct slice *retname, char *ret, size_t size,
                    bool *retbad);

#endif
