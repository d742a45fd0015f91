/* cmd_feed - `gillnet feed`: the subcommands, requests to the hub, and the printed results. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/feed_commands.h"
#include "core/cli/print.h"
#include "core/cli/services.h"
#include "core/feed/show.h"

enum {
    POLL_MS = 100,
    REQUEST_MAX = 128,
    VALUE_SHOWN = 200,
    TEXT_SHOWN = 600,
    S = 1000000
};

const struct config_feed *feed_cmd_find(struct cli *cli, const char *name)
{
    for (size_t i = 0; i < cli->config->nfeeds; i++) {
        if (strcmp(cli->config->feeds[i].name, name) == 0) {
            return &cli->config->feeds[i];
        }
    }
    cli_say("the configuration has no feed \"%.64s\"; gillnet feed list shows them",
            name);
    return NULL;
}

static void pause_a_moment(void)
{
    static const struct timespec moment = {0, POLL_MS * 1000000L};

    (void)nanosleep(&moment, NULL);
}

int feed_cmd_open(struct cli *cli, const struct config_feed *feed,
                  struct progress *progress, struct feed_update **ret)
{
    uint64_t begin_us = clock_mono_us();
    struct errinfo why = {.code = ERR_OK};
    int status = cli_keys(cli, true);
    enum err e = ERR_OK;

    if (status != 0) {
        return status;
    }
    const struct update_options o = {.config = cli->config,
                                     .feed = feed,
                                     .keys = &cli->keys,
                                     .progress = progress_stage,
                                     .context = progress};
    progress_init(progress);
    e = update_open(&o, ret, &why);
    while (e == ERR_LOCKED &&
           clock_mono_us() - begin_us < (uint64_t)FEED_CMD_LOCK_S * S) {
        progress_show(progress, "waiting for the hub", -1);
        pause_a_moment();
        e = update_open(&o, ret, &why);
    }
    progress_clear(progress);
    return cli_status(e, &why);
}

/* ---- the hub ---- */

/* *ret: the rows of the answer, in any case the caller's. Returns 0, an exit status after a
 * message, or -1: no hub runs. */
static int ask_hub_rows(const struct cli *cli, const char *request,
                        char retfirst[CONTROL_FIRST_MAX], json_t **ret)
{
    static const char error[] = "error ";
    struct errinfo why = {.code = ERR_OK};

    *ret = NULL;
    enum err e =
        control_ask_rows(cli->config->hub.control_socket, request, retfirst, ret, &why);
    if (e == ERR_NOT_FOUND) {
        return -1;
    }
    if (e == ERR_OK && strncmp(retfirst, "ok", 2) != 0) {
        size_t skipped =
            strncmp(retfirst, error, sizeof(error) - 1) == 0 ? sizeof(error) - 1 : 0;

        json_decref(*ret);
        *ret = NULL;
        return cli_error(EX_UNAVAILABLE, "the hub: %s", retfirst + skipped);
    }
    return cli_status(e, &why);
}

int feed_cmd_ask(const struct cli *cli, const char *request, json_t **ret)
{
    char first[CONTROL_FIRST_MAX];

    return ask_hub_rows(cli, request, first, ret);
}

/* Shows the hub's progress with the feed. */
static void show_task(struct progress *p, const char *name, const json_t *rows)
{
    size_t i = 0;
    json_t *row = NULL;

    json_array_foreach(rows, i, row)
    {
        const char *stage = json_text_of(row, "stage");
        json_t *share = json_object_get(row, "share");

        if (strcmp(json_text_of(row, "name"), name) == 0) {
            progress_show(p, *stage != '\0' ? stage : "waiting",
                          json_is_number(share) ? json_number_value(share) : -1);
        }
    }
}

int feed_cmd_job(const struct cli *cli, const char *what, const char *name,
                 const char *rest, json_t **ret)
{
    static const char begun[] = "ok job=";
    char request[REQUEST_MAX];
    char first[CONTROL_FIRST_MAX] = "";
    struct progress p;
    bool is_done = false;
    json_t *rows = NULL;

    (void)snprintf(request, sizeof(request), "%s %.32s%s%.20s", what, name,
                   *rest != '\0' ? " " : "", rest);
    int status = ask_hub_rows(cli, request, first, &rows);
    if (status == 0) {
        (void)snprintf(request, sizeof(request), "feed-job %.32s %.64s", name,
                       first + sizeof(begun) - 1);
    }
    progress_init(&p);
    while (status == 0 && !is_done) {
        json_decref(rows);
        status = ask_hub_rows(cli, request, first, &rows);
        is_done = status == 0 && strcmp(first, "ok done") == 0;
        if (status == 0 && !is_done) {
            show_task(&p, name, rows);
            pause_a_moment();
        }
    }
    progress_clear(&p);
    *ret = is_done ? json_incref(json_array_get(rows, 0)) : NULL;
    json_decref(rows);
    return status;
}

/* ---- results ---- */

void feed_cmd_print_line(const json_t *line)
{
    const char *change = json_text_of(line, "change");
    const char *reason = json_text_of(line, "reason");

    (void)printf("%s %s:",
                 strcmp(change, "added") == 0     ? "+"
                 : strcmp(change, "removed") == 0 ? "-"
                                                  : "!",
                 json_text_of(line, "type"));
    text_print(stdout, slice_str(json_text_of(line, "text")), VALUE_SHOWN);
    (void)printf("%s%s%s\n", *reason != '\0' ? " (" : "", reason,
                 *reason != '\0' ? ")" : "");
}

static void print_result(const json_t *r)
{
    const char *result = json_text_of(r, "result");
    size_t i = 0;
    json_t *line = NULL;

    json_array_foreach(json_object_get(r, "lines"), i, line)
    {
        feed_cmd_print_line(line);
    }
    (void)printf("%s: %s", json_text_of(r, "name"),
                 strcmp(result, "same") == 0 ? "nothing changed" : result);
    if (json_object_get(r, "entries") != NULL) {
        (void)printf(", %" PRIu64 " entries, %" PRIu64 " added, %" PRIu64
                     " removed, %" PRIu64 " excluded, %" PRIu64 " bad of %" PRIu64
                     " lines (%s)",
                     json_number_of(r, "entries"), json_number_of(r, "added"),
                     json_number_of(r, "removed"), json_number_of(r, "excluded"),
                     json_number_of(r, "bad_lines"), json_number_of(r, "lines_read"),
                     json_text_of(r, "format"));
    }
    (void)putchar('\n');
}

int feed_cmd_print(const struct cli *cli, json_t *result)
{
    const char *what = json_text_of(result, "result");
    int status = strcmp(what, "failed") == 0    ? EX_UNAVAILABLE
                 : strcmp(what, "refused") == 0 ? EX_DATAERR
                                                : 0;

    if (result == NULL) {
        return cli_error(EX_PROTOCOL, "the hub's answer is not understood");
    }
    if (cli->json) {
        return json_line(result) ? status : EX_OSERR;
    }
    print_result(result);
    if (*json_text_of(result, "text") != '\0') {
        (void)fflush(stdout);
        (void)fprintf(stderr, "gillnet: %s: ", json_text_of(result, "name"));
        text_print(stderr, slice_str(json_text_of(result, "text")), TEXT_SHOWN);
        (void)fputc('\n', stderr);
    }
    json_decref(result);
    return status;
}

static json_t *report_json(const char *name, enum err e, const struct errinfo *why,
                           const struct update_report *report, json_t *lines)
{
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16] = "";
    const char *result = e != ERR_OK                         ? "failed"
                         : report->refusal.reason[0] != '\0' ? "refused"
                         : report->is_same                   ? "same"
                                                             : "ok";
    json_t *all = json_pack("{s:s, s:s}", "name", name, "result", result);

    if (e == ERR_OK) {
        feed_report_json(all, report);
    } else {
        (void)json_object_set_new(
            all, "text", json_text(slice_str(errinfo_format(why, text, sizeof(text)))));
    }
    if (lines != NULL) {
        (void)json_object_set_new(all, "lines", lines);
    }
    return all;
}

int feed_cmd_here(struct cli *cli, const struct config_feed *feed, feed_work_fn *fn,
                  void *context, json_t *lines)
{
    struct feed_work w = {.feed = feed, .context = context, .lines = lines};
    struct errinfo why = {.code = ERR_OK};
    struct progress p;
    int status = feed_cmd_open(cli, feed, &p, &w.stage);

    if (status != 0) {
        json_decref(lines);
        return status;
    }
    enum err e = fn(&w, &why);
    progress_clear(&p);
    update_close(&w.stage);
    return feed_cmd_print(cli, report_json(feed->name, e, &why, &w.report, lines));
}

int cmd_feed(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner commands[] = {
        {"list", feed_cmd_list},         {"test", feed_cmd_test},
        {"update", feed_cmd_update},     {"diff", feed_cmd_diff},
        {"rollback", feed_cmd_rollback}, {"ham", feed_cmd_ham},
    };
    int status = argc > 1 ? cli_config(cli) : 0;

    THEN(status, cli_subcommand(cli, "feed", commands, LENGTH(commands), argc, argv));
    return status;
}
