/*
 * resp_shape - a reply as one line: [1 'a' {'k' null}], with !'text' for an error.
 */
#ifndef TESTS_UNIT_REDIS_RESP_SHAPE_H
#define TESTS_UNIT_REDIS_RESP_SHAPE_H

#include "core/hub/redis/resp.h"

static inline void resp_shape_text(struct buf *b, struct slice s)
{
    buf_add_char(b, '\'');
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < ' ' || s.p[i] > '~') {
            buf_printf(b, "\\x%02x", (unsigned)(unsigned char)s.p[i]);
        } else {
            buf_add_char(b, s.p[i]);
        }
    }
    buf_add_char(b, '\'');
}

static inline void resp_shape_value(struct buf *b, const struct resp *r, size_t at)
{
    const struct resp_node *n = &r->nodes[at];

    switch (n->kind) {
    case RESP_NULL:
        buf_add_str(b, "null");
        break;
    case RESP_ERROR:
        buf_add_char(b, '!');
        resp_shape_text(b, resp_text(r, at));
        break;
    case RESP_TEXT:
        resp_shape_text(b, resp_text(r, at));
        break;
    case RESP_BOOL:
        buf_add_str(b, n->number != 0 ? "true" : "false");
        break;
    case RESP_INTEGER:
        buf_printf(b, "%lld", (long long)n->number);
        break;
    case RESP_MAP:
        buf_add_char(b, '{');
        break;
    case RESP_PUSH:
        buf_add_str(b, ">[");
        break;
    case RESP_ARRAY:
        buf_add_char(b, '[');
        break;
    }
}

/* The nodes in order; an aggregate ends where its last node does. */
static inline void resp_shape(struct buf *b, const struct resp *r)
{
    size_t ends[RESP_DEPTH_MAX + 1];
    char closes[RESP_DEPTH_MAX + 1];
    size_t depth = 0;

    for (size_t i = 0; i < r->nnodes; i++) {
        if (i > 0 && b->p[b->n - 1] != '[' && b->p[b->n - 1] != '{') {
            buf_add_char(b, ' ');
        }
        resp_shape_value(b, r, i);
        if (r->nodes[i].kind >= RESP_ARRAY) {
            ends[depth] = r->nodes[i].end;
            closes[depth++] = r->nodes[i].kind == RESP_MAP ? '}' : ']';
        }
        while (depth > 0 && ends[depth - 1] == i + 1) {
            buf_add_char(b, closes[--depth]);
        }
    }
}

#endif
