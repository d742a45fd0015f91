/*
 * counting_merge - two filters into one, and a split filter into one with larger tables.
 */
#include "core/lab/counting_cell.h"

static enum err differ(const char *what, uint64_t a, uint64_t b, enum err e,
                       struct errinfo *reterr)
{
    return errinfo_set(reterr, e, "counting filters", 0,
                       "cells can be added only where %s is the same: %llu and %llu",
                       what, (unsigned long long)a, (unsigned long long)b);
}

enum err counting_alike(const struct counting *a, const struct counting *b,
                        struct errinfo *reterr)
{
    const struct counting_shape *s = &a->shape;
    const struct counting_shape *t = &b->shape;
    const struct {
        const char *what;
        uint64_t a;
        uint64_t b;
        enum err e;
    } rows[] = {
        {"the variant", s->variant, t->variant, ERR_UNSUPPORTED},
        {"the layout", s->layout, t->layout, ERR_UNSUPPORTED},
        {"the width of a cell", s->cell_bits, t->cell_bits, ERR_UNSUPPORTED},
        {"k", s->k, t->k, ERR_RANGE},
        {"the number of chunks", s->nchunks, t->nchunks, ERR_RANGE},
        {"the number of cells in a chunk", s->chunk_cells, t->chunk_cells, ERR_RANGE},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (rows[i].a != rows[i].b) {
            return differ(rows[i].what, rows[i].a, rows[i].b, rows[i].e, reterr);
        }
    }
    if (a->mix[0] != b->mix[0] || a->mix[1] != b->mix[1]) {
        return errinfo_set(reterr, ERR_KEY, "counting filters", 0,
                           "the two were made with different keys: their cells do not "
                           "stand for the same");
    }
    return ERR_OK;
}

static void merge_flat(struct counting *dst, const struct counting *src)
{
    unsigned bits = dst->shape.cell_bits;
    unsigned end = counting_per(bits) * bits;
    uint64_t nwords = counting_words(&dst->shape);
    for (uint64_t i = 0; i < nwords; i++) {
        uint64_t a = dst->words[i];
        uint64_t b = src->words[i];
        uint64_t sum = 0;
        if (b == 0) {
            continue; /* most words of a delta */
        }
        for (unsigned shift = 0; shift < end; shift += bits) {
            uint64_t mask = dst->cap;
            sum |= counting_sum(a >> shift & mask, b >> shift & mask, mask) << shift;
        }
        dst->words[i] = sum;
    }
}

static void merge_split(struct counting *dst, const struct counting *src)
{
    uint64_t cells = dst->chunk_stride * dst->shape.nchunks;
    for (uint64_t at = 0; at < cells; at++) {
        uint64_t b = counting_split_load(src, at);
        if (b != 0) {
            uint64_t a = counting_split_load(dst, at);
            counting_split_store(dst, at, counting_sum(a, b, dst->cap));
        }
    }
}

enum err counting_merge(struct counting *dst, const struct counting *src,
                        struct errinfo *reterr)
{
    enum err e = counting_alike(dst, src, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (counting_is_split(dst)) {
        merge_split(dst, src);
    } else {
        merge_flat(dst, src);
    }
    return ERR_OK;
}

enum err counting_copy(struct counting *dst, const struct counting *src,
                       struct errinfo *reterr)
{
    enum err e = counting_alike(dst, src, reterr);
    if (e != ERR_OK) {
        return errinfo_set(reterr, ERR_RANGE, "counting filters", 0,
                           "only a filter alike can take a copy");
    }
    memcpy(dst->words, src->words, counting_words(&src->shape) * sizeof(*dst->words));
    if (counting_is_split(src) && counting_split_copy(dst, src) != ERR_OK) {
        return errinfo_set(
            reterr, ERR_RANGE, "chunk_slots", 0,
            "the tables of %llu slots are too small for the high parts there "
            "are: take more",
            (unsigned long long)dst->shape.chunk_slots);
    }
    return ERR_OK;
}
