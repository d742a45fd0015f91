#include "core/learn/model.h"

#include <math.h>

#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/learn/odds.h"

enum { FILE_MODE = 0644, NAMED_BLOCKS = 3 };

static const char magic[8] = {'G', 'N', 'M', 'O', 'D', 'E', 'L', '1'};

struct model {
    struct filemap map;
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
    double sum = (double)(is_local ? m->head.bias : m->head.prior_bias);
    memset(block, 0, VECTOR_BLOCKS * sizeof(*block));
    for (size_t i = 0; i < v->n; i++) {
        uint32_t hash = v->term[i] & VECTOR_HASH_MASK;
        block[v->term[i] >> VECTOR_HASH_BITS] +=
            is_local ? model_weight(m, hash) : model_prior_weight(m, hash);
    }
    ftrl_values(v, value);
    for (unsigned b = 0; b < VECTOR_BLOCKS; b++) {
        block[b] *= value[b];
        sum += (double)block[b];
    }
    return sum;
}

/* From 0 at doubt to 1 at sure. */
static double share_of(double margin, double doubt, double sure)
{
    double span = fmax(sure - doubt, 1e-3);
    return fmax(0, fmin(1, (margin - doubt) / span));
}

void model_judge(const struct model_data *m, const struct model_options *options,
                 const struct vector *v, struct model_answer *ret)
{
    const struct model_kind *k = &m->head.kind[v->kind];
    *ret = (struct model_answer){.kind = v->kind};
    ret->is_local = k->nspam >= MODEL_LEAST && k->nham >= MODEL_LEAST && k->window > 0;
    ret->margin = margin_of(m, v, ret->is_local, ret->block);
    if (!ret->is_local) {
        ret->threshold = (double)m->head.prior_sure;
        double doubt = (double)m->head.prior_doubt;
        ret->score = m->prior_unit > 0
                         ? MODEL_PRIOR_SCORE * share_of(ret->margin, doubt, ret->threshold)
                         : 0;
    } else {
        ret->threshold = (double)k->threshold;
        ret->score =
            MODEL_FULL_SCORE * share_of(ret->margin, (double)k->doubt, ret->threshold);
        ret->odds = odds_of(m, v, ODDS_UNSEEN);
        ret->is_vetoed = ret->odds < (double)k->odds && ret->score > MODEL_PRIOR_SCORE;
        ret->score = ret->is_vetoed ? MODEL_PRIOR_SCORE : ret->score;
    }
    ret->score = fmin(ret->score, options->cap);
    ret->score = round(ret->score * 10) / 10;
}

void model_describe(const struct model_answer *a, char *dst, size_t size)
{
    bool is_named[VECTOR_BLOCKS] = {false};
    int n = snprintf(dst, size, "%s margin %.1f of %.1f%s", vector_kind_name(a->kind),
                     a->margin, a->threshold,
                     !a->is_local   ? ", prior"
                     : a->is_vetoed ? ", doubted"
                                    : "");
    for (unsigned i = 0; i < NAMED_BLOCKS && n > 0 && (size_t)n < size; i++) {
        unsigned best = VECTOR_BLOCKS;
        for (unsigned b = 0; b < VECTOR_BLOCKS; b++) {
            if (!is_named[b] && (best == VECTOR_BLOCKS || a->block[b] > a->block[best])) {
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

static uint64_t sum_of(const struct model_data *data)
{
    struct model_head head = data->head;
    head.checksum = checksum64(slice_of((const char *)data + sizeof(data->head),
                                        sizeof(*data) - sizeof(data->head)));
    return checksum64(slice_of(&head, sizeof(head)));
}

enum err model_open(const char *path, struct model **ret, struct errinfo *reterr)
{
    struct model *m = calloc(1, sizeof(*m));
    *ret = NULL;
    if (m == NULL) {
        return errinfo_nomem(reterr, path);
    }
    enum err e = filemap_open(&m->map, path, FILEMAP_READ, reterr);
    if (e == ERR_OK) {
        const struct model_data *data = (const void *)m->map.p;
        bool is_whole = m->map.n == sizeof(*data) &&
                        memcmp(data->head.magic, magic, sizeof(magic)) == 0;
        if (is_whole && (data->head.version != MODEL_VERSION ||
                         data->head.vector_version != VECTOR_VERSION)) {
            e = errinfo_set(reterr, ERR_VERSION, path, 0,
                            "of another version; gillnetd or gillnet train makes it again");
        } else if (!is_whole || data->head.checksum != sum_of(data)) {
            e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                            "damaged; gillnetd or gillnet train makes it again");
        }
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
    return (const void *)m->map.p;
}

void model_close(struct model **m)
{
    if (*m != NULL) {
        filemap_close(&(*m)->map);
        free(*m);
        *m = NULL;
    }
}

enum err model_write(const char *path, struct model_data *data, struct errinfo *reterr)
{
    memcpy(data->head.magic, magic, sizeof(magic));
    data->head.version = MODEL_VERSION;
    data->head.vector_version = VECTOR_VERSION;
    data->head.checksum = sum_of(data);
    return file_write_atomic(path, slice_of(data, sizeof(*data)), FILE_MODE, reterr);
}
