/*
 * http_internal - shared by the files of the server; nobody else includes it.
 */
#ifndef CORE_HUB_HTTP_HTTP_INTERNAL_H
#define CORE_HUB_HTTP_HTTP_INTERNAL_H

#include <event2/listener.h>

#include "core/hub/http/http_server.h"

/* body_bytes: also of a body that is not sent; HTTP_NO_LENGTH: of one that ends with the
 * connection. */
#define HTTP_NO_LENGTH SIZE_MAX
void http_add_head(struct buf *b, const struct http_answer *a, size_t body_bytes,
                   bool closes);

/* Only the server's thread writes these. */
static inline void http_count(_Atomic uint64_t *number, uint64_t n)
{
    atomic_fetch_add_explicit(number, n, memory_order_relaxed);
}

/* Takes fd. */
void http_conn_open(struct http_server *s, int fd, const struct sockaddr *from,
                    int from_len);
/* Deadlines. */
void http_conn_tick(struct http_conn *c, uint64_t now_us);

#endif
