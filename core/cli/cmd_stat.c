/* cmd_stat - `gillnet stat`: the statistics page, its faults, the day, the counts, and every
 * list. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/count_numbers.h"
#include "core/cli/feed_commands.h"
#include "core/cli/list_commands.h"
#include "core/cli/open_lists.h"
#include "core/cli/print.h"
#include "core/cli/services.h"
#include "core/cli/stat.h"
#include "core/list/list.h"
#include "core/summary/summary_json.h"
#include "core/telemetry/stats.h"

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

/* Prints the configuration that the programs run; a difference from the file is a fault. */
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
        cli_fail(&why); /* the rest can still be shown */
    }
}

/* ---- lists ---- */

struct list_line {
    struct slice name;
    const struct config_list *config;
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

    if (l->is_open) {
        o = list_numbers_json(o, json_integer((json_int_t)l->numbers.stat.updated_s),
                              &l->numbers);
    }
    if (o != NULL && l->fault != NULL) {
        json_object_set_new(o, "fault", json_text(slice_str(l->fault)));
    }
    return json_line(o);
}

static void print_list(const struct list_line *l)
{
    const struct list_stat *s = &l->numbers.stat;
    char when[TEXT_TIME_MAX];

    (void)printf("list %.*s", SLICE_ARGS(l->name));
    if (l->is_open) {
        (void)printf(": %" PRIu64 " entries, %" PRIu64 " revoked, %" PRIu64
                     " recent, generation %" PRIu64 ", changed %s%s",
                     s->entries, s->revoked, s->recent, s->generation,
                     text_time(s->updated_s, when),
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

struct list_show {
    struct cli *cli;
    const struct hits_view *hits;
    int status; /* of the keys */
};

static int show_list(void *context, struct slice name)
{
    struct list_show *show = context;
    struct cli *cli = show->cli;
    struct list_line l = {.name = name, .config = config_list_find(cli->config, name)};
    struct list_reader *reader = NULL;
    struct errinfo why = {0};
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 32];
    bool ok = true;

    THEN(show->status, cli_keys(cli, false));
    if (show->status != 0) {
        return show->status;
    }
    if (list_reader_open(cli->config->state_dir, name, &cli->keys, &reader, &why) ==
        ERR_OK) {
        l.is_open = true;
        list_numbers_get(reader, cli->config, show->hits, &l.numbers);
        l.fault = list_reader_fault(reader);
        l.is_old = list_is_old(cli->config, reader);
    } else {
        l.fault = errinfo_format(&why, text, sizeof(text));
    }
    if (cli->json) {
        ok = print_list_json(&l);
    } else {
        print_list(&l);
    }
    list_reader_close(&reader);
    return ok ? CLI_CLEAN : EX_OSERR;
}

static int show_lists(struct cli *cli)
{
    struct hits_view *hits = state_hits(cli->config);
    int status = list_cmd_each(cli, show_list, &(struct list_show){cli, hits, 0});

    lookup_stats_view_free(&hits);
    return status;
}

/* ---- the command ---- */

/* The rows of alerts of the hub's answer; NULL: no hub answers. */
static json_t *ask_alerts(const struct cli *cli)
{
    char first[CONTROL_FIRST_MAX] = "";
    json_t *rows = NULL;

    if (control_ask_rows(cli->config->hub.control_socket, "alerts", first, &rows,
                         NULL) == ERR_OK &&
        strcmp(first, "ok") != 0) {
        json_decref(rows);
        rows = NULL;
    }
    return rows;
}

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

/* The numbers of GET /v1/now. */
static bool print_now(const struct cli *cli, const struct stat_found *f)
{
    struct headline h;

    stat_headline(cli, f, &h);
    json_t *o = headline_json(&h);
    (void)json_object_set_new(o, "type", json_string("now"));
    return json_line(o);
}

static int show_json(struct cli *cli, const struct stat_found *f)
{
    if (!print_now(cli, f) ||
        (f->daemon != NULL &&
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

/* The words of the command line. */
struct stat_words {
    bool all;
    const char *server; /* NULL: none, as period */
    const char *period;
};

/* Everything about this server. */
static int show_this(struct cli *cli, const struct stat_found *found, bool wants_all)
{
    struct state_lists lists = {.v = NULL};
    struct stat_found f = *found;
    int status = 0;

    f.lists = &lists;
    if (cli->json) {
        status = show_json(cli, &f);
    } else {
        int opened = look_at_lists(cli, &lists);
        lists.status = opened > lists.status ? opened : lists.status;
        status = show_text(cli, &f, wants_all);
        status = opened != 0 ? opened : status;
    }
    state_close_lists(&lists);
    return status;
}

static int show_stat(struct cli *cli, const struct daemon_view *d, bool is_known,
                     const struct stat_words *words)
{
    struct count_numbers counts;
    struct stat_found f = {.daemon = is_known ? d : NULL, .counts = &counts};
    bool runs = false;
    int status = 0;

    look_at_counts(cli, d, &counts);
    f.alerts = ask_alerts(cli);
    f.feeds = cli->config->nfeeds > 0 ? feed_rows(cli, &runs, &status) : NULL;
    if (words->server != NULL || words->period != NULL) {
        status = stat_servers_show(cli, &f, words->server, words->period);
    } else {
        status = show_this(cli, &f, words->all);
    }
    json_decref(f.alerts);
    json_decref(f.feeds);
    return status;
}

int cmd_stat(struct cli *cli, int argc, char **argv)
{
    struct daemon_view d = {.has_page = false};
    struct errinfo why = {0};
    struct stat_words words = {.server = NULL};
    const struct cli_option options[] = {{"--all", NULL, &words.all, NULL},
                                         {"--history", &words.period, NULL, NULL},
                                         {"--server", &words.server, NULL, NULL}};
    int status = cli_arguments(
        CLI_FORM("stat", options, 0, 0, "it takes options alone"), &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    bool is_known = daemon_look(cli->config, &d, &why) == ERR_OK;
    if (!is_known) {
        cli_fail(&why); /* the lists can still be shown */
    }
    return show_stat(cli, &d, is_known, &words);
}
