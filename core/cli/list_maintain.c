/* list_maintain - `gillnet list rebuild`, `rekey` and `verify`: the files of the lists. */
#include <sysexits.h>

#include "core/base/arena.h"
#include "core/cli/list_commands.h"
#include "core/cli/open_lists.h"
#include "core/cli/options.h"
#include "core/cli/print_json.h"
#include "core/cli/progress.h"
#include "core/list/mirror.h"
#include "core/list/rekey.h"

enum { NAMES_ARENA = 16 << 20 };

static void on_stage(void *context, const char *stage, double share)
{
    progress_show(context, stage, share);
}

int list_cmd_rebuild(struct cli *cli, int argc, char **argv)
{
    struct list_writer *writer = NULL;
    struct progress progress;
    struct errinfo info = {.code = ERR_OK};
    int status = cli_options(cli_command("list"), NULL, 0, &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc != 2) {
        return list_cmd_usage("rebuild: name a list");
    }
    status = list_cmd_check_name(argv[1]);
    if (status == 0) {
        status = list_cmd_open_writer(cli, argv[1], false, &writer);
    }
    if (status != 0) {
        return status;
    }
    progress_init(&progress);
    enum err e = list_rebuild(writer, on_stage, &progress, &info);
    progress_clear(&progress);
    status = e == ERR_OK ? 0 : cli_fail(&info);
    list_writer_close(&writer);
    return status;
}

static void rekeyed(const char *name, const struct list_rekeyed *r, uint32_t key)
{
    printf("%s: %" PRIu64 " entries and %" PRIu64
           " revoked ones are made with the digest key %08" PRIx32 " now\n",
           name, r->listed, r->revoked, key);
    if (r->without_text > 0) {
        printf("%s: %" PRIu64 " entries without text are left out\n", name,
               r->without_text);
    }
    if (r->had_filters) {
        printf("%s: filters that were merged into it are left out: they were made with "
               "the former key; merge new ones\n",
               name);
    }
}

static int rekey_one(struct cli *cli, const char *name, bool drops_textless)
{
    struct list_writer *writer = NULL;
    struct list_rekeyed done;
    struct progress progress;
    struct errinfo info = {.code = ERR_OK};
    int status = list_cmd_open_writer(cli, name, false, &writer);

    if (status != 0) {
        return status;
    }
    if (list_writer_key(writer) == cli->keys.ring[0].id) {
        printf("%s: is made with the newest digest key %08" PRIx32 "\n", name,
               cli->keys.ring[0].id);
        list_writer_close(&writer);
        return 0;
    }
    progress_init(&progress);
    enum err e =
        list_rekey(writer,
                   &(struct list_rekeying){cli->config->state_dir, drops_textless,
                                           on_stage, &progress},
                   &done, &info);
    progress_clear(&progress);
    list_writer_close(&writer);
    if (e != ERR_OK) {
        return cli_fail(&info);
    }
    rekeyed(name, &done, cli->keys.ring[0].id);
    return 0;
}

static int rekey_all(struct cli *cli, bool drops_textless)
{
    struct arena *arena = arena_new(NAMES_ARENA);
    struct errinfo info = {.code = ERR_OK};
    struct slice *names = NULL;
    size_t n = 0;
    int status = 0;
    enum err e = arena == NULL
                     ? errinfo_set(&info, ERR_NOMEM, "lists", 0, "no memory")
                     : list_names(cli->config->state_dir, arena, &names, &n, &info);

    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        status = cli_fail(&info);
    }
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        char name[LIST_NAME_MAX + 1];

        (void)snprintf(name, sizeof(name), "%.*s", SLICE_ARGS(names[i]));
        int s = rekey_one(cli, name, drops_textless);
        status = status == 0 ? s : status;
    }
    arena_free(&arena);
    return status;
}

int list_cmd_rekey(struct cli *cli, int argc, char **argv)
{
    bool drops_textless = false;
    const struct cli_option options[] = {
        {"--drop-textless", NULL, &drops_textless, NULL}};
    int status = cli_options(cli_command("list"), options, 1, &argc, argv);

    for (int i = 1; status == 0 && i < argc; i++) {
        status = list_cmd_check_name(argv[i]);
    }
    status = status == 0 ? cli_keys(cli, false) : status;
    if (status == 0 && argc == 1) {
        return rekey_all(cli, drops_textless);
    }
    for (int i = 1; status == 0 && i < argc; i++) {
        status = rekey_one(cli, argv[i], drops_textless);
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

static int verify_one(struct cli *cli, struct slice name)
{
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
        (void)fprintf(stderr, "gillnet: list %.*s: %s\n", SLICE_ARGS(name),
                      err_text(e));
    }
    return e == ERR_NOT_FOUND ? EX_NOINPUT : CLI_HIT;
}

static int verify_all(struct cli *cli, struct arena *arena)
{
    struct slice *names = NULL;
    size_t n = 0;
    struct errinfo info = {.code = ERR_OK};
    int status = CLI_CLEAN;
    enum err e = list_names(cli->config->state_dir, arena, &names, &n, &info);

    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        return cli_fail(&info);
    }
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        int s = verify_one(cli, names[i]);
        status = s > status ? s : status;
    }
    return status;
}

int list_cmd_verify(struct cli *cli, int argc, char **argv)
{
    bool has_keys = false;
    int status = cli_options(cli_command("list"), NULL, 0, &argc, argv);

    for (int i = 1; status == 0 && i < argc; i++) {
        status = list_cmd_check_name(argv[i]);
    }
    if (status == 0) {
        status = state_read_keys(cli, &has_keys);
    }
    if (status != 0 || (argc == 1 && !has_keys)) {
        return status;
    }
    for (int i = 1; i < argc; i++) {
        int s = verify_one(cli, slice_str(argv[i]));
        status = s > status ? s : status;
    }
    if (argc == 1) {
        struct arena *arena = arena_new(NAMES_ARENA);
        status = arena == NULL ? EX_OSERR : verify_all(cli, arena);
        arena_free(&arena);
    }
    return status;
}
