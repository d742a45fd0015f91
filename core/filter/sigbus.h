/*
 * sigbus - a mapped filter whose file is cut short, or cannot be read, answers "perhaps".
 *
 * Touching a page behind the end of a mapped file raises SIGBUS, which kills. In a guarded range
 * such a page is replaced by one of ones: every test of it says yes, so the exact index decides;
 * an entry is never denied. The scrub of the filter tells that it happened.
 * A SIGBUS from elsewhere goes where it went before. Not for other rooms.
 * Threads: any.   Allocates: nothing; one page in a memory file, once.
 */
#ifndef CORE_FILTER_SIGBUS_H
#define CORE_FILTER_SIGBUS_H

#include "core/base/err.h"

enum { SIGBUS_RANGES = 4096 };

/* Guards n bytes at p, a mapping. ERR_LIMIT: SIGBUS_RANGES are guarded; ERR_IO: the system does
 * not allow it. */
enum err sigbus_add(const void *p, size_t n);
/* Call this before the range is unmapped. */
void sigbus_remove(const void *p);

#endif
