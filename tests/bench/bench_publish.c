/*
 * bench_publish - bytes an entry and time of a publication, for publisher and subscriber.
 *
 * Usage: bench_publish [ENTRIES [CHANGES]]   (1000000, 10000). URLs like those of phishing feeds: a
 * random host of a random domain, a path of words. Publishes all, then again with CHANGES of them
 * replaced, and follows both in memory. All files are in a folder in memory if the system has one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/message/feature/feature.h"
#include "core/ring/publish/publish.h"

#include "tests/unit/trust/identity_seed.h"

enum { TEXT_MAX = 96 };

struct site {
    char dir[64];
    char state[128];
    char place[128];
    struct identity self;
    struct keyring keys;
    uint64_t now_ms;
};

static uint64_t next_random(uint64_t *x)
{
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *x >> 33;
}

static void make_url(uint64_t *random, char ret[TEXT_MAX])
{
    static const char *const words[] = {"login", "secure", "update", "account",
                                        "pay",   "parcel", "verify", "index"};
    uint64_t a = next_random(random);
    uint64_t b = next_random(random);
    (void)snprintf(ret, TEXT_MAX, "%s-%" PRIx64 ".%s%" PRIx64 ".example/%s/%s/%" PRIu64,
                   words[a & 7], a, words[b & 7], b % 100000, words[(a >> 3) & 7],
                   words[(b >> 3) & 7], b % 1000);
}

static bool publish(struct site *s, const struct textlist *entries, const char *what)
{
    struct publish_options o = {.state_dir = s->state,
                                .place = s->place,
                                .self = &s->self,
                                .keys = &s->keys,
                                .now_ms = s->now_ms,
                                .valid_ms = 86400000};
    struct publish_result r;
    struct publish *p = NULL;
    struct errinfo why = {.text = ""};
    uint64_t begin = clock_mono_us();
    enum err e = publish_open(&o, &p, &why);
    if (e == ERR_OK) {
        e = publish_entries(p, "bench", entries, &r, &why);
    }
    if (e == ERR_OK) {
        e = publish_commit(p, &why);
    }
    publish_close(&p);
    if (e != ERR_OK) {
        (void)fprintf(stderr, "bench_publish: %s: %s\n", why.source, why.text);
        return false;
    }
    uint64_t records = r.steps > 0 ? r.steps : r.entries;
    printf("%-10s %8" PRIu64 " records %10" PRIu64
           " bytes %6.2f bytes a record %6.2f s\n",
           what, records, r.bytes, (double)r.bytes / (double)records,
           (double)(clock_mono_us() - begin) / 1e6);
    s->now_ms += 1000;
    return true;
}

/* The texts of a list of n entries; the first n of both seeds are the same. */
static bool fill(struct textlist *t, char *texts, size_t n, size_t changed)
{
    uint64_t random = 1;
    uint64_t other = 99;
    *t = (struct textlist){0};
    for (size_t i = 0; i < n; i++) {
        char *text = texts + i * TEXT_MAX;
        make_url(&random, text);
        if (i < changed) {
            make_url(&other, text);
        }
        struct list_record r = {
            .after = ENTRY_STANDS, .type = FEATURE_url, .text = slice_str(text)};
        if (textlist_add(t, &r) != ERR_OK) {
            return false;
        }
    }
    return textlist_sort(t) == ERR_OK;
}

static bool run(struct site *s, size_t n, size_t changes)
{
    char *texts = calloc(n, TEXT_MAX);
    struct textlist t = {0};
    bool ok = texts != NULL && fill(&t, texts, n, 0);
    size_t bytes = t.bytes;
    ok = ok && publish(s, &t, "all");
    textlist_fini(&t);
    ok = ok && fill(&t, texts, n, changes) && publish(s, &t, "changes");
    ok = ok && publish(s, &t, "nothing");
    textlist_fini(&t);
    free(texts);
    printf("text       %.1f bytes an entry before packing\n",
           (double)bytes / (double)n);
    return ok;
}

int main(int argc, char **argv)
{
    struct site s = {.dir = "/dev/shm/gillnet-bench-XXXXXX"};
    const uint8_t seed[32] = {1};
    size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    size_t changes = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;

    if (base_init() != ERR_OK || mkdtemp(s.dir) == NULL) {
        return 1;
    }
    (void)snprintf(s.state, sizeof(s.state), "%s/state", s.dir);
    (void)snprintf(s.place, sizeof(s.place), "%s/place", s.dir);
    s.keys = (struct keyring){.n = 1, .ring = {{.id = 1, .bytes = {1}}}};
    s.now_ms = clock_wall_us() / 1000;
    identity_of_seed(seed, &s.self);
    if (mkdir(s.state, 0700) != 0) {
        return 1;
    }
    printf("folder %s (remove it)\n", s.dir);
    return run(&s, n, changes) ? 0 : 1;
}
