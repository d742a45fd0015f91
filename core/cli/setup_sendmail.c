/* setup_sendmail - `gillnet setup sendmail`: a line of sendmail.mc, and sendmail.cf made from
 * it. */
#include <netdb.h>
#include <signal.h>
#include <sysexits.h>

#include "core/cli/setup.h"
#include "core/quarantine/queue/run_program.h"

enum { MC_MAX = 4 << 20, NAME_BYTES = 256 };

static const char filter_macro[] = "INPUT_MAIL_FILTER(";

struct mail {
    struct setup *s;
    char mc[FILE_PATH_MAX];
    char cf[FILE_PATH_MAX];
    struct buf old_mc;
    struct buf new_mc;
    struct buf old_cf;
    struct milter_chain chain; /* of sendmail.mc, as it will be */
};

/* ---- sendmail.mc ---- */

static bool is_filter(struct slice line)
{
    return slice_has_prefix(slice_trim(line), slice_str(filter_macro));
}

/* The socket in INPUT_MAIL_FILTER(`name', `S=SOCKET, ...'). */
static bool socket_of(struct slice line, struct socket_name *ret)
{
    size_t at = slice_find_slice(line, SLICE_LIT("S="));
    struct slice rest = slice_from(line, at + 2);
    size_t n = 0;

    while (n < rest.n && strchr(", '\t", rest.p[n]) == NULL) {
        n++;
    }
    return at < line.n && socket_name_read(slice_head(rest, n), ret);
}

static bool is_tagged(struct slice line)
{
    return slice_find_slice(line, SLICE_LIT("dnl" WIRING_SENDMAIL_TAG)) < line.n;
}

static bool is_ours(const struct mail *m, struct slice line)
{
    struct socket_name theirs;

    return is_tagged(line) ||
           (socket_of(line, &theirs) && socket_name_meets(&m->s->wanted, &theirs, "/"));
}

static const struct milter_kind *kind_of_filter(const struct mail *m, struct slice line)
{
    struct socket_name theirs;
    const struct milter_kind *k = socket_of(line, &theirs)
                                      ? milter_kind_at(&theirs, m->s->etc, "/", false)
                                      : NULL;
    struct slice name = slice_from(slice_trim(line), sizeof(filter_macro) - 1);

    return k != NULL ? k : milter_kind_named(slice_head(name, slice_find(name, ',')));
}

/* The lines of filters, in order. */
static enum err read_chain(const struct mail *m, struct milter_chain *ret,
                           struct errinfo *reterr)
{
    struct slice rest = buf_slice(&m->old_mc);

    ret->n = 0;
    while (rest.n > 0) {
        struct slice line = slice_cut(&rest, '\n');
        bool ours = is_filter(line) && is_ours(m, line);

        if (is_filter(line) &&
            !milter_chain_add(ret, line, ours ? NULL : kind_of_filter(m, line), ours)) {
            return errinfo_set(
                reterr, ERR_LIMIT, m->mc, 0,
                "has more filters, or longer lines, than gillnet knows how to "
                "order; write the line by hand, `gillnetd -t` shows it");
        }
    }
    return ERR_OK;
}

static void put_line(struct buf *ret, struct slice line)
{
    buf_add(ret, line);
    buf_add_char(ret, '\n');
}

/* sendmail.mc with the line `ours` in front of the filter that follows it in the chain, else behind
 * the last filter, else in front of the mailers. Drops an older line of gillnetd. */
static void write_mc(struct mail *m, const char *ours, const char *before, bool is_last)
{
    struct slice rest = buf_slice(&m->old_mc);
    size_t nfilters = 0;
    bool is_written = false;

    for (size_t i = 0; i < m->chain.n; i++) {
        nfilters += !m->chain.v[i].is_ours;
    }
    while (rest.n > 0) {
        struct slice line = slice_cut(&rest, '\n');
        bool filter = is_filter(line);
        bool mailer = slice_has_prefix(slice_trim(line), SLICE_LIT("MAILER"));

        if (filter && is_ours(m, line)) {
            continue;
        }
        if (!is_written && ((before != NULL && slice_eq(line, slice_str(before))) ||
                            (mailer && !(is_last && nfilters > 0)))) {
            put_line(&m->new_mc, slice_str(ours));
            is_written = true;
        }
        put_line(&m->new_mc, line);
        nfilters -= filter;
        if (!is_written && filter && is_last && nfilters == 0) {
            put_line(&m->new_mc, slice_str(ours));
            is_written = true;
        }
    }
    if (!is_written) {
        put_line(&m->new_mc, slice_str(ours));
    }
}

static enum err plan(struct mail *m, struct errinfo *reterr)
{
    struct wiring w = socket_name_wiring(&m->s->wanted);
    struct buf line;
    char ours[MILTERS_TEXT];
    size_t at = 0;
    bool moves = false;
    enum err e = read_chain(m, &m->chain, reterr);

    if (e != ERR_OK) {
        return e;
    }
    buf_init(&line, MILTERS_TEXT - 1);
    wiring_sendmail_line(&w, &line);
    buf_add_str(&line, WIRING_SENDMAIL_TAG);
    (void)snprintf(ours, sizeof(ours), "%.*s", SLICE_ARGS(buf_slice(&line)));
    moves = milter_chain_place(&m->chain, ours);
    while (at + 1 < m->chain.n && !m->chain.v[at].is_ours) {
        at++;
    }
    /* an older line of setup is replaced; a line written by hand stays */
    if (is_tagged(slice_str(m->chain.v[at].text)) &&
        strcmp(m->chain.v[at].text, ours) != 0) {
        moves = true;
    } else {
        (void)snprintf(ours, sizeof(ours), "%s", m->chain.v[at].text);
    }
    if (moves) {
        bool is_last = at + 1 == m->chain.n;

        setup_did(m->s, "write into %s: %s", m->mc, ours);
        write_mc(m, ours, is_last ? NULL : m->chain.v[at + 1].text, is_last);
    }
    buf_fini(&line);
    return ERR_OK;
}

/* Plans sendmail.mc without the lines of setup. */
static void plan_undo(struct mail *m)
{
    struct slice rest = buf_slice(&m->old_mc);
    bool is_found = false;

    while (rest.n > 0) {
        struct slice line = slice_cut(&rest, '\n');

        if (is_tagged(line)) {
            setup_did(m->s, "remove from %s: %.*s", m->mc, SLICE_ARGS(line));
            is_found = true;
        } else {
            put_line(&m->new_mc, line);
        }
    }
    if (!is_found) {
        buf_clear(&m->new_mc);
    }
}

/* ---- sendmail.cf ---- */

/* m4 on the file, as the makers of Sendmail document it. */
static enum err make_by_m4(struct mail *m, struct errinfo *reterr)
{
    static const char *const folders[] = {
        "/usr/share/sendmail/cf", "/usr/share/sendmail-cf", "/usr/lib/sendmail-cf"};
    const char *dir = m->s->cf_dir;
    char define[FILE_PATH_MAX];
    char macros[FILE_PATH_MAX];
    const char *argv[] = {"/usr/bin/m4", define, macros, m->mc, NULL};
    struct buf made;
    enum err e = ERR_OK;

    for (size_t i = 0; dir == NULL && i < LENGTH(folders); i++) {
        dir = access(folders[i], F_OK) == 0 ? folders[i] : NULL;
    }
    if (dir == NULL || path_make(define, NULL, "-D_CF_DIR_=%s/", dir) != ERR_OK ||
        path_make(macros, NULL, "%s/m4/cf.m4", dir) != ERR_OK) {
        return errinfo_set(
            reterr, ERR_NOT_FOUND, m->cf, 0,
            "cannot be made: Sendmail's m4 files are not in "
            "/usr/share/sendmail/cf; name their folder with --cf-dir DIR");
    }
    if (slice_find_slice(buf_slice(&m->new_mc), SLICE_LIT("m4/cf.m4")) < m->new_mc.n) {
        argv[1] = m->mc; /* the file names its macros */
        argv[2] = NULL;
    }
    buf_init(&made, MC_MAX);
    e = run_output(argv, &made, reterr);
    THEN(e, setup_write(m->s, m->cf, false, buf_slice(&made), reterr));
    buf_fini(&made);
    return e;
}

/* sendmailconfig where Debian's places are meant, else the Makefile beside the file, else m4. */
static enum err make_cf(struct mail *m, struct errinfo *reterr)
{
    static const char config[] = "/usr/sbin/sendmailconfig";
    static const char make[] = "/usr/bin/make";
    char dir[FILE_PATH_MAX];
    char makefile[FILE_PATH_MAX + 16];
    const char *const by_config[] = {config, "--no-reload", NULL};
    const char *const by_make[] = {make, "-C", dir, NULL};
    enum err e = setup_keep(m->s, m->cf, false, reterr);

    (void)snprintf(dir, sizeof(dir), "%s", m->mc);
    *strrchr(dir, '/') = '\0';
    (void)snprintf(makefile, sizeof(makefile), "%s/Makefile", dir);
    if (e != ERR_OK) {
        return e;
    }
    if (strcmp(m->mc, WIRING_SENDMAIL_MC) == 0 && access(config, X_OK) == 0) {
        setup_did(m->s, "make %s (sendmailconfig)", m->cf);
        return run_change(by_config, reterr);
    }
    if (access(makefile, F_OK) == 0 && access(make, X_OK) == 0) {
        setup_did(m->s, "make %s (make -C %s)", m->cf, dir);
        return run_change(by_make, reterr);
    }
    setup_did(m->s, "make %s (m4)", m->cf);
    return make_by_m4(m, reterr);
}

/* Checks that the new sendmail.cf names gillnetd, or after --undo does not. */
static enum err check_cf(const struct mail *m, struct errinfo *reterr)
{
    struct buf cf;
    struct slice filters;
    bool is_there = false;
    enum err e = ERR_OK;

    buf_init(&cf, MC_MAX);
    e = file_read(m->cf, &cf, reterr);
    filters = sendmail_cf_value(buf_slice(&cf), "O InputMailFilters=");
    is_there = slice_find_slice(filters, SLICE_LIT("gillnet")) < filters.n &&
               sendmail_cf_value(buf_slice(&cf), "Xgillnet,").n > 0;
    if (e == ERR_OK && !m->s->is_undo && !is_there) {
        e = errinfo_set(
            reterr, ERR_EXISTS, m->mc, 0,
            "does not lead to a sendmail.cf with the filter; is "
            "confINPUT_MAIL_FILTERS defined there? Add gillnet to it, behind those "
            "that authenticate, and write the line by hand (`gillnetd -t`)");
    }
    buf_fini(&cf);
    return e;
}

/* The daemon, or 0. */
static pid_t daemon_pid(const struct mail *m)
{
    struct slice name = sendmail_cf_value(buf_slice(&m->old_cf), "O PidFile=");
    char path[FILE_PATH_MAX];
    struct errinfo why = {0};
    struct buf text;
    long pid = 0;

    if (name.n == 0) {
        name = SLICE_LIT("/var/run/sendmail.pid");
    }
    buf_init(&text, FILE_PATH_MAX);
    if (path_make(path, NULL, "%.*s", SLICE_ARGS(name)) == ERR_OK &&
        file_read(path, &text, &why) == ERR_OK) {
        pid = strtol(text.p, NULL, 10);
    }
    buf_fini(&text);
    return pid > 1 && kill((pid_t)pid, 0) == 0 ? (pid_t)pid : 0;
}

/* Sends SIGHUP, with which Sendmail reads its new sendmail.cf. */
static void reload_sendmail(struct mail *m)
{
    pid_t pid = daemon_pid(m);

    if (pid == 0) {
        setup_note(
            m->s,
            "Sendmail does not run; start it, then run this again: it sends a test "
            "message");
        return;
    }
    if (m->new_mc.n > 0) {
        setup_did(m->s, "let Sendmail restart with it (SIGHUP to process %ld)",
                  (long)pid);
        if (!m->s->is_dry) {
            (void)kill(pid, SIGHUP);
        }
    }
}

static enum err apply(struct mail *m, struct errinfo *reterr)
{
    enum err e = ERR_OK;

    if (m->new_mc.n > 0 && m->s->is_dry) {
        setup_did(m->s, "make %s from it", m->cf);
    } else if (m->new_mc.n > 0) {
        e = setup_write(m->s, m->mc, false, buf_slice(&m->new_mc), reterr);
        THEN(e, make_cf(m, reterr));
        THEN(e, check_cf(m, reterr));
    }
    if (e == ERR_OK) {
        reload_sendmail(m);
    }
    return e;
}

/* ---- the command ---- */

/* Reports a RunAsUser other than root: it needs access to the socket. */
static void look_at_user(struct mail *m)
{
    struct slice user = sendmail_cf_value(buf_slice(&m->old_cf), "O RunAsUser=");

    user = slice_head(user, slice_find(user, ':'));
    if (user.n > 0 && !slice_eq(user, SLICE_LIT("root")) && m->s->wanted.is_unix) {
        setup_say(
            m->s, "found",
            "Sendmail runs as %.*s (RunAsUser): it must be in the group of gillnetd's "
            "socket: "
            "adduser %.*s _gillnet",
            SLICE_ARGS(user), SLICE_ARGS(user));
    }
}

/* Sendmail's own name, $j: written out, or the host's. */
static void own_name(const struct mail *m, char dst[MILTERS_NAME])
{
    struct slice j = sendmail_cf_value(buf_slice(&m->old_cf), "Dj");
    const struct addrinfo hints = {.ai_flags = AI_CANONNAME};
    struct addrinfo *found = NULL;

    if (j.n > 0 && slice_find(j, '$') == j.n) {
        (void)snprintf(dst, MILTERS_NAME, "%.*s",
                       SLICE_ARGS(slice_head(j, MILTERS_NAME - 1)));
        return;
    }
    dst[MILTERS_NAME - 1] = '\0';
    (void)gethostname(dst, MILTERS_NAME - 1);
    if (getaddrinfo(dst, NULL, &hints, &found) == 0) {
        if (found->ai_canonname != NULL) {
            (void)snprintf(dst, MILTERS_NAME, "%s", found->ai_canonname);
        }
        freeaddrinfo(found);
    }
}

/* "Port=" and "Addr=" of the first DaemonPortOptions. */
static void find_smtp(const struct mail *m, char host[NAME_BYTES],
                      char port[NAME_BYTES])
{
    struct slice options =
        sendmail_cf_value(buf_slice(&m->old_cf), "O DaemonPortOptions=");

    (void)snprintf(host, NAME_BYTES, "127.0.0.1");
    (void)snprintf(port, NAME_BYTES, "25");
    while (options.n > 0) {
        struct slice value = slice_trim(slice_cut(&options, ','));
        struct slice key = slice_trim(slice_cut(&value, '='));

        value = slice_head(slice_trim(value), NAME_BYTES - 1);
        if (slice_has_prefix_nocase(key, SLICE_LIT("P"))) {
            (void)snprintf(port, NAME_BYTES, "%.*s", SLICE_ARGS(value));
        } else if (slice_has_prefix_nocase(key, SLICE_LIT("A"))) {
            (void)snprintf(host, NAME_BYTES, "%.*s", SLICE_ARGS(value));
        }
    }
}

static void say_found(struct mail *m)
{
    struct milter_chain before = {.n = 0};
    struct errinfo none = {0};

    (void)read_chain(m, &before, &none);
    setup_say_found(m->s, &before, m->mc);
    if (slice_find_slice(buf_slice(&m->old_mc), SLICE_LIT("InputMailFilters=")) <
        m->old_mc.n) {
        setup_note(
            m->s,
            "a DAEMON_OPTIONS line of %s has filters of its own (InputMailFilters=): add "
            "gillnet there where its mail shall be examined",
            m->mc);
    }
}

static enum err wire_up(struct mail *m, struct errinfo *reterr)
{
    struct setup *s = m->s;
    char name[MILTERS_NAME];
    enum err e = plan(m, reterr);

    if (e != ERR_OK) {
        return e;
    }
    own_name(m, name);
    setup_order(s, &m->chain, name);
    look_at_user(m);
    e = setup_conf(s, reterr);
    THEN(e, setup_gillnetd(s, reterr));
    return e == ERR_OK ? apply(m, reterr) : e;
}

static enum err unwire(struct mail *m, struct errinfo *reterr)
{
    enum err e = ERR_OK;

    plan_undo(m);
    e = apply(m, reterr);
    return e == ERR_OK ? setup_conf_undo(m->s, reterr) : e;
}

static int open_files(struct mail *m)
{
    struct setup *s = m->s;
    struct errinfo why = {0};
    const char *mc = s->sendmail_mc != NULL ? s->sendmail_mc : WIRING_SENDMAIL_MC;
    size_t n = strlen(mc);

    if (n < 4 || mc[0] != '/' || strcmp(mc + n - 3, ".mc") != 0) {
        return cli_usage("setup", "--sendmail-mc is a path from / on that ends in .mc");
    }
    (void)snprintf(m->mc, sizeof(m->mc), "%s", mc);
    if (s->sendmail_cf != NULL) {
        (void)snprintf(m->cf, sizeof(m->cf), "%s", s->sendmail_cf);
    } else {
        (void)snprintf(m->cf, sizeof(m->cf), "%.*s.cf", (int)(n - 3), mc);
    }
    if (file_read(m->mc, &m->old_mc, &why) != ERR_OK ||
        file_read(m->cf, &m->old_cf, &why) != ERR_OK) {
        int status = cli_fail(&why);

        cli_say(
            "is Sendmail installed, and configured by a .mc file? Name another with "
            "--sendmail-mc FILE and --sendmail-cf FILE");
        return status;
    }
    return 0;
}

int setup_sendmail(struct setup *s)
{
    static struct mail m;
    char host[NAME_BYTES];
    char port[NAME_BYTES];
    struct errinfo why = {0};
    int status = 0;

    m = (struct mail){.s = s};
    s->program = "Sendmail";
    buf_init(&m.old_mc, MC_MAX);
    buf_init(&m.new_mc, MC_MAX);
    buf_init(&m.old_cf, MC_MAX);
    status = open_files(&m);
    if (status == 0) {
        say_found(&m);
        if ((s->is_undo ? unwire(&m, &why) : wire_up(&m, &why)) != ERR_OK) {
            status = setup_fail(s, &why);
        } else if (!s->is_undo) {
            find_smtp(&m, host, port);
            setup_test(s, host, port, daemon_pid(&m) != 0);
        }
    }
    buf_fini(&m.old_mc);
    buf_fini(&m.new_mc);
    buf_fini(&m.old_cf);
    return status;
}
