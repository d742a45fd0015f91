/* store_verify - `gillnet store verify` and `repair`: whether the store has what this host put
 * there, and to have it sent again. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/humanize.h"
#include "core/cli/print.h"
#include "core/cli/services.h"
#include "core/cli/store_commands.h"

enum { PAUSE_US = 200 * 1000, WAIT_S = 90, US_PER_S = 1000000, REQUEST_MAX = 64 };

static void pause_shortly(void)
{
    const struct timespec t = {.tv_nsec = (long)PAUSE_US * 1000};

    (void)nanosleep(&t, NULL);
}

/* ---- a job of the hub ---- */

/* Returns 0 and the rows of its report, or an exit status after a message. */
static int await_job(struct cli *cli, const char *job, json_t **ret)
{
    const uint64_t until_us = clock_mono_us() + (uint64_t)WAIT_S * US_PER_S;
    struct errinfo why = {.code = ERR_OK};
    char first[CONTROL_FIRST_MAX] = "ok running";
    char request[REQUEST_MAX];
    enum err e = ERR_OK;

    (void)snprintf(request, sizeof(request), "store-job %.20s", job);
    while (e == ERR_OK && strcmp(first, "ok running") == 0) {
        if (clock_mono_us() > until_us) {
            return cli_error(EX_TEMPFAIL, "the hub does not come to an end");
        }
        pause_shortly();
        json_decref(*ret);
        *ret = NULL;
        e = control_ask_rows(cli->config->hub.control_socket, request, first, ret,
                             &why);
    }
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    return strcmp(first, "ok done") == 0
               ? 0
               : cli_error(EX_UNAVAILABLE, "the hub: %s", first);
}

static int run_job(struct cli *cli, const char *request, json_t **ret)
{
    static const char begun[] = "ok job=";
    struct errinfo why = {.code = ERR_OK};
    char first[CONTROL_FIRST_MAX] = "";
    json_t *none = NULL;
    enum err e =
        control_ask_rows(cli->config->hub.control_socket, request, first, &none, &why);

    json_decref(none);
    if (e == ERR_NOT_FOUND) {
        return cli_error(EX_UNAVAILABLE, "%s: the hub does not run; start gillnet-hub",
                         cli->config->hub.control_socket);
    }
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    if (strncmp(first, begun, sizeof(begun) - 1) != 0) {
        return cli_error(EX_UNAVAILABLE, "the hub: %s", first);
    }
    return await_job(cli, first + sizeof(begun) - 1, ret);
}

/* ---- the report ---- */

static void print_summary(const json_t *s)
{
    char a[HUMANIZE_MAX];
    char b[HUMANIZE_MAX];

    (void)printf("cells:  %" PRIu64 " answered, %" PRIu64 " behind\n",
                 json_number_of(s, "cells"), json_number_of(s, "cells_behind"));
    (void)printf("parts:  %s looked at, the largest of %" PRIu64 " fields; %" PRIu64
                 " missing, %" PRIu64 " without an end\n",
                 humanize_count(json_number_of(s, "parts"), a),
                 json_number_of(s, "largest_part"), json_number_of(s, "parts_missing"),
                 json_number_of(s, "parts_endless"));
    (void)printf("counts: %s keys of %" PRIu64 " buckets compared",
                 humanize_count(json_number_of(s, "keys"), a),
                 json_number_of(s, "buckets"));
    (void)printf("; %" PRIu64 " too low, by %s\n", json_number_of(s, "keys_low"),
                 humanize_count(json_number_of(s, "lacking"), b));
}

static bool has_trouble(const json_t *s)
{
    static const char *const names[] = {"cells_behind",  "parts_missing",
                                        "parts_endless", "keys_low",
                                        "strangers",     "failed"};

    for (size_t i = 0; i < LENGTH(names); i++) {
        if (json_number_of(s, names[i]) > 0) {
            return true;
        }
    }
    return false;
}

static int print_report(const struct cli *cli, json_t *rows)
{
    bool is_bad = false;
    json_t *row = NULL;
    size_t i = 0;

    json_array_foreach(rows, i, row)
    {
        is_bad = is_bad || has_trouble(row);
        if (cli->json) {
            if (!json_line(json_incref(row))) {
                return EX_OSERR;
            }
        } else if (strcmp(json_text_of(row, "type"), "summary") == 0) {
            print_summary(row);
        } else {
            text_show(stdout, json_text_of(row, "text"));
            (void)putchar('\n');
        }
    }
    return is_bad ? CLI_HIT : CLI_CLEAN;
}

static int verify(struct cli *cli)
{
    json_t *rows = NULL;
    int status = run_job(cli, "store-verify", &rows);

    THEN(status, print_report(cli, rows));
    json_decref(rows);
    return status;
}

/* ---- the commands ---- */

int store_cmd_verify(struct cli *cli, int argc, char **argv)
{
    int status = cli_arguments(CLI_WORDS("store", 0, 0, "verify takes no arguments"),
                               &argc, argv);

    THEN(status, cli_config(cli));
    return status == 0 ? verify(cli) : status;
}

/* Until the store has all that this host counted. */
static int await_store(struct cli *cli)
{
    const uint64_t until_us = clock_mono_us() + (uint64_t)WAIT_S * US_PER_S;
    bool is_done = false;
    int status = 0;

    while (status == 0 && !is_done && clock_mono_us() < until_us) {
        json_t *rows = NULL;

        pause_shortly();
        status = store_ask(cli, "store", &rows);
        const json_t *counts = json_object_get(json_array_get(rows, 0), "counts");
        is_done = status == 0 && json_number_of(counts, "cells_behind") == 0 &&
                  strcmp(json_text_of(counts, "flow"), "sending") == 0;
        json_decref(rows);
    }
    return status == 0 && !is_done
               ? cli_error(EX_TEMPFAIL, "the store still lacks counts of this host: "
                                        "gillnet store status")
               : status;
}

int store_cmd_repair(struct cli *cli, int argc, char **argv)
{
    json_t *rows = NULL;
    int status = cli_arguments(CLI_WORDS("store", 0, 0, "repair takes no arguments"),
                               &argc, argv);

    THEN(status, cli_config(cli));
    THEN(status, run_job(cli, "store-repair", &rows));
    json_decref(rows);
    THEN(status, await_store(cli));
    return status == 0 ? verify(cli) : status;
}
