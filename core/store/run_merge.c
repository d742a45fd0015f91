/* run_merge - a heap of cursors, the smallest key on top. */

#include "core/store/run_internal.h"

struct feeder {
    struct run_record record;
    bool is_damaged; /* a block of it */
    struct run_cursor cursor;
};

struct merge {
    struct feeder *all;
    struct feeder **heap;
    size_t n;
    uint64_t damaged;
};

/* Fetches the feeder's next record. ERR_NOT_FOUND: it is at its end. */
static enum err advance(struct merge *m, struct feeder *f)
{
    enum err e = ERR_CORRUPT;
    while ((e = run_cursor_next(&f->cursor, &f->record)) == ERR_CORRUPT) {
        m->damaged++;
        f->is_damaged = true;
    }
    return e;
}

static void sift_down(struct merge *m, size_t i)
{
    struct feeder *f = m->heap[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= m->n) {
            break;
        }
        if (child + 1 < m->n &&
            m->heap[child + 1]->record.key < m->heap[child]->record.key) {
            child++;
        }
        if (m->heap[child]->record.key >= f->record.key) {
            break;
        }
        m->heap[i] = m->heap[child];
        i = child;
    }
    m->heap[i] = f;
}

/* Moves the feeder on top to its next record. */
static enum err step_merge(struct merge *m)
{
    enum err e = advance(m, m->heap[0]);
    if (e == ERR_NOT_FOUND) {
        m->heap[0] = m->heap[--m->n];
        e = ERR_OK;
    }
    if (e == ERR_OK && m->n > 0) {
        sift_down(m, 0);
    }
    return e;
}

static enum err begin_merge(struct merge *m, const struct run *const *runs, size_t n)
{
    m->all = calloc(n + 1, sizeof(*m->all));
    m->heap = malloc(n * sizeof(struct feeder *) + 1);
    if (!m->all || !m->heap) {
        return ERR_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        run_cursor_init(&m->all[i].cursor, runs[i], 0, UINT64_MAX);
        enum err e = advance(m, &m->all[i]);
        if (e == ERR_OK) {
            m->heap[m->n++] = &m->all[i];
        } else if (e != ERR_NOT_FOUND) {
            return e;
        }
    }
    for (size_t i = m->n / 2; i-- > 0;) {
        sift_down(m, i);
    }
    return ERR_OK;
}

static enum err run_out(struct merge *m, struct run_writer *w)
{
    enum err e = ERR_OK;
    while (e == ERR_OK && m->n > 0) {
        struct run_record sum = m->heap[0]->record;
        e = step_merge(m);
        while (e == ERR_OK && m->n > 0 && m->heap[0]->record.key == sum.key) {
            sum.count = run_sum(sum.count, m->heap[0]->record.count);
            e = step_merge(m);
        }
        run_writer_add(w, &sum);
    }
    return e;
}

/* The one whose damaged block was met last. */
static size_t find_bad(const struct merge *m, size_t n)
{
    size_t i = 0;
    while (i + 1 < n && !m->all[i].is_damaged) {
        i++;
    }
    return i;
}

enum err run_merge_each(const struct run *const *runs, size_t n, run_merge_fn *fn,
                        void *context, size_t *retbad)
{
    struct merge m = {0};
    enum err e = begin_merge(&m, runs, n);

    *retbad = 0;
    while (e == ERR_OK && m.damaged == 0 && m.n > 0) {
        struct feeder *f = m.heap[0];
        fn(context, (size_t)(f - m.all), &f->record);
        e = step_merge(&m);
    }
    if (m.damaged > 0) {
        *retbad = find_bad(&m, n);
        e = ERR_CORRUPT;
    }
    free(m.all);
    free(m.heap);
    return e;
}

static void add_sources(const struct run *r, struct run_writer *w)
{
    for (uint64_t i = 0; i < r->nsources; i++) {
        struct run_source s = run_source_at(r, i);
        run_writer_source(w, s.start_s, s.inc);
    }
    if (r->nsources == 0) {
        run_writer_source(w, r->id.start_s, r->id.inc);
    }
}

enum err run_merge(const struct run *const *runs, size_t n, struct run_writer *w,
                   uint64_t *retdamaged)
{
    struct merge m = {0};
    enum err e = begin_merge(&m, runs, n);
    THEN(e, run_out(&m, w));
    for (size_t i = 0; i < n; i++) {
        add_sources(runs[i], w);
    }
    free(m.all);
    free(m.heap);
    *retdamaged = m.damaged;
    return e;
}
