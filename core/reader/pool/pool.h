/*
 * pool - accepts connections and gives each a process of its own.
 *
 * A process reads one file of one connection. A hostile file that takes it over sees no other file.
 * It is killed when the client closes its end, and at a bound of time. While all processes are
 * busy, further connections wait in the socket's queue.
 * Files in reading order: pool, worker, sandbox, dispatch, main.
 * Threads: one.   Depends: base, wire, and the rooms of the formats.
 */
#ifndef CORE_READER_POOL_POOL_H
#define CORE_READER_POOL_POOL_H

#include "core/base/err.h"

enum {
    POOL_PROCESSES_MAX = 256,
    POOL_SECONDS = 60,  /* that one file may take in any case */
    POOL_BACKLOG = 1024 /* connections that wait */
};

struct pool_options {
    int listener;       /* listens and does not block */
    unsigned processes; /* at a time, at most POOL_PROCESSES_MAX */
    uint64_t memory;    /* bytes of each */
};

/* Serves until SIGTERM or SIGINT. Files that are being read then are given up. */
enum err pool_run(const struct pool_options *options, struct errinfo *reterr);

#endif
