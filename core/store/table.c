/* table - LMDB, with a checksum before each value. */
#include "core/store/table.h"

#include <lmdb.h>

#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/store/index_format.h"

enum {
    SUM_BYTES = 8,
    DIR_MODE = 0750,
    FILE_MODE = 0640,
    READERS_MAX = 126,
    /* Live pages may fill this part of the map. A change writes new pages before it frees old ones,
     * so a full table needs the rest to become smaller. */
    LIVE_NUM = 3,
    LIVE_DEN = 4
};
#define MAP_MIN (UINT64_C(1) << 20)

struct table {
    MDB_env *env;
    MDB_dbi dbi;
    uint64_t most_live; /* bytes of pages */
    char dir[];
};

struct table_txn {
    struct table *t;
    MDB_txn *txn;
    bool is_writing;
    enum err failed; /* of a change; then it is not committed */
};

/* ---- values ---- */

/* Of key and value: a value under another's key is damage too. */
static uint64_t sum_of(struct slice key, struct slice value)
{
    uint64_t both[2] = {checksum64(key), checksum64(value)};
    return checksum64(slice_of((const char *)both, sizeof(both)));
}

static bool value_read(struct slice key, const MDB_val *stored, struct slice *ret)
{
    uint64_t sum = 0;
    if (stored->mv_size < SUM_BYTES) {
        return false;
    }
    memcpy(&sum, stored->mv_data, SUM_BYTES);
    *ret = slice_from(slice_of(stored->mv_data, stored->mv_size), SUM_BYTES);
    return sum == sum_of(key, *ret);
}

static MDB_val val_of(struct slice s)
{
    /* LMDB's keys are not const; it does not change them */
    union {
        const char *in;
        void *out;
    } p = {.in = s.p};
    return (MDB_val){s.n, p.out};
}

/* ---- opening ---- */

/* A link in the place of a file would let its owner choose what is written to. */
static enum err check_files(const char *dir, struct errinfo *reterr)
{
    static const char *const names[] = {"data.mdb", "lock.mdb"};
    for (size_t i = 0; i < LENGTH(names); i++) {
        char path[FILE_PATH_MAX];
        struct stat st;
        enum err e = path_make(path, reterr, "%s/%s", dir, names[i]);
        if (e != ERR_OK) {
            return e;
        }
        if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
            return errinfo_set(reterr, ERR_CORRUPT, path, 0, "this is no file");
        }
    }
    return ERR_OK;
}

static enum err open_env(struct table *t, bool is_writing, uint64_t most_bytes,
                         struct errinfo *reterr)
{
    const unsigned flags = MDB_NOTLS | (is_writing ? 0U : (unsigned)MDB_RDONLY);
    /* Address space only: the file grows with what is written. */
    const uint64_t map = most_bytes > MAP_MIN ? most_bytes : MAP_MIN;
    int rc = mdb_env_create(&t->env);
    THEN(rc, mdb_env_set_mapsize(t->env, (size_t)map));
    THEN(rc, mdb_env_set_maxreaders(t->env, READERS_MAX));
    THEN(rc, mdb_env_open(t->env, t->dir, flags, FILE_MODE));
    if (is_writing) {
        THEN(rc, index_lmdb_share(t->env, FILE_MODE));
    }
    t->most_live = map / LIVE_DEN * LIVE_NUM;
    return index_lmdb_err(rc, t->dir, "cannot open the table", reterr);
}

static enum err open_dbi(struct table *t, bool is_writing, struct errinfo *reterr)
{
    MDB_txn *txn = NULL;
    int dead = 0;
    int rc = mdb_reader_check(t->env, &dead);
    THEN(rc, mdb_txn_begin(t->env, NULL, is_writing ? 0U : (unsigned)MDB_RDONLY, &txn));
    if (rc == MDB_SUCCESS) {
        rc = mdb_dbi_open(txn, NULL, 0, &t->dbi);
        if (rc == MDB_SUCCESS) {
            rc = mdb_txn_commit(txn);
        } else {
            mdb_txn_abort(txn);
        }
    }
    return index_lmdb_err(rc, t->dir, "cannot read the table", reterr);
}

/* LMDB believes its pages; a file that is shorter than they say would end the process. */
static enum err check_size(const struct table *t, struct errinfo *reterr)
{
    mdb_filehandle_t fd = -1;
    MDB_envinfo info;
    MDB_stat st;
    struct stat file;
    if (mdb_env_get_fd(t->env, &fd) != MDB_SUCCESS ||
        mdb_env_info(t->env, &info) != MDB_SUCCESS ||
        mdb_env_stat(t->env, &st) != MDB_SUCCESS || fstat(fd, &file) != 0) {
        return errinfo_set(reterr, ERR_IO, t->dir, 0, "cannot examine the table");
    }
    /* the first pages of a new file are written with the first change */
    bool is_new = st.ms_entries == 0 && info.me_last_txnid == 0;
    if (!is_new && (uint64_t)file.st_size < (info.me_last_pgno + 1) * st.ms_psize) {
        return errinfo_set(
            reterr, ERR_CORRUPT, t->dir, 0,
            "the table's file was cut short; remove the folder: the state of peers "
            "is fetched again");
    }
    return ERR_OK;
}

enum err table_open(const char *dir, bool is_writing, uint64_t most_bytes,
                    struct table **ret, struct errinfo *reterr)
{
    const size_t n = strlen(dir) + 1;
    enum err e = is_writing ? file_make_dir(dir, DIR_MODE, reterr) : ERR_OK;
    THEN(e, check_files(dir, reterr));
    if (e != ERR_OK) {
        return e;
    }
    struct table *t = calloc(1, sizeof(*t) + n);
    if (!t) {
        return errinfo_nomem(reterr, dir);
    }
    memcpy(t->dir, dir, n);
    e = open_env(t, is_writing, most_bytes, reterr);
    THEN(e, check_size(t, reterr));
    THEN(e, open_dbi(t, is_writing, reterr));
    if (e != ERR_OK) {
        table_close(&t);
        return e;
    }
    *ret = t;
    return ERR_OK;
}

void table_close(struct table **t)
{
    if (*t) {
        if ((*t)->env) {
            mdb_env_close((*t)->env);
        }
        free(*t);
        *t = NULL;
    }
}

/* ---- transactions ---- */

enum err table_begin(struct table *t, bool is_writing, struct table_txn **ret,
                     struct errinfo *reterr)
{
    struct table_txn *x = calloc(1, sizeof(*x));
    if (!x) {
        return errinfo_nomem(reterr, t->dir);
    }
    x->t = t;
    x->is_writing = is_writing;
    int rc =
        mdb_txn_begin(t->env, NULL, is_writing ? 0U : (unsigned)MDB_RDONLY, &x->txn);
    if (rc != MDB_SUCCESS) {
        free(x);
        return index_lmdb_err(rc, t->dir, "cannot begin to use the table", reterr);
    }
    *ret = x;
    return ERR_OK;
}

enum err table_commit(struct table_txn **x, struct errinfo *reterr)
{
    struct table_txn *own = *x;
    enum err e = own->failed;
    if (e != ERR_OK) {
        (void)errinfo_set(reterr, e, own->t->dir, 0, "the table was not changed: %s",
                          err_text(e));
        table_abort(x);
        return e;
    }
    int rc = mdb_txn_commit(own->txn); /* frees it in any case */
    e = index_lmdb_err(rc, own->t->dir, "cannot change the table", reterr);
    free(own);
    *x = NULL;
    return e;
}

void table_abort(struct table_txn **x)
{
    if (*x) {
        mdb_txn_abort((*x)->txn);
        free(*x);
        *x = NULL;
    }
}

/* ---- values of a transaction ---- */

static bool key_is_good(struct slice key)
{
    return key.n > 0 && key.n <= TABLE_KEY_MAX;
}

enum err table_get(struct table_txn *x, struct slice key, struct slice *ret)
{
    MDB_val k = val_of(key);
    MDB_val v;
    if (!key_is_good(key)) {
        return ERR_RANGE;
    }
    int rc = mdb_get(x->txn, x->t->dbi, &k, &v);
    if (rc != MDB_SUCCESS) {
        return index_lmdb_err(rc, "", "", NULL);
    }
    struct slice value;
    if (!value_read(key, &v, &value)) {
        return ERR_CORRUPT;
    }
    *ret = value;
    return ERR_OK;
}

static enum err fail_change(struct table_txn *x, enum err e)
{
    x->failed = x->failed == ERR_OK ? e : x->failed;
    return e;
}

/* Whether n more bytes leave the room that removing needs. */
static bool has_live_room(const struct table_txn *x, size_t n)
{
    MDB_stat st;
    if (mdb_stat(x->txn, x->t->dbi, &st) != MDB_SUCCESS) {
        return false;
    }
    uint64_t pages = st.ms_branch_pages + st.ms_leaf_pages + st.ms_overflow_pages;
    return pages * st.ms_psize + n <= x->t->most_live;
}

enum err table_put(struct table_txn *x, struct slice key, struct slice value)
{
    MDB_val k = val_of(key);
    MDB_val v = {value.n + SUM_BYTES, NULL};
    if (!x->is_writing || !key_is_good(key) || value.n > TABLE_VALUE_MAX) {
        return fail_change(x, ERR_RANGE);
    }
    if (x->failed != ERR_OK) {
        return x->failed;
    }
    if (!has_live_room(x, v.mv_size)) {
        return fail_change(x, ERR_NOSPACE);
    }
    int rc = mdb_put(x->txn, x->t->dbi, &k, &v, MDB_RESERVE);
    if (rc != MDB_SUCCESS) {
        return fail_change(x, index_lmdb_err(rc, "", "", NULL));
    }
    uint64_t sum = sum_of(key, value);
    memcpy(v.mv_data, &sum, SUM_BYTES);
    if (value.n > 0) {
        memcpy((char *)v.mv_data + SUM_BYTES, value.p, value.n);
    }
    return ERR_OK;
}

enum err table_remove(struct table_txn *x, struct slice key)
{
    MDB_val k = val_of(key);
    if (!x->is_writing || !key_is_good(key)) {
        return fail_change(x, ERR_RANGE);
    }
    if (x->failed != ERR_OK) {
        return x->failed;
    }
    int rc = mdb_del(x->txn, x->t->dbi, &k, NULL);
    if (rc == MDB_SUCCESS || rc == MDB_NOTFOUND) {
        return rc == MDB_SUCCESS ? ERR_OK : ERR_NOT_FOUND;
    }
    return fail_change(x, index_lmdb_err(rc, "", "", NULL));
}

enum err table_each(struct table_txn *x, struct slice prefix, table_each_fn *fn,
                    void *context)
{
    MDB_cursor *c = NULL;
    MDB_val k = val_of(prefix);
    MDB_val v;
    int rc = mdb_cursor_open(x->txn, x->t->dbi, &c);
    if (rc != MDB_SUCCESS) {
        return index_lmdb_err(rc, "", "", NULL);
    }
    rc = mdb_cursor_get(c, &k, &v, prefix.n > 0 ? MDB_SET_RANGE : MDB_FIRST);
    while (rc == MDB_SUCCESS) {
        struct slice key = slice_of(k.mv_data, k.mv_size);
        struct slice value = SLICE_NONE;
        if (!slice_has_prefix(key, prefix)) {
            break;
        }
        bool is_good = value_read(key, &v, &value);
        if (!fn(context, key, is_good ? value : SLICE_NONE, !is_good)) {
            break;
        }
        rc = mdb_cursor_get(c, &k, &v, MDB_NEXT);
    }
    mdb_cursor_close(c);
    return rc == MDB_NOTFOUND ? ERR_OK : index_lmdb_err(rc, "", "", NULL);
}
