/*
 * account - mail of each login: messages, recipients, strangers, bounces, by hour and day (UTC).
 *
 * A stolen password sends mail to strangers: recipients who have had no mail from the sender's
 * domain. The caller tells them apart; each counts once a day. The ACCOUNTS_MAX logins that
 * sent last are kept; the first ACCOUNT_STRANGERS strangers of a day count once, later ones
 * each time. One text file keeps the numbers over a restart, not the strangers.
 * Example of a change: a new number is a field of struct account_numbers, and a column in
 * accounts_save and read_account.
 * Threads: any.   Depends: base.   Owns: its memory.   ADR 0063.
 */
#ifndef CORE_VERDICT_ACCOUNT_ACCOUNT_H
#define CORE_VERDICT_ACCOUNT_ACCOUNT_H

#include "core/base/err.h"
#include "core/base/slice.h"

enum {
    ACCOUNTS_MAX = 10000,
    ACCOUNT_STRANGERS = 4096,
    ACCOUNT_USER_MAX = 127,   /* bytes of a login that are kept */
    ACCOUNT_RECIPIENTS = 1000 /* strangers of one message, at most */
};

struct accounts;

/* Reads the file, which need not be there. */
enum err accounts_open(const char *path, struct accounts **ret, struct errinfo *reterr);
/* Writes the file if something has changed. */
enum err accounts_save(struct accounts *a, struct errinfo *reterr);
void accounts_close(struct accounts **a); /* does not save; accepts NULL */

struct account_numbers {
    uint64_t messages_hour;
    uint64_t messages;
    uint64_t recipients;
    uint64_t strangers;
    uint64_t firsts;     /* recipients in domains that nobody here knows */
    uint64_t bounces;    /* that came back to its address */
    uint64_t complaints; /* messages refused as spam elsewhere, or called spam */
};

/* One message of a login. */
struct account_mail {
    struct slice user;
    struct slice from;            /* its envelope sender: bounces go there */
    const struct slice *stranger; /* in normal form, at most ACCOUNT_RECIPIENTS */
    size_t nstrangers;
    size_t nrecipients;
    size_t nfirsts;
};
/* Counts it. *ret are the numbers with it. True: the login is above `most` strangers for the first
 * time today, or has doubled since this was last said. */
bool accounts_add(struct accounts *a, const struct account_mail *mail, uint64_t most,
                  struct account_numbers *ret);
/* A bounce came for the address. */
void accounts_add_bounce(struct accounts *a, struct slice address);
/* A message from the address was refused as spam elsewhere, or its recipient called it spam. */
void accounts_add_complaint(struct accounts *a, struct slice address);

/* The number of logins above `most` strangers today; of the worst the name and numbers. */
size_t accounts_above(struct accounts *a, uint64_t most,
                      char retuser[ACCOUNT_USER_MAX + 1], struct account_numbers *ret);

#endif
