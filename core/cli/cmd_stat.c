/* cmd_stat - `gillnet stat`: the statistics page, its faults, the day, the counts, and every list. */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/stats.h"
#include "core/cli/cli.h"
#include "core/cli/count_disk.h"
#include "core/cli/count_numbers.h"
#include "core/cli/daemon.h"
#include "core/cli/feed_rows.h"
#include "core/cli/json.h"
#include "core/cli/list_numbers.h"
#include "core/cli/stat_alerts.h"
#include "core/cli/stat_day.h"
#include "core/cli/state.h"
#include "core/cli/text.h"
#include "core/list/list.h"

enum { NAMES_MEMORY = 16 << 20, WHEN_MAX = 32, TROUBLE_SHOWN = 400 };

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

static void print_daemon(const struct daemon_view *d)
{
    char when[WHEN_MAX];

    if (!d->has_page) {
        (void)puts("gillnetd has not run yet with this state folder");
        return;
    }
    if (d->is_running) {
        (void)printf("gillnetd runs as process %llu since %s\n",
                     (unsigned long long)d->stats.value[STAT_pid],
                     when_text(d->stats.value[STAT_start_time], when));
    } else {
        (void)printf("gillnetd does not run; its last start was %s\n",
                     when_text(d->stats.value[STAT_start_time], when));
    }
    for (unsigned i = 0; i < d->stats.nfaults; i++) {
        (void)fputs("fault: ", stdout);
        text_show(stdout, d->stats.fault[i]);
        (void)putchar('\n');
    }
    for (unsigned i = 0; i < STAT_COUNT; i++) {
        (void)printf("%-20s %12llu  %s\n", stats_name(i),
                     (unsigned long long)d->stats.value[i], stats_help(i));
    }
}

/* ---- counting ---- */

static bool show_counting(const struct cli *cli, const struct daemon_view *d)
{
    struct count_numbers n;
    struct errinfo why = {.code = ERR_OK};

    count_numbers_get(&d->stats, cli->config->count.noise_floor,
                      clock_wall_us() / 1000000, &n);
    if (!d->is_running && count_disk_look(cli->config->state_dir, &n, &why) != ERR_OK) {
        cli_fail(&why); /* the others can still be shown */
    }
    if (cli->json) {
        return json_line(count_numbers_json(&n));
    }
    count_numbers_print(&n);
    return true;
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
    } else if (status == CLI_CLEAN && !cli->json) {
        (void)puts("no lists yet; make one with `gillnet list import`");
    }
    hits = state_hits(cli->config);
    for (size_t i = 0; i < n && status == CLI_CLEAN; i++) {
        status = show_list(cli, names[i], hits) ? CLI_CLEAN : EX_OSERR;
    }
    hits_view_free(&hits);
    arena_free(&arena);
    return status;
}

/* ---- feeds ---- */

/* Those in trouble; as JSON all. */
static bool show_feeds(struct cli *cli)
{
    json_t *rows = NULL;
    json_t *row = NULL;
    size_t i = 0;
    bool runs = false;
    bool ok = true;
    int status = 0;

    rows = cli->config->nfeeds > 0 ? feed_rows(cli, &runs, &status) : NULL;
    json_array_foreach(rows, i, row)
    {
        const char *trouble = feed_row_trouble(row);

        if (cli->json) {
            (void)json_object_set_new(row, "type", json_string("feed"));
            ok = ok && json_line(json_incref(row));
        } else if (*trouble != '\0') {
            (void)printf("fault: feed:%s ", feed_row_name(row));
            text_print(stdout, slice_str(trouble), TROUBLE_SHOWN);
            (void)putchar('\n');
        }
    }
    json_decref(rows);
    return ok;
}

int cmd_stat(struct cli *cli, int argc, char **argv)
{
    struct daemon_view d;
    struct errinfo why = {0};
    int status = 0;

    (void)argv;
    if (argc != 1) {
        return cli_usage(cli_command("stat"), "it takes no arguments");
    }
    status = cli_config(cli);
    if (status != 0) {
        return status;
    }
    if (daemon_look(cli->config, &d, &why) != ERR_OK) {
        cli_fail(&why); /* the lists can still be shown */
    } else if (cli->json) {
        if (!print_daemon_json(&d)) {
            return EX_OSERR;
        }
    } else {
        print_daemon(&d);
    }
    if (!stat_alerts_show(cli) || !show_feeds(cli) || !stat_day_show(cli) ||
        (why.code == ERR_OK && !show_counting(cli, &d))) {
        return EX_OSERR;
    }
    return show_lists(cli);
}
