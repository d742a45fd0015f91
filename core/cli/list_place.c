/* list_place - `gillnet list`, `list delete` and `list rename`: the set of lists. */
#include <sysexits.h>

#include "core/cli/change_note.h"
#include "core/cli/list_commands.h"
#include "core/cli/open_lists.h"
#include "core/cli/print.h"
#include "core/list/place.h"

enum { ANSWER_MAX = 16 };

/* ---- overview ---- */

static bool overview_json(const struct list_reader *r, const struct config_list *c)
{
    struct list_stat s;
    char updated[TEXT_TIME_MAX];

    list_reader_stat(r, &s);
    return json_line(json_pack("{s:s, s:I, s:I, s:s, s:s, s:b}", "list",
                               list_reader_name(r), "entries", (json_int_t)s.entries,
                               "revoked", (json_int_t)s.revoked, "updated",
                               text_time(s.updated_s, updated), "category", c->category,
                               "enabled", c->enabled ? 1 : 0));
}

static void overview_text(const struct list_reader *r, const struct config_list *c)
{
    struct list_stat s;
    char updated[TEXT_TIME_MAX];
    list_reader_stat(r, &s);
    printf("%-*s %10" PRIu64 " entries, %" PRIu64 " revoked, changed %s%s\n",
           (int)LIST_NAME_MAX / 2, list_reader_name(r), s.entries, s.revoked,
           text_time(s.updated_s, updated), c->enabled ? "" : ", not enabled");
}

static bool is_open(const struct state_lists *lists, const char *name)
{
    for (size_t i = 0; i < lists->n; i++) {
        if (strcmp(list_reader_name(lists->v[i]), name) == 0) {
            return true;
        }
    }
    return false;
}

/* Prints the lists of the configuration that are not filled yet. */
static void overview_unmade(const struct config *c, const struct state_lists *lists)
{
    for (size_t i = 0; i < c->nlists; i++) {
        if (!is_open(lists, c->lists[i].name) &&
            !list_is_there(c->state_dir, slice_str(c->lists[i].name))) {
            printf("%-*s in the configuration, nothing in it yet\n",
                   (int)LIST_NAME_MAX / 2, c->lists[i].name);
        }
    }
}

int list_cmd_overview(struct cli *cli)
{
    char *all[] = {NULL};
    struct state_lists lists;
    int status = state_open_lists(cli, all, &lists);

    THEN(status, state_open_peers(cli, &lists));
    for (size_t i = 0; status == 0 && i < lists.nown; i++) {
        const struct config_list *c =
            config_list_find(cli->config, slice_str(list_reader_name(lists.v[i])));
        if (!cli->json) {
            overview_text(lists.v[i], c);
        } else if (!overview_json(lists.v[i], c)) {
            status = EX_OSERR;
        }
    }
    if (status == 0 && !cli->json) {
        overview_unmade(cli->config, &lists);
        if (lists.nlists == 0) {
            (void)puts("no lists yet; make one with `gillnet list import`");
        } else if (lists.nlists > 0 && lists.nown == 0 && lists.n > 0) {
            printf("none of our own; `gillnet list stat` shows %zu of others\n",
                   lists.n);
        }
    }
    THEN(status, lists.status);
    state_close_lists(&lists);
    return status;
}

/* ---- delete and rename ---- */

/* The feed that fills the list, or NULL. */
static const char *feed_of(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->nfeeds; i++) {
        if (c->feeds[i].enabled && strcmp(c->feeds[i].list, name) == 0) {
            return c->feeds[i].name;
        }
    }
    return NULL;
}

/* Reports a feed or a configuration that names the list. */
static void say_named(const struct config *c, const char *name)
{
    const char *feed = feed_of(c, name);
    if (feed != NULL) {
        cli_say("list %s: the feed %s fills this list: its next update makes it again; "
                "change the configuration",
                name, feed);
    } else if (config_list_is_named(c, slice_str(name))) {
        cli_say("list %s: the configuration still names it; change it there, too",
                name);
    }
}

/* Asks on a terminal; without one, only --force deletes. */
static bool is_sure(const char *name)
{
    char answer[ANSWER_MAX] = "";
    if (isatty(STDIN_FILENO) != 1) {
        cli_say("list %s: deleting needs --force without a terminal", name);
        return false;
    }
    (void)fprintf(stderr, "Delete the list %s and all that is in it? [y/N] ", name);
    return fgets(answer, sizeof(answer), stdin) != NULL &&
           (answer[0] == 'y' || answer[0] == 'Y');
}

int list_cmd_delete(struct cli *cli, int argc, char **argv)
{
    bool is_forced = false;
    const struct cli_option options[] = {{"--force", NULL, &is_forced, NULL}};
    struct list_lock_wait wait;
    struct errinfo info = {.code = ERR_OK};
    int status = cli_arguments(CLI_FORM("list", options, 1, 1, "delete: name a list"),
                               &argc, argv);

    THEN(status, list_cmd_check_name(argv[1]));
    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    const char *state_dir = cli->config->state_dir;
    if (!is_forced && list_is_there(state_dir, slice_str(argv[1])) &&
        !is_sure(argv[1])) {
        return EX_NOPERM;
    }
    list_cmd_wait(&wait);
    status =
        cli_status(list_delete(state_dir, slice_str(argv[1]), &wait, &info), &info);
    if (status == 0) {
        cli_note(cli, &(struct change){.kind = CHANGE_list_delete,
                                       .object = slice_str(argv[1])});
        printf("%s: deleted\n", argv[1]);
        say_named(cli->config, argv[1]);
    }
    return status;
}

int list_cmd_rename(struct cli *cli, int argc, char **argv)
{
    struct list_lock_wait wait;
    struct errinfo info = {.code = ERR_OK};
    int status = cli_arguments(
        CLI_WORDS("list", 2, 2, "rename: name a list and its new name"), &argc, argv);

    THEN(status, list_cmd_check_name(argv[1]));
    THEN(status, list_cmd_check_name(argv[2]));
    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    list_cmd_wait(&wait);
    if (list_rename(cli->config->state_dir, slice_str(argv[1]), slice_str(argv[2]),
                    &wait, &info) != ERR_OK) {
        return cli_fail(&info);
    }
    cli_note(cli, &(struct change){.kind = CHANGE_list_rename,
                                   .object = slice_str(argv[1]),
                                   .after = slice_str(argv[2])});
    printf("%s: is %s now\n", argv[1], argv[2]);
    say_named(cli->config, argv[1]);
    return 0;
}
