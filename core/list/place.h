/*
 * place - the folder of a list as a whole: whether there is one, removed, under another name.
 *
 * Depends: base, files.   Threads: any; the lock keeps writers apart.
 */
#ifndef CORE_LIST_PLACE_H
#define CORE_LIST_PLACE_H

#include "core/list/lock.h"

/* Whether something lies in the place of this list, be it damaged. */
bool list_is_there(const char *state_dir, struct slice name);

/* Removes the list with all that belongs to it, in one step: a crash leaves all of it or nothing that
 * is a list. A list behind a link loses the link alone. ERR_NOT_FOUND; ERR_LOCKED as list_writer_open. */
enum err list_delete(const char *state_dir, struct slice name,
                     const struct list_lock_wait *wait, struct errinfo *reterr);
/* Gives the list another name, in one step. ERR_NOT_FOUND; ERR_EXISTS: there is one of that name. */
enum err list_rename(const char *state_dir, struct slice name, struct slice to,
                     const struct list_lock_wait *wait, struct errinfo *reterr);

#endif
