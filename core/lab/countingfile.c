/* countingfile - a counting filter on disk; read and verified whole, cells are added in memory. */
#include "core/lab/countingfile.h"

#include <sys/mman.h>

#include "core/base/checksum.h"
#include "core/base/clock.h"
#include "core/base/cursor.h"
#include "core/base/file.h"
#include "core/base/prng.h"
#include "core/filter/bloomfile_internal.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "cells are used as they lie in the file");

enum {
    FORMAT_VERSION = 1,
    BLOCK_BYTES = 64 * 1024,
    SUM_BYTES = 8,
    SUM_AT = COUNTINGFILE_HEADER_BYTES - SUM_BYTES,
    SOURCE_BYTES = COUNTINGFILE_ORIGIN_BYTES + 16,
    FILE_MODE = 0640
};
#define MAGIC SLICE_LIT("GNCOUNT1")

_Static_assert(COUNTINGFILE_SOURCES_AT + COUNTINGFILE_SOURCES_MAX * SOURCE_BYTES <=
                   SUM_AT,
               "the sources fit the header");

static const char *const next = "make it again (gillnet count export --filter)";
static const char *const need_memory = "free some memory, or give fewer --cells";

struct header {
    struct counting_shape shape;
    struct countingfile_facts facts;
    uint64_t table_sum;
};

static uint64_t block_count(uint64_t bytes)
{
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

static enum err refuse(struct errinfo *reterr, enum err code, const char *path,
                       const char *what)
{
    return errinfo_set(reterr, code, path, 0, "%s; the counts in it cannot be used: %s",
                       what, next);
}

/* ---- the header ---- */

static struct header fields_read(struct slice bytes, uint32_t *retversion,
                                 uint32_t *retreserved)
{
    struct cursor c = cursor_of(slice_from(bytes, MAGIC.n));
    struct header h = {.shape = {.layout = COUNTING_FLAT, .nchunks = 1}};

    *retversion = cursor_u32(&c);
    h.shape.variant = (enum counting_variant)cursor_u32(&c);
    h.shape.cell_bits = cursor_u32(&c);
    h.shape.k = cursor_u32(&c);
    h.facts.ring_key = cursor_u32(&c);
    *retreserved = cursor_u32(&c);
    h.shape.chunk_cells = cursor_u64(&c);
    h.facts.keys = cursor_u64(&c);
    h.facts.total = cursor_u64(&c);
    h.facts.created_s = cursor_u64(&c);
    h.facts.nsources = cursor_u32(&c);
    *retreserved |= cursor_u32(&c);
    h.table_sum = cursor_u64(&c);
    c = cursor_of(slice_from(bytes, COUNTINGFILE_SOURCES_AT));
    for (unsigned i = 0; i < COUNTINGFILE_SOURCES_MAX; i++) {
        struct countingfile_source *s = &h.facts.sources[i];
        memcpy(s->origin, cursor_bytes(&c, sizeof(s->origin)).p, sizeof(s->origin));
        s->first_s = cursor_u64(&c);
        s->end_s = cursor_u64(&c);
    }
    return h;
}

static enum err header_print(const struct header *h, struct buf *ret)
{
    static const char zeros[COUNTINGFILE_HEADER_BYTES];

    buf_add(ret, MAGIC);
    buf_add_u32(ret, FORMAT_VERSION);
    buf_add_u32(ret, (uint32_t)h->shape.variant);
    buf_add_u32(ret, h->shape.cell_bits);
    buf_add_u32(ret, h->shape.k);
    buf_add_u32(ret, h->facts.ring_key);
    buf_add_u32(ret, 0);
    buf_add_u64(ret, h->shape.chunk_cells);
    buf_add_u64(ret, h->facts.keys);
    buf_add_u64(ret, h->facts.total);
    buf_add_u64(ret, h->facts.created_s);
    buf_add_u32(ret, h->facts.nsources);
    buf_add_u32(ret, 0);
    buf_add_u64(ret, h->table_sum);
    buf_add(ret, slice_of(zeros, COUNTINGFILE_SOURCES_AT - ret->n));
    for (unsigned i = 0; i < h->facts.nsources; i++) {
        const struct countingfile_source *s = &h->facts.sources[i];
        buf_add(ret, slice_of((const char *)s->origin, sizeof(s->origin)));
        buf_add_u64(ret, s->first_s);
        buf_add_u64(ret, s->end_s);
    }
    if (buf_failed(ret)) {
        return ERR_NOMEM;
    }
    buf_add(ret, slice_of(zeros, SUM_AT - ret->n));
    buf_add_u64(ret, buf_failed(ret) ? 0 : checksum64(buf_slice(ret)));
    return buf_failed(ret) ? ERR_NOMEM : ERR_OK;
}

/* The checksum may be right and the header still forged. */
static enum err header_check(const struct header *h, const char *path,
                             struct errinfo *reterr)
{
    struct errinfo why = {.text = ""};

    if (h->shape.chunk_cells > COUNTINGFILE_CELLS_MAX ||
        counting_check(&h->shape, &why) != ERR_OK) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "no counting filter has the size that its header says "
                           "(%" PRIu64 " cells of %u bits, k %u); %s",
                           h->shape.chunk_cells, h->shape.cell_bits, h->shape.k, next);
    }
    if (h->facts.nsources < 1 || h->facts.nsources > COUNTINGFILE_SOURCES_MAX) {
        return refuse(reterr, ERR_CORRUPT, path, "it does not say whose counts it has");
    }
    for (unsigned i = 0; i < h->facts.nsources; i++) {
        if (h->facts.sources[i].first_s >= h->facts.sources[i].end_s) {
            return refuse(reterr, ERR_CORRUPT, path, "a source ends before it begins");
        }
    }
    return ERR_OK;
}

static enum err header_read(int fd, const char *path, struct header *ret,
                            struct errinfo *reterr)
{
    char bytes[COUNTINGFILE_HEADER_BYTES];
    uint32_t version = 0;
    uint32_t reserved = 0;
    enum err e = bloomfile_read(fd, bytes, sizeof(bytes), 0);

    if (e == ERR_CORRUPT) {
        return refuse(reterr, e, path, "cut off in the header");
    }
    if (e != ERR_OK) {
        return errinfo_errno(reterr, path, "cannot read the counting filter");
    }
    struct slice all = slice_of(bytes, sizeof(bytes));
    if (!slice_has_prefix(all, MAGIC)) {
        return refuse(reterr, ERR_CORRUPT, path, "not a counting filter of gillnet");
    }
    struct header h = fields_read(all, &version, &reserved);
    if (version != FORMAT_VERSION) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "made by another version of gillnet (file format %" PRIu32
                           ", this is %d); %s",
                           version, FORMAT_VERSION, next);
    }
    struct cursor sum = cursor_of(slice_from(all, SUM_AT));
    if (cursor_u64(&sum) != checksum64(slice_head(all, SUM_AT)) || reserved != 0) {
        return refuse(reterr, ERR_CORRUPT, path, "the header's checksum is wrong");
    }
    e = header_check(&h, path, reterr);
    if (e == ERR_OK) {
        *ret = h;
    }
    return e;
}

/* ---- memory ---- */

static enum err make(struct countingfile *f, const struct counting_shape *shape,
                     const struct hashkey *key, const char *path,
                     struct errinfo *reterr)
{
    size_t bytes = (size_t)counting_words(shape) * sizeof(uint64_t);
    void *p = NULL;
    enum err e = bloomfile_memory_new(bytes, path, need_memory, &p, reterr);

    if (e == ERR_OK) {
        *f = (struct countingfile){.bytes = bytes};
        counting_init(&f->c, shape, p, NULL, key);
    }
    return e;
}

enum err countingfile_new(struct countingfile *f, unsigned cell_bits, uint64_t cells,
                          unsigned k, const struct hashkey *key, struct errinfo *reterr)
{
    const struct counting_shape shape = {.variant = COUNTING_REFINED,
                                         .layout = COUNTING_FLAT,
                                         .cell_bits = cell_bits,
                                         .k = k,
                                         .nchunks = 1,
                                         .chunk_cells = cells};

    if (cells > COUNTINGFILE_CELLS_MAX) {
        return errinfo_set(reterr, ERR_RANGE, "--cells", 0, "give at most %" PRIu64,
                           COUNTINGFILE_CELLS_MAX);
    }
    enum err e = counting_check(&shape, reterr);
    e = e != ERR_OK ? e : make(f, &shape, key, "", reterr);
    if (e == ERR_OK) {
        f->facts.ring_key = key->id;
    }
    return e;
}

void countingfile_close(struct countingfile *f)
{
    if (f->bytes > 0) {
        (void)munmap(f->c.words, f->bytes);
    }
    *f = (struct countingfile){.bytes = 0};
}

/* Runs have half a digest; the other half follows from it. */
static struct digest digest_of(uint64_t key)
{
    struct digest d;
    uint64_t more = prng_mix(key);

    for (unsigned i = 0; i < DIGEST_BYTES / 2; i++) {
        d.b[i] = (uint8_t)(key >> (56 - 8 * i));
        d.b[DIGEST_BYTES / 2 + i] = (uint8_t)(more >> (56 - 8 * i));
    }
    return d;
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void countingfile_add(struct countingfile *f, uint64_t key, uint64_t count)
{
    struct digest d = digest_of(key);

    (void)counting_add(&f->c, &d, count);
    f->facts.keys++;
    f->facts.total = sum_of(f->facts.total, count);
}

struct counting_read countingfile_get(const struct countingfile *f, uint64_t key)
{
    struct digest d = digest_of(key);

    return counting_get(&f->c, &d);
}

struct countingfile_use countingfile_count_cells(const struct countingfile *f)
{
    struct countingfile_use u = {.used = 0};

    for (uint64_t i = 0; i < f->c.shape.chunk_cells; i++) {
        uint64_t v = counting_cell(&f->c, i);
        u.used += v > 0;
        u.saturated += v == f->c.cap;
    }
    return u;
}

/* ---- reading ---- */

/* Where the last word of the chunk has bits that belong to no cell they must be 0: an addition
 * could carry them in. */
static bool ends_clean(const struct countingfile *f)
{
    struct counting_shape s = f->c.shape;
    uint64_t per = 64 / s.cell_bits;
    uint64_t left = s.chunk_cells % per;
    uint64_t words = s.chunk_cells / per;
    uint64_t nwords = counting_words(&s);
    bool is_clean = true;

    if (left > 0) {
        is_clean = f->c.words[words] >> (left * s.cell_bits) == 0;
        words++;
    }
    for (; words < nwords; words++) {
        is_clean = is_clean && f->c.words[words] == 0;
    }
    return is_clean;
}

static enum err cells_read(struct countingfile *f, int fd, const struct header *h,
                           const char *path, struct errinfo *reterr)
{
    uint64_t nblocks = block_count(f->bytes);
    uint64_t *sums = calloc(nblocks, sizeof(*sums));
    uint64_t table_at = COUNTINGFILE_HEADER_BYTES + f->bytes;

    if (sums == NULL) {
        return errinfo_set(reterr, ERR_NOMEM, path, 0, "no memory to verify it");
    }
    enum err e = bloomfile_read(fd, sums, nblocks * SUM_BYTES, table_at);
    e = e != ERR_OK
            ? e
            : bloomfile_read(fd, f->c.words, f->bytes, COUNTINGFILE_HEADER_BYTES);
    if (e != ERR_OK) {
        e = refuse(reterr, e, path, "it cannot be read to its end");
    } else if (checksum64(slice_of((const char *)sums, nblocks * SUM_BYTES)) !=
               h->table_sum) {
        e = refuse(reterr, ERR_CORRUPT, path, "the checksum of the table is wrong");
    }
    struct slice cells = slice_of((const char *)f->c.words, f->bytes);
    for (uint64_t i = 0; e == ERR_OK && i < nblocks; i++) {
        struct slice block = slice_head(cells, BLOCK_BYTES);
        if (checksum64(block) != sums[i]) {
            e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                            "block %" PRIu64 " is damaged (its checksum is wrong); %s",
                            i, next);
        }
        cells = slice_from(cells, block.n);
    }
    if (e == ERR_OK && !ends_clean(f)) {
        e = refuse(reterr, ERR_CORRUPT, path, "there are bits beyond its last cell");
    }
    free(sums);
    return e;
}

static enum err open_fd(struct countingfile *f, int fd, const char *path,
                        const struct hashkey *key, struct errinfo *reterr)
{
    struct header h = {.table_sum = 0};
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return refuse(reterr, ERR_CORRUPT, path, "not a regular file");
    }
    enum err e = header_read(fd, path, &h, reterr);
    if (e != ERR_OK) {
        return e;
    }
    uint64_t bytes = counting_words(&h.shape) * sizeof(uint64_t);
    uint64_t size = COUNTINGFILE_HEADER_BYTES + bytes + block_count(bytes) * SUM_BYTES;
    if ((uint64_t)st.st_size != size) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "%jd bytes long where its header says %" PRIu64 "; %s",
                           (intmax_t)st.st_size, size, next);
    }
    if (key != NULL && key->id != h.facts.ring_key) {
        return errinfo_set(reterr, ERR_KEY, path, 0,
                           "made with the digest key %08" PRIx32
                           ", this installation's is %08" PRIx32,
                           h.facts.ring_key, key->id);
    }
    struct countingfile opened;
    e = make(&opened, &h.shape, key, path, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = cells_read(&opened, fd, &h, path, reterr);
    if (e != ERR_OK) {
        countingfile_close(&opened);
        return e;
    }
    opened.facts = h.facts;
    *f = opened;
    return ERR_OK;
}

enum err countingfile_open(struct countingfile *f, const char *path,
                           const struct hashkey *key, struct errinfo *reterr)
{
    /* O_NONBLOCK: a FIFO in the place of a file must not hang us */
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0) {
        return errinfo_errno(reterr, path, "cannot open the counting filter");
    }
    enum err e = open_fd(f, fd, path, key, reterr);
    (void)close(fd);
    return e;
}

/* ---- adding ---- */

static bool overlaps(const struct countingfile_source *a,
                     const struct countingfile_source *b)
{
    return memcmp(a->origin, b->origin, sizeof(a->origin)) == 0 &&
           a->first_s < b->end_s && b->first_s < a->end_s;
}

static int compare_sources(const void *a, const void *b)
{
    const struct countingfile_source *x = a;
    const struct countingfile_source *y = b;
    int order = memcmp(x->origin, y->origin, sizeof(x->origin));

    return order != 0 ? order : (x->first_s > y->first_s) - (x->first_s < y->first_s);
}

static enum err join_sources(struct countingfile_facts *f,
                             const struct countingfile_facts *more, const char *path,
                             struct errinfo *reterr)
{
    for (unsigned i = 0; i < more->nsources; i++) {
        for (unsigned j = 0; j < f->nsources; j++) {
            if (overlaps(&more->sources[i], &f->sources[j])) {
                return errinfo_set(
                    reterr, ERR_RANGE, path, 0,
                    "counts of the same server and time (server %02x%02x%02x%02x...) "
                    "are in another of these files already, and would count twice; "
                    "leave one of them out",
                    more->sources[i].origin[0], more->sources[i].origin[1],
                    more->sources[i].origin[2], more->sources[i].origin[3]);
            }
        }
    }
    if (f->nsources + more->nsources > COUNTINGFILE_SOURCES_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, path, 0,
                           "one file holds the counts of at most %d servers and times",
                           COUNTINGFILE_SOURCES_MAX);
    }
    memcpy(f->sources + f->nsources, more->sources,
           more->nsources * sizeof(f->sources[0]));
    f->nsources += more->nsources;
    qsort(f->sources, f->nsources, sizeof(f->sources[0]), compare_sources);
    return ERR_OK;
}

static enum err merge(struct countingfile *f, const struct countingfile *more,
                      const char *path, struct errinfo *reterr)
{
    struct countingfile_facts facts = f->facts;
    struct errinfo why = {.text = ""};
    enum err e = ERR_OK;

    if (f->facts.ring_key != more->facts.ring_key) {
        return errinfo_set(reterr, ERR_KEY, path, 0,
                           "made with the digest key %08" PRIx32
                           ", the others with %08" PRIx32
                           "; only files of one digest key can be added",
                           more->facts.ring_key, f->facts.ring_key);
    }
    e = join_sources(&facts, &more->facts, path, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = counting_merge(&f->c, &more->c, &why);
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, path, 0, "%.300s", why.text);
    }
    facts.keys = sum_of(facts.keys, more->facts.keys);
    facts.total = sum_of(facts.total, more->facts.total);
    f->facts = facts;
    return ERR_OK;
}

enum err countingfile_merge(struct countingfile *f, const char *path,
                            struct errinfo *reterr)
{
    struct countingfile more = {.bytes = 0};
    enum err e = countingfile_open(&more, path, NULL, reterr);

    if (e == ERR_OK) {
        /* positions are not asked for here: the digest key's id tells whether they agree */
        more.c.mix[0] = f->c.mix[0];
        more.c.mix[1] = f->c.mix[1];
        e = merge(f, &more, path, reterr);
    }
    countingfile_close(&more);
    return e;
}

enum err countingfile_write(struct countingfile *f, const char *path,
                            struct errinfo *reterr)
{
    struct slice cells = slice_of((const char *)f->c.words, f->bytes);
    struct file_out out;
    struct buf header;
    struct buf table;

    buf_init(&header, COUNTINGFILE_HEADER_BYTES);
    buf_init(&table, (size_t)(block_count(f->bytes) * SUM_BYTES));
    for (struct slice rest = cells; rest.n > 0;) {
        struct slice block = slice_head(rest, BLOCK_BYTES);
        buf_add_u64(&table, checksum64(block));
        rest = slice_from(rest, block.n);
    }
    f->facts.created_s = clock_wall_us() / 1000000;
    struct header h = {.shape = f->c.shape,
                       .facts = f->facts,
                       .table_sum =
                           buf_failed(&table) ? 0 : checksum64(buf_slice(&table))};
    enum err e = header_print(&h, &header);
    if (e != ERR_OK || buf_failed(&table)) {
        e = errinfo_set(reterr, ERR_NOMEM, path, 0, "no memory to write it");
    } else {
        e = file_out_open(&out, path, FILE_MODE, reterr);
    }
    if (e == ERR_OK) {
        file_out_add(&out, buf_slice(&header));
        file_out_add(&out, cells);
        file_out_add(&out, buf_slice(&table));
        e = file_out_commit(&out, reterr);
    }
    buf_fini(&header);
    buf_fini(&table);
    return e;
}
