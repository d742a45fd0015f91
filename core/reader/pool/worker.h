/*
 * worker - a process that reads one file and ends.
 */
#ifndef CORE_READER_POOL_WORKER_H
#define CORE_READER_POOL_WORKER_H

#include "core/base/std.h"

/* Exit status of a process: it is done, the client is gone, or nothing could be read. */
enum { WORKER_DONE = 0, WORKER_GONE = 1, WORKER_REFUSED = 2 };

/* Loads what libraries load at first use: the sandbox lets nothing be opened later. Before the
 * first worker. */
void worker_warm(void);
/* Enters the sandbox, takes a request from the connection, answers it and ends the process. memory:
 * bytes that the process may have. */
_Noreturn void worker_run(int connection, uint64_t memory);

#endif
