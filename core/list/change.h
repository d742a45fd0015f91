/*
 * change - changes from inside the room.
 *
 * Depends: writer, segment.   Threads: the writer's.
 */
#ifndef CORE_LIST_CHANGE_H
#define CORE_LIST_CHANGE_H

#include "core/list/writer.h"

/* Stages a record whether or not it says anything new; durable with list_flush. */
enum err change_again(struct list_writer *w, struct log_record *r, struct slice source,
                      struct errinfo *reterr);

#endif
