/* cmd_explain - `gillnet explain`: why a message got its verdict, from the journal or a file. */
#include <sysexits.h>

#include "core/base/case_id.h"
#include "core/cli/explain_print.h"
#include "core/cli/journal_commands.h"
#include "core/report/report_cases.h"
#include "core/verdict/journal/journal.h"

enum { US_PER_S = 1000000, CASE_MARGIN_S = 60, DAY_S = 86400 };

struct search {
    uint64_t case_id; /* 0: the text is none */
    uint64_t message_id[KEYRING_MAX];
    unsigned nkeys;
    struct slice queue_id;
    struct explain_sources *sources;
    const struct report_cases *reports;
    bool is_found;
    int status;
};

static bool is_sought(const struct search *s, const struct record *r)
{
    bool is = (s->case_id != 0 && r->case_id == s->case_id) ||
              slice_eq(r->queue_id, s->queue_id);

    for (unsigned i = 0; i < s->nkeys; i++) {
        is = is || (r->message_id != 0 && r->message_id == s->message_id[i]);
    }
    return is;
}

/* The newest message of that id. */
static bool explain_record(void *context, const struct record *r,
                           const struct journal_names *names)
{
    struct search *s = context;

    if (r->kind != RECORD_MESSAGE || !is_sought(s, r)) {
        return true;
    }
    const struct explained e = {.record = r,
                                .names = names,
                                .reported = report_of_case(s->reports, r->case_id)};
    s->is_found = true;
    s->status = explain_print(s->sources, &e);
    return false;
}

static int search_journal(struct cli *cli, struct search *s)
{
    struct errinfo why = {.code = ERR_OK};
    struct journal_numbers numbers;
    struct journal_query q = {.state_dir = cli->config->state_dir,
                              .newest_first = true,
                              .fn = explain_record,
                              .context = s};

    if (s->case_id != 0) { /* the id tells the second */
        uint64_t at = case_id_time_s(s->case_id);
        q.since_us = (at - CASE_MARGIN_S) * US_PER_S;
        q.until_us = (at + CASE_MARGIN_S) * US_PER_S;
    }
    enum err e = journal_read(&q, &numbers, &why);
    if (e == ERR_OK && !s->is_found &&
        s->case_id != 0) { /* or a queue id of that form */
        q.since_us = 0;
        q.until_us = 0;
        e = journal_read(&q, &numbers, &why);
    }
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    journal_say_damage(&numbers);
    return 0;
}

static void look_for(struct cli *cli, const char *id, struct search *s)
{
    s->queue_id = slice_str(id);
    s->nkeys = cli->keys.n;
    for (unsigned i = 0; i < s->nkeys; i++) {
        s->message_id[i] = journal_message_id(&cli->keys.ring[i], slice_str(id));
    }
    if (!case_id_read(slice_str(id), &s->case_id)) {
        s->case_id = 0;
    }
}

static int explain_id(struct cli *cli, const char *id)
{
    struct errinfo why = {.code = ERR_OK};
    struct report_cases reports = {.v = NULL};
    struct explain_sources sources;
    struct search s = {.sources = &sources, .reports = &reports};
    bool has_keys = false;
    int status = state_read_keys(cli, &has_keys);

    if (status != 0) {
        return status;
    }
    look_for(cli, id, &s);
    if (report_cases_read(cli->config->state_dir, &reports, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    explain_sources_open(cli, &sources);
    status = search_journal(cli, &s);
    explain_sources_close(&sources);
    report_cases_fini(&reports);
    if (status == 0 && !s.is_found) {
        return cli_error(EX_NOINPUT,
                         "the journal has no message of the case id, queue id or "
                         "Message-ID %s; it keeps %" PRIu64 " days (journal.keep)",
                         id, cli->config->journal.keep_s / DAY_S);
    }
    return status != 0 ? status : s.status;
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
