/* cmd_config - `gillnet config check|dump`. */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "core/base/buf.h"
#include "core/cli/cli.h"
#include "core/cli/json.h"
#include "core/config/advice.h"

enum { DUMP_MAX = 64 << 20 };

/* To standard error: the configuration is good all the same. */
static void print_advice(const struct config *c)
{
    struct config_advice a;

    for (size_t i = 0; config_advice(c, i, &a); i++) {
        (void)fprintf(stderr, "gillnet: warning: %s%s%s%s; %s\n",
                      a.list == NULL ? "" : "list ", a.list == NULL ? "" : a.list,
                      a.list == NULL ? "" : ": ", a.what, a.todo);
    }
}

static int check(struct cli *cli)
{
    const struct config *c = cli->config;

    print_advice(c);
    if (cli->json) {
        return json_line(json_pack("{s:s, s:b}", "file", c->file, "ok", 1)) ? CLI_CLEAN
                                                                            : EX_OSERR;
    }
    (void)printf("%s: ok\n", *c->file != '\0' ? c->file : "built-in defaults");
    return CLI_CLEAN;
}

static int dump(struct cli *cli)
{
    struct buf text;
    int status = CLI_CLEAN;

    buf_init(&text, DUMP_MAX);
    config_dump(cli->config, cli->json, &text);
    if (buf_failed(&text)) {
        (void)fputs("gillnet: out of memory\n", stderr);
        status = EX_OSERR;
    } else {
        (void)fwrite(text.p, 1, text.n, stdout);
    }
    buf_fini(&text);
    return status;
}

int cmd_config(struct cli *cli, int argc, char **argv)
{
    bool is_check = argc == 2 && strcmp(argv[1], "check") == 0;
    bool is_dump = argc == 2 && strcmp(argv[1], "dump") == 0;
    int status = 0;

    if (!is_check && !is_dump) {
        return cli_usage(cli_command("config"), "say check or dump");
    }
    status = cli_config(cli);
    if (status != 0) {
        return status;
    }
    return is_check ? check(cli) : dump(cli);
}
