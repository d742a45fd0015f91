/*
 * bench_list - the list room alone: an import, look-ups, and the memory of a reader.
 *
 * Usage: bench_list [ENTRIES]   (default 1000000). One JSON line. Workload: ENTRIES distinct URLs
 * of about 45 bytes go into a new list in TMPDIR (or /tmp). It times list_import_begin to
 * list_import_commit, opening with all checksums, and look-ups of listed and of absent digests in
 * batches of 32, with hits confirmed. Memory is the growth of RssAnon + RssShmem of this process by
 * an open reader, after malloc_trim, and the size of the filter and recent mappings.
 * absent_filtered is the share of as many absent URLs, each with its host, of which no key passes
 * the list's filters.
 */
#include <ftw.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/list/listset.h"

enum {
    PATH = 320,
    BATCH = 32,
    ENTRIES = 1000000,
    LOOKUPS = 3276800,
    TEXT = 80,
    LISTED = 1,
    OTHER = 2
};

static int remove_one(const char *path, const struct stat *st, int kind,
                      struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

static struct feature_entry entry_number(unsigned stream, uint64_t n, char text[TEXT])
{
    uint64_t x = n * 0x9e3779b97f4a7c15;
    int length = snprintf(
        text, TEXT, "host-%u-%" PRIx64 ".example/login/%" PRIu64 ".html", stream, x, n);
    return (struct feature_entry){.class_type = FEATURE_url,
                                  .text = slice_of(text, (size_t)length)};
}

static int failed(const struct errinfo *info)
{
    (void)fprintf(stderr, "bench_list: %s: %s\n", info->source, info->text);
    return 1;
}

static long status_kib(const char *name)
{
    char line[256];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof(line), f)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            kib = strtol(line + strlen(name) + 1, NULL, 10);
        }
    }
    if (f) {
        (void)fclose(f);
    }
    return kib;
}

static long rss_kib(void)
{
    malloc_trim(0);
    return status_kib("RssAnon") + status_kib("RssShmem");
}

static int import(const char *dir, const struct keyring *keys, uint64_t count,
                  uint64_t *rettime_us, struct errinfo *info)
{
    struct list_writer *w = NULL;
    struct list_import *im = NULL;
    struct list_import_result result;
    char text[TEXT];
    if (list_writer_open(dir, SLICE_LIT("bench"), keys, true, &w, info) != ERR_OK) {
        return failed(info);
    }
    uint64_t start = clock_mono_us();
    enum err e = list_import_begin(w, SLICE_LIT("bench"), &im, info);
    for (uint64_t n = 0; e == ERR_OK && n < count; n++) {
        struct feature_entry entry = entry_number(LISTED, n, text);
        e = list_import_add(im, &entry, 0, info);
    }
    if (e == ERR_OK) {
        e = list_import_commit(&im, NULL, NULL, &result, info);
    }
    *rettime_us = clock_mono_us() - start;
    list_import_abort(&im);
    list_writer_close(&w);
    return e == ERR_OK ? 0 : failed(info);
}

/* ns per digest, filters and confirmation; *retconfirmed counts. */
static double look(const struct list_reader *r, unsigned stream, uint64_t count,
                   uint64_t *retconfirmed)
{
    enum { ROUND = 64 * BATCH };
    static struct digest d[ROUND];
    uint8_t hit[BATCH];
    uint64_t confirmed = 0;
    uint64_t spent = 0;
    for (uint64_t done = 0; done < LOOKUPS; done += ROUND) {
        for (uint64_t i = 0; i < ROUND; i++) {
            char text[TEXT];
            struct feature_entry e =
                entry_number(stream, (done + i) * 7919 % count, text);
            digest_make(list_reader_key(r), e.class_type, e.text, &d[i]);
        }
        uint64_t start = clock_mono_us();
        for (uint64_t at = 0; at < ROUND; at += BATCH) {
            list_reader_test(r, d + at, BATCH, hit);
            for (unsigned i = 0; i < BATCH; i++) {
                confirmed +=
                    hit[i] && list_reader_confirm(r, &d[at + i], 1) == LIST_CONFIRMED;
            }
        }
        spent += clock_mono_us() - start;
    }
    *retconfirmed = confirmed;
    return (double)spent * 1000 / LOOKUPS;
}

/* Number of absent URLs, each with its host as in a message, that all filters reject. As many are
 * tried as are listed. The look-ups go through the snapshot, as for mail. */
static double filtered(const char *dir, const struct keyring *keys, uint64_t count)
{
    char conf[PATH];
    struct buf text;
    struct config *config = NULL;
    struct config_errors errors = {0};
    struct errinfo info;
    uint64_t passed = 0;
    (void)snprintf(conf, sizeof(conf), "%s/gillnet.conf", dir);
    buf_init(&text, PATH);
    buf_printf(&text, "state_dir = \"%s\";\n", dir);
    enum err e = file_write_atomic(conf, buf_slice(&text), 0600, &info);
    buf_fini(&text);
    struct list_manager *h = list_manager_new(dir, keys);
    if (e != ERR_OK || !h || config_load(conf, NULL, &config, &errors) != ERR_OK ||
        list_manager_refresh(h, config, &info) != ERR_OK) {
        return -1;
    }
    const struct listset *set = list_manager_acquire(h);
    struct arena *arena = arena_new(1 << 20);
    for (uint64_t i = 0; arena && i < count; i++) {
        char url[TEXT];
        struct list_hits hits;
        arena_reset(arena);
        struct slice u = entry_number(OTHER, i, url).text;
        struct featureset *fs = featureset_new(arena, 8);
        (void)featureset_add(fs, FEATURE_url_exact, u);
        (void)featureset_add(fs, FEATURE_url, u);
        (void)featureset_add(fs, FEATURE_url_host, slice_head(u, slice_find(u, '/')));
        passed +=
            listset_lookup(set, fs, 0, arena, &hits) != ERR_OK || hits.filter_hits > 0;
    }
    arena_free(&arena);
    list_manager_release(h, &set);
    list_manager_free(&h);
    config_release(&config);
    return 1 - (double)passed / (double)count;
}

static int measure(const char *dir, uint64_t count)
{
    struct keyring keys;
    struct errinfo info;
    struct list_reader *r = NULL;
    struct list_stat s;
    uint64_t import_us = 0;
    uint64_t listed = 0;
    uint64_t absent = 0;
    if (keyring_load_or_create(dir, &keys, &info) != ERR_OK) {
        return failed(&info);
    }
    if (import(dir, &keys, count, &import_us, &info) != 0) {
        return 1;
    }
    long before = rss_kib();
    uint64_t start = clock_mono_us();
    if (list_reader_open(dir, SLICE_LIT("bench"), &keys, &r, &info) != ERR_OK) {
        return failed(&info);
    }
    uint64_t open_us = clock_mono_us() - start;
    double hit_ns = look(r, LISTED, count, &listed);
    double miss_ns = look(r, OTHER, count, &absent);
    long grown = rss_kib() - before;
    list_reader_stat(r, &s);
    printf("{\"bench\":\"list\",\"entries\":%" PRIu64 ",\"import_s\":%.3f,"
           "\"import_per_s\":%.0f,\"open_ms\":%.1f,\"hit_ns\":%.0f,\"miss_ns\":%.0f,"
           "\"lost\":%" PRIu64 ",\"absent_confirmed\":%" PRIu64
           ",\"rss_grown_kib\":%ld,"
           "\"filter_bytes\":%" PRIu64 ",\"index_bytes\":%" PRIu64
           ",\"log_bytes\":%" PRIu64 ",\"error\":%.6f,\"absent_filtered\":%.5f}\n",
           s.entries, (double)import_us / 1e6, (double)count * 1e6 / (double)import_us,
           (double)open_us / 1e3, hit_ns, miss_ns, LOOKUPS - listed, absent, grown,
           s.filter_bytes, s.index_bytes, s.log_bytes, s.error_now,
           filtered(dir, &keys, count));
    list_reader_close(&r);
    return 0;
}

int main(int argc, char **argv)
{
    char dir[256];
    const char *tmp = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): one thread */
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : ENTRIES;
    (void)snprintf(dir, sizeof(dir), "%s/gillnet-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (base_init() != ERR_OK || count == 0 || !mkdtemp(dir)) {
        (void)fputs("usage: bench_list [ENTRIES]\n", stderr);
        return 1;
    }
    int status = measure(dir, count);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status;
}
