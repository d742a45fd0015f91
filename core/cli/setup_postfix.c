/* setup_postfix - `gillnet setup postfix`: main.cf and master.cf, by postconf alone. */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "core/cli/postfix.h"
#include "core/cli/run.h"
#include "core/cli/setup.h"

enum { VALUE_MAX = 4096, EDITS_MAX = 32, NAME_MAX_BYTES = 256, NAME_BUFFER = 16384 };

/* One setting that changes. */
struct edit {
    bool is_service; /* SERVICE/TYPE/name of master.cf */
    char name[NAME_MAX_BYTES];
    char value[VALUE_MAX];
    bool is_removed; /* from main.cf */
};

struct wire {
    struct setup *s;
    struct postfix p;
    char queue[SOCKET_NAME_PATH];
    struct milter_chain chain; /* of smtpd_milters, as it will be */
    bool uses_parameter;       /* some list has WIRING_USE */
    size_t nedits;
    struct edit edits[EDITS_MAX];
};

static void copy(char *dst, size_t size, struct slice s)
{
    (void)snprintf(dst, size, "%.*s", SLICE_ARGS(slice_head(s, size - 1)));
}

/* One setting of main.cf, as written (expanded: $names replaced). */
static enum err setting(const struct wire *w, const char *name, bool is_expanded,
                        char dst[VALUE_MAX], struct errinfo *reterr)
{
    static char opt_h[] = "-h";
    static char opt_x[] = "-x";
    char copied[NAME_MAX_BYTES];
    char *const args[] = {opt_h, is_expanded ? opt_x : copied,
                          is_expanded ? copied : NULL, NULL};
    struct buf said;
    enum err e = ERR_OK;

    copy(copied, sizeof(copied), slice_str(name));
    buf_init(&said, POSTFIX_OUTPUT_MAX);
    e = postfix_ask(&w->p, args, &said, reterr);
    if (e == ERR_OK && said.n >= VALUE_MAX) {
        e = errinfo_set(reterr, ERR_LIMIT, name, 0, "is too long to be changed by a program");
    }
    if (e == ERR_OK) {
        copy(dst, VALUE_MAX, slice_trim(buf_slice(&said)));
    }
    buf_fini(&said);
    return e;
}

static struct edit *add_edit(struct wire *w, bool is_service, const char *name)
{
    struct edit *e = &w->edits[w->nedits];

    if (w->nedits == EDITS_MAX) {
        return NULL;
    }
    *e = (struct edit){.is_service = is_service};
    copy(e->name, sizeof(e->name), slice_str(name));
    w->nedits++;
    return e;
}

/* ---- a list of milters, taken apart ---- */

/* Ours by any of its sockets: where it listens, or will. */
static bool is_at_ours(const struct wire *w, struct slice milter, bool *retis_right)
{
    *retis_right = postfix_is_at(&w->p, &w->s->wanted, milter, w->p.is_chrooted);
    return *retis_right || postfix_is_at(&w->p, &w->s->wanted, milter, false) ||
           postfix_is_at(&w->p, &w->s->now, milter, true) ||
           postfix_is_at(&w->p, &w->s->now, milter, false);
}

static const struct milter_kind *kind_of(const struct wire *w, struct slice milter)
{
    struct socket_name theirs;

    return socket_name_read(postfix_milter_socket(milter), &theirs)
               ? milter_kind_at(&theirs, w->s->etc, w->queue, w->p.is_chrooted)
               : NULL;
}

/* "$name" or "${name}" stands for the milters of another setting. */
static enum err look_through(const struct wire *w, struct slice use,
                             const struct milter_kind **retkind, bool *retis_ours,
                             struct errinfo *reterr)
{
    char name[NAME_MAX_BYTES];
    char value[VALUE_MAX];
    struct slice list;
    struct slice milter;
    enum err e = ERR_OK;

    use = slice_from(use, 1);
    if (use.n > 2 && use.p[0] == '{') {
        use = slice_of(use.p + 1, use.n - 2);
    }
    copy(name, sizeof(name), use);
    /* what smtpd_milters names will have ours in it */
    *retis_ours = strcmp(name, "smtpd_milters") == 0;
    e = setting(w, name, true, value, reterr);
    list = slice_str(value);
    while (e == ERR_OK && (milter = postfix_next_milter(&list)).n > 0) {
        const struct milter_kind *k = kind_of(w, milter);
        bool is_right = false;

        *retkind = *retkind == NULL || (k != NULL && k->proves) ? k : *retkind;
        *retis_ours = *retis_ours || is_at_ours(w, milter, &is_right);
    }
    return e;
}

static enum err read_chain(const struct wire *w, struct slice list, struct milter_chain *ret,
                           struct errinfo *reterr)
{
    struct slice milter;
    enum err e = ERR_OK;

    ret->n = 0;
    while (e == ERR_OK && (milter = postfix_next_milter(&list)).n > 0) {
        const struct milter_kind *kind = NULL;
        bool is_ours = false;
        bool is_right = true;

        if (slice_eq(milter, SLICE_LIT(WIRING_USE))) {
            is_ours = true;
        } else if (milter.p[0] == '$') {
            e = look_through(w, milter, &kind, &is_ours, reterr);
        } else {
            is_ours = is_at_ours(w, milter, &is_right);
            kind = is_ours ? NULL : kind_of(w, milter);
        }
        if (e == ERR_OK &&
            !milter_chain_add(ret, is_right ? milter : SLICE_LIT(WIRING_USE), kind,
                              is_ours)) {
            e = errinfo_set(reterr, ERR_LIMIT, "smtpd_milters", 0,
                            "more milters than gillnet knows how to order; put "
                            "$gillnet_milter into the list by hand");
        }
    }
    return e;
}

static bool has_blank(const char *text)
{
    return strpbrk(text, " \t,") != NULL;
}

static void write_chain(const struct milter_chain *c, const char *between,
                        char dst[VALUE_MAX])
{
    struct buf text;

    buf_init(&text, VALUE_MAX - 1);
    for (size_t i = 0; i < c->n; i++) {
        buf_add_str(&text, i == 0 ? "" : between);
        buf_printf(&text, has_blank(c->v[i].text) ? "{ %s }" : "%s", c->v[i].text);
    }
    copy(dst, VALUE_MAX, buf_slice(&text));
    buf_fini(&text);
}

/* Whether the list with ours in its place differs from what stands there. */
static bool differs(const struct milter_chain *c, struct slice list)
{
    struct slice milter;
    size_t i = 0;

    while ((milter = postfix_next_milter(&list)).n > 0) {
        if (i == c->n || !slice_eq(milter, slice_str(c->v[i].text))) {
            return true;
        }
        i++;
    }
    return i != c->n;
}

/* ---- the plan ---- */

static enum err plan_list(struct wire *w, bool is_service, const char *name,
                          struct slice list, struct milter_chain *retchain,
                          struct errinfo *reterr)
{
    struct edit *edit = NULL;
    enum err e = read_chain(w, list, retchain, reterr);

    if (e != ERR_OK) {
        return e;
    }
    (void)milter_chain_place(retchain, WIRING_USE);
    for (size_t i = 0; i < retchain->n; i++) {
        w->uses_parameter =
            w->uses_parameter || strcmp(retchain->v[i].text, WIRING_USE) == 0;
    }
    if (!differs(retchain, list)) {
        return ERR_OK;
    }
    edit = add_edit(w, is_service, name);
    if (edit == NULL) {
        return errinfo_set(reterr, ERR_LIMIT, name, 0, "too many services to change");
    }
    write_chain(retchain, is_service ? "," : ", ", edit->value);
    if (is_service && strpbrk(edit->value, " \t") != NULL) {
        w->nedits--;
        setup_note(w->s, "postconf cannot write blanks into master.cf: put " WIRING_USE
                         " into %s by hand",
                   name);
    }
    return ERR_OK;
}

static enum err plan_main(struct wire *w, const char *name, struct milter_chain *retchain,
                          struct errinfo *reterr)
{
    char value[VALUE_MAX];
    enum err e = setting(w, name, false, value, reterr);

    return e == ERR_OK ? plan_list(w, false, name, slice_str(value), retchain, reterr) : e;
}

/* A service at which people hand in mail, and not one for mail that was examined before. */
static bool is_submission(const struct wire *w, struct slice service)
{
    static const char *const names[] = {"submission", "submissions", "smtps", "587", "465"};
    char key[NAME_MAX_BYTES];
    struct slice name = slice_head(service, slice_find(service, '/'));

    while (slice_find(name, ':') < name.n) {
        (void)slice_cut(&name, ':');
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (slice_eq(name, slice_str(names[i]))) {
            return true;
        }
    }
    (void)snprintf(key, sizeof(key), "%.*s/smtpd_sasl_auth_enable",
                   SLICE_ARGS(slice_head(service, 200)));
    return slice_eq(postfix_value(&w->p.options, key), SLICE_LIT("yes"));
}

/* Services of master.cf with lists of their own. */
static enum err plan_services(struct wire *w, struct errinfo *reterr)
{
    struct slice rest = buf_slice(&w->p.options);
    enum err e = ERR_OK;

    while (e == ERR_OK && rest.n > 0) {
        struct slice value = slice_cut(&rest, '\n');
        struct slice key = slice_trim(slice_cut(&value, '='));
        struct slice service = slice_head(key, key.n - (sizeof("/smtpd_milters") - 1));
        struct milter_chain chain;
        char name[NAME_MAX_BYTES];

        if (!slice_has_suffix_nocase(key, SLICE_LIT("/smtpd_milters")) ||
            key.n >= sizeof(name)) {
            continue;
        }
        copy(name, sizeof(name), key);
        if (slice_trim(value).n == 0 && !is_submission(w, service)) {
            setup_say(w->s, "found", "%s asks no milters at all and is left so", name);
            continue;
        }
        e = plan_list(w, true, name, slice_trim(value), &chain, reterr);
    }
    return e;
}

static enum err plan_parameter(struct wire *w, struct errinfo *reterr)
{
    struct wiring wiring = socket_name_wiring(&w->s->wanted);
    char now[VALUE_MAX];
    struct buf text;
    struct edit *edit = NULL;
    enum err e = setting(w, WIRING_PARAMETER, false, now, reterr);

    if (e != ERR_OK || !w->uses_parameter) {
        return e;
    }
    buf_init(&text, VALUE_MAX - 1);
    wiring_postfix_milter(&wiring, w->queue, &text);
    if (!slice_eq(slice_str(now), buf_slice(&text))) {
        edit = add_edit(w, false, WIRING_PARAMETER);
        if (edit != NULL) {
            copy(edit->value, sizeof(edit->value), buf_slice(&text));
            memmove(&w->edits[1], &w->edits[0], (w->nedits - 1) * sizeof(w->edits[0]));
            w->edits[0] = (struct edit){.name = WIRING_PARAMETER};
            copy(w->edits[0].value, VALUE_MAX, buf_slice(&text));
        }
    }
    buf_fini(&text);
    return ERR_OK;
}

static enum err plan(struct wire *w, struct errinfo *reterr)
{
    struct milter_chain local;
    enum err e = plan_main(w, "smtpd_milters", &w->chain, reterr);

    if (e == ERR_OK) {
        e = plan_main(w, "non_smtpd_milters", &local, reterr);
    }
    if (e == ERR_OK) {
        e = plan_services(w, reterr);
    }
    return e == ERR_OK ? plan_parameter(w, reterr) : e;
}

/* ---- the way back ---- */

static bool take_out(struct slice list, const char *between, char dst[VALUE_MAX])
{
    struct milter_chain chain = {.n = 0};
    struct slice milter;
    bool has_use = false;

    while ((milter = postfix_next_milter(&list)).n > 0) {
        if (slice_eq(milter, SLICE_LIT(WIRING_USE))) {
            has_use = true;
        } else if (!milter_chain_add(&chain, milter, NULL, false)) {
            return false;
        }
    }
    write_chain(&chain, between, dst);
    return has_use;
}

static enum err plan_main_undo(struct wire *w, const char *name, struct errinfo *reterr)
{
    char now[VALUE_MAX];
    char value[VALUE_MAX];
    struct edit *edit = NULL;
    enum err e = setting(w, name, false, now, reterr);

    if (e == ERR_OK && take_out(slice_str(now), ", ", value)) {
        edit = add_edit(w, false, name);
    }
    if (edit != NULL) {
        copy(edit->value, VALUE_MAX, slice_str(value));
        edit->is_removed = *value == '\0';
    }
    return e;
}

static enum err plan_undo(struct wire *w, struct errinfo *reterr)
{
    struct slice rest = buf_slice(&w->p.options);
    char value[VALUE_MAX];
    struct edit *edit = NULL;
    enum err e = plan_main_undo(w, "smtpd_milters", reterr);

    if (e == ERR_OK) {
        e = plan_main_undo(w, "non_smtpd_milters", reterr);
    }
    while (e == ERR_OK && rest.n > 0) {
        struct slice list = slice_cut(&rest, '\n');
        struct slice key = slice_trim(slice_cut(&list, '='));

        if (slice_has_suffix_nocase(key, SLICE_LIT("/smtpd_milters")) &&
            take_out(slice_trim(list), ",", value)) {
            char name[NAME_MAX_BYTES];

            copy(name, sizeof(name), key);
            edit = add_edit(w, true, name);
            if (edit != NULL) {
                copy(edit->value, VALUE_MAX, slice_str(value));
            }
        }
    }
    if (e == ERR_OK) {
        e = setting(w, WIRING_PARAMETER, false, value, reterr);
    }
    if (e == ERR_OK && *value != '\0' &&
        (edit = add_edit(w, false, WIRING_PARAMETER)) != NULL) {
        edit->is_removed = true;
    }
    return e;
}

/* ---- the changes ---- */

static enum err keep_cf(struct wire *w, const char *file, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct slice dir = postfix_value(&w->p.main, "config_directory");
    enum err e = file_path(path, "%.*s/%s", SLICE_ARGS(dir), file);

    return e == ERR_OK ? setup_keep(w->s, path, reterr)
                       : errinfo_set(reterr, e, file, 0, "the path is too long");
}

static enum err apply(struct wire *w, const struct edit *e, struct errinfo *reterr)
{
    static char opt_e[] = "-e";
    static char opt_p[] = "-P";
    static char opt_x[] = "-X";
    char assignment[NAME_MAX_BYTES + VALUE_MAX + 4];
    char *const args[] = {e->is_removed   ? opt_x
                          : e->is_service ? opt_p
                                          : opt_e,
                          assignment, NULL};
    char *argv[8];
    char program[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX];
    static char opt_c[] = "-c";
    size_t n = 0;

    (void)snprintf(assignment, sizeof(assignment),
                   e->is_removed   ? "%s"
                   : e->is_service ? "%s=%s"
                                   : "%s = %s",
                   e->name, e->value);
    copy(program, sizeof(program), slice_str(w->p.postconf));
    argv[n++] = program;
    if (w->p.dir != NULL) {
        copy(dir, sizeof(dir), slice_str(w->p.dir));
        argv[n++] = opt_c;
        argv[n++] = dir;
    }
    argv[n++] = args[0];
    argv[n++] = args[1];
    argv[n] = NULL;
    return run_change(argv, reterr);
}

static void say_edit(struct setup *s, const struct edit *e)
{
    if (e->is_removed) {
        setup_did(s, "removed from main.cf: %s", e->name);
    } else {
        setup_did(s, "set in %s: %s = %s", e->is_service ? "master.cf" : "main.cf", e->name,
                  e->value);
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
            e = apply(w, edit, reterr);
        }
    }
    return e;
}

/* `postfix VERB`. */
static enum err postfix_command(const struct wire *w, const char *verb,
                                struct errinfo *reterr)
{
    static char opt_c[] = "-c";
    char program[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX];
    char verb_copy[16];
    char *const argv[] = {program, opt_c, dir, verb_copy, NULL};
    struct slice commands = postfix_value(&w->p.main, "command_directory");

    (void)snprintf(program, sizeof(program), "%.*s/postfix", SLICE_ARGS(slice_head(commands, 1024)));
    copy(dir, sizeof(dir), postfix_value(&w->p.main, "config_directory"));
    copy(verb_copy, sizeof(verb_copy), slice_str(verb));
    return run_change(argv, reterr);
}

static enum err reload(struct wire *w, struct errinfo *reterr)
{
    struct errinfo none = {0};

    if (postfix_command(w, "status", &none) != ERR_OK) {
        setup_note(w->s, "Postfix does not run; start it, then run this again: it sends a test message");
        return ERR_OK;
    }
    if (w->nedits == 0) {
        return ERR_OK;
    }
    setup_did(w->s, "let Postfix read its configuration anew (postfix reload)");
    return w->s->is_dry ? ERR_OK : postfix_command(w, "reload", reterr);
}

/* ---- the test message ---- */

/* The port of the first smtpd or postscreen of master.cf, and an address of it. */
static void find_smtp(const struct wire *w, char host[NAME_MAX_BYTES],
                      char port[NAME_MAX_BYTES])
{
    struct slice rest = buf_slice(&w->p.services);
    struct slice interfaces = postfix_value(&w->p.main, "inet_interfaces");

    copy(host, NAME_MAX_BYTES, SLICE_LIT("127.0.0.1"));
    copy(port, NAME_MAX_BYTES, SLICE_LIT("25"));
    if (interfaces.n > 0 && strchr("0123456789[", interfaces.p[0]) != NULL) {
        copy(host, NAME_MAX_BYTES, postfix_next_milter(&interfaces));
    }
    while (rest.n > 0) {
        struct slice value = slice_cut(&rest, '\n');
        struct slice key = slice_trim(slice_cut(&value, '='));
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
        copy(port, NAME_MAX_BYTES, slice_from(name, colon));
        if (colon > 1) {
            copy(host, NAME_MAX_BYTES, slice_head(name, colon - 1));
        }
        return;
    }
}

static void test(struct wire *w)
{
    char host[NAME_MAX_BYTES];
    char port[NAME_MAX_BYTES];
    struct errinfo none = {0};
    const char *colon = w->s->smtp != NULL ? strrchr(w->s->smtp, ':') : NULL;

    find_smtp(w, host, port);
    if (colon != NULL) {
        copy(host, sizeof(host), slice_of(w->s->smtp, (size_t)(colon - w->s->smtp)));
        copy(port, sizeof(port), slice_str(colon + 1));
    }
    if (w->s->is_dry) {
        setup_say(w->s, "would", "send a test message to Postfix at %s port %s; gillnetd drops it", host,
                  port);
    } else if (setup_gillnetd_answers(w->s) &&
               postfix_command(w, "status", &none) == ERR_OK) {
        setup_probe(w->s, host, port);
    }
}

/* ---- the command ---- */

static void choose_socket(struct wire *w)
{
    struct setup *s = w->s;
    struct wiring now = socket_name_wiring(&s->now);

    if (s->now.is_unix && !wiring_is_below(&now, w->queue)) {
        s->wanted = (struct socket_name){.is_unix = true};
        (void)snprintf(s->wanted.path, sizeof(s->wanted.path), "%.400s/" WIRING_BELOW_QUEUE,
                       w->queue);
    }
}

static void say_found(struct wire *w)
{
    struct milter_chain before;
    struct errinfo none = {0};
    char value[VALUE_MAX] = "";
    struct buf text;

    buf_init(&text, VALUE_MAX);
    if (setting(w, "smtpd_milters", false, value, &none) == ERR_OK &&
        read_chain(w, slice_str(value), &before, &none) == ERR_OK) {
        milter_chain_print(&before, &text);
    }
    setup_say(w->s, "found", "Postfix, settings in %.*s, smtpd %s, milters: %.*s",
              SLICE_ARGS(postfix_value(&w->p.main, "config_directory")),
              w->p.is_chrooted ? "in a chroot" : "without a chroot",
              SLICE_ARGS(buf_slice(&text)));
    buf_fini(&text);
}

/* The group of Postfix's user: its smtpd and cleanup have it. */
static enum err find_group(const struct wire *w, gid_t *ret, struct errinfo *reterr)
{
    struct passwd pw;
    struct passwd *found = NULL;
    char buffer[NAME_BUFFER];
    char owner[NAME_MAX_BYTES];

    copy(owner, sizeof(owner), postfix_value(&w->p.main, "mail_owner"));
    if (getpwnam_r(owner, &pw, buffer, sizeof(buffer), &found) != 0 || found == NULL) {
        return errinfo_set(reterr, ERR_NOT_FOUND, owner, 0,
                           "Postfix runs as this user (mail_owner), and there is none; is "
                           "Postfix installed in full?");
    }
    *ret = pw.pw_gid;
    return ERR_OK;
}

static enum err wire_up(struct wire *w, struct errinfo *reterr)
{
    struct setup *s = w->s;
    char name[MILTERS_NAME];
    gid_t gid = 0;
    enum err e = ERR_OK;

    choose_socket(w);
    e = plan(w, reterr);
    if (e == ERR_OK) {
        copy(name, sizeof(name), postfix_value(&w->p.main, "myhostname"));
        s->nauthservs = milter_chain_authservs(&w->chain, s->etc, name, s->authservs,
                                               SETUP_AUTHSERVS);
        setup_say_order(s, &w->chain);
        e = s->wanted.is_unix ? find_group(w, &gid, reterr) : ERR_OK;
    }
    if (e == ERR_OK && s->wanted.is_unix) {
        e = setup_socket_folder(s, gid, reterr);
    }
    if (e == ERR_OK) {
        e = setup_conf(s, reterr);
    }
    if (e == ERR_OK) {
        e = setup_gillnetd(s, reterr);
    }
    if (e == ERR_OK) {
        e = apply_all(w, reterr);
    }
    return e == ERR_OK ? reload(w, reterr) : e;
}

static enum err unwire(struct wire *w, struct errinfo *reterr)
{
    enum err e = plan_undo(w, reterr);

    if (e == ERR_OK) {
        e = apply_all(w, reterr);
    }
    if (e == ERR_OK) {
        e = reload(w, reterr);
    }
    return e == ERR_OK ? setup_conf_undo(w->s, reterr) : e;
}

int setup_postfix(struct setup *s)
{
    static struct wire w;
    struct errinfo why = {0};
    int status = 0;

    w = (struct wire){.s = s};
    s->program = "Postfix";
    postfix_init(&w.p, s->postconf, s->postconf_dir);
    if (access(w.p.postconf, X_OK) != 0) {
        (void)fprintf(stderr,
                      "gillnet: %s cannot be run: is Postfix installed? Name another with "
                      "--postconf /PATH\n",
                      w.p.postconf);
        postfix_fini(&w.p);
        return EX_UNAVAILABLE;
    }
    if (postfix_read(&w.p, &why) != ERR_OK) {
        status = cli_fail(&why);
    } else {
        copy(w.queue, sizeof(w.queue), w.p.queue_directory);
        say_found(&w);
        if ((s->is_undo ? unwire(&w, &why) : wire_up(&w, &why)) == ERR_OK) {
            if (!s->is_undo) {
                test(&w);
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
