/*
 * inflate - deflate streams, in bounded steps.
 *
 * Threads: pure.   Allocates: zlib's state while it runs.   Depends: zlib.
 */
#ifndef CORE_MESSAGE_ARCHIVE_INFLATE_H
#define CORE_MESSAGE_ARCHIVE_INFLATE_H

#include "core/message/archive/archive.h"

enum inflate_format { INFLATE_RAW, INFLATE_ZLIB };

/* Inflates the stream that in begins with and gives the output in pieces, until it ends, breaks,
 * data gives false, or the budget is met. Returns how many bytes of in the stream took;
 * *retwhole: it ended as it should. */
size_t inflate_stream(struct archive_budget *budget, struct slice in,
                      enum inflate_format format,
                      bool (*data)(void *context, struct slice bytes), void *context,
                      bool *retwhole);

#endif
