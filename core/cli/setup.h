/*
 * setup - the state of one `gillnet setup`: its report, its changes, and the copies to restore.
 *
 * A run finds, changes and tests; each step is one line of the report. Before the first change of a
 * file a copy is kept beside it and in memory; after a failure everything is restored. Each change
 * has a mark ($gillnet_milter in Postfix's settings, a tag in sendmail.mc, a file of its own in
 * conf.d), so that --undo needs no record and removes nothing else.
 * Threads: one.   Owns: the copies.
 */
#ifndef CORE_CLI_SETUP_H
#define CORE_CLI_SETUP_H

#include <sys/types.h>

#include "core/base/file.h"
#include "core/cli/cli.h"
#include "core/cli/milters.h"
#include "core/cli/postfix.h"

enum { SETUP_FILES_MAX = 8, SETUP_MADE_MAX = 4, SETUP_AUTHSERVS = 8 };

struct setup_file {
    char path[FILE_PATH_MAX];
    char copy[FILE_PATH_MAX]; /* beside it; "": without a copy */
    bool was_there;
    struct buf text; /* that it had */
    mode_t mode;
    uid_t uid;
    gid_t gid;
};

/* A folder that setup made, or whose group and mode it changed. */
struct setup_folder {
    char path[FILE_PATH_MAX];
    bool was_there;
    gid_t gid; /* that it had */
    mode_t mode;
};

struct setup {
    struct cli *cli;
    const char *mta; /* "postfix" or "sendmail" */
    bool is_dry;
    bool is_undo;
    const char *postconf;
    const char *postconf_dir;
    const char *sendmail_mc;
    const char *sendmail_cf;
    const char *cf_dir;  /* with Sendmail's m4/cf.m4; NULL: where systems have it */
    const char *etc;     /* "/etc" */
    const char *smtp;    /* HOST:PORT of the MTA; NULL: as its settings say */
    const char *program; /* "Postfix", "Sendmail" */

    struct socket_name now;    /* where the configuration lets gillnetd listen */
    struct socket_name wanted; /* where it is to listen */
    size_t nauthservs;
    char authservs[SETUP_AUTHSERVS][MILTERS_NAME];

    size_t nfiles;
    struct setup_file files[SETUP_FILES_MAX];
    size_t nfolders;
    struct setup_folder folders[SETUP_MADE_MAX];
    bool gillnetd_was_told; /* to restart or reload; again if the files are restored */
    unsigned nchanges;
    unsigned nnotes; /* things left to the administrator */
    bool broken;     /* the report could not be written */
};

/* One line of the report: "found", "done" ("would" in a dry run), "why", "test", "note", "back". */
void setup_say(struct setup *s, const char *step, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A change: counted, "done" or "would". */
void setup_did(struct setup *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A step that is left to the administrator: counted. */
void setup_note(struct setup *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- setup_keep.c ---- */

/* Copies path before its first change into memory and, unless the file is setup's own, beside
 * itself, with a message. Not for a dry run. */
enum err setup_keep(struct setup *s, const char *path, bool is_own,
                    struct errinfo *reterr);
/* setup_keep, then writes text to the file. */
enum err setup_write(struct setup *s, const char *path, bool is_own, struct slice text,
                     struct errinfo *reterr);
/* Restores files and folders, with messages. */
void setup_put_back(struct setup *s);
void setup_forget(struct setup *s); /* frees what was kept */

/* ---- setup_gillnetd.c ---- */

/* Makes the folder of the wanted socket: owner gillnetd's user, group of the MTA, mode 2710. The
 * socket gets the folder's group, so no user has to join a group. */
enum err setup_socket_folder(struct setup *s, gid_t mta_gid, struct errinfo *reterr);
/* Writes wanted and authservs into a file of conf.d, unless the configuration has them. */
enum err setup_conf(struct setup *s, struct errinfo *reterr);
/* Starts, restarts or reloads gillnetd with that configuration, if that can be done. */
enum err setup_gillnetd(struct setup *s, struct errinfo *reterr);
/* setup_gillnetd after the files were restored. */
void setup_gillnetd_again(struct setup *s);
/* Removes the file of setup_conf, unless somebody changed it, and the folders that setup made. */
enum err setup_conf_undo(struct setup *s, struct errinfo *reterr);
/* Whether gillnetd answers on its control socket and at the wanted one. */
bool setup_gillnetd_answers(const struct setup *s);

/* ---- setup_probe.c ---- */

/* Sends the test message to the MTA at host:port; a "test" line, or a note. */
void setup_probe(struct setup *s, const char *host, const char *port);

/* ---- one file each; return an exit status ---- */
int setup_postfix(struct setup *s);
int setup_sendmail(struct setup *s);

/* Prints the failure, restores the files, and returns an exit status. */
int setup_fail(struct setup *s, const struct errinfo *why);
/* Finds the names that the milters of the chain write (mta_name: the MTA's own), and prints why
 * gillnetd stands at its place among them. */
void setup_order(struct setup *s, const struct milter_chain *c, const char *mta_name);
/* Prints the settings and the milters that were found. */
void setup_say_found(struct setup *s, const struct milter_chain *c,
                     const char *settings);
/* Sends the test message to host and port, unless --smtp names others; a dry run says so. runs:
 * the MTA runs. */
void setup_test(struct setup *s, const char *host, const char *port, bool runs);

/* ---- one run of `gillnet setup postfix`, of setup_postfix.c and setup_lists.c ---- */

enum { WIRE_VALUE = 4096, WIRE_NAME = 256, WIRE_EDITS_MAX = 32 };

/* One setting that changes. */
struct edit {
    bool is_service; /* SERVICE/TYPE/name of master.cf */
    char name[WIRE_NAME];
    char value[WIRE_VALUE];
    bool is_removed; /* from main.cf */
};

struct wire {
    struct setup *s;
    struct postfix p;
    char queue[SOCKET_NAME_PATH];
    struct milter_chain chain; /* of smtpd_milters, as it will be */
    bool uses_parameter;       /* some list has WIRING_USE */
    size_t nedits;
    struct edit edits[WIRE_EDITS_MAX];
};

/* Cuts s to size - 1 bytes. */
void wire_copy(char *dst, size_t size, struct slice s);
/* One setting of main.cf, as written (expanded: $names replaced). */
enum err wire_setting(const struct wire *w, const char *name, bool is_expanded,
                      char dst[WIRE_VALUE], struct errinfo *reterr);
/* Takes a list of milters apart. */
enum err wire_read_chain(const struct wire *w, struct slice list,
                         struct milter_chain *ret, struct errinfo *reterr);
/* The edits that put gillnetd into every list, or take it out. */
enum err wire_plan(struct wire *w, struct errinfo *reterr);
enum err wire_plan_undo(struct wire *w, struct errinfo *reterr);

#endif
