/*
 * bench_index - the exact index alone: bulk load, confirmed hits and misses, bytes an entry.
 *
 * Usage: bench_index [ENTRIES]   (default 10000000). One JSON line. Workload: ENTRIES random
 * digests in order, computed when they are needed, so that neither a sort nor their reading is
 * timed; look-ups in random order, of listed and of absent digests, with the page cache warm.
 * Timed: index_builder_new to index_builder_commit (everything synced, sums written); index_open
 * (all sums verified); index_get on one thread, then on two. The baseline in the same run is
 * LMDB by itself: the same digests and bytes with MDB_APPEND into a file of its own, one commit
 * for each 65536, one sync, no sums, no checksums of records; then one transaction for all its
 * look-ups. A hit is counted only when the record is the one that was put in.
 */
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/version.h"
#include "core/store/index.h"

enum {
    ENTRIES = 10000000,
    LOOKUPS = 2000000,
    BATCH = 65536,
    RECORD_BYTES = 24,
    THREADS = 2,
    PATH_BYTES = 300
};
#define PLAIN_MAP (UINT64_C(1) << 36)

static int remove_one(const char *path, const struct stat *st, int kind,
                      struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* The digest of entry i of n: rising with i. salt 0: listed, else absent. */
static struct digest digest_of(uint64_t i, uint64_t n, uint64_t salt)
{
    struct digest d;
    uint64_t step = UINT64_MAX / n;
    uint64_t high = i * step + mixed(i) % step;
    uint64_t low = mixed(i + n) ^ salt;
    for (int at = 0; at < 8; at++) {
        d.b[at] = (uint8_t)(high >> (56 - 8 * at));
        d.b[8 + at] = (uint8_t)(low >> (56 - 8 * at));
    }
    return d;
}

static struct index_record record_of(uint64_t i)
{
    return (struct index_record){
        .status = 1,
        .class_type = 9,
        .segment = 2,
        .offset = (uint32_t)(i * 100),
        .first_seen_s = 1700000000,
    };
}

static double seconds_since(uint64_t start_us)
{
    return (double)(clock_mono_us() - start_us) / 1e6;
}

static int failed(const struct errinfo *info)
{
    (void)fprintf(stderr, "bench_index: %s: %s\n", info->source, info->text);
    return 1;
}

static int plain_failed(int rc)
{
    (void)fprintf(stderr, "bench_index: LMDB: %s\n", mdb_strerror(rc));
    return 1;
}

struct result {
    double load_s;
    double open_s;
    double hits_per_s;
    double misses_per_s;
    double hits2_per_s; /* two threads together */
    uint64_t wrong;
    uint64_t bytes;
};

static int build(const char *path, uint64_t n, struct result *r)
{
    struct index_builder *b = NULL;
    struct errinfo info;
    uint64_t start = clock_mono_us();
    enum err e = index_builder_new(path, n, &b, &info);
    for (uint64_t i = 0; i < n && e == ERR_OK; i++) {
        struct digest d = digest_of(i, n, 0);
        struct index_record record = record_of(i);
        e = index_builder_add(b, &d, &record, &info);
    }
    if (e == ERR_OK) {
        e = index_builder_commit(&b, &info);
    }
    r->load_s = seconds_since(start);
    index_builder_abort(&b);
    struct stat st;
    r->bytes = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
    return e == ERR_OK ? 0 : failed(&info);
}

struct look {
    const struct index *ix;
    uint64_t n;
    uint64_t salt;
    uint64_t seed;
    uint64_t wrong;
};

static void *look(void *context)
{
    struct look *l = context;
    for (uint64_t i = 0; i < LOOKUPS; i++) {
        uint64_t which = mixed(i + l->seed) % l->n;
        struct digest d = digest_of(which, l->n, l->salt);
        struct index_record record = {0};
        enum err e = index_get(l->ix, &d, &record);
        bool is_right = l->salt
                            ? e == ERR_NOT_FOUND
                            : e == ERR_OK && record.offset == record_of(which).offset;
        l->wrong += !is_right;
    }
    return NULL;
}

static int ask(const char *path, uint64_t n, struct result *r)
{
    struct index *ix = NULL;
    struct errinfo info;
    uint64_t start = clock_mono_us();
    if (index_open(path, &ix, &info) != ERR_OK) {
        return failed(&info);
    }
    r->open_s = seconds_since(start);
    struct look warm = {.ix = ix, .n = n, .seed = 3};
    (void)look(&warm);
    struct look hits = {.ix = ix, .n = n, .seed = 1};
    start = clock_mono_us();
    (void)look(&hits);
    r->hits_per_s = LOOKUPS / seconds_since(start);
    struct look misses = {.ix = ix, .n = n, .seed = 2, .salt = 1};
    start = clock_mono_us();
    (void)look(&misses);
    r->misses_per_s = LOOKUPS / seconds_since(start);
    r->wrong = warm.wrong + hits.wrong + misses.wrong;

    pthread_t thread[THREADS];
    struct look each[THREADS];
    int started = 0;
    start = clock_mono_us();
    for (; started < THREADS; started++) {
        each[started] = (struct look){.ix = ix, .n = n, .seed = 10 + (uint64_t)started};
        if (pthread_create(&thread[started], NULL, look, &each[started]) != 0) {
            break;
        }
    }
    for (int i = 0; i < started; i++) {
        (void)pthread_join(thread[i], NULL);
        r->wrong += each[i].wrong;
    }
    r->hits2_per_s = started * (double)LOOKUPS / seconds_since(start);
    index_close(&ix);
    return 0;
}

/* ---- LMDB by itself ---- */

static int plain_load(MDB_env *env, uint64_t n)
{
    uint8_t value[RECORD_BYTES] = {0};
    MDB_txn *txn = NULL;
    MDB_dbi dbi = 0;
    int rc = MDB_SUCCESS;
    for (uint64_t i = 0; i < n && rc == MDB_SUCCESS;) {
        rc = mdb_txn_begin(env, NULL, 0, &txn);
        if (rc == MDB_SUCCESS) {
            rc = mdb_dbi_open(txn, NULL, 0, &dbi);
        }
        for (unsigned k = 0; k < BATCH && i < n && rc == MDB_SUCCESS; k++, i++) {
            struct digest d = digest_of(i, n, 0);
            memcpy(value, &i, sizeof(i));
            MDB_val key = {DIGEST_BYTES, d.b};
            MDB_val data = {RECORD_BYTES, value};
            rc = mdb_put(txn, dbi, &key, &data, MDB_APPEND);
        }
        if (rc == MDB_SUCCESS) {
            rc = mdb_txn_commit(txn);
        }
    }
    return rc == MDB_SUCCESS ? mdb_env_sync(env, 1) : rc;
}

static int plain_ask(MDB_env *env, uint64_t n, uint64_t seed, uint64_t *retfound)
{
    MDB_txn *txn = NULL;
    MDB_dbi dbi = 0;
    int rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);
    if (rc != MDB_SUCCESS) {
        return rc;
    }
    rc = mdb_dbi_open(txn, NULL, 0, &dbi);
    for (uint64_t i = 0; i < LOOKUPS && rc == MDB_SUCCESS; i++) {
        struct digest d = digest_of(mixed(i + seed) % n, n, 0);
        MDB_val key = {DIGEST_BYTES, d.b};
        MDB_val data;
        *retfound += mdb_get(txn, dbi, &key, &data) == MDB_SUCCESS;
    }
    mdb_txn_abort(txn);
    return rc;
}

static int plain(const char *path, uint64_t n, struct result *r)
{
    MDB_env *env = NULL;
    unsigned flags =
        MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOMEMINIT | MDB_NOLOCK | MDB_NORDAHEAD;
    uint64_t found = 0;
    int rc = mdb_env_create(&env);
    if (rc != MDB_SUCCESS) {
        return plain_failed(rc);
    }
    rc = mdb_env_set_mapsize(env, PLAIN_MAP);
    if (rc == MDB_SUCCESS) {
        rc = mdb_env_open(env, path, flags, 0600);
    }
    uint64_t start = clock_mono_us();
    if (rc == MDB_SUCCESS) {
        rc = plain_load(env, n);
    }
    r->load_s = seconds_since(start);
    if (rc == MDB_SUCCESS) {
        rc = plain_ask(env, n, 3, &found);
    }
    start = clock_mono_us();
    if (rc == MDB_SUCCESS) {
        rc = plain_ask(env, n, 1, &found);
    }
    r->hits_per_s = LOOKUPS / seconds_since(start);
    r->wrong = 2 * (uint64_t)LOOKUPS - found;
    mdb_env_close(env);
    return rc == MDB_SUCCESS ? 0 : plain_failed(rc);
}

static void print(uint64_t n, const struct result *r, const struct result *p)
{
    struct utsname machine = {0};
    (void)uname(&machine);
    printf("{\"bench\":\"index\",\"workload\":\"%" PRIu64
           " random digests in order; %d look-ups in random order, page cache warm\","
           "\"build\":\"" GILLNET_VERSION "\",\"machine\":\"%s %ld cpus\","
           "\"entries\":%" PRIu64
           ",\"load_entries_per_s\":%.0f,\"bytes_per_entry\":%.2f,"
           "\"open_ms\":%.1f,\"open_mb_per_s\":%.0f,\"hits_per_s\":%.0f,"
           "\"misses_per_s\":%.0f,\"hits_per_s_2_threads\":%.0f,\"wrong\":%" PRIu64
           ",\"lmdb_load_entries_per_s\":%.0f,\"lmdb_hits_per_s\":%.0f,"
           "\"load_times_lmdb\":%.2f,\"hit_times_lmdb\":%.2f}\n",
           n, LOOKUPS, machine.machine, sysconf(_SC_NPROCESSORS_ONLN), n,
           (double)n / r->load_s, (double)r->bytes / (double)n, r->open_s * 1e3,
           (double)r->bytes / 1e6 / r->open_s, r->hits_per_s, r->misses_per_s,
           r->hits2_per_s, r->wrong + p->wrong, (double)n / p->load_s, p->hits_per_s,
           r->load_s / p->load_s, p->hits_per_s / r->hits_per_s);
}

static int measure(const char *dir, uint64_t n)
{
    char path[PATH_BYTES];
    char plain_path[PATH_BYTES];
    struct result own = {0};
    struct result lmdb = {0};
    (void)snprintf(path, sizeof(path), "%s/index", dir);
    (void)snprintf(plain_path, sizeof(plain_path), "%s/plain", dir);
    if (build(path, n, &own) != 0 || ask(path, n, &own) != 0) {
        return 1;
    }
    if (plain(plain_path, n, &lmdb) != 0) {
        return 1;
    }
    print(n, &own, &lmdb);
    return own.wrong + lmdb.wrong != 0;
}

int main(int argc, char **argv)
{
    char dir[256];
    const char *tmp = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): one thread */
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : ENTRIES;
    (void)snprintf(dir, sizeof(dir), "%s/gillnet-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (base_init() != ERR_OK || n == 0 || !mkdtemp(dir)) {
        (void)fputs("usage: bench_index [ENTRIES]\n", stderr);
        return 1;
    }
    int status = measure(dir, n);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return status;
}
