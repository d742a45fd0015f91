/* cmd_reload - `gillnet reload`: asks gillnetd over its control socket and prints the answer. */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "core/base/buf.h"
#include "core/cli/cli.h"
#include "core/cli/control.h"
#include "core/cli/json.h"

static int print_answer(const struct cli *cli, struct slice answer)
{
    struct slice first = slice_cut(&answer, '\n');
    bool ok =
        slice_has_prefix(first, SLICE_LIT("ok")) && (first.n == 2 || first.p[2] == ' ');
    int status = ok ? CLI_CLEAN : EX_CONFIG;

    if (cli->json) {
        json_t *details = json_array();

        while (answer.n > 0) {
            json_array_append_new(details, json_text(slice_cut(&answer, '\n')));
        }
        return json_line(json_pack("{s:b, s:o, s:o}", "ok", ok ? 1 : 0, "result",
                                   json_text(first), "details", details))
                   ? status
                   : EX_OSERR;
    }
    (void)fprintf(ok ? stdout : stderr, "%.*s\n", SLICE_ARGS(first));
    while (answer.n > 0) {
        struct slice line = slice_cut(&answer, '\n');

        (void)fprintf(ok ? stdout : stderr, "%.*s\n", SLICE_ARGS(line));
    }
    return status;
}

int cmd_reload(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {0};
    struct buf answer;
    int status = 0;

    (void)argv;
    if (argc != 1) {
        return cli_usage(cli_command("reload"), "it takes no arguments");
    }
    status = cli_config(cli);
    if (status != 0) {
        return status;
    }
    buf_init(&answer, CONTROL_ANSWER_MAX);
    if (control_ask(cli->config->control_socket, "reload", &answer, &why) != ERR_OK) {
        status = cli_fail(&why);
    } else {
        status = print_answer(cli, buf_slice(&answer));
    }
    buf_fini(&answer);
    return status;
}
