/* votes_read - answers about votes. */
#include "core/report/votes_internal.h"

static void show_row(const struct row *row, struct votes_report *ret)
{
    *ret = (struct votes_report){.id = row->id,
                                 .reporter = row->reporter,
                                 .number = row->number,
                                 .is_spam = row->is_spam,
                                 .is_undone = row->is_undone,
                                 .is_counted = row->is_counted};
}

bool votes_find(struct votes *v, uint64_t id, struct votes_report *ret)
{
    pthread_mutex_lock(&v->lock);
    const struct row *row = votes_row(v, id);

    if (row != NULL) {
        show_row(row, ret);
    }
    pthread_mutex_unlock(&v->lock);
    return row != NULL;
}

/* The newest row of the chain that is the reporter's and holds. */
static const struct row *standing_row(const struct votes *v, uint64_t reporter,
                                      uint64_t message)
{
    uint32_t at = v->nvotes > 0 && message != 0 ? *votes_head(v, false, message) : 0;

    for (; at > 0; at = v->votes[at - 1].next) {
        const struct row *row = &v->rows[v->votes[at - 1].row & VOTES_ROW_MASK];
        if (v->votes[at - 1].digest == message && row->reporter == reporter &&
            !row->is_undone) {
            return row;
        }
    }
    return NULL;
}

bool votes_standing(struct votes *v, struct slice reporter, uint64_t message,
                    struct votes_report *ret)
{
    pthread_mutex_lock(&v->lock);
    const struct row *row = standing_row(v, trust_reporter(&v->key, reporter), message);

    if (row != NULL) {
        show_row(row, ret);
    }
    pthread_mutex_unlock(&v->lock);
    return row != NULL;
}

/* One look at the matches: by this proof at least. */
static void weigh_matches(struct votes *v, uint8_t least, uint64_t copies,
                          uint64_t now_s, struct votes_opinion *ret)
{
    struct ballot ballot = {.n = 0};
    struct tally tally;

    votes_ballot(v, least, &ballot);
    ballot_count(&ballot, v->trust, now_s, &tally);
    *ret = (struct votes_opinion){.standing = tally_standing(&tally, copies),
                                  .is_link = least == REPORT_LINK,
                                  .is_decided = tally.decided != 0,
                                  .nspam = tally.nspam,
                                  .nham = tally.nham};
    ballot_fini(&ballot);
}

/* NOLINTNEXTLINE(readability-function-size): a message, and the time */
void votes_judge(struct votes *v, const struct votes_item *items, size_t n,
                 uint64_t copies, uint64_t now_s, struct votes_opinion *ret)
{
    *ret = (struct votes_opinion){.standing = STANDING_OPEN};
    pthread_mutex_lock(&v->lock);
    if (v->nvotes > 0) {
        votes_begin(v);
        for (size_t i = 0; i < n; i++) {
            if (items[i].proof != REPORT_NO_PROOF) {
                votes_match(v, &items[i]);
            }
        }
        if (v->nmatches > 0) {
            weigh_matches(v, REPORT_EXACT, copies, now_s, ret);
        }
        if (v->nmatches > 0 && ret->standing == STANDING_OPEN) {
            weigh_matches(v, REPORT_LINK, copies, now_s, ret);
        }
    }
    pthread_mutex_unlock(&v->lock);
}

/* One item's votes as they are read, the newest first. */
struct calling {
    uint64_t reporters[VOTES_CHAIN_MAX]; /* whose last vote was seen */
    size_t n;
    int decided; /* by the administrator: 1 spam, -1 ham */
    unsigned spam;
    unsigned ham;
};

static bool is_first_of(struct calling *c, uint64_t reporter)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->reporters[i] == reporter) {
            return false;
        }
    }
    if (c->n == LENGTH(c->reporters)) {
        return false;
    }
    c->reporters[c->n++] = reporter;
    return true;
}

static void call_row(struct calling *c, const struct row *row, uint64_t from_s,
                     uint64_t to_s, struct votes_called *ret)
{
    if (row->is_undone || !row->is_counted || !is_first_of(c, row->reporter)) {
        return;
    }
    *(row->is_spam ? &c->spam : &c->ham) += 1;
    if (row->voice == BALLOT_ADMIN) {
        c->decided = row->is_spam ? 1 : -1;
    }
    if (row->time_s >= from_s && row->time_s <= to_s) {
        *(row->is_spam ? &ret->spam : &ret->good) += 1;
    }
}

/* The rows with one of the item's digests, of established voices alone. True: it is an own item. */
static bool find_called(struct votes *v, const struct votes_item *item)
{
    bool is_own = false;

    votes_begin(v);
    for (unsigned k = 0; v->nvotes > 0 && k < item->n; k++) {
        unsigned left = VOTES_CHAIN_MAX;
        for (uint32_t at = *votes_head(v, false, item->digest[k]); at > 0 && left > 0;
             at = v->votes[at - 1].next) {
            const struct one_vote *vote = &v->votes[at - 1];
            struct row *row = &v->rows[vote->row & VOTES_ROW_MASK];
            if (vote->digest != item->digest[k]) {
                continue;
            }
            left--;
            is_own = is_own || (vote->row >> VOTES_PROOF_SHIFT & VOTES_PROOF_MASK) != 0;
            if (row->mark != v->mark && v->nmatches < VOTES_MATCHES_MAX) {
                row->mark = v->mark;
                v->matches[v->nmatches++] = vote->row & VOTES_ROW_MASK;
            }
        }
    }
    return is_own;
}

void votes_called(struct votes *v, const struct votes_item *item, uint64_t from_s,
                  uint64_t to_s, struct votes_called *ret)
{
    struct calling c = {.n = 0};

    *ret = (struct votes_called){.spam = 0};
    pthread_mutex_lock(&v->lock);
    bool is_own = find_called(v, item);
    votes_sort(v);
    for (size_t i = v->nmatches; i-- > 0;) {
        call_row(&c, &v->rows[v->matches[i]], from_s, to_s, ret);
    }
    ret->is_cleared =
        is_own && (c.decided != 0 ? c.decided < 0 : c.ham > 0 && c.spam == 0);
    pthread_mutex_unlock(&v->lock);
}

/* 1, or of a person what `ask` says. */
static double ask_trust(struct votes *v, struct slice reporter, uint64_t now_s,
                        double (*ask)(const struct trust *, uint64_t, uint64_t))
{
    pthread_mutex_lock(&v->lock);
    double weight = votes_voice(reporter) != BALLOT_PERSON
                        ? 1
                        : ask(v->trust, trust_reporter(&v->key, reporter), now_s);
    pthread_mutex_unlock(&v->lock);
    return weight;
}

double votes_trust(struct votes *v, struct slice reporter, uint64_t now_s)
{
    return ask_trust(v, reporter, now_s, trust_weight);
}

double votes_lesson(struct votes *v, struct slice reporter, uint64_t now_s)
{
    return ask_trust(v, reporter, now_s, trust_lesson);
}

size_t votes_count(struct votes *v)
{
    pthread_mutex_lock(&v->lock);
    size_t n = v->nvotes;
    pthread_mutex_unlock(&v->lock);
    return n;
}
