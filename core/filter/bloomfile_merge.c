/* bloomfile_merge - field by field, then word by word. */
#include "core/filter/bloomfile_merge.h"

#include <math.h>

#include "core/base/random.h"
#include "core/filter/bloomfile_internal.h"

enum {
    FILL_LINES = 1 << 20, /* sampled: the estimate is good to a tenth of a percent */
    PROBE_BATCH = 256,
    PROBE_SLACK = 16, /* hits that are always allowed */
    TIMES_FORMULA = 3,
    ESTIMATE_PART = 50, /* an estimate may be 2 % off, ... */
    ESTIMATE_FEW = 64,  /* ... and in small filters by some entries */
    FIELD_TEXT = 48
};

const char *bloomfile_role_name(enum bloomfile_role role)
{
    static const char *const names[] = {
        [BLOOMFILE_BASE] = "base",
        [BLOOMFILE_SPAM] = "spam",
        [BLOOMFILE_REVOKED] = "revoked",
    };
    return role >= BLOOMFILE_BASE && role <= BLOOMFILE_REVOKED ? names[role] : "other";
}

struct bloomfile_shape bloomfile_shape_of(const struct bloomfile *f)
{
    return (struct bloomfile_shape){
        .layout = f->bloom.layout,
        .nlines = f->bloom.nlines,
        .k = f->bloom.k,
        .hash = BLOOMFILE_HASH_MIX,
        .facts = f->facts,
    };
}

/* ---- what must be equal ---- */

/* Room for the planned entries of two filters. */
static uint64_t items_for(uint64_t a, uint64_t b)
{
    return bloom_items_step(a > UINT64_MAX - b ? UINT64_MAX : a + b);
}

/* The one that was made for more is the measure of both. */
static enum err differ_size(struct errinfo *reterr, const char *path,
                            const struct bloomfile_shape *its,
                            const struct bloomfile_shape *there)
{
    return errinfo_set(
        reterr, ERR_RANGE, path, 0,
        "cannot be merged: its size m in bits is %" PRIu64
        ", the other filter's is %" PRIu64
        "; make both with the same --layout and --error, and with --items %" PRIu64,
        its->nlines * BLOOM_LINE_BITS, there->nlines * BLOOM_LINE_BITS,
        items_for(its->facts.capacity, there->facts.capacity));
}

static enum err differs(struct errinfo *reterr, const char *path, const char *field,
                        const char *its, const char *there)
{
    bool is_key = strstr(field, "key") != NULL;
    const char *next = "make both with the same --layout, --error and --items";
    if (is_key) {
        next = "only filters of one ring can be merged";
    } else if (strcmp(field, "role") == 0) {
        next = "merge those of each role by themselves";
    }
    return errinfo_set(reterr, is_key ? ERR_KEY : ERR_RANGE, path, 0,
                       "cannot be merged: its %s is %s, the other filter's is %s; %s",
                       field, its, there, next);
}

static enum err differ_number(struct errinfo *reterr, const char *path,
                              const char *field, uint64_t its, uint64_t there)
{
    const bool is_key = strstr(field, "key") != NULL;
    char a[FIELD_TEXT];
    char b[FIELD_TEXT];
    (void)snprintf(a, sizeof(a), is_key ? "%08" PRIx64 : "%" PRIu64, its);
    (void)snprintf(b, sizeof(b), is_key ? "%08" PRIx64 : "%" PRIu64, there);
    return differs(reterr, path, field, a, b);
}

enum err bloomfile_alike(const struct bloomfile_shape *there, const char *path,
                         const struct bloomfile_shape *its, struct errinfo *reterr)
{
    const struct bloomfile_facts *t = &there->facts;
    const struct bloomfile_facts *i = &its->facts;
    if (i->role != t->role) {
        return differs(reterr, path, "role", bloomfile_role_name(i->role),
                       bloomfile_role_name(t->role));
    }
    if (its->layout != there->layout) {
        return differs(reterr, path, "layout", bloom_layout_name(its->layout),
                       bloom_layout_name(there->layout));
    }
    if (its->nlines != there->nlines) {
        return differ_size(reterr, path, its, there);
    }
    const struct {
        const char *field;
        uint64_t its;
        uint64_t there;
    } numbers[] = {
        {"number of probes k", its->k, there->k},
        {"hash", (uint64_t)its->hash, (uint64_t)there->hash},
        {"number of planned items", i->capacity, t->capacity},
        {"period", i->period, t->period},
        {"digests' key", i->digest_key, t->digest_key},
        {"positions' key", i->position_key, t->position_key},
    };
    for (size_t n = 0; n < LENGTH(numbers); n++) {
        if (numbers[n].its != numbers[n].there) {
            return differ_number(reterr, path, numbers[n].field, numbers[n].its,
                                 numbers[n].there);
        }
    }
    return ERR_OK;
}

/* ---- how full ---- */

/* Entries that leave this share of bits empty. Lines take a key's bits together, so some of them
 * fall on each other; elsewhere they hardly do. */
static double entries_for(const struct bloom *b, double empty)
{
    double bits = BLOOM_LINE_BITS;
    double lines = (double)b->nlines;
    double k = b->k;
    double sets = k; /* lines' worth of bits times 512 that a key sets */
    if (b->layout == BLOOM_ONE_LINE) {
        sets = bits * (1 - pow(1 - 1 / bits, k));
    } else if (b->layout == BLOOM_TWO_LINES) {
        sets = 2 * bits * (1 - pow(1 - 1 / bits, k / 2));
    }
    return -log(empty) * lines * bits / sets;
}

static uint64_t estimate_of(const struct bloom *b, double fill)
{
    if (fill >= 1) {
        return UINT64_MAX;
    }
    return (uint64_t)llround(entries_for(b, 1 - fill));
}

uint64_t bloomfile_estimate(const struct bloomfile *f)
{
    return estimate_of(&f->bloom, bloom_fill(&f->bloom, FILL_LINES));
}

/* Share of set bits of both together, over the lines that bloom_fill would sample. */
static double union_fill(const struct bloom *a, const struct bloom *b)
{
    uint64_t lines = a->nlines < FILL_LINES ? a->nlines : FILL_LINES;
    const uint64_t words = BLOOM_LINE_BYTES / sizeof(uint64_t);
    uint64_t set = 0;
    for (uint64_t i = 0; i < lines; i++) {
        uint64_t line = (uint64_t)((double)a->nlines / (double)lines * (double)i);
        for (uint64_t w = line * words; w < (line + 1) * words; w++) {
            set += (uint64_t)__builtin_popcountll(a->words[w] | b->words[w]);
        }
    }
    return (double)set / ((double)lines * BLOOM_LINE_BITS);
}

/* The estimate within what is known for sure. Full filters of the same entries stay full. */
static uint64_t settle_entries(uint64_t estimate, uint64_t most,
                               const struct bloomfile_facts *a,
                               const struct bloomfile_facts *b)
{
    uint64_t least = a->entries > b->entries ? a->entries : b->entries;
    uint64_t n = estimate < most ? estimate : most;
    n = n > least ? n : least;
    uint64_t slack = a->capacity / ESTIMATE_PART + ESTIMATE_FEW;
    return n > a->capacity && n - a->capacity <= slack ? a->capacity : n;
}

enum err bloomfile_merge(struct bloomfile *dst, const struct bloomfile *src,
                         const char *path, struct errinfo *reterr)
{
    struct bloomfile_shape there = bloomfile_shape_of(dst);
    struct bloomfile_shape its = bloomfile_shape_of(src);
    enum err e = bloomfile_alike(&there, path, &its, reterr);
    if (e != ERR_OK) {
        return e;
    }
    uint64_t most = dst->facts.entries > UINT64_MAX - src->facts.entries
                        ? UINT64_MAX
                        : dst->facts.entries + src->facts.entries;
    uint64_t both = estimate_of(&dst->bloom, union_fill(&dst->bloom, &src->bloom));
    both = settle_entries(both, most, &dst->facts, &src->facts);
    if (both > dst->facts.capacity) {
        return errinfo_set(reterr, ERR_LIMIT, path, 0,
                           "with it the filter would hold about %" PRIu64
                           " entries where %" PRIu64 " were planned; make the filters "
                           "with --items %" PRIu64 " or more",
                           both, dst->facts.capacity, bloom_items_step(both));
    }
    e = bloom_or(&dst->bloom, &src->bloom);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, path, 0, "cannot be merged: %s", err_text(e));
    }
    dst->facts.entries = both;
    return ERR_OK;
}

/* ---- checking a filter from outside ---- */

static uint64_t mix_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Hits of BLOOMFILE_PROBES digests that nobody can foresee. */
static uint64_t probe(const struct bloom *b)
{
    struct digest d[PROBE_BATCH];
    uint8_t hit[PROBE_BATCH];
    uint64_t seed = 0;
    uint64_t hits = 0;
    random_bytes(&seed, sizeof(seed));
    for (unsigned done = 0; done < BLOOMFILE_PROBES; done += PROBE_BATCH) {
        for (unsigned i = 0; i < PROBE_BATCH; i++) {
            uint64_t half[2] = {mix_next(&seed), mix_next(&seed)};
            memcpy(d[i].b, half, sizeof(half));
        }
        bloom_test_batch(b, d, PROBE_BATCH, hit);
        for (unsigned i = 0; i < PROBE_BATCH; i++) {
            hits += hit[i];
        }
    }
    return hits;
}

enum err bloomfile_judge(const struct bloomfile *f, const char *path, const char *next,
                         struct errinfo *reterr)
{
    const struct bloom *b = &f->bloom;
    const struct bloomfile_facts *facts = &f->facts;
    if (facts->entries > facts->capacity) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "it holds %" PRIu64 " entries where %" PRIu64
                           " were planned; %s",
                           facts->entries, facts->capacity, next);
    }
    double planned = bloom_error(b->layout, b->nlines, b->k, facts->capacity);
    if (!(planned <= BLOOMFILE_ERROR_MAX)) {
        return errinfo_set(
            reterr, ERR_CORRUPT, path, 0,
            "it is planned to take %.3g %% of all values for entries, at "
            "most %.3g %% are accepted; %s",
            planned * 100, BLOOMFILE_ERROR_MAX * 100, next);
    }
    double expected = bloom_error(b->layout, b->nlines, b->k, facts->entries);
    uint64_t hits = probe(b);
    if ((double)hits > TIMES_FORMULA * expected * BLOOMFILE_PROBES + PROBE_SLACK) {
        return errinfo_set(
            reterr, ERR_CORRUPT, path, 0,
            "it takes %.3g %% of random values for entries where its %" PRIu64
            " entries explain %.3g %%: it is damaged or poisoned; %s",
            (double)hits * 100 / BLOOMFILE_PROBES, facts->entries, expected * 100,
            next);
    }
    return ERR_OK;
}

/* ---- files ---- */

static const char *const take_next = "get it anew from whoever made it";

static enum err take_peek(const char *path, struct bloomfile_shape *ret,
                          struct errinfo *reterr)
{
    enum err e = bloomfile_peek(path, take_next, ret, reterr);
    if (e == ERR_OK && ret->facts.role == BLOOMFILE_BASE) {
        (void)errinfo_set(reterr, ERR_UNSUPPORTED, path, 0,
                          "this filter stands before a list's index and is of no use "
                          "elsewhere; make one for others with `gillnet list export "
                          "LIST --filter FILE`");
        e = ERR_UNSUPPORTED;
    }
    return e;
}

enum err bloomfile_take(struct bloomfile *f, const char *path,
                        const struct hashkey *key, struct errinfo *reterr)
{
    struct bloomfile_shape shape;
    enum err e = take_peek(path, &shape, reterr);
    if (e != ERR_OK) {
        return e;
    }
    const struct hashkey its = {.id = shape.facts.position_key};
    struct bloomfile_want want = {
        .key = key ? key : &its,
        .digest_key = key ? key->id : 0,
        .next = key ? "it is of another ring, or get it anew from whoever made it"
                    : take_next,
    };
    e = bloomfile_open(f, path, &want, reterr);
    if (e == ERR_OK) {
        e = bloomfile_judge(f, path, take_next, reterr);
        if (e != ERR_OK) {
            bloomfile_close(f);
        }
    }
    return e;
}

enum err bloomfile_merge_file(struct bloomfile *dst, const char *path,
                              const struct hashkey *key, struct errinfo *reterr)
{
    struct bloomfile_shape its;
    struct bloomfile_shape there = bloomfile_shape_of(dst);
    struct bloomfile src = {0};
    enum err e = take_peek(path, &its, reterr);
    THEN(e, bloomfile_alike(&there, path, &its, reterr));
    THEN(e, bloomfile_take(&src, path, key, reterr));
    THEN(e, bloomfile_merge(dst, &src, path, reterr));
    bloomfile_close(&src);
    return e;
}
