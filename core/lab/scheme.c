#include "core/lab/scheme.h"

#include <assert.h>

#include "core/base/checksum.h"
#include "core/base/random.h"
#include "core/filter/mix.h"

enum {
    KEY_TYPE = 0xffff, /* no feature type: never the digest of an entry */
    NAMES = SCHEME_SHA1_CHUNKS + 1
};

static const char *const names[NAMES] = {
    [SCHEME_KEYED] = "keyed",
    [SCHEME_UNIVERSAL] = "universal",
    [SCHEME_UNIVERSAL_PAPER] = "universal-paper",
    [SCHEME_MD5_CHUNKS] = "md5",
    [SCHEME_SHA1_CHUNKS] = "sha1",
};

/* ---- what a scheme can reach ---- */

const char *scheme_name(enum scheme_kind kind)
{
    return (unsigned)kind < NAMES ? names[kind] : NULL;
}

bool scheme_of_name(const char *name, enum scheme_kind *ret)
{
    for (int i = SCHEME_KEYED; i < NAMES; i++) {
        if (strcmp(names[i], name) == 0) {
            *ret = (enum scheme_kind)i;
            return true;
        }
    }
    return false;
}

static uint64_t prime_of(enum scheme_kind kind)
{
    return kind == SCHEME_UNIVERSAL_PAPER ? SCHEME_PRIME_PAPER : SCHEME_PRIME;
}

static unsigned sum_bits(enum scheme_kind kind)
{
    return kind == SCHEME_MD5_CHUNKS ? SCHEME_MD5_BITS : SCHEME_SHA1_BITS;
}

/* Whole bits of one chunk, as many as a position can use. */
static unsigned chunk_bits(const struct scheme_params *p)
{
    unsigned bits = sum_bits(p->kind) / p->k;

    return bits < 64 ? bits : 64;
}

/* Different values that one probe's hash can take before it is reduced to the part's size. */
static uint64_t values_of(const struct scheme_params *p)
{
    switch (p->kind) {
    case SCHEME_UNIVERSAL:
    case SCHEME_UNIVERSAL_PAPER:
        return prime_of(p->kind);
    case SCHEME_MD5_CHUNKS:
    case SCHEME_SHA1_CHUNKS:
        return chunk_bits(p) < 64 ? UINT64_C(1) << chunk_bits(p) : UINT64_MAX;
    case SCHEME_KEYED:
        break;
    }
    return UINT64_MAX;
}

static bool is_possible(const struct scheme_params *p)
{
    return scheme_name(p->kind) != NULL && p->m > 0 &&
           p->m <= UINT64_C(1) << SCHEME_BITS_LOG_MAX && p->k > 0 &&
           p->k <= SCHEME_K_MAX && (!p->is_partitioned || p->m >= p->k);
}

uint64_t scheme_utilisable(const struct scheme_params *p)
{
    uint64_t part = 0;
    uint64_t values = 0;

    if (!is_possible(p)) {
        return 0;
    }
    part = p->is_partitioned ? p->m / p->k : p->m;
    values = values_of(p);
    return (part < values ? part : values) * (p->is_partitioned ? p->k : 1);
}

static enum err refuse_impossible(const struct scheme_params *p, struct errinfo *reterr)
{
    if (scheme_name(p->kind) == NULL) {
        return errinfo_set(reterr, ERR_RANGE, "", 0, "there is no such hash scheme");
    }
    if (p->k == 0 || p->k > SCHEME_K_MAX) {
        return errinfo_set(reterr, ERR_RANGE, "", 0,
                           "k = %u probes: give 1 to %d; 10 suit an error of 0.1 %%",
                           p->k, SCHEME_K_MAX);
    }
    if (p->m == 0 || p->m > UINT64_C(1) << SCHEME_BITS_LOG_MAX) {
        return errinfo_set(reterr, ERR_RANGE, "", 0,
                           "m = %" PRIu64 " bits: give 1 to 2^%d", p->m,
                           SCHEME_BITS_LOG_MAX);
    }
    return errinfo_set(reterr, ERR_RANGE, "", 0,
                       "m = %" PRIu64 " bits cannot be split into %u parts: give more",
                       p->m, p->k);
}

enum err scheme_check(const struct scheme_params *p, struct errinfo *reterr)
{
    uint64_t reached = scheme_utilisable(p);

    if (reached == 0) {
        return refuse_impossible(p, reterr);
    }
    if (reached == p->m) {
        return ERR_OK;
    }
    if (p->is_partitioned && reached == p->m / p->k * p->k) {
        return errinfo_set(reterr, ERR_UNSUPPORTED, "", 0,
                           "%s hashing of %u equal parts reaches %" PRIu64
                           " of %" PRIu64 " bits; make m a multiple of k",
                           scheme_name(p->kind), p->k, reached, p->m);
    }
    return errinfo_set(reterr, ERR_UNSUPPORTED, "", 0,
                       "%s hashing with k = %u reaches %" PRIu64 " of %" PRIu64
                       " bits; use the keyed scheme%s",
                       scheme_name(p->kind), p->k, reached, p->m,
                       p->kind == SCHEME_UNIVERSAL_PAPER
                           ? ", or universal, whose prime is larger"
                           : ", or a smaller k");
}

/* ---- making one ---- */

static bool is_universal(enum scheme_kind kind)
{
    return kind == SCHEME_UNIVERSAL || kind == SCHEME_UNIVERSAL_PAPER;
}

/* 0 <= value < bound, all equally likely. */
static uint64_t random_below(uint64_t bound)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t value = 0;

    do {
        random_bytes(&value, sizeof(value));
    } while (value >= limit);
    return value % bound;
}

/* The sum must be there before anything is placed by it: scheme_positions cannot fail. */
static enum err check_sum(enum scheme_kind kind, struct errinfo *reterr)
{
    uint8_t sum[SHA1_BYTES];
    enum err e = ERR_OK;

    if (kind == SCHEME_MD5_CHUNKS) {
        e = md5_sum(SLICE_NONE, sum);
    } else if (kind == SCHEME_SHA1_CHUNKS) {
        e = sha1_sum(SLICE_NONE, sum);
    }
    return e == ERR_OK
               ? e
               : errinfo_set(reterr, e, "", 0,
                             "OpenSSL on this machine does not offer %s; use the "
                             "keyed scheme",
                             scheme_name(kind));
}

static enum err prepare(struct scheme *s, const struct scheme_params *p,
                        struct errinfo *reterr)
{
    enum err e = scheme_check(p, reterr);

    THEN(e, check_sum(p->kind, reterr));
    if (e == ERR_OK) {
        memset(s, 0, sizeof(*s));
        s->params = *p;
        s->part = p->is_partitioned ? p->m / p->k : p->m;
        s->prime = prime_of(p->kind);
    }
    return e;
}

enum err scheme_init(struct scheme *s, const struct scheme_params *p,
                     const struct hashkey *key, struct errinfo *reterr)
{
    enum err e = prepare(s, p, reterr);

    if (e != ERR_OK) {
        return e;
    }
    s->key = *key;
    for (unsigned i = 0; i < p->k && is_universal(p->kind); i++) {
        s->constants[i].c = 1 + random_below(s->prime - 1);
        s->constants[i].d = random_below(s->prime);
    }
    return ERR_OK;
}

enum err scheme_init_with(struct scheme *s, const struct scheme_params *p,
                          const struct scheme_constant *constants,
                          struct errinfo *reterr)
{
    enum err e = ERR_OK;

    if (!is_universal(p->kind)) {
        return errinfo_set(reterr, ERR_UNSUPPORTED, "", 0,
                           "only universal hashing has constants");
    }
    e = prepare(s, p, reterr);
    for (unsigned i = 0; e == ERR_OK && i < p->k; i++) {
        if (constants[i].c == 0 || constants[i].c >= s->prime ||
            constants[i].d >= s->prime) {
            e = errinfo_set(reterr, ERR_RANGE, "", 0,
                            "constants of probe %u are outside 0 < c < p, 0 <= d < p",
                            i + 1);
        }
    }
    if (e == ERR_OK) {
        memcpy(s->constants, constants, p->k * sizeof(*constants));
    }
    return e;
}

/* ---- positions ---- */

static uint64_t base_of(const struct scheme *s, unsigned i)
{
    return s->params.is_partitioned ? s->part * i : 0;
}

/* value * n / 2^64: 0..n-1, all equally likely except for rounding. */
/* Enhanced double hashing (Dillinger, Manolios 2004): the step itself grows, so that two keys of
 * equal step or start do not share a whole sequence. */
static void keyed_positions(const struct scheme *s, struct slice key, uint64_t *ret)
{
    struct digest d;
    uint64_t half[2];

    digest_make(&s->key, KEY_TYPE, key, &d);
    memcpy(half, d.b, sizeof(half));
    for (unsigned i = 0; i < s->params.k; i++) {
        ret[i] = base_of(s, i) + mix_scale(half[0], s->part);
        half[0] += half[1];
        half[1] += i;
    }
}

/* Bits from..from+n of sum, n <= 64, the first byte's highest bit first. */
static uint64_t bits_at(const uint8_t *sum, unsigned from, unsigned n)
{
    uint64_t value = 0;

    for (unsigned i = from; i < from + n; i++) {
        value = value << 1 | ((unsigned)sum[i / 8] >> (7 - i % 8) & 1U);
    }
    return value;
}

static void chunk_positions(const struct scheme *s, struct slice key, uint64_t *ret)
{
    uint8_t sum[SHA1_BYTES] = {0};
    unsigned width = sum_bits(s->params.kind) / s->params.k;
    enum err e =
        s->params.kind == SCHEME_MD5_CHUNKS ? md5_sum(key, sum) : sha1_sum(key, sum);

    assert(e == ERR_OK); /* prepare has tried it */
    (void)e;
    for (unsigned i = 0; i < s->params.k; i++) {
        ret[i] =
            base_of(s, i) + bits_at(sum, width * i, chunk_bits(&s->params)) % s->part;
    }
}

void scheme_positions_of_number(const struct scheme *s, uint64_t x,
                                uint64_t ret[SCHEME_K_MAX])
{
    assert(is_universal(s->params.kind));
    x %= s->prime;
    for (unsigned i = 0; i < s->params.k; i++) {
        __extension__ unsigned __int128 v = s->constants[i].c;
        v = (v * x + s->constants[i].d) % s->prime;
        ret[i] = base_of(s, i) + (uint64_t)v % s->part;
    }
}

void scheme_positions(const struct scheme *s, struct slice key,
                      uint64_t ret[SCHEME_K_MAX])
{
    if (is_universal(s->params.kind)) {
        struct digest d;
        uint64_t x = 0;

        digest_make(&s->key, KEY_TYPE, key, &d);
        memcpy(&x, d.b, sizeof(x));
        scheme_positions_of_number(s, x, ret);
    } else if (s->params.kind == SCHEME_KEYED) {
        keyed_positions(s, key, ret);
    } else {
        chunk_positions(s, key, ret);
    }
}

/* ---- the classic filter ---- */

void scheme_add(uint64_t *words, const uint64_t *positions, unsigned k)
{
    for (unsigned i = 0; i < k; i++) {
        words[positions[i] / 64] |= UINT64_C(1) << (positions[i] % 64);
    }
}

bool scheme_test(const uint64_t *words, const uint64_t *positions, unsigned k)
{
    for (unsigned i = 0; i < k; i++) {
        if ((words[positions[i] / 64] >> (positions[i] % 64) & 1) == 0) {
            return false;
        }
    }
    return true;
}
