/*
 * simulate_reports - shared by the parts of `gillnet simulate reports`.
 *
 * simulate_votes.c is a site whose users report mail, by events in virtual time: campaigns of spam,
 * newsletters with subscribers, liars, and an administrator, traps and lists that confirm some of
 * the spam. Weights and decisions are those of core/report. simulate_reports.c has the command.
 * Threads: one.   Owns: nothing outside a call.   ADR 0075.
 */
#ifndef CORE_LAB_SIMULATE_REPORTS_H
#define CORE_LAB_SIMULATE_REPORTS_H

#include "core/base/err.h"

enum {
    REPORTS_USERS_MOST = 2000,
    REPORTS_WEEKS_MOST = 52,
    REPORTS_ATTACK_WEEKS =
        4,               /* after the weeks of practice; the target comes once a week */
    REPORTS_FLOOD = 1000 /* reports of one liar */
};

/* How liars behave. They all subscribe to one newsletter, the target, get it first, and subscribe
 * a trap to it, except with REPORTS_NOBODY. */
enum reports_plot {
    REPORTS_NOBODY, /* there are none: all users are honest */
    REPORTS_TOGETHER, /* report each issue of the target and mail of their own, always together */
    REPORTS_SLEEPERS, /* are the best reporters for weeks, then also report the target */
    REPORTS_SHIELD,   /* the same, but then call all spam ham */
    REPORTS_FLOODER, /* one sleeper; reports REPORTS_FLOOD messages of others at last */
    REPORTS_PLOTS
};
/* "nobody", "together", "sleepers", "shield", "flood". */
const char *reports_plot_name(enum reports_plot plot);

struct reports_site {
    unsigned users;
    double liars;   /* share of users; the honest ones are the same in every plot */
    unsigned weeks; /* of practice */
    double
        admin; /* share of campaigns that the administrator reports, and of disputes settled */
    double trap; /* share of campaigns that a trap receives */
    double list; /* share of campaigns that a list confirms within a day */
    uint64_t seed;
    enum reports_plot plot;
};

/* Copies that honest users received, and how many of them were marked by votes alone. */
struct reports_share {
    uint64_t copies;
    uint64_t marked;
};
struct reports_result {
    struct reports_share spam;        /* after the practice */
    struct reports_share newsletters; /* always, without the target */
    struct reports_share target;      /* always */
    struct reports_share
        issue[REPORTS_ATTACK_WEEKS]; /* of the target, after the practice */
    double honest_trust; /* mean weight of honest users after the practice */
    double liar_trust;   /* mean weight of liars then */
    double liar_end;     /* and at the end */
};
/* ERR_RANGE: users, weeks or shares. ERR_NOMEM. */
enum err reports_run(const struct reports_site *s, struct reports_result *ret);

#endif
