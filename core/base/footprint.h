/*
 * footprint - the memory that this process has in use, and how much it may have.
 *
 * Depends: nothing.   Threads: any.   Allocates: nothing that stays.
 */
#ifndef CORE_BASE_FOOTPRINT_H
#define CORE_BASE_FOOTPRINT_H

#include "core/base/std.h"

/* Bytes that lie in memory, those of mapped files too; 0: the system does not say. */
uint64_t footprint_bytes(void);

/* The least of what its control group and those above it may have (memory.high and memory.max), its
 * resource limits and the memory of the machine; bytes. root: "", or where tests keep proc and sys. */
uint64_t footprint_limit(const char *root);

#endif
