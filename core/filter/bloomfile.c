/*
 * bloomfile - opening verifies everything: a copy while its bytes are hot, a map by reading the
 * file, so that neither a cut file can kill the reader nor its pages count as used.
 *
 * [0] header of 4096 bytes; [4096] lines of 64 bytes, words of 64 bits; then one XXH3-64 for each
 * started 64 KiB of lines. The last 8 bytes of the header are the XXH3-64 of the bytes before them.
 */
#include "core/filter/bloomfile.h"

#include <sys/mman.h>

#include "core/base/checksum.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/base/sigbus.h"
#include "core/filter/bloomfile_internal.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "filter words and sums are used as they lie in the file");

enum { FILE_MODE = 0640, OTHERS_WRITE = S_IWGRP | S_IWOTH };

static const char *const copy_next =
    "set filter_memory = \"map\" for this list, or free some memory";
static const char *const build_next =
    "nothing was changed; free some memory, or make the list smaller";

/* What a person does about a bad file. */
static const char *next_step(const char *wanted)
{
    return wanted != NULL ? wanted : "rebuild it";
}

/* A file being opened. */
struct source {
    const char *path;
    const char *next;
    int fd;
    struct stat st;
    struct bloomfile_header header;
};

static enum err refuse_filter(const struct source *s, enum err code, const char *what,
                              struct errinfo *reterr)
{
    return bloomfile_refuse(reterr, code, s->path, what, s->next);
}

static enum err read_failed(const struct source *s, enum err e, struct errinfo *reterr)
{
    if (e == ERR_CORRUPT) {
        return refuse_filter(s, e, "the file became shorter while it was read", reterr);
    }
    return errinfo_errno(reterr, s->path, "cannot read the filter");
}

/* ---- what the file says of itself ---- */

static enum err source_open(struct source *s, struct errinfo *reterr)
{
    char bytes[BLOOMFILE_HEADER_BYTES];
    /* O_NONBLOCK: a FIFO in the place of a file must not hang us */
    s->fd = open(s->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0) {
        return errinfo_errno(reterr, s->path, "cannot open the filter");
    }
    if (fstat(s->fd, &s->st) != 0) {
        return errinfo_errno(reterr, s->path, "cannot examine the filter");
    }
    if (!S_ISREG(s->st.st_mode)) {
        return refuse_filter(s, ERR_CORRUPT, "not a regular file", reterr);
    }
    size_t n = s->st.st_size < BLOOMFILE_HEADER_BYTES ? (size_t)s->st.st_size
                                                      : BLOOMFILE_HEADER_BYTES;
    enum err e = bloomfile_read(s->fd, bytes, n, 0);
    if (e != ERR_OK) {
        return read_failed(s, e, reterr);
    }
    e = bloomfile_header_read(slice_of(bytes, n), s->path, s->next, &s->header, reterr);
    if (e != ERR_OK) {
        return e;
    }
    uint64_t size = bloomfile_file_size(s->header.shape.nlines);
    if ((uint64_t)s->st.st_size != size) {
        return errinfo_set(reterr, ERR_CORRUPT, s->path, 0,
                           "%jd bytes long where its header says %" PRIu64
                           "; the filter cannot be used: %s",
                           (intmax_t)s->st.st_size, size, s->next);
    }
    return ERR_OK;
}

static enum err foreign_key(const struct source *s, const char *what, uint32_t its,
                            uint32_t ours, struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_KEY, s->path, 0,
                       "its %s were made with the key %08" PRIx32
                       ", this installation's is %08" PRIx32
                       "; the filter cannot be used: %s",
                       what, its, ours, s->next);
}

/* The key of these positions, or NULL. */
static const struct hashkey *position_key_of(const struct bloomfile_want *want,
                                             uint32_t id)
{
    if (want->key->id == id) {
        return want->key;
    }
    return want->other_key && want->other_key->id == id ? want->other_key : NULL;
}

static enum err want_check(const struct source *s, const struct bloomfile_want *want,
                           struct errinfo *reterr)
{
    const struct bloomfile_facts *facts = &s->header.shape.facts;
    if (want->digest_key != 0 && facts->digest_key != want->digest_key) {
        return foreign_key(s, "digests", facts->digest_key, want->digest_key, reterr);
    }
    if (!position_key_of(want, facts->position_key)) {
        return foreign_key(s, "positions", facts->position_key, want->key->id, reterr);
    }
    if (want->role != 0 && facts->role != want->role) {
        return refuse_filter(s, ERR_CORRUPT, "a filter of another kind", reterr);
    }
    if (want->hold == BLOOMFILE_MAP && (s->st.st_mode & OTHERS_WRITE) != 0) {
        return errinfo_set(reterr, ERR_DENIED, s->path, 0,
                           "others than its owner may write the filter, and could "
                           "kill by cutting it short while it is mapped; run: chmod "
                           "go-w %.200s, or set filter_memory = \"copy\"",
                           s->path);
    }
    return ERR_OK;
}

/* ---- the lines ---- */

static enum err block_bad(const struct source *s, uint64_t block,
                          struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_CORRUPT, s->path, 0,
                       "block %" PRIu64 " is damaged (its checksum is wrong); the "
                       "filter cannot be used: %s",
                       block, s->next);
}

/* Compares blocks with their sums; *retbad counts from the first of them. */
static bool blocks_match(struct slice bytes, const uint64_t *sums, uint64_t *retbad)
{
    for (uint64_t i = 0; bytes.n > 0; i++) {
        struct slice block = slice_head(bytes, BLOOMFILE_BLOCK_BYTES);
        if (checksum64(block) != sums[i]) {
            *retbad = i;
            return false;
        }
        bytes = slice_from(bytes, block.n);
    }
    return true;
}

static enum err table_read(const struct source *s, uint64_t *sums,
                           struct errinfo *reterr)
{
    uint64_t nlines = s->header.shape.nlines;
    size_t n = (size_t)(bloomfile_block_count(nlines) * BLOOMFILE_SUM_BYTES);
    uint64_t at = BLOOMFILE_HEADER_BYTES + bloomfile_lines_bytes(nlines);
    enum err e = bloomfile_read(s->fd, sums, n, at);
    if (e != ERR_OK) {
        return read_failed(s, e, reterr);
    }
    if (checksum64(slice_of((const char *)sums, n)) != s->header.table_sum) {
        return refuse_filter(s, ERR_CORRUPT, "the checksum of the table is wrong",
                             reterr);
    }
    return ERR_OK;
}

/* Reads all lines, verifying them piece by piece: into `whole`, or when that is NULL into one
 * buffer again and again. */
static enum err lines_read(const struct source *s, char *whole, const uint64_t *sums,
                           struct errinfo *reterr)
{
    uint64_t bytes = bloomfile_lines_bytes(s->header.shape.nlines);
    char *piece = whole ? NULL : malloc(BLOOMFILE_READ_BYTES);
    if (!whole && !piece) {
        return errinfo_set(reterr, ERR_NOMEM, s->path, 0, "no memory to verify it");
    }
    enum err e = ERR_OK;
    for (uint64_t at = 0; e == ERR_OK && at < bytes; at += BLOOMFILE_READ_BYTES) {
        uint64_t left = bytes - at;
        size_t n = left < BLOOMFILE_READ_BYTES ? (size_t)left : BLOOMFILE_READ_BYTES;
        char *to = whole ? whole + at : piece;
        uint64_t first = at / BLOOMFILE_BLOCK_BYTES;
        uint64_t bad = 0;
        e = bloomfile_read(s->fd, to, n, BLOOMFILE_HEADER_BYTES + at);
        if (e != ERR_OK) {
            e = read_failed(s, e, reterr);
        } else if (!blocks_match(slice_of(to, n), sums + first, &bad)) {
            e = block_bad(s, first + bad, reterr);
        }
    }
    free(piece);
    return e;
}

static enum err open_copy(const struct source *s, struct bloomfile *f,
                          struct errinfo *reterr)
{
    uint64_t nlines = s->header.shape.nlines;
    size_t lines = (size_t)bloomfile_lines_bytes(nlines);
    size_t bytes =
        lines + (size_t)(bloomfile_block_count(nlines) * BLOOMFILE_SUM_BYTES);
    void *p = NULL;
    enum err e = bloomfile_memory_new(bytes, s->path, copy_next, &p, reterr);
    if (e != ERR_OK) {
        return e;
    }
    void *sums = (char *)p + lines;
    e = table_read(s, sums, reterr);
    THEN(e, lines_read(s, p, sums, reterr));
    if (e != ERR_OK) {
        (void)munmap(p, bytes);
        return e;
    }
    f->memory = p;
    f->bytes = bytes;
    f->sums = sums;
    f->bloom.words = p;
    return ERR_OK;
}

static enum err verify_file(const struct source *s, struct errinfo *reterr)
{
    uint64_t blocks = bloomfile_block_count(s->header.shape.nlines);
    uint64_t *sums = calloc((size_t)blocks, sizeof(*sums));
    if (!sums) {
        return errinfo_set(reterr, ERR_NOMEM, s->path, 0, "no memory to verify it");
    }
    enum err e = table_read(s, sums, reterr);
    THEN(e, lines_read(s, NULL, sums, reterr));
    free(sums);
    return e;
}

/* Takes the descriptor on success. */
static enum err open_map(struct source *s, struct bloomfile *f, struct errinfo *reterr)
{
    enum err e = verify_file(s, reterr);
    if (e != ERR_OK) {
        return e;
    }
    size_t bytes = (size_t)s->st.st_size;
    void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, s->fd, 0);
    if (p == MAP_FAILED) {
        return errinfo_errno(reterr, s->path, "cannot map the filter");
    }
    e = sigbus_add(p, bytes, SIGBUS_ONES);
    if (e != ERR_OK) {
        (void)munmap(p, bytes);
        return errinfo_set(reterr, e, s->path, 0,
                           "a map of the filter cannot be guarded: %s; set "
                           "filter_memory = \"copy\" for this list",
                           err_text(e));
    }
    (void)madvise(p, bytes, MADV_RANDOM);
    void *lines = (char *)p + BLOOMFILE_HEADER_BYTES;
    f->memory = p;
    f->bytes = bytes;
    f->fd = s->fd;
    f->bloom.words = lines; /* 64-byte aligned: a page and a header of a page */
    s->fd = -1;
    return ERR_OK;
}

/* The same lines under the same keys have the same name on every server. */
static void id_make(const struct bloomfile_shape *s, struct slice sums,
                    uint8_t ret[BLOOMFILE_ID_BYTES])
{
    const uint64_t form[] = {s->layout, s->nlines,           s->k,
                             s->hash,   s->facts.digest_key, s->facts.position_key};
    const struct slice parts[] = {SLICE_LIT("lines 1"),
                                  slice_of((const char *)form, sizeof(form)), sums};
    struct hash256 h;
    hash256_make(parts, LENGTH(parts), &h);
    memcpy(ret, h.b, BLOOMFILE_ID_BYTES);
}

/* Takes the descriptor on success. */
static enum err open_remote(struct source *s, struct bloomfile *f,
                            struct errinfo *reterr)
{
    const struct bloomfile_shape *shape = &s->header.shape;
    size_t n = (size_t)bloomfile_block_count(shape->nlines);
    uint64_t *sums = calloc(n, sizeof(*sums));
    enum err e = sums ? table_read(s, sums, reterr) : errinfo_nomem(reterr, s->path);
    if (e != ERR_OK || !sums) {
        free(sums);
        return e;
    }
    id_make(shape, slice_of((const char *)sums, n * sizeof(*sums)), f->id);
    f->memory = sums;
    f->sums = sums;
    f->bytes = n * sizeof(*sums);
    f->fd = s->fd;
    s->fd = -1;
    return ERR_OK;
}

static enum err open_as(struct source *s, enum bloomfile_hold hold, struct bloomfile *f,
                        struct errinfo *reterr)
{
    if (hold == BLOOMFILE_REMOTE) {
        return open_remote(s, f, reterr);
    }
    (void)posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return hold == BLOOMFILE_MAP ? open_map(s, f, reterr) : open_copy(s, f, reterr);
}

enum err bloomfile_open(struct bloomfile *f, const char *path,
                        const struct bloomfile_want *want, struct errinfo *reterr)
{
    struct source s = {.path = path, .next = next_step(want->next), .fd = -1};
    struct bloomfile opened = {.hold = want->hold, .fd = -1};
    enum err e = source_open(&s, reterr);
    THEN(e, want_check(&s, want, reterr));
    if (e == ERR_OK) {
        e = open_as(&s, want->hold, &opened, reterr);
    }
    fd_close(&s.fd);
    if (e != ERR_OK) {
        return e;
    }
    const struct bloomfile_shape *shape = &s.header.shape;
    opened.bloom.layout = shape->layout;
    opened.facts = shape->facts;
    opened.bloom.nlines = shape->nlines;
    opened.bloom.k = shape->k;
    bloom_key(&opened.bloom, position_key_of(want, shape->facts.position_key));
    *f = opened;
    return ERR_OK;
}

enum err bloomfile_peek(const char *path, const char *next, struct bloomfile_shape *ret,
                        struct errinfo *reterr)
{
    struct source s = {.path = path, .next = next_step(next), .fd = -1};
    enum err e = source_open(&s, reterr);
    fd_close(&s.fd);
    if (e == ERR_OK) {
        *ret = s.header.shape;
    }
    return e;
}

bool bloomfile_is_damaged(const struct bloomfile *f)
{
    struct stat st;

    return f->memory && f->hold == BLOOMFILE_MAP &&
           (sigbus_is_damaged(f->memory) ||
            (fstat(f->fd, &st) == 0 && (uint64_t)st.st_size < f->bytes));
}

void bloomfile_close(struct bloomfile *f)
{
    if (f->memory && f->hold == BLOOMFILE_MAP) {
        sigbus_remove(f->memory);
    }
    if (f->memory && f->hold != BLOOMFILE_COPY) {
        (void)close(f->fd);
    }
    if (f->hold == BLOOMFILE_REMOTE) {
        free(f->memory);
    } else if (f->memory) {
        (void)munmap(f->memory, f->bytes);
    }
    *f = (struct bloomfile){.fd = -1};
}

/* ---- building ---- */

enum err bloomfile_new(struct bloomfile *f, enum bloom_layout layout, uint64_t nlines,
                       unsigned k, const struct hashkey *key, struct errinfo *reterr)
{
    if (bloom_check(layout, nlines, k) != ERR_OK) {
        return errinfo_set(reterr, ERR_RANGE, "", 0,
                           "a filter of layout %u, %" PRIu64
                           " lines and %u bits per key is outside the limits; choose "
                           "other sizes (gillnet plan)",
                           (unsigned)layout, nlines, k);
    }
    size_t bytes = (size_t)bloomfile_lines_bytes(nlines);
    void *p = NULL;
    enum err e = bloomfile_memory_new(bytes, "", build_next, &p, reterr);
    if (e != ERR_OK) {
        return e;
    }
    *f = (struct bloomfile){
        .bloom = {.words = p, .nlines = nlines, .layout = layout, .k = k},
        .facts = {.role = BLOOMFILE_BASE, .position_key = key->id},
        .memory = p,
        .bytes = bytes,
        .fd = -1,
    };
    bloom_key(&f->bloom, key);
    return ERR_OK;
}

/* The table of block checksums of lines. */
static void table_make(struct slice lines, struct buf *ret)
{
    while (lines.n > 0) {
        struct slice bytes = slice_head(lines, BLOOMFILE_BLOCK_BYTES);
        buf_add_u64(ret, checksum64(bytes));
        lines = slice_from(lines, bytes.n);
    }
}

static enum err write_file(const char *path, struct slice header, struct slice lines,
                           struct slice table, struct errinfo *reterr)
{
    struct file_out out;
    enum err e = file_out_open(&out, path, FILE_MODE, reterr);
    if (e != ERR_OK) {
        return e;
    }
    file_out_add(&out, header);
    file_out_add(&out, lines);
    file_out_add(&out, table);
    return file_out_commit(&out, reterr);
}

enum err bloomfile_write(struct bloomfile *f, const char *path, struct errinfo *reterr)
{
    const void *words = f->bloom.words;
    uint64_t nlines = f->bloom.nlines;
    struct slice lines = slice_of(words, (size_t)bloomfile_lines_bytes(nlines));
    struct buf header;
    struct buf table;
    buf_init(&header, BLOOMFILE_HEADER_BYTES);
    buf_init(&table, (size_t)(bloomfile_block_count(nlines) * BLOOMFILE_SUM_BYTES));
    table_make(lines, &table);
    f->facts.created_s = clock_wall_us() / 1000000;
    if (f->facts.capacity == 0) {
        f->facts.capacity = f->facts.entries > 0 ? f->facts.entries : 1;
    }
    struct bloomfile_header h = {
        .shape = {.layout = f->bloom.layout,
                  .nlines = nlines,
                  .k = f->bloom.k,
                  .hash = BLOOMFILE_HASH_MIX,
                  .facts = f->facts},
        .table_sum = checksum64(buf_slice(&table)),
    };
    enum err e = bloomfile_header_write(&h, &header);
    if (e != ERR_OK || buf_failed(&table)) {
        e = errinfo_set(reterr, ERR_NOMEM, path, 0, "no memory to write the filter");
    } else {
        e = write_file(path, buf_slice(&header), lines, buf_slice(&table), reterr);
    }
    buf_fini(&header);
    buf_fini(&table);
    return e;
}
