/*
 * pages - memory of its own pages, zeroed, which the process gives back as a whole.
 *
 * For what is large and comes and goes: freed heap of that size would stay with the process.
 * Depends: nothing.   Threads: any.   Ownership: the caller's, until pages_free.
 */
#ifndef CORE_BASE_PAGES_H
#define CORE_BASE_PAGES_H

#include "core/base/std.h"

/* NULL: no memory; errno says so. */
void *pages_new(size_t bytes);
/* With the bytes that were asked for; accepts NULL. */
void pages_free(void *p, size_t bytes);

#endif
