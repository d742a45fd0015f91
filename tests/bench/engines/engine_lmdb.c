/*
 * engine - plain LMDB: one B+tree, written by one process, read through the map by others.
 *
 * ENGINES_LMDB=nolock: the reader takes no place in the table of readers (MDB_NOLOCK). Otherwise it
 * needs the right to write lock.mdb, which the writer gives to the group.
 */
#include <errno.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine.h"

enum { STEP = 65536, PATH_BYTES = 300 };
#define MAP_BYTES (UINT64_C(1) << 37)

static MDB_env *env;
static MDB_dbi dbi;
static MDB_txn *reading;

static void must(int status, const char *what)
{
    if (status != 0) {
        engine_refuse(what, mdb_strerror(status));
    }
}

static void lmdb_open_with(const char *dir, unsigned flags)
{
    char data[PATH_BYTES];
    must(mdb_env_create(&env), "mdb_env_create");
    must(mdb_env_set_mapsize(env, MAP_BYTES), "mdb_env_set_mapsize");
    (void)umask(0007);
    must(mdb_env_open(env, dir, flags, 0660), "mdb_env_open");
    if (!(flags & MDB_RDONLY)) {
        (void)snprintf(data, sizeof(data), "%s/data.mdb", dir);
        (void)chmod(data, 0640);
    }
    MDB_txn *txn = NULL;
    must(mdb_txn_begin(env, NULL, flags & MDB_RDONLY, &txn), "mdb_txn_begin");
    must(mdb_dbi_open(txn, NULL, 0, &dbi), "mdb_dbi_open");
    must(mdb_txn_commit(txn), "mdb_txn_commit");
}

static void lmdb_open(const char *dir, enum engine_mode mode)
{
    const char *how = getenv("ENGINES_LMDB");
    unsigned flags = 0;
    if (mode == ENGINE_READ) {
        flags = MDB_RDONLY | MDB_NOTLS | MDB_NORDAHEAD;
        flags |= how && strcmp(how, "nolock") == 0 ? MDB_NOLOCK : 0;
    }
    lmdb_open_with(dir, flags);
    if (mode == ENGINE_READ) {
        must(mdb_txn_begin(env, NULL, MDB_RDONLY, &reading), "mdb_txn_begin");
        mdb_txn_reset(reading);
    }
}

static void lmdb_close(void)
{
    if (reading) {
        mdb_txn_abort(reading);
        reading = NULL;
    }
    mdb_env_close(env);
}

static void put_one(MDB_txn *txn, const uint8_t digest[ENGINE_DIGEST], unsigned flags)
{
    uint8_t value[ENGINE_VALUE];
    uint8_t copy[ENGINE_DIGEST];
    engine_value(digest, value);
    memcpy(copy, digest, sizeof(copy));
    MDB_val k = {sizeof(copy), copy};
    MDB_val v = {sizeof(value), value};
    must(mdb_put(txn, dbi, &k, &v, flags), "mdb_put");
}

struct loading {
    MDB_txn *txn;
    uint64_t done;
};

static void load_one(void *context, const uint8_t digest[ENGINE_DIGEST])
{
    struct loading *l = context;
    if (!l->txn) {
        must(mdb_txn_begin(env, NULL, 0, &l->txn), "mdb_txn_begin");
    }
    put_one(l->txn, digest, MDB_APPEND);
    if (++l->done % STEP == 0) {
        must(mdb_txn_commit(l->txn), "mdb_txn_commit");
        l->txn = NULL;
    }
}

static void lmdb_load(const char *dir, uint64_t n)
{
    struct loading l = {0};
    lmdb_open_with(dir, MDB_NOSYNC); /* of a store that nobody reads so far */
    engine_sorted(n, load_one, &l);
    if (l.txn) {
        must(mdb_txn_commit(l.txn), "mdb_txn_commit");
    }
    must(mdb_env_sync(env, 1), "mdb_env_sync");
    lmdb_close();
}

static void lmdb_put(const struct engine_entry *e, size_t n, bool is_synced)
{
    MDB_txn *txn = NULL;
    must(mdb_env_set_flags(env, MDB_NOSYNC, !is_synced), "mdb_env_set_flags");
    must(mdb_txn_begin(env, NULL, 0, &txn), "mdb_txn_begin");
    for (size_t i = 0; i < n; i++) {
        put_one(txn, e[i].digest, 0);
    }
    must(mdb_txn_commit(txn), "mdb_txn_commit");
}

static void lmdb_get(const struct engine_entry *e, size_t n, enum engine_answer *ret)
{
    must(mdb_txn_renew(reading), "mdb_txn_renew");
    for (size_t i = 0; i < n; i++) {
        uint8_t right[ENGINE_VALUE];
        uint8_t copy[ENGINE_DIGEST];
        memcpy(copy, e[i].digest, sizeof(copy));
        MDB_val k = {sizeof(copy), copy};
        MDB_val v;
        int status = mdb_get(reading, dbi, &k, &v);
        engine_value(e[i].digest, right);
        if (status == 0) {
            bool is_right = v.mv_size == sizeof(right) &&
                            memcmp(v.mv_data, right, sizeof(right)) == 0;
            ret[i] = is_right ? ENGINE_YES : ENGINE_WRONG;
        } else {
            ret[i] = status == MDB_NOTFOUND ? ENGINE_NO : ENGINE_ERROR;
        }
    }
    mdb_txn_reset(reading);
}

static void lmdb_refresh(void)
{
}

static bool lmdb_has_fault(void)
{
    return false;
}

const struct engine engine_built = {.name = "lmdb",
                                    .load = lmdb_load,
                                    .open = lmdb_open,
                                    .digest = engine_digest_keyed,
                                    .put = lmdb_put,
                                    .get = lmdb_get,
                                    .refresh = lmdb_refresh,
                                    .has_fault = lmdb_has_fault,
                                    .close = lmdb_close};
