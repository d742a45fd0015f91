/*
 * learner - learns examples, keeps a bounded store of them, and publishes the model.
 *
 * The model is always the prior plus what the store holds, so an example that is taken out leaves
 * no trace. learner_add learns at once, with some older examples of both classes again. The store
 * (LEARNER_STORE newest per class, kinds fairly) holds vectors, never text. One process at a time
 * has a learner of a folder: gillnetd, or while it is down a command.
 * Files in STATE/model: LOCK, vectors (the store, appended and sometimes rewritten), model (for
 * readers, core/learn/model.h). After a crash the last seconds of the store are missing. The report
 * log gives them again: an example with a number that the store has had is ignored.
 * Threads: any.   Owns: its memory and the lock.   Depends: base.   ADR 0070.
 */
#ifndef CORE_LEARN_LEARNER_H
#define CORE_LEARN_LEARNER_H

#include "core/learn/model.h"

enum {
    LEARNER_STORE = 4096, /* examples per class */
    LEARNER_REPLAY = 8,   /* older examples that are learnt again with a new one */
    LEARNER_PASSES = 3,   /* over the store at a rebuild */
    LEARNER_REPORT = 6,
    LEARNER_FOLDS = 4,     /* to score ham by a model that has not learnt it */
    LEARNER_CALIBRATE = 32 /* examples after which thresholds are measured again */
};

/* Where an example came from; each can be taken out. The numbers are on disk. */
enum learner_source {
    LEARNER_REPORTED,
    LEARNER_TRAINED,    /* gillnet train */
    LEARNER_TRAP,       /* trap addresses */
    LEARNER_LISTED,     /* confirmed list hits */
    LEARNER_OUTGOING,   /* mail of the site's own users, and answers to it */
    LEARNER_KNOWN,      /* proved correspondents */
    LEARNER_NEWSLETTER, /* newsletters of proved senders that are known here */
    LEARNER_SOURCES
};
const char *learner_source_name(enum learner_source source);

struct learner_example {
    uint64_t
        number; /* of the report log, rising; 0: it has none, and is learnt always */
    bool is_spam;
    float
        weight; /* messages that it stands for: at most 1 of train, LEARNER_REPORT of a report
                     with full trust */
    enum learner_source source;
    struct slice vector; /* vector_encode */
};

struct learner_options {
    const char *prior; /* file of core/learn/prior.h; NULL or empty: none */
};

struct learner;
/* Takes the lock, reads the store and rebuilds the model from it (below a second). ERR_LOCKED:
 * another process has it. A prior that cannot be read is no failure: see learner_prior. */
enum err learner_open(const char *state_dir, const struct learner_options *options,
                      struct learner **ret, struct errinfo *reterr);
/* Writes what is not written; accepts NULL. */
void learner_close(struct learner **l);

/* Learns the example; below a millisecond. ERR_EXISTS: its number is learner_applied or below.
 * ERR_SYNTAX, ERR_VERSION: no vector of this version. */
enum err learner_add(struct learner *l, const struct learner_example *example);
/* Only stores it; learner_rebuild must follow: for many at once. */
enum err learner_put(struct learner *l, const struct learner_example *example);
/* Takes the example of this number out of the store, and rebuilds the model. ERR_NOT_FOUND. */
enum err learner_remove(struct learner *l, uint64_t number);
/* Takes all examples of a source out; returns how many. */
size_t learner_remove_source(struct learner *l, enum learner_source source);
/* Builds model and thresholds from prior and store. */
enum err learner_rebuild(struct learner *l);
/* Measures the thresholds again; learner_tick does it now and then. */
enum err learner_calibrate(struct learner *l);
/* Tries again to read a prior that could not be read. ERR_OK: it is in use, or options had none.
 * Otherwise the model does without it, and reterr names the file and a remedy: ERR_NOT_FOUND,
 * ERR_CORRUPT, ERR_VERSION or another reason. Cheap if the file is missing. */
enum err learner_prior(struct learner *l, struct errinfo *reterr);
/* The highest number that was learnt. */
uint64_t learner_applied(struct learner *l);
/* Learnt and kept, by kind and class. */
void learner_counts(struct learner *l, uint32_t ret[VECTOR_KINDS][2]);

/* Judges a message with the weights of this moment. */
void learner_judge(struct learner *l, const struct model_options *options,
                   const struct vector *v, struct model_answer *ret);
/* Call it about once a second: writes store and model if something was learnt, measures thresholds
 * again now and then. */
enum err learner_tick(struct learner *l, struct errinfo *reterr);
/* The model of this moment, for a caller that has the learner for itself. */
const struct model_data *learner_model(const struct learner *l);

#endif
