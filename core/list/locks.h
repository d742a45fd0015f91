/*
 * locks - the lock of one list, and the lock of all lists.
 *
 *   STATE/lists/NAME.lock   held by the writer of that list
 *   STATE/lists/LOCK        shared by every writer; exclusive for operations on the folder: backup,
 *                           restore, delete and rename a list A lock file names its holder, for the
 *                           message of a process that cannot take it.
 * Depends: base.   Threads: any; one object, one thread.   Owns: descriptors.   ADR 0056.
 */
#ifndef CORE_LIST_LOCKS_H
#define CORE_LIST_LOCKS_H

#include "core/base/file.h"
#include "core/base/slice.h"

#define LIST_LOCK_SUFFIX ".lock"

struct list_lock {
    struct filelock all;
    struct filelock own;
};
#define LIST_LOCK_NONE ((struct list_lock){.all = {-1}, .own = {-1}})

/* The lock of one list. ERR_LOCKED: the text names the holder. The folder of lists exists. */
enum err list_lock_take(struct list_lock *l, const char *state_dir, struct slice name,
                        struct errinfo *reterr);
/* All lists: no writer is open, none can be opened. ERR_LOCKED. */
enum err list_lock_take_all(struct list_lock *l, const char *state_dir,
                            struct errinfo *reterr);
void list_lock_drop(struct list_lock *l);

#endif
