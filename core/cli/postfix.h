/*
 * postfix - a Postfix as its own postconf describes it, and the lists of milters in its settings.
 *
 * Threads: one.   Owns: the output of postconf.
 */
#ifndef CORE_CLI_POSTFIX_H
#define CORE_CLI_POSTFIX_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/cli/socket_name.h"

#define POSTCONF_DEFAULT "/usr/sbin/postconf"
enum { POSTFIX_OUTPUT_MAX = 4 << 20, POSTFIX_ARGS_MAX = 16 };

struct postfix {
    const char *postconf; /* an absolute path */
    const char *dir;      /* its folder of configuration; NULL: its own */
    struct buf main;      /* postconf -x NAME...: effective, $names expanded */
    struct buf services;  /* postconf -F: chroot and command of every service */
    struct buf options;   /* postconf -P: -o of every service, as written */
    struct buf expanded;  /* postconf -x -P: the same, $names expanded */
    struct slice queue_directory;
    bool is_chrooted; /* an smtpd that listens is */
};

void postfix_init(struct postfix *p, const char *postconf, const char *dir);
void postfix_fini(struct postfix *p);

/* Runs postconf with these arguments (up to NULL) and the folder of the instance, and appends what
 * it prints to ret. */
enum err postfix_ask(const struct postfix *p, const char *const args[], struct buf *ret,
                     struct errinfo *reterr);
/* Fills the struct. */
enum err postfix_read(struct postfix *p, struct errinfo *reterr);

/* The value in a line "name = value" of postconf's output; SLICE_NONE: there is none. */
struct slice postfix_value(const struct buf *text, const char *name);
/* Cuts the next line "name = value" off; false: there is none. */
bool postfix_next_setting(struct slice *rest, struct slice *retname,
                          struct slice *retvalue);

/* Cuts the next milter off a list: "unix:path", "$name", or what stands between braces, without
 * them. Empty at the end. */
struct slice postfix_next_milter(struct slice *list);
/* "unix:path" of a milter that may say more behind it. */
struct slice postfix_milter_socket(struct slice milter);
/* Whether a milter of a list is at the socket `ours`, seen by a process that is chrooted or not. */
bool postfix_is_at(const struct postfix *p, const struct socket_name *ours,
                   struct slice milter, bool is_chrooted);

#endif
