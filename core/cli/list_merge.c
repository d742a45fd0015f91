/* list_merge - `gillnet list merge`: filters of several sites into one, or into a list. */
#include <inttypes.h>
#include <stdio.h>
#include <sysexits.h>

#include "core/cli/json.h"
#include "core/cli/list_commands.h"
#include "core/cli/options.h"
#include "core/filter/bloomfile_merge.h"
#include "core/list/member.h"

static int say(const struct cli *cli, const char *where,
               const struct bloomfile_shape *s)
{
    const struct bloomfile_facts *facts = &s->facts;
    double error = bloom_error(s->layout, s->nlines, s->k, facts->entries);

    if (cli->json) {
        bool is_said = json_line(json_pack(
            "{s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:f}", "filter",
            json_text(slice_str(where)), "role", bloomfile_role_name(facts->role),
            "layout", bloom_layout_name(s->layout), "bits",
            (json_int_t)(s->nlines * BLOOM_LINE_BITS), "k", (json_int_t)s->k, "items",
            (json_int_t)facts->capacity, "entries", (json_int_t)facts->entries, "error",
            error));
        return is_said ? 0 : EX_OSERR;
    }
    printf("%s: %s filter of about %" PRIu64 " entries, %" PRIu64
           " planned; %s, %" PRIu64 " bits, k %u, error now %.3g %%\n",
           where, bloomfile_role_name(facts->role), facts->entries, facts->capacity,
           bloom_layout_name(s->layout), s->nlines * BLOOM_LINE_BITS, s->k,
           error * 100);
    return 0;
}

/* Files alone need no key: what they have in common decides. */
static int merge_files(const struct cli *cli, const char *output, int n, char **files)
{
    struct errinfo info = {.code = ERR_OK};
    struct bloomfile all = {0};
    enum err e = bloomfile_take(&all, files[0], NULL, &info);

    for (int i = 1; e == ERR_OK && i < n; i++) {
        e = bloomfile_merge_file(&all, files[i], &info);
    }
    if (e == ERR_OK) {
        e = bloomfile_write(&all, output, &info);
    }
    struct bloomfile_shape shape = bloomfile_shape_of(&all);
    bloomfile_close(&all);
    return e == ERR_OK ? say(cli, output, &shape) : cli_fail(&info);
}

static int merge_into_list(struct cli *cli, const char *name, int n, char **files)
{
    struct errinfo info = {.code = ERR_OK};
    struct list_writer *writer = NULL;
    struct member_shapes shapes = {.has_spam = false};
    int status = list_cmd_check_name(name);

    if (status == 0) {
        status = list_cmd_open_writer(cli, name, true, &writer);
    }
    if (status != 0) {
        return status;
    }
    enum err e = list_member_merge(writer, (size_t)n, files, &shapes, &info);
    list_writer_close(&writer);
    if (e != ERR_OK) {
        return cli_fail(&info);
    }
    if (shapes.has_spam) {
        status = say(cli, name, &shapes.spam);
    }
    return shapes.has_revoked && status == 0 ? say(cli, name, &shapes.revoked) : status;
}

int list_cmd_merge(struct cli *cli, int argc, char **argv)
{
    const char *output = NULL;
    const struct cli_option options[] = {{"--output", &output, NULL}};
    int status = cli_options(cli_command("list"), options, 1, &argc, argv);

    if (status != 0) {
        return status;
    }
    if (output != NULL) {
        return argc < 3
                   ? list_cmd_usage("merge --output FILE: name two filters or more")
                   : merge_files(cli, output, argc - 1, argv + 1);
    }
    if (argc < 3) {
        return list_cmd_usage("merge: name a list and the filters for it");
    }
    return merge_into_list(cli, argv[1], argc - 2, argv + 2);
}
