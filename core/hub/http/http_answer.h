/*
 * http_answer - the head of an answer.
 *
 * Depends: base.   Threads: pure.   Source: RFC 9110, 9112.
 */
#ifndef CORE_HUB_HTTP_HTTP_ANSWER_H
#define CORE_HUB_HTTP_HTTP_ANSWER_H

#include "core/base/buf.h"

/* "Not Found" for 404. */
const char *http_reason(unsigned status);
/* One field; value NULL: nothing. */
void http_add_field(struct buf *b, const char *name, const char *value);
/* fields: more of them, each with its line end. */
void http_add_head(struct buf *b, unsigned status, const char *type, size_t body_bytes,
                   struct slice fields, bool closes);

#endif
