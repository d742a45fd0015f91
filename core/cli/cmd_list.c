/* cmd_list - `gillnet list`: which subcommand, and what they share. */
#include <sysexits.h>

#include "core/cli/list_commands.h"
#include "core/list/configured.h"

int list_cmd_usage(const char *why)
{
    return cli_usage(cli_command("list"), why);
}

int list_cmd_check_name(const char *name)
{
    if (list_name_is_valid(slice_str(name))) {
        return 0;
    }
    (void)fprintf(
        stderr,
        "gillnet: \"%.64s\" cannot be the name of a list: use up to 32 of a-z, "
        "0-9, - and _, beginning with a letter or digit\n",
        name);
    return EX_USAGE;
}

int list_cmd_type(const char *name, uint16_t *ret)
{
    const struct feature_info *info;

    *ret = FEATURE_NONE;
    if (name == NULL) {
        return 0;
    }
    info = feature_info_by_name(slice_str(name));
    if (info == NULL) {
        (void)fprintf(stderr,
                      "gillnet: --type: there is no type \"%.64s\"; `gillnet extract "
                      "--types` shows them\n",
                      name);
        return EX_USAGE;
    }
    *ret = (uint16_t)info->type;
    return 0;
}

static void say_waiting(void *context, const struct errinfo *who)
{
    (void)context;
    (void)fprintf(stderr, "gillnet: waiting, up to %d s: %s\n", (int)LIST_LOCK_WAIT_S,
                  who->text);
}

void list_cmd_wait(struct list_lock_wait *ret)
{
    *ret = (struct list_lock_wait){.most_s = LIST_LOCK_WAIT_S, .say = say_waiting};
}

int list_cmd_open_writer(struct cli *cli, const char *name, bool create,
                         struct list_writer **ret)
{
    struct errinfo info = {.code = ERR_OK};
    int status = cli_keys(cli, create);

    if (status != 0) {
        return status;
    }
    struct list_opening opening = {
        .config = cli->config, .keys = &cli->keys, .create = create};
    list_cmd_wait(&opening.wait);
    enum err e = list_writer_open_configured(&opening, slice_str(name), ret, &info);
    if (e != ERR_OK) {
        return cli_fail(&info);
    }
    const struct config_list *list = config_list_find(cli->config, slice_str(name));
    list_writer_set_ageing(
        *ret, &(struct list_ageing){list->period_s, list->inactive_after_s});
    return 0;
}

int cmd_list(struct cli *cli, int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(struct cli *cli, int argc, char **argv);
    } commands[] = {
        {"import", list_cmd_import}, {"add", list_cmd_add},
        {"revoke", list_cmd_revoke}, {"export", list_cmd_export},
        {"stat", list_cmd_stat},     {"rebuild", list_cmd_rebuild},
        {"merge", list_cmd_merge},   {"verify", list_cmd_verify},
        {"age", list_cmd_age},       {"rekey", list_cmd_rekey},
        {"delete", list_cmd_delete}, {"rename", list_cmd_rename},
    };
    if (argc < 2) {
        return list_cmd_overview(cli);
    }
    for (size_t i = 0; i < LENGTH(commands); i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(cli, argc - 1, argv + 1);
        }
    }
    return list_cmd_usage("there is no such subcommand");
}
