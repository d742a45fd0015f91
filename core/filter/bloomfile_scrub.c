/* bloomfile_scrub - compares the filter in use with its sums again, a piece at a time. */

#include <sys/uio.h>

#include "core/base/checksum.h"
#include "core/filter/bloomfile_internal.h"

uint64_t bloomfile_blocks(const struct bloomfile *f)
{
    return bloomfile_block_count(f->bloom.nlines);
}

static size_t block_bytes(const struct bloomfile *f, uint64_t block)
{
    uint64_t at = block * BLOOMFILE_BLOCK_BYTES;
    uint64_t left = bloomfile_lines_bytes(f->bloom.nlines) - at;
    return left < BLOOMFILE_BLOCK_BYTES ? (size_t)left : BLOOMFILE_BLOCK_BYTES;
}

static bool copied_block_is_good(const struct bloomfile *f, uint64_t block)
{
    const char *lines = f->memory;
    const uint64_t *sums = f->sums;
    const char *p = lines + block * BLOOMFILE_BLOCK_BYTES;
    return checksum64(slice_of(p, block_bytes(f, block))) == sums[block];
}

/* By reading, not through the mapping: that would make all of it count as used memory, and a
 * file cut short would kill. */
static enum err mapped_block(const struct bloomfile *f, uint64_t block, char *buffer,
                             bool *retgood)
{
    uint64_t sum = 0;
    size_t n = block_bytes(f, block);
    uint64_t table = BLOOMFILE_HEADER_BYTES + bloomfile_lines_bytes(f->bloom.nlines);
    enum err e = bloomfile_read(f->fd, buffer, n,
                                BLOOMFILE_HEADER_BYTES + block * BLOOMFILE_BLOCK_BYTES);
    THEN(e,
         bloomfile_read(f->fd, &sum, sizeof(sum), table + block * BLOOMFILE_SUM_BYTES));
    *retgood = e == ERR_OK && checksum64(slice_of(buffer, n)) == sum;
    return e == ERR_CORRUPT ? ERR_OK : e; /* cut short: bad */
}

/* NOLINTNEXTLINE(readability-non-const-parameter): stored through */
static enum err cached_read(int fd, char *dst, size_t n, uint64_t offset)
{
    struct iovec v = {.iov_base = dst, .iov_len = n};
    ssize_t got = preadv2(fd, &v, 1, (off_t)offset, RWF_NOWAIT);
    return got == (ssize_t)n ? ERR_OK : ERR_TIMEOUT;
}

enum err bloomfile_block_read(const struct bloomfile *f, uint64_t block, bool may_wait,
                              char ret[BLOOMFILE_BLOCK_BYTES], size_t *retn)
{
    const uint64_t *sums = f->sums;
    if (block >= bloomfile_blocks(f)) {
        return ERR_CORRUPT;
    }
    size_t n = block_bytes(f, block);
    uint64_t at = BLOOMFILE_HEADER_BYTES + block * BLOOMFILE_BLOCK_BYTES;
    enum err e =
        may_wait ? bloomfile_read(f->fd, ret, n, at) : cached_read(f->fd, ret, n, at);
    *retn = n;
    return e == ERR_OK && checksum64(slice_of(ret, n)) != sums[block] ? ERR_CORRUPT : e;
}

enum err bloomfile_scrub(const struct bloomfile *f, uint64_t from, uint64_t nblocks,
                         uint64_t *retbad)
{
    uint64_t blocks = bloomfile_blocks(f);
    uint64_t end = from < blocks && nblocks < blocks - from ? from + nblocks : blocks;
    bool is_map = f->hold != BLOOMFILE_COPY;
    char *buffer = is_map ? malloc(BLOOMFILE_BLOCK_BYTES) : NULL;
    if ((is_map && !buffer) || (!is_map && !f->sums)) {
        return is_map ? ERR_NOMEM : ERR_OK; /* one being built has no sums yet */
    }
    enum err e = ERR_OK;
    for (uint64_t block = from; e == ERR_OK && block < end; block++) {
        bool is_good = true;
        if (is_map) {
            e = mapped_block(f, block, buffer, &is_good);
        } else {
            is_good = copied_block_is_good(f, block);
        }
        if (e == ERR_OK && !is_good) {
            *retbad = block;
            e = ERR_CORRUPT;
        }
    }
    free(buffer);
    return e;
}
