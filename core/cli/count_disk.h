/*
 * count_disk - what was counted as the files have it, for when no gillnetd runs that could say so.
 *
 * Changes nothing on disk.
 * Threads: one.
 */
#ifndef CORE_CLI_COUNT_DISK_H
#define CORE_CLI_COUNT_DISK_H

#include "core/cli/count_numbers.h"

/* Sets the numbers of runs and of the running table to what is in the state folder; none are there:
 * zeros. Otherwise numbers stay as they were. */
enum err count_disk_look(const char *state_dir, struct count_numbers *numbers,
                         struct errinfo *reterr);

#endif
