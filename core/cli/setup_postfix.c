/* setup_postfix - `gillnet setup postfix`: changes of main.cf and master.cf, by postconf alone. */
#include <sysexits.h>

#include "core/base/user.h"
#include "core/cli/setup.h"
#include "core/quarantine/queue/run_program.h"

/* ---- the changes ---- */

static enum err keep_cf(struct wire *w, const char *file, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct slice dir = postfix_value(&w->p.main, "config_directory");
    enum err e = path_make(path, reterr, "%.*s/%s", SLICE_ARGS(dir), file);

    THEN(e, setup_keep(w->s, path, false, reterr));
    return e;
}

static enum err apply_edit(struct wire *w, const struct edit *e, struct errinfo *reterr)
{
    char assignment[WIRE_NAME + WIRE_VALUE + 4];
    const char *option = e->is_removed ? "-X" : e->is_service ? "-P" : "-e";
    const char *const plain[] = {w->p.postconf, option, assignment, NULL};
    const char *const in_dir[] = {w->p.postconf, "-c",       w->p.dir,
                                  option,        assignment, NULL};

    (void)snprintf(assignment, sizeof(assignment),
                   e->is_removed   ? "%s"
                   : e->is_service ? "%s=%s"
                                   : "%s = %s",
                   e->name, e->value);
    return run_change(w->p.dir != NULL ? in_dir : plain, reterr);
}

static void say_edit(struct setup *s, const struct edit *e)
{
    if (e->is_removed) {
        setup_did(s, "remove from main.cf: %s", e->name);
    } else {
        setup_did(s, "set in %s: %s = %s", e->is_service ? "master.cf" : "main.cf",
                  e->name, e->value);
    }
}

static enum err apply_all(struct wire *w, struct errinfo *reterr)
{
    enum err e = ERR_OK;

    for (size_t i = 0; e == ERR_OK && i < w->nedits; i++) {
        const struct edit *edit = &w->edits[i];

        if (!w->s->is_dry) {
            e = keep_cf(w, edit->is_service ? "master.cf" : "main.cf", reterr);
        }
        if (e == ERR_OK) {
            say_edit(w->s, edit);
        }
        if (e == ERR_OK && !w->s->is_dry) {
            e = apply_edit(w, edit, reterr);
        }
    }
    return e;
}

/* `postfix VERB`. */
static enum err postfix_command(const struct wire *w, const char *verb,
                                struct errinfo *reterr)
{
    char program[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX];
    const char *const argv[] = {program, "-c", dir, verb, NULL};
    struct slice commands = postfix_value(&w->p.main, "command_directory");

    (void)snprintf(program, sizeof(program), "%.*s/postfix",
                   SLICE_ARGS(slice_head(commands, 1024)));
    wire_copy(dir, sizeof(dir), postfix_value(&w->p.main, "config_directory"));
    return run_change(argv, reterr);
}

static bool is_running(const struct wire *w)
{
    struct errinfo none = {0};

    return postfix_command(w, "status", &none) == ERR_OK;
}

static enum err reload_postfix(struct wire *w, struct errinfo *reterr)
{
    if (!is_running(w)) {
        setup_note(
            w->s,
            "Postfix does not run; start it, then run this again: it sends a test message");
        return ERR_OK;
    }
    if (w->nedits == 0) {
        return ERR_OK;
    }
    setup_did(w->s, "let Postfix reload its configuration (postfix reload)");
    return w->s->is_dry ? ERR_OK : postfix_command(w, "reload", reterr);
}

/* ---- the test message ---- */

/* The port of the first smtpd or postscreen of master.cf, and an address of it. */
static void find_smtp(const struct wire *w, char host[WIRE_NAME], char port[WIRE_NAME])
{
    struct slice rest = buf_slice(&w->p.services);
    struct slice interfaces = postfix_value(&w->p.main, "inet_interfaces");
    struct slice key;
    struct slice value;

    wire_copy(host, WIRE_NAME, SLICE_LIT("127.0.0.1"));
    wire_copy(port, WIRE_NAME, SLICE_LIT("25"));
    if (interfaces.n > 0 && strchr("0123456789[", interfaces.p[0]) != NULL) {
        wire_copy(host, WIRE_NAME, postfix_next_milter(&interfaces));
    }
    while (postfix_next_setting(&rest, &key, &value)) {
        struct slice name = slice_head(key, slice_find(key, '/'));
        size_t colon = name.n;

        if (!slice_has_suffix_nocase(key, SLICE_LIT("/inet/command")) ||
            !(slice_has_prefix(slice_trim(value), SLICE_LIT("smtpd")) ||
              slice_has_prefix(slice_trim(value), SLICE_LIT("postscreen")))) {
            continue;
        }
        while (colon > 0 && name.p[colon - 1] != ':') {
            colon--;
        }
        wire_copy(port, WIRE_NAME, slice_from(name, colon));
        if (colon > 1) {
            wire_copy(host, WIRE_NAME, slice_head(name, colon - 1));
        }
        return;
    }
}

/* ---- the command ---- */

static void choose_socket(struct wire *w)
{
    struct setup *s = w->s;
    struct wiring now = socket_name_wiring(&s->now);

    if (s->now.is_unix && !wiring_is_below(&now, w->queue)) {
        s->wanted = (struct socket_name){.is_unix = true};
        (void)snprintf(s->wanted.path, sizeof(s->wanted.path),
                       "%.400s/" WIRING_BELOW_QUEUE, w->queue);
    }
}

static void say_found(struct wire *w)
{
    struct milter_chain before = {.n = 0};
    struct errinfo none = {0};
    char value[WIRE_VALUE] = "";
    char settings[WIRE_NAME + 64];

    if (wire_setting(w, "smtpd_milters", false, value, &none) == ERR_OK) {
        (void)wire_read_chain(w, slice_str(value), &before, &none);
    }
    (void)snprintf(settings, sizeof(settings), "%.*s, smtpd %s a chroot",
                   SLICE_ARGS(slice_head(postfix_value(&w->p.main, "config_directory"),
                                         WIRE_NAME)),
                   w->p.is_chrooted ? "in" : "without");
    setup_say_found(w->s, &before, settings);
}

/* The group of Postfix's user: its smtpd and cleanup have it. */
static enum err find_group(const struct wire *w, gid_t *ret, struct errinfo *reterr)
{
    char owner[WIRE_NAME];
    uid_t uid = 0;

    wire_copy(owner, sizeof(owner), postfix_value(&w->p.main, "mail_owner"));
    return user_find(owner, &uid, ret)
               ? ERR_OK
               : errinfo_set(
                     reterr, ERR_NOT_FOUND, owner, 0,
                     "Postfix runs as this user (mail_owner), and there is none; "
                     "is Postfix installed in full?");
}

static enum err wire_up(struct wire *w, struct errinfo *reterr)
{
    struct setup *s = w->s;
    char name[MILTERS_NAME];
    gid_t gid = 0;
    enum err e = ERR_OK;

    choose_socket(w);
    e = wire_plan(w, reterr);
    if (e == ERR_OK) {
        wire_copy(name, sizeof(name), postfix_value(&w->p.main, "myhostname"));
        setup_order(s, &w->chain, name);
        e = s->wanted.is_unix ? find_group(w, &gid, reterr) : ERR_OK;
    }
    if (e == ERR_OK && s->wanted.is_unix) {
        e = setup_socket_folder(s, gid, reterr);
    }
    THEN(e, setup_conf(s, reterr));
    THEN(e, setup_gillnetd(s, reterr));
    THEN(e, apply_all(w, reterr));
    return e == ERR_OK ? reload_postfix(w, reterr) : e;
}

static enum err unwire(struct wire *w, struct errinfo *reterr)
{
    enum err e = wire_plan_undo(w, reterr);

    THEN(e, apply_all(w, reterr));
    THEN(e, reload_postfix(w, reterr));
    return e == ERR_OK ? setup_conf_undo(w->s, reterr) : e;
}

int setup_postfix(struct setup *s)
{
    static struct wire w;
    char host[WIRE_NAME];
    char port[WIRE_NAME];
    struct errinfo why = {0};
    int status = 0;

    w = (struct wire){.s = s};
    s->program = "Postfix";
    postfix_init(&w.p, s->postconf, s->postconf_dir);
    if (access(w.p.postconf, X_OK) != 0) {
        cli_say(
            "%s cannot be run: is Postfix installed? Name another with --postconf /PATH",
            w.p.postconf);
        postfix_fini(&w.p);
        return EX_UNAVAILABLE;
    }
    if (postfix_read(&w.p, &why) != ERR_OK) {
        status = cli_fail(&why);
    } else {
        wire_copy(w.queue, sizeof(w.queue), w.p.queue_directory);
        say_found(&w);
        if ((s->is_undo ? unwire(&w, &why) : wire_up(&w, &why)) == ERR_OK) {
            if (!s->is_undo) {
                find_smtp(&w, host, port);
                setup_test(s, host, port, is_running(&w));
            }
        } else {
            status = setup_fail(s, &why);
            if (w.nedits > 0 && !s->is_dry) {
                (void)postfix_command(&w, "reload", &why);
            }
        }
    }
    postfix_fini(&w.p);
    return status;
}
