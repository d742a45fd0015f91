/*
 * journal_replay - the verdict of a recorded message under other settings.
 *
 * Settings: thresholds.ACTION, bulk_alone, limits.score, lists.NAME.{weight, shadow, enabled},
 * rules.NAME.{count, networks, senders, recipients, score, shadow, enabled}; the four numbers of
 * rules without conditions. A setting that no record can answer is refused with the reason. A
 * single message that cannot answer, or that was not examined, is undecided, and never counts as
 * unchanged. Outgoing mail is never judged: leave it out. Without settings each message gets the
 * action that it got: all parts of the score that no setting touches are those of the record.
 * Counts are those of the sketch, which are never below the true ones; a message that they decide
 * is an estimate.
 * Threads: one object, one thread.   Owns: the settings.   ADR 0064.
 */
#ifndef CORE_VERDICT_JOURNAL_JOURNAL_REPLAY_H
#define CORE_VERDICT_JOURNAL_JOURNAL_REPLAY_H

#include "core/verdict/journal/journal_head.h"
#include "core/verdict/journal/record.h"
#include "core/verdict/verdict.h"

enum { REPLAY_CHANGES_MAX = 64 };

/* One list or rule whose settings differ. */
struct replay_list {
    char name[LIST_NAME_MAX + 1];
    char symbol[VERDICT_SYMBOL_NAME];
    bool has_weight;
    bool has_shadow;
    bool has_enabled;
    double weight;
    bool shadow;
    bool enabled;
};
struct replay_rule {
    const struct config_rule *was; /* of the configuration */
    struct config_rule now;        /* a copy; texts are those of was */
    char symbol[VERDICT_SYMBOL_NAME];
    uint16_t type; /* 0: it reads no counts */
    bool is_brief; /* no conditions: the record can decide it */
};

struct replay {
    const struct config *config;
    uint32_t config_id;
    bool has_threshold[ACTION_COUNT];
    double threshold[ACTION_COUNT];
    bool has_bulk_alone;
    enum action bulk_alone;
    bool has_limits_score;
    double limits_score;
    size_t nlists;
    struct replay_list list[REPLAY_CHANGES_MAX];
    size_t nrules;
    struct replay_rule rule[REPLAY_CHANGES_MAX];
};

/* config is borrowed. */
void replay_init(struct replay *r, const struct config *config);
/* "rules.replica.count=50". ERR_UNSUPPORTED: the journal cannot answer, and why; ERR_NOT_FOUND:
 * there is no such key, list or rule; ERR_SYNTAX, ERR_RANGE: the value. */
enum err replay_set(struct replay *r, const char *setting, struct errinfo *reterr);

/* After the last setting. ERR_RANGE: a threshold is below that of a milder action. */
enum err replay_check(const struct replay *r, struct errinfo *reterr);

struct replay_result {
    enum action before;
    enum action after;
    double score_before;
    double score_after;
    const char *undecided; /* why the record cannot tell; NULL: it can */
    bool is_estimate;
};
void replay_judge(const struct replay *r, const struct record *record,
                  const struct journal_names *names, struct replay_result *ret);

/* The symbol of a rule: BULK_NAME, TRAIT_NAME, RULE_NAME or BLOCKED_PATTERN_NAME. */
void replay_symbol(const struct config_rule *rule, char ret[VERDICT_SYMBOL_NAME]);
/* The symbol of a list: LIST_NAME. */
void replay_list_symbol(const char *name, char ret[VERDICT_SYMBOL_NAME]);

/* replay_rule.c: whether a rule's counts were met, by the counts of the record. */
enum replay_met { REPLAY_NOT_MET, REPLAY_MET, REPLAY_UNKNOWN };
enum replay_met replay_counts_met(const struct record *record,
                                  const struct config_rule *rule, uint16_t type);

#endif
