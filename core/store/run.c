/* run - reading: headers and index once, blocks as they are asked for. */
#include "core/store/run.h"

#include "core/base/file_internal.h"
#include "core/store/run_internal.h"

static enum err damaged_run(struct errinfo *reterr, const char *path, const char *what)
{
    return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                       "the run is damaged: %s; remove the file, its counts are lost",
                       what);
}

/* ---- the header ---- */

static enum err header_read(int fd, const char *path, struct run *ret,
                            struct errinfo *reterr)
{
    char bytes[BLOCK_FILE_HEADER];
    struct cursor c;
    uint32_t version = 0;
    if (block_header_read(fd, 0, RUN_MAGIC, bytes, &c, &version) != ERR_OK &&
        block_header_read(fd, BLOCK_FILE_HEADER, RUN_MAGIC, bytes, &c, &version) !=
            ERR_OK) {
        return damaged_run(reterr, path, "both of its headers are unreadable");
    }
    if (version != RUN_VERSION) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "a run of format %" PRIu32 ", this program knows format %d; "
                           "use the version of gillnet that wrote it, or move it away",
                           version, RUN_VERSION);
    }
    ret->id.key_id = cursor_u32(&c);
    memcpy(ret->id.origin, cursor_bytes(&c, RUN_ORIGIN_BYTES).p, RUN_ORIGIN_BYTES);
    ret->id.inc = cursor_u64(&c);
    ret->id.start_s = cursor_u64(&c);
    ret->id.len_s = cursor_u32(&c);
    (void)cursor_u32(&c);
    ret->records = cursor_u64(&c);
    ret->total = cursor_u64(&c);
    ret->nblocks = cursor_u64(&c);
    ret->nsources = cursor_u64(&c);
    ret->sum = cursor_u64(&c);
    return ERR_OK;
}

/* Whether a file of size bytes is what the header describes, to the byte. */
static bool size_fits(const struct run *r, uint64_t size)
{
    const uint64_t a_block = RUN_BLOCK + BLOCK_KEY_BYTES;
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

static enum err index_read(struct run *r, struct errinfo *reterr)
{
    size_t bytes =
        (size_t)(r->nblocks * BLOCK_KEY_BYTES + r->nsources * RUN_SOURCE_BYTES);
    const char *what = block_tail_read(r->fd, RUN_DATA_AT + r->nblocks * RUN_BLOCK,
                                       bytes, r->nblocks, r->sum, &r->index);
    if (r->index == NULL) {
        return errinfo_nomem(reterr, r->path);
    }
    if (what == NULL && !index_is_ordered(r)) {
        what = "its index is not in order";
    }
    return what == NULL ? ERR_OK : damaged_run(reterr, r->path, what);
}

enum err run_open(const char *path, struct run **ret, struct errinfo *reterr)
{
    int fd = -1;
    uint64_t size = 0;
    struct run h = {.fd = -1};
    enum err e = file_sys_open_regular(path, O_RDONLY, &fd, &size, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = header_read(fd, path, &h, reterr);
    if (e == ERR_OK && !size_fits(&h, size)) {
        e = damaged_run(reterr, path, "its size is not what its header says");
    }
    size_t n = strlen(path) + 1;
    struct run *r = e == ERR_OK ? malloc(sizeof(*r) + n) : NULL;
    if (!r) {
        (void)close(fd);
        return e != ERR_OK ? e : errinfo_nomem(reterr, path);
    }
    *r = h;
    r->bytes = size;
    r->fd = fd;
    r->path = memcpy(r + 1, path, n);
    e = index_read(r, reterr);
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
        fd_close(&(*r)->fd);
        free((*r)->index);
        free(*r);
        *r = NULL;
    }
}

void run_rest(struct run *r)
{
    fd_close(&r->fd);
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
    return (struct run_source){le64toh(p[0]), le64toh(p[1])};
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

/* Reads and verifies block i. */
static enum err load_block(const struct run *r, uint64_t i,
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
    bool is_sound = block_read(fd, RUN_DATA_AT + i * RUN_BLOCK, i, r->index[i], bytes);
    if (r->fd < 0) {
        (void)close(fd);
    }
    memset(bytes + RUN_BLOCK, 0, RUN_SLACK);
    return is_sound ? ERR_OK : ERR_CORRUPT;
}

/* The block that would have key; nblocks must not be 0. */
static uint64_t block_of(const struct run *r, uint64_t key)
{
    uint64_t i = block_before(r->index, r->nblocks, key);
    return i + 1 < r->nblocks && r->index[i + 1] <= key ? i + 1 : i;
}

/* ---- records ---- */

/* Points c at the begin of the block in c->bytes. */
static void begin_block(struct run_cursor *c)
{
    c->at = BLOCK_HEAD;
    c->left = block_records(c->bytes);
    c->key = block_first_key(c->bytes);
    c->is_begin = true;
}

/* The record at c->at; false where the bytes cannot be right. */
static bool decode_record(struct run_cursor *c, struct run_record *ret)
{
    uint64_t count = 0;
    if (c->is_begin) {
        c->is_begin = false;
        c->left--;
        if (!block_number(c->bytes, RUN_BLOCK, &c->at, &count)) {
            return false;
        }
        *ret = (struct run_record){c->key, run_sum(count, 1)};
        return true;
    }
    if (c->at >= RUN_BLOCK) {
        return false;
    }
    uint64_t word = le_get(c->bytes + c->at, 8);
    unsigned n = (unsigned)(word & 7) + 1;
    uint64_t gap = word & (UINT64_MAX >> (64 - 8 * n));
    uint64_t key = c->key + (gap >> RUN_GAP_TAG_BITS) + 1;
    c->at += n;
    if (c->at > RUN_BLOCK || key <= c->key) {
        return false;
    }
    if ((word & 8) && !block_number(c->bytes, RUN_BLOCK, &c->at, &count)) {
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
    enum err e = load_block(r, block_of(r, key), c.bytes);
    if (e != ERR_OK) {
        return e;
    }
    begin_block(&c);
    while (c.left > 0) {
        struct run_record record;
        if (!decode_record(&c, &record)) {
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
        c->block = block_of(r, first);
    }
}

enum err run_cursor_next(struct run_cursor *c, struct run_record *ret)
{
    for (;;) {
        if (c->left == 0) {
            if (c->block >= c->run->nblocks || c->run->index[c->block] > c->last) {
                return ERR_NOT_FOUND;
            }
            enum err e = load_block(c->run, c->block++, c->bytes);
            if (e != ERR_OK) {
                return e;
            }
            begin_block(c);
        }
        struct run_record record;
        if (!decode_record(c, &record)) {
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
