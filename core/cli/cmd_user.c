/* cmd_user - `gillnet user`: settings of users and domains. */
#include <math.h>
#include <sysexits.h>

#include "core/cli/change_note.h"
#include "core/cli/cli.h"
#include "core/cli/print.h"
#include "core/verdict/user/user_change.h"
#include "core/verdict/user/user_verdict.h"

/* The text and the lock of one command. */
struct user_work {
    struct cli *cli;
    char path[FILE_PATH_MAX];
    struct buf text;
    struct filelock lock; /* fd -1: not held */
    unsigned nprinted;
};

static void on_wrong_line(void *context, unsigned line, const char *why)
{
    const struct user_work *w = context;

    (void)fprintf(stderr, "gillnet: %s:%u: %s\n", w->path, line, why);
}

static int begin(struct cli *cli, bool is_changing, struct user_work *ret)
{
    struct errinfo why = {.code = ERR_OK};
    int status = cli_config(cli);

    ret->cli = cli;
    ret->lock.fd = -1;
    ret->nprinted = 0;
    buf_init(&ret->text, USERS_FILE_BYTES);
    if (status != 0) {
        return status;
    }
    enum err e = users_file_path(cli->config, ret->path, &why);
    if (is_changing) {
        THEN(e, users_file_lock(cli->config, &ret->lock, &why));
    }
    THEN(e, users_file_read(ret->path, &ret->text, &why));
    return cli_status(e, &why);
}

static int end(struct user_work *w, int status)
{
    filelock_drop(&w->lock);
    buf_fini(&w->text);
    return status;
}

/* ---- compile ---- */

static int print_compiled(const struct user_work *w, size_t n)
{
    if (w->cli->json) {
        return json_status(
            json_pack("{s:s, s:I}", "file", w->path, "entries", (json_int_t)n));
    }
    (void)printf("%s: %zu entries; gillnetd uses them within a second\n", w->path, n);
    return 0;
}

static int compile(struct cli *cli, int argc, char **argv)
{
    struct user_work w;
    struct errinfo why = {.code = ERR_OK};
    size_t n = 0;
    int status =
        cli_arguments(CLI_WORDS("user", 0, 0, "compile: takes no words"), &argc, argv);

    if (status != 0) {
        return status;
    }
    status = begin(cli, true, &w);
    if (status == 0) {
        enum err e = users_file_compile(cli->config, buf_slice(&w.text), on_wrong_line,
                                        &w, &n, &why);
        THEN(e, users_file_publish(cli->config, &why));
        if (e == ERR_OK) {
            cli_note(cli, &(struct change){.kind = CHANGE_user_compile,
                                           .object = slice_str(w.path),
                                           .count = n});
        }
        status = cli_status(e, &why);
        THEN(status, print_compiled(&w, n));
    }
    return end(&w, status);
}

/* ---- set ---- */

int cli_set_user(struct cli *cli, const struct user_change *asked)
{
    struct user_work w = {.cli = cli};
    struct errinfo why = {.code = ERR_OK};
    struct user_change u = *asked;
    struct buf before;
    struct buf after;

    u.config = cli->config;
    u.on_error = on_wrong_line;
    u.context = &w;
    buf_init(&before, USERS_LINE_MAX);
    buf_init(&after, USERS_LINE_MAX);
    enum err e = users_file_path(cli->config, w.path, &why);
    THEN(e, user_settings_change(&u, &before, &after, &why));
    if (e == ERR_OK && !slice_eq(buf_slice(&before), buf_slice(&after))) {
        cli_note(cli, &(struct change){.kind = CHANGE_user_set,
                                       .object = slice_str(u.name),
                                       .before = change_state(buf_slice(&before)),
                                       .after = change_state(buf_slice(&after))});
    }
    buf_fini(&before);
    buf_fini(&after);
    const int status = cli_status(e, &why);
    return e == ERR_EXISTS ? EX_TEMPFAIL : status;
}

static int set(struct cli *cli, int argc, char **argv)
{
    bool does_clear = false;
    const struct cli_option table[] = {{"--clear", NULL, &does_clear, NULL}};
    char name[USER_NAME_MAX + 1];
    struct slice words[CLI_VALUES_MAX];
    struct user_change u = {.name = name, .words = words};
    int status =
        cli_arguments(CLI_FORM("user", table, 1, CLI_VALUES_MAX,
                               "set: give USER@DOMAIN or @DOMAIN, then KEY=VALUE"),
                      &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc == 2 && !does_clear) {
        return cli_usage("user", "set: give KEY=VALUE, KEY= to take one out, or "
                                 "--clear for all");
    }
    const char *wrong = user_name_tidy(slice_str(argv[1]), name);
    if (wrong != NULL) {
        return cli_error(EX_DATAERR, "%s: %s", argv[1], wrong);
    }
    u.does_clear = does_clear;
    for (int i = 2; i < argc; i++) {
        words[u.nwords++] = slice_str(argv[i]);
    }
    status = cli_config(cli);
    THEN(status, cli_set_user(cli, &u));
    return status;
}

/* ---- show, list ---- */

static bool print_words(struct user_work *w, const char *name, const char *source,
                        struct slice words)
{
    json_t *set = json_array();

    w->nprinted++;
    if (!w->cli->json) {
        json_decref(set);
        (void)printf("%s %.*s  (%s)\n", name, SLICE_ARGS(words), source);
        return !ferror(stdout);
    }
    while (words.p != NULL) {
        (void)json_array_append_new(set, json_text(slice_cut(&words, ' ')));
    }
    return json_line(
        json_pack("{s:s, s:s, s:o}", "name", name, "source", source, "set", set));
}

static bool is_listed_name(const char *const *names, const char *name)
{
    bool is_any = names == NULL;

    for (size_t i = 0; !is_any && names[i] != NULL; i++) {
        is_any = strcmp(names[i], name) == 0;
    }
    return is_any;
}

/* Those of the file, then those of the configuration; names: only these, NULL: all. */
static int print_settings(struct user_work *w, const char *const *names)
{
    struct slice text = buf_slice(&w->text);
    struct users_line *line = malloc(sizeof(*line));
    struct errinfo why = {.text = ""};
    const struct config *c = w->cli->config;
    unsigned at = 0;
    enum err e = ERR_OK;
    int status = 0;

    if (line == NULL) {
        return cli_nomem();
    }
    while (status == 0 && users_file_next(c, &text, &at, line, &e, &why)) {
        if (e != ERR_OK) {
            on_wrong_line(w, at, why.text);
        } else if (is_listed_name(names, line->name) &&
                   !print_words(w, line->name, w->path, slice_str(line->words))) {
            status = EX_OSERR;
        }
    }
    free(line);
    for (size_t i = 0; status == 0 && i < c->nusers; i++) {
        const struct config_user *u = &c->users[i];
        for (size_t k = 0; k < u->set.n && is_listed_name(names, u->name); k++) {
            status = print_words(w, u->name, c->file, slice_str(u->set.v[k]))
                         ? status
                         : EX_OSERR;
        }
    }
    return status;
}

static int list(struct cli *cli, int argc, char **argv)
{
    struct user_work w;
    int status =
        cli_arguments(CLI_WORDS("user", 0, 0, "list: takes no words"), &argc, argv);

    if (status != 0) {
        return status;
    }
    status = begin(cli, false, &w);
    THEN(status, print_settings(&w, NULL));
    return end(&w, status);
}

static int print_thresholds(const struct user_work *w, const char *name)
{
    double t[ACTION_COUNT];
    struct users *users = users_new(w->cli->config->state_dir);
    struct errinfo why = {.text = ""};
    json_t *object = w->cli->json ? json_object() : NULL;

    if (users == NULL) {
        return cli_nomem();
    }
    int status = cli_status(users_refresh(users, &why), &why);
    users_thresholds(w->cli->config, users, slice_str(name), t);
    users_free(&users);
    for (unsigned a = ACTION_HEADER; a < ACTION_COUNT; a++) {
        if (object != NULL) {
            (void)json_object_set_new(object, action_name((enum action)a),
                                      isfinite(t[a]) ? json_real(t[a]) : json_null());
        } else if (isfinite(t[a])) {
            (void)printf("thresholds.%s %g\n", action_name((enum action)a), t[a]);
        }
    }
    return object == NULL || status != 0
               ? status
               : json_status(
                     json_pack("{s:s, s:o}", "name", name, "thresholds", object));
}

/* Says if the file was changed by hand and not compiled. */
static void warn_if_stale(const struct user_work *w)
{
    bool is_compiled = true;
    enum err e =
        users_file_is_compiled(w->cli->config, buf_slice(&w->text), &is_compiled, NULL);

    if ((e == ERR_NOT_FOUND && w->text.n > 0) || (e == ERR_OK && !is_compiled)) {
        cli_say("%s is newer than the settings in force; run `gillnet user compile`",
                w->path);
    }
}

static int show(struct cli *cli, int argc, char **argv)
{
    struct user_work w;
    char name[USER_NAME_MAX + 1];
    char base[USER_NAME_MAX + 1]; /* whose settings hold where the name has none */
    int status = cli_arguments(
        CLI_WORDS("user", 1, 1, "show: give one USER@DOMAIN or @DOMAIN"), &argc, argv);

    if (status != 0) {
        return status;
    }
    const char *wrong = user_name_tidy(slice_str(argv[1]), name);
    if (wrong != NULL) {
        return cli_error(EX_DATAERR, "%s: %s", argv[1], wrong);
    }
    memcpy(base, name, sizeof(base));
    const char *own = user_name_drop_extension(base) ? name : NULL;
    const char *const names[] = {strrchr(name, '@'), base, own, NULL};
    status = begin(cli, false, &w);
    THEN(status, print_settings(&w, names));
    if (status == 0 && w.nprinted == 0 && !cli->json) {
        (void)printf("%s has the settings of the site\n", name);
    }
    THEN(status, print_thresholds(&w, name));
    if (status == 0) {
        warn_if_stale(&w);
    }
    return end(&w, status);
}

int cmd_user(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner table[] = {
        {"set", set}, {"show", show}, {"list", list}, {"compile", compile}};

    return cli_subcommand(cli, "user", table, LENGTH(table), argc, argv);
}
