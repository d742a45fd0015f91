/* sorter - fills memory, spills runs, merges them. */
#include "core/store/sorter.h"

#include <assert.h>
#include <sys/mman.h>

#include "core/base/array.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/store/background_job.h"
#include "core/store/sorter_internal.h"

enum {
    BANKS = 2,               /* one is filled while the other is sorted and written */
    MEMORY_MIN = 128 * 1024, /* a bank holds any one record; less is raised to this */
    WRITE_BUFFER = 256 * 1024,
    READ_BUFFER_MIN = 4 * 1024,
    READ_BUFFER_MAX = 1024 * 1024,
    RUNS_MAX = 16 * 1024, /* 64 MiB of read buffers at the least size */
    HUGE_PAGE = 2 * 1024 * 1024
};

struct run {
    uint64_t offset;
    uint64_t end;
};

/* A run in the merge: its next record. */
struct source {
    struct sorter_item item; /* points into the reader's buffer */
    unsigned reader;
};

/* Packed records grow upwards from its start, items downwards from its end. */
struct bank {
    unsigned char *memory; /* in the memory of the sorter */
    size_t packed_bytes;
    size_t nitems;
};

struct sorter {
    char dir[FILE_PATH_MAX];
    uint64_t count;
    bool finished;
    enum err failed; /* sticky: records may be missing, so nothing more comes out */

    unsigned char *memory; /* of the banks; NULL once runs are merged */
    size_t bank_bytes;
    struct bank bank[BANKS];
    unsigned filling;
    size_t next_item; /* of sorter_next without runs */

    /* Until background_job_wait, the fields up to the runs belong to the job. */
    struct background_job behind;
    struct bank *spilling;
    enum err spilled; /* sticky: how the spilling ended */
    struct errinfo why;
    int fd; /* -1: no run so far */
    uint64_t file_bytes;
    struct run *runs;
    size_t nruns;
    size_t runs_size;

    struct sorter_reader *readers; /* nruns of them */
    struct source *heap;
    size_t heap_n;
    bool top_is_used; /* the top was given out: it moves on at the next call */
};

static struct sorter_item *items_of(const struct sorter *s, const struct bank *b)
{
    void *end = b->memory + s->bank_bytes;
    return (struct sorter_item *)end - b->nitems;
}

enum err sorter_new(const char *dir, size_t memory_bytes, struct sorter **ret,
                    struct errinfo *reterr)
{
    struct sorter *s = calloc(1, sizeof(*s));
    if (!s) {
        return errinfo_nomem(reterr, dir);
    }
    s->fd = -1;
    s->bank_bytes = (memory_bytes > MEMORY_MIN ? memory_bytes : MEMORY_MIN) / BANKS;
    s->bank_bytes -= s->bank_bytes % sizeof(struct sorter_item);
    size_t wanted = s->bank_bytes * BANKS;
    enum err e = path_make(s->dir, reterr, "%s", dir);
    if (e != ERR_OK) {
        free(s);
        return e;
    }
    /* Pages that are not touched cost nothing. */
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    /* cppcheck-suppress invalidFunctionArg ; -1 is what anonymous memory takes */
    void *p = mmap(NULL, wanted, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED) {
        free(s);
        return errinfo_nomem(reterr, dir);
    }
    if (s->bank_bytes >= HUGE_PAGE) {
        (void)madvise(p, wanted, MADV_HUGEPAGE); /* only faster */
    }
    s->memory = p;
    for (unsigned i = 0; i < BANKS; i++) {
        s->bank[i].memory = s->memory + i * s->bank_bytes;
    }
    background_job_init(&s->behind);
    *ret = s;
    return ERR_OK;
}

static void free_memory(struct sorter *s)
{
    if (s->memory) {
        (void)munmap(s->memory, s->bank_bytes * BANKS);
        s->memory = NULL;
    }
}

void sorter_free(struct sorter **s)
{
    if (!*s) {
        return;
    }
    background_job_fini(&(*s)->behind);
    free_memory(*s);
    for (size_t i = 0; (*s)->readers && i < (*s)->nruns; i++) {
        sorter_reader_fini(&(*s)->readers[i]);
    }
    free((*s)->readers);
    free((*s)->heap);
    free((*s)->runs);
    fd_close(&(*s)->fd);
    free(*s);
    *s = NULL;
}

static enum err write_out(struct sorter *s, struct slice bytes, struct errinfo *reterr)
{
    if (!file_write_at(s->fd, s->file_bytes, bytes)) {
        return errinfo_errno(reterr, s->dir,
                             "cannot write a temporary file to sort with");
    }
    s->file_bytes += bytes.n;
    return ERR_OK;
}

static enum err add_run(struct sorter *s, uint64_t offset, struct errinfo *reterr)
{
    if (!array_room(&s->runs, &s->runs_size, s->nruns + 1, RUNS_MAX,
                    sizeof(*s->runs))) {
        return errinfo_nomem(reterr, s->dir);
    }
    s->runs[s->nruns++] = (struct run){offset, s->file_bytes};
    return ERR_OK;
}

static enum err write_bank(struct sorter *s, const struct bank *b, struct buf *out,
                           struct errinfo *reterr)
{
    struct sorter_item *items = items_of(s, b);
    enum err e = ERR_OK;
    sorter_sort(items, b->nitems);
    for (size_t i = 0; i < b->nitems && e == ERR_OK; i++) {
        size_t n = sorter_packed_bytes(items[i].packed);
        if (n > WRITE_BUFFER - out->n) {
            e = write_out(s, buf_slice(out), reterr);
            buf_clear(out);
        }
        buf_add(out, slice_of((const char *)items[i].packed, n));
        if (buf_failed(out)) {
            e = errinfo_nomem(reterr, s->dir);
        }
    }
    return e == ERR_OK ? write_out(s, buf_slice(out), reterr) : e;
}

/* The job: sorts a bank and writes it as one run. */
static void spill_bank(void *context)
{
    struct sorter *s = context;
    struct buf out;
    uint64_t offset = s->file_bytes;
    if (s->spilled != ERR_OK) {
        return;
    }
    buf_init(&out, WRITE_BUFFER);
    enum err e = ERR_OK;
    if (s->fd < 0) {
        s->fd = file_open_nameless(s->dir);
        e = s->fd >= 0 ? ERR_OK
                       : errinfo_errno(&s->why, s->dir,
                                       "cannot make a temporary file to sort with");
    }
    THEN(e, write_bank(s, s->spilling, &out, &s->why));
    THEN(e, add_run(s, offset, &s->why));
    buf_fini(&out);
    s->spilled = e;
}

/* Waits for the bank before. Its failure is reported once and kept. */
static enum err spill_end(struct sorter *s, struct errinfo *reterr)
{
    background_job_wait(&s->behind);
    if (s->spilled != ERR_OK && s->failed == ERR_OK) {
        s->failed = s->spilled;
        if (reterr) {
            *reterr = s->why;
        }
    }
    return s->failed;
}

/* Has the full bank sorted and written behind, and fills the other one. */
static enum err spill(struct sorter *s, struct errinfo *reterr)
{
    enum err e = spill_end(s, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (s->nruns == RUNS_MAX) {
        s->failed = ERR_LIMIT;
        return errinfo_set(reterr, ERR_LIMIT, s->dir, 0,
                           "too much to sort in %zu bytes of memory; allow more",
                           s->bank_bytes * BANKS);
    }
    s->spilling = &s->bank[s->filling];
    background_job_start(&s->behind, spill_bank, s);
    s->filling = (s->filling + 1) % BANKS;
    s->bank[s->filling].nitems = 0;
    s->bank[s->filling].packed_bytes = 0;
    return ERR_OK;
}

enum err sorter_add(struct sorter *s, const struct sorter_record *r,
                    struct errinfo *reterr)
{
    assert(!s->finished);
    if (r->data.n > SORTER_DATA_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, NULL, 0,
                           "a record of %zu bytes; at most %d can be sorted", r->data.n,
                           SORTER_DATA_MAX);
    }
    if (s->failed != ERR_OK) {
        return errinfo_set(reterr, s->failed, s->dir, 0,
                           "sorting cannot go on after an earlier failure");
    }
    size_t packed_bytes = SORTER_HEAD_BYTES + r->data.n;
    struct bank *b = &s->bank[s->filling];
    size_t taken = b->packed_bytes + b->nitems * sizeof(struct sorter_item);
    if (packed_bytes + sizeof(struct sorter_item) > s->bank_bytes - taken) {
        enum err e = spill(s, reterr);
        if (e != ERR_OK) {
            return e;
        }
        b = &s->bank[s->filling];
    }
    unsigned char *packed = b->memory + b->packed_bytes;
    uint16_t n = (uint16_t)r->data.n;
    memcpy(packed, r->digest.b, DIGEST_BYTES);
    memcpy(packed + SORTER_ORDER_AT, &r->order, sizeof(r->order));
    memcpy(packed + SORTER_LENGTH_AT, &n, sizeof(n));
    if (n) {
        memcpy(packed + SORTER_HEAD_BYTES, r->data.p, n);
    }
    b->packed_bytes += packed_bytes;
    b->nitems++;
    *items_of(s, b) = (struct sorter_item){sorter_prefix(packed), packed};
    s->count++;
    return ERR_OK;
}

uint64_t sorter_count(const struct sorter *s)
{
    return s->count;
}

static void heap_down(struct source *heap, size_t root, size_t n)
{
    struct source x = heap[root];
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= n) {
            break;
        }
        if (child + 1 < n &&
            sorter_item_cmp(&heap[child + 1].item, &heap[child].item) < 0) {
            child++;
        }
        if (sorter_item_cmp(&x.item, &heap[child].item) <= 0) {
            break;
        }
        heap[root] = heap[child];
        root = child;
    }
    heap[root] = x;
}

/* Reads the next record of a source; *retmore tells whether there is one. */
static enum err advance(struct sorter *s, struct source *source, bool *retmore)
{
    const unsigned char *packed = NULL;
    enum err e = sorter_reader_next(&s->readers[source->reader], &packed);
    *retmore = e == ERR_OK && packed;
    if (*retmore) {
        source->item = (struct sorter_item){sorter_prefix(packed), packed};
    }
    return e;
}

static enum err start_readers(struct sorter *s)
{
    size_t share = s->bank_bytes * BANKS / s->nruns;
    if (share < READ_BUFFER_MIN) {
        share = READ_BUFFER_MIN;
    }
    if (share > READ_BUFFER_MAX) {
        share = READ_BUFFER_MAX;
    }
    for (size_t i = 0; i < s->nruns; i++) {
        struct run run = s->runs[i];
        enum err e =
            sorter_reader_init(&s->readers[i], s->fd, run.offset, run.end, share);
        bool more = false;
        struct source source = {.reader = (unsigned)i};
        THEN(e, advance(s, &source, &more));
        if (e != ERR_OK) {
            return e;
        }
        if (more) {
            s->heap[s->heap_n++] = source;
        }
    }
    for (size_t i = s->heap_n / 2; i-- > 0;) {
        heap_down(s->heap, i, s->heap_n);
    }
    return ERR_OK;
}

enum err sorter_finish(struct sorter *s, struct errinfo *reterr)
{
    assert(!s->finished);
    s->finished = true;
    if (s->failed != ERR_OK) {
        return errinfo_set(reterr, s->failed, s->dir, 0,
                           "sorting cannot go on after an earlier failure");
    }
    struct bank *b = &s->bank[s->filling];
    enum err e = spill_end(s, reterr);
    if (e == ERR_OK && s->nruns == 0) {
        sorter_sort(items_of(s, b), b->nitems);
        return ERR_OK;
    }
    if (e == ERR_OK && b->nitems) {
        e = spill(s, reterr);
    }
    THEN(e, spill_end(s, reterr));
    if (e != ERR_OK) {
        return e;
    }
    free_memory(s); /* the readers' buffers take its place */
    s->readers = calloc(s->nruns, sizeof(*s->readers));
    s->heap = calloc(s->nruns, sizeof(*s->heap));
    e = s->readers && s->heap ? start_readers(s) : ERR_NOMEM;
    if (e != ERR_OK) {
        s->failed = e;
        return errinfo_set(reterr, e, s->dir, 0, "cannot merge the sorted parts: %s",
                           err_text(e));
    }
    return ERR_OK;
}

static bool next_in_memory(struct sorter *s, struct sorter_record *ret)
{
    const struct bank *b = &s->bank[s->filling];
    if (s->next_item == b->nitems) {
        return false;
    }
    sorter_unpack(items_of(s, b)[s->next_item++].packed, ret);
    return true;
}

bool sorter_next(struct sorter *s, struct sorter_record *ret, enum err *retfail)
{
    assert(s->finished);
    *retfail = s->failed;
    if (s->failed != ERR_OK) {
        return false;
    }
    if (s->nruns == 0) {
        return next_in_memory(s, ret);
    }
    if (s->top_is_used) {
        bool more = false;
        s->failed = advance(s, &s->heap[0], &more);
        if (s->failed != ERR_OK) {
            *retfail = s->failed;
            return false;
        }
        if (!more) {
            s->heap[0] = s->heap[--s->heap_n];
        }
        if (s->heap_n) {
            heap_down(s->heap, 0, s->heap_n);
        }
        s->top_is_used = false;
    }
    if (s->heap_n == 0) {
        return false;
    }
    sorter_unpack(s->heap[0].item.packed, ret);
    s->top_is_used = true;
    return true;
}
