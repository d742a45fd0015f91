/* list_show - `gillnet list export` and `stat`: the entries and numbers of lists. */
#include <sysexits.h>

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/cli/list_commands.h"
#include "core/cli/open_lists.h"
#include "core/cli/print.h"

enum { ENTRY_ARENA = 256 * 1024 };

struct export
{
    struct cli *cli;
    struct arena *arena;
    uint64_t now_s;
    uint64_t without_text;
    uint64_t unwritable; /* line ends inside */
    bool is_output_bad;
};

/* Whether `list import` would read the bare text as this entry. */
static bool is_plain(struct export *x, const struct list_provenance *e)
{
    struct feature_entry entry;

    if (e->class_type == FEATURE_subject || e->class_type == FEATURE_attachment_name ||
        e->class_type == FEATURE_archive_entry ||
        slice_find(e->text, ' ') < e->text.n || e->text.p[0] == '#' ||
        e->text.p[0] == ';') {
        return false;
    }
    arena_reset(x->arena);
    return feature_entry_parse(e->text, FEATURE_NONE, x->arena, &entry, NULL) ==
               ERR_OK &&
           entry.class_type == e->class_type && slice_eq(entry.text, e->text);
}

static bool has_line_end(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\n' || s.p[i] == '\r' || s.p[i] == '\0') {
            return true;
        }
    }
    return false;
}

static void export_plain(struct export *x, const struct list_provenance *e)
{
    bool is_expired = e->expiry_s != 0 && e->expiry_s <= x->now_s;

    if (e->status != ENTRY_LISTED || is_expired) {
        return;
    }
    if (e->text.n == 0) {
        x->without_text++;
        return;
    }
    if (has_line_end(e->text)) {
        x->unwritable++;
        return;
    }
    if (!is_plain(x, e)) {
        printf("%s:", feature_type_name(e->class_type));
    }
    (void)fwrite(e->text.p, 1, e->text.n, stdout);
    (void)putchar('\n');
}

static bool export_json(const struct list_provenance *e)
{
    char first[TEXT_TIME_MAX];
    char expiry[TEXT_TIME_MAX];

    return json_line(json_pack(
        "{s:s, s:o, s:s, s:s, s:s, s:o, s:b}", "type", feature_type_name(e->class_type),
        "value", e->text.n == 0 ? json_null() : json_text(e->text), "status",
        e->status == ENTRY_LISTED ? "listed" : "revoked", "first_seen",
        text_time(e->first_seen_s, first), "expiry", text_time(e->expiry_s, expiry),
        "source", json_text(slice_str(e->source)), "explicit", (int)e->is_explicit));
}

static bool export_entry(void *context, const struct list_provenance *e)
{
    struct export *x = context;

    if (x->cli->json) {
        x->is_output_bad = !export_json(e);
    } else {
        export_plain(x, e);
    }
    return !x->is_output_bad && !ferror(stdout);
}

/* Exports one list; an incomplete export is an error. */
static int export_list(struct export *x, const struct list_reader *r)
{
    struct errinfo info = {.code = ERR_OK};

    if (list_reader_each(r, export_entry, x, &info) != ERR_OK) {
        return cli_fail(&info);
    }
    if (x->without_text + x->unwritable > 0) {
        return cli_error(EX_DATAERR,
                         "list %s: %" PRIu64
                         " entries are kept as digests only and %" PRIu64
                         " hold line ends: they are not in the export",
                         list_reader_name(r), x->without_text, x->unwritable);
    }
    return x->is_output_bad ? EX_OSERR : CLI_CLEAN;
}

/* The entries as text. */
static int export_text(struct cli *cli, const struct list_reader *r)
{
    struct export x = {.cli = cli,
                       .now_s = clock_wall_us() / 1000000,
                       .arena = arena_new(ENTRY_ARENA)};
    int status = x.arena == NULL ? EX_OSERR : export_list(&x, r);

    arena_free(&x.arena);
    return status;
}

int list_cmd_export(struct cli *cli, int argc, char **argv)
{
    const char *filter = NULL;
    struct list_filter_options given = {.layout = NULL};
    struct list_filter_plan plan = {.items = 0};
    bool is_revoked = false;
    const struct cli_option options[] = {{"--filter", &filter, NULL, NULL},
                                         {"--layout", &given.layout, NULL, NULL},
                                         {"--error", &given.error, NULL, NULL},
                                         {"--items", &given.items, NULL, NULL},
                                         {"--revoked", NULL, &is_revoked, NULL}};
    struct state_lists lists;
    int status = cli_arguments(CLI_FORM("list", options, 1, 1, "export: name a list"),
                               &argc, argv);

    if (status != 0) {
        return status;
    }
    if (filter == NULL &&
        (is_revoked || given.layout != NULL || given.error || given.items != NULL)) {
        return cli_usage("list", "export: these options are for --filter FILE");
    }
    status = state_open_lists(cli, argv + 1, &lists);
    if (status == 0 && lists.n == 0) {
        status = lists.status;
    } else if (status == 0 && filter == NULL) {
        status = export_text(cli, lists.v[0]);
    } else if (status == 0) {
        status = list_filter_plan(cli, argv[1], &given, &plan);
        plan.is_revoked = is_revoked;
        THEN(status, list_filter_export(cli, lists.v[0], &plan, filter));
    }
    state_close_lists(&lists);
    return status;
}

/* origin: empty, or the peer that keeps the list. */
static bool stat_json(const struct list_reader *r, const char *origin,
                      const struct list_numbers *n)
{
    char updated[TEXT_TIME_MAX];

    return json_line(list_numbers_json(
        json_pack("{s:s, s:s?, s:s?}", "list", list_reader_name(r), "origin",
                  *origin == '\0' ? NULL : origin, "fault", list_reader_fault(r)),
        json_string(text_time(n->stat.updated_s, updated)), n));
}

static void stat_text(const struct list_reader *r, const char *origin,
                      const struct list_numbers *n)
{
    const struct list_stat *s = &n->stat;
    const char *fault = list_reader_fault(r);
    char updated[TEXT_TIME_MAX];

    printf("%s%s%s: %" PRIu64 " entries, %" PRIu64 " revoked, %" PRIu64
           " not yet in a level; generation %" PRIu64 ", levels %u, changed %s\n",
           list_reader_name(r), *origin == '\0' ? "" : " of ", origin, s->entries,
           s->revoked, s->recent, s->generation, s->levels,
           text_time(s->updated_s, updated));
    printf("  filter %" PRIu64 " bytes, index %" PRIu64 " bytes, log %" PRIu64
           " bytes\n",
           s->filter_bytes, s->index_bytes, s->log_bytes);
    list_numbers_print(stdout, "  ", n);
    if (fault != NULL) {
        (void)fputs("  fault: ", stdout);
        text_show(stdout, fault);
        (void)putchar('\n');
    }
}

int list_cmd_stat(struct cli *cli, int argc, char **argv)
{
    struct state_lists lists;
    int status = cli_options(cli_command("list"), NULL, 0, &argc, argv);

    THEN(status, state_open_lists(cli, argv + 1, &lists));
    if (status == 0 && argc < 2) {
        status = state_open_peers(cli, &lists);
    }
    for (size_t i = 0; status == 0 && i < lists.n; i++) {
        struct list_numbers n;
        bool is_own = i < lists.nown; /* of peers' lists nothing is counted */
        list_numbers_get(lists.v[i], cli->config, is_own ? lists.hits : NULL, &n);
        if (!cli->json) {
            stat_text(lists.v[i], lists.origin[i], &n);
        } else if (!stat_json(lists.v[i], lists.origin[i], &n)) {
            status = EX_OSERR;
        }
    }
    THEN(status, lists.status);
    state_close_lists(&lists);
    return status;
}
