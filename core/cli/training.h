/*
 * training - the words of `gillnet train` and `gillnet eval`: labelled folders.
 *
 * "--spam DIR... --ham DIR...": each option takes all words up to the next option, and may be
 * there several times.
 */
#ifndef CORE_CLI_TRAINING_H
#define CORE_CLI_TRAINING_H

#include "core/cli/messages.h"
#include "core/learn/learner.h"

enum { TRAINING_PATHS = 1000 };

struct training {
    char *path[2][TRAINING_PATHS + 1]; /* ham, spam; each ends in NULL */
    size_t n[2];
    const char *prior; /* --prior FILE of train */
    const char *plot;  /* --plot FILE of eval */
    bool by_source;    /* --by-source of eval */
};

/* Reads the words; returns 0, or an exit status after a message. */
int training_words(const char *command, int argc, char **argv, struct training *ret);

/* A labelled message with its vector in the heap, for both commands. */
struct sample {
    char *file;
    char *source; /* the folder that it is in */
    bool is_spam;
    uint64_t replica;  /* equal for near replicas */
    float weight;      /* 1 / root of the number of these */
    struct buf vector; /* encoded; grouped by source if there are many */
    double others;     /* score of lists and rules */
    double score;      /* of all */
    struct model_answer *answer;
};
struct samples {
    struct sample *v;
    size_t n;
    size_t room;
};
/* Reads all messages. judge is called with each, or NULL. Returns an exit status. */
int samples_read(struct cli *cli, struct training *t,
                 int (*judge)(void *context, struct arena *arena,
                              const struct message *m, struct sample *s),
                 void *context, struct samples *ret);
void samples_free(struct samples *s);

/* A learner in a folder of its own below TMPDIR, without prior. */
struct trial_learner {
    char dir[FILE_PATH_MAX];
    struct learner *learner;
};
int trial_learner_open(struct trial_learner *t);
void trial_learner_close(struct trial_learner *t);

#endif
