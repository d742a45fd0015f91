/* cmd_feed - `gillnet feed`: which subcommand, the hub that is asked, and what is printed. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/daemon_control.h"
#include "core/cli/feed_commands.h"
#include "core/cli/print_json.h"
#include "core/cli/text.h"
#include "core/feed/show.h"

enum {
    POLL_MS = 100,
    REQUEST_MAX = 128,
    VALUE_SHOWN = 200,
    TEXT_SHOWN = 600,
    S = 1000000
};

int feed_cmd_usage(const char *why)
{
    return cli_usage(cli_command("feed"), why);
}

const struct config_feed *feed_cmd_find(struct cli *cli, const char *name)
{
    for (size_t i = 0; i < cli->config->nfeeds; i++) {
        if (strcmp(cli->config->feeds[i].name, name) == 0) {
            return &cli->config->feeds[i];
        }
    }
    (void)fprintf(stderr,
                  "gillnet: the configuration has no feed \"%.64s\"; gillnet feed list "
                  "shows them\n",
                  name);
    return NULL;
}

static void pause_a_moment(void)
{
    static const struct timespec moment = {0, POLL_MS * 1000000L};

    (void)nanosleep(&moment, NULL);
}

static void on_progress(void *context, const char *stage, double share)
{
    progress_show(context, stage, share);
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
                                     .progress = on_progress,
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
    return e == ERR_OK ? 0 : cli_fail(&why);
}

/* ---- the hub ---- */

/* Rows, or the one object that came. */
static json_t *parse(struct slice text)
{
    json_t *rows = json_array();

    while (text.n > 0) {
        struct slice line = slice_cut(&text, '\n');
        json_t *row = json_loadb(line.p, line.n, 0, NULL);

        if (row != NULL) {
            (void)json_array_append_new(rows, row);
        }
    }
    return rows;
}

static int ask(const struct cli *cli, const char *request, struct buf *answer,
               struct slice *retfirst, struct slice *retrest)
{
    struct errinfo why = {.code = ERR_OK};
    enum err e = control_ask(cli->config->hub.control_socket, request, answer, &why);

    if (e == ERR_NOT_FOUND) {
        return -1;
    }
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    *retrest = buf_slice(answer);
    *retfirst = slice_cut(retrest, '\n');
    if (!slice_has_prefix(*retfirst, SLICE_LIT("ok"))) {
        (void)fprintf(stderr, "gillnet: the hub: %.*s\n",
                      SLICE_ARGS(slice_has_prefix(*retfirst, SLICE_LIT("error "))
                                     ? slice_from(*retfirst, 6)
                                     : *retfirst));
        return EX_UNAVAILABLE;
    }
    return 0;
}

/* *retdone, of a job: the rows are what came of it; else tasks. */
static int ask_rows(const struct cli *cli, const char *request, bool *retdone,
                    json_t **ret)
{
    struct slice first = SLICE_NONE;
    struct slice rest = SLICE_NONE;
    struct buf answer;

    buf_init(&answer, CONTROL_ANSWER_MAX);
    int status = ask(cli, request, &answer, &first, &rest);
    *retdone = status == 0 && slice_eq(first, SLICE_LIT("ok done"));
    *ret = status == 0 ? parse(rest) : NULL;
    buf_fini(&answer);
    return status;
}

int feed_cmd_ask(const struct cli *cli, const char *request, json_t **ret)
{
    bool is_done = false;

    return ask_rows(cli, request, &is_done, ret);
}

/* What the hub says of the feed while it works on it. */
static void show_task(struct progress *p, const char *name, const json_t *rows)
{
    size_t i = 0;
    json_t *row = NULL;

    json_array_foreach(rows, i, row)
    {
        const char *of = json_string_value(json_object_get(row, "name"));
        const char *stage = json_string_value(json_object_get(row, "stage"));
        json_t *share = json_object_get(row, "share");

        if (of != NULL && strcmp(of, name) == 0) {
            progress_show(p, stage != NULL && *stage != '\0' ? stage : "waiting",
                          json_is_number(share) ? json_number_value(share) : -1);
        }
    }
}

static int begin_job(const struct cli *cli, const char *request, char *retjob, size_t n)
{
    static const char prefix[] = "ok job=";
    struct slice first = SLICE_NONE;
    struct slice rest = SLICE_NONE;
    struct buf answer;

    buf_init(&answer, CONTROL_ANSWER_MAX);
    int status = ask(cli, request, &answer, &first, &rest);
    if (status == 0) {
        struct slice job = slice_from(first, sizeof(prefix) - 1);
        (void)snprintf(retjob, n, "%.*s", SLICE_ARGS(job));
    }
    buf_fini(&answer);
    return status;
}

int feed_cmd_job(const struct cli *cli, const char *what, const char *name,
                 const char *rest, json_t **ret)
{
    char request[REQUEST_MAX];
    char job[24] = "";
    struct progress p;
    bool is_done = false;
    json_t *rows = NULL;

    (void)snprintf(request, sizeof(request), "%s %.32s%s%.20s", what, name,
                   *rest != '\0' ? " " : "", rest);
    int status = begin_job(cli, request, job, sizeof(job));
    (void)snprintf(request, sizeof(request), "feed-job %.32s %s", name, job);
    progress_init(&p);
    while (status == 0 && !is_done) {
        json_decref(rows);
        status = ask_rows(cli, request, &is_done, &rows);
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

/* ---- what is printed ---- */

static const char *text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));

    return text != NULL ? text : "";
}

static uint64_t number_of(const json_t *row, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(row, name));

    return n > 0 ? (uint64_t)n : 0;
}

void feed_cmd_print_line(const json_t *line)
{
    const char *change = text_of(line, "change");
    const char *reason = text_of(line, "reason");

    (void)printf("%s %s:",
                 strcmp(change, "added") == 0     ? "+"
                 : strcmp(change, "removed") == 0 ? "-"
                                                  : "!",
                 text_of(line, "type"));
    text_print(stdout, slice_str(text_of(line, "text")), VALUE_SHOWN);
    (void)printf("%s%s%s\n", *reason != '\0' ? " (" : "", reason,
                 *reason != '\0' ? ")" : "");
}

static void print_result(const json_t *r)
{
    const char *result = text_of(r, "result");
    size_t i = 0;
    json_t *line = NULL;

    json_array_foreach(json_object_get(r, "lines"), i, line)
    {
        feed_cmd_print_line(line);
    }
    (void)printf("%s: %s", text_of(r, "name"),
                 strcmp(result, "same") == 0 ? "nothing changed" : result);
    if (json_object_get(r, "entries") != NULL) {
        (void)printf(
            ", %" PRIu64 " entries, %" PRIu64 " added, %" PRIu64 " removed, %" PRIu64
            " excluded, %" PRIu64 " bad of %" PRIu64 " lines (%s)",
            number_of(r, "entries"), number_of(r, "added"), number_of(r, "removed"),
            number_of(r, "excluded"), number_of(r, "bad_lines"),
            number_of(r, "lines_read"), text_of(r, "format"));
    }
    (void)putchar('\n');
}

int feed_cmd_print(const struct cli *cli, json_t *result)
{
    const char *what = text_of(result, "result");
    int status = strcmp(what, "failed") == 0    ? EX_UNAVAILABLE
                 : strcmp(what, "refused") == 0 ? EX_DATAERR
                                                : 0;

    if (result == NULL) {
        (void)fputs("gillnet: the hub's answer is not understood\n", stderr);
        return EX_PROTOCOL;
    }
    if (cli->json) {
        return json_line(result) ? status : EX_OSERR;
    }
    print_result(result);
    if (*text_of(result, "text") != '\0') {
        (void)fflush(stdout);
        (void)fprintf(stderr, "gillnet: %s: ", text_of(result, "name"));
        text_print(stderr, slice_str(text_of(result, "text")), TEXT_SHOWN);
        (void)fputc('\n', stderr);
    }
    json_decref(result);
    return status;
}

json_t *feed_cmd_result(const char *name, enum err e, const struct errinfo *why,
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

int cmd_feed(struct cli *cli, int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(struct cli *cli, int argc, char **argv);
    } commands[] = {
        {"list", feed_cmd_list},         {"test", feed_cmd_test},
        {"update", feed_cmd_update},     {"diff", feed_cmd_diff},
        {"rollback", feed_cmd_rollback}, {"ham", feed_cmd_ham},
    };
    int status = 0;

    if (argc < 2) {
        return feed_cmd_usage("say what to do");
    }
    for (size_t i = 0; i < LENGTH(commands); i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            status = cli_config(cli);
            return status != 0 ? status : commands[i].run(cli, argc - 1, argv + 1);
        }
    }
    return feed_cmd_usage("there is no such subcommand");
}
