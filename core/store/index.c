/* index - reading the exact index. */
#include "core/store/index.h"

#include <lmdb.h>
#include <sys/mman.h>

#include "core/base/file.h"
#include "core/base/file_internal.h"
#include "core/base/sigbus.h"
#include "core/store/index_format.h"

enum {
    READ_FLAGS = MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS | MDB_NOSUBDIR | MDB_NORDAHEAD,
    /* a writer that replaces the file meanwhile makes us begin again */
    OPEN_TRIES = 16
};

struct index {
    MDB_env *env;
    MDB_dbi dbi;
    uint64_t count;
    uint64_t size; /* bytes of the file when it was opened */
    atomic_bool is_damaged;
};

/* LMDB believes its pages, so each use of it is a section of sigbus.h, and what it says of a file
 * that became shorter since is not believed. A page whose end was cut off reads as zeros and raises
 * no signal, therefore the size is looked at, too. */
static bool is_cut(const struct index *ix)
{
    mdb_filehandle_t fd = -1;
    struct stat st;
    return mdb_env_get_fd(ix->env, &fd) != MDB_SUCCESS || fstat(fd, &st) != 0 ||
           (uint64_t)st.st_size < ix->size;
}

bool index_is_damaged(const struct index *ix)
{
    return atomic_load(&ix->is_damaged) || is_cut(ix);
}

/* The flag of a struct index that is const because nothing else of it changes. */
static atomic_bool *damage_of(const struct index *ix)
{
    union {
        const atomic_bool *in;
        atomic_bool *out;
    } p = {.in = &ix->is_damaged};
    return p.out;
}

/* Verifies the open file against whichever file of sums is its own. */
static enum err verify(int fd, const char *path, struct errinfo *reterr)
{
    /* The last is the first again: the new sums may just have been renamed to it. */
    static const char *const suffixes[] = {INDEX_SUM_SUFFIX, INDEX_SUM_NEW_SUFFIX,
                                           INDEX_SUM_SUFFIX};
    char sum_path[FILE_PATH_MAX];
    enum err e = ERR_CORRUPT;
    struct errinfo why = {.code = ERR_OK};
    for (size_t i = 0; i < LENGTH(suffixes); i++) {
        struct errinfo info = {.code = ERR_OK};
        enum err tried = path_make(sum_path, &info, "%s%s", path, suffixes[i]);
        THEN(tried, index_sum_verify(fd, path, sum_path, &info));
        if (tried == ERR_OK) {
            return ERR_OK;
        }
        if (i == 0 || why.code == ERR_NOT_FOUND) {
            e = tried;
            why = info;
        }
    }
    if (e == ERR_NOT_FOUND) {
        return errinfo_set(
            reterr, ERR_CORRUPT, path, 0,
            "the file of sums beside the index (%s) is missing; rebuild the "
            "list's index from its log",
            INDEX_SUM_SUFFIX);
    }
    if (reterr) {
        *reterr = why;
    }
    return e;
}

/* Begins to read, in a section. LMDB aborts where the root of a tree is a page of zeros. */
static int begin_reading(const struct index *ix, MDB_txn **ret)
{
    int rc = mdb_txn_begin(ix->env, NULL, MDB_RDONLY, ret);
    if (rc == MDB_SUCCESS && atomic_load(&ix->is_damaged)) {
        mdb_txn_abort(*ret);
        *ret = NULL;
        rc = MDB_CORRUPTED;
    }
    return rc;
}

static enum err open_env(const char *path, MDB_env **ret, struct errinfo *reterr)
{
    MDB_env *env = NULL;
    int rc = mdb_env_create(&env);
    if (rc == MDB_SUCCESS) {
        rc = mdb_env_open(env, path, READ_FLAGS, 0);
        if (rc != MDB_SUCCESS) {
            mdb_env_close(env);
        }
    }
    if (rc != MDB_SUCCESS) {
        return index_lmdb_err(rc, path, "cannot open the index", reterr);
    }
    *ret = env;
    return ERR_OK;
}

/* Opens the handle of the one table and counts its records. */
static enum err open_table(struct index *ix, const char *path, struct errinfo *reterr)
{
    MDB_txn *txn = NULL;
    MDB_stat st = {0};
    int rc = begin_reading(ix, &txn);
    if (rc == MDB_SUCCESS) {
        rc = mdb_dbi_open(txn, NULL, 0, &ix->dbi);
        THEN(rc, mdb_stat(txn, ix->dbi, &st));
        mdb_txn_abort(txn);
    }
    ix->count = st.ms_entries;
    return index_lmdb_err(rc, path, "cannot read the index", reterr);
}

/* LMDB opens by name: is what it opened the file that was verified? */
static bool is_same_file(MDB_env *env, const struct stat *verified)
{
    mdb_filehandle_t fd = -1;
    struct stat st;
    return mdb_env_get_fd(env, &fd) == MDB_SUCCESS && fstat(fd, &st) == 0 &&
           st.st_dev == verified->st_dev && st.st_ino == verified->st_ino;
}

/* Was path given to another file since? Its sums were then not for the one we opened. */
static bool is_replaced(const char *path, const struct stat *opened)
{
    struct stat now;
    return lstat(path, &now) == 0 &&
           (now.st_dev != opened->st_dev || now.st_ino != opened->st_ino);
}

/* One try. *retagain: the file was replaced meanwhile. */
static enum err try_open(const char *path, struct index *ix, bool *retagain,
                         struct errinfo *reterr)
{
    struct stat st;
    int fd = -1;
    *retagain = false;
    enum err e = file_sys_open_regular(path, O_RDONLY, &fd, &ix->size, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (fstat(fd, &st) != 0) {
        e = errinfo_errno(reterr, path, "cannot examine the index");
    }
    if (e == ERR_OK) {
        e = verify(fd, path, reterr);
        *retagain = e != ERR_OK && is_replaced(path, &st);
    }
    THEN(e, open_env(path, &ix->env, reterr));
    if (e == ERR_OK && !is_same_file(ix->env, &st)) {
        *retagain = true;
        e = errinfo_set(reterr, ERR_LOCKED, path, 0,
                        "the index was replaced again and again while it was opened");
    }
    THEN(e, open_table(ix, path, reterr));
    (void)close(fd);
    if (e != ERR_OK && ix->env) {
        mdb_env_close(ix->env);
        ix->env = NULL;
    }
    return e;
}

enum err index_open(const char *path, struct index **ret, struct errinfo *reterr)
{
    struct index *ix = calloc(1, sizeof(*ix));
    if (!ix) {
        return errinfo_nomem(reterr, path);
    }
    bool again = true;
    enum err e = ERR_OK;
    (void)sigbus_prepare(); /* without the handler a file that is cut kills */
    atomic_bool *section = sigbus_enter(&ix->is_damaged);
    for (int i = 0; i < OPEN_TRIES && again; i++) {
        e = try_open(path, ix, &again, reterr);
    }
    sigbus_leave(section);
    if (e == ERR_OK && index_is_damaged(ix)) {
        mdb_env_close(ix->env);
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                        "the index was cut short while it was opened");
    }
    if (e != ERR_OK) {
        free(ix);
        return e;
    }
    *ret = ix;
    return ERR_OK;
}

void index_close(struct index **ix)
{
    if (*ix) {
        mdb_env_close((*ix)->env);
        free(*ix);
        *ix = NULL;
    }
}

MDB_env *index_env(const struct index *ix)
{
    return ix->env;
}

uint64_t index_count(const struct index *ix)
{
    return ix->count;
}

static enum err get_record(const struct index *ix, const struct digest *d,
                           struct index_record *ret)
{
    MDB_txn *txn = NULL;
    struct digest wanted = *d; /* MDB_val is not const */
    MDB_val key = {DIGEST_BYTES, wanted.b};
    MDB_val value = {0, NULL};
    int rc = begin_reading(ix, &txn);
    if (rc != MDB_SUCCESS) {
        return index_lmdb_err(rc, NULL, "", NULL);
    }
    rc = mdb_get(txn, ix->dbi, &key, &value);
    enum err e = rc == MDB_SUCCESS
                     ? index_value_read(d, value.mv_data, value.mv_size, ret)
                     : index_lmdb_err(rc, NULL, "", NULL);
    mdb_txn_abort(txn);
    return e;
}

enum err index_get(const struct index *ix, const struct digest *d,
                   struct index_record *ret)
{
    if (atomic_load_explicit(&ix->is_damaged, memory_order_relaxed)) {
        return ERR_CORRUPT;
    }
    atomic_bool *section = sigbus_enter(damage_of(ix));
    enum err e = get_record(ix, d, ret);
    sigbus_leave(section);
    /* a record has a checksum; that there is none has not */
    return e == ERR_NOT_FOUND && index_is_damaged(ix) ? ERR_CORRUPT : e;
}

/* A walk unmaps the pages behind it. They stay in the page cache, but no longer count as memory of
 * this process. */
enum { WALK_DROP_BYTES = 16 * 1024 * 1024 };

struct index_walk {
    const struct index *ix;
    const char *leaf; /* the page of the last record; NULL: none */
    MDB_txn *txn;
    MDB_cursor *cursor;
    size_t page;
    char *
        kept; /* the first page of the file that is still mapped; NULL: before the first record */
};

/* Leaves written in order lie in order in the file; pages of a jump back stay mapped. */
static void drop_behind(struct index_walk *w, char *at)
{
    if (!w->kept || at < w->kept) {
        w->kept = at - (uintptr_t)at % w->page;
        return;
    }
    size_t passed = (size_t)(at - w->kept) / WALK_DROP_BYTES * WALK_DROP_BYTES;
    if (passed > 0) {
        /* read-only and shared: a page that is needed again comes from the file */
        (void)madvise(w->kept, passed, MADV_DONTNEED);
        w->kept += passed;
    }
}

enum err index_walk_new(const struct index *ix, struct index_walk **ret)
{
    struct index_walk *w = calloc(1, sizeof(*w));
    if (!w) {
        return ERR_NOMEM;
    }
    w->page = (size_t)sysconf(_SC_PAGESIZE);
    w->ix = ix;
    atomic_bool *section = sigbus_enter(damage_of(ix));
    int rc = begin_reading(ix, &w->txn);
    THEN(rc, mdb_cursor_open(w->txn, ix->dbi, &w->cursor));
    sigbus_leave(section);
    if (rc != MDB_SUCCESS) {
        index_walk_free(&w);
        return index_lmdb_err(rc, NULL, "", NULL);
    }
    *ret = w;
    return ERR_OK;
}

/* LMDB aborts when a page under its cursor is no longer one. So the leaf is touched before each
 * step, and the size of the file is looked at once for each leaf, before its neighbour is fetched.
 * In the section. */
static bool is_intact(struct index_walk *w)
{
    if (w->leaf != NULL) {
        (void)*(const volatile char *)w->leaf;
    }
    return !atomic_load(&w->ix->is_damaged);
}

/* Notes where the last record lies. False: it is on a new leaf, and the file was cut. */
static bool note_leaf(struct index_walk *w, const char *key)
{
    const char *leaf = key - (uintptr_t)key % w->page;
    bool is_new = leaf != w->leaf;

    w->leaf = leaf;
    if (is_new && is_cut(w->ix)) {
        atomic_store(damage_of(w->ix), true);
    }
    return !atomic_load(&w->ix->is_damaged);
}

static bool walk_next(struct index_walk *w, struct digest *retdigest,
                      struct index_record *ret, enum err *reterr)
{
    MDB_val key = {0, NULL};
    MDB_val value = {0, NULL};
    struct digest d;
    int rc = mdb_cursor_get(w->cursor, &key, &value, MDB_NEXT);
    if (rc != MDB_SUCCESS) {
        *reterr = rc == MDB_NOTFOUND ? ERR_OK : index_lmdb_err(rc, NULL, "", NULL);
        return false;
    }
    if (key.mv_size != DIGEST_BYTES || !note_leaf(w, key.mv_data)) {
        *reterr = ERR_CORRUPT;
        return false;
    }
    drop_behind(w, key.mv_data);
    memcpy(d.b, key.mv_data, DIGEST_BYTES);
    *reterr = index_value_read(&d, value.mv_data, value.mv_size, ret);
    if (*reterr != ERR_OK) {
        return false;
    }
    *retdigest = d;
    return true;
}

bool index_walk_next(struct index_walk *w, struct digest *retdigest,
                     struct index_record *ret, enum err *reterr)
{
    atomic_bool *section = sigbus_enter(damage_of(w->ix));
    bool has_next = is_intact(w) && walk_next(w, retdigest, ret, reterr);
    sigbus_leave(section);
    if (!has_next && index_is_damaged(w->ix)) {
        *reterr = ERR_CORRUPT; /* what looks like the end need not be it */
    }
    return has_next;
}

static enum err find_record(struct index_walk *w, const struct digest *d,
                            struct index_record *ret)
{
    struct digest wanted = *d; /* MDB_val is not const */
    MDB_val key = {DIGEST_BYTES, wanted.b};
    MDB_val value = {0, NULL};
    int rc = mdb_cursor_get(w->cursor, &key, &value, MDB_SET);
    if (rc != MDB_SUCCESS) {
        return index_lmdb_err(rc, NULL, "", NULL);
    }
    return note_leaf(w, value.mv_data)
               ? index_value_read(d, value.mv_data, value.mv_size, ret)
               : ERR_CORRUPT;
}

enum err index_walk_find(struct index_walk *w, const struct digest *d,
                         struct index_record *ret)
{
    atomic_bool *section = sigbus_enter(damage_of(w->ix));
    enum err e = is_intact(w) ? find_record(w, d, ret) : ERR_CORRUPT;
    sigbus_leave(section);
    return e == ERR_NOT_FOUND && index_is_damaged(w->ix) ? ERR_CORRUPT : e;
}

void index_walk_free(struct index_walk **w)
{
    if (*w) {
        /* neither touches a page */
        if ((*w)->cursor) {
            mdb_cursor_close((*w)->cursor);
        }
        if ((*w)->txn) {
            mdb_txn_abort((*w)->txn);
        }
        free(*w);
        *w = NULL;
    }
}
