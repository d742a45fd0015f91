/*
 * engine - RocksDB: the writer holds the store, the reader is a secondary instance.
 *
 * It is tuned for look-ups that miss. Filters and index blocks stay in memory; the error of the filters
 * is about 0.1 % (15 bits a key; ENGINES_FILTER is bloom, the default, or ribbon). The block cache has
 * 64 MiB, the memtable 16 MiB and a filter. All checksums are verified, and the WAL is synced.
 * ENGINES_RECOVERY=2 is RocksDB's default when it reads a damaged WAL; without it 0, the strict mode.
 * ENGINES_SCRATCH: the folder that a secondary instance wants for its own log.
 */
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine.h"

enum {
    PATH_BYTES = 300,
    PER_FILE = 4000000,
    FILES = 64,
    BATCH = 512,
    CACHE = 64 << 20
};

static rocksdb_options_t *options;
static rocksdb_readoptions_t *to_read;
static rocksdb_writeoptions_t *to_write;
static rocksdb_column_family_handle_t *family;
static rocksdb_t *db;

static void must(char *error, const char *what)
{
    if (error) {
        engine_refuse(what, error);
    }
}

static void set_options(void)
{
    const char *filter = getenv("ENGINES_FILTER");
    const char *recovery = getenv("ENGINES_RECOVERY");
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_filter_policy(
        table, filter && strcmp(filter, "ribbon") == 0
                   ? rocksdb_filterpolicy_create_ribbon(15)
                   : rocksdb_filterpolicy_create_bloom_full(15));
    rocksdb_block_based_options_set_block_cache(table, rocksdb_cache_create_lru(CACHE));
    rocksdb_block_based_options_set_format_version(table, 5);
    options = rocksdb_options_create();
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_paranoid_checks(options, 1);
    rocksdb_options_set_compression(options, rocksdb_lz4_compression);
    rocksdb_options_set_max_open_files(options, -1);
    rocksdb_options_set_max_background_jobs(options, 2);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
    rocksdb_options_set_write_buffer_size(options, 16 << 20);
    rocksdb_options_set_memtable_whole_key_filtering(options, 1);
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(options, 0.1);
    /* 0: a damaged record is an error, a torn last one is not; 2: RocksDB's default */
    rocksdb_options_set_wal_recovery_mode(options, recovery ? atoi(recovery) : 0);
    to_read = rocksdb_readoptions_create();
    to_write = rocksdb_writeoptions_create();
}

static void rocks_open(const char *dir, enum engine_mode mode)
{
    const char *scratch = getenv("ENGINES_SCRATCH");
    const char *const name = "default";
    const rocksdb_options_t *own = NULL;
    char *error = NULL;
    (void)umask(0027);
    set_options();
    own = options;
    db = mode == ENGINE_WRITE
             ? rocksdb_open_column_families(options, dir, 1, &name, &own, &family,
                                            &error)
             : rocksdb_open_as_secondary_column_families(options, dir, scratch, 1,
                                                         &name, &own, &family, &error);
    must(error, "open");
    if (mode == ENGINE_READ) {
        rocksdb_try_catch_up_with_primary(db, &error); /* what only the log holds */
        must(error, "catch up");
    }
}

static void rocks_close(void)
{
    rocksdb_column_family_handle_destroy(family);
    rocksdb_close(db);
}

struct loading {
    const char *dir;
    rocksdb_envoptions_t *env;
    rocksdb_sstfilewriter_t *writer;
    char path[FILES][PATH_BYTES];
    size_t files;
    uint64_t done;
};

static void finish_file(struct loading *l)
{
    char *error = NULL;
    if (l->writer) {
        rocksdb_sstfilewriter_finish(l->writer, &error);
        must(error, "sstfilewriter_finish");
        rocksdb_sstfilewriter_destroy(l->writer);
        l->writer = NULL;
    }
}

static void load_one(void *context, const uint8_t digest[ENGINE_DIGEST])
{
    struct loading *l = context;
    char *error = NULL;
    uint8_t value[ENGINE_VALUE];
    if (l->done++ % PER_FILE == 0) {
        finish_file(l);
        (void)snprintf(l->path[l->files], PATH_BYTES, "%s/load.%zu", l->dir, l->files);
        l->writer = rocksdb_sstfilewriter_create(l->env, options);
        rocksdb_sstfilewriter_open(l->writer, l->path[l->files++], &error);
        must(error, "sstfilewriter_open");
    }
    engine_value(digest, value);
    rocksdb_sstfilewriter_put(l->writer, (const char *)digest, ENGINE_DIGEST,
                              (const char *)value, ENGINE_VALUE, &error);
    must(error, "sstfilewriter_put");
}

/* The import of RocksDB: it takes sorted files in as they are, all at once. */
static void rocks_load(const char *dir, uint64_t n)
{
    static struct loading l;
    const char *path[FILES];
    char *error = NULL;
    rocks_open(dir, ENGINE_WRITE);
    l.dir = dir;
    l.env = rocksdb_envoptions_create();
    engine_sorted(n, load_one, &l);
    finish_file(&l);
    for (size_t i = 0; i < l.files; i++) {
        path[i] = l.path[i];
    }
    rocksdb_ingestexternalfileoptions_t *how =
        rocksdb_ingestexternalfileoptions_create();
    rocksdb_ingestexternalfileoptions_set_move_files(how, 1);
    rocksdb_ingest_external_file(db, path, l.files, how, &error);
    must(error, "ingest_external_file");
    rocks_close();
}

static void rocks_put(const struct engine_entry *e, size_t n, bool is_synced)
{
    char *error = NULL;
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    for (size_t i = 0; i < n; i++) {
        uint8_t value[ENGINE_VALUE];
        engine_value(e[i].digest, value);
        rocksdb_writebatch_put(batch, (const char *)e[i].digest, ENGINE_DIGEST,
                               (const char *)value, ENGINE_VALUE);
    }
    rocksdb_writeoptions_set_sync(to_write, is_synced);
    rocksdb_write(db, to_write, batch, &error);
    must(error, "write");
    rocksdb_writebatch_destroy(batch);
}

static enum engine_answer judge(const struct engine_entry *e,
                                rocksdb_pinnableslice_t *found, char *error)
{
    uint8_t right[ENGINE_VALUE];
    size_t length = 0;
    if (error) {
        free(error);
        return ENGINE_ERROR;
    }
    if (!found) {
        return ENGINE_NO;
    }
    const char *value = rocksdb_pinnableslice_value(found, &length);
    engine_value(e->digest, right);
    bool is_right = length == sizeof(right) && memcmp(value, right, sizeof(right)) == 0;
    rocksdb_pinnableslice_destroy(found);
    return is_right ? ENGINE_YES : ENGINE_WRONG;
}

static void rocks_get(const struct engine_entry *e, size_t n, enum engine_answer *ret)
{
    const char *key[BATCH];
    size_t length[BATCH];
    rocksdb_pinnableslice_t *found[BATCH];
    char *error[BATCH];
    for (size_t i = 0; i < n; i++) {
        key[i] = (const char *)e[i].digest;
        length[i] = ENGINE_DIGEST;
    }
    rocksdb_batched_multi_get_cf(db, to_read, family, n, key, length, found, error,
                                 false);
    for (size_t i = 0; i < n; i++) {
        ret[i] = judge(&e[i], found[i], error[i]);
    }
}

static void rocks_refresh(void)
{
    static unsigned failures;
    char *error = NULL;
    rocksdb_try_catch_up_with_primary(db, &error);
    if (error && failures++ < 3) {
        (void)fprintf(stderr, "catch up: %s\n", error);
    }
    free(error);
}

static bool rocks_has_fault(void)
{
    return false;
}

const struct engine engine_built = {.name = "rocksdb",
                                    .load = rocks_load,
                                    .open = rocks_open,
                                    .digest = engine_digest_keyed,
                                    .put = rocks_put,
                                    .get = rocks_get,
                                    .refresh = rocks_refresh,
                                    .has_fault = rocks_has_fault,
                                    .close = rocks_close};
