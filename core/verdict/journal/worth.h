/*
 * worth - how often each rule and each list hit, by day, and what people said about that mail.
 *
 * Counted are judged messages. A rule hits a message that has its symbol. A list hits a message
 * that has a confirmed entry of the list; lists of one name and different servers are counted
 * apart. A hit is alone if no other symbol raised the score: without this rule or list nothing
 * would have been found. A reported message counts for all rules and lists that hit it. The last
 * report that holds decides.
 * The memory is bounded: WORTH_ROWS rules and lists, WORTH_CASES reported messages.
 * Files in reading order: worth (numbers), worth_json, worth_tail (the thread of the hub).
 * Threads: one object, one thread.   ADR 0089.
 */
#ifndef CORE_VERDICT_JOURNAL_WORTH_H
#define CORE_VERDICT_JOURNAL_WORTH_H

#include <jansson.h>

#include "core/config/config.h"
#include "core/report/report_cases.h"
#include "core/verdict/journal/record.h"

enum {
    WORTH_DAYS = 14,      /* that the hub counts */
    WORTH_DAYS_MAX = 367, /* journal.keep at most, and the day that began */
    WORTH_WEEK = 7,
    WORTH_ROWS = 32768,  /* rules and lists that ever hit; more are not counted */
    WORTH_CASES = 65536, /* reported messages, the newest ones */
    WORTH_DAY_S = 86400
};

struct worth;
/* days: 1 to WORTH_DAYS_MAX, UTC days. NULL: no memory. */
struct worth *worth_new(unsigned days);
/* Accepts NULL. */
void worth_free(struct worth **w);
/* Forgets messages; reports stay. */
void worth_clear(struct worth *w);

/* Counts a message, if it is of the last days before the newest one. */
void worth_add(struct worth *w, const struct record *r);

/* ---- reports ---- */

/* Replaces all reports. They count at once for messages that are known as reported. False: no
 * memory, and nothing changed. */
bool worth_set_reports(struct worth *w, const struct report_cases *reports);
/* The oldest and newest second of messages that are reported, were not given to worth_add since
 * the report, and were not sought. False: there are none. */
bool worth_sought(const struct worth *w, uint64_t *retfrom_s, uint64_t *retto_s);
/* Takes a message that was counted before it was reported. */
void worth_note(struct worth *w, const struct record *r);
/* All that are still unknown are not in the journal. */
void worth_sought_all(struct worth *w);

/* ---- reading ---- */

struct worth_numbers {
    uint64_t today;  /* hits */
    uint64_t week;   /* of WORTH_WEEK days; today is one of them */
    uint64_t hits;   /* of all days, as the others below */
    uint64_t scored; /* with a score */
    uint64_t alone;
    uint64_t spam; /* reported */
    uint64_t ham;
    uint64_t last_s; /* time of the newest hit; 0: none */
};
/* today: days since 1970. */
void worth_of_rule(const struct worth *w, struct slice symbol, uint64_t today,
                   struct worth_numbers *ret);
/* origin: server that owns the list; empty: local. */
void worth_of_list(const struct worth *w, struct slice list, struct slice origin,
                   uint64_t today, struct worth_numbers *ret);

struct worth_totals {
    uint64_t judged;  /* messages */
    uint64_t others;  /* outgoing, or not examined */
    uint64_t first_s; /* time of the oldest message; 0: none */
    bool is_cut;      /* some rules, lists or reported messages are not counted */
};
void worth_totals(const struct worth *w, uint64_t today, struct worth_totals *ret);

/* {judged, others, since_s, complete, cut}: mail that was counted. is_whole: all of the journal. */
json_t *worth_totals_json(const struct worth *w, uint64_t today, bool is_whole);

/* Why a rule or list is useless: "no hit", "never alone"; NULL: it is not. */
const char *worth_useless(const struct worth_numbers *n);
/* {hits_today, hits_7d, hits, scored, alone, reported_spam, reported_ham, last_hit_s, useless}.
 * NULL: no memory. */
json_t *worth_json(const struct worth_numbers *n);
/* The same of a rule of the configuration, behind {rule, symbol, state, score, description, group,
 * emergency}. A rule that cannot hit by itself is never useless: one that is off or for emergency
 * mode alone, and one without a score, which other rules name. */
json_t *worth_rule_json(const struct worth *w, const struct config_rule *rule,
                        uint64_t today);

#endif
