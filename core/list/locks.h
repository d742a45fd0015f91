/*
 * locks - who may change a list: one at a time each list, and nobody while all of them are taken.
 *
 *   STATE/lists/NAME.lock   held by the writer of that list
 *   STATE/lists/LOCK        shared by every writer; taken whole by what concerns the folder itself: a backup, a
 *                           restore, a list that is deleted or renamed
 * A lock file says who has it, for the message of who comes too late.
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

/* The lock of one list. ERR_LOCKED: who holds it is in the text. The folder of lists is there. */
enum err list_lock_take(struct list_lock *l, const char *state_dir, struct slice name,
                        struct errinfo *reterr);
/* All lists: no writer is open, none can be opened. ERR_LOCKED. */
enum err list_lock_take_all(struct list_lock *l, const char *state_dir,
                            struct errinfo *reterr);
void list_lock_drop(struct list_lock *l);

#endif
