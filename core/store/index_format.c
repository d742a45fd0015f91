/* index_format - records, sums and error codes of the exact index. */
#include "core/store/index_format.h"

#include <lmdb.h>
#include <sys/mman.h>

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/base/file.h"
#include "core/base/le.h"
#include "core/base/pages.h"

static uint32_t value_checksum(const struct digest *d, const uint8_t *fields)
{
    uint8_t both[DIGEST_BYTES + INDEX_FIELDS_BYTES];
    memcpy(both, d->b, DIGEST_BYTES);
    memcpy(both + DIGEST_BYTES, fields, INDEX_FIELDS_BYTES);
    return checksum32(slice_of((const char *)both, sizeof(both)));
}

void index_value_write(const struct digest *d, const struct index_record *r,
                       uint8_t value[INDEX_VALUE_BYTES])
{
    value[0] = r->status;
    value[1] = r->flags;
    le_put(value + 2, r->class_type, 2);
    le_put(value + 4, r->segment, 4);
    le_put(value + 8, r->offset, 4);
    le_put(value + 12, r->first_seen_s, 4);
    le_put(value + 16, r->expiry_s, 4);
    le_put(value + INDEX_FIELDS_BYTES, value_checksum(d, value), 4);
}

enum err index_value_read(const struct digest *d, const void *value, size_t n,
                          struct index_record *ret)
{
    const uint8_t *p = value;
    if (n != INDEX_VALUE_BYTES ||
        le_get(p + INDEX_FIELDS_BYTES, 4) != value_checksum(d, p)) {
        return ERR_CORRUPT;
    }
    *ret = (struct index_record){.status = p[0],
                                 .flags = p[1],
                                 .class_type = (uint16_t)le_get(p + 2, 2),
                                 .segment = (uint32_t)le_get(p + 4, 4),
                                 .offset = (uint32_t)le_get(p + 8, 4),
                                 .first_seen_s = (uint32_t)le_get(p + 12, 4),
                                 .expiry_s = (uint32_t)le_get(p + 16, 4)};
    return ERR_OK;
}

int index_lmdb_share(MDB_env *env, mode_t mode)
{
    mdb_filehandle_t fd = -1;
    int rc = mdb_env_get_fd(env, &fd);

    if (rc == MDB_SUCCESS && fchmod(fd, mode) != 0 && errno != EPERM) {
        rc = errno;
    }
    return rc;
}

enum err index_lmdb_err(int rc, const char *path, const char *what,
                        struct errinfo *reterr)
{
    if (rc == MDB_SUCCESS) {
        return ERR_OK;
    }
    enum err e = ERR_IO;
    if (rc > 0) {
        errno = rc;
        return errinfo_errno(reterr, path, what);
    }
    if (rc == MDB_MAP_FULL || rc == MDB_TXN_FULL) {
        e = ERR_NOSPACE;
    } else if (rc == MDB_VERSION_MISMATCH) {
        e = ERR_VERSION;
    } else if (rc == MDB_NOTFOUND) {
        e = ERR_NOT_FOUND;
    } else if (rc == MDB_CORRUPTED || rc == MDB_INVALID || rc == MDB_PAGE_NOTFOUND) {
        e = ERR_CORRUPT;
    }
    return errinfo_set(reterr, e, path, 0, "%s: %s", what, mdb_strerror(rc));
}

static enum err damaged_index(struct errinfo *reterr, const char *path,
                              const char *what)
{
    return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                       "%s; rebuild the list's index from its log", what);
}

static enum err size_of(int fd, const char *path, uint64_t *ret, struct errinfo *reterr)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return errinfo_errno(reterr, path, "cannot examine the index");
    }
    *ret = (uint64_t)st.st_size;
    return ERR_OK;
}

uint64_t index_sum_blocks(uint64_t size)
{
    return size / INDEX_SUM_BLOCK + (size % INDEX_SUM_BLOCK != 0);
}

size_t index_sum_block_bytes(uint64_t size, uint64_t i)
{
    uint64_t left = size - i * INDEX_SUM_BLOCK;
    return left < INDEX_SUM_BLOCK ? (size_t)left : INDEX_SUM_BLOCK;
}

/* The file that is summed up. */
struct data {
    int fd;
    const char *path;
    uint64_t size;
    char *block; /* INDEX_SUM_BLOCK bytes to read into */
};

/* Reads block i in full; a shorter file is damage. */
static enum err sum_block(const struct data *d, uint64_t i, uint64_t *ret,
                          struct errinfo *reterr)
{
    size_t want = index_sum_block_bytes(d->size, i);
    if (file_read_at(d->fd, i * INDEX_SUM_BLOCK, d->block, want) != want) {
        return errno == 0 ? damaged_index(reterr, d->path,
                                          "the index became shorter while it was read")
                          : errinfo_errno(reterr, d->path, "cannot read the index");
    }
    *ret = checksum64(slice_of(d->block, want));
    return ERR_OK;
}

enum err index_sum_make(int fd, const char *path, struct buf *ret,
                        struct errinfo *reterr)
{
    uint64_t size = 0;
    enum err e = size_of(fd, path, &size, reterr);
    if (e != ERR_OK) {
        return e;
    }
    char *block = pages_new(INDEX_SUM_BLOCK);
    if (!block) {
        return errinfo_nomem(reterr, path);
    }
    struct data data = {fd, path, size, block};
    buf_add_u64(ret, INDEX_SUM_MAGIC);
    buf_add_u32(ret, INDEX_SUM_VERSION);
    buf_add_u32(ret, INDEX_SUM_BLOCK);
    buf_add_u64(ret, size);
    buf_add_u64(ret, index_sum_blocks(size));
    for (uint64_t i = 0; i < index_sum_blocks(size) && e == ERR_OK; i++) {
        uint64_t sum = 0;
        e = sum_block(&data, i, &sum, reterr);
        buf_add_u64(ret, sum);
    }
    pages_free(block, INDEX_SUM_BLOCK);
    buf_add_u64(ret, checksum64(buf_slice(ret)));
    if (e == ERR_OK && buf_failed(ret)) {
        e = errinfo_nomem(reterr, path);
    }
    return e;
}

/* The header of a sum file of n bytes at c, against a data file of size bytes. */
static enum err check_header(struct cursor *c, size_t n, uint64_t size,
                             const char *sum_path, struct errinfo *reterr)
{
    if (cursor_u64(c) != INDEX_SUM_MAGIC) {
        return damaged_index(reterr, sum_path,
                             "this is not a file of sums of an index");
    }
    uint32_t version = cursor_u32(c);
    if (cursor_ok(c) && version != INDEX_SUM_VERSION) {
        return errinfo_set(reterr, ERR_VERSION, sum_path, 0,
                           "sums of version %u, this program knows version %d", version,
                           INDEX_SUM_VERSION);
    }
    uint32_t block = cursor_u32(c);
    uint64_t data_size = cursor_u64(c);
    uint64_t nblocks = cursor_u64(c);
    if (!cursor_ok(c) || block != INDEX_SUM_BLOCK ||
        nblocks != index_sum_blocks(data_size) ||
        n != INDEX_SUM_HEADER_BYTES + (nblocks + 1) * INDEX_SUM_BYTES) {
        return damaged_index(reterr, sum_path, "the file of sums is damaged");
    }
    if (data_size != size) {
        return damaged_index(reterr, sum_path,
                             "the index has another size than its sums say");
    }
    return ERR_OK;
}

static enum err verify_blocks(int fd, const char *path, uint64_t size, struct cursor *c,
                              struct errinfo *reterr)
{
    char *block = pages_new(INDEX_SUM_BLOCK);
    if (!block) {
        return errinfo_nomem(reterr, path);
    }
    struct data data = {fd, path, size, block};
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    enum err e = ERR_OK;
    for (uint64_t i = 0; i < index_sum_blocks(size) && e == ERR_OK; i++) {
        uint64_t sum = 0;
        e = sum_block(&data, i, &sum, reterr);
        if (e == ERR_OK && sum != cursor_u64(c)) {
            e = damaged_index(reterr, path,
                              "the index is damaged: a block has a wrong sum");
        }
    }
    pages_free(block, INDEX_SUM_BLOCK);
    return e;
}

enum err index_sum_verify(int fd, const char *path, const char *sum_path,
                          struct errinfo *reterr)
{
    uint64_t size = 0;
    struct buf text;
    enum err e = size_of(fd, path, &size, reterr);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&text, INDEX_SUM_MAX);
    e = file_read(sum_path, &text, reterr);
    struct slice all = buf_slice(&text);
    if (e == ERR_OK && all.n < INDEX_SUM_HEADER_BYTES + INDEX_SUM_BYTES) {
        e = damaged_index(reterr, sum_path, "the file of sums is cut short");
    }
    if (e == ERR_OK) {
        struct cursor own = cursor_of(slice_from(all, all.n - INDEX_SUM_BYTES));
        if (cursor_u64(&own) != checksum64(slice_head(all, all.n - INDEX_SUM_BYTES))) {
            e = damaged_index(reterr, sum_path, "the file of sums is damaged");
        }
    }
    if (e == ERR_OK) {
        struct cursor c = cursor_of(all);
        e = check_header(&c, all.n, size, sum_path, reterr);
        if (e == ERR_OK) {
            e = verify_blocks(fd, path, size, &c, reterr);
        }
    }
    buf_fini(&text);
    return e;
}
