/* index_build - writing the exact index. */
#include <lmdb.h>
#include <sys/statvfs.h>

#include "core/base/file.h"
#include "core/base/file_internal.h"
#include "core/base/random.h"
#include "core/base/sigbus.h"
#include "core/store/background_job.h"
#include "core/store/index.h"
#include "core/store/index_format.h"

enum {
    /* Not MDB_WRITEMAP: a full disk would then be a SIGBUS instead of an error. No sync per
     * commit: the file has no readers until it was synced once and renamed. */
    BUILD_FLAGS = MDB_NOLOCK | MDB_NOTLS | MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOMEMINIT,
    BATCHES = 2, /* one is filled while the other is written */
    BATCH_RECORDS = 32 * 1024,
    BATCH_PAGES =
        2048, /* a batch fills some 410 pages of 4 KiB; room for twice and more */
    BYTES_PER_RECORD = 64, /* 50 on a full page, and the inner pages */
    MAP_FIRST = 64 * 1024 * 1024,
    FULL_BYTES = 64 * 1024 /* with less free space than this a disk counts as full */
};
#define MAP_FIRST_MAX (UINT64_C(1) << 36) /* a billion records; readers map as much */

struct item {
    struct digest digest;
    struct index_record record;
};

struct batch {
    struct item item[BATCH_RECORDS];
    unsigned n;
};

struct index_builder {
    /* Up to rc the writing's own until background_job_wait. */
    struct background_job behind;
    MDB_env *env;
    MDB_txn *txn; /* NULL between batches */
    MDB_cursor *cursor;
    MDB_dbi dbi;
    uint64_t map_size;
    struct batch *writing;
    int rc;                 /* sticky */
    atomic_bool is_damaged; /* the temporary file was cut (sigbus.h) */

    struct batch *batches; /* BATCHES of them */
    unsigned filling;
    bool has_last;
    struct digest last;
    enum err failed; /* sticky */
    char path[FILE_PATH_MAX];
    char temp[FILE_PATH_MAX];
};

/* LMDB reports the short write of a disk that just became full as EIO. */
static bool is_disk_full(const struct index_builder *b)
{
    mdb_filehandle_t fd = -1;
    struct statvfs fs;
    return b->env && mdb_env_get_fd(b->env, &fd) == MDB_SUCCESS &&
           fstatvfs(fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < FULL_BYTES;
}

static enum err fail_build(struct index_builder *b, int rc, struct errinfo *reterr)
{
    if (rc == EIO && is_disk_full(b)) {
        rc = ENOSPC;
    }
    b->failed = index_lmdb_err(rc, b->path, "cannot write the index", reterr);
    return b->failed;
}

/* The map grows between batches, when what is left may not hold another one. */
static int grow_map(struct index_builder *b)
{
    MDB_envinfo info = {0};
    MDB_stat st = {0};
    int rc = mdb_env_info(b->env, &info);
    THEN(rc, mdb_env_stat(b->env, &st));
    if (rc != MDB_SUCCESS) {
        return rc;
    }
    uint64_t need = ((uint64_t)info.me_last_pgno + BATCH_PAGES) * st.ms_psize;
    if (need <= b->map_size) {
        return MDB_SUCCESS;
    }
    b->map_size *= 2;
    return mdb_env_set_mapsize(b->env, (size_t)b->map_size);
}

static int begin_batch(struct index_builder *b)
{
    int rc = grow_map(b);
    THEN(rc, mdb_txn_begin(b->env, NULL, 0, &b->txn));
    THEN(rc, mdb_dbi_open(b->txn, NULL, 0, &b->dbi));
    THEN(rc, mdb_cursor_open(b->txn, b->dbi, &b->cursor));
    return rc;
}

static int end_batch(struct index_builder *b)
{
    if (!b->txn) {
        return MDB_SUCCESS;
    }
    mdb_cursor_close(b->cursor);
    b->cursor = NULL;
    int rc = mdb_txn_commit(b->txn); /* frees it in any case */
    b->txn = NULL;
    return rc;
}

/* One batch, one transaction. */
static int put_batch(struct index_builder *b)
{
    int rc = b->rc;
    THEN(rc, begin_batch(b));
    for (unsigned i = 0; i < b->writing->n && rc == MDB_SUCCESS; i++) {
        struct item *item = &b->writing->item[i];
        uint8_t bytes[INDEX_VALUE_BYTES];
        index_value_write(&item->digest, &item->record, bytes);
        MDB_val key = {DIGEST_BYTES, item->digest.b};
        MDB_val value = {INDEX_VALUE_BYTES, bytes};
        rc = mdb_cursor_put(b->cursor, &key, &value, MDB_APPEND);
    }
    THEN(rc, end_batch(b));
    return rc;
}

/* The job. */
static void write_batch(void *context)
{
    struct index_builder *b = context;
    atomic_bool *section = sigbus_enter(&b->is_damaged);
    int rc = put_batch(b);
    sigbus_leave(section);
    b->rc = rc == MDB_SUCCESS && atomic_load(&b->is_damaged) ? MDB_CORRUPTED : rc;
}

/* Has the batch written behind, and fills the other one. */
static int give_batch(struct index_builder *b)
{
    background_job_wait(&b->behind);
    if (b->rc != MDB_SUCCESS) {
        return b->rc;
    }
    b->writing = &b->batches[b->filling];
    background_job_start(&b->behind, write_batch, b);
    b->filling = (b->filling + 1) % BATCHES;
    b->batches[b->filling].n = 0;
    return MDB_SUCCESS;
}

/* Drops what is open; the temporary file stays. */
static void close_env(struct index_builder *b)
{
    background_job_wait(&b->behind);
    if (b->cursor) {
        mdb_cursor_close(b->cursor);
        b->cursor = NULL;
    }
    if (b->txn) {
        mdb_txn_abort(b->txn);
        b->txn = NULL;
    }
    if (b->env) {
        mdb_env_close(b->env);
        b->env = NULL;
    }
}

static enum err set_paths(struct index_builder *b, const char *path,
                          struct errinfo *reterr)
{
    uint64_t name = 0;
    random_bytes(&name, sizeof(name));
    enum err e = path_make(b->path, reterr, "%s", path);
    THEN(e, path_make(b->temp, reterr, "%s.%016" PRIx64 FILE_TEMP_SUFFIX, path, name));
    return e;
}

static int open_env(struct index_builder *b)
{
    int rc = mdb_env_create(&b->env);
    THEN(rc, mdb_env_set_mapsize(b->env, (size_t)b->map_size));
    THEN(rc, mdb_env_open(b->env, b->temp, BUILD_FLAGS, INDEX_FILE_MODE));
    return rc == MDB_SUCCESS ? index_lmdb_share(b->env, INDEX_FILE_MODE) : rc;
}

static int open_builder(struct index_builder *b, uint64_t expected)
{
    b->map_size = MAP_FIRST;
    while (b->map_size / BYTES_PER_RECORD < expected && b->map_size < MAP_FIRST_MAX) {
        b->map_size *= 2;
    }
    int rc = open_env(b);
    while (rc == ENOMEM && b->map_size > MAP_FIRST) { /* it grows where there is need */
        mdb_env_close(b->env);
        b->env = NULL;
        b->map_size /= 2;
        rc = open_env(b);
    }
    return rc;
}

enum err index_builder_new(const char *path, uint64_t expected,
                           struct index_builder **ret, struct errinfo *reterr)
{
    struct index_builder *b = calloc(1, sizeof(*b));
    if (b) {
        b->batches =
            malloc(BATCHES * sizeof(*b->batches)); /* touched as it is filled */
    }
    if (!b || !b->batches) {
        free(b);
        return errinfo_nomem(reterr, path);
    }
    for (unsigned i = 0; i < BATCHES; i++) {
        b->batches[i].n = 0;
    }
    background_job_init(&b->behind);
    (void)sigbus_prepare();
    enum err e = set_paths(b, path, reterr);
    int rc = e == ERR_OK ? open_builder(b, expected) : MDB_SUCCESS;
    if (rc != MDB_SUCCESS) {
        e = fail_build(b, rc, reterr);
    }
    if (e != ERR_OK) {
        index_builder_abort(&b);
        return e;
    }
    *ret = b;
    return ERR_OK;
}

enum err index_builder_add(struct index_builder *b, const struct digest *d,
                           const struct index_record *r, struct errinfo *reterr)
{
    if (b->failed != ERR_OK) {
        return errinfo_set(reterr, b->failed, b->path, 0,
                           "the index cannot be written after an earlier failure");
    }
    if (b->has_last && digest_cmp(&b->last, d) >= 0) {
        return errinfo_set(reterr, ERR_RANGE, b->path, 0,
                           "records of the index came out of order");
    }
    if (b->batches[b->filling].n == BATCH_RECORDS) {
        int rc = give_batch(b);
        if (rc != MDB_SUCCESS) {
            return fail_build(b, rc, reterr);
        }
    }
    struct batch *batch = &b->batches[b->filling];
    batch->item[batch->n++] = (struct item){*d, *r};
    b->last = *d;
    b->has_last = true;
    return ERR_OK;
}

/* Writes the sums of the finished temporary file to sum_path. */
static enum err write_sums(const struct index_builder *b, const char *sum_path,
                           struct errinfo *reterr)
{
    int fd = open(b->temp, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errinfo_errno(reterr, b->path, "cannot open the new index");
    }
    struct buf sums;
    buf_init(&sums, INDEX_SUM_MAX);
    enum err e = index_sum_make(fd, b->path, &sums, reterr);
    THEN(e, file_sys_give(fd, b->path, reterr));
    (void)close(fd);
    THEN(e, file_write_atomic(sum_path, buf_slice(&sums), INDEX_FILE_MODE, reterr));
    buf_fini(&sums);
    return e;
}

static enum err sync_parent(const char *path, struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    const char *slash = strrchr(path, '/');
    enum err e =
        slash ? file_path(dir, "%.*s", slash == path ? 1 : (int)(slash - path), path)
              : file_path(dir, ".");
    THEN(e, file_sync_dir(dir, reterr));
    return e;
}

/* A crash may have left the index at path with its sums under the second name only. They get
 * their first name now, before the second is used again. */
static enum err settle_sums(const char *path, const char *sum, const char *fresh,
                            struct errinfo *reterr)
{
    if (access(fresh, F_OK) != 0) {
        return ERR_OK;
    }
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return ERR_OK; /* no index yet that they could belong to */
    }
    bool is_its = index_sum_verify(fd, path, fresh, NULL) == ERR_OK;
    (void)close(fd);
    if (!is_its) {
        return ERR_OK;
    }
    if (rename(fresh, sum) != 0) {
        return errinfo_errno(reterr, sum, "cannot put the sums of the index in place");
    }
    return sync_parent(path, reterr);
}

/* Sums first under their second name, then the index, then the sums under their first: the
 * index at path always has its sums in one of the two (index_file.h). */
static enum err publish_index(const struct index_builder *b, struct errinfo *reterr)
{
    char sum[FILE_PATH_MAX];
    char fresh[FILE_PATH_MAX];
    enum err e = path_make(sum, reterr, "%s" INDEX_SUM_SUFFIX, b->path);
    THEN(e, path_make(fresh, reterr, "%s" INDEX_SUM_NEW_SUFFIX, b->path));
    THEN(e, settle_sums(b->path, sum, fresh, reterr));
    THEN(e, write_sums(b, fresh, reterr));
    if (e != ERR_OK) {
        return e;
    }
    if (rename(b->temp, b->path) != 0) {
        e = errinfo_errno(reterr, b->path, "cannot put the new index in place");
        (void)unlink(fresh);
        return e;
    }
    e = sync_parent(b->path, reterr);
    if (e == ERR_OK && rename(fresh, sum) != 0) {
        e = errinfo_errno(reterr, sum, "cannot put the sums of the index in place");
    }
    THEN(e, sync_parent(b->path, reterr));
    return e;
}

enum err index_builder_commit(struct index_builder **b, struct errinfo *reterr)
{
    struct index_builder *done = *b;
    enum err e = done->failed;
    if (e != ERR_OK) {
        (void)errinfo_set(reterr, e, done->path, 0,
                          "the index was not written because of an earlier failure");
    } else {
        int rc = give_batch(done); /* an empty one makes the table */
        background_job_wait(&done->behind);
        rc = rc == MDB_SUCCESS ? done->rc : rc;
        THEN(rc, mdb_env_sync(done->env, 1));
        e = rc == MDB_SUCCESS ? ERR_OK : fail_build(done, rc, reterr);
    }
    close_env(done);
    THEN(e, publish_index(done, reterr));
    index_builder_abort(b);
    return e;
}

void index_builder_abort(struct index_builder **b)
{
    if (*b) {
        close_env(*b);
        background_job_fini(&(*b)->behind);
        if ((*b)->temp[0] != '\0') {
            (void)unlink((*b)->temp); /* renamed by a commit */
        }
        free((*b)->batches);
        free(*b);
        *b = NULL;
    }
}
