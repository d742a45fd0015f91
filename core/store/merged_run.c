/* merged_run - reading: header, index and sources once, blocks as they are asked for. */
#include "core/store/merged_run.h"

#include <endian.h>

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/base/file_internal.h"
#include "core/store/merged_run_internal.h"
#include "core/store/run_internal.h"

struct merged_run {
    uint64_t start_s;
    uint64_t records;
    uint64_t nblocks;
    uint64_t bytes;
    uint64_t tail_sum;
    uint32_t len_s;
    uint32_t key_id;
    uint32_t nsources;
    int fd;
    uint64_t *index;
    struct merged_run_source *source;
};

static enum err damaged(struct errinfo *reterr, const char *path, const char *what)
{
    return errinfo_set(
        reterr, ERR_CORRUPT, path, 0,
        "%s; it is only a copy: it may be removed, the hub makes it anew", what);
}

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

/* ---- opening ---- */

static enum err read_header(struct merged_run *s, const char *path,
                            struct errinfo *reterr)
{
    char bytes[MERGED_RUN_HEADER];

    if (!read_at(s->fd, 0, bytes, sizeof(bytes))) {
        return damaged(reterr, path, "the header cannot be read");
    }
    struct slice all = slice_of(bytes, sizeof(bytes));
    struct cursor sum =
        cursor_of(slice_from(all, MERGED_RUN_HEADER - MERGED_RUN_SUM_BYTES));
    struct cursor c = cursor_of(all);
    if (cursor_u64(&c) != MERGED_RUN_MAGIC ||
        cursor_u64(&sum) !=
            checksum64(slice_head(all, MERGED_RUN_HEADER - MERGED_RUN_SUM_BYTES))) {
        return damaged(reterr, path, "the header is damaged");
    }
    uint32_t version = cursor_u32(&c);
    if (version != MERGED_RUN_VERSION) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "format %" PRIu32 ", this program knows format %d", version,
                           MERGED_RUN_VERSION);
    }
    s->key_id = cursor_u32(&c);
    s->start_s = cursor_u64(&c);
    s->len_s = cursor_u32(&c);
    s->nsources = cursor_u32(&c);
    s->records = cursor_u64(&c);
    s->nblocks = cursor_u64(&c);
    s->tail_sum = cursor_u64(&c);
    return ERR_OK;
}

static bool size_fits(const struct merged_run *s)
{
    const uint64_t a_block = MERGED_RUN_BLOCK + MERGED_RUN_KEY_BYTES;
    return s->nsources > 0 && s->nsources <= MERGED_RUN_SOURCES_MAX &&
           s->nblocks <= s->bytes / a_block && s->nblocks <= UINT32_MAX &&
           s->bytes == MERGED_RUN_HEADER + s->nblocks * a_block +
                           s->nsources * (uint64_t)MERGED_RUN_SOURCE_BYTES;
}

static enum err read_tail(struct merged_run *s, const char *path,
                          struct errinfo *reterr)
{
    size_t keys = (size_t)s->nblocks * MERGED_RUN_KEY_BYTES;
    size_t n = keys + (size_t)s->nsources * MERGED_RUN_SOURCE_BYTES;
    char *tail = malloc(n);

    s->index = malloc(keys + 1);
    s->source = calloc(s->nsources, sizeof(s->source[0]));
    if (tail == NULL || s->index == NULL || s->source == NULL) {
        free(tail);
        return errinfo_set(reterr, ERR_NOMEM, path, 0, "no memory for its index");
    }
    if (!read_at(s->fd, MERGED_RUN_HEADER + s->nblocks * MERGED_RUN_BLOCK, tail, n) ||
        checksum64(slice_of(tail, n)) != s->tail_sum) {
        free(tail);
        return damaged(reterr, path, "the index is damaged");
    }
    struct cursor c = cursor_of(slice_of(tail, n));
    bool is_ordered = true;
    for (uint64_t i = 0; i < s->nblocks; i++) {
        s->index[i] = cursor_u64(&c);
        is_ordered = is_ordered && (i == 0 || s->index[i] >= s->index[i - 1]);
    }
    for (uint32_t i = 0; i < s->nsources; i++) {
        struct merged_run_source *source = &s->source[i];
        memcpy(source->origin, cursor_bytes(&c, RUN_ORIGIN_BYTES).p, RUN_ORIGIN_BYTES);
        source->inc = cursor_u64(&c);
        source->records = cursor_u64(&c);
        source->total = cursor_u64(&c);
        source->sum = cursor_u64(&c);
    }
    free(tail);
    return is_ordered ? ERR_OK : damaged(reterr, path, "the index is not in order");
}

enum err merged_run_open(const char *path, struct merged_run **ret,
                         struct errinfo *reterr)
{
    struct merged_run *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return errinfo_set(reterr, ERR_NOMEM, path, 0, "no memory to open it");
    }
    s->fd = -1;
    enum err e = file_sys_open_regular(path, O_RDONLY, &s->fd, &s->bytes, reterr);
    THEN(e, read_header(s, path, reterr));
    if (e == ERR_OK && !size_fits(s)) {
        e = damaged(reterr, path, "the size is not what the header says");
    }
    THEN(e, read_tail(s, path, reterr));
    if (e != ERR_OK) {
        merged_run_close(&s);
        return e;
    }
    *ret = s;
    return ERR_OK;
}

void merged_run_close(struct merged_run **s)
{
    if (*s != NULL) {
        if ((*s)->fd >= 0) {
            (void)close((*s)->fd);
        }
        free((*s)->index);
        free((*s)->source);
        free(*s);
        *s = NULL;
    }
}

/* ---- what it is ---- */

uint64_t merged_run_start_s(const struct merged_run *s)
{
    return s->start_s;
}

uint32_t merged_run_len_s(const struct merged_run *s)
{
    return s->len_s;
}

uint32_t merged_run_key_id(const struct merged_run *s)
{
    return s->key_id;
}

uint64_t merged_run_bytes(const struct merged_run *s)
{
    return s->bytes;
}

size_t merged_run_sources(const struct merged_run *s)
{
    return s->nsources;
}

const struct merged_run_source *merged_run_source(const struct merged_run *s, size_t i)
{
    return &s->source[i];
}

bool merged_run_has(const struct merged_run *s, size_t i, const struct run *r)
{
    const struct merged_run_source *source = &s->source[i];
    const struct run_id *id = &r->id;
    return id->start_s == s->start_s && id->len_s == s->len_s &&
           id->key_id == s->key_id && id->inc == source->inc &&
           memcmp(id->origin, source->origin, RUN_ORIGIN_BYTES) == 0 &&
           r->records == source->records && r->total == source->total &&
           r->sum == source->sum;
}

/* ---- asking ---- */

static uint64_t load(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++) {
        v |= (uint64_t)p[i] << (8 * i);
    }
    return v;
}

static bool read_block(const struct merged_run *s, uint64_t i,
                       uint8_t bytes[MERGED_RUN_BLOCK])
{
    if (!read_at(s->fd, MERGED_RUN_HEADER + i * MERGED_RUN_BLOCK, bytes,
                 MERGED_RUN_BLOCK)) {
        return false;
    }
    struct slice summed = slice_of((const char *)bytes + MERGED_RUN_SUM_BYTES,
                                   MERGED_RUN_BLOCK - MERGED_RUN_SUM_BYTES);
    unsigned used = (unsigned)load(bytes + 10, 2);
    return load(bytes, 8) == checksum64(summed) && used > MERGED_RUN_BLOCK_HEAD &&
           used <= MERGED_RUN_BLOCK && load(bytes + 12, 4) == i &&
           load(bytes + 16, 8) == s->index[i];
}

/* The first block that may have key: one that begins before it, or the first. Keys are uniform, so its
 * place follows from the key; from there in doubling steps, then by halving. */
static uint64_t first_block(const struct merged_run *s, uint64_t key)
{
    __extension__ typedef unsigned __int128 u128;
    uint64_t low = (uint64_t)(((u128)key * s->nblocks) >> 64);
    uint64_t high = low + 1;

    for (uint64_t step = 1; low > 0 && s->index[low] >= key; step *= 2) {
        high = low;
        low = low > step ? low - step : 0;
    }
    for (uint64_t step = 1; high < s->nblocks && s->index[high] < key; step *= 2) {
        low = high;
        high = s->nblocks - high > step ? high + step : s->nblocks;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (s->index[middle] < key) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A number of 7 bits a byte, least first. */
static bool take(const uint8_t *bytes, unsigned end, unsigned *at, uint64_t *ret)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 70 && *at < end; shift += 7) {
        uint8_t b = bytes[(*at)++];
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) {
            *ret = v;
            return true;
        }
    }
    return false;
}

/* Adds what the block has of key; *retover: no later one has more. False: it is no block of ours. */
static bool scan_block(const struct merged_run *s,
                       const uint8_t bytes[MERGED_RUN_BLOCK], uint64_t key,
                       struct merged_run_pair *ret, size_t *io, bool *retover)
{
    unsigned left = (unsigned)load(bytes + 8, 2);
    unsigned end = (unsigned)load(bytes + 10, 2);
    unsigned at = MERGED_RUN_BLOCK_HEAD;
    uint64_t now = load(bytes + 16, 8);

    *retover = false;
    for (; left > 0; left--) {
        uint64_t gap = 0;
        uint64_t source = 0;
        uint64_t count = 0;
        if (!take(bytes, end, &at, &gap) || !take(bytes, end, &at, &source) ||
            !take(bytes, end, &at, &count) || source >= s->nsources) {
            return false;
        }
        now += gap;
        if (now > key) {
            *retover = true;
            return true;
        }
        if (now == key) {
            if (*io == s->nsources) {
                return false;
            }
            ret[(*io)++] =
                (struct merged_run_pair){(uint32_t)source, run_sum(count, 1)};
        }
    }
    return true;
}

enum err merged_run_get(const struct merged_run *s, uint64_t key,
                        struct merged_run_pair ret[MERGED_RUN_SOURCES_MAX],
                        size_t *retn)
{
    uint8_t bytes[MERGED_RUN_BLOCK];
    size_t n = 0;
    bool is_over = s->nblocks == 0 || key < s->index[0];

    *retn = 0;
    uint64_t i = is_over ? 0 : first_block(s, key);
    for (; !is_over && i < s->nblocks && s->index[i] <= key; i++) {
        if (!read_block(s, i, bytes) || !scan_block(s, bytes, key, ret, &n, &is_over)) {
            return ERR_CORRUPT;
        }
    }
    *retn = n;
    return ERR_OK;
}
