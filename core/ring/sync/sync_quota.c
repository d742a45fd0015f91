/* sync_quota - limits of one origin: the manifest's, and those from its usual rate. */

#include "core/base/cursor.h"
#include "core/ring/sync/sync_modules.h"

enum {
    DAY_BUCKETS = 144,
    USUAL_TIMES = 3, /* its 99th percentile */
    HISTORY_BYTES = 8 + 4 * SYNC_HISTORY
};

static int by_number(const void *a, const void *b)
{
    uint32_t x = 0;
    uint32_t y = 0;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return x < y ? -1 : x > y;
}

/* UINT64_MAX: not known yet. */
static uint64_t usual(const struct origin *o)
{
    uint32_t *v = NULL;
    if (o->nhistory < SYNC_HISTORY_MIN ||
        (v = malloc(o->nhistory * sizeof(*v))) == NULL) {
        return UINT64_MAX;
    }
    memcpy(v, o->history, o->nhistory * sizeof(*v));
    qsort(v, o->nhistory, sizeof(*v), by_number);
    uint64_t p99 = v[(uint64_t)(o->nhistory - 1) * 99 / 100];
    free(v);
    p99 *= USUAL_TIMES;
    return p99 > SYNC_QUOTA_MIN ? p99 : SYNC_QUOTA_MIN;
}

uint64_t sync_quota(const struct sync *s, const struct origin *o)
{
    const struct manifest_member *m = manifest_find(&s->manifest, &o->id);
    uint64_t a_day = m && m->records_per_day ? m->records_per_day
                                             : s->manifest.default_records_per_day;
    uint64_t allowed = a_day / DAY_BUCKETS * SYNC_BURST;
    return allowed < o->usual ? allowed : o->usual;
}

uint64_t sync_quota_used(const struct origin *o, uint64_t start_s)
{
    uint64_t used = 0;
    for (const struct stream *st = o->streams; st; st = st->of_origin) {
        if (st->key.kind == OBJECT_COUNT && st->key.start_s == start_s) {
            used += st->records;
        }
    }
    return used;
}

static enum sync_result over(struct errinfo *reterr, const char *what, uint64_t n,
                             uint64_t most)
{
    (void)errinfo_set(
        reterr, ERR_LIMIT, what, 0,
        "%" PRIu64 " are more than the %" PRIu64 " that this origin may have", n, most);
    return SYNC_QUOTA;
}

static enum sync_result check_bucket(const struct sync *s, const struct offer *f,
                                     struct errinfo *reterr)
{
    const uint64_t start = f->o.stream.start_s;
    const uint64_t quota = sync_quota(s, f->origin);
    uint64_t used = sync_quota_used(f->origin, start);
    unsigned nincs = 0;
    for (const struct stream *st = f->origin->streams; st; st = st->of_origin) {
        nincs += st->key.kind == OBJECT_COUNT && st->key.start_s == start;
    }
    if (!f->stream && nincs >= SYNC_INCS_MAX) {
        return over(reterr, "incarnations in one bucket", nincs + 1U, SYNC_INCS_MAX);
    }
    if (f->o.type == OBJECT_SNAP && f->stream) { /* it replaces the stream */
        used -= f->stream->records;
    }
    const uint64_t more = f->is_same ? 0 : f->o.records;
    return used > quota || more > quota - used
               ? over(reterr, "records in one bucket", used + more, quota)
               : SYNC_APPLIED;
}

enum sync_result sync_quota_check(const struct sync *s, const struct offer *f,
                                  struct errinfo *reterr)
{
    const struct origin *o = f->origin;
    if (sync_is_self(s, &o->id) || f->is_same) {
        return SYNC_APPLIED;
    }
    if (!f->stream && o->nstreams >= SYNC_STREAMS_MAX) {
        return over(reterr, "streams", o->nstreams + 1, SYNC_STREAMS_MAX);
    }
    if (o->bytes + f->payload.n > SYNC_BYTES_MAX) {
        return over(reterr, "bytes stored", o->bytes + f->payload.n, SYNC_BYTES_MAX);
    }
    return f->o.stream.kind == OBJECT_COUNT ? check_bucket(s, f, reterr) : SYNC_APPLIED;
}

/* ---- the usual rate ---- */

static enum err save_history(struct table_txn *x, const struct origin *o)
{
    struct buf b;
    char key[SYNC_KEY_BYTES];
    buf_init(&b, HISTORY_BYTES);
    buf_add_u32(&b, o->nhistory);
    buf_add_u32(&b, o->at);
    for (unsigned i = 0; i < SYNC_HISTORY; i++) {
        buf_add_u32(&b, o->history[i]);
    }
    enum err e = buf_failed(&b)
                     ? ERR_NOMEM
                     : table_put(x, sync_table_key('q', &o->id, key), buf_slice(&b));
    buf_fini(&b);
    return e;
}

enum err sync_quota_learn(struct sync *s, uint64_t start_s, struct errinfo *reterr)
{
    struct table_txn *x = NULL;
    enum err e = table_begin(s->table, true, &x, reterr);
    if (e != ERR_OK) {
        return e;
    }
    for (unsigned i = 0; i < s->norigins; i++) {
        struct origin *o = s->origins[i];
        const uint64_t used = sync_quota_used(o, start_s);
        if (sync_is_self(s, &o->id) || o->state != MEMBER_ACTIVE ||
            (o->nhistory == 0 && used == 0)) {
            continue; /* no rate before its first bucket */
        }
        o->history[o->at] = used > UINT32_MAX ? UINT32_MAX : (uint32_t)used;
        o->at = (o->at + 1) % SYNC_HISTORY;
        o->nhistory += o->nhistory < SYNC_HISTORY;
        o->usual = usual(o);
        (void)save_history(x, o); /* kept for the commit */
    }
    return table_commit(&x, reterr);
}

static void load_history(struct origin *o, struct slice value)
{
    struct cursor c = cursor_of(value);
    const uint32_t n = cursor_u32(&c);
    const uint32_t at = cursor_u32(&c);
    if (value.n != HISTORY_BYTES || n > SYNC_HISTORY || at >= SYNC_HISTORY) {
        return;
    }
    for (unsigned i = 0; i < SYNC_HISTORY; i++) {
        o->history[i] = cursor_u32(&c);
    }
    o->nhistory = n;
    o->at = at;
    o->usual = usual(o);
}

enum err sync_quota_load(struct sync *s, struct errinfo *reterr)
{
    struct table_txn *x = NULL;
    enum err e = table_begin(s->table, false, &x, reterr);
    for (unsigned i = 0; e == ERR_OK && i < s->norigins; i++) {
        char key[SYNC_KEY_BYTES];
        struct slice value;
        if (s->origins[i]->nhistory == 0 &&
            table_get(x, sync_table_key('q', &s->origins[i]->id, key), &value) ==
                ERR_OK) {
            load_history(s->origins[i], value);
        }
    }
    table_abort(&x);
    return e;
}
