#include "core/verdict/journal/journal_items.h"

#include "core/base/case_id.h"
#include "core/base/le.h"
#include "core/report/report_items.h"
#include "core/verdict/journal/journal_read.h"

enum { US_PER_S = 1000000, MARGIN_S = 600 };

/* ---- a message ---- */

static uint64_t newest_epoch(const struct message_counts *counts)
{
    uint64_t newest = 0;

    for (size_t i = 0; i < counts->n; i++) {
        const struct feature *f = counts->v[i].feature;
        uint64_t epoch = f->type == FEATURE_text_band ? report_epoch(f->text) : 0;
        newest = epoch > newest ? epoch : newest;
    }
    return newest;
}

void journal_gather_items(const struct message_counts *counts, struct record *ret)
{
    uint64_t newest = newest_epoch(counts);

    for (size_t i = 0; i < counts->n && ret->nitems < RECORD_ITEMS; i++) {
        const struct counted *c = &counts->v[i];
        const struct feature *f = c->feature;
        uint8_t proof = (uint8_t)report_proof(f->type, f->text);
        if (proof != REPORT_NO_PROOF &&
            (f->type != FEATURE_text_band || report_epoch(f->text) == newest)) {
            ret->item[ret->nitems++] =
                (struct record_item){report_digest(&c->digest[0]), f->type, proof};
        }
    }
}

/* ---- a report ---- */

struct search {
    struct report *report;
    uint64_t left; /* records */
    bool is_found;
};

static bool take_items(void *context, const struct record *r,
                       const struct journal_names *names)
{
    struct search *s = context;
    struct report *v = s->report;

    (void)names;
    if (v->case_id != 0 ? r->case_id != v->case_id
                        : !slice_eq(r->queue_id, v->queue_id)) {
        return --s->left > 0;
    }
    s->is_found = true;
    v->case_id = r->case_id;
    for (size_t i = 0; i < r->nitems && v->nitems < REPORT_ITEMS_MAX; i++) {
        v->items[v->nitems++] =
            (struct report_item){r->item[i].digest, r->item[i].type, r->item[i].proof};
    }
    return false;
}

/* The name of the message among reports without one, so that the same word again is known. */
static uint64_t name_message(const struct hashkey *key, uint64_t case_id)
{
    char bytes[sizeof(case_id)];
    struct digest d;

    le_put(bytes, case_id, sizeof(bytes));
    digest_make(key, FEATURE_NONE, slice_of(bytes, sizeof(bytes)), &d);
    return report_digest(&d);
}

void journal_add_items(const char *state_dir, const struct hashkey *key,
                       struct report *r)
{
    struct search s = {.report = r, .left = JOURNAL_ITEMS_SEARCH};
    struct journal_numbers numbers;
    struct journal_query q = {
        .state_dir = state_dir, .newest_first = true, .fn = take_items, .context = &s};

    if (r->case_id != 0) { /* the id tells the second */
        uint64_t at = case_id_time_s(r->case_id);
        q.since_us = (at > MARGIN_S ? at - MARGIN_S : 0) * US_PER_S;
        q.until_us = (at + MARGIN_S) * US_PER_S;
    }
    if (r->case_id != 0 || r->queue_id.n > 0) {
        (void)journal_read(&q, &numbers, NULL);
    }
    if (s.is_found && r->nitems > 0) {
        r->message = name_message(key, r->case_id);
    }
}
