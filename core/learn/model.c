#include "core/learn/model.h"

#include <math.h>

#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/learn/odds.h"
#include "core/learn/prior.h"

enum { FILE_MODE = 0644, NAMED_BLOCKS = 3 };

static const char magic[8] = {'G', 'N', 'M', 'O', 'D', 'E', 'L', '1'};

struct model {
    struct filemap map;
    struct model_data *own; /* the prior alone; NULL: the file is mapped */
};

float model_weight(const struct model_data *m, uint32_t hash)
{
    return (float)m->weight[hash] / MODEL_UNIT;
}

float model_prior_weight(const struct model_data *m, uint32_t hash)
{
    return (float)m->prior[hash] * m->prior_unit;
}

/* Margin, and the share of each block in it. */
static double margin_of(const struct model_data *m, const struct vector *v,
                        bool is_local, float block[VECTOR_BLOCKS])
{
    float value[VECTOR_BLOCKS];
    float group[FTRL_GROUPS] = {0};
    memset(block, 0, VECTOR_BLOCKS * sizeof(*block));
    for (size_t i = 0; i < v->n; i++) {
        uint32_t hash = v->term[i] & VECTOR_HASH_MASK;
        block[v->term[i] >> VECTOR_HASH_BITS] +=
            is_local ? model_weight(m, hash) : model_prior_weight(m, hash);
    }
    ftrl_values(v, value);
    for (unsigned b = 0; b < VECTOR_BLOCKS; b++) {
        block[b] *= value[b];
        group[ftrl_group((enum vector_block)b)] += block[b];
    }
    return (double)ftrl_sum(group, FTRL_FLOOR);
}

double model_share(const struct model_window *w, double margin)
{
    uint32_t low = 0;
    uint32_t high = w->kept;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if ((double)w->tail[middle] >= margin) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (1 + (double)low) / (1 + (double)w->n);
}

/* Measured (ADR 0070). */
static const double share_begin = 0.1; /* of ham: a message above it scores */
static const double margin_full = 3; /* for foreign ham where local ham is all alike */
static const double odds_full = 1;
double model_score(double margin, double full, double share, double false_positives)
{
    double by_share = log(share / share_begin) / log(false_positives / share_begin);
    double score = MODEL_FULL_SCORE * fmin(by_share, margin / full);
    return fmax(0, fmin(score, MODEL_FULL_SCORE));
}

/* Both opinions. */
static void judge_local(const struct model_data *m, const struct model_options *options,
                        const struct vector *v, struct model_answer *a)
{
    const struct model_kind *k = &m->head.kind[v->kind];
    a->odds = odds_of(m->seen, m->head.counted, v);
    a->share = model_share(&k->window, a->margin);
    a->first = model_score(a->margin, margin_full, a->share, options->false_positives);
    a->second = model_score(a->odds, odds_full, model_share(&k->odds, a->odds),
                            options->false_positives);
}

/* Spam of the sender was learnt here, and no ham; a single newcomer's report is not enough. Terms
 * share counters, so the weight of the term must say the same. */
static const float known_spam = 2.0F;
static const float known_weight = 0.1F;
static bool is_known_spammer(const struct model_data *m, const struct vector *v)
{
    for (size_t i = 0; i < v->n; i++) {
        if (v->term[i] >> VECTOR_HASH_BITS == VECTOR_SENDER) {
            return odds_only_spam(m->seen, v->term[i], known_spam) &&
                   model_weight(m, v->term[i] & VECTOR_HASH_MASK) >= known_weight;
        }
    }
    return false;
}

void model_judge(const struct model_data *m, const struct model_options *options,
                 const struct vector *message, struct model_answer *ret)
{
    const struct model_kind *k = &m->head.kind[message->kind];
    struct vector own = *message; /* and the term of its URLs */
    const struct vector *v = &own;
    uint32_t term[VECTOR_TERMS];
    *ret = (struct model_answer){.kind = v->kind};
    model_judge_urls(m, options, &own, term, ret);
    ret->is_local = k->nspam >= MODEL_LEAST && k->nham >= MODEL_LEAST;
    ret->margin = margin_of(m, v, ret->is_local, ret->block);
    if (ret->is_local) {
        judge_local(m, options, v, ret);
    } else {
        ret->share = model_share(&k->prior, ret->margin);
        ret->first =
            fmin(MODEL_PRIOR_SCORE, model_score(ret->margin, margin_full, ret->share,
                                                options->false_positives));
        ret->second = ret->first;
    }
    double cap = options->cap[v->kind];
    if (is_known_spammer(m, v)) {
        cap = fmax(cap, options->cap[VECTOR_PERSON]); /* whatever its kind */
    }
    /* Either at 0 vetoes. */
    ret->score = fmin(sqrt(ret->first * ret->second), cap);
    ret->score = round(ret->score * 10) / 10;
}

void model_describe(const struct model_answer *a, char *dst, size_t size)
{
    bool is_named[VECTOR_BLOCKS] = {false};
    int n = snprintf(dst, size, "%s margin %.1f, %.2g %% of ham%s",
                     vector_kind_name(a->kind), a->margin, 100 * a->share,
                     !a->is_local           ? ", prior"
                     : a->second < a->first ? ", doubted"
                                            : "");
    for (unsigned i = 0; i < NAMED_BLOCKS && n > 0 && (size_t)n < size; i++) {
        unsigned best = VECTOR_BLOCKS;
        for (unsigned b = 0; b < VECTOR_BLOCKS; b++) {
            if (!is_named[b] &&
                (best == VECTOR_BLOCKS || a->block[b] > a->block[best])) {
                best = b;
            }
        }
        is_named[best] = true;
        if (a->block[best] <= 0) {
            return;
        }
        n += snprintf(dst + n, size - (size_t)n, ", %s %+.1f",
                      vector_block_name((enum vector_block)best),
                      (double)a->block[best]);
    }
}

/* ---- the file ---- */

static uint64_t checksum_of(const struct model_data *data)
{
    struct model_head head = data->head;
    head.checksum = checksum64(slice_of((const char *)data + sizeof(data->head),
                                        sizeof(*data) - sizeof(data->head)));
    return checksum64(slice_of(&head, sizeof(head)));
}

static enum err check_file(const struct filemap *map, const char *path,
                           struct errinfo *reterr)
{
    const struct model_data *data = (const void *)map->p;
    bool is_model = map->n >= sizeof(data->head) &&
                    memcmp(data->head.magic, magic, sizeof(magic)) == 0;
    if (is_model && (data->head.version != MODEL_VERSION ||
                     data->head.vector_version != VECTOR_VERSION)) {
        return errinfo_set(
            reterr, ERR_VERSION, path, 0,
            "of another version; gillnetd or gillnet train makes it again");
    }
    if (!is_model || map->n != sizeof(*data) ||
        data->head.checksum != checksum_of(data)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "damaged; gillnetd or gillnet train makes it again");
    }
    return ERR_OK;
}

/* A model that is the prior alone. */
static enum err open_prior(struct model *m, const char *prior, struct errinfo *reterr)
{
    m->own = calloc(1, sizeof(*m->own));
    if (m->own == NULL) {
        return errinfo_nomem(reterr, prior);
    }
    char path[FILE_PATH_MAX];
    enum err e = prior_path(path, prior, reterr);
    return e == ERR_OK ? prior_read(path, m->own, reterr) : e;
}

enum err model_open(const char *path, const char *prior, struct model **ret,
                    struct errinfo *reterr)
{
    struct model *m = calloc(1, sizeof(*m));
    *ret = NULL;
    if (m == NULL) {
        return errinfo_nomem(reterr, path);
    }
    enum err e = filemap_open(&m->map, path, FILEMAP_COPY, reterr);
    if (e == ERR_OK) {
        e = check_file(&m->map, path, reterr);
    } else if (e == ERR_NOT_FOUND && prior != NULL && *prior != '\0') {
        e = open_prior(m, prior, reterr);
    } else {
        /* there is none, or it cannot be read */
    }
    if (e != ERR_OK) {
        model_close(&m);
        return e == ERR_NOT_FOUND ? ERR_OK : e;
    }
    *ret = m;
    return ERR_OK;
}

const struct model_data *model_data(const struct model *m)
{
    return m->own != NULL ? m->own : (const void *)m->map.p;
}

void model_close(struct model **m)
{
    if (*m != NULL) {
        filemap_close(&(*m)->map);
        free((*m)->own);
        free(*m);
        *m = NULL;
    }
}

enum err model_write(const char *path, struct model_data *data, struct errinfo *reterr)
{
    memcpy(data->head.magic, magic, sizeof(magic));
    data->head.version = MODEL_VERSION;
    data->head.vector_version = VECTOR_VERSION;
    data->head.checksum = checksum_of(data);
    return file_write_atomic(path, slice_of(data, sizeof(*data)), FILE_MODE, reterr);
}
