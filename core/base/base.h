/*
 * base - the start of every program.
 */
#ifndef CORE_BASE_BASE_H
#define CORE_BASE_BASE_H

#include "core/base/err.h"

/* Prepares libsodium and the per-process hash key, ignores SIGPIPE, keeps files off the numbers
 * of closed standard streams. Call in main before any file is opened. */
enum err base_init(void);

#endif
