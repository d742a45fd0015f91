/* exchange_fetch - the objects of a round: fetched, cut apart, offered to sync. */

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/exchange/exchange_internal.h"

enum { HOUR_S = 3600, MISSED_S = 5 };

/* ---- objects ---- */

/* Those whom a relay could not hold either: the peer itself is to blame. */
static bool blames_peer(enum sync_result r)
{
    return r == SYNC_MALFORMED || r == SYNC_SIGNATURE || r == SYNC_PAYLOAD;
}

void exchange_refused(struct peer *p, enum sync_result r, const struct object *o,
                      const struct errinfo *why)
{
    const struct manifest_member *m =
        o != NULL ? manifest_find(&p->x->node->manifest, &o->stream.origin) : NULL;
    uint64_t now = clock_mono_us();

    p->stat.refused[r]++;
    (void)snprintf(p->stat.last_refusal, sizeof(p->stat.last_refusal), "%s: %.150s",
                   sync_result_name(r), why->text);
    if (now < p->logged_until_us[r]) {
        return;
    }
    p->logged_until_us[r] = now + HOUR_S * 1000000ULL;
    if (o == NULL) {
        log_warn("event=refused peer=%s object=heartbeat reason=%s: %s", p->name,
                 sync_result_name(r), why->text);
        return;
    }
    log_warn("event=refused peer=%s origin=%s kind=%u list=%s start=%llu seq=%llu "
             "reason=%s: %s",
             p->name, m != NULL ? m->name : "-", o->stream.kind,
             o->stream.list[0] != '\0' ? o->stream.list : "-",
             (unsigned long long)o->stream.start_s, (unsigned long long)o->seq,
             sync_result_name(r), why->text);
}

static bool is_skipped(struct exchange *x, const struct stream_key *k)
{
    struct object_id id;
    uint64_t now = clock_mono_us();

    stream_key_id(k, &id);
    for (size_t i = 0; i < SKIPPED_MAX; i++) {
        if (x->skipped[i].until_us > now &&
            memcmp(x->skipped[i].id.b, id.b, OBJECT_ID_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

static void skip(struct exchange *x, const struct stream_key *k, uint64_t seconds)
{
    struct skipped *s = &x->skipped[x->next_skipped++ % SKIPPED_MAX];

    stream_key_id(k, &s->id);
    s->until_us = clock_mono_us() + seconds * 1000000;
}

/* One object at the begin of *rest; false: nothing more can be taken from there. */
static bool offer_one(struct fetch *f, struct slice *rest)
{
    struct peer *p = f->peer;
    struct errinfo why = {.text = ""};
    struct object o = {.type = 0};
    size_t n = OBJECT_HEADER_BYTES;
    enum sync_result r = SYNC_MALFORMED;

    if (rest->n < n) {
        errinfo_set(&why, ERR_SYNTAX, "", 0, "the answer ends within an object");
    } else if (object_parse(slice_head(*rest, n), &o, &why) == ERR_OK) {
        /* a SNAP in a chain is its header alone */
        n += o.type == OBJECT_SNAP && f->want.kind == WANT_CHAIN ? 0 : o.sent_len;
        if (!stream_key_equal(&o.stream, &f->want.stream)) {
            errinfo_set(&why, ERR_RANGE, "", 0, "it is not of the stream asked for");
        } else if (n > rest->n) {
            errinfo_set(&why, ERR_SYNTAX, "", 0, "the answer ends within an object");
        } else {
            r = sync_offer(p->x->node->sync, slice_head(*rest, n), &why);
        }
    }
    *rest = slice_from(*rest, n);
    if (r == SYNC_APPLIED) {
        p->stat.objects++;
        p->has_progress = true;
        return true;
    }
    if (r == SYNC_DUPLICATE) {
        return true;
    }
    if (r == SYNC_TROUBLE) {
        p->is_troubled = true;
        log_errinfo("exchange", &why);
        return false;
    }
    if (r != SYNC_GAP) {
        exchange_refused(p, r, &o, &why);
        skip(p->x, &f->want.stream, EXCHANGE_SKIP_S);
        p->is_blamed = p->is_blamed || blames_peer(r);
    }
    return false;
}

static void on_object(void *context, const struct peer_client_answer *a)
{
    struct fetch *f = context;
    struct peer *p = f->peer;
    struct slice rest_of_it = a->body;

    f->call = NULL;
    p->nfetches--;
    if (a->status != 200 && a->status != 404) {
        if (!p->is_failing) {
            p->is_failing = true;
            p->is_unheard = a->status == 0;
            (void)snprintf(p->why, sizeof(p->why), "%s",
                           a->status == 0 ? a->why : "refused");
            p->retry_s = a->status == 429 || a->status == 503 ? a->retry_s : 0;
        }
    } else if (a->status == 404) {
        p->misses = true; /* it was taken away meanwhile: the next heads tell */
        skip(p->x, &f->want.stream, MISSED_S);
    } else {
        p->stat.bytes_in += a->body.n;
        while (rest_of_it.n > 0 && offer_one(f, &rest_of_it)) {
        }
    }
    exchange_fetch(p);
}

/* Only a header that its origin signed may announce much. */
static size_t look_at_snap(void *context, struct slice begin)
{
    struct fetch *f = context;
    struct node *r = f->peer->x->node;
    const struct manifest_key *key = NULL;
    struct object o;
    struct slice header = slice_head(begin, OBJECT_HEADER_BYTES);

    if (object_parse(header, &o, NULL) != ERR_OK ||
        manifest_find_key(&r->manifest, o.key_id, o.created_ms, &key) == NULL ||
        !object_is_signed_by(header, key->binding.key)) {
        return OBJECT_HEADER_BYTES;
    }
    return OBJECT_HEADER_BYTES + (size_t)o.sent_len;
}

bool exchange_is_fetching(const struct exchange *x, const struct stream_key *k)
{
    for (unsigned i = 0; i < x->npeers; i++) {
        for (unsigned j = 0; j < EXCHANGE_FETCHES; j++) {
            const struct fetch *f = &x->peers[i]->fetches[j];

            if (f->call != NULL && stream_key_equal(&f->want.stream, k)) {
                return true;
            }
        }
    }
    return false;
}

static bool start_fetch(struct peer *p, const struct want *w)
{
    struct fetch *f = p->fetches;
    struct object_id id;
    char hex[2 * OBJECT_ID_BYTES + 1];
    char path[PATH_MAX_HERE];
    bool is_snap = w->kind == WANT_SNAP;

    while (f->call != NULL) {
        f++;
    }
    f->want = *w;
    f->peer = p;
    stream_key_id(&w->stream, &id);
    hex_print(id.b, OBJECT_ID_BYTES, hex);
    if (is_snap) {
        (void)snprintf(path, sizeof(path), "/v1/snap/%s/%llu", hex,
                       (unsigned long long)w->from);
    } else {
        (void)snprintf(path, sizeof(path), "/v1/chain/%s/%llu-%llu", hex,
                       (unsigned long long)w->from, (unsigned long long)w->to);
    }
    const struct peer_client_request ask = {
        .max_bytes = OBJECT_HEADER_BYTES +
                     (size_t)(is_snap ? OBJECT_SNAP_MAX : OBJECT_PACKED_MAX),
        .look = is_snap ? look_at_snap : NULL,
        .done = on_object,
        .context = f};
    if (exchange_call(p, path, ask, &f->call) != ERR_OK) {
        return false;
    }
    p->nfetches++;
    return true;
}

/* All wants of this batch are done, or cannot be. */
static void end_batch(struct peer *p)
{
    struct exchange *x = p->x;

    if (p->has_progress) {
        x->hooks.changed(x->hooks.context);
    }
    if (p->is_failing) {
        exchange_fail(p, "object", p->why, p->retry_s);
        return;
    }
    if (p->is_blamed) {
        exchange_fail(p, "object", p->stat.last_refusal, 0);
        return;
    }
    if (p->is_troubled) {
        exchange_fail(p, "object", "trouble of our own, see above", 5);
        return;
    }
    if (p->has_progress || (p->is_deferred && ++p->defers < DEFERS_MAX)) {
        unsigned wait_ms = p->has_progress ? 0 : EXCHANGE_DEFER_MS;

        p->nwants = 0;
        p->next_want = 0;
        p->has_progress = false;
        exchange_rest(p, wait_ms);
        return;
    }
    p->after = p->misses ? 0 : p->heads.version;
    exchange_forget(p);
    if (p->misses) { /* whole heads again, but not at once */
        exchange_end(p, SYNC_INTERVAL_S * 1000);
        return;
    }
    if (!exchange_ask(p)) {
        exchange_end(p, EXCHANGE_GAP_MS);
    }
}

void exchange_fetch(struct peer *p)
{
    struct exchange *x = p->x;
    bool goes_on = !p->is_failing && !p->is_blamed && !p->is_troubled;

    if (goes_on && p->nwants == 0 && p->nfetches == 0) {
        p->is_deferred = false;
        p->nwants = sync_wants(x->node->sync, &p->heads, p->wants, EXCHANGE_WANTS);
        p->next_want = 0;
    }
    while (goes_on && p->next_want < p->nwants && p->nfetches < EXCHANGE_FETCHES) {
        const struct want *w = &p->wants[p->next_want++];

        if (exchange_is_fetching(x, &w->stream)) {
            p->is_deferred = true;
        } else if (!is_skipped(x, &w->stream)) {
            goes_on = start_fetch(p, w);
        }
    }
    p->stat.wants = p->nwants - p->next_want + p->nfetches;
    if (p->nfetches == 0) {
        end_batch(p);
    }
}
