/* setup_gillnetd - gillnetd's part of setup: the file in conf.d, the folder of the socket, the
 * daemon. */
#include <poll.h>

#include "core/base/checksum.h"
#include "core/base/clock.h"
#include "core/base/user.h"
#include "core/cli/services.h"
#include "core/cli/setup.h"
#include "core/quarantine/queue/run_program.h"

enum { CONF_MAX = 1 << 20, START_WAIT_US = 30 * 1000000, PAUSE_MS = 100 };

static const char service_user[] = "_gillnet";

/* ---- the user and the folder ---- */

/* The user of gillnetd: that of the process, else the owner of the state folder, else the package's
 * user. */
static enum err find_user(const struct setup *s, uid_t *ret, struct errinfo *reterr)
{
    struct daemon_view view = {.has_page = false};
    struct errinfo none = {0};
    gid_t gid = 0;
    char path[64];
    struct stat st;

    if (daemon_look(s->cli->config, &view, &none) == ERR_OK && view.is_running) {
        (void)snprintf(path, sizeof(path), "/proc/%" PRIu64,
                       view.stats.value[STAT_pid]);
        if (stat(path, &st) == 0) {
            *ret = st.st_uid;
            return ERR_OK;
        }
    }
    if (stat(s->cli->config->state_dir, &st) == 0 && st.st_uid != 0) {
        *ret = st.st_uid;
        return ERR_OK;
    }
    if (user_find(service_user, ret, &gid)) {
        return ERR_OK;
    }
    return errinfo_set(reterr, ERR_NOT_FOUND, service_user, 0,
                       "there is no such user, and gillnetd needs one; make it with "
                       "`systemd-sysusers` (or adduser --system --group %s), then "
                       "`systemd-tmpfiles --create`",
                       service_user);
}

static enum err note_folder(struct setup *s, const char *path, const struct stat *st,
                            struct errinfo *reterr)
{
    struct setup_folder *f = &s->folders[s->nfolders];

    if (s->nfolders == SETUP_MADE_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, path, 0, "too many folders to make");
    }
    *f = (struct setup_folder){.was_there = st != NULL};
    (void)snprintf(f->path, sizeof(f->path), "%s", path);
    if (st != NULL) {
        f->gid = st->st_gid;
        f->mode = st->st_mode & 07777;
    }
    s->nfolders++;
    return ERR_OK;
}

enum err setup_socket_folder(struct setup *s, gid_t mta_gid, struct errinfo *reterr)
{
    enum { MODE = 02710 };
    char path[SOCKET_NAME_PATH];
    struct stat st;
    uid_t uid = 0;
    bool is_there = false;
    enum err e = find_user(s, &uid, reterr);

    (void)snprintf(path, sizeof(path), "%s", s->wanted.path);
    *strrchr(path, '/') = '\0';
    is_there = lstat(path, &st) == 0;
    if (e != ERR_OK) {
        return e;
    }
    if (is_there && !S_ISDIR(st.st_mode)) {
        return errinfo_set(
            reterr, ERR_EXISTS, path, 0,
            "is no folder; move it away: gillnetd's socket belongs there");
    }
    if (is_there && st.st_uid == uid && st.st_gid == mta_gid &&
        (st.st_mode & 07777) == MODE) {
        return ERR_OK;
    }
    setup_did(
        s,
        "%s folder %s: owner %u (gillnetd), group %u (%s), mode 2710: the socket gets the "
        "folder's group, so no user has to join one",
        is_there ? "change the" : "make the", path, (unsigned)uid, (unsigned)mta_gid,
        s->program);
    if (s->is_dry) {
        return ERR_OK;
    }
    e = note_folder(s, path, is_there ? &st : NULL, reterr);
    if (e == ERR_OK && !is_there && mkdir(path, 0700) != 0) {
        e = errinfo_errno(reterr, path, "cannot be made");
    }
    /* the mode last: chown takes the set-group-id bit away */
    if (e == ERR_OK && (chown(path, uid, mta_gid) != 0 || chmod(path, MODE) != 0)) {
        e = errinfo_errno(reterr, path, "cannot get its owner and mode");
    }
    return e;
}

/* ---- the file in conf.d ---- */

/* The file of an earlier run. */
struct drop_in {
    char path[FILE_PATH_MAX];
    char folder[FILE_PATH_MAX];
    struct buf text;
    bool is_there;
    bool is_intact;     /* as setup wrote it */
    bool has_socket;    /* has socket */
    bool has_authserv;  /* has trusted_authserv */
    struct slice notes; /* its lines of folders */
};

static const char note_mark[] = "## folder ";
static const char check_mark[] = "check ";

static void put_check(struct slice rest, char dst[17])
{
    (void)snprintf(dst, 17, "%016" PRIx64, checksum64(rest));
}

/* The first line holds the checksum of the others. */
static bool is_intact(struct slice text)
{
    struct slice first = slice_cut(&text, '\n');
    size_t at = slice_find_slice(first, slice_str(check_mark));
    char sum[17];

    put_check(text, sum);
    return slice_has_prefix(slice_from(first, at + sizeof(check_mark) - 1),
                            slice_str(sum));
}

static enum err look_at_drop_in(const struct setup *s, struct drop_in *ret,
                                struct errinfo *reterr)
{
    const char *main = s->cli->config->file;
    const char *slash = NULL;
    struct slice rest;
    enum err e = ERR_OK;

    if (*main == '\0') {
        main = CONFIG_DEFAULT_FILE;
    }
    slash = strrchr(main, '/');
    *ret = (struct drop_in){.is_there = false};
    buf_init(&ret->text, CONF_MAX);
    e = path_make(ret->folder, NULL, "%.*s/conf.d",
                  slash == NULL ? 1 : (int)(slash - main), slash == NULL ? "." : main);
    THEN(e, path_make(ret->path, NULL, "%s/setup-%s.conf", ret->folder, s->mta));
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, main, 0, "the path is too long");
    }
    e = file_read(ret->path, &ret->text, reterr);
    if (e == ERR_NOT_FOUND) {
        return ERR_OK;
    }
    rest = buf_slice(&ret->text);
    ret->is_there = e == ERR_OK;
    ret->is_intact = e == ERR_OK && is_intact(rest);
    while (rest.n > 0) {
        struct slice line = slice_cut(&rest, '\n');

        ret->has_socket =
            ret->has_socket || slice_has_prefix(line, SLICE_LIT("socket ="));
        ret->has_authserv = ret->has_authserv ||
                            slice_has_prefix(line, SLICE_LIT("trusted_authserv ="));
    }
    return e;
}

/* "## folder PATH made" or "## folder PATH was GID MODE", of earlier runs and this one. */
static void put_notes(const struct setup *s, const struct drop_in *d, struct buf *ret)
{
    struct slice rest = buf_slice(&d->text);

    while (rest.n > 0) {
        struct slice line = slice_cut(&rest, '\n');

        if (slice_has_prefix(line, slice_str(note_mark))) {
            buf_add(ret, line);
            buf_add_char(ret, '\n');
        }
    }
    for (size_t i = 0; i < s->nfolders; i++) {
        const struct setup_folder *f = &s->folders[i];

        if (f->was_there) {
            buf_printf(ret, "%s%s was %u %o\n", note_mark, f->path, (unsigned)f->gid,
                       (unsigned)f->mode);
        } else {
            buf_printf(ret, "%s%s made\n", note_mark, f->path);
        }
    }
}

/* The line of trusted_authserv, unless the configuration has one of somebody else. */
static void put_authservs(struct setup *s, const struct drop_in *d, struct buf *ret)
{
    const struct config *c = s->cli->config;
    bool is_theirs = c->trusted_authserv.n > 0 && !d->has_authserv;

    for (size_t i = 0; is_theirs && i < s->nauthservs; i++) {
        if (name_index(slice_str(s->authservs[i]),
                       (const char *const *)c->trusted_authserv.v,
                       c->trusted_authserv.n) < 0) {
            setup_note(
                s,
                "trusted_authserv of %s lacks \"%s\", the name that the milters in front "
                "of gillnetd write; add it",
                s->cli->config_file, s->authservs[i]);
        }
    }
    if (is_theirs || s->nauthservs == 0) {
        return;
    }
    buf_add_str(ret, "trusted_authserv = [ ");
    for (size_t i = 0; i < s->nauthservs; i++) {
        buf_printf(ret, "%s\"%s\"", i == 0 ? "" : ", ", s->authservs[i]);
    }
    buf_add_str(ret, " ];\n");
}

static void put_text(struct setup *s, const struct drop_in *d, struct buf *ret)
{
    struct wiring w = socket_name_wiring(&s->wanted);
    struct buf body;
    char sum[17];

    buf_init(&body, CONF_MAX);
    put_notes(s, d, &body);
    if (d->has_socket || !socket_name_meets(&s->now, &s->wanted, "/")) {
        wiring_socket_line(&w, &body);
        buf_add_char(&body, '\n');
    }
    put_authservs(s, d, &body);
    if (body.n > 0) {
        put_check(buf_slice(&body), sum);
        buf_printf(
            ret,
            "## Written by `gillnet setup %s`; with --undo it takes the file away, unless "
            "you change it (%s%s).\n",
            s->mta, check_mark, sum);
        buf_add(ret, buf_slice(&body));
    }
    buf_fini(&body);
}

/* Reports each line of the text that is a setting. */
static void say_settings(struct setup *s, const char *path, struct slice text)
{
    while (text.n > 0) {
        struct slice line = slice_cut(&text, '\n');

        if (line.n > 0 && line.p[0] != '#') {
            setup_did(s, "write into %s: %.*s", path, SLICE_ARGS(line));
        }
    }
}

/* Loads the configuration again; the new settings must be in force. */
static enum err reread(struct setup *s, const char *path, struct errinfo *reterr)
{
    struct socket_name now;

    config_release(&s->cli->config);
    if (cli_config(s->cli) != 0) {
        return errinfo_set(reterr, ERR_SYNTAX, path, 0,
                           "the configuration does not load with it");
    }
    if (!socket_name_read(slice_str(s->cli->config->socket), &now) ||
        !socket_name_meets(&now, &s->wanted, "/")) {
        return errinfo_set(
            reterr, ERR_EXISTS, path, 0,
            "a later file of conf.d says socket = \"%s\"; take that line out, "
            "`gillnet config dump` shows where it is",
            s->cli->config->socket);
    }
    return ERR_OK;
}

static enum err write_drop_in(struct setup *s, const struct drop_in *d,
                              struct slice text, struct errinfo *reterr)
{
    enum err e = ERR_OK;

    if (mkdir(d->folder, 0755) != 0 && errno != EEXIST) {
        return errinfo_errno(reterr, d->folder, "cannot be made");
    }
    e = setup_write(s, d->path, true, text, reterr);
    return e == ERR_OK ? reread(s, d->path, reterr) : e;
}

enum err setup_conf(struct setup *s, struct errinfo *reterr)
{
    struct drop_in d;
    struct buf text;
    enum err e = look_at_drop_in(s, &d, reterr);

    buf_init(&text, CONF_MAX);
    if (e == ERR_OK) {
        put_text(s, &d, &text);
    }
    if (e == ERR_OK && !slice_eq(buf_slice(&text), buf_slice(&d.text))) {
        if (d.is_there && !d.is_intact) {
            e = errinfo_set(
                reterr, ERR_EXISTS, d.path, 0,
                "was changed by hand and says something else than setup would; "
                "remove it, or put its lines into %s",
                s->cli->config_file);
        } else {
            say_settings(s, d.path, buf_slice(&text));
            if (!s->is_dry) {
                e = write_drop_in(s, &d, buf_slice(&text), reterr);
            }
        }
    }
    buf_fini(&text);
    buf_fini(&d.text);
    return e;
}

/* ---- undo ---- */

/* Removes the socket that gillnetd's service leaves there. */
static void remove_socket(const char *dir)
{
    char path[FILE_PATH_MAX];
    struct stat st;

    if (path_make(path, NULL, "%s/gillnetd.sock", dir) == ERR_OK &&
        lstat(path, &st) == 0) {
        (void)(S_ISSOCK(st.st_mode) ? unlink(path) : 0);
    }
}

/* "PATH made" or "PATH was GID MODE". */
static void folder_back(struct setup *s, struct slice note)
{
    char path[FILE_PATH_MAX];
    char *end = NULL;
    unsigned long gid = 0;
    size_t was = slice_find_slice(note, SLICE_LIT(" was "));
    size_t made = slice_find_slice(note, SLICE_LIT(" made"));

    (void)snprintf(path, sizeof(path), "%.*s",
                   SLICE_ARGS(slice_head(note, was < note.n ? was : made)));
    if (was < note.n) {
        gid = strtoul(slice_from(note, was + 5).p, &end, 10);
        if (chown(path, (uid_t)-1, (gid_t)gid) == 0 &&
            chmod(path, (mode_t)strtoul(end, NULL, 8)) == 0) {
            setup_did(s, "give %s its group and mode back", path);
        }
        return;
    }
    remove_socket(path);
    if (rmdir(path) == 0) {
        setup_did(s, "remove the folder %s", path);
    } else if (errno != ENOENT) {
        setup_note(
            s, "%s is not empty and stays; remove it once gillnetd listens elsewhere",
            path);
    }
}

static void folders_back(struct setup *s, struct slice text)
{
    while (text.n > 0) {
        struct slice line = slice_cut(&text, '\n');

        if (slice_has_prefix(line, slice_str(note_mark))) {
            folder_back(s, slice_from(line, sizeof(note_mark) - 1));
        }
    }
}

static enum err take_away(struct setup *s, const struct drop_in *d,
                          struct errinfo *reterr)
{
    enum err e = setup_keep(s, d->path, true, reterr);

    if (e == ERR_OK && unlink(d->path) != 0) {
        e = errinfo_errno(reterr, d->path, "cannot be removed");
    }
    if (e == ERR_OK) {
        config_release(&s->cli->config);
        if (cli_config(s->cli) != 0 ||
            !socket_name_read(slice_str(s->cli->config->socket), &s->wanted)) {
            e = errinfo_set(reterr, ERR_SYNTAX, d->path, 0,
                            "the configuration does not load without it");
        }
    }
    THEN(e, setup_gillnetd(s, reterr));
    if (e == ERR_OK) {
        folders_back(s, buf_slice(&d->text));
    }
    return e;
}

enum err setup_conf_undo(struct setup *s, struct errinfo *reterr)
{
    struct drop_in d;
    enum err e = look_at_drop_in(s, &d, reterr);

    if (e == ERR_OK && d.is_there && !d.is_intact) {
        setup_note(s, "%s was changed by hand and stays", d.path);
    } else if (e == ERR_OK && d.is_there) {
        setup_did(s, "remove %s", d.path);
        if (!s->is_dry) {
            e = take_away(s, &d, reterr);
        }
    }
    buf_fini(&d.text);
    return e;
}

/* ---- the daemon ---- */

static bool is_asked(const struct setup *s, const char *request)
{
    struct buf answer;
    struct errinfo why = {0};
    bool is_ok = false;

    buf_init(&answer, CONTROL_ANSWER_MAX);
    is_ok =
        control_ask(s->cli->config->control_socket, request, &answer, &why) == ERR_OK &&
        slice_has_prefix(buf_slice(&answer), SLICE_LIT("ok"));
    buf_fini(&answer);
    return is_ok;
}

static bool listens_as_wanted(const struct setup *s)
{
    if (!s->wanted.is_unix) {
        return socket_name_meets(&s->now, &s->wanted, "/");
    }
    return control_listens(s->wanted.path);
}

bool setup_gillnetd_answers(const struct setup *s)
{
    return is_asked(s, "ping") && listens_as_wanted(s);
}

static const char systemctl_path[] = "/usr/bin/systemctl";
static const char unit[] = "gillnetd.service";

/* Whether systemd runs this machine and knows gillnetd with this configuration. */
static bool has_unit(const struct setup *s)
{
    static const char *const argv[] = {systemctl_path, "cat", unit, NULL};
    struct errinfo why = {0};

    return access("/run/systemd/system", F_OK) == 0 && !s->cli->is_config_given &&
           run_change(argv, &why) == ERR_OK;
}

static enum err systemctl(const char *verb, const char *option, struct errinfo *reterr)
{
    const char *const argv[] = {systemctl_path, verb, unit, option, NULL};

    return run_change(argv, reterr);
}

static enum err wait_for_answer(const struct setup *s, struct errinfo *reterr)
{
    uint64_t end_us = clock_mono_us() + START_WAIT_US;

    while (!setup_gillnetd_answers(s)) {
        if (clock_mono_us() >= end_us) {
            return errinfo_set(
                reterr, ERR_TIMEOUT, "gillnetd", 0,
                "was started and does not answer; `journalctl -u gillnetd` "
                "says why");
        }
        (void)poll(NULL, 0, PAUSE_MS);
    }
    return ERR_OK;
}

/* Starts or restarts gillnetd by systemd. */
static enum err by_unit(struct setup *s, bool runs, struct errinfo *reterr)
{
    enum err e = ERR_OK;

    setup_did(
        s,
        runs ? "restart gillnetd, so that it listens there (systemctl restart gillnetd)"
             : "start gillnetd, now and at every boot (systemctl enable --now "
               "gillnetd)");
    if (s->is_dry) {
        return ERR_OK;
    }
    s->gillnetd_was_told = true;
    e = runs ? systemctl("restart", NULL, reterr)
             : systemctl("enable", "--now", reterr);
    return e == ERR_OK ? wait_for_answer(s, reterr) : e;
}

enum err setup_gillnetd(struct setup *s, struct errinfo *reterr)
{
    bool runs = is_asked(s, "ping");
    bool is_heard = runs && listens_as_wanted(s);

    if (!is_heard && has_unit(s)) {
        return s->is_undo && !runs ? ERR_OK : by_unit(s, runs, reterr);
    }
    if (!runs && !s->is_undo) {
        setup_note(
            s,
            "gillnetd does not run: start it (systemctl enable --now gillnetd, or "
            "gillnetd%s%s), then run this again: it sends a test message; until then "
            "mail passes unexamined",
            s->cli->is_config_given ? " -c " : "",
            s->cli->is_config_given ? s->cli->config_file : "");
    } else if (runs && !is_heard) {
        setup_note(
            s,
            "restart gillnetd: it does not listen on %s yet; until then mail passes "
            "unexamined%s",
            s->cli->config->socket,
            s->is_undo ? "" : "; then run this again: it sends a test message");
    } else if (runs && s->nfiles > 0 && !s->is_dry && is_asked(s, "reload")) {
        s->gillnetd_was_told = true;
        setup_did(s, "let gillnetd reload its configuration");
    }
    return ERR_OK;
}

void setup_gillnetd_again(struct setup *s)
{
    struct errinfo why = {0};

    if (!s->gillnetd_was_told) {
        return;
    }
    if (has_unit(s) ? systemctl("restart", NULL, &why) == ERR_OK
                    : is_asked(s, "reload")) {
        setup_say(s, "back", "gillnetd has its former configuration");
    } else {
        setup_say(s, "back",
                  "gillnetd did not take its former configuration; restart it");
    }
}
