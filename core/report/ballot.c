/* ballot - the votes on one item, its standing, and the lesson about its voters. */
#include "core/report/ballot.h"

#include <math.h>

#include "core/base/array.h"

enum { HAM_REPORTERS = 2 };
/* Weight of ham that refutes reports: without a trap, and of an item that a trap has, too. */
#define RELEASE_NEEDED     0.5
#define RELEASE_OF_TRAPPED 0.75

void ballot_fini(struct ballot *b)
{
    free(b->v);
    *b = (struct ballot){0};
}

static double voice_weight(const struct trust *t, const struct vote *v, uint64_t now_s)
{
    if (v->voice == BALLOT_PEER) {
        return TRUST_NEW;
    }
    return v->voice == BALLOT_PERSON ? trust_weight(t, v->reporter, now_s) : 1.0;
}

static struct vote *vote_of(const struct ballot *b, uint64_t reporter)
{
    for (size_t i = 0; i < b->n; i++) {
        if (b->v[i].reporter == reporter) {
            return &b->v[i];
        }
    }
    return NULL;
}

/* The lightest vote that says the same, if there are BALLOT_SIDE_MAX of them; NULL: fewer. */
static struct vote *vote_to_yield(const struct ballot *b, const struct trust *t,
                                  const struct vote *vote)
{
    struct vote *lightest = NULL;
    double least = HUGE_VAL;
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++) {
        if (b->v[i].is_spam == vote->is_spam) {
            double weight = voice_weight(t, &b->v[i], vote->time_s);
            n++;
            lightest = weight < least ? &b->v[i] : lightest;
            least = fmin(weight, least);
        }
    }
    return n < BALLOT_SIDE_MAX ? NULL : lightest;
}

bool ballot_put(struct ballot *b, const struct trust *t, const struct vote *vote)
{
    struct vote *earlier = vote_of(b, vote->reporter);

    if (earlier != NULL) { /* the last of the array takes its place */
        *earlier = b->v[--b->n];
    }
    struct vote *place = b->n < BALLOT_SIDE_MAX ? NULL : vote_to_yield(b, t, vote);
    if (place != NULL) {
        if (voice_weight(t, place, vote->time_s) >=
            voice_weight(t, vote, vote->time_s)) {
            return false;
        }
        *place = *vote;
        return true;
    }
    if (!array_room(&b->v, &b->room, b->n + 1, BALLOT_VOTES_MAX, sizeof(*b->v))) {
        return false;
    }
    b->v[b->n++] = *vote;
    return true;
}

void ballot_take(struct ballot *b, uint64_t report)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++) {
        if (b->v[i].report != report) {
            b->v[n++] = b->v[i];
        }
    }
    b->n = n;
}

/* ---- the standing ---- */

static void count_spam(struct tally *t, double weight, double *io_others)
{
    if (weight >= TRUST_ESTABLISHED) {
        t->spam_earned += weight;
        t->spam_established++;
    } else {
        *io_others += weight;
    }
}

/* A weight below that of a newcomer shows that the reporter was refuted: it is not raised. */
static void count_ham(struct tally *t, double weight)
{
    if (weight >= TRUST_ESTABLISHED) {
        t->ham_earned += weight;
        t->ham_established++;
    }
    t->ham += weight < TRUST_NEW ? weight : fmax(weight, BALLOT_HAM_LEAST);
}

void ballot_count(const struct ballot *b, const struct trust *t, uint64_t now_s,
                  struct tally *ret)
{
    double others = 0; /* spam votes of reporters who are not established */

    *ret = (struct tally){0};
    for (size_t i = 0; i < b->n; i++) {
        const struct vote *v = &b->v[i];
        double weight = voice_weight(t, v, now_s);
        ret->first_s = i == 0 || v->time_s < ret->first_s ? v->time_s : ret->first_s;
        *(v->is_spam ? &ret->nspam : &ret->nham) += 1;
        if (v->voice == BALLOT_TRAP) {
            ret->traps = v->is_spam ? BALLOT_TRAPS : ret->traps;
        } else if (v->voice == BALLOT_ADMIN) {
            bool is_later = ret->decided == 0 || v->time_s >= ret->decided_s;
            ret->decided = !is_later ? ret->decided : v->is_spam ? 1 : -1;
            ret->decided_s = is_later ? v->time_s : ret->decided_s;
        } else if (v->is_spam) {
            count_spam(ret, weight, &others);
        } else {
            count_ham(ret, weight);
        }
    }
    ret->spam = ret->spam_earned + fmin(others, BALLOT_NEW_SUM) + ret->traps;
}

static double spam_needed(uint64_t copies)
{
    return fmax(BALLOT_NEEDED, BALLOT_SHARE * (double)copies);
}

enum standing tally_standing(const struct tally *t, uint64_t copies)
{
    double spam = fmin(t->spam, BALLOT_SPAM_MOST);
    bool is_enough =
        t->spam >= spam_needed(copies) && t->spam_established >= BALLOT_REPORTERS;

    if (t->decided != 0) {
        return t->decided > 0 ? STANDING_SPAM : STANDING_HAM;
    }
    if (is_enough) {
        return spam - BALLOT_HAM_TIMES * t->ham >= BALLOT_NEEDED ? STANDING_SPAM
                                                                 : STANDING_DISPUTED;
    }
    if (t->ham_earned >= BALLOT_HAM_NEEDED && t->ham_established >= HAM_REPORTERS &&
        spam <= t->ham / 2) {
        return STANDING_HAM;
    }
    return t->traps > 0 && t->nham == 0 ? STANDING_TRAPPED : STANDING_OPEN;
}

const char *standing_name(enum standing s)
{
    static const char *const name[] = {[STANDING_OPEN] = "open",
                                       [STANDING_DISPUTED] = "disputed",
                                       [STANDING_TRAPPED] = "trapped",
                                       [STANDING_SPAM] = "spam",
                                       [STANDING_HAM] = "ham"};
    return (unsigned)s < LENGTH(name) ? name[s] : "";
}

/* ---- the end ---- */

bool tally_ends(const struct tally *t, uint64_t copies, uint64_t now_s,
                struct ballot_end *ret)
{
    enum standing s = tally_standing(t, copies);
    bool has_stood = t->first_s > 0 && now_s >= t->first_s + BALLOT_WAIT_S;

    *ret = (struct ballot_end){
        .is_spam = s == STANDING_SPAM, .by = TRUST_BY_MAJORITY, .known_s = now_s};
    if (t->decided != 0) {
        ret->by = TRUST_BY_ADMIN;
        ret->known_s = t->decided_s;
        return true;
    }
    if (s == STANDING_DISPUTED) {
        ret->by = TRUST_BY_RELEASE;
        return t->ham >= (t->traps > 0 ? RELEASE_OF_TRAPPED : RELEASE_NEEDED);
    }
    if (t->traps > 0 && t->nham == 0) {
        ret->is_spam = true;
        ret->by = TRUST_BY_TRAP;
        return true;
    }
    return has_stood && (s == STANDING_SPAM || s == STANDING_HAM);
}

/* A vote with the majority gains only if the others were enough. */
static bool is_superfluous(const struct tally *all, const struct vote *v, double weight)
{
    bool is_established = weight >= TRUST_ESTABLISHED;
    double own = is_established ? weight : 0;
    unsigned one = is_established ? 1 : 0;

    return v->is_spam ? all->spam_earned + all->traps - own >= BALLOT_NEEDED &&
                            all->spam_established - one >= BALLOT_REPORTERS
                      : all->ham_earned - own >= BALLOT_HAM_NEEDED &&
                            all->ham_established - one >= HAM_REPORTERS;
}

void ballot_settle(const struct ballot *b, struct trust *t,
                   const struct ballot_end *end, uint64_t now_s)
{
    double weight[BALLOT_VOTES_MAX] = {0};
    struct tally all;

    ballot_count(b, t, now_s, &all);
    for (size_t i = 0; i < b->n && i < BALLOT_VOTES_MAX; i++) {
        weight[i] = trust_weight(t, b->v[i].reporter, now_s);
    }
    for (size_t i = 0; i < b->n && i < BALLOT_VOTES_MAX; i++) {
        const struct vote *v = &b->v[i];
        struct trust_outcome o = {.reporter = v->reporter,
                                  .report = v->report,
                                  .is_confirmed = v->is_spam == end->is_spam,
                                  .by = end->by};
        bool gains =
            end->by != TRUST_BY_RELEASE && v->time_s <= end->known_s &&
            (end->by != TRUST_BY_MAJORITY || is_superfluous(&all, v, weight[i]));
        bool loses = v->is_spam || end->by != TRUST_BY_MAJORITY;
        if (v->voice == BALLOT_PERSON && v->time_s + BALLOT_OLD_S > now_s &&
            (o.is_confirmed ? gains : loses)) {
            trust_learn(t, &o, now_s);
        }
    }
}
