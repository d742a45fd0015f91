/* list_maintain - `gillnet list rebuild`, `rekey` and `verify`: work on the files of lists. */
#include <sysexits.h>

#include "core/cli/list_commands.h"
#include "core/cli/open_lists.h"
#include "core/cli/print.h"
#include "core/list/mirror.h"
#include "core/list/rekey.h"

int list_cmd_rebuild(struct cli *cli, int argc, char **argv)
{
    struct list_writer *writer = NULL;
    struct progress progress;
    struct errinfo info = {.code = ERR_OK};
    int status =
        cli_arguments(CLI_WORDS("list", 1, 1, "rebuild: name a list"), &argc, argv);

    THEN(status, list_cmd_check_name(argv[1]));
    THEN(status, list_cmd_open_writer(cli, argv[1], false, &writer));
    if (status != 0) {
        return status;
    }
    progress_init(&progress);
    enum err e = list_rebuild(writer, progress_stage, &progress, &info);
    progress_clear(&progress);
    status = e == ERR_OK ? 0 : cli_fail(&info);
    list_writer_close(&writer);
    return status;
}

static void print_rekeyed(const char *name, const struct list_rekeyed *r, uint32_t key)
{
    printf("%s: %" PRIu64 " entries and %" PRIu64
           " revoked ones are made with the digest key %08" PRIx32 " now\n",
           name, r->listed, r->revoked, key);
    if (r->without_text > 0) {
        printf("%s: %" PRIu64 " entries without text are left out\n", name,
               r->without_text);
    }
    if (r->had_filters) {
        printf(
            "%s: merged filters were made with the former key and are dropped; merge "
            "new ones\n",
            name);
    }
}

struct rekey {
    struct cli *cli;
    bool drops_textless;
};

static int rekey_one(void *context, struct slice name)
{
    const struct rekey *r = context;
    struct cli *cli = r->cli;
    struct list_writer *writer = NULL;
    struct list_rekeyed done;
    struct progress progress;
    struct errinfo info = {.code = ERR_OK};
    char list[LIST_NAME_MAX + 1];

    (void)snprintf(list, sizeof(list), "%.*s", SLICE_ARGS(name));
    int status = list_cmd_open_writer(cli, list, false, &writer);
    if (status != 0) {
        return status;
    }
    if (list_writer_key(writer) == cli->keys.ring[0].id) {
        printf("%s: is made with the newest digest key %08" PRIx32 "\n", list,
               cli->keys.ring[0].id);
        list_writer_close(&writer);
        return 0;
    }
    progress_init(&progress);
    enum err e =
        list_rekey(writer,
                   &(struct list_rekeying){cli->config->state_dir, r->drops_textless,
                                           progress_stage, &progress},
                   &done, &info);
    progress_clear(&progress);
    list_writer_close(&writer);
    if (e != ERR_OK) {
        return cli_fail(&info);
    }
    print_rekeyed(list, &done, cli->keys.ring[0].id);
    return 0;
}

int list_cmd_rekey(struct cli *cli, int argc, char **argv)
{
    struct rekey r = {.cli = cli};
    const struct cli_option options[] = {
        {"--drop-textless", NULL, &r.drops_textless, NULL}};
    int status = cli_options(cli_command("list"), options, 1, &argc, argv);

    for (int i = 1; status == 0 && i < argc; i++) {
        status = list_cmd_check_name(argv[i]);
    }
    THEN(status, cli_keys(cli, false));
    if (status == 0 && argc == 1) {
        return list_cmd_each(cli, rekey_one, &r);
    }
    for (int i = 1; status == 0 && i < argc; i++) {
        status = rekey_one(&r, slice_str(argv[i]));
    }
    return status;
}

struct verify {
    uint64_t findings;
};

static void on_finding(void *context, const struct errinfo *finding)
{
    struct verify *v = context;
    v->findings++;
    (void)cli_fail(finding);
}

static int verify_one(void *context, struct slice name)
{
    const struct cli *cli = context;
    struct verify v = {0};
    enum err e = list_verify(cli->config->state_dir, name, &cli->keys, on_finding, &v);

    if (cli->json &&
        !json_line(json_pack("{s:o, s:b, s:I}", "list", json_text(name), "ok",
                             e == ERR_OK, "findings", (json_int_t)v.findings))) {
        return EX_IOERR;
    }
    if (e == ERR_OK) {
        if (!cli->json) {
            printf("%.*s: ok\n", SLICE_ARGS(name));
        }
        return CLI_CLEAN;
    }
    if (v.findings == 0) {
        cli_say("list %.*s: %s", SLICE_ARGS(name), err_text(e));
    }
    return e == ERR_NOT_FOUND ? EX_NOINPUT : CLI_HIT;
}

int list_cmd_verify(struct cli *cli, int argc, char **argv)
{
    bool has_keys = false;
    int status = cli_options(cli_command("list"), NULL, 0, &argc, argv);

    for (int i = 1; status == 0 && i < argc; i++) {
        status = list_cmd_check_name(argv[i]);
    }
    THEN(status, state_read_keys(cli, &has_keys));
    if (status != 0 || (argc == 1 && !has_keys)) {
        return status;
    }
    for (int i = 1; i < argc; i++) {
        int s = verify_one(cli, slice_str(argv[i]));
        status = s > status ? s : status;
    }
    return argc == 1 ? list_cmd_each(cli, verify_one, cli) : status;
}
