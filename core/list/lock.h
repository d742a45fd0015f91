/*
 * lock - waiting for the lock of a list, which one changes at a time (core/list/locks.h).
 *
 * Most changes are short, so a command or feed waits for the lock instead of failing.
 * Depends: base, list.   Threads: any.   Owns: nothing.   ADR 0038.
 */
#ifndef CORE_LIST_LOCK_H
#define CORE_LIST_LOCK_H

#include <stdatomic.h>

#include "core/list/list.h"

enum { LIST_LOCK_WAIT_S = 60, LIST_LOCK_SAY_MS = 1000 };

struct list_lock_wait {
    unsigned most_s;
    const atomic_bool *stop; /* set: the wait ends; may be NULL */
    /* called once after LIST_LOCK_SAY_MS, with who has the lock; may be NULL */
    void (*say)(void *context, const struct errinfo *who);
    void *context;
};

/* Calls try_it(context, &why) and, while it gives ERR_LOCKED, again, up to wait->most_s. */
typedef enum err list_lock_fn(void *context, struct errinfo *reterr);
enum err list_lock_waiting(const struct list_lock_wait *wait, list_lock_fn *try_it,
                           void *context, struct errinfo *reterr);

/* list_writer_open, and again while it is ERR_LOCKED, up to wait->most_s. */
enum err list_writer_open_waiting(const char *state_dir, struct slice name,
                                  const struct keyring *keys, bool create,
                                  const struct list_lock_wait *wait,
                                  struct list_writer **ret, struct errinfo *reterr);

#endif
