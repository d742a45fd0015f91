/*
 * random - unpredictable bytes from the system. Threads: any.
 */
#ifndef CORE_BASE_RANDOM_H
#define CORE_BASE_RANDOM_H

#include "core/base/std.h"

/* Fills dst; never fails after base_init (libsodium ends the process where it would). */
void random_bytes(void *dst, size_t n);

#endif
