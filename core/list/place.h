/*
 * place - the folder of a list: exists, delete, rename.
 *
 * Depends: base, files.   Threads: any; the lock keeps writers apart.
 */
#ifndef CORE_LIST_PLACE_H
#define CORE_LIST_PLACE_H

#include "core/list/lock.h"

/* True if the folder of this list exists, even with damaged files. */
bool list_is_there(const char *state_dir, struct slice name);

/* Removes the list with all that belongs to it, in one step: a crash leaves the whole list or no
 * list. Of a list behind a link only the link is removed. ERR_NOT_FOUND; ERR_LOCKED as
 * list_writer_open. */
enum err list_delete(const char *state_dir, struct slice name,
                     const struct list_lock_wait *wait, struct errinfo *reterr);
/* Gives the list another name, in one step. ERR_NOT_FOUND; ERR_EXISTS: the name is in use. */
enum err list_rename(const char *state_dir, struct slice name, struct slice to,
                     const struct list_lock_wait *wait, struct errinfo *reterr);

#endif
