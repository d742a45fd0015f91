/*
 * trust - the weight of each reporter's word, learnt from how the reporter's votes ended.
 *
 * A reporter's trust is (good / (good + 8 bad + 3))^2 and lies between 0 and 1. `good` counts
 * votes that evidence confirmed, `bad` counts votes that it refuted. Both numbers halve in
 * TRUST_HALF_DAYS days. Trust rises slowly and falls fast. A reporter gains at most
 * TRUST_CREDIT_DAY a day, so an established reporter (trust of TRUST_ESTABLISHED) is the work of
 * at least three days. A contradiction takes away up to three quarters of `good`.
 *
 * Evidence that liars can make themselves is limited: they agree with one another, and they can
 * subscribe a trap to a newsletter. Agreement with other reporters counts up to TRUST_KIND_MOST,
 * and so does agreement with traps. Neither of them alone makes a reporter established. Only the
 * administrator and lists count without this limit.
 * A reporter without any trust weighs TRUST_NEW; ballot.h limits the sum of all that are not
 * established. One report changes a reporter's trust once, however many items carry it.
 * The table holds at most `most` reporters. A new one takes the place of the least trusted, of
 * equals the one that was seen least recently; a liar whose entry is lost begins again as a
 * newcomer, whose weight is limited in any case.
 * The result depends on the calls and the times given alone.
 * Depends: base.   Threads: one at a time.   Owns: its table.   ADR 0075.
 * Source: Josang, Ismail 2002 (beta reputation); Prakash, O'Donnell 2005 (Razor's trust in
 * reporters); Zheleva, Kolcz, Getoor 2008 (trusting spam reporters).
 */
#ifndef CORE_REPORT_TRUST_H
#define CORE_REPORT_TRUST_H

#include "core/base/buf.h"
#include "core/base/digest.h"
#include "core/base/err.h"

enum {
    TRUST_REPORTERS_MAX = 10000,
    TRUST_REPORTS_DAY = 200, /* of one reporter; later ones of the day are no votes */
    TRUST_HALF_DAYS = 90,
    TRUST_REMEMBERED = 32 /* last outcomes of a reporter: none counts twice */
};
#define TRUST_NEW         0.05
#define TRUST_ESTABLISHED 0.25
#define TRUST_KIND_MOST   2.5
#define TRUST_CREDIT_DAY  1.0

/* The evidence that ended the question about an item; later values are stronger. */
enum trust_evidence {
    TRUST_BY_MAJORITY, /* of established reporters, after a day without contradiction */
    TRUST_BY_RELEASE,  /* recipients wanted what was reported as spam */
    TRUST_BY_LIST,     /* a list confirmed the item later */
    TRUST_BY_TRAP,     /* a trap received it, and nobody wanted it */
    TRUST_BY_ADMIN
};

struct trust;
/* most: 1 to TRUST_REPORTERS_MAX. ERR_RANGE, ERR_NOMEM. */
enum err trust_new(size_t most, struct trust **ret);
void trust_free(struct trust **t); /* accepts NULL */

/* The number that stands for a reporter's name: a keyed hash, so that no name is kept. */
uint64_t trust_reporter(const struct hashkey *key, struct slice name);

/* Notes one report, and adds an unknown reporter to the table. False: it is above the reporter's
 * TRUST_REPORTS_DAY of this day (UTC), and gives no votes. */
bool trust_admit(struct trust *t, uint64_t reporter, uint64_t now_s);

/* 0 to 1; TRUST_NEW of a reporter who is not in the table. */
double trust_weight(const struct trust *t, uint64_t reporter, uint64_t now_s);

/* The weight of the reporter's newest report for the model, 0 to 1: trust_weight, less of it with
 * each report of a reporter who is not established. So nobody drowns the others. */
double trust_lesson(const struct trust *t, uint64_t reporter, uint64_t now_s);

/* One report's vote was confirmed or refuted. The same outcome of the same report counts once, by
 * its strongest evidence; the opposite outcome takes the earlier one back first. A reporter who is
 * not in the table is left out: trust_admit comes first. */
struct trust_outcome {
    uint64_t reporter;
    uint64_t report; /* its number in the log of reports */
    bool is_confirmed;
    enum trust_evidence by;
};
void trust_learn(struct trust *t, const struct trust_outcome *outcome, uint64_t now_s);
/* Takes an outcome back, because its evidence no longer holds. It must be among the reporter's last
 * TRUST_REMEMBERED outcomes, and without stronger evidence since then. */
void trust_withdraw(struct trust *t, const struct trust_outcome *outcome,
                    uint64_t now_s);

/* Numbers of one reporter, decayed to now, for people. */
struct trust_numbers {
    double weight;
    double proved;  /* confirmed by the administrator and lists */
    double trapped; /* confirmed by traps */
    double agreed;  /* confirmed by other reporters */
    double bad;
    uint64_t seen_s;
    uint32_t reports_today;
};
/* False: the reporter is not in the table. */
bool trust_look(const struct trust *t, uint64_t reporter, uint64_t now_s,
                struct trust_numbers *ret);
size_t trust_count(const struct trust *t);

#endif
