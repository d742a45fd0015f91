/* cmd_quarantine - `gillnet quarantine`: held mail is listed, shown, released and deleted. */
#include <sysexits.h>

#include "core/base/case_id.h"
#include "core/cli/change_note.h"
#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/cli/quarantine_commands.h"
#include "core/cli/report_message.h"

enum { DECODE_MAX = 64 * 1024, LINE_SHOWN = 1 << 16, RCPTS_SHOWN = 3 };

static const char why_id[] = "name queue ids; gillnet quarantine list shows them";

/* ---- list ---- */

struct held_filter {
    bool all; /* also those that gillnet did not hold */
    const char *rcpt;
};

static bool passes(const struct held_filter *f, const json_t *row)
{
    return (f->all || held_is_gillnets(row)) &&
           (f->rcpt == NULL || held_has_recipient(row, f->rcpt));
}

static void print_decoded(const char *value)
{
    struct buf shown;

    buf_init(&shown, DECODE_MAX);
    held_add_decoded(&shown, value);
    (void)printf("%s", shown.p != NULL ? shown.p : "");
    buf_fini(&shown);
}

static void print_recipients(const json_t *row)
{
    const json_t *rcpts = json_object_get(row, "recipients");
    const uint64_t n = held_number(row, "nrcpt");

    for (size_t i = 0; i < json_array_size(rcpts) && i < RCPTS_SHOWN; i++) {
        (void)printf("%s", i == 0 ? "" : ", ");
        text_print(stdout, slice_str(json_string_value(json_array_get(rcpts, i))),
                   EVIDENCE_SHOWN);
    }
    if (n > RCPTS_SHOWN) {
        (void)printf(" and %" PRIu64 " more", n - RCPTS_SHOWN);
    }
}

static void print_row(const struct cli *cli, const json_t *row)
{
    char when[TEXT_TIME_MAX];
    char bytes[HUMANIZE_MAX];
    const char *case_id = held_text(row, "case");
    const char *reason = held_text(row, "symbols");

    reason = *reason != '\0' ? reason : held_text(row, "reason");
    (void)printf("%s %-14s ", text_time(held_number(row, "time_s"), when),
                 held_text(row, "id"));
    text_print(stdout, slice_str(*case_id != '\0' ? case_id : "-"), CASE_ID_SIZE);
    (void)printf(" %5.1f %s <", json_number_value(json_object_get(row, "score")),
                 humanize_bytes((double)held_number(row, "bytes"), bytes));
    text_print(stdout, slice_str(held_text(row, "sender")), EVIDENCE_SHOWN);
    (void)printf("> to ");
    print_recipients(row);
    if (cli->config->journal.subjects) {
        (void)printf("\n    subject ");
        print_decoded(held_text(row, "subject"));
    }
    if (*reason != '\0') {
        (void)printf("\n    ");
        text_print(stdout, slice_str(reason), EVIDENCE_SHOWN);
    }
    (void)putchar('\n');
}

static int print_held(struct cli *cli, const json_t *rows, const struct held_filter *f)
{
    int status = CLI_CLEAN;

    for (size_t i = 0; i < json_array_size(rows) && status == CLI_CLEAN; i++) {
        json_t *row = json_array_get(rows, i);

        if (!passes(f, row)) {
            continue;
        }
        if (!cli->json) {
            print_row(cli, row);
            continue;
        }
        if (!cli->config->journal.subjects) {
            (void)json_object_del(row, "subject");
        }
        status = json_status(json_incref(row));
    }
    return status;
}

static int list_held(struct cli *cli, int argc, char **argv)
{
    struct held_filter f = {.rcpt = NULL};
    const struct cli_option table[] = {{"--all", NULL, &f.all, NULL},
                                       {"--rcpt", &f.rcpt, NULL, NULL}};
    json_t *rows = NULL;
    int status = cli_arguments(
        CLI_FORM("quarantine", table, 0, 0, "list takes --all and --rcpt ADDRESS"),
        &argc, argv);

    THEN(status, cli_config(cli));
    THEN(status, quarantine_rows(cli, &rows));
    THEN(status, print_held(cli, rows, &f));
    json_decref(rows);
    return status;
}

/* ---- one message ---- */

/* "WORD ID"; the bytes behind the first line of the answer. */
static int ask_about(struct cli *cli, const char *word, const char *id, struct buf *ret,
                     struct slice *retbytes)
{
    char request[QUARANTINE_LINE_MAX];

    if (!quarantine_is_id(slice_str(id))) {
        return cli_usage("quarantine", why_id);
    }
    (void)snprintf(request, sizeof(request), "%s %s", word, id);
    int status = quarantine_ask(cli, request, ret);
    *retbytes = buf_slice(ret);
    (void)slice_cut(retbytes, '\n');
    return status;
}

/* A terminal gets codes instead of what it might obey. */
static void print_message(struct slice bytes)
{
    if (isatty(STDOUT_FILENO) == 0) {
        (void)fwrite(bytes.p, 1, bytes.n, stdout);
        return;
    }
    while (bytes.n > 0) {
        text_print(stdout, slice_cut(&bytes, '\n'), LINE_SHOWN);
        (void)putchar('\n');
    }
}

static int show_held(struct cli *cli, int argc, char **argv)
{
    struct slice bytes = SLICE_NONE;
    struct buf answer;
    int status = cli_arguments(CLI_WORDS("quarantine", 1, 1, "show: name one queue id"),
                               &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    buf_init(&answer, QUARANTINE_MESSAGE_BYTES);
    status = ask_about(cli, "show", argv[1], &answer, &bytes);
    if (status == 0) {
        print_message(bytes);
    }
    buf_fini(&answer);
    return status;
}

/* False, after a message: it is not reported. */
static bool report_ham(struct cli *cli, const char *id, struct slice message)
{
    const struct report_request ham = {.way = "quarantine", .ids = {{id}, 1}};
    json_t *answer = NULL;
    const bool is_kept = cli_report_message(cli, &ham, message, &answer) == 0;

    if (!is_kept) {
        cli_say("%s: not reported as ham, and released all the same", id);
    }
    json_decref(answer);
    return is_kept;
}

/* The report needs the message, so it comes first. The message is released also without one. */
static int release_one(struct cli *cli, const char *id)
{
    struct slice bytes = SLICE_NONE;
    struct buf answer;

    buf_init(&answer, QUARANTINE_MESSAGE_BYTES);
    int status = ask_about(cli, "show", id, &answer, &bytes);
    if (status != 0) {
        buf_fini(&answer);
        return status;
    }
    const bool is_reported = report_ham(cli, id, bytes);
    buf_clear(&answer);
    status = ask_about(cli, "release", id, &answer, &bytes);
    buf_fini(&answer);
    if (status != 0) {
        return status;
    }
    cli_note(cli, &(struct change){.kind = CHANGE_held_release,
                                   .object = slice_str(id),
                                   .after = slice_str(is_reported
                                                          ? "released, reported as ham"
                                                          : "released")});
    if (cli->json) {
        return json_status(json_pack("{s:s, s:s, s:b}", "id", id, "state", "released",
                                     "reported", (int)is_reported));
    }
    (void)printf("%s released%s\n", id, is_reported ? ", and reported as ham" : "");
    return CLI_CLEAN;
}

static int delete_one(struct cli *cli, const char *id)
{
    struct slice bytes = SLICE_NONE;
    struct buf answer;

    buf_init(&answer, (size_t)QUARANTINE_LINE_MAX * 16);
    int status = ask_about(cli, "delete", id, &answer, &bytes);
    buf_fini(&answer);
    if (status == 0) {
        cli_note(cli,
                 &(struct change){.kind = CHANGE_held_delete, .object = slice_str(id)});
    }
    if (status == 0 && cli->json) {
        status = json_status(json_pack("{s:s, s:s}", "id", id, "state", "deleted"));
    } else if (status == 0) {
        (void)printf("%s deleted\n", id);
    }
    return status;
}

static int change_each(struct cli *cli, int argc, char **argv,
                       int (*change)(struct cli *cli, const char *id))
{
    int status =
        cli_arguments(CLI_WORDS("quarantine", 1, CLI_MANY, why_id), &argc, argv);

    THEN(status, cli_config(cli));
    for (int i = 1; i < argc && status < EX__BASE; i++) {
        const int one = change(cli, argv[i]);
        status = one > status ? one : status;
    }
    return status;
}

static int release_held(struct cli *cli, int argc, char **argv)
{
    return change_each(cli, argc, argv, release_one);
}

static int delete_held(struct cli *cli, int argc, char **argv)
{
    return change_each(cli, argc, argv, delete_one);
}

int cmd_quarantine(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner commands[] = {{"list", list_held},
                                                 {"show", show_held},
                                                 {"release", release_held},
                                                 {"delete", delete_held},
                                                 {"digest", quarantine_digest}};

    return cli_subcommand(cli, "quarantine", commands, LENGTH(commands), argc, argv);
}
