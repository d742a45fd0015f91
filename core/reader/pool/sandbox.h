/*
 * sandbox - takes rights away from the processes of gillnet-reader.
 *
 * SANDBOX_POOL is for the process that accepts connections. It may fork and kill its children. It
 * can open no file and no socket, and it can start no program. SANDBOX_FILE is for a process that
 * reads one file. It has memory, the clock and the descriptors that are open. It can neither open,
 * connect, fork nor trace. A refused call gives EPERM. Landlock takes the file system away besides,
 * where the kernel has it.
 * Under a sanitizer, which opens files itself, there are no bounds of memory.
 * Threads: the only one of its process.   Source: seccomp(2), landlock(7).
 */
#ifndef CORE_READER_POOL_SANDBOX_H
#define CORE_READER_POOL_SANDBOX_H

#include "core/base/err.h"

enum sandbox { SANDBOX_POOL, SANDBOX_FILE };

/* For the rest of the process's life. */
enum err sandbox_enter(enum sandbox sandbox, struct errinfo *reterr);
/* Bounds of a process that reads one file: bytes of its own memory, seconds of processor time. */
enum err sandbox_bound(uint64_t memory, uint32_t cpu_s, struct errinfo *reterr);
/* Whether a sanitizer is built in, which has things to say. */
bool sandbox_has_sanitizer(void);

#endif
