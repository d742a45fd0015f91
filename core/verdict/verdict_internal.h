/*
 * verdict_internal - one judgement; shared by verdict.c, list_symbols.c, credit.c, reported.c and
 * unknown_url.c.
 */
#ifndef CORE_VERDICT_VERDICT_INTERNAL_H
#define CORE_VERDICT_VERDICT_INTERNAL_H

#include "core/verdict/allow.h"
#include "core/verdict/rule/rule.h"

/* Values that allow lists take from the others, a message. */
enum { VERDICT_EXEMPTIONS_MAX = 256 };

struct judging {
    struct allow_case facts;
    const struct listset *lists;
    const struct list_hits *hits;
    struct arena *arena;
    double unsure;        /* part of the score that lacks a quorum of peers */
    double of_counts;     /* part of the score that rules on counts gave */
    double of_judgements; /* and rules on judgements */
    double unverified;    /* and hits that were not confirmed */
    size_t nexempt;
    struct slice exempt[VERDICT_EXEMPTIONS_MAX];
    size_t nheld;
    struct rule_list held[RULE_LISTS_MAX]; /* what conditions on lists see */
    struct verdict *v;
};

/* list_symbols.c, in this order. Before the judgement, and only with trusts_filters: possible hits
 * of our own lists become LIST_UNVERIFIED, but not those that an allow list may hold. */
void list_symbols_trust_filters(const struct listset *lists, struct list_hits *hits);
/* Values that a hit on an allow list takes from the other lists. */
void list_symbols_exempt(struct judging *j);
/* Sets v->allow and its symbol when a rule or list lets the message through. */
void list_symbols_allow(struct judging *j);
/* A symbol for each of our lists with a confirmed hit, then for the lists of peers. */
void list_symbols_add(struct judging *j);
/* context: a struct judging. Whether list_symbols_exempt found the value. */
bool list_symbols_is_exempt(const void *context, struct slice value);

/* credit.c: takes the score of a known correspondent, or of an answer, from the message's. */
void credit_judge(struct judging *j);
/* Whether a value of the message is on a list of phishing or malware. Then a stolen mailbox, or an
 * answer in a stolen conversation, is as likely as the known sender, and nothing lowers the score.
 * */
bool credit_has_grave_hit(const struct judging *j);

/* unknown_url.c: what the model of URLs says of those that no list knows. */
void unknown_url_judge(struct judging *j);

/* reported.c: what people reported about such messages. */
void reported_judge(struct judging *j);

#endif
