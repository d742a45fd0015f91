/* ballot - the votes on one item, its standing, and the lesson about its voters. */
#include "core/report/ballot.h"

#include <math.h>

#include "core/base/array.h"

#define RELEASE_NEEDED 0.5 /* trust of established recipients who want the mail */

void ballot_fini(struct ballot *b)
{
    free(b->v);
    *b = (struct ballot){0};
}

static double voice_weight(const struct trust *t, const struct vote *v, uint64_t now_s)
{
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

static struct vote *lightest_vote(const struct ballot *b, const struct trust *t,
                                  uint64_t now_s)
{
    struct vote *lightest = &b->v[0];
    double least = INFINITY;

    for (size_t i = 0; i < b->n; i++) {
        double weight = voice_weight(t, &b->v[i], now_s);
        if (weight < least) {
            least = weight;
            lightest = &b->v[i];
        }
    }
    return lightest;
}

bool ballot_put(struct ballot *b, const struct trust *t, const struct vote *vote)
{
    struct vote *place = vote_of(b, vote->reporter);

    if (place == NULL && b->n < BALLOT_VOTES_MAX) {
        if (!array_room(&b->v, &b->room, b->n + 1, BALLOT_VOTES_MAX, sizeof(*b->v))) {
            return false;
        }
        place = &b->v[b->n++];
    } else if (place == NULL) {
        place = lightest_vote(b, t, vote->time_s);
        if (voice_weight(t, place, vote->time_s) >=
            voice_weight(t, vote, vote->time_s)) {
            return false;
        }
    }
    *place = *vote;
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

/* One side's votes as they are counted. */
struct side {
    double earned;
    double others; /* of reporters who are not established */
    unsigned established;
};

static void count_person(struct side *s, double weight)
{
    if (weight >= TRUST_ESTABLISHED) {
        s->earned += weight;
        s->established++;
    } else {
        s->others += weight;
    }
}

void ballot_count(const struct ballot *b, const struct trust *t, uint64_t now_s,
                  struct tally *ret)
{
    struct side spam = {0};
    struct side ham = {0};

    *ret = (struct tally){0};
    for (size_t i = 0; i < b->n; i++) {
        const struct vote *v = &b->v[i];
        ret->first_s = i == 0 || v->time_s < ret->first_s ? v->time_s : ret->first_s;
        *(v->is_spam ? &ret->nspam : &ret->nham) += 1;
        if (v->voice == BALLOT_PERSON) {
            count_person(v->is_spam ? &spam : &ham,
                         trust_weight(t, v->reporter, now_s));
        } else if (v->voice == BALLOT_TRAP) {
            ret->traps += v->is_spam ? 1.0 : 0.0;
        } else if (ret->decided == 0 || v->time_s >= ret->decided_s) {
            ret->decided = v->is_spam ? 1 : -1;
            ret->decided_s = v->time_s;
        }
    }
    ret->traps = fmin(ret->traps, BALLOT_TRAPS);
    ret->spam_earned = spam.earned;
    ret->ham_earned = ham.earned;
    ret->spam_established = spam.established + (ret->traps > 0 ? 1 : 0);
    ret->ham_established = ham.established;
    ret->spam = spam.earned + fmin(spam.others, BALLOT_NEW_SUM) + ret->traps;
    ret->ham = ham.earned + fmin(ham.others, BALLOT_NEW_SUM);
}

static double spam_needed(uint64_t copies)
{
    return fmax(BALLOT_NEEDED, BALLOT_SHARE * (double)copies);
}

enum standing tally_standing(const struct tally *t, uint64_t copies)
{
    double spam = fmin(t->spam, BALLOT_SPAM_MOST);
    bool is_enough = t->spam >= spam_needed(copies) && t->spam_established >= 2;

    if (t->decided != 0) {
        return t->decided > 0 ? STANDING_SPAM : STANDING_HAM;
    }
    if (is_enough) {
        return spam - BALLOT_HAM_TIMES * t->ham >= BALLOT_NEEDED ? STANDING_SPAM
                                                                 : STANDING_DISPUTED;
    }
    if (t->ham >= BALLOT_HAM_NEEDED && t->ham_established >= 2 && spam <= t->ham / 2) {
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
    if (s == STANDING_DISPUTED && t->traps <= 0 && t->ham_earned >= RELEASE_NEEDED) {
        ret->by = TRUST_BY_RELEASE;
        return true;
    }
    return has_stood && (s == STANDING_SPAM || s == STANDING_HAM);
}

/* A vote with the majority gains only if the others were enough. */
static bool is_superfluous(const struct tally *all, const struct vote *v, double weight)
{
    double own = weight >= TRUST_ESTABLISHED ? weight : 0;

    return v->is_spam ? all->spam_earned + all->traps - own >= BALLOT_NEEDED
                      : all->ham_earned - own >= BALLOT_HAM_NEEDED;
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
        if (v->voice == BALLOT_PERSON && (o.is_confirmed ? gains : loses)) {
            trust_learn(t, &o, now_s);
        }
    }
}
