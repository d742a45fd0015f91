/*
 * magic - the type of a file by its first bytes, and whether its declared type can be true.
 *
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_ARCHIVE_MAGIC_H
#define CORE_MESSAGE_ARCHIVE_MAGIC_H

#include "core/base/slice.h"

enum { MAGIC_BYTES = 512 }; /* of the beginning are enough */

enum magic_kind {
    MAGIC_NONE, /* text, or nothing known here */
    MAGIC_ZIP,
    MAGIC_PDF,
    MAGIC_TNEF,
    MAGIC_SHORTCUT,
    MAGIC_HTML,
    MAGIC_PROGRAM,
    MAGIC_OLE, /* documents of office programs before 2007 */
    MAGIC_ONENOTE,
    MAGIC_RTF,
    MAGIC_PICTURE, /* of pixels */
    MAGIC_ARCHIVE, /* of files, or one packed file */
    MAGIC_OTHER
};

struct magic {
    enum magic_kind kind;
    struct slice type; /* media type; empty for MAGIC_NONE */
};

struct magic magic_of(struct slice head);
/* A media type (lower case) that the file cannot have. Types that fit any
 * file, like application/octet-stream, never lie; one picture may pass for another. */
bool magic_contradicts(const struct magic *found, struct slice declared);
/* A program, or a shortcut that starts one. */
bool magic_is_program(const struct magic *found);

#endif
