/* simulate_votes - a site whose users report mail, by events in virtual time. */
#include <math.h>

#include "core/base/array.h"
#include "core/base/prng.h"
#include "core/lab/simulate_reports.h"
#include "core/report/ballot.h"

enum {
    HOUR_S = 3600,
    DAY_S = 24 * HOUR_S,
    WEEK_S = 7 * DAY_S,
    START_S = 20000 * DAY_S,
    CAMPAIGNS_DAY = 6,
    NEWSLETTERS = 20, /* weekly; number 0 is the target */
    PLOTS_DAY = 3,    /* messages of their own that liars report together each day */
    ITEMS_MOST =
        (CAMPAIGNS_DAY + PLOTS_DAY) * 7 * (REPORTS_WEEKS_MOST + REPORTS_ATTACK_WEEKS) +
        NEWSLETTERS * (REPORTS_WEEKS_MOST + REPORTS_ATTACK_WEEKS) + REPORTS_FLOOD,
    EVENTS_MOST = 1 << 24,
    NO_PERSON = 1000000 /* above the number of any user */
};

/* Habits of honest users. */
#define REACH_LEAST 0.05 /* share of users that a campaign reaches */
#define REACH_MOST  0.4
#define SUBSCRIBERS 0.3
#define REPORT_LEAST \
    0.05 /* chance that a user reports spam in the inbox; each user has one */
#define REPORT_MOST     0.4
#define MISTAKE         0.01  /* a subscriber calls a newsletter spam */
#define RELEASE         0.3   /* a subscriber takes a marked newsletter out of Junk */
#define RELEASE_OF_SPAM 0.002 /* somebody takes marked spam out of Junk */
#define REPORT_DELAY_S  (4.0 * HOUR_S) /* mean */
#define SPREAD_S        (6.0 * HOUR_S) /* of the copies of one message */

enum item_kind { ITEM_SPAM, ITEM_NEWSLETTER, ITEM_OWN };
struct item {
    uint64_t begin_s;
    enum item_kind kind;
    unsigned number; /* of a newsletter */
    bool is_disputed;
    uint64_t copies;
    struct ballot ballot;
};

enum happening {
    COPY_ARRIVES,
    VOTE_SPAM,
    VOTE_HAM,
    TRAP_HIT,
    LIST_HIT,
    ADMIN_SPEAKS,
    REVIEW
};
struct event {
    uint64_t time_s;
    uint64_t order; /* of events at one time, and the number of a report */
    uint32_t item;
    uint16_t user;
    uint8_t what;
};

struct world {
    const struct reports_site *s;
    struct reports_result *ret;
    struct trust *trust;
    struct item *item;
    size_t nitems;
    struct event *heap; /* the earliest is the first */
    size_t nevents;
    size_t room;
    uint64_t order;
    uint64_t attack_s;
    bool has_measured;
    bool failed;
};

/* ---- chance: each draw depends on the seed and its place alone, so that honest users do the same
 * in every plot as long as the same happens to them ---- */

enum draw {
    DRAW_REACH,
    DRAW_RECEIVES,
    DRAW_DELAY,
    DRAW_REPORTS,
    DRAW_WAITS,
    DRAW_HABIT,
    DRAW_TRAP,
    DRAW_TRAP_TIME,
    DRAW_LIST,
    DRAW_LIST_TIME,
    DRAW_ADMIN,
    DRAW_ADMIN_TIME,
    DRAW_BEGIN
};
static double draw(const struct world *w, enum draw what, uint64_t item, uint64_t user)
{
    struct prng p;
    prng_init(&p, w->s->seed, ((uint64_t)what << 56) ^ (item << 24) ^ user);
    return prng_share(&p);
}

static double wait_of(double mean_s, double share)
{
    return -mean_s * log(share);
}

static unsigned liars_of(const struct reports_site *s)
{
    return s->plot == REPORTS_FLOODER ? 1 : (unsigned)(s->liars * s->users);
}

/* Users 0 to liars - 1 lie, or would. */
static bool is_liar(const struct world *w, unsigned user)
{
    return w->s->plot != REPORTS_NOBODY && user < liars_of(w->s);
}

/* True: the user is honest in every plot, so the copies are counted. */
static bool is_measured(const struct world *w, unsigned user)
{
    return user >= (unsigned)(w->s->liars * w->s->users) && !is_liar(w, user);
}

/* ---- events ---- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->time_s != b->time_s ? a->time_s < b->time_s : a->order < b->order;
}

static void swap_events(struct event *a, struct event *b)
{
    struct event c = *a;
    *a = *b;
    *b = c;
}

static void plan_event(struct world *w, double time_s, enum happening what, size_t item,
                       unsigned user)
{
    if (w->failed || !array_room(&w->heap, &w->room, w->nevents + 1, EVENTS_MOST,
                                 sizeof(*w->heap))) {
        w->failed = true;
        return;
    }
    size_t i = w->nevents++;
    w->heap[i] = (struct event){.time_s = (uint64_t)time_s,
                                .order = ++w->order,
                                .item = (uint32_t)item,
                                .user = (uint16_t)user,
                                .what = (uint8_t)what};
    for (; i > 0 && is_before(&w->heap[i], &w->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        swap_events(&w->heap[i], &w->heap[(i - 1) / 2]);
    }
}

static struct event next_event(struct world *w)
{
    struct event first = w->heap[0];
    size_t i = 0;

    w->heap[0] = w->heap[--w->nevents];
    for (;;) {
        size_t least = i;
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < w->nevents;
             child++) {
            least = is_before(&w->heap[child], &w->heap[least]) ? child : least;
        }
        if (least == i) {
            return first;
        }
        swap_events(&w->heap[i], &w->heap[least]);
        i = least;
    }
}

/* ---- what is sent ---- */

static size_t add_item(struct world *w, enum item_kind kind, unsigned number,
                       double begin_s)
{
    if (w->nitems == ITEMS_MOST) {
        w->failed = true;
        return 0;
    }
    w->item[w->nitems] =
        (struct item){.begin_s = (uint64_t)begin_s, .kind = kind, .number = number};
    return w->nitems++;
}

static void plan_campaign(struct world *w, double day_s)
{
    size_t i = add_item(w, ITEM_SPAM, 0, 0);
    double begin_s = day_s + DAY_S * draw(w, DRAW_BEGIN, i, 0);
    double reach = REACH_LEAST + (REACH_MOST - REACH_LEAST) * draw(w, DRAW_REACH, i, 0);

    w->item[i].begin_s = (uint64_t)begin_s;
    for (unsigned user = 0; user < w->s->users; user++) {
        if (draw(w, DRAW_RECEIVES, i, user) < reach) {
            plan_event(w, begin_s + SPREAD_S * draw(w, DRAW_DELAY, i, user),
                       COPY_ARRIVES, i, user);
        }
    }
    if (draw(w, DRAW_TRAP, i, 0) < w->s->trap) {
        plan_event(w, begin_s + SPREAD_S * draw(w, DRAW_TRAP_TIME, i, 0), TRAP_HIT, i,
                   0);
    }
    if (draw(w, DRAW_LIST, i, 0) < w->s->list) {
        plan_event(w, begin_s + DAY_S * draw(w, DRAW_LIST_TIME, i, 0), LIST_HIT, i, 0);
    }
    if (draw(w, DRAW_ADMIN, i, 0) < w->s->admin) {
        plan_event(w, begin_s + DAY_S * draw(w, DRAW_ADMIN_TIME, i, 0), ADMIN_SPEAKS, i,
                   0);
    }
}

static void plan_issue(struct world *w, unsigned number, double week_s)
{
    double begin_s = week_s + (double)(number % 7) * DAY_S + 9.0 * HOUR_S;
    size_t i = add_item(w, ITEM_NEWSLETTER, number, begin_s);

    for (unsigned user = 0; user < w->s->users; user++) {
        bool is_first = number == 0 && is_liar(w, user);
        if (is_first ||
            draw(w, DRAW_RECEIVES, ITEMS_MOST + number, user) < SUBSCRIBERS) {
            double delay = is_first ? 0 : 60 + SPREAD_S * draw(w, DRAW_DELAY, i, user);
            plan_event(w, begin_s + delay, COPY_ARRIVES, i, user);
        }
    }
    if (number == 0 && w->s->plot != REPORTS_NOBODY) {
        plan_event(w, begin_s + 1, TRAP_HIT, i, 0);
    }
}

/* Messages that only liars have, for agreement with one another. */
static void plan_own(struct world *w, double day_s)
{
    for (unsigned k = 0; k < PLOTS_DAY; k++) {
        size_t i = add_item(w, ITEM_OWN, 0, day_s + (double)k * HOUR_S);
        for (unsigned user = 0; user < w->s->users; user++) {
            if (is_liar(w, user)) {
                plan_event(w, day_s + (double)k * HOUR_S, VOTE_SPAM, i, user);
            }
        }
    }
}

static void plan_mail(struct world *w)
{
    unsigned weeks = w->s->weeks + REPORTS_ATTACK_WEEKS;

    for (unsigned week = 0; week < weeks; week++) {
        double week_s = (double)START_S + (double)week * WEEK_S;
        for (unsigned day = 0; day < 7; day++) {
            for (unsigned k = 0; k < CAMPAIGNS_DAY; k++) {
                plan_campaign(w, week_s + (double)day * DAY_S);
            }
        }
        for (unsigned k = 0; k < NEWSLETTERS; k++) {
            plan_issue(w, k, week_s);
        }
    }
    for (unsigned day = 0; w->s->plot != REPORTS_NOBODY && day < weeks * 7; day++) {
        plan_own(w, (double)START_S + (double)day * DAY_S);
    }
}

/* ---- what happens ---- */

static enum standing standing_now(const struct world *w, const struct item *i,
                                  uint64_t now_s)
{
    struct tally sum;
    ballot_count(&i->ballot, w->trust, now_s, &sum);
    return tally_standing(&sum, i->copies);
}

static bool is_attack(const struct world *w, uint64_t now_s)
{
    return w->s->plot == REPORTS_TOGETHER || now_s >= w->attack_s;
}

static void measure_copy(struct world *w, const struct item *i, bool is_marked)
{
    uint64_t marked = is_marked ? 1 : 0;

    if (i->kind == ITEM_SPAM && i->begin_s >= w->attack_s) {
        w->ret->spam.copies++;
        w->ret->spam.marked += marked;
    }
    if (i->kind != ITEM_NEWSLETTER) {
        return;
    }
    struct reports_share *all = i->number == 0 ? &w->ret->target : &w->ret->newsletters;
    all->copies++;
    all->marked += marked;
    if (i->number == 0 && i->begin_s >= w->attack_s) {
        struct reports_share *issue =
            &w->ret->issue[(i->begin_s - w->attack_s) / WEEK_S];
        issue->copies++;
        issue->marked += marked;
    }
}

static void react_honestly(struct world *w, const struct event *e, bool is_marked)
{
    const struct item *i = &w->item[e->item];
    double chance = draw(w, DRAW_REPORTS, e->item, e->user);
    double then_s = (double)e->time_s + 1 +
                    wait_of(REPORT_DELAY_S, draw(w, DRAW_WAITS, e->item, e->user));
    double habit = is_liar(w, e->user)
                       ? REPORT_MOST
                       : REPORT_LEAST + (REPORT_MOST - REPORT_LEAST) *
                                            draw(w, DRAW_HABIT, ITEMS_MOST, e->user);

    double spam = is_marked ? RELEASE_OF_SPAM : habit;
    double wanted = is_marked ? RELEASE : MISTAKE;

    if (chance < (i->kind == ITEM_SPAM ? spam : wanted)) {
        plan_event(w, then_s, is_marked ? VOTE_HAM : VOTE_SPAM, e->item, e->user);
    }
}

static void react_as_liar(struct world *w, const struct event *e)
{
    const struct item *i = &w->item[e->item];

    if (i->kind == ITEM_NEWSLETTER && i->number == 0) {
        plan_event(w, (double)e->time_s, VOTE_SPAM, e->item, e->user);
    } else if (w->s->plot == REPORTS_SHIELD && i->kind == ITEM_SPAM) {
        plan_event(w, (double)e->time_s, VOTE_HAM, e->item, e->user);
    } else if (w->s->plot == REPORTS_SLEEPERS || w->s->plot == REPORTS_FLOODER) {
        react_honestly(w, e, false);
    }
}

static void on_copy(struct world *w, const struct event *e)
{
    struct item *i = &w->item[e->item];
    bool is_marked = standing_now(w, i, e->time_s) == STANDING_SPAM;

    i->copies++;
    if (is_measured(w, e->user)) {
        measure_copy(w, i, is_marked);
    }
    if (is_liar(w, e->user) && is_attack(w, e->time_s)) {
        react_as_liar(w, e);
    } else {
        react_honestly(w, e, is_marked);
    }
}

static void settle_if_ended(struct world *w, struct item *i, uint64_t now_s)
{
    struct tally sum;
    struct ballot_end end;

    ballot_count(&i->ballot, w->trust, now_s, &sum);
    if (tally_ends(&sum, i->copies, now_s, &end)) {
        ballot_settle(&i->ballot, w->trust, &end, now_s);
    }
}

static void on_vote(struct world *w, const struct event *e)
{
    struct item *i = &w->item[e->item];
    const struct vote v = {.reporter = e->user,
                           .report = e->order,
                           .time_s = e->time_s,
                           .is_spam = e->what == VOTE_SPAM};

    if (!trust_admit(w->trust, v.reporter, v.time_s)) {
        return;
    }
    plan_event(w, (double)e->time_s + BALLOT_WAIT_S, REVIEW, e->item, 0);
    (void)ballot_put(&i->ballot, w->trust, &v);
    settle_if_ended(w, i, e->time_s);
    if (!i->is_disputed && standing_now(w, i, e->time_s) == STANDING_DISPUTED) {
        i->is_disputed = true;
        if (draw(w, DRAW_ADMIN, e->item, 1) < w->s->admin) {
            plan_event(w,
                       (double)e->time_s + DAY_S * draw(w, DRAW_ADMIN_TIME, e->item, 1),
                       ADMIN_SPEAKS, e->item, 0);
        }
    }
}

/* A trap or a list has the item, or the administrator decides it rightly. */
static void on_evidence(struct world *w, const struct event *e)
{
    struct item *i = &w->item[e->item];
    const struct ballot_end listed = {
        .is_spam = true, .by = TRUST_BY_LIST, .known_s = e->time_s};
    const struct vote v = {.reporter = (uint64_t)NO_PERSON + e->what,
                           .report = e->order,
                           .time_s = e->time_s,
                           .is_spam = e->what == TRAP_HIT || i->kind == ITEM_SPAM,
                           .voice = e->what == TRAP_HIT ? BALLOT_TRAP : BALLOT_ADMIN};

    if (e->what == LIST_HIT) {
        ballot_settle(&i->ballot, w->trust, &listed, e->time_s);
    } else {
        (void)ballot_put(&i->ballot, w->trust, &v);
        settle_if_ended(w, i, e->time_s);
    }
}

/* One liar reports other people's mail, of which each message has honest recipients later. */
static void flood(struct world *w, uint64_t now_s)
{
    for (unsigned k = 0; k < REPORTS_FLOOD; k++) {
        double then_s =
            (double)now_s + (double)k * REPORTS_ATTACK_WEEKS * WEEK_S / REPORTS_FLOOD;
        size_t i = add_item(w, ITEM_NEWSLETTER, 1, then_s);
        plan_event(w, then_s, VOTE_SPAM, i, 0);
        for (unsigned user = 1; user < w->s->users; user += 10) {
            plan_event(w, then_s + 60 + user, COPY_ARRIVES, i, user);
        }
    }
}

static double mean_trust(const struct world *w, bool of_liars, uint64_t now_s)
{
    unsigned first = of_liars ? 0 : liars_of(w->s);
    unsigned end = of_liars ? liars_of(w->s) : w->s->users;
    double sum = 0;

    for (unsigned user = first; user < end; user++) {
        sum += trust_weight(w->trust, user, now_s);
    }
    return end > first ? sum / (end - first) : 0;
}

static void run_events(struct world *w)
{
    uint64_t now_s = START_S;

    while (w->nevents > 0 && !w->failed) {
        struct event e = next_event(w);
        now_s = e.time_s;
        if (!w->has_measured && now_s >= w->attack_s) {
            w->has_measured = true;
            w->ret->honest_trust = mean_trust(w, false, now_s);
            w->ret->liar_trust = mean_trust(w, true, now_s);
            if (w->s->plot == REPORTS_FLOODER) {
                flood(w, now_s);
            }
        }
        switch ((enum happening)e.what) {
        case COPY_ARRIVES:
            on_copy(w, &e);
            break;
        case VOTE_SPAM:
        case VOTE_HAM:
            on_vote(w, &e);
            break;
        case TRAP_HIT:
        case LIST_HIT:
        case ADMIN_SPEAKS:
            on_evidence(w, &e);
            break;
        case REVIEW:
            settle_if_ended(w, &w->item[e.item], e.time_s);
            break;
        }
    }
    w->ret->liar_end = mean_trust(w, true, now_s);
}

enum err reports_run(const struct reports_site *s, struct reports_result *ret)
{
    struct world w = {.s = s, .ret = ret};

    if (s->users < 2 || s->users > REPORTS_USERS_MOST ||
        s->weeks > REPORTS_WEEKS_MOST || !(s->liars >= 0 && s->liars < 1)) {
        return ERR_RANGE;
    }
    *ret = (struct reports_result){0};
    w.attack_s = START_S + (uint64_t)s->weeks * WEEK_S;
    w.item = calloc(ITEMS_MOST, sizeof(*w.item));
    if (w.item == NULL || trust_new(TRUST_REPORTERS_MAX, &w.trust) != ERR_OK) {
        free(w.item);
        return ERR_NOMEM;
    }
    plan_mail(&w);
    run_events(&w);
    for (size_t i = 0; i < w.nitems; i++) {
        ballot_fini(&w.item[i].ballot);
    }
    free(w.item);
    free(w.heap);
    trust_free(&w.trust);
    return w.failed ? ERR_NOMEM : ERR_OK;
}

const char *reports_plot_name(enum reports_plot plot)
{
    static const char *const name[REPORTS_PLOTS] = {"nobody", "together", "sleepers",
                                                    "shield", "flood"};
    return plot < REPORTS_PLOTS ? name[plot] : "";
}
