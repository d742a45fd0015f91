/* list_browse - `gillnet list show`: entries of a list, the newest first; `list worth`: what lists
 * did. */
#include <sysexits.h>

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/cli/list_commands.h"
#include "core/cli/open_lists.h"
#include "core/cli/print.h"
#include "core/cli/worth_numbers.h"
#include "core/list/browse_json.h"

enum { US_PER_S = 1000000, LIMIT_DEFAULT = 100, LIMIT_MOST = 1000000, DECIMAL = 10 };

/* ---- list show ---- */

struct show {
    const struct cli *cli;
    uint64_t limit;
    uint64_t shown;
    bool is_output_bad;
};

static void print_entry_text(const json_t *row)
{
    const json_t *value = json_object_get(row, "value");
    const char *reason = json_text_of(row, "reason");
    char changed[TEXT_TIME_MAX];
    char expires[TEXT_TIME_MAX];

    printf("%-20s %-7s %s:", text_time(json_number_of(row, "changed_s"), changed),
           json_text_of(row, "status"), json_text_of(row, "type"));
    if (json_is_string(value)) {
        text_print(stdout,
                   slice_of(json_string_value(value), json_string_length(value)),
                   LIST_TEXT_MAX);
    } else {
        (void)fputs("(no text)", stdout);
    }
    (void)fputs("  by ", stdout);
    text_show(stdout, json_text_of(row, "who"));
    if (json_number_of(row, "expires_s") > 0) {
        printf(", until %s", text_time(json_number_of(row, "expires_s"), expires));
    }
    if (*reason != '\0') {
        (void)fputs(": ", stdout);
        text_show(stdout, reason);
    }
    (void)putchar('\n');
}

static bool show_entry(void *context, const struct browse_entry *e)
{
    struct show *s = context;
    json_t *row = browse_entry_json(e);

    s->shown++;
    if (row == NULL || s->cli->json) {
        s->is_output_bad = !json_line(row);
    } else {
        print_entry_text(row);
        json_decref(row);
    }
    return !s->is_output_bad && !ferror(stdout) && s->shown < s->limit;
}

/* The entry that the text names. */
static bool show_exact(struct show *s, const struct list_reader *r, const char *text,
                       struct digest *ret)
{
    struct arena *arena = arena_new(FEATURE_EXPRESSIONS_BYTES);
    struct browse_found found;
    const bool is_there =
        arena != NULL && *text != '\0' &&
        list_browse_value(r, slice_str(text), clock_wall_us() / US_PER_S, arena, &found,
                          NULL) == ERR_OK;

    if (is_there) {
        const struct browse_entry e = {&found.from, found.changed_s};
        (void)show_entry(s, &e);
        *ret = found.from.digest;
    }
    arena_free(&arena);
    return is_there;
}

static int show_list(struct show *s, const struct list_reader *r, const char *text)
{
    struct digest exact;
    const struct browse b = {.text = slice_str(text),
                             .but = show_exact(s, r, text, &exact) ? &exact : NULL,
                             .now_s = clock_wall_us() / US_PER_S,
                             .fn = show_entry,
                             .context = s};
    struct errinfo why = {.code = ERR_OK};
    struct browsed found = {.has_more = true};
    uint64_t without_text = 0;

    while (found.has_more && s->shown < s->limit && !s->is_output_bad) {
        const struct browse_place from = found.next;
        if (list_browse(r, &b, &from, &found, &why) != ERR_OK) {
            return cli_fail(&why);
        }
        without_text += found.without_text;
    }
    if (without_text > 0) {
        cli_say("%" PRIu64 " records have no text and could not be compared",
                without_text);
    }
    if (found.has_more) {
        cli_say("there are more entries; --limit shows more than %" PRIu64, s->limit);
    }
    return s->is_output_bad ? EX_OSERR : CLI_CLEAN;
}

int list_cmd_show(struct cli *cli, int argc, char **argv)
{
    const char *text = "";
    const char *limit = NULL;
    struct show s = {.cli = cli, .limit = LIMIT_DEFAULT};
    const struct cli_option table[] = {{"--search", &text, NULL, NULL},
                                       {"--limit", &limit, NULL, NULL}};
    struct state_lists lists;
    int status =
        cli_arguments(CLI_FORM("list", table, 1, 1, "show: name a list"), &argc, argv);

    if (status != 0) {
        return status;
    }
    if (limit != NULL &&
        (!slice_to_u64(slice_str(limit), DECIMAL, LIMIT_MOST, &s.limit) ||
         s.limit == 0)) {
        return cli_usage("list", "--limit: a number from 1 to 1000000");
    }
    status = state_open_lists(cli, argv + 1, &lists);
    if (status == 0) {
        status = lists.n == 0 ? lists.status : show_list(&s, lists.v[0], text);
    }
    state_close_lists(&lists);
    return status;
}

/* ---- list worth ---- */

static json_t *worth_row(const struct state_lists *lists, size_t i,
                         const struct worth_numbers_read *w)
{
    const char *name = list_reader_name(lists->v[i]);
    const struct config_list *c = config_list_find(lists->config, slice_str(name));
    const char *origin = lists->origin[i];
    struct worth_numbers n;
    uint64_t listed = 0;
    uint64_t revoked = 0;

    worth_of_list(w->worth, slice_str(name), slice_str(origin), w->today, &n);
    list_reader_totals(lists->v[i], &listed, &revoked);
    return json_with(json_pack("{s:s, s:s?, s:s, s:I, s:I, s:I}", "list", name,
                               "origin", *origin == '\0' ? NULL : origin, "category",
                               c->category != NULL ? c->category : "", "entries",
                               (json_int_t)listed, "revoked", (json_int_t)revoked,
                               "updated_s",
                               (json_int_t)list_reader_changed_s(lists->v[i])),
                     worth_json(&n));
}

/* Takes the row. */
static bool print_worth(const struct cli *cli, json_t *row, bool only_useless)
{
    const char *origin = json_text_of(row, "origin");
    char name[LIST_NAME_MAX + ORIGIN_NAME_MAX + 2];

    if (row != NULL && worth_numbers_skip(row, only_useless)) {
        json_decref(row);
        return true;
    }
    if (row == NULL || cli->json) {
        return json_line(row);
    }
    (void)snprintf(name, sizeof(name), "%s%s%s", json_text_of(row, "list"),
                   *origin == '\0' ? "" : " ", origin);
    printf("%-32s %10" PRIu64 " %8" PRIu64, name, json_number_of(row, "entries"),
           json_number_of(row, "revoked"));
    worth_numbers_print(row);
    json_decref(row);
    return true;
}

static int print_all(struct cli *cli, const struct state_lists *lists,
                     const char *since, bool only_useless)
{
    struct worth_numbers_read w = {.worth = NULL};
    char lead[64];
    int status = worth_numbers_read(cli, since, &w);
    bool ok = true;

    if (status != 0) {
        return status;
    }
    if (!cli->json) {
        (void)snprintf(lead, sizeof(lead), "%-32s %10s %8s", "list", "entries",
                       "revoked");
        worth_numbers_head(&w, lead);
    }
    for (size_t i = 0; ok && i < lists->n; i++) {
        ok = print_worth(cli, worth_row(lists, i, &w), only_useless);
    }
    worth_numbers_free(&w);
    return ok ? CLI_CLEAN : EX_OSERR;
}

int list_cmd_worth(struct cli *cli, int argc, char **argv)
{
    const char *since = NULL;
    bool only_useless = false;
    const struct cli_option table[] = {{"--since", &since, NULL, NULL},
                                       {"--useless", NULL, &only_useless, NULL}};
    struct state_lists lists;
    int status = cli_options(cli_command("list"), table, LENGTH(table), &argc, argv);

    THEN(status, state_open_lists(cli, argv + 1, &lists));
    if (status == 0 && argc < 2) {
        status = state_open_peers(cli, &lists);
    }
    THEN(status, print_all(cli, &lists, since, only_useless));
    THEN(status, lists.status);
    state_close_lists(&lists);
    return status;
}
