/* cmd_restore - `gillnet restore`: a backup put in the place of the state folder. */
#include <sysexits.h>

#include "core/backup/restore.h"
#include "core/cli/change_note.h"
#include "core/cli/cli.h"
#include "core/cli/print.h"
#include "core/cli/restore_check.h"
#include "core/cli/services.h"

static enum err check_restored(void *context, const char *state_dir,
                               struct errinfo *reterr)
{
    progress_show(context, "checking", 0);
    return restore_check(state_dir, reterr);
}

/* Returns 0, or an exit status after a message: the program runs. */
static int check_stopped(const char *program, const char *socket_path)
{
    struct errinfo why = {.code = ERR_OK};

    if (!control_listens(socket_path)) {
        return 0;
    }
    (void)errinfo_set(&why, ERR_LOCKED, socket_path, 0,
                      "%s is running; stop gillnetd and gillnet-hub first", program);
    return cli_fail(&why);
}

static int print_done(const struct cli *cli, const struct restore_result *r)
{
    const struct contents *c = &r->contents;
    char time[TEXT_TIME_MAX];

    if (cli->json) {
        return json_status(json_pack(
            "{s:s, s:s, s:s, s:I, s:I, s:I}", "state_dir", cli->config->state_dir,
            "former", r->former, "node", c->node, "time_s", (json_int_t)c->time_s,
            "files", (json_int_t)c->n, "bytes", (json_int_t)c->bytes));
    }
    printf("%s: restored as it was at %s: %zu files, %" PRIu64 " bytes, server %s\n",
           cli->config->state_dir, text_time(c->time_s, time), c->n, c->bytes, c->node);
    if (r->former[0] != '\0') {
        printf(
            "The previous state was moved to %s. Remove it when the restored one works.\n",
            r->former);
    }
    if (r->has_peers) {
        (void)fputs(
            "If this server still runs elsewhere, stop it there first: two "
            "servers with one identity\noverwrite each other's lists. Its lists and "
            "counts that peers hold come back by themselves.\n",
            stdout);
    }
    (void)fputs("Start gillnetd and gillnet-hub, then run `gillnet doctor`.\n", stdout);
    return 0;
}

static int restore(struct cli *cli, const char *file, bool force)
{
    struct progress progress;
    struct restore_result result;
    struct errinfo why = {.code = ERR_OK};
    const bool is_stdin = strcmp(file, "-") == 0;
    struct restore_options o = {.state_dir = cli->config->state_dir,
                                .fd = STDIN_FILENO,
                                .name = file,
                                .force = force,
                                .progress = progress_stage,
                                .check = check_restored,
                                .context = &progress};

    if (!is_stdin && (o.fd = open(file, O_RDONLY | O_CLOEXEC)) < 0) {
        (void)errinfo_errno(&why, file, "cannot open the backup");
        return cli_fail(&why);
    }
    progress_init(&progress);
    enum err e = restore_run(&o, &result, &why);
    progress_clear(&progress);
    const int status = e == ERR_OK ? print_done(cli, &result) : cli_fail(&why);
    contents_fini(&result.contents);
    if (!is_stdin) {
        (void)close(o.fd);
    }
    return status;
}

int cmd_restore(struct cli *cli, int argc, char **argv)
{
    bool force = false;
    const struct cli_option table[] = {{"--force", NULL, &force, NULL}};
    int status = cli_arguments(
        CLI_FORM("restore", table, 1, 1, "name the file of one backup, or -"), &argc,
        argv);

    THEN(status, cli_config(cli));
    status =
        status == 0 ? check_stopped("gillnetd", cli->config->control_socket) : status;
    THEN(status, check_stopped("gillnet-hub", cli->config->hub.control_socket));
    THEN(status, restore(cli, argv[1], force));
    if (status == 0) {
        cli_note(cli, &(struct change){.kind = CHANGE_restore,
                                       .object = slice_str(argv[1])});
    }
    return status;
}
