/* cmd_explain - `gillnet explain`: why a message got its verdict, from the journal or a file. */
#include <sysexits.h>

#include "core/cli/explain_print.h"
#include "core/cli/journal_commands.h"
#include "core/explain/explained_find.h"

enum { DAY_S = 86400 };

/* A message to be printed. */
struct printing {
    const struct explain_sources *sources;
    const struct report_cases *reports;
    int status;
};

static void explain_record(void *context, const struct record *r,
                           const struct journal_names *names)
{
    struct printing *p = context;
    const struct explained e = {.record = r,
                                .names = names,
                                .reported = report_of_case(p->reports, r->case_id)};

    p->status = explain_print(p->sources, &e);
}

static int search_journal(struct cli *cli, const char *id, struct printing *p)
{
    struct errinfo why = {.code = ERR_OK};
    struct journal_numbers numbers;
    const struct explained_search s = {.state_dir = cli->config->state_dir,
                                       .id = slice_str(id),
                                       .keys = &cli->keys,
                                       .fn = explain_record,
                                       .context = p};
    bool is_found = false;

    if (explained_find(&s, &numbers, &is_found, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    journal_say_damage(&numbers);
    return is_found
               ? p->status
               : cli_error(EX_NOINPUT,
                           "the journal has no message of the case id, queue id or "
                           "Message-ID %s; it keeps %" PRIu64 " days (journal.keep)",
                           id, cli->config->journal.keep_s / DAY_S);
}

static int explain_id(struct cli *cli, const char *id)
{
    struct errinfo why = {.code = ERR_OK};
    struct report_cases reports = {.v = NULL};
    struct explain_sources sources;
    struct printing p = {.sources = &sources, .reports = &reports};
    bool has_keys = false;
    int status = state_read_keys(cli, &has_keys);

    if (status != 0) {
        return status;
    }
    if (report_cases_read(cli->config->state_dir, &reports, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    explain_sources_open(cli, &sources);
    status = search_journal(cli, id, &p);
    explain_sources_close(&sources);
    report_cases_fini(&reports);
    return status;
}

int cmd_explain(struct cli *cli, int argc, char **argv)
{
    bool is_file = false;
    const struct cli_option table[] = {{"--file", NULL, &is_file, NULL}};
    int status = cli_arguments(
        CLI_FORM("explain", table, 1, CLI_MANY,
                 "name a case id, a queue id or a Message-ID, or --file and files"),
        &argc, argv);

    if (status != 0) {
        return status;
    }
    if (is_file) {
        return explain_files(cli, argv + 1);
    }
    for (int i = 1; i < argc; i++) {
        int one = explain_id(cli, argv[i]);
        status = one > status ? one : status;
    }
    return status;
}
