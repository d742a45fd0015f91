/*
 * model - the weights and thresholds as they are scored with, in memory and in the file.
 *
 * One file holds a header, the weights, the weights of the prior, and in how many learnt messages
 * each term stood. Only the learner writes it (core/learn/learner.h), by rename; readers map it.
 * The score (model_score): the share of ham of the same kind with a margin at least as high, of
 * ham that was scored before it was learnt. A small window proves no small share, so the model is
 * sure only where it has seen much ham of that kind. Until MODEL_LEAST spam and ham of a kind were
 * learnt here, only the prior speaks, up to MODEL_PRIOR_SCORE.
 * The second opinion (core/learn/odds.h) counts in how many spam and ham messages each term stood,
 * and has windows of its own. The score is the geometric mean of both: each can veto the other.
 * URLs have a model of their own (model_url.c, ADR 0076); the label of a message is that of its
 * URLs. The score of a URL, from 0 to 1, is MODEL_URL_MALICIOUS where the share of local ham URLs
 * with such a margin is url_false_positives. There is no prior for URLs, so without MODEL_LEAST of
 * each class every URL is CLEAN. The worst rating is a term of the message.
 * Files in reading order: vector, ftrl, model, odds, prior, vector_store, build, learner.
 * Threads: any may read one model.   Owns: the mapping.   Depends: base, feature, extract.
 * To change the score: model_judge and its test; the figures are in ADR 0070.
 */
#ifndef CORE_LEARN_MODEL_H
#define CORE_LEARN_MODEL_H

#include "core/learn/ftrl.h"
#include "core/learn/url_vector.h"

/* In the state folder. */
#define STATE_MODEL_DIR  "model"
#define STATE_MODEL_FILE "model/model"

enum {
    MODEL_VERSION = 2,
    MODEL_SEEN = 1 << 18, /* counters of the second opinion; four terms share one */
    MODEL_LEAST = 20,     /* spam, and ham, of a kind that must be learnt here */
    MODEL_TAIL = 512,     /* highest ham margins that are kept of a window */
    MODEL_UNIT = 1024,    /* weights are in units of 1 / MODEL_UNIT */
    MODEL_DETAIL = 160    /* bytes for model_describe */
};
#define MODEL_PRIOR_SCORE 2.0
#define MODEL_FULL_SCORE  5.0

/* Margins of ham of one kind that was scored before it was learnt. */
struct model_window {
    uint32_t n; /* messages */
    uint32_t kept;
    float tail[MODEL_TAIL]; /* the highest margins, falling */
};

/* Numbers of one kind of mail. */
struct model_kind {
    uint32_t nspam; /* learnt here */
    uint32_t nham;
    struct model_window window;
    struct model_window odds;  /* of the second opinion */
    struct model_window prior; /* of the prior alone */
};

/* The head of the file; numbers little-endian as all hosts of gillnet have them. */
struct model_head {
    char magic[8]; /* "GNMODEL1" */
    uint32_t version;
    uint32_t vector_version;
    uint64_t applied; /* learner_applied */
    uint64_t time_s;  /* written */
    uint32_t nspam;   /* learnt here */
    uint32_t nham;
    float counted[2]; /* messages behind seen: ham, spam, by weight */
    struct model_kind kind[VECTOR_KINDS];
    struct model_kind urls; /* of URLs, with the same counts and windows; no prior */
    float urls_counted[2];  /* URLs behind urls_seen */
    uint64_t checksum;      /* of the rest of the file, then of the head with 0 here */
};

/* In how many learnt messages a term stood, in units of 1 / ODDS_UNIT: ham, spam. The numbers stop
 * at 65,535. */
struct model_seen {
    uint16_t n[2];
};

/* The whole file. */
struct model_data {
    struct model_head head;
    int16_t weight[FTRL_WEIGHTS];
    int8_t prior[FTRL_WEIGHTS]; /* in units of prior_unit */
    float prior_unit;
    struct model_seen seen[MODEL_SEEN];
    int16_t url_weight[URL_VECTOR_HASHES]; /* of the model of URLs */
    struct model_seen url_seen[URL_VECTOR_HASHES];
};

/* How messages are judged; from the configuration. */
struct model_options {
    double false_positives;     /* share of ham at which the score is full */
    double cap[VECTOR_KINDS];   /* of the score */
    double url_false_positives; /* share of ham URLs that may be MALICIOUS */
};

/* Rating of a URL that no list knows, from its text alone. */
enum model_rating { MODEL_CLEAN, MODEL_SUSPICIOUS, MODEL_MALICIOUS };
#define MODEL_URL_SUSPICIOUS 0.3
#define MODEL_URL_MALICIOUS  0.8
struct model_url {
    struct slice text; /* empty if the vector was decoded */
    double score;      /* 0 to 1 */
    double margin;     /* as of a message */
};
enum model_rating model_url_rating(double score);

struct model_answer {
    double score;  /* of the symbol; may be 0 */
    double margin; /* of the model, or of the prior alone */
    double share;  /* of ham with such a margin, at most: (1 + above) / (1 + all) */
    double odds;   /* second opinion: above 0 rather spam */
    double first;  /* score of the margin alone, and of the odds alone */
    double second;
    enum vector_kind kind;
    bool is_local; /* enough was learnt of this kind */
    /* share of each block in the margin; the strongest explain the score */
    float block[VECTOR_BLOCKS];
    size_t nurls;
    struct model_url url[VECTOR_URLS];
};

void model_judge(const struct model_data *m, const struct model_options *options,
                 const struct vector *message, struct model_answer *ret);
/* The ratings of the URLs of v; adds their worst one as a term to *v, from room for v->n + 1 terms
 * at `room`. */
void model_judge_urls(const struct model_data *m, const struct model_options *options,
                      struct vector *v, uint32_t *room, struct model_answer *ret);
/* The share of ham with this margin or a higher one. */
double model_share(const struct model_window *w, double margin);
/* The score of a margin, or of odds, from 0 to MODEL_FULL_SCORE; `full` is the lowest one of a full
 * score. */
double model_score(double margin, double full, double share, double false_positives);
/* "list margin 2.1, 0.2 % of ham, text +1.2, html +0.6": the strongest blocks. */
void model_describe(const struct model_answer *a, char *dst, size_t size);
/* Margin of one term, by the model or by the prior. */
float model_weight(const struct model_data *m, uint32_t hash);
float model_prior_weight(const struct model_data *m, uint32_t hash);

struct model;
/* Maps the file; a missing one is no error: then the prior alone is the model. prior: NULL, or a
 * file, which may be missing too. *ret is NULL if neither is there or the model is damaged or of
 * another version. */
enum err model_open(const char *path, const char *prior, struct model **ret,
                    struct errinfo *reterr);
const struct model_data *model_data(const struct model *m);
void model_close(struct model **m); /* accepts NULL */
/* Sets the checksum and writes the file. */
enum err model_write(const char *path, struct model_data *data, struct errinfo *reterr);

#endif
