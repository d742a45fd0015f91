/* votes_match - the reports that match a message. */
#include "core/report/votes_internal.h"

static void match_row(struct votes *v, uint32_t word)
{
    uint32_t at = word & VOTES_ROW_MASK;
    struct row *row = &v->rows[at];
    uint8_t proof = word >> VOTES_PROOF_SHIFT & VOTES_PROOF_MASK;

    if (row->is_undone || !row->is_counted || proof == REPORT_NO_PROOF) {
        return;
    }
    if (row->mark != v->mark) {
        if (v->nmatches == VOTES_MATCHES_MAX) {
            return;
        }
        row->mark = v->mark;
        row->nbands = 0;
        row->proof = REPORT_NO_PROOF;
        v->matches[v->nmatches++] = at;
    }
    if (proof == REPORT_BAND) {
        row->nbands++;
        proof = row->nbands >= VOTES_BANDS ? REPORT_EXACT : REPORT_NO_PROOF;
    }
    row->proof = proof > row->proof ? proof : row->proof;
}

void votes_match(struct votes *v, const struct votes_item *item)
{
    for (unsigned k = 0; k < 2U * item->n; k++) {
        uint64_t digest = item->digest[k / 2];
        unsigned left = VOTES_CHAIN_MAX;
        for (uint32_t at = *votes_head(v, k % 2 == 1, digest); at > 0 && left > 0;
             at = v->votes[at - 1].next) {
            if (v->votes[at - 1].digest == digest) {
                match_row(v, v->votes[at - 1].row);
                left--;
            }
        }
    }
}

/* Rows of other servers come later than their time. */
static int by_time(const void *a, const void *b, void *context)
{
    const struct votes *v = context;
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    if (v->rows[x].time_s != v->rows[y].time_s) {
        return v->rows[x].time_s < v->rows[y].time_s ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

void votes_sort(struct votes *v)
{
    qsort_r(v->matches, v->nmatches, sizeof(v->matches[0]), by_time, v);
}

void votes_begin(struct votes *v)
{
    v->nmatches = 0;
    if (++v->mark == 0) { /* once in 2^32 look-ups */
        for (size_t i = 0; i < v->nrows; i++) {
            v->rows[i].mark = 0;
        }
        v->mark = 1;
    }
}

void votes_ballot(struct votes *v, uint8_t least, struct ballot *ret)
{
    votes_sort(v);
    for (size_t i = 0; i < v->nmatches; i++) {
        const struct row *row = &v->rows[v->matches[i]];
        const struct vote vote = {.reporter = row->reporter,
                                  .report = row->number,
                                  .time_s = row->time_s,
                                  .is_spam = row->is_spam,
                                  .voice = row->voice};
        if (row->proof >= least) {
            (void)ballot_put(ret, v->trust, &vote);
        }
    }
}
