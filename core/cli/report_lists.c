#include "core/cli/report_lists.h"

#include "core/base/arena.h"
#include "core/cli/list_commands.h"
#include "core/cli/print.h"
#include "core/list/writer.h"

enum { ENTRY_ARENA = 256 * 1024 };

static int change_row(struct cli *cli, const json_t *row, bool is_revoke,
                      struct arena *arena)
{
    struct errinfo why = {.code = ERR_OK};
    struct list_writer *w = NULL;
    struct list_change change = {.is_revoke = is_revoke};
    json_t *text =
        json_sprintf("%s:%s", json_text_of(row, "type"), json_text_of(row, "value"));
    struct slice value = slice_of(json_string_value(text), json_string_length(text));
    int status = cli_status(
        feature_entry_parse(value, FEATURE_NONE, arena, &change.entry, &why), &why);

    THEN(status, list_cmd_open_writer(cli, json_text_of(row, "list"), true, &w));
    THEN(status, cli_status(list_stage(w, &change, SLICE_LIT("report"), &why), &why));
    THEN(status, cli_status(list_flush(w, &why), &why));
    list_writer_close(&w);
    json_decref(text);
    return status;
}

int report_lists_change(struct cli *cli, const json_t *rows, bool is_revoke,
                        json_t *changed)
{
    struct arena *arena = arena_new(ENTRY_ARENA);
    int worst = arena != NULL ? 0 : cli_nomem();

    for (size_t i = 0; arena != NULL && i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        int status = change_row(cli, row, is_revoke, arena);

        arena_reset(arena);
        worst = status > worst ? status : worst;
        if (status == 0) {
            (void)json_array_append_new(changed,
                                        json_pack("{s:s, s:s, s:s, s:s}", "status",
                                                  is_revoke ? "revoked" : "added",
                                                  "list", json_text_of(row, "list"),
                                                  "type", json_text_of(row, "type"),
                                                  "value", json_text_of(row, "value")));
        }
    }
    arena_free(&arena);
    return worst;
}
