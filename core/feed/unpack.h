/*
 * unpack - copies a file, decompressed if it is compressed.
 *
 * gzip, xz, zstd, bzip2 and a zip of one member, recognised by their first bytes, one layer; other
 * files unchanged. Streamed: memory does not depend on the file, and the output is bounded.
 * Depends: base, libarchive.   Threads: any.   Allocates: its buffers.   ADR 0043.
 */
#ifndef CORE_FEED_UNPACK_H
#define CORE_FEED_UNPACK_H

#include "core/base/err.h"

/* Appends to the file `to` what lies in the file `from` (from its beginning; a regular file).
 * *io_left: most bytes that may still come; less what came. ERR_LIMIT: there are more. ERR_CORRUPT:
 * the compressed data are damaged or cut off, or the zip holds another number of files than one.
 * name is for messages. */
enum err feed_unpack(int from, const char *name, int to, uint64_t *io_left,
                     struct errinfo *reterr);

#endif
