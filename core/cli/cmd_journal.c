/* cmd_journal - `gillnet journal`: its size and age, erasure of a person. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/campaign/campaign_read.h"
#include "core/cli/change_note.h"
#include "core/cli/humanize.h"
#include "core/cli/journal_commands.h"
#include "core/cli/print.h"
#include "core/config/unit.h"
#include "core/report/report_cases.h"
#include "core/verdict/journal/journal_forget.h"

enum { US_PER_S = 1000000 };

static bool time_ago(const char *text, uint64_t *ret)
{
    uint64_t us = 0;
    uint64_t now = clock_wall_us();

    if (!unit_time_us(text, &us) || us > now) {
        return false;
    }
    *ret = now - us;
    return true;
}

int journal_period(const char *since, const char *until, struct journal_query *ret)
{
    if ((since != NULL && !time_ago(since, &ret->since_us)) ||
        (until != NULL && !time_ago(until, &ret->until_us))) {
        return cli_error(EX_USAGE, "--since and --until take a time before now with a "
                                   "unit, such as 7d or 12h");
    }
    return ret->until_us != 0 && ret->since_us > ret->until_us
               ? cli_error(EX_USAGE, "--since is later than --until; no message is "
                                     "between them")
               : 0;
}

void journal_say_damage(const struct journal_numbers *n)
{
    if (n->damaged > 0) {
        cli_say("%s; damaged records were left out", n->damage);
    }
}

/* ---- stat ---- */

static int print_numbers(const struct cli *cli, const struct journal_numbers *n,
                         const struct report_cases *reports)
{
    char first[TEXT_TIME_MAX];
    char last[TEXT_TIME_MAX];
    char bytes[HUMANIZE_MAX];
    char records[HUMANIZE_MAX];
    double mean = n->records == 0 ? 0 : (double)n->bytes / (double)n->records;

    text_time(n->first_us / US_PER_S, first);
    text_time(n->last_us / US_PER_S, last);
    if (cli->json) {
        return json_status(
            json_pack("{s:I, s:I, s:I, s:I, s:f, s:s, s:s, s:I, s:I}", "records",
                      (json_int_t)n->records, "waiting", (json_int_t)n->waiting,
                      "files", (json_int_t)n->files, "bytes", (json_int_t)n->bytes,
                      "bytes_per_record", mean, "first", first, "last", last, "reports",
                      (json_int_t)reports->n, "damaged", (json_int_t)n->damaged));
    }
    printf("%s messages in %" PRIu64 " files, %s, %.0f bytes a message\n",
           humanize_count(n->records, records), n->files,
           humanize_bytes((double)n->bytes, bytes), mean);
    if (n->records > 0) {
        printf("from %s to %s\n", first, last);
    }
    printf("%zu messages reported as spam or ham\n", reports->n);
    if (n->damaged > 0) {
        printf("%" PRIu64 " damaged places, the first: %s\n", n->damaged, n->damage);
    }
    return CLI_CLEAN;
}

static int show_stat(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    struct journal_numbers numbers;
    struct report_cases reports = {.v = NULL};
    int status = cli_arguments(CLI_WORDS("journal", 0, 0, "stat takes no arguments"),
                               &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    const struct journal_query q = {.state_dir = cli->config->state_dir};
    enum err e = journal_read(&q, &numbers, &why);
    THEN(e, report_cases_read(q.state_dir, &reports, &why));
    status = e == ERR_OK ? print_numbers(cli, &numbers, &reports) : cli_fail(&why);
    report_cases_fini(&reports);
    return status;
}

/* ---- forget ---- */

static int forget_address(struct cli *cli, int argc, char **argv)
{
    struct errinfo why = {.code = ERR_OK};
    struct journal_forgotten done;
    int status = cli_arguments(CLI_WORDS("journal", 1, 1, "name one address to forget"),
                               &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    if (strchr(argv[1], '@') == NULL) {
        return cli_error(EX_USAGE, "%s is no address; write LOCAL@DOMAIN", argv[1]);
    }
    uint64_t ncampaigns = 0;
    uint64_t nchanges = 0;
    struct slice address = slice_str(argv[1]);
    const char *state_dir = cli->config->state_dir;
    enum err e = journal_forget(state_dir, address, &done, &why);
    THEN(e, report_log_forget(state_dir, address, &done.records, &why));
    THEN(e, campaigns_forget(state_dir, address, &ncampaigns, &why));
    THEN(e, changes_forget(state_dir, address, &nchanges, &why));
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    /* whom it forgot stands nowhere */
    cli_note(cli, &(struct change){.kind = CHANGE_journal_forget,
                                   .count = done.records + nchanges});
    if (cli->json) {
        return json_status(
            json_pack("{s:I, s:I, s:I}", "records", (json_int_t)done.records, "files",
                      (json_int_t)done.files, "campaigns", (json_int_t)ncampaigns));
    }
    printf("erased from %" PRIu64 " records and the samples of %" PRIu64
           " campaigns; backups still have it\n",
           done.records, ncampaigns);
    return CLI_CLEAN;
}

int cmd_journal(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner commands[] = {{"stat", show_stat},
                                                 {"forget", forget_address}};

    return cli_subcommand(cli, "journal", commands, LENGTH(commands), argc, argv);
}
