/* explained_json - a judged message as one JSON object. */
#include <string.h>

#include "core/base/case_id.h"
#include "core/base/clock.h"
#include "core/explain/explained.h"
#include "core/message/feature/feature_json.h"
#include "core/verdict/identity/proof.h"
#include "core/verdict/verdict.h"

enum { US_PER_S = 1000000 };

static json_t *symbols_json(const struct record *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->nsymbols; i++) {
        const struct record_symbol *s = &r->symbol[i];
        (void)json_array_append_new(
            array, json_pack("{s:o, s:f, s:o}", "name", json_text(s->name), "score",
                             s->score, "detail", json_text(s->detail)));
    }
    return array;
}

static json_t *hit_json(const struct explain_lists *l, const struct explained *e,
                        const struct record_hit *h)
{
    struct explained_entry now = {.rating = RATING_COUNT};
    char first[CLOCK_TEXT_MAX];
    bool is_there = explained_find_entry(l, h, &now);

    return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:f, s:b, s:s*, s:s*, s:o*}",
                     "list", json_text(h->list), "origin", json_text(h->origin),
                     "category", json_text(h->category), "type",
                     feature_type_name(h->type), "value", json_text(h->value), "status",
                     json_text(journal_name(e->names, JOURNAL_ANSWER, h->answer)),
                     "weight", h->weight * h->factor, "listed_now", (int)is_there,
                     "rating", is_there ? rating_name(now.rating) : NULL, "first_seen",
                     is_there ? clock_text(now.from.first_seen_s, first) : NULL,
                     "source", is_there ? json_text(slice_str(now.from.source)) : NULL);
}

static json_t *record_hits_json(const struct explain_lists *l,
                                const struct explained *e)
{
    json_t *array = json_array();

    for (size_t i = 0; i < e->record->nhits; i++) {
        (void)json_array_append_new(array, hit_json(l, e, &e->record->hit[i]));
    }
    return array;
}

static json_t *bits_json(const struct explained *e, enum journal_name kind,
                         uint64_t bits)
{
    json_t *array = json_array();

    for (unsigned bit = 0; bit < 64; bit++) {
        if ((bits >> bit & 1) != 0) {
            (void)json_array_append_new(array,
                                        json_text(journal_name(e->names, kind, bit)));
        }
    }
    return array;
}

static json_t *traits_json(const struct explained *e)
{
    json_t *array = json_array();

    for (size_t i = 0; i < e->record->ntraits; i++) {
        (void)json_array_append_new(
            array,
            json_text(journal_name(e->names, JOURNAL_TRAIT, e->record->trait[i])));
    }
    return array;
}

static json_t *counts_json(const struct record *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->ncounts; i++) {
        const struct record_count *c = &r->count[i];
        (void)json_array_append_new(
            array,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "type",
                      feature_type_name(c->type), "digest", (json_int_t)c->digest,
                      "w10m", (json_int_t)c->w[0], "w1h", (json_int_t)c->w[1], "w1d",
                      (json_int_t)c->w[2], "w14d", (json_int_t)c->w[3]));
    }
    return array;
}

static void change_json(void *context, const char *what)
{
    (void)json_array_append_new(context, json_string(what));
}

/* ---- who could be allowed ---- */

static bool has_identity_word(const struct explained *e, const char *word)
{
    const int bit = journal_number(e->names, JOURNAL_IDENTITY, slice_str(word));

    return bit >= 0 && bit < 64 && (e->record->identity >> bit & 1) != 0;
}

/* word: of identity.def, that says the address is the sender's own. */
static void add_allowable(json_t *array, const struct explained *e,
                          struct slice address, const char *word, const char *place)
{
    const struct slice domain = proof_domain_of(address);

    if (domain.n == 0 || domain.n == address.n) {
        return;
    }
    (void)json_array_append_new(
        array, json_pack("{s:s, s:o, s:o, s:o}", "of", place, "address",
                         json_text(address), "domain", json_text(domain), "proved",
                         has_identity_word(e, "results")
                             ? json_boolean(has_identity_word(e, word))
                             : json_null()));
}

static json_t *senders_json(const struct explained *e)
{
    json_t *array = json_array();

    add_allowable(array, e, e->record->header_from, "proved", "from");
    add_allowable(array, e, e->record->from, "spf_pass", "envelope");
    return array;
}

/* ---- the object ---- */

static json_t *recipients_of(const struct record *r)
{
    json_t *array = json_array();

    for (size_t i = 0; i < r->ntexts_rcpt; i++) {
        (void)json_array_append_new(array, json_text(r->rcpt[i]));
    }
    return array;
}

static json_t *sentence_json(const struct explain_lists *l, const struct record *r)
{
    struct buf sentence;

    buf_init(&sentence, EXPLAINED_SENTENCE_MAX);
    explained_sentence(l, r, &sentence);
    json_t *ret = json_text(buf_slice(&sentence));
    buf_fini(&sentence);
    return ret;
}

static json_t *message_json(const struct explain_lists *l, const struct explained *e)
{
    const struct record *r = e->record;
    char id[CASE_ID_SIZE];
    char when[CLOCK_TEXT_MAX];
    char address[EXPLAINED_ADDRESS_MAX];

    return json_pack(
        "{s:o, s:s, s:s, s:f, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:s*}",
        "sentence", sentence_json(l, r), "action", action_name((enum action)r->done),
        "wanted", action_name((enum action)r->wanted), "score", r->score, "case",
        case_id_print(r->case_id, id), "time", clock_text(r->time_us / US_PER_S, when),
        "client", explained_client(r, address), "queue_id", json_text(r->queue_id),
        "from", json_text(r->from), "header_from", json_text(r->header_from), "subject",
        json_text(r->subject), "to", recipients_of(r), "bytes", (json_int_t)r->bytes,
        "reported", explained_opinion(e->reported));
}

static json_t *evidence_json(const struct explain_lists *l, const struct explained *e)
{
    const struct record *r = e->record;
    json_t *changes = json_array();

    explained_each_change(l->config, r, change_json, changes);
    return json_pack("{s:o, s:o, s:o, s:b, s:o*, s:o, s:o, s:o, s:o, s:o}", "symbols",
                     symbols_json(r), "lists", record_hits_json(l, e), "senders",
                     senders_json(e), "outgoing", (int)r->is_outgoing, "reason",
                     r->unjudged.n > 0 ? json_text(r->unjudged) : NULL, "traits",
                     traits_json(e), "identity",
                     bits_json(e, JOURNAL_IDENTITY, r->identity), "limits",
                     bits_json(e, JOURNAL_LIMIT, r->limits), "counts", counts_json(r),
                     "changes", changes);
}

json_t *explained_json(const struct explain_lists *l, const struct explained *e)
{
    json_t *ret = message_json(l, e);
    json_t *evidence = evidence_json(l, e);

    if (ret == NULL || evidence == NULL || json_object_update(ret, evidence) != 0) {
        json_decref(ret);
        ret = NULL;
    }
    json_decref(evidence);
    return ret;
}
