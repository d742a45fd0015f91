/*
 * restore_check - a check of the files that were unpacked.
 *
 * The archive's sums prove that the files are those of the copy; this check proves that they are
 * whole: keys, every list with its index and filters, runs and write-ahead logs of counts, lists of
 * peers, identity and manifest of the ring.
 * Threads: one.   Owns: nothing.   ADR 0054.
 */
#ifndef CORE_CLI_RESTORE_CHECK_H
#define CORE_CLI_RESTORE_CHECK_H

#include "core/base/err.h"

/* reterr: the first file that is not whole, named from state_dir on. */
enum err restore_check(const char *state_dir, struct errinfo *reterr);

#endif
