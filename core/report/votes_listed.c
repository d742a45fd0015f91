/* votes_listed - lists that confirm reports. */
#include "core/base/array.h"
#include "core/report/votes_internal.h"

/* A listed value speaks about all who called its messages spam. A name proves nothing against those
 * who want one of its messages. The administrator's word is never left out. */
static bool is_about(const struct one_vote *vote, const struct row *row)
{
    uint8_t proof = vote->row >> VOTES_PROOF_SHIFT & VOTES_PROOF_MASK;

    return row->is_spam || row->voice == BALLOT_ADMIN ||
           (proof != REPORT_NO_PROOF && proof != REPORT_BAND);
}

/* Calls fn for the newest rows with the digest that hold. */
typedef void holder_fn(void *context, struct one_vote *vote, struct row *row);
static void each_holder(struct votes *v, uint64_t digest, holder_fn *fn, void *context)
{
    for (unsigned k = 0; v->nvotes > 0 && k < LENGTH(v->heads); k++) {
        unsigned left = VOTES_CHAIN_MAX;
        for (uint32_t at = *votes_head(v, k == 1, digest); at > 0 && left > 0;
             at = v->votes[at - 1].next) {
            struct one_vote *vote = &v->votes[at - 1];
            struct row *row = &v->rows[vote->row & VOTES_ROW_MASK];
            if (vote->digest == digest && !row->is_undone && row->is_counted) {
                fn(context, vote, row);
                left--;
            }
        }
    }
}

struct awaiting {
    uint64_t known_s;
    uint64_t now_s;
    bool found;
};

static void await_row(void *context, struct one_vote *vote, struct row *row)
{
    struct awaiting *a = context;
    bool learns = row->voice == BALLOT_PERSON && is_about(vote, row) &&
                  row->time_s + BALLOT_OLD_S > a->now_s &&
                  (!row->is_spam || row->time_s <= a->known_s);

    a->found = a->found || (learns && !row->is_listed);
    row->is_listed = row->is_listed || (!learns && is_about(vote, row));
}

bool votes_await_list(struct votes *v, const struct votes_item *item, uint64_t known_s,
                      uint64_t now_s)
{
    struct awaiting a = {known_s, now_s, false};

    pthread_mutex_lock(&v->lock);
    for (unsigned k = 0; k < item->n; k++) {
        each_holder(v, item->digest[k], await_row, &a);
    }
    pthread_mutex_unlock(&v->lock);
    return a.found;
}

struct holders {
    struct votes *votes;
    uint64_t known_s; /* later calls of spam repeat the list */
};

static void match_holder(void *context, struct one_vote *vote, struct row *row)
{
    struct holders *h = context;
    struct votes *v = h->votes;
    bool is_late =
        row->is_spam && row->voice == BALLOT_PERSON && row->time_s > h->known_s;

    row->is_listed = true;
    if (row->mark != v->mark && is_about(vote, row) && !is_late &&
        v->nmatches < VOTES_MATCHES_MAX) {
        row->mark = v->mark;
        row->proof = REPORT_EXACT;
        v->matches[v->nmatches++] = vote->row & VOTES_ROW_MASK;
    }
}

static void withdraw_row(struct votes *v, struct row *row, uint64_t now_s)
{
    const struct trust_outcome o = {
        .reporter = row->reporter, .report = row->number, .by = TRUST_BY_LIST};

    row->is_listed = false;
    trust_withdraw(v->trust, &o, now_s);
}

void votes_drop_listings(struct votes *v, size_t n)
{
    if (n == 0) {
        return;
    }
    memmove(v->listings, v->listings + n, (v->nlistings - n) * sizeof(*v->listings));
    v->nlistings -= n;
}

static void forget_listing(struct votes *v, const struct report *r)
{
    size_t n = 0;

    for (size_t i = 0; i < v->nlistings; i++) {
        const struct votes_listing *l = &v->listings[i];
        if (digest_cmp(&l->listed, &r->listed) != 0 ||
            !slice_eq(slice_str(l->list), r->way)) {
            v->listings[n++] = *l;
        }
    }
    v->nlistings = n;
}

static void keep_listing(struct votes *v, const struct report *r)
{
    struct votes_listing l = {.time_s = r->time_s, .listed = r->listed};

    if (v->nlistings == VOTES_LISTINGS_MAX) {
        votes_drop_listings(v, VOTES_LISTINGS_MAX / VOTES_KEPT_OF);
    }
    while (l.n < r->nitems && l.n < KEYRING_MAX) {
        l.digest[l.n] = r->items[l.n].digest;
        l.n++;
    }
    (void)snprintf(l.list, sizeof(l.list), "%.*s", SLICE_ARGS(r->way));
    if (array_room(&v->listings, &v->listings_room, v->nlistings + 1,
                   VOTES_LISTINGS_MAX, sizeof(*v->listings))) {
        v->listings[v->nlistings++] = l;
    }
}

void votes_note_listed(struct votes *v, const struct report *r)
{
    const struct ballot_end end = {
        .is_spam = true, .by = TRUST_BY_LIST, .known_s = r->known_s};
    struct holders holders = {v, r->is_spam ? r->known_s : UINT64_MAX};
    struct ballot ballot = {.n = 0};
    struct tally tally;

    votes_begin(v);
    for (size_t i = 0; i < r->nitems && i < KEYRING_MAX; i++) {
        each_holder(v, r->items[i].digest, match_holder, &holders);
    }
    forget_listing(v, r);
    if (!r->is_spam) {
        for (size_t i = 0; i < v->nmatches; i++) {
            withdraw_row(v, &v->rows[v->matches[i]], r->time_s);
        }
        return;
    }
    votes_ballot(v, REPORT_EXACT, &ballot);
    ballot_count(&ballot, v->trust, r->time_s, &tally);
    if (tally.decided == 0) { /* the administrator's word is stronger */
        ballot_settle(&ballot, v->trust, &end, r->time_s);
    }
    ballot_fini(&ballot);
    if (r->way.n > 0) { /* of a local list, which is watched */
        keep_listing(v, r);
    }
}

bool votes_listing_at(struct votes *v, size_t i, struct votes_listing *ret)
{
    pthread_mutex_lock(&v->lock);
    bool found = i < v->nlistings;

    if (found) {
        *ret = v->listings[i];
    }
    pthread_mutex_unlock(&v->lock);
    return found;
}
