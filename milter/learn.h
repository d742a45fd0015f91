/*
 * learn - gillnetd's learner: it judges each message, and its thread writes what was learnt.
 *
 * The model is optional: without it (model.enabled = false, a folder that cannot be used, a command
 * that holds the lock) mail is judged as before. The thread tries again every second.
 * Threads: any.
 */
#ifndef MILTER_LEARN_H
#define MILTER_LEARN_H

#include "core/config/config.h"
#include "core/learn/learner.h"

/* Opens the learner. Only gillnetd's start calls it. */
void learn_open(const struct config *config);
/* Starts the thread. False: it cannot be started. */
bool learn_start(void);
/* Ends the thread. */
void learn_stop(void);
/* Writes what is not written and frees the learner: no message may be judged any longer. */
void learn_close(void);

/* The learner, or NULL; it stays until learn_close. */
struct learner *learn_learner(void);

/* Before extract_new: a reader whose vector learn_judge takes. NULL: the model is off. */
struct vector_reader *learn_reader(const struct config *config, struct arena *arena,
                                   struct extract_limits *limits);
/* After extract_finish: the answer of the model, in ret; NULL: there is none. retvector has no
 * terms if it is not known. */
const struct model_answer *learn_judge(const struct config *config,
                                       struct vector_reader *r, const struct extract *x,
                                       const struct featureset *set,
                                       struct vector *retvector,
                                       struct model_answer *ret);

#endif
