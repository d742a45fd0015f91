/*
 * commit - a new generation takes the place of the former one: CURRENT is replaced last.
 *
 * Before that nothing has changed, after it all has.
 * Depends: base, writer.   Threads: one at a time.
 */
#ifndef CORE_LIST_COMMIT_H
#define CORE_LIST_COMMIT_H

#include "core/list/writer.h"

/* Parts of a new generation that the writer takes over. */
struct publication {
    struct list_current current; /* names them */
    struct memtable recent;
    struct active_segment tail; /* not open: the writer's own goes on */
    struct index
        *fresh[LIST_LEVELS_MAX]; /* of current.level, where it is new; else NULL */
};

/* A new segment number and the empty memtable for c: durable, opened. */
enum err list_commit_new_segment(const struct list_writer *w, uint32_t number,
                                 struct active_segment *ret, struct errinfo *reterr);
enum err list_commit_new_memtable(struct list_writer *w, const struct list_current *c,
                                  uint32_t tail, struct memtable *ret,
                                  struct errinfo *reterr);
/* Replaces CURRENT. After a failure a reader can find either of the two, so the writer stops. */
enum err list_commit_current(struct list_writer *w, const struct list_current *c,
                             struct errinfo *reterr);
/* Makes segment and memtable of p's generation and takes it over. */
enum err list_commit_fresh(struct list_writer *w, struct publication *p,
                           struct errinfo *reterr);
/* Closes the parts. */
void list_edit_drop(struct publication *p);
/* Takes the parts over on success. On failure they are closed, and the writer keeps the former
 * generation unless its state is WRITER_STOPPED. */
enum err publish(struct list_writer *w, struct publication *p, struct errinfo *reterr);

#endif
