/* table - LMDB, with a checksum before each value. */
#include "core/store/table.h"

#include <lmdb.h>

#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/base/sigbus.h"
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
    /* bytes; LMDB never makes a file shorter */
    _Atomic off_t size;
    off_t lock_size; /* of lock.mdb; 0: it is not in use */
    /* A page of its files was cut off: nothing is believed any more. LMDB believes its pages, so
     * each use of it is a section of sigbus.h. */
    atomic_bool is_damaged;
    /* The mapping, for values that are used behind a section; NULL: not known yet. */
    _Atomic(const char *) map;
    uint64_t map_bytes;
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
    const unsigned flags =
        MDB_NOTLS | (is_writing ? 0U : (unsigned)MDB_RDONLY | (unsigned)MDB_NOLOCK);
    /* Address space only: the file grows with what is written. */
    const uint64_t map = most_bytes > MAP_MIN ? most_bytes : MAP_MIN;
    int rc = mdb_env_create(&t->env);
    THEN(rc, mdb_env_set_mapsize(t->env, (size_t)map));
    THEN(rc, mdb_env_set_maxreaders(t->env, READERS_MAX));
    THEN(rc, mdb_env_open(t->env, t->dir, flags, FILE_MODE));
    if (is_writing) {
        THEN(rc, index_lmdb_share(t->env, FILE_MODE));
    }
    t->map_bytes = map;
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

static enum err say_damaged(const struct table *t, struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_CORRUPT, t->dir, 0,
                       "the table's file was cut short; remove the folder, and it is "
                       "made again");
}

/* A file that is shorter than its pages say. */
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
        return say_damaged(t, reterr);
    }
    return ERR_OK;
}

/* Bytes of lock.mdb; -1: it is gone. */
static off_t lock_size(const struct table *t)
{
    char path[FILE_PATH_MAX];
    struct stat st;
    return file_path(path, "%s/lock.mdb", t->dir) == ERR_OK && stat(path, &st) == 0
               ? st.st_size
               : -1;
}

static bool is_cut(struct table *t)
{
    mdb_filehandle_t fd = -1;
    struct stat st;
    const off_t least = atomic_load(&t->size); /* first: it may grow meanwhile */

    if (mdb_env_get_fd(t->env, &fd) != MDB_SUCCESS || fstat(fd, &st) != 0 ||
        st.st_size < least) {
        return true;
    }
    atomic_store(&t->size, st.st_size);
    return false;
}

/* A page was replaced: in a section, or in the guarded mapping. */
static bool has_lost_page(struct table *t)
{
    const char *map = atomic_load(&t->map);

    return atomic_load(&t->is_damaged) || (map != NULL && sigbus_is_damaged(map));
}

/* A page whose end was cut off reads as zeros and raises no signal, therefore the sizes are looked
 * at, too. A lock file that is gone is still whole for those who have it open. */
static bool is_intact(struct table *t)
{
    const off_t lock = t->lock_size > 0 ? lock_size(t) : 0;

    if (has_lost_page(t) || (lock >= 0 && lock < t->lock_size) || is_cut(t)) {
        atomic_store(&t->is_damaged, true);
    }
    return !atomic_load(&t->is_damaged);
}

bool table_is_damaged(struct table *t)
{
    atomic_bool *section = sigbus_enter(&t->is_damaged);
    bool is_damaged = !is_intact(t);
    sigbus_leave(section);
    return is_damaged;
}

/* In the section. */
static enum err open_checked(struct table *t, bool is_writing, uint64_t most_bytes,
                             struct errinfo *reterr)
{
    enum err e = open_env(t, is_writing, most_bytes, reterr);
    THEN(e, check_size(t, reterr));
    THEN(e, open_dbi(t, is_writing, reterr));
    t->lock_size = is_writing && e == ERR_OK ? lock_size(t) : 0;
    return e == ERR_OK && !is_intact(t) ? say_damaged(t, reterr) : e;
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
    (void)sigbus_prepare(); /* without the handler a file that is cut kills */
    atomic_bool *section = sigbus_enter(&t->is_damaged);
    e = open_checked(t, is_writing, most_bytes, reterr);
    sigbus_leave(section);
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
        atomic_bool *section = sigbus_enter(&(*t)->is_damaged);
        if (atomic_load(&(*t)->map) != NULL) {
            sigbus_remove(atomic_load(&(*t)->map));
        }
        if ((*t)->env) {
            mdb_env_close((*t)->env);
        }
        sigbus_leave(section);
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
    int rc = MDB_CORRUPTED;
    atomic_bool *section = sigbus_enter(&t->is_damaged);
    if (is_intact(t)) {
        rc = mdb_txn_begin(t->env, NULL, is_writing ? 0U : (unsigned)MDB_RDONLY,
                           &x->txn);
    }
    /* what was read to begin may have been zeros */
    if (rc == MDB_SUCCESS && has_lost_page(t)) {
        mdb_txn_abort(x->txn);
        rc = MDB_CORRUPTED;
    }
    sigbus_leave(section);
    if (rc == MDB_CORRUPTED) {
        free(x);
        return say_damaged(t, reterr);
    }
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
    if (e == ERR_OK && own->is_writing && table_is_damaged(own->t)) {
        e = ERR_CORRUPT;
    }
    if (e != ERR_OK) {
        (void)errinfo_set(reterr, e, own->t->dir, 0, "the table was not changed: %s",
                          err_text(e));
        table_abort(x);
        return e;
    }
    atomic_bool *section = sigbus_enter(&own->t->is_damaged);
    int rc = mdb_txn_commit(own->txn); /* frees it in any case */
    bool is_whole = !own->is_writing || is_intact(own->t);
    sigbus_leave(section);
    e = rc == MDB_SUCCESS && !is_whole
            ? say_damaged(own->t, reterr)
            : index_lmdb_err(rc, own->t->dir, "cannot change the table", reterr);
    free(own);
    *x = NULL;
    return e;
}

void table_abort(struct table_txn **x)
{
    if (*x) {
        atomic_bool *section = sigbus_enter(&(*x)->t->is_damaged);
        mdb_txn_abort((*x)->txn);
        sigbus_leave(section);
        free(*x);
        *x = NULL;
    }
}

/* ---- values of a transaction ---- */

static bool key_is_good(struct slice key)
{
    return key.n > 0 && key.n <= TABLE_KEY_MAX;
}

/* Finds the mapping by a value in it, and guards it. A page of LMDB begins with its number, and
 * page 0 has the mark MDB_MAGIC behind that header. */
static void guard_map(struct table *t, const char *value)
{
    enum { HEADER = 16 };
    static const uint32_t mark = 0xBEEFC0DE;
    const char *none = NULL;
    size_t number = 0;
    MDB_stat st;

    if (atomic_load_explicit(&t->map, memory_order_relaxed) != NULL ||
        mdb_env_stat(t->env, &st) != MDB_SUCCESS) {
        return;
    }
    const char *page = value - (uintptr_t)value % st.ms_psize;
    memcpy(&number, page, sizeof(number));
    if (number == 0 || number >= t->map_bytes / st.ms_psize) {
        return;
    }
    const char *map = page - number * st.ms_psize;
    if (memcmp(map + HEADER, &mark, sizeof(mark)) == 0 &&
        atomic_compare_exchange_strong(&t->map, &none, map)) {
        (void)sigbus_add(map, (size_t)t->map_bytes, SIGBUS_ZEROS);
    }
}

/* In the section. */
static enum err get_value(struct table_txn *x, struct slice key, struct slice *ret)
{
    MDB_val k = val_of(key);
    MDB_val v;
    int rc = mdb_get(x->txn, x->t->dbi, &k, &v);
    if (rc != MDB_SUCCESS) {
        return index_lmdb_err(rc, "", "", NULL);
    }
    if (!value_read(key, &v, ret)) {
        return ERR_CORRUPT;
    }
    if (!x->is_writing) { /* else it may lie in a page that is not in the mapping */
        guard_map(x->t, v.mv_data);
    }
    return ERR_OK;
}

enum err table_get(struct table_txn *x, struct slice key, struct slice *ret)
{
    struct slice value = SLICE_NONE;
    if (!key_is_good(key)) {
        return ERR_RANGE;
    }
    atomic_bool *section = sigbus_enter(&x->t->is_damaged);
    enum err e = has_lost_page(x->t) ? ERR_CORRUPT : get_value(x, key, &value);
    if (e != ERR_OK && !is_intact(x->t)) {
        e = ERR_CORRUPT; /* a value has a checksum; that there is none has not */
    }
    sigbus_leave(section);
    if (e == ERR_OK) {
        *ret = value;
    }
    return e;
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

/* In the section. */
static enum err put_value(struct table_txn *x, struct slice key, struct slice value)
{
    MDB_val k = val_of(key);
    MDB_val v = {value.n + SUM_BYTES, NULL};
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

enum err table_put(struct table_txn *x, struct slice key, struct slice value)
{
    if (!x->is_writing || !key_is_good(key) || value.n > TABLE_VALUE_MAX) {
        return fail_change(x, ERR_RANGE);
    }
    if (x->failed != ERR_OK) {
        return x->failed;
    }
    atomic_bool *section = sigbus_enter(&x->t->is_damaged);
    enum err e = put_value(x, key, value);
    sigbus_leave(section);
    return e;
}

/* In the section. */
static enum err take_out(struct table_txn *x, struct slice key)
{
    MDB_val k = val_of(key);
    int rc = mdb_del(x->txn, x->t->dbi, &k, NULL);
    if (rc == MDB_SUCCESS || rc == MDB_NOTFOUND) {
        return rc == MDB_SUCCESS ? ERR_OK : ERR_NOT_FOUND;
    }
    return fail_change(x, index_lmdb_err(rc, "", "", NULL));
}

enum err table_remove(struct table_txn *x, struct slice key)
{
    if (!x->is_writing || !key_is_good(key)) {
        return fail_change(x, ERR_RANGE);
    }
    if (x->failed != ERR_OK) {
        return x->failed;
    }
    atomic_bool *section = sigbus_enter(&x->t->is_damaged);
    enum err e = take_out(x, key);
    sigbus_leave(section);
    return e;
}

/* In the section. LMDB aborts when a page under its cursor is no longer one, so the size is looked
 * at before each step. */
static enum err each(struct table_txn *x, struct slice prefix, table_each_fn *fn,
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
    while (rc == MDB_SUCCESS && is_intact(x->t)) {
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

enum err table_each(struct table_txn *x, struct slice prefix, table_each_fn *fn,
                    void *context)
{
    atomic_bool *section = sigbus_enter(&x->t->is_damaged);
    enum err e = each(x, prefix, fn, context);
    bool is_whole = is_intact(x->t);
    sigbus_leave(section);
    return is_whole ? e : ERR_CORRUPT;
}
