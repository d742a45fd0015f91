/* feed_list - `gillnet feed list` and `diff`: the state of each feed, and the differences of two
 * versions. */
#include <sysexits.h>

#include "core/cli/feed_commands.h"
#include "core/cli/print.h"
#include "core/feed/show.h"

enum { TROUBLE_SHOWN = 400 };

/* ---- list ---- */

/* The row of a feed without a hub, from its folder. Makes no keys. */
static json_t *row_of_feed(struct cli *cli, const struct config_feed *feed)
{
    char shown[FEED_SHOWN_MAX];
    char path[FILE_PATH_MAX];
    struct update_state state = {.version = 0};
    struct feed_update *s = NULL;
    struct progress p;
    json_t *row =
        json_pack("{s:s, s:s, s:s, s:b, s:s}", "name", feed->name, "list", feed->list,
                  "url", feed_shown(shown, feed->url), "enabled", feed->enabled ? 1 : 0,
                  "state", feed->enabled ? "waiting" : "off");

    if (path_make(path, NULL, "%s/feeds/%s", cli->config->state_dir, feed->name) ==
            ERR_OK &&
        access(path, F_OK) == 0 && feed_cmd_open(cli, feed, &p, &s) == 0) {
        update_get_state(s, &state);
        update_close(&s);
    }
    feed_state_json(row, &state);
    const char *trouble = state.failures > 0 ? state.trouble : state.refusal.text;
    (void)json_object_set_new(row, "trouble",
                              trouble[0] != '\0' ? json_text(slice_str(trouble))
                                                 : json_null());
    return row;
}

json_t *feed_rows(struct cli *cli, bool *retruns, int *retstatus)
{
    json_t *rows = NULL;

    *retstatus = feed_cmd_ask(cli, "feeds", &rows);
    *retruns = *retstatus >= 0;
    if (*retruns) {
        return rows;
    }
    *retstatus = 0;
    rows = json_array();
    for (size_t i = 0; i < cli->config->nfeeds; i++) {
        (void)json_array_append_new(rows, row_of_feed(cli, &cli->config->feeds[i]));
    }
    return rows;
}

const char *feed_row_name(const json_t *row)
{
    return json_text_of(row, "name");
}

const char *feed_row_trouble(const json_t *row)
{
    const char *trouble = json_text_of(row, "trouble");
    bool is_unheard = json_is_true(json_object_get(row, "enabled")) &&
                      json_integer_value(json_object_get(row, "good_s")) == 0;

    return *trouble == '\0' && is_unheard ? "it has not been fetched yet" : trouble;
}

static void print_feed_row(const json_t *row)
{
    const char *trouble = feed_row_trouble(row);
    char when[TEXT_TIME_MAX];
    json_int_t good_s = json_integer_value(json_object_get(row, "good_s"));

    (void)printf(
        "%-20s %-9s %10" JSON_INTEGER_FORMAT " %-20s %s%s\n", feed_row_name(row),
        json_text_of(row, "state"), json_integer_value(json_object_get(row, "entries")),
        text_time(good_s > 0 ? (uint64_t)good_s : 0, when), json_text_of(row, "url"),
        json_is_true(json_object_get(row, "pinned")) ? " (pinned)" : "");
    if (*trouble != '\0') {
        (void)fputs("    ", stdout);
        text_print(stdout, slice_str(trouble), TROUBLE_SHOWN);
        (void)putchar('\n');
    }
}

static bool is_wanted(const json_t *row, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], feed_row_name(row)) == 0) {
            return true;
        }
    }
    return argc == 1;
}

int feed_cmd_list(struct cli *cli, int argc, char **argv)
{
    json_t *rows = NULL;
    json_t *row = NULL;
    size_t i = 0;
    bool ok = true;
    bool runs = false;
    int status = 0;

    for (int k = 1; k < argc; k++) {
        if (feed_cmd_find(cli, argv[k]) == NULL) {
            return EX_USAGE;
        }
    }
    rows = feed_rows(cli, &runs, &status);
    if (rows == NULL) {
        return status;
    }
    if (!cli->json) {
        (void)printf("%-20s %-9s %10s %-20s %s\n", "NAME", "STATE", "ENTRIES", "GOOD",
                     "URL");
    }
    json_array_foreach(rows, i, row)
    {
        if (!is_wanted(row, argc, argv)) {
            continue;
        }
        if (cli->json) {
            ok = ok && json_line(json_incref(row));
        } else {
            print_feed_row(row);
        }
    }
    json_decref(rows);
    if (!runs && !cli->json && cli->config->nfeeds > 0) {
        (void)fflush(stdout);
        cli_say(
            "the hub does not run, so nothing is fetched: systemctl start gillnet-hub");
    }
    return ok ? 0 : EX_OSERR;
}

/* ---- diff ---- */

struct diff {
    const struct cli *cli;
    uint64_t n[UPDATE_LEFT_OUT + 1];
    bool broken;
};

static void on_line(void *context, const struct update_line *line)
{
    struct diff *d = context;
    json_t *row = feed_line_json(line);

    d->n[line->change]++;
    if (d->cli->json) {
        d->broken = !json_line(row) || d->broken;
        return;
    }
    feed_cmd_print_line(row);
    json_decref(row);
}

static bool read_version(const char *text, uint64_t *ret)
{
    return slice_to_u64(slice_str(text), 10, UINT64_MAX, ret);
}

int feed_cmd_diff(struct cli *cli, int argc, char **argv)
{
    struct diff d = {.cli = cli};
    struct errinfo why = {.code = ERR_OK};
    struct feed_update *s = NULL;
    struct progress p;
    uint64_t from = 0;
    uint64_t to = 0;

    if (argc < 2 || argc > 4 || (argc > 2 && !read_version(argv[2], &from)) ||
        (argc > 3 && !read_version(argv[3], &to))) {
        return cli_usage("feed", "diff: name a feed, and two versions or none");
    }
    const struct config_feed *feed = feed_cmd_find(cli, argv[1]);
    int status = feed == NULL ? EX_USAGE : feed_cmd_open(cli, feed, &p, &s);
    if (status != 0) {
        return status;
    }
    enum err e = update_diff(s, from, to, on_line, &d, &why);
    update_close(&s);
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    if (!cli->json) {
        (void)printf("%s: %" PRIu64 " entered, %" PRIu64 " left\n", feed->name,
                     d.n[UPDATE_ENTERED], d.n[UPDATE_LEFT]);
    }
    return d.broken ? EX_OSERR : 0;
}
