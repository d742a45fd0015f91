/* cmd_errors - `gillnet errors`: the newest warnings and errors of gillnetd and the hub. */
#include "core/cli/cli.h"
#include "core/cli/print.h"
#include "core/cli/services.h"

static void print_line_row(const char *program, const json_t *row)
{
    const uint64_t times = json_number_of(row, "times");
    char time[TEXT_TIME_MAX];

    (void)printf("%s %s %s: ", text_time(json_number_of(row, "time_s"), time), program,
                 json_text_of(row, "level"));
    text_print(stdout, slice_str(json_text_of(row, "text")), EVIDENCE_SHOWN);
    if (times > 1) {
        (void)printf(" (%" PRIu64 " times)", times);
    }
    (void)printf("\n");
}

static int print_lines_of(struct cli *cli, const char *program, json_t *rows)
{
    int status = CLI_CLEAN;

    for (size_t i = json_array_size(rows); i > 0 && status == CLI_CLEAN; i--) {
        json_t *row = json_array_get(rows, i - 1);
        if (cli->json) {
            (void)json_object_set_new(row, "program", json_string(program));
            status = json_status(json_incref(row));
        } else {
            print_line_row(program, row);
        }
    }
    return status;
}

/* A program that does not run has no lines, and says so on standard error. */
static int show_program(struct cli *cli, const char *program, const char *socket)
{
    struct errinfo why = {.code = ERR_OK};
    char first[CONTROL_FIRST_MAX];
    json_t *rows = NULL;

    if (control_ask_rows(socket, "errors", first, &rows, &why) != ERR_OK) {
        json_decref(rows);
        return cli_fail(&why);
    }
    int status = print_lines_of(cli, program, rows);
    json_decref(rows);
    return status;
}

int cmd_errors(struct cli *cli, int argc, char **argv)
{
    int status =
        cli_arguments(CLI_WORDS("errors", 0, 0, "takes no arguments"), &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    const int daemon = show_program(cli, "gillnetd", cli->config->control_socket);
    const int hub = show_program(cli, "gillnet-hub", cli->config->hub.control_socket);
    return daemon != CLI_CLEAN ? daemon : hub;
}
