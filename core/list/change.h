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

/* What is known of d, staged changes left aside. */
enum err change_prior(const struct list_writer *w, const struct digest *d,
                      struct index_record *ret, bool *rethas, struct errinfo *reterr);

#endif
