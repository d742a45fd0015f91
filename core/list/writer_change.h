/*
 * writer_change - changes from inside the room.
 *
 * Depends: writer, segment.   Threads: the writer's.
 */
#ifndef CORE_LIST_WRITER_CHANGE_H
#define CORE_LIST_WRITER_CHANGE_H

#include "core/list/writer.h"

/* Stages a record even if it changes nothing; durable with list_flush. */
enum err change_again(struct list_writer *w, struct log_record *r, struct slice source,
                      struct errinfo *reterr);

/* As change_again, for a digest that is not staged yet and has the state `known` (NULL: absent).
 * Only for an exact list, where a merge does not change the state. */
enum err change_known(struct list_writer *w, struct log_record *r,
                      const struct index_record *known, struct slice source,
                      struct errinfo *reterr);
/* Sets reterr for e, with the remedy. */
enum err change_damaged(const struct list_writer *w, enum err e,
                        struct errinfo *reterr);

/* True if the list has the entry as listed, without staged changes. False also if its state is
 * damaged. */
bool list_holds(const struct list_writer *w, const struct feature_entry *e);

/* Reads the state of d, without staged changes. */
enum err change_prior(const struct list_writer *w, const struct digest *d,
                      struct index_record *ret, bool *rethas, struct errinfo *reterr);

#endif
