/* cmd_emergency - `gillnet emergency`: the mode, its escalated domains, and the end of one. */
#include <sysexits.h>

#include "core/cli/change_note.h"
#include "core/cli/cli.h"
#include "core/cli/print.h"
#include "core/cli/services.h"

enum { REQUEST_MAX = 512 };

static bool is_on(const struct daemon_view *d)
{
    return d->is_running && d->stats.value[STAT_emergency] != 0;
}

static json_t *mode_json(const struct daemon_view *d, json_t *rows)
{
    const struct stats_view *s = &d->stats;

    return json_pack("{s:b, s:I, s:I, s:I, s:I, s:o}", "active", (int)is_on(d),
                     "since_s", (json_int_t)s->value[STAT_emergency_since_time], "rate",
                     (json_int_t)s->value[STAT_emergency_rate], "level",
                     (json_int_t)s->value[STAT_emergency_level], "mean",
                     (json_int_t)s->value[STAT_emergency_mean], "escalated", rows);
}

static void print_mode(const struct daemon_view *d)
{
    const struct stats_view *s = &d->stats;
    char since[TEXT_TIME_MAX];

    if (is_on(d)) {
        (void)printf("emergency mode is on since %s",
                     text_time(s->value[STAT_emergency_since_time], since));
    } else {
        (void)printf("emergency mode is off");
    }
    (void)printf(": %" PRIu64 " URL checks a second; it begins above %" PRIu64
                 ", the mean of seven days is %" PRIu64 "\n",
                 s->value[STAT_emergency_rate], s->value[STAT_emergency_level],
                 s->value[STAT_emergency_mean]);
}

static void print_domain(const json_t *row)
{
    char from[TEXT_TIME_MAX];
    char until[TEXT_TIME_MAX];

    text_print(stdout, slice_str(json_text_of(row, "domain")), EVIDENCE_SHOWN);
    (void)printf(" until %s, since %s: %" PRIu64 " URLs of list %s (",
                 text_time(json_number_of(row, "until_s"), until),
                 text_time(json_number_of(row, "from_s"), from),
                 json_number_of(row, "urls"), json_text_of(row, "list"));
    text_print(stdout, slice_str(json_text_of(row, "category")), EVIDENCE_SHOWN);
    (void)printf(")\n");
}

static int show_mode(struct cli *cli)
{
    struct errinfo why = {.code = ERR_OK};
    struct daemon_view d;
    char first[CONTROL_FIRST_MAX];
    json_t *rows = NULL;
    enum err e =
        control_ask_rows(cli->config->control_socket, "escalated", first, &rows, &why);

    THEN(e, daemon_look(cli->config, &d, &why));
    if (e != ERR_OK) {
        json_decref(rows);
        return cli_fail(&why);
    }
    if (cli->json) {
        return json_status(mode_json(&d, rows));
    }
    print_mode(&d);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        print_domain(json_array_get(rows, i));
    }
    json_decref(rows);
    return CLI_CLEAN;
}

static int lift(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    char request[REQUEST_MAX];
    struct buf answer;
    int status = cli_arguments(CLI_WORDS("emergency", 1, 1, "lift: name one domain"),
                               &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    int n = snprintf(request, sizeof(request), "escalated drop %s", argv[1]);
    if (n >= (int)sizeof(request) || strpbrk(argv[1], " \t\r\n") != NULL) {
        return cli_error(EX_USAGE, "lift: this is no domain");
    }
    buf_init(&answer, CONTROL_ANSWER_MAX);
    status = cli_status(
        control_ask(cli->config->control_socket, request, &answer, &why), &why);
    struct slice text = buf_slice(&answer);
    if (status == 0 && !slice_has_prefix(text, SLICE_LIT("ok"))) {
        status = cli_error(EX_DATAERR,
                           "%s is not escalated; gillnet emergency shows "
                           "what is",
                           argv[1]);
    } else if (status == 0) {
        cli_note(cli, &(struct change){.kind = CHANGE_emergency_lift,
                                       .object = slice_str(argv[1])});
    }
    buf_fini(&answer);
    return status;
}

int cmd_emergency(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner table[] = {{"lift", lift}};

    if (argc > 1) {
        return cli_subcommand(cli, "emergency", table, LENGTH(table), argc, argv);
    }
    int status = cli_config(cli);
    return status == 0 ? show_mode(cli) : status;
}
