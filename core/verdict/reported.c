/* reported - what people reported about such messages becomes a symbol. */
#include "core/base/clock.h"
#include "core/verdict/verdict_internal.h"

enum { US_PER_S = 1000000, DETAIL_MAX = 96 };

/* Shares of the score. A group of sleepers, who were good reporters for weeks, can get one issue of a
 * newsletter to stand as spam until two recipients want it; people's share marks only mail that has
 * two points from elsewhere (ADR 0075). */
#define PEOPLE_SHARE \
    0.6 /* the administrator did not decide, or only URLs were reported */
#define TRAP_SHARE 0.3 /* only traps received it */

/* Items of the message that is judged. */
struct items {
    struct votes_item v[REPORT_ITEMS_MAX];
    size_t n;
    uint64_t copies; /* messages with an exact item */
};

static void add_item(struct items *all, const struct digest *digest, unsigned nkeys,
                     uint8_t proof)
{
    struct votes_item *item = &all->v[all->n++];

    *item = (struct votes_item){.n = (uint8_t)nkeys, .proof = proof};
    for (unsigned k = 0; k < nkeys; k++) {
        item->digest[k] = report_digest(&digest[k]);
    }
}

/* The digests are there if the message was counted. */
static void add_counted(const struct message_counts *counts, struct items *all)
{
    for (size_t i = 0; i < counts->n && all->n < REPORT_ITEMS_MAX; i++) {
        const struct counted *c = &counts->v[i];
        uint8_t proof = (uint8_t)report_proof(c->feature->type, c->feature->text);
        uint64_t copies = c->value.w[COUNT_14D];
        if (proof == REPORT_NO_PROOF) {
            continue;
        }
        add_item(all, c->digest, counts->keys->n, proof);
        if (proof == REPORT_EXACT && copies > all->copies) {
            all->copies = copies;
        }
    }
}

static void add_features(const struct judging *j, struct items *all)
{
    const struct featureset *features = j->facts.features;
    const struct keyring *keys = j->facts.context->vote_keys;

    for (size_t i = 0; i < featureset_count(features) && all->n < REPORT_ITEMS_MAX;
         i++) {
        const struct feature *f = featureset_at(features, i);
        uint8_t proof = (uint8_t)report_proof(f->type, f->text);
        struct digest digest[KEYRING_MAX];
        if (proof != REPORT_NO_PROOF) {
            count_digest(keys, j->facts.config, f->type, f->text, digest);
            add_item(all, digest, keys->n, proof);
        }
    }
}

static void add_spam(struct judging *j, double score, struct slice detail)
{
    verdict_add_symbol(j->v, "REPORTED_", "SPAM", score, detail);
    j->v->symbols[j->v->nsymbols - 1].kind = SYMBOL_UNSURE;
    j->unsure += score;
}

static void add_symbol(struct judging *j, const struct votes_opinion *o)
{
    const struct config_reports *scores = &j->facts.config->reports;
    char text[DETAIL_MAX];

    (void)snprintf(text, sizeof(text), "%u as spam, %u as ham%s%s", o->nspam, o->nham,
                   o->is_decided ? ", by the administrator" : "",
                   o->is_link ? ", for its links" : "");
    struct slice detail = arena_copy(j->arena, slice_str(text));
    if (o->standing == STANDING_SPAM) {
        double share = o->is_decided && !o->is_link ? 1 : PEOPLE_SHARE;
        add_spam(j, scores->spam_score * share, detail);
    } else if (o->standing == STANDING_TRAPPED) {
        add_spam(j, scores->spam_score * TRAP_SHARE, detail);
    } else if (o->standing == STANDING_HAM && !o->is_link) {
        verdict_add_symbol(j->v, "REPORTED_", "HAM",
                           credit_has_grave_hit(j) ? 0 : scores->ham_score, detail);
    }
}

void reported_judge(struct judging *j)
{
    const struct verdict_context *context = j->facts.context;
    struct items all = {.n = 0};
    struct votes_opinion opinion;

    if (context->votes == NULL || votes_count(context->votes) == 0) {
        return;
    }
    if (context->counts != NULL && context->counts->n > 0) {
        add_counted(context->counts, &all);
    } else {
        add_features(j, &all);
    }
    votes_judge(context->votes, all.v, all.n, all.copies, clock_wall_us() / US_PER_S,
                &opinion);
    add_symbol(j, &opinion);
}
