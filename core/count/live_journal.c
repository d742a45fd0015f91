/* live_journal - what changed since the last time, found by a shadow of the counts. */

#include "core/count/live_internal.h"

void live_journal_close(struct live *l)
{
    if (l->journal.fd >= 0) {
        (void)close(l->journal.fd);
        l->journal.fd = -1;
    }
    buf_fini(&l->journal.pending);
}

/* An empty record, to be gathered into. */
static void pending_begin(struct live_journal *j)
{
    static const char head[LIVE_RECORD_HEAD];
    buf_clear(&j->pending);
    buf_add(&j->pending, slice_of(head, sizeof(head)));
}

static void store(char *p, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        p[i] = (char)(uint8_t)(v >> (8 * i));
    }
}

/* Puts head and checksum to what was gathered. */
static void pending_end(struct live_journal *j, uint64_t salt)
{
    struct buf *b = &j->pending;
    if (buf_failed(b)) {
        return;
    }
    store(b->p, LIVE_RECORD_MAGIC, 4);
    store(b->p + 4, (b->n - LIVE_RECORD_HEAD) / LIVE_PAIR, 4);
    store(b->p + 8, j->seq, 8);
    buf_add_u64(b, live_record_sum(buf_slice(b), salt));
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
    live_journal_header_print(&l->id, &bytes);
    j->salt = live_journal_salt(buf_slice(&bytes));
    j->seq = 1;
    if (j->pending.n > LIVE_RECORD_HEAD) {
        pending_end(j, j->salt);
        buf_add(&bytes, buf_slice(&j->pending));
        j->seq++;
    }
    enum err e =
        buf_failed(&bytes) || buf_failed(&j->pending)
            ? errinfo_set(reterr, ERR_NOMEM, path, 0, "no memory for a write-ahead log")
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
        buf_add_u64(&j->pending, s->key);
        buf_add_u64(&j->pending, s->count);
        t->shadow[i] = s->count;
    }
}

static enum err append(const struct live_journal *j)
{
    struct slice rest = buf_slice(&j->pending);
    while (rest.n > 0) {
        ssize_t n = write(j->fd, rest.p, rest.n);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n < 0 ? err_of_errno(errno) : ERR_IO;
        }
        rest = slice_from(rest, (size_t)n);
    }
    return fdatasync(j->fd) == 0 ? ERR_OK : err_of_errno(errno);
}

/* A journal whose repeated counts outweigh the table is written anew with the next gathering. */
static void look_at_size(struct live *l)
{
    uint64_t most = (uint64_t)live_used(l) * LIVE_PAIR * 4;
    if (most < LIVE_JOURNAL_MAX) {
        most = LIVE_JOURNAL_MAX;
    }
    l->journal.is_anew = l->journal.bytes > most;
}

static enum err flush_anew(struct live *l, struct errinfo *reterr)
{
    (void)close(l->journal.fd);
    l->journal.fd = -1;
    return journal_write_new(l, reterr);
}

static enum err flush_more(struct live *l, struct errinfo *reterr)
{
    struct live_journal *j = &l->journal;
    pending_end(j, j->salt);
    enum err e = buf_failed(&j->pending) ? ERR_NOMEM : append(j);
    if (e != ERR_OK) {
        return errinfo_set(
            reterr, e, l->dir, 0,
            "cannot write the write-ahead log of the counts: %s; counting goes on, "
            "but what is counted until the next bucket is lost when the "
            "machine stops",
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
    } else if (j->pending.n > LIVE_RECORD_HEAD) {
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
