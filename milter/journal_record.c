/* journal_record - a message for the journal. */
#include <stdatomic.h>

#include "core/base/clock.h"

#include "milter/message_log.h"

/* Constant while messages are examined, except id. */
static struct {
    struct journal *journal; /* NULL: none */
    struct hashkey key;
    _Atomic uint64_t
        id; /* config_id, with the generation of that configuration + 1 above it */
} kept;

enum { ID_BITS = 32 };

void journal_record_use(struct journal *j, const struct hashkey *key)
{
    kept.journal = j;
    if (key != NULL) {
        kept.key = *key;
    }
}

void journal_record_configure(const struct config *config)
{
    if (kept.journal != NULL) {
        journal_set_bounds(kept.journal, config->journal.keep_s, config->journal.size);
    }
}

void journal_record_evidence(struct message *m, const struct journal_case *c)
{
    m->record = kept.journal != NULL && journal_is_on(kept.journal)
                    ? arena_alloc(m->arena, sizeof(*m->record))
                    : NULL;
    if (m->record != NULL) {
        record_init(m->record, RECORD_MESSAGE);
        journal_gather(c, m->arena, m->record);
    }
}

/* config_id, computed once for each configuration that messages have. */
static uint32_t id_of(const struct message *m)
{
    uint64_t known = atomic_load_explicit(&kept.id, memory_order_relaxed);
    uint32_t generation = (uint32_t)m->generation + 1;

    if (known >> ID_BITS != generation) {
        known = (uint64_t)generation << ID_BITS | config_id(m->config);
        atomic_store_explicit(&kept.id, known, memory_order_relaxed);
    }
    return (uint32_t)known;
}

static struct slice without_brackets(struct slice address)
{
    bool has = address.n > 1 && *address.p == '<' && address.p[address.n - 1] == '>';
    return has ? slice_of(address.p + 1, address.n - 2) : address;
}

static void add_addresses(const struct message *m, struct record *r)
{
    const struct slice *rcpt = m->rcpt; /* not normalised: better than none */
    size_t n = m->nrcpt < SESSION_RCPTS ? m->nrcpt : SESSION_RCPTS;

    if (m->extract != NULL) {
        n = extract_recipients(m->extract, &rcpt);
    }
    r->from = without_brackets(m->mail_from);
    r->ntexts_rcpt = n < RECORD_RCPTS ? n : RECORD_RCPTS;
    for (size_t i = 0; i < r->ntexts_rcpt; i++) {
        r->rcpt[i] = without_brackets(rcpt[i]);
    }
}

static void add_message(const struct session *s, const struct outcome *o, uint64_t us,
                        struct record *r)
{
    const struct message *m = &s->message;

    r->time_us = clock_wall_us();
    r->case_id = m->case_id;
    r->is_outgoing = m->is_outgoing;
    r->is_authenticated = m->is_authenticated;
    r->has_addr = s->has_addr;
    memcpy(r->addr, s->addr, sizeof(r->addr));
    r->queue_id = slice_str(m->queue_id);
    r->bytes = m->bytes;
    if (m->extract != NULL) {
        r->message_id = journal_message_id(&kept.key, extract_message_id(m->extract));
        r->bytes = extract_message_bytes(m->extract);
    }
    r->us = us;
    r->nrcpt = m->nrcpt;
    r->wanted = (uint8_t)o->wanted;
    r->done = (uint8_t)o->done;
    r->config_id = id_of(m);
    if (m->config->journal.addresses) {
        add_addresses(m, r);
    }
}

void journal_record_message(const struct session *s, const struct verdict *v,
                            const char *reason, const struct outcome *o, uint64_t us)
{
    const struct message *m = &s->message;
    struct record room;
    struct record *r = m->record;

    if (kept.journal == NULL || !journal_is_on(kept.journal)) {
        return;
    }
    if (r == NULL) { /* it was not read, or there is no memory */
        record_init(&room, RECORD_MESSAGE);
        r = &room;
    }
    add_message(s, o, us, r);
    if (v != NULL) {
        journal_gather_verdict(m->config, v, r);
    } else {
        journal_gather_unjudged(m->config, slice_str(reason), r);
    }
    (void)journal_add(kept.journal, r);
}
