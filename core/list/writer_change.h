/*
 * writer_change - changes from inside the room.
 *
 * Depends: writer, segment.   Threads: the writer's.
 */
#ifndef CORE_LIST_WRITER_CHANGE_H
#define CORE_LIST_WRITER_CHANGE_H

#include "core/list/writer.h"

/* Stages a record whether or not it says anything new; durable with list_flush. */
enum err change_again(struct list_writer *w, struct log_record *r, struct slice source,
                      struct errinfo *reterr);

/* As change_again, of a digest that is not staged yet and of which `known` (NULL: nothing) is known. In an exact list:
 * what it knows stays so when it is merged meanwhile. */
enum err change_known(struct list_writer *w, struct log_record *r,
                      const struct index_record *known, struct slice source,
                      struct errinfo *reterr);
/* e, and what to do about it. */
enum err change_damaged(const struct list_writer *w, enum err e,
                        struct errinfo *reterr);

/* Whether the list has the entry as listed, staged changes left aside. False also where what is known
 * of it is damaged. */
bool list_holds(const struct list_writer *w, const struct feature_entry *e);

/* What is known of d, staged changes left aside. */
enum err change_prior(const struct list_writer *w, const struct digest *d,
                      struct index_record *ret, bool *rethas, struct errinfo *reterr);

#endif
