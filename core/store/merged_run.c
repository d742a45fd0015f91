/* merged_run - reading: header, index and sources once, blocks as they are asked for. */
#include "core/store/merged_run.h"

#include "core/base/file_internal.h"
#include "core/store/merged_run_internal.h"
#include "core/store/run_internal.h"

_Static_assert(sizeof(struct merged_run_source) == MERGED_RUN_SOURCE_BYTES,
               "sources lie in memory as in the file");

struct merged_run {
    struct merged_run_facts facts;
    uint64_t records;
    uint64_t nblocks;
    uint64_t tail_sum;
    int fd;
    uint64_t *tail; /* keys, then the sources */
};

static enum err damaged_merged_run(struct errinfo *reterr, const char *path,
                                   const char *what)
{
    return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                       "%s; remove the file, the hub makes it again", what);
}

/* ---- opening ---- */

static enum err read_merged_header(struct merged_run *s, const char *path,
                                   struct errinfo *reterr)
{
    char bytes[BLOCK_FILE_HEADER];
    struct cursor c;
    uint32_t version = 0;

    if (block_header_read(s->fd, 0, MERGED_RUN_MAGIC, bytes, &c, &version) != ERR_OK) {
        return damaged_merged_run(reterr, path, "the header is damaged");
    }
    if (version != MERGED_RUN_VERSION) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "format %" PRIu32 ", this program knows format %d", version,
                           MERGED_RUN_VERSION);
    }
    s->facts.key_id = cursor_u32(&c);
    s->facts.start_s = cursor_u64(&c);
    s->facts.len_s = cursor_u32(&c);
    s->facts.nsources = cursor_u32(&c);
    s->records = cursor_u64(&c);
    s->nblocks = cursor_u64(&c);
    s->tail_sum = cursor_u64(&c);
    return ERR_OK;
}

static bool size_fits(const struct merged_run *s)
{
    const uint64_t a_block = MERGED_RUN_BLOCK + BLOCK_KEY_BYTES;
    const struct merged_run_facts *f = &s->facts;

    return f->nsources > 0 && f->nsources <= MERGED_RUN_SOURCES_MAX &&
           s->nblocks <= f->bytes / a_block && s->nblocks <= UINT32_MAX &&
           f->bytes == BLOCK_FILE_HEADER + s->nblocks * a_block +
                           f->nsources * (uint64_t)MERGED_RUN_SOURCE_BYTES;
}

static void convert_sources(struct merged_run_source *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        v[i].inc = le64toh(v[i].inc);
        v[i].records = le64toh(v[i].records);
        v[i].total = le64toh(v[i].total);
        v[i].sum = le64toh(v[i].sum);
    }
}

static enum err read_tail(struct merged_run *s, const char *path,
                          struct errinfo *reterr)
{
    size_t n = (size_t)s->nblocks * BLOCK_KEY_BYTES +
               (size_t)s->facts.nsources * MERGED_RUN_SOURCE_BYTES;
    const char *what =
        block_tail_read(s->fd, BLOCK_FILE_HEADER + s->nblocks * BLOCK_BYTES, n,
                        s->nblocks, s->tail_sum, &s->tail);

    if (s->tail == NULL) {
        return errinfo_nomem(reterr, path);
    }
    if (what != NULL) {
        return damaged_merged_run(reterr, path, what);
    }
    for (uint64_t i = 1; i < s->nblocks; i++) {
        if (s->tail[i] < s->tail[i - 1]) {
            return damaged_merged_run(reterr, path, "the index is not in order");
        }
    }
    void *sources = s->tail + s->nblocks;
    convert_sources(sources, s->facts.nsources);
    s->facts.sources = sources;
    return ERR_OK;
}

enum err merged_run_open(const char *path, struct merged_run **ret,
                         struct errinfo *reterr)
{
    struct merged_run *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return errinfo_nomem(reterr, path);
    }
    s->fd = -1;
    enum err e = file_sys_open_regular(path, O_RDONLY, &s->fd, &s->facts.bytes, reterr);
    THEN(e, read_merged_header(s, path, reterr));
    if (e == ERR_OK && !size_fits(s)) {
        e = damaged_merged_run(reterr, path, "the size is not what the header says");
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
        fd_close(&(*s)->fd);
        free((*s)->tail);
        free(*s);
        *s = NULL;
    }
}

/* ---- what it is ---- */

const struct merged_run_facts *merged_run_facts(const struct merged_run *s)
{
    return &s->facts;
}

bool merged_run_has(const struct merged_run *s, size_t i, const struct run *r)
{
    const struct merged_run_facts *f = &s->facts;
    const struct merged_run_source *source = &f->sources[i];
    const struct run_id *id = &r->id;
    return id->start_s == f->start_s && id->len_s == f->len_s &&
           id->key_id == f->key_id && id->inc == source->inc &&
           memcmp(id->origin, source->origin, RUN_ORIGIN_BYTES) == 0 &&
           r->records == source->records && r->total == source->total &&
           r->sum == source->sum;
}

/* ---- asking ---- */

/* Adds what the block has of key; *retover: no later one has more. False: the block is
 * malformed. */
static bool scan_block(const struct merged_run *s,
                       const uint8_t bytes[MERGED_RUN_BLOCK], uint64_t key,
                       struct merged_run_pair *ret, size_t *io, bool *retover)
{
    unsigned left = block_records(bytes);
    unsigned end = block_used(bytes);
    unsigned at = BLOCK_HEAD;
    uint64_t now = block_first_key(bytes);

    *retover = false;
    for (; left > 0; left--) {
        uint64_t gap = 0;
        uint64_t source = 0;
        uint64_t count = 0;
        if (!block_number(bytes, end, &at, &gap) ||
            !block_number(bytes, end, &at, &source) ||
            !block_number(bytes, end, &at, &count) || source >= s->facts.nsources) {
            return false;
        }
        now += gap;
        if (now > key) {
            *retover = true;
            return true;
        }
        if (now == key) {
            if (*io == s->facts.nsources) {
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
    bool is_over = s->nblocks == 0 || key < s->tail[0];

    *retn = 0;
    uint64_t i = is_over ? 0 : block_before(s->tail, s->nblocks, key);
    for (; !is_over && i < s->nblocks && s->tail[i] <= key; i++) {
        if (!block_read(s->fd, BLOCK_FILE_HEADER + i * BLOCK_BYTES, i, s->tail[i],
                        bytes) ||
            !scan_block(s, bytes, key, ret, &n, &is_over)) {
            return ERR_CORRUPT;
        }
    }
    *retn = n;
    return ERR_OK;
}
