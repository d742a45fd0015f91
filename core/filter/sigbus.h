/*
 * sigbus - a mapped file of another user that is cut short, or cannot be read, does not kill.
 *
 * Touching a page behind the end of a mapped file raises SIGBUS, which kills. In a guarded range
 * such a page is replaced by one of ones. A filter then answers "perhaps": every test of it says
 * yes, so the exact index decides; an entry is never denied. The scrub of the filter tells that it
 * happened. Only for mappings that are read.
 * A SIGBUS from elsewhere goes where it went before. For core/count besides (shared_totals).
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
