/*
 * index_scrub - the file that is open is compared with its sums again, a block at a time.
 *
 * By reading, not through LMDB's mapping: that would make the whole index count as used memory.
 * The sum of the sums is not looked at: a rotten sum shows as a bad block, with the same cure.
 */
#include <lmdb.h>

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/base/file.h"
#include "core/store/index_format.h"

struct scrub {
    int fd; /* LMDB's */
    int sums;
    uint64_t size;
    char *block;
};

static enum err file_of(const struct index *ix, int *retfd, struct stat *retst)
{
    mdb_filehandle_t fd = -1;
    if (mdb_env_get_fd(index_env(ix), &fd) != MDB_SUCCESS || fstat(fd, retst) != 0) {
        return ERR_IO;
    }
    *retfd = fd;
    return ERR_OK;
}

uint64_t index_blocks(const struct index *ix)
{
    int fd = -1;
    struct stat st;
    return file_of(ix, &fd, &st) == ERR_OK ? index_sum_blocks((uint64_t)st.st_size) : 0;
}

/* ERR_CORRUPT when the file ends before n bytes. */
static enum err read_part(int fd, uint64_t offset, char *dst, size_t n)
{
    if (file_read_at(fd, offset, dst, n) == n) {
        return ERR_OK;
    }
    return errno == 0 ? ERR_CORRUPT : err_of_errno(errno);
}

/* Opens the sums of the file that LMDB has open; ERR_NOT_FOUND when path is another now. */
static enum err sums_open(const char *path, const struct stat *opened, int *ret)
{
    char sums[FILE_PATH_MAX];
    struct stat now;
    if (lstat(path, &now) != 0 || now.st_dev != opened->st_dev ||
        now.st_ino != opened->st_ino) {
        return ERR_NOT_FOUND;
    }
    enum err e = file_path(sums, "%s%s", path, INDEX_SUM_SUFFIX);
    if (e != ERR_OK) {
        return e;
    }
    *ret = open(sums, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    return *ret >= 0 ? ERR_OK : err_of_errno(errno);
}

static enum err header_check(const struct scrub *s)
{
    char bytes[INDEX_SUM_HEADER_BYTES];
    enum err e = read_part(s->sums, 0, bytes, sizeof(bytes));
    struct cursor c = cursor_of(slice_of(bytes, sizeof(bytes)));
    if (e == ERR_OK &&
        (cursor_u64(&c) != INDEX_SUM_MAGIC || cursor_u32(&c) != INDEX_SUM_VERSION ||
         cursor_u32(&c) != INDEX_SUM_BLOCK || cursor_u64(&c) != s->size)) {
        e = ERR_CORRUPT;
    }
    return e;
}

static enum err block_check(const struct scrub *s, uint64_t i)
{
    char bytes[INDEX_SUM_BYTES];
    size_t n = index_sum_block_bytes(s->size, i);
    enum err e = read_part(s->fd, i * INDEX_SUM_BLOCK, s->block, n);
    THEN(e, read_part(s->sums, INDEX_SUM_HEADER_BYTES + i * INDEX_SUM_BYTES, bytes,
                      sizeof(bytes)));
    struct cursor c = cursor_of(slice_of(bytes, sizeof(bytes)));
    if (e == ERR_OK && checksum64(slice_of(s->block, n)) != cursor_u64(&c)) {
        e = ERR_CORRUPT;
    }
    return e;
}

static enum err scrub_blocks(const struct scrub *s, uint64_t from, uint64_t nblocks,
                             uint64_t *retbad)
{
    uint64_t blocks = index_sum_blocks(s->size);
    uint64_t end = from < blocks && nblocks < blocks - from ? from + nblocks : blocks;
    uint64_t i = from;
    enum err e = from < end ? header_check(s) : ERR_OK;
    while (e == ERR_OK && i < end) {
        e = block_check(s, i);
        i += e == ERR_OK;
    }
    if (e == ERR_CORRUPT) {
        *retbad = i;
    }
    return e;
}

enum err index_scrub(const struct index *ix, uint64_t from, uint64_t nblocks,
                     uint64_t *retbad)
{
    struct scrub s = {.fd = -1, .sums = -1};
    struct stat st;
    const char *path = NULL;
    enum err e = file_of(ix, &s.fd, &st);
    if (e == ERR_OK && mdb_env_get_path(index_env(ix), &path) != MDB_SUCCESS) {
        e = ERR_IO;
    }
    THEN(e, sums_open(path, &st, &s.sums));
    if (e != ERR_OK) {
        return e;
    }
    s.size = (uint64_t)st.st_size;
    s.block = malloc(INDEX_SUM_BLOCK);
    e = s.block ? scrub_blocks(&s, from, nblocks, retbad) : ERR_NOMEM;
    free(s.block);
    (void)close(s.sums);
    return e;
}
