/* cmd_stat - `gillnet stat`: the statistics page, its faults, the day, the counts, and every list. */
#include <sysexits.h>

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/cli/cli.h"
#include "core/cli/count_disk.h"
#include "core/cli/count_numbers.h"
#include "core/cli/daemon_process.h"
#include "core/cli/feed_rows.h"
#include "core/cli/list_numbers.h"
#include "core/cli/open_lists.h"
#include "core/cli/options.h"
#include "core/cli/print_json.h"
#include "core/cli/running.h"
#include "core/cli/stat_alerts.h"
#include "core/cli/stat_day.h"
#include "core/cli/stat_summary.h"
#include "core/cli/text.h"
#include "core/list/list.h"
#include "core/telemetry/stats.h"

enum { NAMES_MEMORY = 16 << 20, WHEN_MAX = 32 };

/* "2026-11-21 11:27:20Z"; "never" for 0. */
static const char *when_text(uint64_t seconds, char dst[WHEN_MAX])
{
    time_t t = (time_t)seconds;
    struct tm tm;

    if (seconds == 0 || gmtime_r(&t, &tm) == NULL ||
        strftime(dst, WHEN_MAX, "%Y-%m-%d %H:%M:%SZ", &tm) == 0) {
        (void)snprintf(dst, WHEN_MAX, "never");
    }
    return dst;
}

/* ---- gillnetd ---- */

static bool print_daemon_json(const struct daemon_view *d)
{
    bool ok = json_line(json_pack("{s:s, s:b, s:I, s:I}", "type", "gillnetd", "running",
                                  d->is_running ? 1 : 0, "pid",
                                  (json_int_t)d->stats.value[STAT_pid], "start_time",
                                  (json_int_t)d->stats.value[STAT_start_time]));

    for (unsigned i = 0; ok && i < d->stats.nfaults; i++) {
        ok = json_line(json_pack("{s:s, s:o}", "type", "fault", "text",
                                 json_text(slice_str(d->stats.fault[i]))));
    }
    for (unsigned i = 0; ok && i < STAT_COUNT; i++) {
        ok = json_line(json_pack("{s:s, s:s, s:I, s:s}", "type", "number", "name",
                                 stats_name(i), "value", (json_int_t)d->stats.value[i],
                                 "help", stats_help(i)));
    }
    return ok;
}

static void print_numbers(const struct daemon_view *d)
{
    for (unsigned i = 0; d != NULL && d->has_page && i < STAT_COUNT; i++) {
        (void)printf("%-20s %12llu  %s\n", stats_name(i),
                     (unsigned long long)d->stats.value[i], stats_help(i));
    }
}

/* Which configuration the programs run; what differs from the file is a fault. */
static bool show_running(const struct cli *cli, const struct daemon_view *d)
{
    struct running r;
    struct buf text;
    struct slice rest;
    bool ok = true;

    running_look(cli->config, d, &r);
    buf_init(&text, RUNNING_TEXT_MAX);
    running_troubles(&r, &text);
    rest = buf_slice(&text);
    if (cli->json) {
        ok = json_line(json_pack("{s:s, s:I, s:I, s:I}", "type", "configuration",
                                 "file", (json_int_t)r.file, "gillnetd",
                                 (json_int_t)r.daemon, "hub", (json_int_t)r.hub));
    } else if (text.n == 0 && (r.daemon != 0 || r.hub != 0)) {
        (void)printf("configuration %08x runs, as the file has it\n", (unsigned)r.file);
    }
    while (ok && rest.n > 0) {
        struct slice line = slice_cut(&rest, '\n');

        if (cli->json) {
            ok = json_line(
                json_pack("{s:s, s:o}", "type", "fault", "text", json_text(line)));
        } else {
            (void)printf("fault: %.*s\n", SLICE_ARGS(line));
        }
    }
    buf_fini(&text);
    return ok;
}

/* ---- counting ---- */

static void look_at_counts(const struct cli *cli, const struct daemon_view *d,
                           struct count_numbers *ret)
{
    struct errinfo why = {.code = ERR_OK};

    count_numbers_get(&d->stats, cli->config->count.noise_floor,
                      clock_wall_us() / 1000000, ret);
    if (!d->is_running &&
        count_disk_look(cli->config->state_dir, ret, &why) != ERR_OK) {
        cli_fail(&why); /* the others can still be shown */
    }
}

/* ---- lists ---- */

struct list_line {
    struct slice name;
    const struct config_list *config;
    struct list_stat stat;
    struct list_numbers numbers;
    const char *fault; /* NULL: none */
    bool is_open;
    bool is_old; /* max_age has passed */
};

static bool print_list_json(const struct list_line *l)
{
    json_t *o = json_pack("{s:s, s:o, s:b, s:b, s:s}", "type", "list", "list",
                          json_text(l->name), "enabled", l->config->enabled ? 1 : 0,
                          "old", l->is_old ? 1 : 0, "category", l->config->category);

    if (o != NULL && l->is_open) {
        json_t *sizes = json_pack(
            "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "entries",
            (json_int_t)l->stat.entries, "revoked", (json_int_t)l->stat.revoked,
            "recent", (json_int_t)l->stat.recent, "generation",
            (json_int_t)l->stat.generation, "levels", (json_int_t)l->stat.levels,
            "updated", (json_int_t)l->stat.updated_s, "filter_bytes",
            (json_int_t)l->stat.filter_bytes, "index_bytes",
            (json_int_t)l->stat.index_bytes, "log_bytes",
            (json_int_t)l->stat.log_bytes);

        json_object_update(o, sizes);
        json_decref(sizes);
        o = list_numbers_json(o, &l->numbers);
    }
    if (o != NULL && l->fault != NULL) {
        json_object_set_new(o, "fault", json_text(slice_str(l->fault)));
    }
    return json_line(o);
}

static void print_list(const struct list_line *l)
{
    char when[WHEN_MAX];

    (void)printf("list %.*s", SLICE_ARGS(l->name));
    if (l->is_open) {
        (void)printf(
            ": %llu entries, %llu revoked, %llu recent, generation %llu, changed %s%s",
            (unsigned long long)l->stat.entries, (unsigned long long)l->stat.revoked,
            (unsigned long long)l->stat.recent, (unsigned long long)l->stat.generation,
            when_text(l->stat.updated_s, when),
            l->is_old ? " (older than its max_age)" : "");
    }
    if (!l->config->enabled) {
        (void)fputs(", not enabled", stdout);
    }
    if (l->fault != NULL) {
        (void)printf("%s fault: ", l->is_open ? ";" : ":");
        text_show(stdout, l->fault);
    }
    (void)putchar('\n');
    if (l->is_open) {
        list_numbers_print(stdout, "  ", &l->numbers);
    }
}

static bool show_list(struct cli *cli, struct slice name, const struct hits_view *hits)
{
    struct list_line l = {.name = name, .config = config_list_find(cli->config, name)};
    struct list_reader *reader = NULL;
    struct errinfo why = {0};
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 32];
    bool ok = true;

    if (list_reader_open(cli->config->state_dir, name, &cli->keys, &reader, &why) ==
        ERR_OK) {
        l.is_open = true;
        list_reader_stat(reader, &l.stat);
        list_numbers_get(reader, cli->config, hits, &l.numbers);
        l.fault = list_reader_fault(reader);
        l.is_old = l.config->max_age_s > 0 &&
                   l.stat.updated_s + l.config->max_age_s < clock_wall_us() / 1000000;
    } else {
        l.fault = errinfo_format(&why, text, sizeof(text));
    }
    if (cli->json) {
        ok = print_list_json(&l);
    } else {
        print_list(&l);
    }
    list_reader_close(&reader);
    return ok;
}

static int show_lists(struct cli *cli)
{
    struct arena *arena = arena_new(NAMES_MEMORY);
    struct errinfo why = {0};
    struct slice *names = NULL;
    size_t n = 0;
    struct hits_view *hits = NULL;
    int status = CLI_CLEAN;

    if (arena == NULL) {
        return EX_OSERR;
    }
    if (list_names(cli->config->state_dir, arena, &names, &n, &why) != ERR_OK) {
        status = why.code == ERR_NOT_FOUND ? CLI_CLEAN : cli_fail(&why);
        n = 0;
    }
    if (n > 0) {
        status = cli_keys(cli, false);
    }
    hits = state_hits(cli->config);
    for (size_t i = 0; i < n && status == CLI_CLEAN; i++) {
        status = show_list(cli, names[i], hits) ? CLI_CLEAN : EX_OSERR;
    }
    lookup_stats_view_free(&hits);
    arena_free(&arena);
    return status;
}

/* ---- all of it ---- */

/* As JSON lines: rows of feeds or alerts. */
static bool print_rows(json_t *rows, const char *type)
{
    json_t *row = NULL;
    size_t i = 0;
    bool ok = true;

    json_array_foreach(rows, i, row)
    {
        (void)json_object_set_new(row, "type", json_string(type));
        ok = ok && json_line(json_incref(row));
    }
    return ok;
}

static int show_json(struct cli *cli, const struct stat_found *f)
{
    if ((f->daemon != NULL &&
         (!print_daemon_json(f->daemon) || !show_running(cli, f->daemon))) ||
        !print_rows(f->alerts, "alert") || !print_rows(f->feeds, "feed") ||
        !stat_day_show(cli) ||
        (f->daemon != NULL && !json_line(count_numbers_json(f->counts)))) {
        return EX_OSERR;
    }
    return show_lists(cli);
}

static int show_text(struct cli *cli, const struct stat_found *f, bool wants_all)
{
    stat_summary_print(cli, f);
    if (f->daemon != NULL && !show_running(cli, f->daemon)) {
        return EX_OSERR;
    }
    if (!wants_all) {
        (void)puts("`gillnet stat --all` prints every number, `gillnet doctor` checks "
                   "how all is wired up");
        return CLI_CLEAN;
    }
    (void)putchar('\n');
    print_numbers(f->daemon);
    count_numbers_print(f->counts);
    return show_lists(cli);
}

/* The lists, for the summary alone: --json and --all show each by itself. */
static int look_at_lists(struct cli *cli, struct state_lists *ret)
{
    char *all[] = {NULL};
    int status = state_open_lists(cli, all, ret);

    return status == 0 ? state_open_peers(cli, ret) : status;
}

static int show(struct cli *cli, const struct daemon_view *d, bool is_known,
                bool wants_all)
{
    struct state_lists lists = {.v = NULL};
    struct count_numbers counts;
    struct stat_found f = {
        .daemon = is_known ? d : NULL, .counts = &counts, .lists = &lists};
    bool runs = false;
    int status = 0;

    look_at_counts(cli, d, &counts);
    f.alerts = stat_alerts(cli);
    f.feeds = cli->config->nfeeds > 0 ? feed_rows(cli, &runs, &status) : NULL;
    if (cli->json) {
        status = show_json(cli, &f);
    } else {
        int opened = look_at_lists(cli, &lists);
        status = show_text(cli, &f, wants_all);
        status = opened != 0 ? opened : status;
    }
    state_close_lists(&lists);
    json_decref(f.alerts);
    json_decref(f.feeds);
    return status;
}

int cmd_stat(struct cli *cli, int argc, char **argv)
{
    struct daemon_view d = {.has_page = false};
    struct errinfo why = {0};
    bool wants_all = false;
    const struct cli_option options[] = {{"--all", NULL, &wants_all, NULL}};
    int status = cli_options(cli_command("stat"), options, 1, &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc != 1) {
        return cli_usage(cli_command("stat"), "it takes no arguments but --all");
    }
    status = cli_config(cli);
    if (status != 0) {
        return status;
    }
    bool is_known = daemon_look(cli->config, &d, &why) == ERR_OK;
    if (!is_known) {
        cli_fail(&why); /* the lists can still be shown */
    }
    return show(cli, &d, is_known, wants_all);
}
