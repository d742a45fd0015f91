/*
 * dispatch - the reader of a file, by its first bytes.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_READER_POOL_DISPATCH_H
#define CORE_READER_POOL_DISPATCH_H

#include "core/reader/wire/found.h"

/* Reads the file; what is found goes to f. A format that nobody knows is RECORD_UNKNOWN. */
void reader_read(const struct reader_job *job, struct found *f);

#endif
