/*
 * peer_filter_check - checks a filter of one peer and puts it into a list.
 */
#include <math.h>

#include "core/base/random.h"
#include "core/filter/bloomfile_merge.h"
#include "core/list/peer_filter.h"
#include "core/list/reader.h"
#include "core/list/writer.h"

enum {
    ESTIMATE_PART =
        50, /* the estimate of entries from bits is 2 % off at most, ...... */
    ESTIMATE_FEW = 64, /* ... in small filters by some entries */
    GUARDED_SLACK = 3, /* tolerated hits of guarded names: fewer than one honest filter
                            in 10^9 has more */
    GUARDED_BATCH = 256,
    LINES_SAMPLED = 65536,
    LINES_LEAST = 256, /* with fewer the variance is too uncertain */
    KEYS_LEAST = 4,    /* on a line: with fewer both lie alike */
    KEYS_MOST = 500,   /* no filter that errs so little has more */
    POISSON_TAIL = 12,
    MAKE_HEADROOM = 8 /* a filter is planned for an eighth more than it holds */
};
#define DEVIATIONS 6.0

static const char *const next_step = "the filter was not used";

/* ---- belief ---- */

/* The bits must match the declared number of entries. */
static enum err check_fill(const struct bloomfile *f, const char *path,
                           struct errinfo *reterr)
{
    uint64_t declared = f->facts.entries;
    uint64_t found = bloomfile_estimate(f);
    double slack = (double)declared / ESTIMATE_PART + ESTIMATE_FEW +
                   DEVIATIONS * sqrt((double)declared);
    double off =
        found > declared ? (double)(found - declared) : (double)(declared - found);
    if (off <= slack) {
        return ERR_OK;
    }
    return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                       "it says that it holds %llu entries, its bits say %s%llu; %s",
                       (unsigned long long)declared,
                       found == UINT64_MAX ? "at least " : "",
                       (unsigned long long)found, next_step);
}

/* Mean and variance of the set bits of a line after `throws` bits at random places. */
static void occupied(double throws, double *retmean, double *retvariance)
{
    const double n = BLOOM_LINE_BITS;
    double empty = n * pow(1 - 1 / n, throws);
    double pairs = n * (n - 1) * pow(1 - 2 / n, throws);
    *retmean = n - empty;
    *retvariance = pairs + empty - empty * empty;
}

/* Variance of the set bits over lines that take `keys` keys each on the mean, as a Poisson process
 * distributes them, with `bits` bits a key. */
static double variance_of(double keys, double bits)
{
    double p = exp(-keys);
    double sum = 0;
    double sum_squares = 0;
    unsigned last = (unsigned)(keys + POISSON_TAIL * sqrt(keys)) + POISSON_TAIL;
    for (unsigned j = 0; j <= last; j++) {
        double mean = 0;
        double variance = 0;
        occupied(j * bits, &mean, &variance);
        sum += p * mean;
        sum_squares += p * (variance + mean * mean);
        p *= keys / (double)(j + 1);
    }
    return sum_squares - sum * sum;
}

static double variance_found(const struct bloom *b, uint64_t lines)
{
    const uint64_t words = BLOOM_LINE_BYTES / sizeof(uint64_t);
    double sum = 0;
    double sum_squares = 0;
    for (uint64_t i = 0; i < lines; i++) {
        int set = 0;
        for (uint64_t w = i * words; w < (i + 1) * words; w++) {
            set += __builtin_popcountll(b->words[w]);
        }
        sum += set;
        sum_squares += (double)set * set;
    }
    double mean = sum / (double)lines;
    return sum_squares / (double)lines - mean * mean;
}

/* Keys lie unevenly on lines; bits that somebody made up lie evenly. */
static enum err check_lines(const struct bloomfile *f, const char *path,
                            struct errinfo *reterr)
{
    const struct bloom *b = &f->bloom;
    double per_key = b->layout == BLOOM_ONE_LINE ? 1 : 2; /* lines */
    uint64_t lines = b->nlines < LINES_SAMPLED ? b->nlines : LINES_SAMPLED;
    double keys = (double)f->facts.entries * per_key / (double)b->nlines;
    if (b->layout != BLOOM_ONE_LINE && b->layout != BLOOM_TWO_LINES) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "its layout is %s; of peers only one-line and two-lines are "
                           "taken; %s",
                           bloom_layout_name(b->layout), next_step);
    }
    if (lines < LINES_LEAST || keys < KEYS_LEAST || keys > KEYS_MOST ||
        variance_found(b, lines) >= variance_of(keys, b->k / per_key) / 2) {
        return ERR_OK;
    }
    return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                       "its bits lie more evenly than those of entries do: it was made "
                       "up; %s",
                       next_step);
}

static enum err check_guarded(const struct bloomfile *f,
                              const struct peer_filter_belief *b, const char *path,
                              struct errinfo *reterr)
{
    uint8_t hit[GUARDED_BATCH];
    uint64_t hits = 0;
    for (size_t done = 0; done < b->nguarded; done += GUARDED_BATCH) {
        size_t n =
            b->nguarded - done < GUARDED_BATCH ? b->nguarded - done : GUARDED_BATCH;
        bloom_test_batch(&f->bloom, b->guarded + done, n, hit);
        for (size_t i = 0; i < n; i++) {
            hits += hit[i];
        }
    }
    double expected =
        (double)b->nguarded *
        bloom_error(f->bloom.layout, f->bloom.nlines, f->bloom.k, f->facts.entries);
    if ((double)hits <= expected + DEVIATIONS * sqrt(expected) + GUARDED_SLACK) {
        return ERR_OK;
    }
    return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                       "it takes %llu of %zu protected names for entries where chance "
                       "explains %.2g; %s",
                       (unsigned long long)hits, b->nguarded, expected, next_step);
}

static enum err check_plan(const struct bloomfile *f, const char *path,
                           struct errinfo *reterr)
{
    double planned =
        bloom_error(f->bloom.layout, f->bloom.nlines, f->bloom.k, f->facts.capacity);
    if (planned <= PEER_FILTER_ERROR_MAX) {
        return ERR_OK;
    }
    return errinfo_set(
        reterr, ERR_CORRUPT, path, 0,
        "it is planned to take %.3g %% of all values for entries, %.3g %% "
        "are accepted of a peer; %s",
        planned * 100, PEER_FILTER_ERROR_MAX * 100, next_step);
}

enum err peer_filter_believe(const char *path, const struct peer_filter_belief *b,
                             struct errinfo *reterr)
{
    struct bloomfile f = {0};
    struct bloomfile_want want = {
        .key = b->key,
        .digest_key = b->key->id,
        .role = b->is_revoked ? BLOOMFILE_REVOKED : BLOOMFILE_SPAM,
        .hold = BLOOMFILE_MAP, /* it may be as large as a snapshot */
        .next = next_step,
    };
    enum err e = bloomfile_open(&f, path, &want, reterr);
    THEN(e, check_plan(&f, path, reterr));
    THEN(e, bloomfile_judge(&f, path, next_step, reterr));
    THEN(e, check_fill(&f, path, reterr));
    THEN(e, check_lines(&f, path, reterr));
    THEN(e, check_guarded(&f, b, path, reterr));
    bloomfile_close(&f);
    return e;
}

/* ---- into a list ---- */

static uint64_t *filter_number(struct list_current *c, bool is_revoked)
{
    return is_revoked ? &c->member_revoked : &c->member_spam;
}

enum err list_member_path(const struct list_writer *w, bool is_revoked,
                          char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    struct list_current c = w->current;
    uint64_t number = *filter_number(&c, is_revoked);
    if (number == 0) {
        return errinfo_set(reterr, ERR_NOT_FOUND, w->dir, 0,
                           "the list has no such filter of peers");
    }
    return list_file_path(ret, w->dir, is_revoked ? LIST_FILE_REVOKED : LIST_FILE_SPAM,
                          number, reterr);
}

enum err list_member_replace(struct list_writer *w, bool is_revoked, const char *path,
                             struct errinfo *reterr)
{
    char place[FILE_PATH_MAX];
    enum err e = writer_check(w, reterr);
    THEN(e, writer_settled(w, reterr));
    if (e != ERR_OK) {
        return e;
    }
    struct list_current c = w->current;
    uint64_t last = c.member_spam > c.member_revoked ? c.member_spam : c.member_revoked;
    *filter_number(&c, is_revoked) = last + 1;
    e = list_file_path(place, w->dir, is_revoked ? LIST_FILE_REVOKED : LIST_FILE_SPAM,
                       last + 1, reterr);
    if (e == ERR_OK && rename(path, place) != 0) {
        e = errinfo_errno(reterr, place, "cannot put a peer's filter into its place");
    }
    THEN(e, file_sync_dir(w->dir, reterr));
    return e == ERR_OK ? member_name(w, &c, reterr) : e;
}

/* ---- out of a list ---- */

struct fill {
    struct bloomfile *filter;
    enum entry_status status;
    uint64_t n;
};

static bool on_digest(void *context, const struct digest *d, enum entry_status status)
{
    struct fill *f = context;
    if (status == f->status) {
        bloom_add(&f->filter->bloom, d);
        f->n++;
    }
    return true;
}

static enum err write_filter(struct bloomfile *f, const struct hashkey *key,
                             bool is_revoked, uint64_t entries, const char *path,
                             struct errinfo *reterr)
{
    uint64_t planned = f->facts.capacity;
    f->facts = (struct bloomfile_facts){
        .role = is_revoked ? BLOOMFILE_REVOKED : BLOOMFILE_SPAM,
        .digest_key = key->id,
        .position_key = key->id,
        .entries = entries,
        .capacity = planned > entries ? planned : entries,
    };
    return bloomfile_write(f, path, reterr);
}

enum err list_member_peek(const char *path, uint64_t *retcreated_s,
                          uint64_t *retentries, struct errinfo *reterr)
{
    struct bloomfile_shape shape;
    enum err e = bloomfile_peek(path, next_step, &shape, reterr);
    if (e == ERR_OK) {
        *retcreated_s = shape.facts.created_s;
        *retentries = shape.facts.entries;
    }
    return e;
}

static enum err filter_new(uint64_t most, const struct hashkey *key,
                           struct bloomfile *ret, struct errinfo *reterr)
{
    uint64_t nlines = 0;
    unsigned k = 0;
    enum err e =
        bloom_size(BLOOM_ONE_LINE, most, PEER_FILTER_ERROR_MAX / 10, &nlines, &k);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, "", 0, "too many entries for one filter");
    }
    e = bloomfile_new(ret, BLOOM_ONE_LINE, nlines, k, key, reterr);
    if (e == ERR_OK) {
        ret->facts.capacity = most;
    }
    return e;
}

enum err list_member_empty(const struct hashkey *key, bool is_revoked, const char *path,
                           struct errinfo *reterr)
{
    struct bloomfile f = {0};
    enum err e = filter_new(1, key, &f, reterr);
    THEN(e, write_filter(&f, key, is_revoked, 0, path, reterr));
    bloomfile_close(&f);
    return e;
}

enum err list_member_make(const struct list_reader *r, bool is_revoked,
                          const char *path, uint64_t *retentries,
                          struct errinfo *reterr)
{
    struct bloomfile f = {0};
    struct fill x = {.filter = &f, .status = is_revoked ? ENTRY_REVOKED : ENTRY_LISTED};
    uint64_t totals[2];
    list_reader_totals(r, &totals[0], &totals[1]);
    uint64_t most = totals[is_revoked] + totals[is_revoked] / MAKE_HEADROOM + 1;
    enum err e = filter_new(most, list_reader_key(r), &f, reterr);
    THEN(e, list_reader_each_digest(r, on_digest, &x, reterr));
    THEN(e, write_filter(&f, list_reader_key(r), is_revoked, x.n, path, reterr));
    bloomfile_close(&f);
    if (e == ERR_OK) {
        *retentries = x.n;
    }
    return e;
}
