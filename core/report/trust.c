/* trust - the weight of each reporter's word, learnt from how the reporter's votes ended. */
#include "core/report/trust.h"

#include <math.h>

enum {
    DAY_S = 86400,
    REPORTER_TYPE = 0xfe01, /* of digest_make: no feature has it */
    /* A mark: the number of the report, credit (4 bits), evidence (3 bits), confirmed or not. */
    MARK_CONFIRMED = 1,
    MARK_EVIDENCE = 1, /* bits below it */
    MARK_CREDIT = 4,
    MARK_REPORT = 8,
    CREDIT_UNITS = 8 /* of 1.0 */
};
#define DOUBT      3.0 /* what a reporter's good votes are measured against */
#define BAD_TIMES  8.0
#define COUNT_MOST 1e6 /* of good or bad outcomes */
#define LESSONS    20.0 /* after so many reports without trust one teaches half as much */

/* Kinds of evidence that confirms. */
enum kind { KIND_AGREED, KIND_TRAPPED, KIND_PROVED, KINDS };

struct reporter {
    uint64_t id;
    double good[KINDS];
    double bad;
    double given;                       /* reports, confirmed or not */
    uint64_t decayed_s;                 /* the time that these numbers stand for */
    uint64_t seen_s;                    /* of the last report */
    uint64_t day;                       /* of the two numbers below, since 1970 */
    double credit;                      /* gained that day */
    uint32_t reports;                   /* of that day */
    uint32_t next;                      /* place in `settled` to be used next */
    uint64_t settled[TRUST_REMEMBERED]; /* marks; 0: none */
};

struct trust {
    size_t most;
    size_t n;
    struct reporter *v; /* by rising id */
};

enum err trust_new(size_t most, struct trust **ret)
{
    if (most < 1 || most > TRUST_REPORTERS_MAX) {
        return ERR_RANGE;
    }
    struct trust *t = calloc(1, sizeof(*t));
    struct reporter *v = calloc(most, sizeof(*v));
    if (t == NULL || v == NULL) {
        free(t);
        free(v);
        return ERR_NOMEM;
    }
    t->most = most;
    t->v = v;
    *ret = t;
    return ERR_OK;
}

void trust_free(struct trust **t)
{
    if (*t != NULL) {
        free((*t)->v);
        free(*t);
        *t = NULL;
    }
}

uint64_t trust_reporter(const struct hashkey *key, struct slice name)
{
    struct digest d;
    uint64_t id;

    digest_make(key, REPORTER_TYPE, name, &d);
    memcpy(&id, d.b, sizeof(id));
    return id;
}

/* The first place whose id is not below the given one. */
static size_t place_of(const struct trust *t, uint64_t id)
{
    size_t low = 0;
    size_t high = t->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->v[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct reporter *find_reporter(const struct trust *t, uint64_t id)
{
    size_t i = place_of(t, id);
    return i < t->n && t->v[i].id == id ? &t->v[i] : NULL;
}

/* The share of a number of time `then_s` after its decay. A clock that was set back takes
 * nothing. */
static double left_of(uint64_t then_s, uint64_t now_s)
{
    return now_s > then_s
               ? exp2(-(double)(now_s - then_s) / ((double)TRUST_HALF_DAYS * DAY_S))
               : 1.0;
}

static double weight_of(const struct reporter *r, uint64_t now_s)
{
    double left = left_of(r->decayed_s, now_s);
    double good =
        (r->good[KIND_AGREED] + r->good[KIND_TRAPPED] + r->good[KIND_PROVED]) * left;
    double bad = BAD_TIMES * r->bad * left;
    double share = good / (good + bad + DOUBT);
    double weight = share * share;
    double newcomer = TRUST_NEW / (1 + bad);

    return weight > newcomer ? weight : newcomer;
}

/* The least trusted reporter, of equals the one that was seen least recently. */
static size_t place_to_yield(const struct trust *t, uint64_t now_s)
{
    size_t worst = 0;
    double least = weight_of(&t->v[0], now_s);

    for (size_t i = 1; i < t->n; i++) {
        double weight = weight_of(&t->v[i], now_s);
        if (weight < least ||
            (!(weight > least) && t->v[i].seen_s < t->v[worst].seen_s)) {
            worst = i;
            least = weight;
        }
    }
    return worst;
}

static struct reporter *add_reporter(struct trust *t, uint64_t id, uint64_t now_s)
{
    if (t->n == t->most) {
        size_t gone = place_to_yield(t, now_s);
        t->n--;
        memmove(&t->v[gone], &t->v[gone + 1], (t->n - gone) * sizeof(*t->v));
    }
    size_t i = place_of(t, id);
    memmove(&t->v[i + 1], &t->v[i], (t->n - i) * sizeof(*t->v));
    t->n++;
    t->v[i] = (struct reporter){.id = id, .decayed_s = now_s, .seen_s = now_s};
    return &t->v[i];
}

static void begin_day(struct reporter *r, uint64_t now_s)
{
    if (r->day != now_s / DAY_S) {
        r->day = now_s / DAY_S;
        r->credit = 0;
        r->reports = 0;
    }
}

static void decay(struct reporter *r, uint64_t now_s)
{
    double left = left_of(r->decayed_s, now_s);

    for (size_t k = 0; k < KINDS; k++) {
        r->good[k] *= left;
    }
    r->bad *= left;
    r->given *= left;
    r->decayed_s = now_s > r->decayed_s ? now_s : r->decayed_s;
}

bool trust_admit(struct trust *t, uint64_t reporter, uint64_t now_s)
{
    struct reporter *r = find_reporter(t, reporter);

    if (r == NULL) {
        r = add_reporter(t, reporter, now_s);
    }
    begin_day(r, now_s);
    r->seen_s = now_s;
    if (r->reports >= TRUST_REPORTS_DAY) {
        return false;
    }
    r->reports++;
    decay(r, now_s);
    r->given++;
    return true;
}

double trust_weight(const struct trust *t, uint64_t reporter, uint64_t now_s)
{
    const struct reporter *r = find_reporter(t, reporter);
    return r == NULL ? TRUST_NEW : weight_of(r, now_s);
}

double trust_lesson(const struct trust *t, uint64_t reporter, uint64_t now_s)
{
    const struct reporter *r = find_reporter(t, reporter);
    double weight = trust_weight(t, reporter, now_s);

    if (r == NULL || weight >= TRUST_ESTABLISHED) {
        return weight;
    }
    double before = fmax(0, r->given * left_of(r->decayed_s, now_s) - 1);
    return weight * LESSONS / (LESSONS + before);
}

/* ---- outcomes ---- */

static const struct {
    enum kind kind;
    double credit; /* of a confirmed vote */
    double most;   /* of all credit of this kind */
    double left;   /* of what was gained, after a refuted vote */
    double bad;
} effect[] = {
    [TRUST_BY_MAJORITY] = {KIND_AGREED, 0.5, TRUST_KIND_MOST, 0.75, 0.25},
    [TRUST_BY_RELEASE] = {KIND_AGREED, 0, TRUST_KIND_MOST, 0.5, 1},
    [TRUST_BY_LIST] = {KIND_PROVED, 1, COUNT_MOST, 0.5, 1},
    [TRUST_BY_TRAP] = {KIND_TRAPPED, 1, TRUST_KIND_MOST, 0.5, 1},
    [TRUST_BY_ADMIN] = {KIND_PROVED, 1, COUNT_MOST, 0.25, 2},
};

/* Returns the credit in units. */
static uint64_t confirm(struct reporter *r, enum trust_evidence by)
{
    double *good = &r->good[effect[by].kind];
    double credit = fmin(effect[by].credit, TRUST_CREDIT_DAY - r->credit);

    credit = fmax(0, fmin(credit, effect[by].most - *good));
    r->credit += credit;
    *good += credit;
    return (uint64_t)(credit * CREDIT_UNITS);
}

static void refute(struct reporter *r, enum trust_evidence by)
{
    for (size_t k = 0; k < KINDS; k++) {
        r->good[k] *= effect[by].left;
    }
    r->bad = fmin(r->bad + effect[by].bad, COUNT_MOST);
}

static enum trust_evidence evidence_of(uint64_t mark)
{
    return (enum trust_evidence)(mark >> MARK_EVIDENCE & 7U);
}

/* Takes an outcome back. The decay since then is neglected. */
static void take_back(struct reporter *r, uint64_t mark)
{
    enum trust_evidence by = evidence_of(mark);
    double *good = &r->good[effect[by].kind];
    double credit = (double)(mark >> MARK_CREDIT & 15U) / CREDIT_UNITS;

    if ((mark & MARK_CONFIRMED) != 0) {
        *good = fmax(*good - credit, 0);
        r->credit = fmax(r->credit - credit, 0);
        return;
    }
    r->bad = fmax(r->bad - effect[by].bad, 0);
    for (size_t k = 0; k < KINDS; k++) {
        r->good[k] = fmin(r->good[k] / effect[by].left,
                          k == KIND_PROVED ? COUNT_MOST : TRUST_KIND_MOST);
    }
}

/* The place for the mark of this outcome; an earlier outcome of the same report is undone first.
 * NULL: the outcome is known, by evidence that is as strong. */
static uint64_t *mark_place(struct reporter *r, const struct trust_outcome *o)
{
    for (size_t i = 0; i < TRUST_REMEMBERED; i++) {
        uint64_t earlier = r->settled[i];
        bool was_confirmed = (earlier & MARK_CONFIRMED) != 0;
        if (earlier == 0 || earlier >> MARK_REPORT != o->report) {
            continue;
        }
        if (was_confirmed == o->is_confirmed && evidence_of(earlier) >= o->by) {
            return NULL;
        }
        take_back(r, earlier);
        return &r->settled[i];
    }
    uint64_t *place = &r->settled[r->next];
    r->next = (r->next + 1) % TRUST_REMEMBERED;
    return place;
}

void trust_learn(struct trust *t, const struct trust_outcome *outcome, uint64_t now_s)
{
    struct reporter *r = find_reporter(t, outcome->reporter);

    if (r == NULL) {
        return;
    }
    decay(r, now_s);
    begin_day(r, now_s);
    uint64_t *place = mark_place(r, outcome);
    if (place == NULL) {
        return;
    }
    *place = outcome->report << MARK_REPORT | (uint64_t)outcome->by << MARK_EVIDENCE;
    if (outcome->is_confirmed) {
        *place |= confirm(r, outcome->by) << MARK_CREDIT | MARK_CONFIRMED;
    } else {
        refute(r, outcome->by);
    }
}

void trust_withdraw(struct trust *t, const struct trust_outcome *outcome,
                    uint64_t now_s)
{
    struct reporter *r = find_reporter(t, outcome->reporter);

    for (size_t i = 0; r != NULL && i < TRUST_REMEMBERED; i++) {
        uint64_t mark = r->settled[i];
        if (mark != 0 && mark >> MARK_REPORT == outcome->report &&
            evidence_of(mark) == outcome->by) {
            decay(r, now_s);
            take_back(r, mark);
            r->settled[i] = 0;
        }
    }
}

bool trust_look(const struct trust *t, uint64_t reporter, uint64_t now_s,
                struct trust_numbers *ret)
{
    const struct reporter *r = find_reporter(t, reporter);

    if (r == NULL) {
        return false;
    }
    double left = left_of(r->decayed_s, now_s);
    *ret = (struct trust_numbers){
        .weight = weight_of(r, now_s),
        .proved = r->good[KIND_PROVED] * left,
        .trapped = r->good[KIND_TRAPPED] * left,
        .agreed = r->good[KIND_AGREED] * left,
        .bad = r->bad * left,
        .seen_s = r->seen_s,
        .reports_today = r->day == now_s / DAY_S ? r->reports : 0,
    };
    return true;
}

size_t trust_count(const struct trust *t)
{
    return t->n;
}
