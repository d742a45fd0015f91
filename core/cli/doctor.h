/*
 * doctor - the checks of `gillnet doctor` and the report that they write.
 *
 * Each check calls doctor_say once or more: ok, warn (mail flows, something should be mended) or
 * fail (gillnet does not do its work), with a finding and an advice.
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_CLI_DOCTOR_H
#define CORE_CLI_DOCTOR_H

#include "core/base/trial.h"
#include "core/cli/cli.h"
#include "core/cli/socket_name.h"

enum doctor_level { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor {
    struct cli *cli;
    const char *postconf;      /* NULL: /usr/sbin/postconf */
    const char *postconf_dir;  /* NULL: Postfix's own */
    const char *sendmail_cf;   /* NULL: /etc/mail/sendmail.cf */
    struct socket_name socket; /* config.socket, read */
    const char *mta_user; /* NULL: postfix, and the user of Sendmail, if they exist */
    bool
        is_hidden; /* this user may not read the configuration; the built-in one stands in */
    bool has_mta; /* one was found to look at */
    unsigned nwarn;
    unsigned nfail;
    bool broken; /* the report could not be written */
};

/* Writes one line of the report. what is the name of the check; advice may be "". */
void doctor_say(struct doctor *d, enum doctor_level level, const char *what,
                const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* doctor_say with the text of a failure. */
void doctor_say_why(struct doctor *d, enum doctor_level level, const char *what,
                    const char *advice, const struct errinfo *why);

/* Calls fn in a child process that has the rights of user alone; returns its result, 0 or an
 * errno. */
typedef int doctor_path_fn(const char *path);
int doctor_call_as(const struct trial_user *user, doctor_path_fn *fn, const char *path);

void doctor_state(struct doctor *d); /* state folder, its rights, the disk, the keys */
/* Whether a peer or publisher has a list of that name here; "*": any. */
bool doctor_has_peers_list(const struct doctor *d, const char *name);
void doctor_lists(struct doctor *d);    /* every list opens, is whole, is fresh */
void doctor_counts(struct doctor *d);   /* runs are whole, the size fits the traffic */
void doctor_peers(struct doctor *d);    /* ring, publishers, the hub */
void doctor_store(struct doctor *d);    /* the store that the ring's servers share */
void doctor_journal(struct doctor *d);  /* its newest files are whole */
void doctor_reports(struct doctor *d);  /* their log is whole */
void doctor_feeds(struct doctor *d);    /* feeds come in */
void doctor_users(struct doctor *d);    /* settings of users are compiled */
void doctor_identity(struct doctor *d); /* the store of correspondents */
void doctor_api(struct doctor *d); /* the hub's user reads tokens, certificate, key */
void doctor_quarantine(struct doctor *d); /* held mail can be reached */
void doctor_daemon(struct doctor *d);     /* gillnetd runs, and its faults */
void doctor_reader(struct doctor *d);     /* gillnet-reader answers it */
void doctor_socket(struct doctor *d);     /* the MTA's users reach the socket */
void doctor_postfix(struct doctor *d);
void doctor_sendmail(struct doctor *d);
enum { DOCTOR_USER_MAX = 64 };
/* The user of the Sendmail that listens for mail: RunAsUser, else root. smmsp hands mail to it and
 * asks no milter. False: there is no sendmail.cf. */
bool doctor_sendmail_user(const struct doctor *d, char ret[DOCTOR_USER_MAX]);

#endif
