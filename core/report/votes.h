/*
 * votes - the reports that hold, by item.
 *
 * Made from the log of reports alone, entry by entry, so a process that reads the log again gets
 * the same votes and the same trust. A vote is (reporter, item); of several by one reporter the
 * last one counts, and an undone report gives none. A report matches a message by an exact item,
 * by a URL, or as a near replica: VOTES_BANDS bands of its text at once. All matching reports make
 * one ballot (ballot.h), and the standing of that ballot is the opinion about the message.
 * Votes of other servers (report_peers.h) lie beside the own ones; BALLOT_ADMIN of a server of the
 * same owner is the administrator.
 * The oldest reports go when there are VOTES_MAX votes, and when they are too old. Votes of
 * established reporters are found however many newcomers vote.
 * Depends: base, trust, ballot, report_items.   Threads: any, under its lock.   Owns: 16 bytes a
 * vote, 64 a report, and the trust of reporters.
 */
#ifndef CORE_REPORT_VOTES_H
#define CORE_REPORT_VOTES_H

#include "core/report/ballot.h"
#include "core/report/report_items.h"

enum {
    VOTES_MAX = 1 << 19,
    VOTES_REPORTS_MAX = 1 << 17,
    VOTES_BANDS = 4,       /* of 12: a near replica */
    VOTES_CHAIN_MAX = 512, /* votes of one item that are looked at, the newest ones */
    VOTES_MATCHES_MAX = 512,
    VOTES_FOREIGN_MAX =
        VOTES_MAX / 2, /* of other servers: they never displace all of this one's */
    VOTES_LISTINGS_MAX = 4096, /* the newest ones */
    VOTES_LISTING_S = 30 * 86400,
    VOTES_LIST_BYTES = 33 /* a list's name and NUL */
};

struct votes;
/* key: of reporters' names. NULL: no memory. */
struct votes *votes_new(const struct hashkey *key);
/* Accepts NULL. */
void votes_free(struct votes **v);
/* An entry of the log; in the order of the log. Without memory an entry gives no votes. */
void votes_note(struct votes *v, const struct report *r);
/* Forgets reports before oldest_s, and teaches trust by votes that stood for BALLOT_WAIT_S. */
void votes_age(struct votes *v, uint64_t now_s, uint64_t oldest_s);

/* A report of another server. */
struct votes_foreign {
    uint64_t
        number; /* VOTES_FOREIGN and a name of the report, the same after each start */
    uint64_t
        reporter; /* trust_reporter under the ring's key; of BALLOT_PEER, of the server */
    uint64_t time_s;
    enum ballot_voice voice;
    bool is_spam;
    size_t n;
    const struct report_item *items;
};
#define VOTES_FOREIGN (UINT64_C(1) << 55) /* own numbers are below; 56 bits are kept */
/* False: there is no room. */
bool votes_note_foreign(struct votes *v, const struct votes_foreign *f);
/* The n reports with these numbers, which rise, no longer hold. */
void votes_take_foreign(struct votes *v, const uint64_t *numbers, size_t n);

struct votes_report {
    uint64_t id;
    uint64_t reporter; /* trust_reporter */
    uint64_t number;
    bool is_spam;
    bool is_undone;
    bool is_counted; /* false: above the reporter's limit of a day */
};
/* The report with this id. */
bool votes_find(struct votes *v, uint64_t id, struct votes_report *ret);
/* The last report of this reporter about the message with this digest that holds. */
bool votes_standing(struct votes *v, struct slice reporter, uint64_t message,
                    struct votes_report *ret);

struct votes_item {
    uint64_t digest[KEYRING_MAX];
    uint8_t n;     /* digests */
    uint8_t proof; /* enum report_proof */
};
struct votes_opinion {
    enum standing standing; /* of the exact items and near replicas, or of the URLs */
    bool is_link;           /* of URLs alone */
    bool is_decided;        /* by the administrator */
    unsigned nspam;         /* reporters */
    unsigned nham;
};
/* copies: how often the message was counted; 0: unknown. */
void votes_judge(struct votes *v, const struct votes_item *items, size_t n,
                 uint64_t copies, uint64_t now_s, struct votes_opinion *ret);

/* Reporters who voted on one item, by their last votes: the administrator, traps, and those who
 * were established when they voted. Newcomers are left out, because rules read these numbers. */
struct votes_called {
    uint64_t spam; /* in the time asked for, as good */
    uint64_t good;
    bool
        is_cleared; /* an own item that the administrator, or all of them, called good */
};
void votes_called(struct votes *v, const struct votes_item *item, uint64_t from_s,
                  uint64_t to_s, struct votes_called *ret);

/* ---- lists that confirm reports ---- */

/* Whether a listed value can teach trust: messages with the value were reported before known_s, and
 * no list has settled these reports. Reports that learn nothing from it are not asked again. */
bool votes_await_list(struct votes *v, const struct votes_item *item, uint64_t known_s,
                      uint64_t now_s);

/* An entry of a list that has settled reports. A person may revoke it later. */
struct votes_listing {
    uint64_t digest[KEYRING_MAX];
    unsigned n; /* digests */
    uint64_t time_s;
    struct digest listed;
    char list[VOTES_LIST_BYTES];
};
/* The i-th of those that hold. False: there are fewer. */
bool votes_listing_at(struct votes *v, size_t i, struct votes_listing *ret);

/* How much the reporter's word weighs, 0 to 1. */
double votes_trust(struct votes *v, struct slice reporter, uint64_t now_s);
/* How much the reporter's newest report teaches the model, 0 to 1: trust_lesson. */
double votes_lesson(struct votes *v, struct slice reporter, uint64_t now_s);
size_t votes_count(struct votes *v);

#endif
