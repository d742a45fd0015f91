/*
 * resp - the protocol of Redis and Valkey: commands out, replies of RESP2 and RESP3 in.
 *
 * A reply becomes a row of nodes, each before the nodes below it, so that nobody recurses. Bytes
 * come in any pieces; each is looked at once. Attributes are read and dropped. A reply over a
 * limit, or of another form, is a fault: the stream cannot be read on.
 * Depends: base.   Threads: one for each struct.   Owns: nodes and texts, until the next reply.
 * Source: RESP protocol specification, redis.io; streamed aggregates are not part of any server.
 */
#ifndef CORE_HUB_REDIS_RESP_H
#define CORE_HUB_REDIS_RESP_H

#include "core/base/buf.h"

enum {
    RESP_DEPTH_MAX = 16,         /* aggregates in each other */
    RESP_ELEMENTS_MAX = 1 << 20, /* nodes of a reply, dropped ones included */
    RESP_BYTES_MAX = 64 << 20,   /* of all texts of a reply */
    RESP_LINE_MAX = 64 * 1024,   /* bytes up to a line end */
    RESP_KEPT_BYTES = 64 * 1024  /* of memory between replies */
};

enum resp_kind {
    RESP_NULL,
    RESP_TEXT, /* simple, bulk or verbatim; a double or big number as it was written */
    RESP_ERROR,
    RESP_INTEGER,
    RESP_BOOL,  /* number: 0 or 1 */
    RESP_ARRAY, /* or a set */
    RESP_MAP,   /* number: keys and values, each counted */
    RESP_PUSH   /* no answer to a command */
};

struct resp_node {
    enum resp_kind kind;
    uint32_t end;   /* index of the first node that is not below this one */
    int64_t number; /* an integer, or how many nodes lie directly below */
    uint32_t at;    /* of the text in resp.text */
    uint32_t n;
};

struct resp {
    struct resp_node *nodes; /* the reply is nodes[0] */
    size_t nnodes;
    struct buf text;
    const char *fault; /* of RESP_FAULT */
    /* for the parser alone */
    size_t room;
    size_t nelements;
    size_t nread; /* bytes of texts, of dropped ones too */
    struct resp_frame {
        uint32_t node;
        uint32_t text; /* bytes before it */
        uint64_t left;
        bool is_attribute;
    } frames[RESP_DEPTH_MAX];
    unsigned depth;
    enum resp_state { RESP_HEAD, RESP_LINE, RESP_BODY } state;
    bool is_whole; /* a reply: the next byte begins another */
    char type;
    size_t line_at;
    size_t left; /* of a body, with its line end */
};

enum resp_status { RESP_MORE, RESP_DONE, RESP_FAULT };

void resp_init(struct resp *r);
void resp_fini(struct resp *r);
/* Takes from *bytes what belongs to one reply. After RESP_DONE the next call begins the next reply.
 * After RESP_FAULT only resp_fini or resp_init may follow. */
enum resp_status resp_feed(struct resp *r, struct slice *bytes);

/* Of a node that is RESP_TEXT or RESP_ERROR; of any other the empty slice. */
struct slice resp_text(const struct resp *r, size_t node);
/* The k-th node below `node`, in steps of its neighbours; 0: there is none. */
size_t resp_below(const struct resp *r, size_t node, size_t k);
/* The value of a key of a map; 0: there is none. Also of an array of keys and values (RESP2). */
size_t resp_value(const struct resp *r, size_t map, const char *key);

/* Adds a command: an array of bulk strings. */
void resp_add_command(struct buf *b, const struct slice *args, size_t nargs);

#endif
