#include "core/lab/layout.h"

#include <math.h>

#include "core/lab/cuckoo.h"
#include "core/lab/plan.h"

enum { BITS_PER_KEY_MAX = 128, BUCKET_BITS = CUCKOO_BUCKET_BYTES * 8 };

static const double bits_per_key_min = 0.5;

static bool is_bloom(enum layout layout)
{
    return layout != LAYOUT_CUCKOO;
}

const char *layout_name(unsigned layout)
{
    return layout == LAYOUT_CUCKOO ? "cuckoo" : bloom_layout_name(layout);
}

bool layout_of_name(const char *name, enum layout *ret)
{
    for (unsigned i = LAYOUT_FIRST; i < LAYOUT_END; i++) {
        if (strcmp(layout_name(i), name) == 0) {
            *ret = (enum layout)i;
            return true;
        }
    }
    return false;
}

/* ---- sizes ---- */

static enum err check_wish(const struct layout_wish *wish, struct errinfo *reterr)
{
    enum err e = plan_check_items((double)wish->items, reterr);

    if (e == ERR_OK && !(wish->error <= 0 && wish->bits_per_key > 0)) {
        e = plan_check_error(wish->error, reterr);
    }
    if (e == ERR_OK && wish->bits_per_key != 0 &&
        !(wish->bits_per_key >= bits_per_key_min &&
          wish->bits_per_key <= BITS_PER_KEY_MAX)) {
        return errinfo_set(reterr, ERR_RANGE, "bits per key", 0,
                           "give %.1f to %d; 16 bring the error below 0.1 %%",
                           bits_per_key_min, BITS_PER_KEY_MAX);
    }
    return e;
}

static enum err refuse_error(enum layout layout, struct errinfo *reterr)
{
    return errinfo_set(
        reterr, ERR_RANGE, "error", 0,
        "%s does not come down to it within %d bits a key; allow a larger "
        "error or name another layout",
        layout_name(layout), BITS_PER_KEY_MAX);
}

static enum err plan_cuckoo(const struct layout_wish *wish, struct layout_size *ret,
                            struct errinfo *reterr)
{
    double n = (double)wish->items;
    uint64_t least = cuckoo_buckets_for(wish->items);
    double buckets = (double)least;

    if (wish->k != 0) {
        return errinfo_set(reterr, ERR_RANGE, "k", 0,
                           "a cuckoo filter has no probes to choose; leave k out");
    }
    if (wish->bits_per_key > 0) {
        buckets = floor(n * wish->bits_per_key / BUCKET_BITS);
        if (buckets < (double)least) {
            return errinfo_set(reterr, ERR_RANGE, "bits per key", 0,
                               "a cuckoo filter of this many keys needs %.2f",
                               ceil(100.0 * (double)least * BUCKET_BITS / n) / 100);
        }
    } else {
        /* a larger filter is emptier, and fewer fingerprints are met */
        double met = log1p(-wish->error) / log1p(-1.0 / CUCKOO_FINGERPRINTS);
        buckets = fmax(buckets, ceil(2 * n / met));
    }
    if (buckets * BUCKET_BITS > n * BITS_PER_KEY_MAX && buckets > (double)least) {
        return refuse_error(LAYOUT_CUCKOO, reterr);
    }
    ret->bytes = (uint64_t)buckets * CUCKOO_BUCKET_BYTES;
    ret->error = cuckoo_error((uint64_t)buckets, wish->items);
    return ERR_OK;
}

/* The k of the least error; two lines take even ones only. */
static unsigned best_k(enum bloom_layout layout, uint64_t nlines, uint64_t items)
{
    unsigned best = 0;
    double least = HUGE_VAL;

    for (unsigned k = 1; k <= BLOOM_K_MAX; k++) {
        double error = HUGE_VAL;
        if (bloom_check(layout, nlines, k) == ERR_OK) {
            error = bloom_error(layout, nlines, k, items);
        }
        if (error < least) {
            least = error;
            best = k;
        }
    }
    return best > 0 ? best : 2;
}

static enum err plan_bloom(enum bloom_layout layout, const struct layout_wish *wish,
                           struct layout_size *ret, struct errinfo *reterr)
{
    uint64_t nlines = 1;
    enum err e = ERR_OK;

    ret->k = wish->k;
    if (wish->k != 0 && bloom_check(layout, 1, wish->k) != ERR_OK) {
        return errinfo_set(
            reterr, ERR_RANGE, "k", 0,
            "the layout %s does not take %u probes; 1 to %d, even and to "
            "%d for two-lines",
            bloom_layout_name(layout), wish->k, BLOOM_K_MAX, BLOOM_TWO_LINES_K_MAX);
    }
    if (wish->bits_per_key > 0) {
        nlines = bloom_lines_for(wish->items, wish->bits_per_key);
        if (wish->k == 0) {
            ret->k = best_k(layout, nlines, wish->items);
        }
    } else if (wish->k != 0) {
        nlines = bloom_lines_for_error(layout, wish->items, wish->error, wish->k);
    } else {
        e = bloom_size(layout, wish->items, wish->error, &nlines, &ret->k);
    }
    if (e != ERR_OK || nlines == 0) {
        return refuse_error((enum layout)layout, reterr);
    }
    ret->bytes = nlines * BLOOM_LINE_BYTES;
    ret->error = bloom_error(layout, nlines, ret->k, wish->items);
    return ERR_OK;
}

enum err layout_plan(enum layout layout, const struct layout_wish *wish,
                     struct layout_size *ret, struct errinfo *reterr)
{
    struct layout_size size = {.layout = layout, .deletes = !is_bloom(layout)};
    enum err e = check_wish(wish, reterr);

    if (e != ERR_OK) {
        return e;
    }
    if (layout_name(layout) == NULL) {
        return errinfo_set(reterr, ERR_RANGE, "layout", 0, "there is no such layout");
    }
    e = is_bloom(layout) ? plan_bloom((enum bloom_layout)layout, wish, &size, reterr)
                         : plan_cuckoo(wish, &size, reterr);
    if (e != ERR_OK) {
        return e;
    }
    size.bits = size.bytes * 8;
    size.bits_per_key = (double)size.bits / (double)wish->items;
    *ret = size;
    return ERR_OK;
}

/* ---- times ---- */

struct figure {
    enum layout layout;
    unsigned k;
    double log_bytes;
    struct layout_time time;
};

static const struct figure figures[] = {
#define LAYOUT_TIME(layout, log_bytes, k, miss, hit, add) \
    {LAYOUT_##layout, k, log_bytes, {miss, hit, add}},
#include "core/lab/layout_time.def"
#undef LAYOUT_TIME
};
enum { FIGURES = LENGTH(figures) };

const char layout_time_origin[] =
    "a virtual machine of two cores with AVX-512 and huge pages (ADR 0018)";

static double between(double a, double b, double share)
{
    return a + (b - a) * share;
}

void layout_time(const struct layout_size *size, struct layout_time *ret)
{
    double log_bytes = log2((double)size->bytes);
    const struct figure *below = NULL;
    const struct figure *above = NULL;
    double share = 0;
    double probes = 1;

    for (unsigned i = 0; i < FIGURES; i++) {
        const struct figure *f = &figures[i];
        if (f->layout != size->layout) {
            continue;
        }
        if (below == NULL || f->log_bytes <= log_bytes) {
            below = f;
        }
        above = f;
        if (f->log_bytes > log_bytes) {
            break;
        }
    }
    if (above->log_bytes > below->log_bytes) {
        share = fmax(0, (log_bytes - below->log_bytes) /
                            (above->log_bytes - below->log_bytes));
    }
    /* where every probe is a line of its own, a hit and an addition read k of them */
    if (size->layout == LAYOUT_CLASSIC || size->layout == LAYOUT_PARTITIONED) {
        probes = (double)size->k / below->k;
    }
    ret->miss_ns = between(below->time.miss_ns, above->time.miss_ns, share);
    ret->hit_ns = probes * between(below->time.hit_ns, above->time.hit_ns, share);
    ret->add_ns = probes * between(below->time.add_ns, above->time.add_ns, share);
}
