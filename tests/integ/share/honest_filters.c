/*
 * honest_filters - filters of honest peers are all accepted; forged ones of the same shape are not.
 *
 * Usage: honest_filters COUNT [SEED]. Makes COUNT filters of random digests, with 0 to 60,000
 * entries, in both line layouts, planned for errors of 1e-5 to 0.01 and filled from a tenth of the
 * plan to all of it, beside 50 protected names. Every hundredth is also written with random bits of
 * the same fill. If it has 256 lines or more, it must be refused.
 * Prints one JSON line; exit 1 at the first wrong answer, with the seed.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/random.h"
#include "core/filter/bloomfile_merge.h"
#include "core/list/peer_filter.h"

#include "tests/unit/tempdir.h"

enum { ENTRIES_MAX = 60000, GUARDED = 50, LIE_EVERY = 100, LINES_JUDGED = 256 };

struct run {
    char path[128];
    struct hashkey key;
    struct digest guarded[GUARDED];
    uint64_t state;
    uint64_t honest;
    uint64_t lies;
    struct errinfo why;
};

static uint64_t next_random(struct run *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static struct digest random_digest(struct run *r)
{
    struct digest d;
    uint64_t half[2] = {next_random(r), next_random(r)};
    memcpy(d.b, half, sizeof(half));
    return d;
}

static enum err write_and_ask(struct run *r, struct bloomfile *f)
{
    struct peer_filter_belief b = {
        .key = &r->key, .guarded = r->guarded, .nguarded = GUARDED};
    f->facts.role = BLOOMFILE_SPAM;
    f->facts.digest_key = r->key.id;
    f->facts.position_key = r->key.id;
    enum err e = bloomfile_write(f, r->path, &r->why);
    return e == ERR_OK ? peer_filter_believe(r->path, &b, &r->why) : ERR_IO;
}

/* False: a wrong answer. */
static bool try_one(struct run *r, uint64_t number)
{
    struct bloomfile f = {0};
    struct bloomfile lie = {0};
    uint64_t planned = 1 + next_random(r) % ENTRIES_MAX;
    uint64_t entries = planned / 10 + next_random(r) % (planned - planned / 10 + 1);
    double error = pow(10, -2.05 - (double)(next_random(r) % 295) / 100);
    enum bloom_layout layout = next_random(r) % 2 ? BLOOM_ONE_LINE : BLOOM_TWO_LINES;
    uint64_t nlines = 0;
    unsigned k = 0;
    if (bloom_size(layout, planned, error, &nlines, &k) != ERR_OK ||
        bloomfile_new(&f, layout, nlines, k, &r->key, &r->why) != ERR_OK) {
        return false;
    }
    for (uint64_t i = 0; i < entries; i++) {
        struct digest d = random_digest(r);
        bloom_add(&f.bloom, &d);
    }
    f.facts.entries = entries;
    f.facts.capacity = planned;
    bool is_good = write_and_ask(r, &f) == ERR_OK;
    r->honest++;
    double fill = bloom_fill(&f.bloom, nlines);
    if (is_good && number % LIE_EVERY == 0 && nlines >= LINES_JUDGED &&
        entries > 4 * nlines &&
        bloomfile_new(&lie, layout, nlines, k, &r->key, &r->why) == ERR_OK) {
        uint64_t *words = lie.memory;
        for (uint64_t bit = 0; bit < nlines * BLOOM_LINE_BITS; bit++) {
            bool is_set = (double)(next_random(r) >> 11) < fill * 0x1p53;
            words[bit / 64] |= (uint64_t)is_set << bit % 64;
        }
        lie.facts.entries = bloomfile_estimate(&lie);
        lie.facts.capacity = lie.facts.entries > planned ? lie.facts.entries : planned;
        is_good = write_and_ask(r, &lie) == ERR_CORRUPT;
        r->lies++;
        if (!is_good) {
            errinfo_set(&r->why, ERR_OK, "", 0, "made-up bits were believed");
        }
    }
    bloomfile_close(&lie);
    bloomfile_close(&f);
    return is_good;
}

int main(int argc, char **argv)
{
    static struct run r;
    char dir[64];
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t seed = 0;
    random_bytes(&seed, sizeof(seed));
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
    r.state = seed;
    if (count == 0 || !tempdir_make_fast(dir)) {
        (void)fputs("usage: honest_filters COUNT [SEED]\n", stderr);
        return 2;
    }
    (void)snprintf(r.path, sizeof(r.path), "%s/filter", dir);
    r.key.id = 7;
    memset(r.key.bytes, 0x31, HASHKEY_BYTES);
    for (unsigned i = 0; i < GUARDED; i++) {
        r.guarded[i] = random_digest(&r);
    }
    bool is_good = true;
    for (uint64_t i = 0; i < count && is_good; i++) {
        is_good = try_one(&r, i);
    }
    (void)tempdir_remove(dir);
    if (!is_good) {
        (void)fprintf(stderr,
                      "honest_filters: seed %" PRIu64 ", filter %" PRIu64 ": %s\n",
                      seed, r.honest, r.why.text);
        return 1;
    }
    printf("{\"honest\": %" PRIu64 ", \"made_up\": %" PRIu64 ", \"seed\": %" PRIu64
           "}\n",
           r.honest, r.lies, seed);
    return 0;
}
