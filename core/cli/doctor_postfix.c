/* doctor_postfix - does Postfix ask gillnetd, and does it leave smuggling open? */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/cli/doctor.h"
#include "core/cli/run.h"

enum { OUTPUT_MAX = 4 << 20, ARGS_MAX = 16, TOKEN_MAX = 1024 };

static const char default_postconf[] = "/usr/sbin/postconf";
static char opt_c[] = "-c";
static char opt_x[] = "-x";
static char opt_f[] = "-F";
static char opt_p[] = "-P";

struct postfix {
    struct doctor *d;
    struct buf main;     /* postconf -x NAME... */
    struct buf services; /* postconf -F (inet services) */
    struct buf options;  /* postconf -P */
    struct slice queue_directory;
    struct slice ours; /* what smtpd_milters says of our milter */
    bool is_chrooted;  /* an smtpd that listens is */
};

/* Runs postconf with the options given and the folder of the instance. */
static bool ask(struct postfix *p, char *const args[], struct buf *ret)
{
    char program[FILE_PATH_MAX];
    char folder[FILE_PATH_MAX];
    char *argv[ARGS_MAX + 4];
    size_t n = 0;
    struct errinfo why = {0};

    if (file_path(program, "%s", p->d->postconf) != ERR_OK) {
        return false;
    }
    argv[n++] = program;
    if (p->d->postconf_dir != NULL) {
        if (file_path(folder, "%s", p->d->postconf_dir) != ERR_OK) {
            return false;
        }
        argv[n++] = opt_c;
        argv[n++] = folder;
    }
    for (size_t i = 0; i < ARGS_MAX && args[i] != NULL; i++) {
        argv[n++] = args[i];
    }
    argv[n] = NULL;
    if (run_output(argv, ret, &why) == ERR_OK) {
        return true;
    }
    doctor_say(p->d, DOCTOR_WARN, "postfix",
               "run postconf by hand; is main.cf in order?", "%s %s", why.source,
               why.text);
    return false;
}

/* The value in a line "name = value"; {NULL, 0} when there is none. */
static struct slice value_of(const struct buf *text, const char *name)
{
    struct slice rest = buf_slice(text);

    while (rest.n > 0) {
        struct slice value = slice_cut(&rest, '\n');
        struct slice key = slice_trim(slice_cut(&value, '='));

        if (value.p != NULL && slice_eq(key, slice_str(name))) {
            return slice_trim(value);
        }
    }
    return SLICE_NONE;
}

/* ---- which socket is asked ---- */

/* Whether one milter of main.cf, "unix:path", "inet:host:port" or "{ unix:path, ... }", is
 * ours as a process sees it whose files begin at root ("" : not chrooted). */
static bool is_ours(const struct postfix *p, struct slice milter, bool is_chrooted)
{
    struct socket_name theirs;
    char whole[SOCKET_NAME_PATH];
    char folder[SOCKET_NAME_PATH];

    if (!socket_name_read(milter, &theirs)) {
        return false;
    }
    (void)snprintf(folder, sizeof(folder), "%.*s",
                   SLICE_ARGS(slice_head(p->queue_directory, SOCKET_NAME_PATH - 1)));
    if (theirs.is_unix && is_chrooted && theirs.path[0] == '/') {
        if (snprintf(whole, sizeof(whole), "%s%s", folder, theirs.path) >=
            (int)sizeof(whole)) {
            return false;
        }
        memcpy(theirs.path, whole, sizeof(whole));
    }
    return socket_name_meets(&p->d->socket, &theirs, folder);
}

/* Cuts the next milter off a list: "unix:path" or what stands between braces. Empty at the
 * end. */
static struct slice next_milter(struct slice *rest)
{
    struct slice milter;
    size_t start = 0;
    size_t end = 0;

    while (start < rest->n && strchr(" \t,", rest->p[start]) != NULL) {
        start++;
    }
    *rest = slice_from(*rest, start);
    if (rest->n > 0 && rest->p[0] == '{') {
        *rest = slice_from(*rest, 1);
        return slice_trim(slice_cut(rest, '}'));
    }
    while (end < rest->n && strchr(" \t,", rest->p[end]) == NULL) {
        end++;
    }
    milter = slice_head(*rest, end);
    *rest = slice_from(*rest, end);
    return milter;
}

/* Whether a list of milters names ours; *retmilter is then all that is said of it. */
static bool names_ours(const struct postfix *p, struct slice milters, bool is_chrooted,
                       struct slice *retmilter)
{
    struct slice milter;

    while ((milter = next_milter(&milters)).n > 0) {
        size_t n = 0;

        while (n < milter.n && strchr(" \t,", milter.p[n]) == NULL) {
            n++;
        }
        if (is_ours(p, slice_head(milter, n), is_chrooted)) {
            *retmilter = milter;
            return true;
        }
    }
    return false;
}

/* Whether some service of master.cf overrides smtpd_milters with ours. */
static bool a_service_names_ours(const struct postfix *p, struct slice *retmilter)
{
    struct slice rest = buf_slice(&p->options);

    while (rest.n > 0) {
        struct slice value = slice_cut(&rest, '\n');
        struct slice key = slice_trim(slice_cut(&value, '='));

        if (slice_has_suffix_nocase(key, SLICE_LIT("/smtpd_milters")) &&
            names_ours(p, value, p->is_chrooted, retmilter)) {
            return true;
        }
    }
    return false;
}

static void paste_text(const struct postfix *p, char dst[TOKEN_MAX])
{
    const struct socket_name *s = &p->d->socket;

    if (!s->is_unix) {
        (void)snprintf(dst, TOKEN_MAX, "inet:%s:%s",
                       *s->host != '\0' ? s->host : "127.0.0.1", s->port);
    } else if (p->is_chrooted &&
               slice_has_prefix(slice_str(s->path), p->queue_directory) &&
               s->path[p->queue_directory.n] == '/') {
        (void)snprintf(dst, TOKEN_MAX, "unix:%s", s->path + p->queue_directory.n + 1);
    } else {
        (void)snprintf(dst, TOKEN_MAX, "unix:%s", s->path);
    }
}

static void check_milters(struct postfix *p)
{
    struct slice smtpd = value_of(&p->main, "smtpd_milters");
    struct slice local = value_of(&p->main, "non_smtpd_milters");
    struct slice other = SLICE_NONE;
    char paste[TOKEN_MAX];
    char advice[TOKEN_MAX + 128];

    paste_text(p, paste);
    if (names_ours(p, smtpd, p->is_chrooted, &p->ours) ||
        a_service_names_ours(p, &p->ours)) {
        doctor_say(p->d, DOCTOR_OK, "postfix smtpd_milters", "", "%s",
                   "names gillnetd's socket");
    } else if (p->is_chrooted && names_ours(p, smtpd, false, &other)) {
        doctor_say(p->d, DOCTOR_FAIL, "postfix smtpd_milters",
                   "let gillnetd listen below the queue folder, such as "
                   "unix:/var/spool/postfix/gillnet/gillnetd.sock, and name it "
                   "unix:gillnet/gillnetd.sock in main.cf",
                   "smtpd is chrooted in %.*s and cannot see %s",
                   SLICE_ARGS(p->queue_directory), p->d->socket.path);
    } else {
        (void)snprintf(advice, sizeof(advice), "postconf -e 'smtpd_milters = %s'",
                       paste);
        doctor_say(p->d, DOCTOR_FAIL, "postfix smtpd_milters", advice,
                   "does not name gillnetd's socket (%.*s)",
                   SLICE_ARGS(slice_head(smtpd, 256)));
    }
    /* cleanup may be chrooted, or not: either will do */
    if (names_ours(p, local, false, &other)) {
        doctor_say(p->d, DOCTOR_OK, "postfix non_smtpd_milters", "", "%s",
                   "names gillnetd's socket");
    } else if (names_ours(p, local, true, &other)) {
        doctor_say(p->d, DOCTOR_OK, "postfix non_smtpd_milters", "", "%s",
                   "names gillnetd's socket as a chrooted cleanup sees it");
    } else {
        (void)snprintf(advice, sizeof(advice),
                       "if mail sent on this machine shall be examined: postconf -e "
                       "'non_smtpd_milters = %s'",
                       paste);
        doctor_say(
            p->d, DOCTOR_WARN, "postfix non_smtpd_milters", advice,
            "does not name gillnetd's socket; mail from sendmail(1) is not examined");
    }
}

/* ---- other settings ---- */

/* A milter's own "default_action=accept" in braces goes before milter_default_action. */
static struct slice default_action(const struct postfix *p)
{
    struct slice rest = p->ours;

    while (rest.n > 0) {
        struct slice value = slice_cut(&rest, ',');
        struct slice key = slice_trim(slice_cut(&value, '='));

        if (slice_eq(key, SLICE_LIT("default_action"))) {
            return slice_trim(value);
        }
    }
    return value_of(&p->main, "milter_default_action");
}

static void check_default_action(struct postfix *p)
{
    struct slice v = default_action(p);

    if (slice_eq(v, SLICE_LIT("accept")) || slice_eq(v, SLICE_LIT("quarantine"))) {
        doctor_say(p->d, DOCTOR_OK, "postfix milter_default_action", "", "%.*s",
                   SLICE_ARGS(v));
    } else {
        doctor_say(p->d, DOCTOR_WARN, "postfix milter_default_action",
                   "postconf -e 'milter_default_action = accept', if mail shall flow "
                   "without gillnetd",
                   "%.*s: mail is refused while gillnetd is away",
                   SLICE_ARGS(slice_head(v, 64)));
    }
}

static void check_protocol(struct postfix *p)
{
    struct slice v = value_of(&p->main, "milter_protocol");

    if (v.n == 1 && v.p[0] >= '2' && v.p[0] <= '5') {
        doctor_say(p->d, DOCTOR_WARN, "postfix milter_protocol",
                   "postconf -e 'milter_protocol = 6'",
                   "%.*s: each step of a message costs an answer more", SLICE_ARGS(v));
    }
}

static void check_smuggling(struct postfix *p)
{
    struct slice v = value_of(&p->main, "smtpd_forbid_bare_newline");

    if (slice_eq_nocase(v, SLICE_LIT("yes")) ||
        slice_eq_nocase(v, SLICE_LIT("normalize")) ||
        slice_eq_nocase(v, SLICE_LIT("reject"))) {
        doctor_say(p->d, DOCTOR_OK, "postfix smuggling", "",
                   "smtpd_forbid_bare_newline = %.*s", SLICE_ARGS(v));
    } else if (v.p == NULL) {
        doctor_say(p->d, DOCTOR_WARN, "postfix smuggling",
                   "update Postfix, then postconf -e 'smtpd_forbid_bare_newline = "
                   "normalize'",
                   "this Postfix cannot close SMTP smuggling (CVE-2023-51764)");
    } else {
        doctor_say(p->d, DOCTOR_WARN, "postfix smuggling",
                   "postconf -e 'smtpd_forbid_bare_newline = normalize' (yes is the "
                   "same) and 'smtpd_forbid_bare_newline_exclusions = $mynetworks'",
                   "smtpd_forbid_bare_newline = %.*s leaves SMTP smuggling open "
                   "(CVE-2023-51764): forged mail passes as one more message",
                   SLICE_ARGS(slice_head(v, 64)));
    }
}

/* "SERVICE/inet/chroot = y" for a service whose command is smtpd. */
static bool smtpd_is_chrooted(const struct postfix *p)
{
    struct slice rest = buf_slice(&p->services);

    while (rest.n > 0) {
        struct slice value = slice_cut(&rest, '\n');
        struct slice key = slice_trim(slice_cut(&value, '='));
        struct slice service;
        char chroot[TOKEN_MAX];

        if (!slice_has_suffix_nocase(key, SLICE_LIT("/command")) ||
            !slice_has_prefix(slice_trim(value), SLICE_LIT("smtpd"))) {
            continue;
        }
        service = slice_head(key, key.n - (sizeof("/command") - 1));
        (void)snprintf(chroot, sizeof(chroot), "%.*s/chroot",
                       SLICE_ARGS(slice_head(service, TOKEN_MAX - 16)));
        if (slice_eq(value_of(&p->services, chroot), SLICE_LIT("y"))) {
            return true;
        }
    }
    return false;
}

static void examine(struct postfix *p)
{
    static char smtpd_milters[] = "smtpd_milters";
    static char non_smtpd_milters[] = "non_smtpd_milters";
    static char default_action[] = "milter_default_action";
    static char protocol[] = "milter_protocol";
    static char bare_newline[] = "smtpd_forbid_bare_newline";
    static char queue_directory[] = "queue_directory";
    static char any_chroot[] = "*/inet/chroot";
    static char any_command[] = "*/inet/command";
    char *const main_args[] = {opt_x,           smtpd_milters, non_smtpd_milters,
                               default_action,  protocol,      bare_newline,
                               queue_directory, NULL};
    char *const service_args[] = {opt_f, any_chroot, any_command, NULL};
    char *const option_args[] = {opt_p, NULL};

    if (!ask(p, main_args, &p->main) || !ask(p, service_args, &p->services) ||
        !ask(p, option_args, &p->options)) {
        return;
    }
    p->queue_directory = value_of(&p->main, "queue_directory");
    p->is_chrooted = smtpd_is_chrooted(p);
    check_milters(p);
    check_default_action(p);
    check_protocol(p);
    check_smuggling(p);
}

void doctor_postfix(struct doctor *d)
{
    struct postfix p = {.d = d};

    if (d->postconf == NULL) {
        d->postconf = default_postconf;
    }
    if (access(d->postconf, X_OK) != 0) {
        if (d->postconf_dir != NULL || d->postconf != default_postconf) {
            doctor_say(d, DOCTOR_FAIL, "postfix", "name it with --postconf FILE",
                       "%s cannot be run", d->postconf);
        }
        return;
    }
    d->has_mta = true;
    buf_init(&p.main, OUTPUT_MAX);
    buf_init(&p.services, OUTPUT_MAX);
    buf_init(&p.options, OUTPUT_MAX);
    examine(&p);
    buf_fini(&p.main);
    buf_fini(&p.services);
    buf_fini(&p.options);
}
