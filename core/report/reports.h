/*
 * reports - the log of reports and all that follows from it, for the one process that writes:
 * gillnetd, or a command while gillnetd does not run.
 *
 * reports_open takes STATE/reports/LOCK and reads the log. A report is on the disk before
 * reports_give returns, and its votes hold for the next message. If the same reporter says the same
 * about the same message again, nothing is written and the answer has the first report's id; so a
 * client that got no answer may try again.
 * Depends: base, config, learn, report_log, votes.   Threads: any, after reports_open; writing is
 * one at a time.   Owns: the lock, the log and the votes.   ADR 0071.
 */
#ifndef CORE_REPORT_REPORTS_H
#define CORE_REPORT_REPORTS_H

#include "core/config/config.h"
#include "core/count/count.h"
#include "core/learn/learner.h"
#include "core/report/report_log.h"
#include "core/report/votes.h"

struct reports;

struct reports_options {
    const char *state_dir;
    const struct keyring *keys;
    uint64_t keep_s;
    const struct config *config; /* borrowed during the call */
};
/* ERR_LOCKED: another process writes reports. */
enum err reports_open(const struct reports_options *options, struct reports **ret,
                      struct errinfo *reterr);
/* Accepts NULL. */
void reports_close(struct reports **r);
/* The votes, which live as long as r. */
struct votes *reports_votes(struct reports *r);

/* Effects of a report. */
struct reports_outcome {
    uint64_t id;
    bool is_again; /* the reporter said so before; nothing was written */
    bool
        is_counted; /* false: above the reporter's limit of a day; kept without votes */
    size_t votes;   /* own items that it votes on */
    double trust;   /* of the reporter, 0 to 1 (trust.h) */
    uint64_t replaced;  /* id of the reporter's opposite report; 0: none */
    unsigned overruled; /* reports of the opposite that no longer decide */
    enum standing before;
    enum standing after; /* of the message */
};
/* Gives the report its number, and keeps it. v->id, time_s and the rest are the caller's. */
enum err reports_give(struct reports *r, struct report *v, struct reports_outcome *ret,
                      struct errinfo *reterr);

/* Keeps what the report changed in lists; changed is JSON. ERR_NOT_FOUND: no report of this id. */
enum err reports_note_changed(struct reports *r, uint64_t id, struct slice changed,
                              struct errinfo *reterr);

/* Undoes a report. by: its reporter or the administrator, otherwise ERR_DENIED. *retchanged begins
 * empty and gets the JSON arrays of reports_note_changed, a line each. ERR_NOT_FOUND; ERR_EXISTS:
 * it was undone before. */
enum err reports_undo(struct reports *r, uint64_t id, struct slice by,
                      struct buf *retchanged, struct errinfo *reterr);

/* Keeps that a list has, or no longer has, a value that reported messages have. l->time_s is set
 * here. */
enum err reports_note_listed(struct reports *r, struct votes_listing *l, bool is_listed,
                             uint64_t known_s, struct errinfo *reterr);

/* The votes that the log gives, for a process that only reads. ERR_NOMEM, ERR_DENIED. */
enum err reports_view(const struct reports_options *options, struct votes **ret,
                      struct errinfo *reterr);
/* The same for a process that asks often: the log is read once, then what comes behind it. If
 * old entries go, it is read again. */
struct reports_follower;
struct reports_follower *reports_follower_new(void);     /* NULL: no memory */
void reports_follower_free(struct reports_follower **f); /* accepts NULL */
/* The votes of now, which are the caller's until reports_follower_release; others wait. After an
 * error there is nothing to release. */
enum err reports_follower_votes(struct reports_follower *f,
                                const struct reports_options *options,
                                struct votes **ret, struct errinfo *reterr);
void reports_follower_release(struct reports_follower *f);
/* Entries that were read since the beginning, for tests. */
uint64_t reports_follower_entries(struct reports_follower *f);
/* count_port.called; context: a struct votes. */
void reports_called(void *context, const struct digest digest[KEYRING_MAX],
                    uint64_t from_s, uint64_t to_s, struct count_called *ret);

/* Teaches the learner each report of the log that holds and counts, by its reporter's trust, once.
 * Takes undone and replaced reports out. Later reports teach the learner at once, until this is
 * called with another one or NULL. Cheap when there is nothing. False: not all of it
 * was learnt, and a later call goes on. */
bool reports_teach(struct reports *r, struct learner *learner);

/* To be called each second: takes what other servers report (report_peers.h). */
void reports_look_at_peers(struct reports *r, const struct config *config);

/* To be called now and then: forgets what is older than keep_s. */
void reports_age(struct reports *r, uint64_t keep_s);

#endif
