/* shared_writer_show - what the writer has logged and sent. */
#include "core/hub/shared/shared_writer_internal.h"

/* The log has something of the bucket, or may have had it. */
static bool has_bucket(const struct shared_writer *w, uint64_t start_s)
{
    uint64_t one = 0;

    for (size_t k = 0; (one = shared_log_bucket(w->log, k)) != 0; k++) {
        if (one == start_s) {
            return true;
        }
    }
    return start_s < w->newest_s;
}

bool shared_writer_own(const struct shared_writer *w, uint64_t start_s, uint64_t key,
                       uint64_t *ret)
{
    if (shared_pending_own(w->pending, start_s, key, ret)) {
        return true;
    }
    *ret = 0;
    return !w->positions.is_asking && !w->must_begin &&
           start_s > shared_log_from(w->log) && !has_bucket(w, start_s);
}

bool shared_writer_learn(struct shared_writer *w, uint64_t start_s, uint64_t key,
                         uint64_t total, uint64_t *retown)
{
    shared_pending_learn(w->pending, start_s, key, total);
    return shared_pending_own(w->pending, start_s, key, retown);
}

void shared_writer_status(const struct shared_writer *w,
                          struct shared_writer_status *ret)
{
    *ret = (struct shared_writer_status){.is_asking =
                                             w->positions.is_asking || w->must_begin,
                                         .inc = shared_log_inc(w->log),
                                         .last = w->positions.last,
                                         .log_bytes = shared_log_bytes(w->log),
                                         .since_us = shared_pending_since(w->pending),
                                         .repeated = w->repeated,
                                         .dropped = w->dropped,
                                         .incarnations = w->incarnations};
    for (unsigned c = 0; c < SHARED_CELLS; c++) {
        const struct shared_record *r = positions_oldest(&w->positions, c);

        ret->waiting += r != NULL ? 1 : 0;
        if (r != NULL && (ret->since_us == 0 || r->logged_us < ret->since_us)) {
            ret->since_us = r->logged_us;
        }
    }
}

uint64_t shared_writer_inc(const struct shared_writer *w)
{
    return shared_log_inc(w->log);
}

bool shared_writer_position(const struct shared_writer *w, unsigned cell, uint64_t *ret)
{
    *ret = w->positions.cells[cell].position;
    return w->positions.cells[cell].is_known;
}

uint64_t shared_writer_bucket(const struct shared_writer *w, size_t k)
{
    return shared_log_bucket(w->log, k);
}

enum err shared_writer_read(struct shared_writer *w, const struct shared_reading *r,
                            bool *retall, struct errinfo *reterr)
{
    size_t nread = 0;

    *retall = false;
    for (size_t i = 0; i < w->positions.n; i++) {
        const struct shared_record *record = &w->positions.v[i];
        const struct run_record *v = NULL;
        size_t n = 0;

        if (record->start_s != r->start_s || record->number <= r->after) {
            continue;
        }
        if (nread == r->most) {
            return ERR_OK;
        }
        const enum err e = shared_log_read(w->log, record, &v, &n, reterr);
        if (e != ERR_OK) {
            return e;
        }
        nread++;
        r->fn(r->context, record->number, v, n);
    }
    *retall = true;
    return ERR_OK;
}
