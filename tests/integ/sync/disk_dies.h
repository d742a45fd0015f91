/*
 * disk_dies - a process whose writes stop: from a chosen call on no call changes a file.
 *
 * The calls that change files are defined here, for the program and for the libraries that it uses
 * (LMDB). The write at which it stops may be done in part. Earlier changes stay, as after kill -9.
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
/* Number of calls that have changed files. */
uint64_t disk_calls(void);

#endif
