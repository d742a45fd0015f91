/*
 * run_program - another program's output, without a shell.
 *
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_QUARANTINE_QUEUE_RUN_PROGRAM_H
#define CORE_QUARANTINE_QUEUE_RUN_PROGRAM_H

#include "core/base/buf.h"
#include "core/base/err.h"

enum {
    RUN_WAIT_MS = 20000,
    RUN_CHANGE_WAIT_MS = 150000,
    RUN_SAID_MAX = 1 << 20,
    RUN_ARGS_MAX = 24 /* with the NULL at the end */
};

/* Runs argv[0], an absolute path, with no input, the environment LC_ALL=C and a plain PATH;
 * appends its standard output to retout. Drops its standard error. ERR_TIMEOUT after RUN_WAIT_MS
 * (the program is then killed), ERR_IO when it does not end with status 0. */
enum err run_output(const char *const argv[], struct buf *retout,
                    struct errinfo *reterr);

/* The same for a program that changes something: it has RUN_CHANGE_WAIT_MS, and the last line that
 * it says, on either output, stands in reterr when it fails. run_change_said also gives both
 * outputs, which retsaid bounds. */
enum err run_change_said(const char *const argv[], struct buf *retsaid,
                         struct errinfo *reterr);
/* run_change with an input. */
enum err run_with_input(const char *const argv[], struct slice input,
                        struct errinfo *reterr);
enum err run_change(const char *const argv[], struct errinfo *reterr);

#endif
