/*
 * mail_report - reports that come by mail, taken up after the reply to the MTA.
 *
 * At the end of a message mail_report_end decides whether its sender may report, and puts the
 * captured bytes into a queue. A thread reads them (core/report/feedback.h) and reports each
 * message that they carry. Mail never waits: if the queue is full, the report is dropped, counted,
 * and a fault says so.
 *
 * Senders that may report:
 *   mail to a trap: everybody, by reporter "trap"; except our own users, and a proved sender to
 *       whom somebody of the trap's domain has written
 *   mail to report_addresses: a login, as "user/NAME"; a client of trusted_networks, as
 *       "client/ADDRESS"; a domain of feedback.senders that is proved, with abuse reports only, as
 *       "feedback/DOMAIN"
 *   a bounce, or an abuse report about mail from here, reports nothing; if the message went out
 *       here, it counts for its login (core/verdict/account)
 * All others are ignored: an abuse report of a stranger does nothing.
 * Threads: mail_report_start makes one; mail_report_end from any.   ADR 0074.
 */
#ifndef MILTER_MAIL_REPORT_H
#define MILTER_MAIL_REPORT_H

#include "milter/reply.h"

enum {
    MAIL_REPORT_QUEUE = 256, /* mails that wait */
    /* Above these numbers mail of strangers, and bounces, are dropped: a flood leaves room. */
    MAIL_REPORT_STRANGERS = MAIL_REPORT_QUEUE / 2,
    MAIL_REPORT_BOUNCES = MAIL_REPORT_QUEUE / 4,
    MAIL_REPORT_STOP_MS = 2000 /* for those that wait when gillnetd stops */
};

/* The message of s got the answer o. Takes its bytes. */
void mail_report_end(struct session *s, const struct outcome *o);

/* False: no thread. */
bool mail_report_start(void);
/* After the last message: reports what waits, for at most MAIL_REPORT_STOP_MS. Fine in any
 * state. */
void mail_report_stop(void);

#endif
