/* cmd_report - `gillnet report`: reports of messages as spam or ham, their list, and undo. */
#include <sysexits.h>

#include "core/base/case_id.h"
#include "core/base/clock.h"
#include "core/cli/messages.h"
#include "core/cli/print.h"
#include "core/cli/report_message.h"
#include "core/config/unit.h"
#include "core/report/report_json.h"

enum { US_PER_S = 1000000, LIST_MOST = 10000 };

struct saying {
    struct cli *cli;
    struct reporting to;
    struct report_request request;
    bool is_first; /* ids belong to the first message alone */
};

/* ---- printing ---- */

static void print_change(const json_t *row)
{
    const char *status = json_text_of(row, "status");

    if (strcmp(status, "voted") == 0) {
        printf("  votes on %" PRIu64 " items\n", json_number_of(row, "items"));
    } else if (strcmp(status, "taught") == 0) {
        printf("  teaches the model\n");
    } else if (strcmp(status, "replaced") == 0) {
        printf("  replaces report %s\n", json_text_of(row, "report"));
    } else if (strcmp(status, "overruled") == 0) {
        printf("  overrules %" PRIu64 " reports\n", json_number_of(row, "reports"));
    } else {
        printf("  %s on list %s: ", status, json_text_of(row, "list"));
        text_print(stdout, slice_str(json_text_of(row, "value")), EVIDENCE_SHOWN);
        (void)putchar('\n');
    }
}

static void print_changes(const json_t *answer)
{
    const json_t *rows = json_object_get(answer, "changed");

    for (size_t i = 0; i < json_array_size(rows); i++) {
        print_change(json_array_get(rows, i));
    }
}

static int print_answer(const struct cli *cli, struct slice file, json_t *answer)
{
    const char *detail = json_text_of(answer, "detail");

    if (cli->json) {
        if (file.n > 0) {
            (void)json_object_set_new(answer, "file", json_text(file));
        }
        return json_status(json_incref(answer));
    }
    if (file.n > 0) {
        text_print(stdout, file, FILENAME_MAX);
        printf(": ");
    }
    printf("report %s, %s, by ", json_text_of(answer, "id"),
           json_text_of(answer, "kind"));
    text_print(stdout, slice_str(json_text_of(answer, "reporter")), EVIDENCE_SHOWN);
    printf("; such messages now stand as %s\n", json_text_of(answer, "standing"));
    print_changes(answer);
    if (*detail != '\0') {
        printf("  %s\n", detail);
    }
    return CLI_CLEAN;
}

/* ---- spam, ham ---- */

static int say_message(void *context, struct slice file, struct slice bytes)
{
    struct saying *s = context;
    json_t *answer = NULL;

    if (bytes.n == 0) {
        return cli_error(EX_DATAERR, "%.*s is empty", SLICE_ARGS(file));
    }
    if (!s->is_first) {
        s->request.ids.n = 0;
    }
    s->is_first = false;
    int status = reporting_say(&s->to, &s->request, bytes, &answer);

    if (answer != NULL) {
        int printed = print_answer(s->cli, file, answer);
        status = status != 0 ? status : printed;
    }
    json_decref(answer);
    return status;
}

/* Every id is a report of its own, without a message. */
static int say_ids(struct saying *s)
{
    const struct cli_values ids = s->request.ids;
    int worst = 0;

    for (size_t i = 0; i < ids.n; i++) {
        json_t *answer = NULL;
        s->request.ids.n = 1;
        s->request.ids.v[0] = ids.v[i];
        int status = reporting_say(&s->to, &s->request, SLICE_NONE, &answer);
        if (answer != NULL) {
            int printed = print_answer(s->cli, slice_str(ids.v[i]), answer);
            status = status != 0 ? status : printed;
        }
        worst = status > worst ? status : worst;
        json_decref(answer);
    }
    return worst;
}

static int say_all(struct cli *cli, bool is_spam, int argc, char **argv)
{
    struct saying s = {.cli = cli, .request = {.is_spam = is_spam}, .is_first = true};
    const char *way = "command";
    const struct cli_option table[] = {
        {"--id", NULL, NULL, &s.request.ids},
        {"--reporter", &s.request.reporter, NULL, NULL},
        {"--way", &way, NULL, NULL},
    };
    int status = cli_arguments(
        CLI_FORM("report", table, 0, CLI_MANY, "name messages, or ids"), &argc, argv);

    if (status == 0 && argc == 1 && s.request.ids.n == 0) {
        return cli_usage("report", "name a file, a folder, - for standard input, or "
                                   "--id ID");
    }
    s.request.way = way;
    THEN(status, reporting_begin(cli, &s.to));
    if (status == 0) {
        status =
            argc == 1 ? say_ids(&s) : messages_each_raw(cli, argv + 1, say_message, &s);
    }
    reporting_end(&s.to);
    return status;
}

static int say_spam(struct cli *cli, int argc, char **argv)
{
    return say_all(cli, true, argc, argv);
}

static int say_ham(struct cli *cli, int argc, char **argv)
{
    return say_all(cli, false, argc, argv);
}

/* ---- undo ---- */

static int undo_one(struct cli *cli, struct reporting *to, const char *id,
                    const char *reporter)
{
    json_t *answer = NULL;
    int status = reporting_undo(to, id, reporter, &answer);

    if (status == 0 && cli->json) {
        status = json_status(json_incref(answer));
    } else if (status == 0) {
        printf("report %s is undone\n", id);
        print_changes(answer);
    }
    json_decref(answer);
    return status;
}

static int undo(struct cli *cli, int argc, char **argv)
{
    const char *reporter = NULL;
    const struct cli_option table[] = {{"--reporter", &reporter, NULL, NULL}};
    struct reporting to = {.own = NULL};
    int status = cli_arguments(
        CLI_FORM("report", table, 1, CLI_MANY, "name ids of reports"), &argc, argv);

    THEN(status, reporting_begin(cli, &to));
    for (int i = 1; status == 0 && i < argc; i++) {
        status = undo_one(cli, &to, argv[i], reporter);
    }
    reporting_end(&to);
    return status;
}

/* ---- list, show ---- */

/* Without keys the trust of reporters is not known. */
static void add_trust(struct cli *cli, json_t *rows)
{
    const struct reports_options options = {
        .state_dir = cli->config->state_dir, .keys = &cli->keys, .config = cli->config};
    struct errinfo why = {.code = ERR_OK};
    struct votes *votes = NULL;

    if (json_array_size(rows) > 0 && cli_keys(cli, false) == 0 &&
        reports_view(&options, &votes, &why) != ERR_OK) {
        (void)cli_fail(&why);
    }
    report_trust_json(rows, votes, clock_wall_us() / US_PER_S);
    votes_free(&votes);
}

static void print_row(const json_t *row)
{
    char when[TEXT_TIME_MAX];

    printf("%s %s %-4s ", text_time(json_number_of(row, "time"), when),
           json_text_of(row, "id"), json_text_of(row, "kind"));
    text_print(stdout, slice_str(json_text_of(row, "reporter")), EVIDENCE_SHOWN);
    printf(" by %s", json_text_of(row, "way"));
    if (*json_text_of(row, "case") != '\0') {
        printf(" case %s", json_text_of(row, "case"));
    }
    if (json_is_number(json_object_get(row, "trust"))) {
        printf(", trust %.2f", json_number_value(json_object_get(row, "trust")));
    }
    printf(", %" PRIu64 " items%s\n", json_number_of(row, "items"),
           json_is_true(json_object_get(row, "undone")) ? ", undone" : "");
}

static int print_rows(const struct cli *cli, const json_t *rows, bool with_changes)
{
    int status = CLI_CLEAN;

    for (size_t i = 0; status == CLI_CLEAN && i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        if (cli->json) {
            status = json_status(json_incref(row));
            continue;
        }
        print_row(row);
        if (with_changes) {
            print_changes(row);
        }
    }
    return status;
}

static int list_all(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    const char *since = NULL;
    uint64_t us = 0;
    const struct cli_option table[] = {{"--since", &since, NULL, NULL}};
    json_t *rows = NULL;
    int status = cli_arguments(
        CLI_FORM("report", table, 0, 0, "list takes options only"), &argc, argv);

    THEN(status, cli_config(cli));
    if (status == 0 && since != NULL && !unit_time_us(since, &us)) {
        return cli_usage("report", "--since: a time such as 12h or 7d");
    }
    if (status == 0) {
        uint64_t now = clock_wall_us();
        uint64_t from_s = since == NULL || us > now ? 0 : (now - us) / US_PER_S;
        const struct report_wanted wanted = {
            .state_dir = cli->config->state_dir, .since_s = from_s, .most = LIST_MOST};
        status = cli_status(report_list_json(&wanted, &rows, &why), &why);
    }
    if (status == 0) {
        add_trust(cli, rows);
        status = print_rows(cli, rows, false);
    }
    json_decref(rows);
    return status;
}

static int show_report(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    uint64_t id = 0;
    json_t *rows = NULL;
    int status = cli_arguments(CLI_WORDS("report", 1, 1, "name the id of a report"),
                               &argc, argv);

    THEN(status, cli_config(cli));
    if (status == 0 && !case_id_read(slice_str(argv[1]), &id)) {
        return cli_usage("report", "this is no id of a report");
    }
    if (status == 0) {
        const struct report_wanted wanted = {
            .state_dir = cli->config->state_dir, .id = id, .most = 1};
        status = cli_status(report_list_json(&wanted, &rows, &why), &why);
    }
    if (status == 0 && json_array_size(rows) == 0) {
        status = cli_error(EX_NOINPUT, "the log has no report %s", argv[1]);
    }
    if (status == 0) {
        add_trust(cli, rows);
        status = print_rows(cli, rows, true);
    }
    json_decref(rows);
    return status;
}

int cmd_report(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner commands[] = {{"spam", say_spam},
                                                 {"ham", say_ham},
                                                 {"undo", undo},
                                                 {"list", list_all},
                                                 {"show", show_report}};

    return cli_subcommand(cli, "report", commands, LENGTH(commands), argc, argv);
}
