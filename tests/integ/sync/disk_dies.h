/*
 * disk_dies - a process that stops in the middle, without ending: from a chosen call on nothing changes a file any more.
 *
 * The calls that change files are defined here, for the program and for the libraries that it uses (LMDB). The
 * write at which it stops may be done in part. What was done before stays, as after kill -9.
 * Threads: one.
 */
#ifndef TESTS_INTEG_SYNC_DISK_DIES_H
#define TESTS_INTEG_SYNC_DISK_DIES_H

#include <stdbool.h>
#include <stdint.h>

/* The calls-th call from now on fails, and all after it. */
void disk_dies_after(uint64_t calls);
/* Files change again. Returns whether it had come to the stop. */
bool disk_lives(void);
/* Calls that changed files so far. */
uint64_t disk_calls(void);

#endif
