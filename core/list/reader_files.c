/*
 * reader_files - the files of an open reader, one by one, and the statistics of their filters.
 */
#include "core/list/reader.h"

enum { FILL_SAMPLE_LINES = 4096, PARTS_OF_MEMBER = 2 };

/* After those of all levels. */
#define ORDER_MEMBER ((uint64_t)1 << 62)

static size_t member_parts(const struct peer_filter *m, struct reader_part *ret)
{
    ret[0] = (struct reader_part){.name = "spam",
                                  .number = m->numbers[0],
                                  .order = ORDER_MEMBER,
                                  .is_member = true,
                                  .filter = &m->spam};
    if (!m->has_revoked) {
        return 1;
    }
    ret[1] = (struct reader_part){.name = "revoked",
                                  .number = m->numbers[1],
                                  .order = ORDER_MEMBER + 1,
                                  .is_member = true,
                                  .filter = &m->revoked};
    return PARTS_OF_MEMBER;
}

size_t list_reader_parts(const struct list_reader *r, struct reader_part *ret,
                         size_t max)
{
    size_t n = 0;
    for (uint32_t i = 0; i < r->current.nlevels && n < max; i++) {
        const struct level *l = r->level[i];
        ret[n++] = (struct reader_part){.name = "base",
                                        .number = l->names.number,
                                        .order = 2 * l->names.number,
                                        .period = l->names.period_s,
                                        .index = l->index,
                                        .filter = l->has_base ? &l->base : NULL};
        if (l->has_front && n < max) {
            ret[n++] = (struct reader_part){.name = "front",
                                            .number = l->names.number,
                                            .order = 2 * l->names.number + 1,
                                            .is_front = true,
                                            .period = l->names.period_s,
                                            .filter = &l->front};
        }
    }
    if (r->member && n + PARTS_OF_MEMBER <= max) {
        n += member_parts(r->member, ret + n);
    }
    return n;
}

/* A digest passes when any of the filters lets it: errors of independent filters add up so. */
static double either(double a, double b)
{
    return 1 - (1 - a) * (1 - b);
}

void list_reader_filters(const struct list_reader *r, struct list_filters *ret)
{
    struct reader_part part[READER_PARTS_MAX];
    struct list_filters f = {.bits = 0};
    double set = 0;
    size_t n = list_reader_parts(r, part, READER_PARTS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (!part[i].filter || part[i].is_member || part[i].is_front) {
            continue;
        }
        const struct bloom *b = &part[i].filter->bloom;
        uint64_t bits = b->nlines * BLOOM_LINE_BITS;
        double formula =
            bloom_error(b->layout, b->nlines, b->k, part[i].filter->facts.entries);
        f.error_formula = either(f.error_formula, formula);
        if (part[i].filter->hold == BLOOMFILE_REMOTE) { /* its bits are not here */
            f.error_bits = either(f.error_bits, formula);
            continue;
        }
        f.bits += bits;
        set += bloom_fill(b, FILL_SAMPLE_LINES) * (double)bits;
        f.error_bits = either(f.error_bits, bloom_error_of_bits(b, FILL_SAMPLE_LINES));
    }
    f.fill = f.bits > 0 ? set / (double)f.bits : 0;
    *ret = f;
}

static struct list_peer_filter peer_filter(const struct bloomfile *f)
{
    const struct bloom *b = &f->bloom;
    return (struct list_peer_filter){
        .entries = f->facts.entries,
        .filter = {.bits = b->nlines * BLOOM_LINE_BITS,
                   .fill = bloom_fill(b, FILL_SAMPLE_LINES),
                   .error_formula =
                       bloom_error(b->layout, b->nlines, b->k, f->facts.entries),
                   .error_bits = bloom_error_of_bits(b, FILL_SAMPLE_LINES)}};
}

void list_reader_peers(const struct list_reader *r, struct list_peer_filter *retspam,
                       struct list_peer_filter *retrevoked)
{
    const struct peer_filter *m = r->member;
    *retspam = m ? peer_filter(&m->spam) : (struct list_peer_filter){.entries = 0};
    *retrevoked = m && m->has_revoked ? peer_filter(&m->revoked)
                                      : (struct list_peer_filter){.entries = 0};
}
