/* cmd_reload - `gillnet reload`: asks gillnetd and the hub over their control sockets and prints
 * the answers. */
#include <sysexits.h>

#include "core/base/buf.h"
#include "core/cli/cli.h"
#include "core/cli/print.h"
#include "core/cli/services.h"

/* The answer of one program. */
struct reply {
    struct buf text;
    struct errinfo why; /* code ERR_OK: it answered */
    bool is_ok;         /* it runs the file's configuration now */
};

static void ask_reload(const char *path, struct reply *ret)
{
    *ret = (struct reply){.why = {.code = ERR_OK}};
    buf_init(&ret->text, CONTROL_ANSWER_MAX);
    if (control_ask(path, "reload", &ret->text, &ret->why) == ERR_OK) {
        struct slice text = buf_slice(&ret->text);
        struct slice first = slice_cut(&text, '\n');

        ret->is_ok = slice_has_prefix(first, SLICE_LIT("ok")) &&
                     (first.n == 2 || first.p[2] == ' ');
    }
}

static json_t *reply_json(const struct reply *r)
{
    struct slice rest = buf_slice(&r->text);
    json_t *details = json_array();
    struct slice first = slice_cut(&rest, '\n');

    while (rest.n > 0) {
        json_array_append_new(details, json_text(slice_cut(&rest, '\n')));
    }
    if (r->why.code != ERR_OK) {
        first = slice_str(r->why.text);
    }
    return json_pack("{s:b, s:o, s:o}", "ok", r->is_ok ? 1 : 0, "result",
                     json_text(first), "details", details);
}

static void print_reply(const char *who, const struct reply *r)
{
    struct slice rest = buf_slice(&r->text);

    while (rest.n > 0) {
        struct slice line = slice_cut(&rest, '\n');

        (void)fprintf(r->is_ok ? stdout : stderr, "%s%.*s\n", who, SLICE_ARGS(line));
    }
}

/* Prints both, and gives the worse status; a hub that does not run is none. */
static int report_replies(const struct cli *cli, const struct reply *daemon,
                          const struct reply *hub)
{
    const bool has_hub = hub->why.code != ERR_NOT_FOUND;
    int status = daemon->is_ok ? CLI_CLEAN : EX_CONFIG;

    if (cli->json && daemon->why.code == ERR_OK) {
        json_t *o = reply_json(daemon);

        if (has_hub) {
            json_object_set_new(o, "hub", reply_json(hub));
        }
        if (!json_line(o)) {
            return EX_OSERR;
        }
    } else if (!cli->json) {
        print_reply("", daemon);
        print_reply("hub: ", hub);
    }
    if (has_hub && !hub->is_ok) {
        status = hub->why.code != ERR_OK ? cli_fail(&hub->why) : EX_CONFIG;
    }
    if (daemon->why.code != ERR_OK) {
        status = cli_fail(&daemon->why);
    }
    return status;
}

int cmd_reload(struct cli *cli, int argc, char **argv)
{
    struct reply daemon;
    struct reply hub;
    int status =
        cli_arguments(CLI_WORDS("reload", 0, 0, "it takes no arguments"), &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    ask_reload(cli->config->control_socket, &daemon);
    ask_reload(cli->config->hub.control_socket, &hub);
    status = report_replies(cli, &daemon, &hub);
    buf_fini(&daemon.text);
    buf_fini(&hub.text);
    return status;
}
