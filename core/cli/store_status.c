/* store_status - `gillnet store status`: what the store does, and what to do. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/cli/services.h"
#include "core/cli/store_commands.h"

enum { US_PER_S = 1000000, CELL_MAX = 64 };

int store_ask(struct cli *cli, const char *request, json_t **ret)
{
    const char *hub = cli->config->hub.control_socket;
    struct errinfo why = {.code = ERR_OK};
    char first[CONTROL_FIRST_MAX] = "";
    json_t *rows = NULL;
    enum err e = control_ask_rows(hub, request, first, &rows, &why);

    if (e == ERR_NOT_FOUND) {
        return cli_error(EX_UNAVAILABLE,
                         "%s: the hub, which alone speaks to the store, does not run; "
                         "start gillnet-hub",
                         hub);
    }
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    if (strncmp(first, "ok", 2) != 0) {
        json_decref(rows);
        return cli_error(EX_UNAVAILABLE, "the hub: %s", first);
    }
    *ret = rows;
    return 0;
}

/* ---- parts ---- */

/* "3 s ago" */
static const char *ago(uint64_t then_s, char ret[CELL_MAX])
{
    const uint64_t now_s = clock_wall_us() / US_PER_S;
    char since[HUMANIZE_MAX];

    if (then_s == 0) {
        return "never";
    }
    (void)snprintf(
        ret, CELL_MAX, "%s ago",
        humanize_seconds(now_s > then_s ? (double)(now_s - then_s) : 0, since));
    return ret;
}

static const char *count_of(const json_t *row, const char *name, char ret[HUMANIZE_MAX])
{
    return humanize_count(json_number_of(row, name), ret);
}

static const char *bytes_of(const json_t *row, const char *name, char ret[HUMANIZE_MAX])
{
    return humanize_bytes((double)json_number_of(row, name), ret);
}

static void print_store_counts(const json_t *c)
{
    char a[HUMANIZE_MAX];
    char b[HUMANIZE_MAX];

    (void)printf("counts:  %s; %" PRIu64 " s behind, in %" PRIu64 " cells\n",
                 json_text_of(c, "flow"), json_number_of(c, "lag_s"),
                 json_number_of(c, "cells_behind"));
    (void)printf("         %s increments in %s batches taken",
                 count_of(c, "updates", a), count_of(c, "batches", b));
    (void)printf("; %s batches repeated, %s increments lost\n",
                 count_of(c, "batches_repeated", a), count_of(c, "updates_lost", b));
    (void)printf("log:     record %s; %s", count_of(c, "number", a),
                 bytes_of(c, "spool_bytes", b));
    (void)printf(" of %s\n", bytes_of(c, "spool_limit", a));
}

static void print_view(const json_t *v)
{
    char a[HUMANIZE_MAX];
    char b[HUMANIZE_MAX];
    char when[CELL_MAX];

    (void)printf("totals:  confirmed %s; hot keys: %s told to the others",
                 ago(json_number_of(v, "answered_s"), when),
                 count_of(v, "hot_named", a));
    (void)printf(", %s heard of\n", count_of(v, "hot_read", b));
}

static void print_lists(const json_t *o, const json_t *l)
{
    char a[HUMANIZE_MAX];
    char b[HUMANIZE_MAX];

    (void)printf("lists:   %s; %s objects of others taken, %s refused",
                 json_is_true(json_object_get(o, "current"))
                     ? "all that is shared from here is there"
                     : "some of what is shared from here is not there yet",
                 count_of(o, "applied", a), count_of(o, "refused", b));
    (void)printf(", %s missing\n", count_of(o, "missing", a));
    if (json_number_of(l, "filters") > 0) {
        (void)printf("lines:   %" PRIu64 " of %" PRIu64
                     " filters are there; %s lines asked",
                     json_number_of(l, "complete"), json_number_of(l, "filters"),
                     count_of(l, "lines", a));
        (void)printf(", %s cached, %" PRIu64 " late, %" PRIu64 " lost\n",
                     count_of(l, "cached", b), json_number_of(l, "late"),
                     json_number_of(l, "lost"));
    }
}

static void print_traffic(const json_t *store)
{
    char a[HUMANIZE_MAX];
    char b[HUMANIZE_MAX];

    (void)printf("traffic: %s out, %s in, since the hub's start\n",
                 bytes_of(store, "bytes_out", a), bytes_of(store, "bytes_in", b));
}

static void print_server(const json_t *s)
{
    char version[CELL_MAX];
    char memory[CELL_MAX] = "-";
    char used[HUMANIZE_MAX];
    char most[HUMANIZE_MAX];
    char when[CELL_MAX];
    const bool has_limit = json_number_of(s, "memory_limit") > 0;

    if (json_number_of(s, "memory_bytes") > 0) {
        (void)snprintf(memory, sizeof(memory), "%s%s%s",
                       bytes_of(s, "memory_bytes", used), has_limit ? " of " : "",
                       has_limit ? bytes_of(s, "memory_limit", most) : "");
    }
    (void)snprintf(version, sizeof(version), "%.20s %.20s", json_text_of(s, "product"),
                   json_text_of(s, "version"));
    text_print(stdout, slice_str(json_text_of(s, "address")), EVIDENCE_SHOWN);
    (void)printf("%*s %-8s %-16s %-20s %-12s %s\n",
                 (int)(strlen(json_text_of(s, "address")) < 30
                           ? 30 - strlen(json_text_of(s, "address"))
                           : 0),
                 "", json_text_of(s, "role"), version, memory,
                 ago(json_number_of(s, "answered_s"), when), json_text_of(s, "fault"));
}

static void print_finding(void *context, const struct store_finding *f)
{
    bool *is_first = context;

    if (*is_first) {
        (void)puts("to do:");
        *is_first = false;
    }
    (void)fputs("  ", stdout);
    text_show(stdout, f->text);
    (void)printf("\n    - %s\n", f->advice);
}

static void print_store(const json_t *store)
{
    char text[STORE_TEXT_MAX];
    char when[TEXT_TIME_MAX];
    json_t *row = NULL;
    size_t i = 0;
    bool is_first = true;

    store_summary(store, text);
    (void)printf("store:   ");
    text_show(stdout, text);
    (void)printf("; since %s\n", text_time(json_number_of(store, "since_s"), when));
    print_store_counts(json_object_get(store, "counts"));
    print_view(json_object_get(store, "view"));
    print_lists(json_object_get(store, "lists"), json_object_get(store, "lines"));
    print_traffic(store);
    (void)printf("%-30s %-8s %-16s %-20s %-12s %s\n", "SERVER", "ROLE", "VERSION",
                 "MEMORY", "ANSWERED", "FAULT");
    json_array_foreach(json_object_get(store, "servers"), i, row)
    {
        print_server(row);
    }
    store_findings(store, print_finding, &is_first);
}

int store_cmd_status(struct cli *cli, int argc, char **argv)
{
    json_t *rows = NULL;
    int status = cli_arguments(CLI_WORDS("store", 0, 0, "status takes no arguments"),
                               &argc, argv);

    THEN(status, cli_config(cli));
    THEN(status, store_ask(cli, "store", &rows));
    if (status != 0) {
        return status;
    }
    const json_t *store = json_array_get(rows, 0);
    const bool is_up = strcmp(json_text_of(store, "state"), "up") == 0;
    if (cli->json) {
        status = json_status(json_incref(json_array_get(rows, 0)));
    } else {
        print_store(store);
    }
    json_decref(rows);
    return status != 0 ? status : is_up ? CLI_CLEAN : CLI_HIT;
}
