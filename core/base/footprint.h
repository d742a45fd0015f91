/*
 * footprint - the memory that this process has in use, and how much it may have.
 *
 * Depends: nothing.   Threads: any.   Allocates: nothing that stays.
 */
#ifndef CORE_BASE_FOOTPRINT_H
#define CORE_BASE_FOOTPRINT_H

#include "core/base/std.h"

/* Bytes in memory, those of mapped files included; 0: unknown. */
uint64_t footprint_bytes(void);

/* The smallest limit in bytes: of its control group and those above it (memory.high and
 * memory.max), of its resource limits, and the memory of the machine. root: "", or the folder where
 * tests keep proc and sys. */
uint64_t footprint_limit(const char *root);

#endif
