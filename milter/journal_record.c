/* journal_record - a judged message for the journal. */
#include "core/base/clock.h"

#include "milter/message_log.h"

/* Constant while messages are examined. */
static struct {
    struct journal *journal; /* NULL: none */
    struct hashkey key;
} kept;

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

static struct slice without_brackets(struct slice address)
{
    bool has = address.n > 1 && *address.p == '<' && address.p[address.n - 1] == '>';
    return has ? slice_of(address.p + 1, address.n - 2) : address;
}

static void add_addresses(const struct message *m, struct record *r)
{
    const struct slice *rcpt = NULL;
    size_t n = extract_recipients(m->extract, &rcpt);

    r->from = without_brackets(m->mail_from);
    r->ntexts_rcpt = n < RECORD_RCPTS ? n : RECORD_RCPTS;
    for (size_t i = 0; i < r->ntexts_rcpt; i++) {
        r->rcpt[i] = rcpt[i];
    }
}

void journal_record_message(const struct session *s, const struct verdict *v,
                            const struct outcome *o, uint64_t us)
{
    const struct message *m = &s->message;
    struct record *r = m->record;

    if (r == NULL) {
        return;
    }
    r->time_us = clock_wall_us();
    r->case_id = m->case_id;
    r->queue_id = slice_str(m->queue_id);
    r->message_id = journal_message_id(&kept.key, extract_message_id(m->extract));
    r->bytes = extract_message_bytes(m->extract);
    r->us = us;
    r->nrcpt = m->nrcpt;
    if (m->config->journal.addresses) {
        add_addresses(m, r);
    }
    journal_gather_verdict(m->config, v, o->done, r);
    (void)journal_add(kept.journal, r);
}
