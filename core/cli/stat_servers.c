/* stat_servers - `gillnet stat --server` and `--history`: the servers of this owner, and their mail
 * by ten minutes, hours or days. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/print.h"
#include "core/cli/stat.h"
#include "core/summary/summary_json.h"

enum { US_PER_S = 1000000 };

void stat_headline(const struct cli *cli, const struct stat_found *f,
                   struct headline *ret)
{
    headline_read(cli->config->state_dir, clock_wall_us() / US_PER_S, ret);
    headline_add_alerts(ret, f->alerts);
    headline_add_feeds(ret, f->feeds);
}

/* ---- servers ---- */

static void print_server(json_t *row)
{
    const char *summary = json_text_of(row, "summary");
    json_t *headline = json_object_get(row, "headline");
    json_t *today = json_object_get(headline, "today");

    (void)printf("%s%s: ", json_text_of(row, "name"),
                 json_is_true(json_object_get(row, "self")) ? " (this server)" : "");
    if (!json_is_object(headline)) {
        (void)fputs(summary, stdout);
        text_print(stdout, slice_str(json_text_of(row, "why")), ERRINFO_TEXT_MAX);
        (void)putchar('\n');
        return;
    }
    (void)printf("%s, %" PRIu64 " needs; %" PRIu64 " messages today, %" PRIu64
                 " refused, %" PRIu64 " marked; gillnet %s; %s, %" PRIu64 " s old\n",
                 json_text_of(headline, "state"), json_number_of(headline, "needs"),
                 json_number_of(today, "messages"), json_number_of(headline, "refused"),
                 json_number_of(today, "header"), json_text_of(headline, "version"),
                 summary, json_number_of(row, "age_s"));
}

/* True if the row is of this server, or all are wanted. */
static bool is_named_so(json_t *row, const char *server)
{
    return strcmp(server, "all") == 0 || strcmp(server, json_text_of(row, "name")) == 0;
}

static void print_total(const struct cli *cli, json_t *all)
{
    json_t *total = json_object_get(all, "total");

    if (cli->json) {
        (void)json_line(json_pack("{s:s, s:O, s:O}", "type", "total", "today", total,
                                  "missing", json_object_get(all, "missing")));
        return;
    }
    (void)printf("all current servers: %" PRIu64 " messages today\n",
                 json_number_of(total, "messages"));
}

static int show_servers(const struct cli *cli, json_t *all, const char *server)
{
    json_t *row = NULL;
    size_t i = 0;
    unsigned n = 0;

    json_array_foreach(json_object_get(all, "servers"), i, row)
    {
        if (!is_named_so(row, server)) {
            continue;
        }
        n++;
        if (cli->json) {
            (void)json_object_set_new(row, "type", json_string("server"));
            (void)json_line(json_incref(row));
        } else {
            print_server(row);
        }
    }
    if (n == 0) {
        return cli_error(EX_NOINPUT, "stat: no server of this owner has the name %s",
                         server);
    }
    if (strcmp(server, "all") == 0) {
        print_total(cli, all);
    }
    return CLI_CLEAN;
}

/* ---- history ---- */

static void print_bucket(json_t *bucket)
{
    char when[TEXT_TIME_MAX];
    const char *name = NULL;
    json_t *v = NULL;

    (void)printf("%s %" PRIu64 " messages",
                 text_time(json_number_of(bucket, "at"), when),
                 json_number_of(bucket, "messages"));
    json_object_foreach(bucket, name, v)
    {
        if (strcmp(name, "at") != 0 && strcmp(name, "messages") != 0 &&
            json_integer_value(v) > 0) {
            (void)printf(", %s %" JSON_INTEGER_FORMAT, name, json_integer_value(v));
        }
    }
    (void)putchar('\n');
}

static void name_missing(json_t *all)
{
    json_t *name = NULL;
    size_t i = 0;

    json_array_foreach(json_object_get(all, "missing"), i, name)
    {
        (void)cli_error(CLI_CLEAN,
                        "stat: server %s has no current summary; see `gillnet stat "
                        "--server all`",
                        json_string_value(name));
    }
}

static int show_history(const struct cli *cli, json_t *all)
{
    json_t *bucket = NULL;
    size_t i = 0;

    json_array_foreach(json_object_get(all, "buckets"), i, bucket)
    {
        if (cli->json) {
            (void)json_object_set_new(bucket, "type", json_string("bucket"));
            (void)json_line(json_incref(bucket));
        } else if (json_number_of(bucket, "messages") > 0) {
            print_bucket(bucket);
        }
    }
    name_missing(all);
    return CLI_CLEAN;
}

/* ---- the command ---- */

int stat_servers_show(const struct cli *cli, const struct stat_found *f,
                      const char *server, const char *period)
{
    struct headline self;
    struct errinfo why = {.code = ERR_OK};
    json_t *all = NULL;
    struct servers_ask ask = {.state_dir = cli->config->state_dir,
                              .now_s = clock_wall_us() / US_PER_S,
                              .self = &self};
    int status = 0;

    if (period != NULL && !period_find(slice_str(period), &ask.period)) {
        return cli_usage("stat", "--history takes day, week, month, year or years");
    }
    stat_headline(cli, f, &self);
    enum err e = period != NULL
                     ? servers_history_json(&ask, slice_str(server), &all, &why)
                     : servers_json(&ask, &all, &why);
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    status = period != NULL ? show_history(cli, all) : show_servers(cli, all, server);
    json_decref(all);
    return status;
}
