/* list_merge - `gillnet list merge`: filters of several sites into one, or into a list. */
#include <sysexits.h>

#include "core/cli/change_note.h"
#include "core/cli/list_commands.h"
#include "core/list/peer_filter.h"
#include "core/list/place.h"

/* Merges files without keys: they must be made with the same key. */
static int merge_files(const struct cli *cli, const char *output, int n, char **files)
{
    struct errinfo info = {.code = ERR_OK};
    struct bloomfile all = {0};
    enum err e = bloomfile_take(&all, files[0], NULL, &info);

    for (int i = 1; e == ERR_OK && i < n; i++) {
        e = bloomfile_merge_file(&all, files[i], NULL, &info);
    }
    THEN(e, bloomfile_write(&all, output, &info));
    struct bloomfile_shape shape = bloomfile_shape_of(&all);
    bloomfile_close(&all);
    return e == ERR_OK ? list_filter_say(cli, output, &shape) : cli_fail(&info);
}

static int merge_into_list(struct cli *cli, const char *name, int n, char **files)
{
    struct errinfo info = {.code = ERR_OK};
    struct list_writer *writer = NULL;
    struct peer_filter_shapes shapes = {.has_spam = false};
    int status = list_cmd_check_name(name);

    THEN(status, cli_keys(cli, true));
    if (status == 0 && !list_is_there(cli->config->state_dir, slice_str(name)) &&
        list_member_check(&cli->keys.ring[0], (size_t)n, files, &info) != ERR_OK) {
        status = cli_fail(&info); /* and no list is made */
    }
    THEN(status, list_cmd_open_writer(cli, name, true, &writer));
    if (status != 0) {
        return status;
    }
    enum err e = list_member_merge(writer, (size_t)n, files, &shapes, &info);
    list_writer_close(&writer);
    if (e != ERR_OK) {
        return cli_fail(&info);
    }
    cli_note(cli,
             &(struct change){.kind = CHANGE_list_merge, .object = slice_str(name)});
    if (shapes.has_spam) {
        status = list_filter_say(cli, name, &shapes.spam);
    }
    return shapes.has_revoked && status == 0
               ? list_filter_say(cli, name, &shapes.revoked)
               : status;
}

int list_cmd_merge(struct cli *cli, int argc, char **argv)
{
    const char *output = NULL;
    const struct cli_option options[] = {{"--output", &output, NULL, NULL}};
    int status = cli_options(cli_command("list"), options, 1, &argc, argv);

    if (status != 0) {
        return status;
    }
    if (output != NULL) {
        return argc < 3
                   ? cli_usage("list", "merge --output FILE: name two filters or more")
                   : merge_files(cli, output, argc - 1, argv + 1);
    }
    if (argc < 3) {
        return cli_usage("list", "merge: name a list and the filters for it");
    }
    return merge_into_list(cli, argv[1], argc - 2, argv + 2);
}
