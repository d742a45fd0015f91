/*
 * bloomfile - header, lines, table of block checksums; everything is covered by a checksum.
 *
 * Layout 1, little-endian: [0] header of 4096 bytes; [4096] nlines * 64 bytes of lines, words of
 * 64 bits; then one XXH3-64 for each started 64 KiB of lines. The header's last 8 bytes are the
 * XXH3-64 of what stands before them.
 */
#include "core/filter/bloomfile.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/checksum.h"
#include "core/base/clock.h"
#include "core/base/cursor.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "filter words are used as they lie in the file");

enum {
    HEADER_BYTES = 4096,
    HEADER_SUM_AT = HEADER_BYTES - 8,
    BLOCK_BYTES = 64 * 1024,
    FORMAT_VERSION = 1,
    LAYOUT_ONE_LINE = 1 /* positions as core/filter/bloom.c cuts them */
};
static const uint64_t nlines_max = (uint64_t)1 << 40; /* 64 TiB of lines */
#define MAGIC SLICE_LIT("GNBLOOM1")

struct header {
    uint32_t version;
    uint32_t k;
    uint64_t nlines;
    uint64_t entries;
    uint32_t key_id;
    uint32_t layout;
    uint64_t generation;
    uint64_t created_s;
    uint64_t table_sum;
};

static uint64_t block_count(uint64_t nlines)
{
    return (nlines * BLOOM_LINE_BYTES + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

static uint64_t file_size(uint64_t nlines)
{
    return HEADER_BYTES + nlines * BLOOM_LINE_BYTES + block_count(nlines) * 8;
}

static enum err refuse(struct errinfo *reterr, enum err code, const char *path,
                       const char *what)
{
    return errinfo_set(reterr, code, path, 0,
                       "%s; the filter cannot be used: rebuild it", what);
}

/* The fields, in the order of the file. */
static struct header header_read(struct slice bytes)
{
    struct cursor c = cursor_of(slice_from(bytes, MAGIC.n));
    struct header h = {0};
    h.version = cursor_u32(&c);
    h.k = cursor_u32(&c);
    h.nlines = cursor_u64(&c);
    h.entries = cursor_u64(&c);
    h.key_id = cursor_u32(&c);
    h.layout = cursor_u32(&c);
    h.generation = cursor_u64(&c);
    h.created_s = cursor_u64(&c);
    h.table_sum = cursor_u64(&c);
    return h;
}

static enum err header_write(const struct header *h, struct buf *ret)
{
    static const char zeros[HEADER_BYTES];
    buf_add(ret, MAGIC);
    buf_add_u32(ret, h->version);
    buf_add_u32(ret, h->k);
    buf_add_u64(ret, h->nlines);
    buf_add_u64(ret, h->entries);
    buf_add_u32(ret, h->key_id);
    buf_add_u32(ret, h->layout);
    buf_add_u64(ret, h->generation);
    buf_add_u64(ret, h->created_s);
    buf_add_u64(ret, h->table_sum);
    if (buf_failed(ret)) {
        return ERR_NOMEM;
    }
    buf_add(ret, slice_of(zeros, HEADER_SUM_AT - ret->n));
    if (buf_failed(ret)) {
        return ERR_NOMEM;
    }
    buf_add_u64(ret, checksum64(buf_slice(ret)));
    return buf_failed(ret) ? ERR_NOMEM : ERR_OK;
}

/* Refuses a header that is not of this version, damaged, or of another key or size. */
static enum err header_check(struct slice bytes, const struct header *h,
                             uint32_t key_id, const char *path, struct errinfo *reterr)
{
    if (!slice_has_prefix(bytes, MAGIC)) {
        return refuse(reterr, ERR_CORRUPT, path, "not a gillnet filter");
    }
    if (h->version != FORMAT_VERSION || h->layout != LAYOUT_ONE_LINE) {
        /* a flipped bit here looks the same; both end in a rebuild */
        return refuse(reterr, ERR_VERSION, path, "made by another version of gillnet");
    }
    struct cursor sum = cursor_of(slice_from(bytes, HEADER_SUM_AT));
    if (cursor_u64(&sum) != checksum64(slice_head(bytes, HEADER_SUM_AT))) {
        return refuse(reterr, ERR_CORRUPT, path, "the header's checksum is wrong");
    }
    if (h->key_id != key_id) {
        return errinfo_set(reterr, ERR_KEY, path, 0,
                           "made with the key %08" PRIx32 ", this installation has "
                           "%08" PRIx32 "; rebuild it",
                           h->key_id, key_id);
    }
    if (h->k < 1 || h->k > BLOOM_K_MAX || h->nlines < 1 || h->nlines > nlines_max) {
        return refuse(reterr, ERR_CORRUPT, path, "the header's sizes are impossible");
    }
    return ERR_OK;
}

static enum err blocks_check(struct slice file, const struct header *h,
                             const char *path, struct errinfo *reterr)
{
    struct slice lines =
        slice_of(file.p + HEADER_BYTES, (size_t)(h->nlines * BLOOM_LINE_BYTES));
    struct slice table = slice_from(file, HEADER_BYTES + lines.n);
    if (checksum64(table) != h->table_sum) {
        return refuse(reterr, ERR_CORRUPT, path, "the checksum of the table is wrong");
    }
    struct cursor sums = cursor_of(table);
    for (uint64_t block = 0; lines.n > 0; block++) {
        struct slice bytes = slice_head(lines, BLOCK_BYTES);
        if (checksum64(bytes) != cursor_u64(&sums)) {
            return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                               "block %" PRIu64
                               " is damaged (its checksum is wrong); the "
                               "filter cannot be used: rebuild it",
                               block);
        }
        lines = slice_from(lines, bytes.n);
    }
    return ERR_OK;
}

static enum err bytes_check(struct slice file, struct header *ret, uint32_t key_id,
                            const char *path, struct errinfo *reterr)
{
    if (file.n < HEADER_BYTES) {
        return refuse(reterr, ERR_CORRUPT, path, "cut off in the header");
    }
    *ret = header_read(file);
    enum err e =
        header_check(slice_head(file, HEADER_BYTES), ret, key_id, path, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (file.n != file_size(ret->nlines)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "%zu bytes long where its header says %" PRIu64
                           "; the filter cannot be used: rebuild it",
                           file.n, file_size(ret->nlines));
    }
    return blocks_check(file, ret, path, reterr);
}

enum err bloomfile_open(struct bloomfile *f, const char *path,
                        const struct hashkey *key, struct errinfo *reterr)
{
    struct bloomfile opened = {0};
    enum err e = filemap_open(&opened.map, path, FILEMAP_COPY, reterr);
    if (e != ERR_OK) {
        return e;
    }
    void *start = opened.map.p;
    struct header h = {0};
    e = bytes_check(slice_of(start, opened.map.n), &h, key->id, path, reterr);
    if (e != ERR_OK) {
        filemap_close(&opened.map);
        return e;
    }
    void *lines = opened.map.p + HEADER_BYTES;
    opened.bloom.words = lines; /* 64-byte aligned: a page and a header of a page */
    opened.bloom.nlines = h.nlines;
    opened.bloom.k = h.k;
    opened.bloom.layout = BLOOM_ONE_LINE;
    bloom_key(&opened.bloom, key);
    opened.entries = h.entries;
    opened.generation = h.generation;
    opened.created_s = h.created_s;
    *f = opened;
    return ERR_OK;
}

void bloomfile_close(struct bloomfile *f)
{
    filemap_close(&f->map);
    if (f->built) {
        munmap(f->built, f->built_bytes);
    }
    *f = (struct bloomfile){0};
}

enum err bloomfile_new(struct bloomfile *f, uint64_t nlines, unsigned k,
                       const struct hashkey *key, struct errinfo *reterr)
{
    if (nlines < 1 || nlines > nlines_max || k < 1 || k > BLOOM_K_MAX) {
        return errinfo_set(reterr, ERR_RANGE, "", 0,
                           "a filter of %" PRIu64
                           " lines and %u bits per key is outside "
                           "the limits",
                           nlines, k);
    }
    size_t bytes = (size_t)(nlines * BLOOM_LINE_BYTES);
    void *p =
        /* cppcheck-suppress invalidFunctionArg ; -1 is what anonymous memory takes */
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return errinfo_set(reterr, ERR_NOMEM, "", 0,
                           "no memory for a filter of %zu bytes: %s", bytes,
                           err_text(err_of_errno(errno)));
    }
    (void)madvise(p, bytes, MADV_HUGEPAGE); /* only a wish */
    *f = (struct bloomfile){
        .bloom = {.words = p, .nlines = nlines, .layout = BLOOM_ONE_LINE, .k = k},
        .built = p,
        .built_bytes = bytes,
    };
    bloom_key(&f->bloom, key);
    return ERR_OK;
}

/* The table of block checksums of lines. */
static void table_make(struct slice lines, struct buf *ret)
{
    while (lines.n > 0) {
        struct slice bytes = slice_head(lines, BLOCK_BYTES);
        buf_add_u64(ret, checksum64(bytes));
        lines = slice_from(lines, bytes.n);
    }
}

enum err bloomfile_write(struct bloomfile *f, const char *path,
                         const struct hashkey *key, uint64_t entries,
                         uint64_t generation, struct errinfo *reterr)
{
    const void *words = f->bloom.words;
    struct slice lines = slice_of(words, (size_t)(f->bloom.nlines * BLOOM_LINE_BYTES));
    struct buf header;
    struct buf table;
    buf_init(&header, HEADER_BYTES);
    buf_init(&table, (size_t)(block_count(f->bloom.nlines) * 8));
    table_make(lines, &table);
    struct header h = {
        .version = FORMAT_VERSION,
        .k = f->bloom.k,
        .nlines = f->bloom.nlines,
        .entries = entries,
        .key_id = key->id,
        .layout = LAYOUT_ONE_LINE,
        .generation = generation,
        .created_s = clock_wall_us() / 1000000,
        .table_sum = checksum64(buf_slice(&table)),
    };
    enum err e = header_write(&h, &header);
    if (e != ERR_OK || buf_failed(&table)) {
        e = errinfo_set(reterr, ERR_NOMEM, path, 0, "no memory to write the filter");
        goto out;
    }
    struct file_out out;
    e = file_out_open(&out, path, 0640, reterr);
    if (e != ERR_OK) {
        goto out;
    }
    file_out_add(&out, buf_slice(&header));
    file_out_add(&out, lines);
    file_out_add(&out, buf_slice(&table));
    e = file_out_commit(&out, reterr);
    if (e == ERR_OK) {
        f->entries = entries;
        f->generation = generation;
        f->created_s = h.created_s;
    }
out:
    buf_fini(&header);
    buf_fini(&table);
    return e;
}
