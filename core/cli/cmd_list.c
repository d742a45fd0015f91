/* cmd_list - `gillnet list`: the subcommands, and their shared functions. */
#include <sysexits.h>

#include "core/base/arena.h"
#include "core/cli/list_commands.h"
#include "core/list/configured.h"

enum { NAMES_ARENA = 16 << 20 };

int list_cmd_check_name(const char *name)
{
    if (list_name_is_valid(slice_str(name))) {
        return 0;
    }
    return cli_error(EX_USAGE,
                     "\"%.64s\" cannot be the name of a list: use up to 32 of a-z, "
                     "0-9, - and _, beginning with a letter or digit",
                     name);
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
        return cli_error(EX_USAGE,
                         "--type: there is no type \"%.64s\"; `gillnet extract "
                         "--types` shows them",
                         name);
    }
    *ret = (uint16_t)info->type;
    return 0;
}

static void say_waiting(void *context, const struct errinfo *who)
{
    (void)context;
    cli_say("waiting, up to %d s: %s", (int)LIST_LOCK_WAIT_S, who->text);
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
    cli->has_opened_list = true;
    const struct config_list *list = config_list_find(cli->config, slice_str(name));
    list_writer_set_ageing(
        *ret, &(struct list_ageing){list->period_s, list->inactive_after_s});
    return 0;
}

int list_cmd_each(struct cli *cli, list_cmd_name_fn *fn, void *context)
{
    struct arena *arena = arena_new(NAMES_ARENA);
    struct errinfo info = {.code = ERR_OK};
    struct slice *names = NULL;
    size_t n = 0;
    int status = CLI_CLEAN;
    enum err e = arena == NULL
                     ? errinfo_nomem(&info, "lists")
                     : list_names(cli->config->state_dir, arena, &names, &n, &info);

    if (e != ERR_OK) {
        n = 0;
        status = e == ERR_NOT_FOUND ? CLI_CLEAN : cli_fail(&info);
    }
    for (size_t i = 0; i < n; i++) {
        int one = fn(context, names[i]);

        status = one > status ? one : status;
    }
    arena_free(&arena);
    return status;
}

int cmd_list(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner commands[] = {
        {"import", list_cmd_import}, {"add", list_cmd_add},
        {"revoke", list_cmd_revoke}, {"export", list_cmd_export},
        {"stat", list_cmd_stat},     {"rebuild", list_cmd_rebuild},
        {"merge", list_cmd_merge},   {"verify", list_cmd_verify},
        {"age", list_cmd_age},       {"rekey", list_cmd_rekey},
        {"delete", list_cmd_delete}, {"rename", list_cmd_rename},
        {"show", list_cmd_show},     {"worth", list_cmd_worth},
    };
    return argc < 2
               ? list_cmd_overview(cli)
               : cli_subcommand(cli, "list", commands, LENGTH(commands), argc, argv);
}
