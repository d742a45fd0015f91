/*
 * inbox - examples for the learner of another process: files STATE/model/inbox.*.
 *
 * A command collects examples and wishes in a buffer and puts them there as one file. The process
 * that has the learner takes them within a second; without one they wait. An example that the store
 * has already, byte for byte, is not learnt twice.
 * Threads: pure, but inbox_put.   Depends: base.
 */
#ifndef CORE_LEARN_INBOX_H
#define CORE_LEARN_INBOX_H

#include "core/learn/learner.h"

/* Begins an inbox; the caller ends it with buf_fini. */
void inbox_init(struct buf *b);
void inbox_add(struct buf *b, const struct learner_example *e);
/* Everything of a source is to be taken out. */
void inbox_forget(struct buf *b, enum learner_source source);
/* Writes it as a file of its own. */
enum err inbox_put(const char *state_dir, const struct buf *b, struct errinfo *reterr);

#endif
