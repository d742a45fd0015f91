/*
 * http_request - the head of a request, read strictly.
 *
 * There is one reading: HTTP/1.0 or 1.1, an absolute path, whole lines, one Host, a body by
 * Content-Length alone. A head that two readers could understand differently (folded fields, bare
 * line ends, two lengths, any transfer coding) is refused, and its connection is closed.
 * Depends: base.   Threads: pure.   Allocates: nothing.   Source: RFC 9110, 9112.   ADR 0042.
 */
#ifndef CORE_HUB_HTTP_HTTP_REQUEST_H
#define CORE_HUB_HTTP_HTTP_REQUEST_H

#include "core/base/slice.h"

enum {
    HTTP_HEAD_MAX = 8192, /* bytes of a request's head */
    HTTP_FIELDS_MAX = 64
};

/* HTTP_OTHER: PUT, DELETE, PATCH, TRACE or CONNECT, which no path has. */
enum http_method { HTTP_GET, HTTP_POST, HTTP_OPTIONS, HTTP_OTHER };

/* Points in which the rules of two servers may differ. */
struct http_rules {
    unsigned unknown_method;  /* status of a refusal */
    unsigned transfer_coding; /* the same */
    struct slice field;       /* a field that this server reads; n 0: none */
};

/* All slices point into the head. */
struct http_request {
    enum http_method method;
    bool is_head; /* HEAD: as GET, answered without the body */
    bool is_1_1;
    bool keeps_alive;
    bool expects;      /* 100-continue */
    bool is_passed_on; /* a field or HTTP/1.0 shows that a proxy sent it */
    bool has_length;
    uint64_t length; /* bytes of the body; more than 0 for POST and HTTP_OTHER alone */
    struct slice target; /* path, '?' and query */
    struct slice path;
    struct slice query;
    struct slice host;
    struct slice origin;
    struct slice referer;
    struct slice site; /* Sec-Fetch-Site */
    struct slice type; /* Content-Type */
    struct slice accept;
    struct slice authorization;
    struct slice match; /* If-None-Match */
    struct slice field; /* the one of the rules */
    struct slice cookies;
    struct slice languages; /* Accept-Language */
};

/* head: of http_head_length bytes. 0: *ret is filled. Otherwise the status of the refusal, after
 * which the connection must be closed; *retwhy is the reason, and *ret holds the parts that were
 * read before it. */
unsigned http_request_parse(struct slice head, const struct http_rules *rules,
                            struct http_request *ret, const char **retwhy);

/* True if the Accept field allows a media type; an empty field allows any. */
bool http_accepts(struct slice accept, struct slice type);
/* True if Content-Type is this media type; its parameters are ignored. */
bool http_type_is(struct slice field, const char *type);
/* The next NAME=VALUE of a query, %XX and + decoded into ret (size bytes, with a NUL). False: the
 * query ends here, or (*retbad) the pair is malformed. */
bool http_query_next(struct slice *rest, struct slice *retname, char *ret, size_t size,
                     bool *retbad);

#endif
