/* experiment - one round: keys, counts, positions, insertions in an order, and wrong counts. */
#include "core/lab/experiment.h"

#include <assert.h>
#include <math.h>

#include "core/base/prng.h"
#include "core/lab/scheme.h"

enum {
    CONSTANT_COUNT = 20, /* of experiments 1 to 3 */
    COUNT_MAX = 60,      /* of a key: below the cap of 6 bits */
    SLOTS = 32768,       /* of the table that keeps keys different; a power of two */
    LINE = 64
};

/* How often a key is inserted. */
enum law { LAW_CONSTANT, LAW_UNIFORM, LAW_POISSON };

struct plan {
    double mean; /* LAW_POISSON */
    enum law law;
    unsigned most; /* LAW_UNIFORM: 0..most */
    unsigned
        zeros; /* LAW_UNIFORM: fitted, keys that the paper's draw left out, of 10,000 */
    enum experiment_reading readings[2]; /* EXPERIMENT_ANY: there is none */
    bool is_weighted;
};

static const struct plan plans[] = {
    [1] = {.readings = {EXPERIMENT_ROUNDS}},
    [2] = {.readings = {EXPERIMENT_IN_A_ROW}},
    [3] = {.readings = {EXPERIMENT_SHUFFLED}},
    [4] = {.law = LAW_UNIFORM,
           .most = 20,
           .zeros = 537,
           .is_weighted = true,
           .readings = {EXPERIMENT_SHUFFLED, EXPERIMENT_IN_A_ROW}},
    [5] = {.law = LAW_UNIFORM,
           .most = 20,
           .zeros = 537,
           .is_weighted = true,
           .readings = {EXPERIMENT_IN_A_ROW}},
    [6] = {.law = LAW_POISSON,
           .mean = 10,
           .is_weighted = true,
           .readings = {EXPERIMENT_SHUFFLED, EXPERIMENT_IN_A_ROW}},
    [7] = {.law = LAW_POISSON,
           .mean = 20,
           .is_weighted = true,
           .readings = {EXPERIMENT_SHUFFLED, EXPERIMENT_IN_A_ROW}},
    [8] = {.law = LAW_UNIFORM,
           .most = 40,
           .zeros = 257,
           .is_weighted = true,
           .readings = {EXPERIMENT_SHUFFLED, EXPERIMENT_IN_A_ROW}},
};

struct experiment_scratch {
    uint32_t table[SLOTS]; /* key + 1, or 0 */
    uint32_t keys[EXPERIMENT_KEYS];
    uint32_t counts[EXPERIMENT_KEYS];
    uint64_t positions[EXPERIMENT_KEYS][EXPERIMENT_K_MAX];
    uint64_t total;    /* of counts */
    uint64_t inserted; /* keys with a count */
    uint16_t sequence[(size_t)EXPERIMENT_KEYS * COUNT_MAX];
    uint64_t *words; /* owned; of the filter */
    size_t nwords;
};

const char *experiment_reading_name(enum experiment_reading reading)
{
    static const char *const names[] = {[EXPERIMENT_ANY] = "any",
                                        [EXPERIMENT_ROUNDS] = "rounds",
                                        [EXPERIMENT_IN_A_ROW] = "in-a-row",
                                        [EXPERIMENT_SHUFFLED] = "shuffled"};
    return names[reading];
}

size_t experiment_columns(unsigned number,
                          struct experiment_column ret[EXPERIMENT_COLUMNS_MAX])
{
    size_t n = 1;

    assert(number >= EXPERIMENT_FIRST && number <= EXPERIMENT_LAST);
    ret[0] = (struct experiment_column){COUNTING_INTUITIVE, EXPERIMENT_ANY};
    for (size_t i = 0; i < 2 && plans[number].readings[i] != EXPERIMENT_ANY; i++) {
        ret[n++] =
            (struct experiment_column){COUNTING_REFINED, plans[number].readings[i]};
    }
    return n;
}

enum err experiment_new(struct experiment_scratch **ret)
{
    struct experiment_scratch *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return ERR_NOMEM;
    }
    *ret = s;
    return ERR_OK;
}

void experiment_free(struct experiment_scratch **s)
{
    if (*s != NULL) {
        free((*s)->words);
        free(*s);
        *s = NULL;
    }
}

/* ---- what is drawn ---- */

/* False: the key is there already. */
static bool take_key(struct experiment_scratch *s, uint32_t key)
{
    uint64_t at = prng_mix(key) % SLOTS;

    for (; s->table[at] != 0; at = (at + 1) % SLOTS) {
        if (s->table[at] == key + 1) {
            return false;
        }
    }
    s->table[at] = key + 1;
    return true;
}

static void draw_keys(struct experiment_scratch *s, struct prng *p)
{
    memset(s->table, 0, sizeof(s->table));
    for (size_t i = 0; i < EXPERIMENT_KEYS; i++) {
        do {
            s->keys[i] = (uint32_t)prng_below(p, SCHEME_PRIME_PAPER);
        } while (!take_key(s, s->keys[i]));
    }
}

unsigned experiment_fitted_zeros(unsigned number)
{
    return number <= EXPERIMENT_LAST ? plans[number].zeros : 0;
}

/* Knuth's: how many shares can be multiplied before the product falls below e^-mean. */
static uint32_t draw_poisson(struct prng *p, double mean)
{
    double least = exp(-mean);
    double product = prng_share(p);
    uint32_t n = 0;

    while (product > least) {
        product *= prng_share(p);
        n++;
    }
    return n;
}

static uint32_t draw_count(const struct plan *plan, bool has_fitted_zeros, size_t i,
                           struct prng *p)
{
    uint32_t n = CONSTANT_COUNT;

    switch (plan->law) {
    case LAW_CONSTANT:
        break;
    case LAW_UNIFORM:
        if (has_fitted_zeros) {
            n = i < plan->zeros ? 0 : 1 + (uint32_t)prng_below(p, plan->most);
        } else {
            n = (uint32_t)prng_below(p, plan->most + 1U);
        }
        break;
    case LAW_POISSON:
        do {
            n = draw_poisson(p, plan->mean);
        } while (n > COUNT_MAX); /* about one key in 10^12 */
        break;
    }
    return n;
}

static void draw_counts(struct experiment_scratch *s, const struct experiment *e,
                        struct prng *p)
{
    s->total = 0;
    s->inserted = 0;
    for (size_t i = 0; i < EXPERIMENT_KEYS; i++) {
        s->counts[i] = draw_count(&plans[e->number], e->has_fitted_zeros, i, p);
        s->total += s->counts[i];
        s->inserted += s->counts[i] > 0;
    }
}

/* c of one hash function. Knuth: c / p lies in 1/4 to 3/7 or in 4/7 to 3/4, so that keys which
 * follow one another spread over the whole table. */
static uint64_t draw_multiplier(bool is_knuth, struct prng *p)
{
    uint64_t c = 0;
    bool is_taken = false;

    while (!is_taken) {
        c = 1 + prng_below(p, SCHEME_PRIME_PAPER - 1);
        is_taken = !is_knuth ||
                   (4 * c > SCHEME_PRIME_PAPER && 7 * c < 3 * SCHEME_PRIME_PAPER) ||
                   (7 * c > 4 * SCHEME_PRIME_PAPER && 4 * c < 3 * SCHEME_PRIME_PAPER);
    }
    return c;
}

static enum err draw_positions(struct experiment_scratch *s, const struct experiment *e,
                               struct prng *p)
{
    struct scheme scheme;
    struct scheme_params params = {
        .kind = SCHEME_UNIVERSAL_PAPER, .m = e->m, .k = e->k};
    struct scheme_constant constants[EXPERIMENT_K_MAX];
    uint64_t positions[SCHEME_K_MAX];
    enum err error = ERR_OK;

    for (unsigned i = 0; i < e->k; i++) {
        constants[i].c = draw_multiplier(e->has_knuth_constants, p);
        constants[i].d = prng_below(p, SCHEME_PRIME_PAPER);
    }
    error = scheme_init_with(&scheme, &params, constants, NULL);
    for (size_t i = 0; error == ERR_OK && i < EXPERIMENT_KEYS; i++) {
        scheme_positions_of_number(&scheme, s->keys[i], positions);
        memcpy(s->positions[i], positions, sizeof(s->positions[i]));
    }
    return error;
}

/* ---- orders ---- */

static void insert_rounds(const struct experiment_scratch *s, struct counting *c)
{
    bool is_more = true;

    for (uint32_t round = 0; is_more; round++) {
        is_more = false;
        for (size_t i = 0; i < EXPERIMENT_KEYS; i++) {
            if (s->counts[i] > round) {
                (void)counting_add_at(c, s->positions[i], 1);
                is_more = true;
            }
        }
    }
}

/* The keys are drawn at random: their order is one too. */
static void insert_in_a_row(const struct experiment_scratch *s, struct counting *c)
{
    for (size_t i = 0; i < EXPERIMENT_KEYS; i++) {
        if (s->counts[i] > 0) {
            (void)counting_add_at(c, s->positions[i], s->counts[i]);
        }
    }
}

static void insert_shuffled(struct experiment_scratch *s, struct prng *p,
                            struct counting *c)
{
    size_t n = 0;

    for (size_t i = 0; i < EXPERIMENT_KEYS; i++) {
        for (uint32_t j = 0; j < s->counts[i]; j++) {
            s->sequence[n++] = (uint16_t)i;
        }
    }
    for (size_t left = n; left > 0; left--) { /* Fisher, Yates */
        size_t at = (size_t)prng_below(p, left);
        uint16_t key = s->sequence[at];
        s->sequence[at] = s->sequence[left - 1];
        (void)counting_add_at(c, s->positions[key], 1);
    }
}

/* ---- what comes of it ---- */

static void look_at_cells(const struct counting *c, uint32_t m,
                          struct experiment_tally *ret)
{
    for (uint32_t i = 0; i < m; i++) {
        uint32_t cell = (uint32_t)counting_cell(c, i);
        ret->max_cell = cell > ret->max_cell ? cell : ret->max_cell;
        ret->high_cells += cell > EXPERIMENT_HIGH_CELL;
    }
}

static void count_errors(const struct experiment_scratch *s, const struct counting *c,
                         bool is_weighted, struct experiment_tally *ret)
{
    uint64_t weight = 0;
    uint32_t wrong = 0;

    for (size_t i = 0; i < EXPERIMENT_KEYS; i++) {
        if (s->counts[i] > 0 &&
            counting_get_at(c, s->positions[i]).count != s->counts[i]) {
            wrong++;
            weight += s->counts[i];
        }
    }
    *ret = (struct experiment_tally){.rate = is_weighted
                                                 ? (double)weight / (double)s->total
                                                 : (double)wrong / EXPERIMENT_KEYS,
                                     .distinct = (double)wrong / (double)s->inserted,
                                     .wrong = wrong};
}

static enum err make_filter(struct experiment_scratch *s, const struct experiment *e,
                            enum counting_variant variant, struct counting *ret)
{
    struct counting_shape shape = {
        .variant = variant,
        .layout = COUNTING_FLAT,
        .cell_bits = e->looks_at_cells ? EXPERIMENT_WIDE_BITS : EXPERIMENT_CELL_BITS,
        .k = e->k,
        .nchunks = 1,
        .chunk_cells = e->m};
    size_t n = (size_t)counting_words(&shape);

    if (n > s->nwords) {
        size_t bytes = (n * sizeof(uint64_t) + LINE - 1) / LINE * LINE;
        free(s->words);
        s->nwords = 0;
        s->words = aligned_alloc(LINE, bytes);
        if (s->words == NULL) {
            return ERR_NOMEM;
        }
        s->nwords = n;
    }
    memset(s->words, 0, n * sizeof(uint64_t));
    counting_init(ret, &shape, s->words, NULL, NULL);
    return ERR_OK;
}

static enum err run_column(struct experiment_scratch *s, const struct experiment *e,
                           const struct experiment_column *column, struct prng *p,
                           struct experiment_tally *ret)
{
    struct counting c;
    enum err error = make_filter(s, e, column->variant, &c);

    if (error != ERR_OK) {
        return error;
    }
    switch (column->reading) {
    case EXPERIMENT_ROUNDS:
        insert_rounds(s, &c);
        break;
    case EXPERIMENT_SHUFFLED:
        insert_shuffled(s, p, &c);
        break;
    case EXPERIMENT_ANY:
    case EXPERIMENT_IN_A_ROW:
        insert_in_a_row(s, &c);
        break;
    }
    count_errors(s, &c, plans[e->number].is_weighted, ret);
    if (e->looks_at_cells) {
        look_at_cells(&c, e->m, ret);
    }
    return ERR_OK;
}

enum err experiment_round(struct experiment_scratch *s, const struct experiment *e,
                          uint64_t round,
                          struct experiment_tally ret[EXPERIMENT_COLUMNS_MAX])
{
    struct experiment_column columns[EXPERIMENT_COLUMNS_MAX];
    struct prng p;
    enum err error = ERR_OK;

    if (e->number < EXPERIMENT_FIRST || e->number > EXPERIMENT_LAST || e->k == 0 ||
        e->k > EXPERIMENT_K_MAX || e->m == 0 || e->m > EXPERIMENT_CELLS_MAX) {
        return ERR_RANGE;
    }
    /* One stream for each round of each cell of each table. */
    prng_init(&p, e->seed,
              prng_mix((uint64_t)e->number << 56 | (uint64_t)e->k << 48 | e->m) +
                  round);
    draw_keys(s, &p);
    draw_counts(s, e, &p);
    error = draw_positions(s, e, &p);
    size_t n = experiment_columns(e->number, columns);
    for (size_t i = 0; i < n && error == ERR_OK; i++) {
        error = run_column(s, e, &columns[i], &p, &ret[i]);
    }
    return error;
}
