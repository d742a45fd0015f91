/*
 * live_verify - a journal of the running bucket, read through without touching it.
 * Depends: base.   Threads: pure.   Format: ADR 0025.
 */
#ifndef CORE_COUNT_LIVE_VERIFY_H
#define CORE_COUNT_LIVE_VERIFY_H

#include "core/base/err.h"

/* Whether a file of this name, without its folder, is a journal. */
bool live_is_journal(const char *name);
/* ERR_OK: every whole record is right. What lacks at its end was being written, and is no damage.
 * ERR_CORRUPT and others are named; ERR_NOT_FOUND: it is gone. */
enum err live_verify_journal(const char *path, struct errinfo *reterr);

#endif
