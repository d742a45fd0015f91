/* cmd_changes - `gillnet changes`: the log, and undo, which does what the opposite command does. */
#include <sysexits.h>

#include "core/cli/change_note.h"
#include "core/cli/print.h"
#include "core/telemetry/changes_read.h"
#include "core/verdict/user/user_change.h"

enum {
    DEFAULT_N = 50,
    N_MAX = 1000000,
    DECIMAL = 10,
    VALUES_SHOWN = 3,
    WORDS = 6,
    WORDS_MAX = WORDS + CHANGES_VALUES_MAX
};

/* ---- rows ---- */

static void print_member(const char *before, const json_t *row, const char *name)
{
    const char *text = json_text_of(row, name);

    if (*text != '\0') {
        (void)fputs(before, stdout);
        text_print(stdout, slice_str(text), EVIDENCE_SHOWN);
    }
}

static void print_values(const json_t *row)
{
    const json_t *values = json_object_get(row, "values");
    const uint64_t count = json_number_of(row, "count");
    size_t i = 0;

    for (; i < json_array_size(values) && i < VALUES_SHOWN; i++) {
        (void)fputs(i == 0 ? ": " : ", ", stdout);
        text_print(stdout, slice_str(json_string_value(json_array_get(values, i))),
                   EVIDENCE_SHOWN);
    }
    if (count > i) {
        (void)printf("%s%" PRIu64 "%s", i == 0 ? ": " : " and ", count - i,
                     i == 0 ? "" : " more");
    }
}

static void print_change_row(const json_t *row)
{
    char when[TEXT_TIME_MAX];

    printf("%s %s ", text_time(json_number_of(row, "time"), when),
           json_text_of(row, "id"));
    text_print(stdout, slice_str(json_text_of(row, "who")), EVIDENCE_SHOWN);
    print_member(" by ", row, "way");
    printf(" %s", json_text_of(row, "kind"));
    print_member(" ", row, "object");
    print_values(row);
    print_member("\n    before  ", row, "before");
    print_member("\n    after   ", row, "after");
    print_member("\n    reason  ", row, "reason");
    print_member("\n    result  ", row, "result");
    print_member("\n    undoes  ", row, "undoes");
    printf("%s\n",
           strcmp(json_text_of(row, "undo"), "done") == 0 ? "\n    was undone" : "");
}

static int print_change_rows(const struct cli *cli, const json_t *rows)
{
    int status = CLI_CLEAN;

    for (size_t i = 0; status == CLI_CLEAN && i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);

        if (cli->json) {
            status = json_status(json_incref(row));
        } else {
            print_change_row(row);
        }
    }
    return status;
}

static int show_changes(struct cli *cli, const char *words, uint64_t left)
{
    struct errinfo why = {.code = ERR_OK};
    struct changes_query q = {.state_dir = cli->config->state_dir,
                              .words = slice_str(words)};
    int status = CLI_CLEAN;

    do {
        json_t *rows = NULL;

        q.limit = left < CHANGES_ROWS_MAX ? left : CHANGES_ROWS_MAX;
        status = cli_status(changes_read(&q, &rows, &q.before, &why), &why);
        THEN(status, print_change_rows(cli, rows));
        left -= json_array_size(rows);
        json_decref(rows);
    } while (status == CLI_CLEAN && left > 0 && q.before != 0);
    return status;
}

static int list_changes(struct cli *cli, int argc, char **argv)
{
    const char *most = NULL;
    const struct cli_option table[] = {{"-n", &most, NULL, NULL}};
    char words[CHANGES_WORDS_MAX + 1] = "";
    uint64_t n = DEFAULT_N;
    int status = cli_arguments(
        CLI_FORM("changes", table, 0, CLI_MANY, "words to look for"), &argc, argv);

    if (status == 0 && most != NULL &&
        (!slice_to_u64(slice_str(most), DECIMAL, N_MAX, &n) || n == 0)) {
        return cli_usage("changes", "-n: a number of changes");
    }
    for (int i = 1; i < argc; i++) {
        const size_t used = strlen(words);

        if (used + strlen(argv[i]) + 1 >= sizeof(words)) {
            return cli_usage("changes", "the words are too long");
        }
        (void)snprintf(words + used, sizeof(words) - used, " %s", argv[i]);
    }
    THEN(status, cli_config(cli));
    return status == 0 ? show_changes(cli, words, n) : status;
}

/* ---- undo ---- */

/* The words of a command, which it may change. */
struct command_line {
    char *v[WORDS_MAX + 1];
    int n;
    char *room; /* of all of them */
    size_t used;
};

static void add_argument(struct command_line *c, struct slice word)
{
    char *at = c->room + c->used;

    memcpy(at, word.n > 0 ? word.p : "", word.n);
    at[word.n] = '\0';
    c->used += word.n + 1;
    c->v[c->n++] = at;
    c->v[c->n] = NULL;
}

static void add_str(struct command_line *c, const char *word)
{
    add_argument(c, slice_str(word));
}

static void add_values(struct command_line *c, const json_t *row)
{
    const json_t *values = json_object_get(row, "values");

    for (size_t i = 0; i < json_array_size(values); i++) {
        add_str(c, json_string_value(json_array_get(values, i)));
    }
}

static int change_list(struct cli *cli, struct command_line *c, const char *word,
                       const json_t *row)
{
    add_str(c, "list");
    add_str(c, word);
    add_str(c, "--");
    add_str(c, json_text_of(row, "object"));
    add_values(c, row);
    return cmd_list(cli, c->n, c->v);
}

/* Settings that somebody changed since are an error of the command. */
static int set_user(struct cli *cli, const json_t *row)
{
    char name[USER_NAME_MAX + 1];
    struct slice before = slice_str(json_text_of(row, "before"));
    struct slice words[CHANGES_STATE_MAX / 2 + 1];
    struct user_change u = {.name = name,
                            .does_clear = true,
                            .was = slice_str(json_text_of(row, "after")),
                            .words = words};

    if (user_name_tidy(slice_str(json_text_of(row, "object")), name) != NULL) {
        return cli_error(EX_DATAERR, "this is no change of a user");
    }
    while (before.n > 0 && u.nwords < LENGTH(words)) {
        words[u.nwords++] = slice_cut(&before, ' ');
    }
    return cli_set_user(cli, &u);
}

/* After "version 7". Another one in force is an error of the command. */
static int undo_tuning(struct cli *cli, struct command_line *c, const json_t *row)
{
    struct slice version = slice_str(json_text_of(row, "after"));

    (void)slice_cut(&version, ' ');
    add_str(c, "tune");
    add_str(c, "undo");
    add_str(c, "--if-version");
    add_argument(c, version);
    return cmd_tune(cli, c->n, c->v);
}

static int run_undo(struct cli *cli, struct command_line *c, const json_t *row)
{
    const char *why = NULL;

    switch (changes_undo_of(row, &why)) {
    case CHANGE_STAYS:
        break;
    case CHANGE_LIST_ADD:
        return change_list(cli, c, "add", row);
    case CHANGE_LIST_REVOKE:
        return change_list(cli, c, "revoke", row);
    case CHANGE_FEED_UPDATE:
        add_str(c, "feed");
        add_str(c, "update");
        add_str(c, "--");
        add_str(c, json_text_of(row, "object"));
        return cmd_feed(cli, c->n, c->v);
    case CHANGE_REPORT_UNDO:
        add_str(c, "report");
        add_str(c, "undo");
        add_str(c, "--");
        add_values(c, row);
        return cmd_report(cli, c->n, c->v);
    case CHANGE_USER_SET:
        return set_user(cli, row);
    case CHANGE_TUNING_UNDO:
        return undo_tuning(cli, c, row);
    }
    return cli_error(EX_DATAERR, "the change cannot be undone: %s", why);
}

static int undo_change(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    struct command_line *c = NULL;
    json_t *row = NULL;
    int status = cli_arguments(
        CLI_WORDS("changes", 1, 1, "undo: name one change by its id"), &argc, argv);

    THEN(status, cli_config(cli));
    THEN(status, cli_status(changes_find(cli->config->state_dir, slice_str(argv[1]),
                                         &row, &why),
                            &why));
    c = calloc(1, sizeof(*c));
    if (c != NULL) {
        c->room = malloc(CHANGES_LINE_MAX);
    }
    if (status == 0) {
        cli->undoes = argv[1];
        status = c != NULL && c->room != NULL ? run_undo(cli, c, row) : cli_nomem();
    }
    if (c != NULL) {
        free(c->room);
    }
    free(c);
    json_decref(row);
    return status;
}

int cmd_changes(struct cli *cli, int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "undo") == 0
               ? undo_change(cli, argc - 1, argv + 1)
               : list_changes(cli, argc, argv);
}
