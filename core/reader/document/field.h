/*
 * field - codes of fields of a text: addresses and commands in them.
 *
 * A code is a word and its arguments: HYPERLINK "http://..." \l "anchor". A nested field counts
 * with its result, as programs compute it.
 * Threads: one object, one thread.   Allocates: its buffer.   Depends: base, wire.
 * Source: ECMA-376 part 1, 17.16; MS-DOC 2.8.25.
 */
#ifndef CORE_READER_DOCUMENT_FIELD_H
#define CORE_READER_DOCUMENT_FIELD_H

#include "core/base/buf.h"
#include "core/reader/wire/found.h"

enum {
    FIELD_DEPTH =
        20, /* of fields in one another; the code of deeper ones is not read */
    FIELD_MAX = 8 * 1024 /* bytes of the codes that are open at once */
};

/* Fields that are open in a text. */
struct field {
    struct buf code; /* of all levels whose result has not begun */
    size_t begin[FIELD_DEPTH];
    bool is_result[FIELD_DEPTH];
    unsigned depth;
    unsigned ncodes; /* levels whose result has not begun */
};

void field_init(struct field *fd);
void field_fini(struct field *fd);
/* Marks in the text. False: enough is found. */
bool field_begin(struct field *fd);
bool field_separate(struct field *fd, struct found *f);
bool field_end(struct field *fd, struct found *f);
/* Where the next characters belong: a code, or NULL for the text. */
struct buf *field_code(struct field *fd);

/* Reads a whole code. False: enough is found. */
bool field_read(struct found *f, struct slice code);

#endif
