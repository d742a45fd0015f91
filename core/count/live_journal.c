/* live_journal - changes since the last record, found by a shadow of the counts. */

#include "core/count/live_internal.h"

void live_journal_close(struct live *l)
{
    fd_close(&l->journal.fd);
    buf_fini(&l->journal.pending);
}

static void pending_begin(struct live_journal *j)
{
    buf_clear(&j->pending);
    pair_record_begin(&j->pending);
}

/* Adds head and checksum to the gathered pairs. */
static void pending_end(struct live_journal *j)
{
    pair_record_end(&j->pending, &live_journal_form, j->seq, j->salt);
}

/* Publishes a journal of header and, where it has any, the pending record; opens it for more. */
static enum err journal_write_new(struct live *l, struct errinfo *reterr)
{
    struct live_journal *j = &l->journal;
    char path[FILE_PATH_MAX];
    struct buf bytes;
    if (live_journal_path(path, l->dir, &l->id) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, l->dir, 0, "the path is too long");
    }
    buf_init(&bytes, (size_t)LIVE_RECORD_MAX * 2);
    pair_log_header_print(&live_journal_form, &l->id, &bytes);
    j->salt = pair_log_salt(buf_slice(&bytes));
    j->seq = 1;
    if (j->pending.n > PAIR_RECORD_HEAD) {
        pending_end(j);
        buf_add(&bytes, buf_slice(&j->pending));
        j->seq++;
    }
    enum err e =
        buf_failed(&bytes) || buf_failed(&j->pending)
            ? errinfo_nomem(reterr, path)
            : file_write_atomic(path, buf_slice(&bytes), LIVE_FILE_MODE, reterr);
    j->bytes = bytes.n;
    buf_fini(&bytes);
    if (e != ERR_OK) {
        return e;
    }
    j->fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
    return j->fd >= 0 ? ERR_OK
                      : errinfo_errno(reterr, path, "cannot open the write-ahead log");
}

enum err live_journal_open(struct live *l, struct errinfo *reterr)
{
    buf_init(&l->journal.pending, LIVE_RECORD_MAX);
    enum err e = journal_write_new(l, reterr);
    pending_begin(&l->journal);
    return e;
}

void live_flush_shard(struct live *l, unsigned shard)
{
    struct live_journal *j = &l->journal;
    const struct live_table *t = l->shard[shard].table;
    if (j->fd < 0) {
        return;
    }
    const uint64_t first = shard * t->per_shard;
    for (uint64_t i = first; i < first + t->per_shard; i++) {
        const struct live_slot *s = &t->slots[i];
        if (s->key == 0 || (s->count == t->shadow[i] && !j->is_anew)) {
            continue;
        }
        pair_record_add(&j->pending, s->key, s->count);
        t->shadow[i] = s->count;
    }
}

static enum err append_pending(const struct live_journal *j)
{
    return file_write_all(j->fd, buf_slice(&j->pending)) && fdatasync(j->fd) == 0
               ? ERR_OK
               : err_of_errno(errno);
}

/* A journal that grew too large for its table is rewritten at the next flush. */
static void look_at_size(struct live *l)
{
    uint64_t most = (uint64_t)live_used(l) * PAIR_BYTES * 4;
    if (most < LIVE_JOURNAL_MAX) {
        most = LIVE_JOURNAL_MAX;
    }
    l->journal.is_anew = l->journal.bytes > most;
}

static enum err flush_anew(struct live *l, struct errinfo *reterr)
{
    fd_close(&l->journal.fd);
    return journal_write_new(l, reterr);
}

static enum err flush_more(struct live *l, struct errinfo *reterr)
{
    struct live_journal *j = &l->journal;
    pending_end(j);
    enum err e = buf_failed(&j->pending) ? ERR_NOMEM : append_pending(j);
    if (e != ERR_OK) {
        return errinfo_set(
            reterr, e, l->dir, 0,
            "cannot write the write-ahead log of the counts: %s; counting goes on, but "
            "counts until the next bucket are lost when the machine stops",
            err_text(e));
    }
    j->bytes += j->pending.n;
    j->seq++;
    return ERR_OK;
}

enum err live_flush(struct live *l, struct errinfo *reterr)
{
    struct live_journal *j = &l->journal;
    enum err e = ERR_OK;
    if (j->fd < 0) {
        return ERR_OK; /* told before */
    }
    if (j->is_anew) {
        e = flush_anew(l, reterr);
    } else if (j->pending.n > PAIR_RECORD_HEAD) {
        e = flush_more(l, reterr);
    }
    if (e !=
        ERR_OK) { /* what the system took of it is unknown: never the same file again */
        live_journal_close(l);
        live_set_volatile(l);
        return e;
    }
    look_at_size(l);
    pending_begin(j);
    return ERR_OK;
}
