/* run - reading: headers and index once, blocks as they are asked for. */
#include "core/store/run.h"

#include <endian.h>

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/base/file_internal.h"
#include "core/store/run_internal.h"

#define ADVICE "; remove the file, what it counted is lost"

uint64_t run_sum(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;
    return sum < a ? UINT64_MAX : sum;
}

/* Fills dst from offset on; false when the file ends before, or cannot be read. */
static bool read_at(int fd, uint64_t offset, void *dst, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(fd, (char *)dst + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static enum err damaged(struct errinfo *reterr, const char *path, const char *what)
{
    return errinfo_set(reterr, ERR_CORRUPT, path, 0, "the run is damaged: %s" ADVICE,
                       what);
}

/* ---- the header ---- */

struct header {
    struct run run; /* without what is behind the numbers */
    uint32_t version;
    uint64_t tail_sum;
};

/* ERR_CORRUPT: these bytes are no header. */
static enum err header_parse(const char *bytes, struct header *ret)
{
    struct slice all = slice_of(bytes, RUN_HEADER);
    struct cursor sum = cursor_of(slice_from(all, RUN_HEADER - RUN_SUM_BYTES));
    struct cursor c = cursor_of(all);
    struct header h = {.version = 0};
    if (cursor_u64(&c) != RUN_MAGIC ||
        cursor_u64(&sum) != checksum64(slice_head(all, RUN_HEADER - RUN_SUM_BYTES))) {
        return ERR_CORRUPT;
    }
    h.version = cursor_u32(&c);
    h.run.id.key_id = cursor_u32(&c);
    memcpy(h.run.id.origin, cursor_bytes(&c, RUN_ORIGIN_BYTES).p, RUN_ORIGIN_BYTES);
    h.run.id.inc = cursor_u64(&c);
    h.run.id.start_s = cursor_u64(&c);
    h.run.id.len_s = cursor_u32(&c);
    (void)cursor_u32(&c);
    h.run.records = cursor_u64(&c);
    h.run.total = cursor_u64(&c);
    h.run.nblocks = cursor_u64(&c);
    h.run.nsources = cursor_u64(&c);
    h.tail_sum = cursor_u64(&c);
    *ret = h;
    return ERR_OK;
}

static enum err header_read(int fd, const char *path, struct header *ret,
                            struct errinfo *reterr)
{
    char bytes[RUN_HEADER];
    enum err e = ERR_CORRUPT;
    for (unsigned i = 0; i < 2 && e != ERR_OK; i++) {
        if (read_at(fd, (uint64_t)i * RUN_HEADER, bytes, sizeof(bytes))) {
            e = header_parse(bytes, ret);
        }
    }
    if (e != ERR_OK) {
        return damaged(reterr, path, "both of its headers are unreadable");
    }
    if (ret->version != RUN_VERSION) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "a run of format %" PRIu32 ", this program knows format %d; "
                           "use the version of gillnet that wrote it, or move it away",
                           ret->version, RUN_VERSION);
    }
    return ERR_OK;
}

/* Whether a file of size bytes is what the header describes, to the byte. */
static bool size_fits(const struct run *r, uint64_t size)
{
    const uint64_t a_block = RUN_BLOCK + RUN_KEY_BYTES;
    return size >= RUN_DATA_AT && r->nblocks <= size / a_block &&
           r->nsources <= size / RUN_SOURCE_BYTES &&
           size ==
               RUN_DATA_AT + r->nblocks * a_block + r->nsources * RUN_SOURCE_BYTES &&
           r->records >= r->nblocks && r->records <= r->nblocks * RUN_BLOCK &&
           r->total >= r->records;
}

/* ---- the index ---- */

static bool index_is_ordered(const struct run *r)
{
    for (uint64_t i = 1; i < r->nblocks; i++) {
        if (r->index[i] <= r->index[i - 1]) {
            return false;
        }
    }
    return r->nblocks == 0 || r->index[0] != 0;
}

/* Numbers are little-endian in the file. */
static void index_of_bytes(uint64_t *index, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        index[i] = le64toh(index[i]);
    }
}

static enum err index_read(struct run *r, uint64_t tail_sum, struct errinfo *reterr)
{
    size_t n = (size_t)(r->nblocks + 2 * r->nsources);
    size_t bytes = n * sizeof(*r->index);
    r->index = malloc(bytes > 0 ? bytes : 1);
    if (!r->index) {
        return errinfo_set(reterr, ERR_NOMEM, r->path, 0, "no memory for its index");
    }
    if (!read_at(r->fd, RUN_DATA_AT + r->nblocks * RUN_BLOCK, r->index, bytes)) {
        return damaged(reterr, r->path, "its index cannot be read");
    }
    if (checksum64(slice_of((const char *)r->index, bytes)) != tail_sum) {
        return damaged(reterr, r->path, "the checksum of its index is wrong");
    }
    index_of_bytes(r->index, n);
    return index_is_ordered(r) ? ERR_OK
                               : damaged(reterr, r->path, "its index is not in order");
}

enum err run_open(const char *path, struct run **ret, struct errinfo *reterr)
{
    int fd = -1;
    uint64_t size = 0;
    struct header h = {.version = 0};
    enum err e = file_sys_open_regular(path, O_RDONLY, &fd, &size, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = header_read(fd, path, &h, reterr);
    if (e == ERR_OK && !size_fits(&h.run, size)) {
        e = damaged(reterr, path, "its size is not what its header says");
    }
    size_t n = strlen(path) + 1;
    struct run *r = e == ERR_OK ? malloc(sizeof(*r) + n) : NULL;
    if (!r) {
        (void)close(fd);
        return e != ERR_OK
                   ? e
                   : errinfo_set(reterr, ERR_NOMEM, path, 0, "no memory to open it");
    }
    *r = h.run;
    r->bytes = size;
    r->sum = h.tail_sum;
    r->fd = fd;
    r->path = memcpy(r + 1, path, n);
    e = index_read(r, h.tail_sum, reterr);
    if (e != ERR_OK) {
        run_close(&r);
        return e;
    }
    *ret = r;
    return ERR_OK;
}

void run_close(struct run **r)
{
    if (*r) {
        if ((*r)->fd >= 0) {
            (void)close((*r)->fd);
        }
        free((*r)->index);
        free(*r);
        *r = NULL;
    }
}

void run_rest(struct run *r)
{
    if (r->fd >= 0) {
        (void)close(r->fd);
        r->fd = -1;
    }
}

const struct run_id *run_id(const struct run *r)
{
    return &r->id;
}

uint64_t run_records(const struct run *r)
{
    return r->records;
}

uint64_t run_total(const struct run *r)
{
    return r->total;
}

uint64_t run_bytes(const struct run *r)
{
    return r->bytes;
}

struct run_source run_source_at(const struct run *r, uint64_t i)
{
    const uint64_t *p = r->index + r->nblocks + 2 * i;
    return (struct run_source){p[0], p[1]};
}

bool run_has_source(const struct run *r, uint64_t start_s, uint64_t inc)
{
    for (uint64_t i = 0; i < r->nsources; i++) {
        struct run_source s = run_source_at(r, i);
        if (s.start_s == start_s && s.inc == inc) {
            return true;
        }
    }
    return false;
}

/* ---- blocks ---- */

/* A cursor would do, at twice the time of a look-up. */
static uint64_t load64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return le64toh(v);
}

static unsigned load16(const uint8_t *p)
{
    return p[0] | (unsigned)p[1] << 8;
}

static bool block_is_sound(const struct run *r, uint64_t i, const uint8_t *bytes)
{
    struct slice summed =
        slice_of((const char *)bytes + RUN_SUM_BYTES, RUN_BLOCK - RUN_SUM_BYTES);
    unsigned n = load16(bytes + 8);
    unsigned used = load16(bytes + 10);
    uint32_t number = load16(bytes + 12) | (uint32_t)load16(bytes + 14) << 16;
    return load64(bytes) == checksum64(summed) && n > 0 && used > RUN_BLOCK_HEAD &&
           used <= RUN_BLOCK && number == (uint32_t)i &&
           load64(bytes + 16) == r->index[i];
}

enum err run_block_read(const struct run *r, uint64_t i,
                        uint8_t bytes[RUN_BLOCK + RUN_SLACK])
{
    int fd = r->fd;
    if (fd < 0) {
        uint64_t size = 0;
        enum err e = file_sys_open_regular(r->path, O_RDONLY, &fd, &size, NULL);
        if (e != ERR_OK) {
            return e;
        }
    }
    bool is_read = read_at(fd, RUN_DATA_AT + i * RUN_BLOCK, bytes, RUN_BLOCK);
    if (r->fd < 0) {
        (void)close(fd);
    }
    memset(bytes + RUN_BLOCK, 0, RUN_SLACK);
    return is_read && block_is_sound(r, i, bytes) ? ERR_OK : ERR_CORRUPT;
}

/* Keys are uniform, so the place follows from the key; from the guess outwards in doubling steps,
 * then by halving. */
uint64_t run_block_of(const struct run *r, uint64_t key)
{
    __extension__ typedef unsigned __int128 u128;
    uint64_t low = (uint64_t)(((u128)key * r->nblocks) >> 64);
    uint64_t high = low;
    uint64_t step = 1;
    while (low > 0 && r->index[low] > key) {
        high = low;
        low = low > step ? low - step : 0;
        step *= 2;
    }
    if (high == low) { /* index[low] <= key, or low is 0 */
        step = 1;
        do {
            high = r->nblocks - low > step ? low + step : r->nblocks;
            step *= 2;
        } while (high < r->nblocks && r->index[high] <= key);
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (r->index[middle] <= key) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- records ---- */

void run_block_begin(struct run_cursor *c)
{
    c->at = RUN_BLOCK_HEAD;
    c->left = load16(c->bytes + 8);
    c->key = load64(c->bytes + 16);
    c->is_begin = true;
}

/* A number of 7 bits a byte, least first. */
static bool count_decode(struct run_cursor *c, uint64_t *ret)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 7 * RUN_COUNT_BYTES_MAX; shift += 7) {
        if (c->at >= RUN_BLOCK) {
            return false;
        }
        uint8_t b = c->bytes[c->at++];
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) {
            *ret = v;
            return true;
        }
    }
    return false;
}

bool run_record_decode(struct run_cursor *c, struct run_record *ret)
{
    uint64_t count = 0;
    if (c->is_begin) {
        c->is_begin = false;
        c->left--;
        if (!count_decode(c, &count)) {
            return false;
        }
        *ret = (struct run_record){c->key, run_sum(count, 1)};
        return true;
    }
    if (c->at >= RUN_BLOCK) {
        return false;
    }
    uint64_t word = load64(c->bytes + c->at);
    unsigned n = (unsigned)(word & 7) + 1;
    uint64_t gap = word & (UINT64_MAX >> (64 - 8 * n));
    uint64_t key = c->key + (gap >> RUN_GAP_TAG_BITS) + 1;
    c->at += n;
    if (c->at > RUN_BLOCK || key <= c->key) {
        return false;
    }
    if ((word & 8) && !count_decode(c, &count)) {
        return false;
    }
    c->left--;
    c->key = key;
    *ret = (struct run_record){key, (word & 8) ? run_sum(count, 2) : 1};
    return true;
}

enum err run_get(const struct run *r, uint64_t key, uint64_t *retcount)
{
    struct run_cursor c;
    if (r->nblocks == 0 || key < r->index[0]) {
        return ERR_NOT_FOUND;
    }
    enum err e = run_block_read(r, run_block_of(r, key), c.bytes);
    if (e != ERR_OK) {
        return e;
    }
    run_block_begin(&c);
    while (c.left > 0) {
        struct run_record record;
        if (!run_record_decode(&c, &record)) {
            return ERR_CORRUPT;
        }
        if (record.key >= key) {
            *retcount = record.count;
            return record.key == key ? ERR_OK : ERR_NOT_FOUND;
        }
    }
    return ERR_NOT_FOUND;
}

void run_cursor_init(struct run_cursor *c, const struct run *r, uint64_t first,
                     uint64_t last)
{
    c->run = r;
    c->first = first;
    c->last = last;
    c->block = 0;
    c->at = 0;
    c->left = 0;
    c->key = 0;
    c->is_begin = false;
    if (r->nblocks > 0 && first > r->index[0]) {
        c->block = run_block_of(r, first);
    }
}

enum err run_cursor_next(struct run_cursor *c, struct run_record *ret)
{
    for (;;) {
        if (c->left == 0) {
            if (c->block >= c->run->nblocks || c->run->index[c->block] > c->last) {
                return ERR_NOT_FOUND;
            }
            enum err e = run_block_read(c->run, c->block++, c->bytes);
            if (e != ERR_OK) {
                return e;
            }
            run_block_begin(c);
        }
        struct run_record record;
        if (!run_record_decode(c, &record)) {
            c->left = 0;
            return ERR_CORRUPT;
        }
        if (record.key > c->last) {
            c->left = 0;
            c->block = c->run->nblocks;
            return ERR_NOT_FOUND;
        }
        if (record.key >= c->first) {
            *ret = record;
            return ERR_OK;
        }
    }
}

enum err run_verify(const struct run *r, struct errinfo *reterr)
{
    struct run_cursor c;
    struct run_record record;
    uint64_t records = 0;
    uint64_t total = 0;
    uint64_t key = 0;
    enum err e = ERR_OK;
    run_cursor_init(&c, r, 0, UINT64_MAX);
    while ((e = run_cursor_next(&c, &record)) == ERR_OK) {
        if (record.key <= key) {
            e = ERR_CORRUPT;
            break;
        }
        key = record.key;
        records++;
        total = run_sum(total, record.count);
    }
    if (e == ERR_NOT_FOUND && records == r->records && total == r->total) {
        return ERR_OK;
    }
    if (e == ERR_NOT_FOUND || e == ERR_CORRUPT) {
        return errinfo_set(reterr, ERR_CORRUPT, r->path, 0,
                           "the run is damaged: block %" PRIu64 " of %" PRIu64
                           " is wrong; its other blocks serve, counts are too low",
                           c.block, r->nblocks);
    }
    return errinfo_set(reterr, e, r->path, 0, "cannot read the run: %s", err_text(e));
}
