/*
 * ballot - the votes on one item, its standing, and the lesson about its voters.
 *
 * A vote is (reporter, item); a reporter's last vote on an item counts. An item is what reports may
 * vote on: a near replica's key, a body, a text, an attachment, a URL.
 *
 *     spam = trust of established reporters + that of others, up to BALLOT_NEW_SUM
 *            + 1 for each trap, up to BALLOT_TRAPS;   counts up to BALLOT_SPAM_MOST
 *     ham  = trust of recipients who want it, each at least BALLOT_HAM_LEAST;
 *                                                     counts BALLOT_HAM_TIMES times
 *
 * The item is spam when spam - ham reaches BALLOT_NEEDED with BALLOT_REPORTERS established
 * reporters. So a single reporter, traps, or any number of newcomers decide nothing. Spam votes are
 * limited, so two recipients who want the mail outvote any number of reporters. The item is then
 * disputed, and has no effect until the administrator decides. Only a recipient whose ham votes
 * were refuted counts less.
 * A mailing to many needs more: BALLOT_SHARE of its copies, because of a thousand subscribers some
 * always press the wrong button. The administrator's last vote decides alone.
 *
 * The end of an item teaches trust (ballot_settle): a word of the administrator, a trap, a list, a
 * release, or a majority that stood for BALLOT_WAIT_S. A vote gains only if it came before the word
 * of the administrator or the list, which others can see; of a majority only if the other
 * established voters would have been enough. A majority takes nothing from those who wanted the
 * mail. After BALLOT_OLD_S a vote teaches nothing.
 * Example of a change: new evidence is a value of enum trust_evidence and a row in trust.c.
 * Depends: base, trust.   Threads: one at a time.   Owns: its votes, by ballot_fini.   ADR 0075.
 */
#ifndef CORE_REPORT_BALLOT_H
#define CORE_REPORT_BALLOT_H

#include "core/report/trust.h"

enum {
    BALLOT_SIDE_MAX = 128, /* votes for spam, and votes for ham */
    BALLOT_VOTES_MAX = 2 * BALLOT_SIDE_MAX,
    BALLOT_REPORTERS = 3,
    BALLOT_WAIT_S = 86400,
    BALLOT_OLD_S = 14 * 86400
};
#define BALLOT_NEEDED    1.5
#define BALLOT_SPAM_MOST 3.0
#define BALLOT_HAM_TIMES 3.0
#define BALLOT_HAM_LEAST 0.25
#define BALLOT_HAM_NEEDED \
    1.5 /* of established recipients, before they are multiplied */
#define BALLOT_NEW_SUM 0.5
#define BALLOT_TRAPS   1.0
#define BALLOT_SHARE   0.03

enum ballot_voice {
    BALLOT_PERSON,
    BALLOT_TRAP,
    BALLOT_ADMIN,
    BALLOT_PEER /* a server of another owner: always a newcomer, and only for spam */
};

struct vote {
    uint64_t reporter; /* trust_reporter */
    uint64_t report;   /* its number in the log of reports */
    uint64_t time_s;
    bool is_spam;
    uint8_t voice; /* enum ballot_voice */
};

/* {0} is an empty one. */
struct ballot {
    struct vote *v;
    size_t n;
    size_t room;
};
void ballot_fini(struct ballot *b);

/* Adds the vote, in place of the reporter's earlier one. If BALLOT_SIDE_MAX votes say the same, it
 * takes the place of the lightest of them. False: it was not added, because memory is short or they
 * all weigh more. */
bool ballot_put(struct ballot *b, const struct trust *t, const struct vote *vote);
/* Takes out the votes of one report, which was undone. */
void ballot_take(struct ballot *b, uint64_t report);

/* The votes of a ballot, weighed at one time. */
struct tally {
    double spam; /* weight, before the limit */
    double ham;
    double spam_earned; /* of established reporters alone */
    double ham_earned;
    double traps;
    unsigned nspam; /* reporters; traps and administrator among them */
    unsigned nham;
    unsigned spam_established;
    unsigned ham_established;
    int decided;      /* by the administrator: 1 spam, -1 ham, 0 not */
    uint64_t first_s; /* of the first vote; 0: no vote */
    uint64_t decided_s;
};
void ballot_count(const struct ballot *b, const struct trust *t, uint64_t now_s,
                  struct tally *ret);

enum standing {
    STANDING_OPEN,     /* no effect */
    STANDING_DISPUTED, /* enough spam votes, and people who want it: no effect */
    STANDING_TRAPPED,  /* a trap received it, nobody wants it: no more than a hint */
    STANDING_SPAM,
    STANDING_HAM
};
/* copies: messages with this item that were counted; 0: not known. */
enum standing tally_standing(const struct tally *t, uint64_t copies);
/* "open", "disputed", "trapped", "spam", "ham". */
const char *standing_name(enum standing s);

/* True: the votes settle the item. The administrator decided, a trap received it and nobody wants
 * it, a majority stood for BALLOT_WAIT_S, or recipients want what others reported. To be called
 * after each vote, and BALLOT_WAIT_S after it; an end may be settled again, and counts once. */
struct ballot_end {
    bool is_spam;
    enum trust_evidence by;
    uint64_t known_s; /* later votes gain nothing */
};
bool tally_ends(const struct tally *t, uint64_t copies, uint64_t now_s,
                struct ballot_end *ret);
/* Teaches the trust of all voters. A later end of the same item may contradict the earlier one.
 * Items of the same report count once for each voter. */
void ballot_settle(const struct ballot *b, struct trust *t,
                   const struct ballot_end *end, uint64_t now_s);

#endif
