/* cmd_rules - `gillnet rules`: the hits of each rule among the messages of the journal. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/journal_commands.h"
#include "core/cli/print.h"
#include "core/report/report_cases.h"
#include "core/verdict/journal/journal_replay.h"

/* One rule. */
struct row {
    const struct config_rule *rule;
    char symbol[VERDICT_SYMBOL_NAME];
    uint64_t hits;
    uint64_t scored; /* of them, with a score */
    uint64_t alone;  /* no other rule or list of a score had the message */
    uint64_t spam;   /* reported */
    uint64_t ham;
};

struct rules_seen {
    const struct report_cases *reports;
    struct row *v;
    size_t n;
    uint64_t messages; /* that were judged */
    uint64_t others;
};

/* Whether another symbol than this one raised the score. */
static bool has_other(const struct record *r, const struct record_symbol *than)
{
    for (size_t i = 0; i < r->nsymbols; i++) {
        if (&r->symbol[i] != than && r->symbol[i].score > 0) {
            return true;
        }
    }
    return false;
}

static void note_hit(struct row *row, const struct record *r,
                     const struct record_symbol *s, enum report_opinion opinion)
{
    row->hits++;
    row->scored += s->score != 0;
    row->alone += !has_other(r, s);
    row->spam += opinion == REPORT_SPAM;
    row->ham += opinion == REPORT_HAM;
}

static bool tally_record(void *context, const struct record *r,
                         const struct journal_names *names)
{
    struct rules_seen *t = context;

    (void)names;
    if (r->kind != RECORD_MESSAGE) {
        return true;
    }
    if (r->unjudged.n > 0) {
        t->others++;
        return true;
    }
    t->messages++;
    for (size_t i = 0; i < r->nsymbols; i++) {
        const struct record_symbol *s = &r->symbol[i];
        for (size_t k = 0; k < t->n; k++) {
            if (slice_eq(s->name, slice_str(t->v[k].symbol))) {
                note_hit(&t->v[k], r, s, report_of_case(t->reports, r->case_id));
            }
        }
    }
    return true;
}

static const char *rule_state(const struct config_rule *rule)
{
    return !rule->enabled ? "off" : rule->shadow ? "shadow" : "live";
}

static bool print_row_json(const struct row *row)
{
    return json_line(json_pack(
        "{s:s, s:s, s:f, s:I, s:I, s:I, s:I, s:I}", "rule", row->rule->name, "state",
        rule_state(row->rule), "score", row->rule->score, "hits", (json_int_t)row->hits,
        "scored", (json_int_t)row->scored, "alone", (json_int_t)row->alone,
        "reported_spam", (json_int_t)row->spam, "reported_ham", (json_int_t)row->ham));
}

static int print_tally(const struct cli *cli, const struct rules_seen *t)
{
    bool ok = true;

    if (!cli->json) {
        printf(
            "%" PRIu64 " judged messages; %" PRIu64
            " more are outgoing or were not examined\n%-24s %-6s %6s %9s %9s %9s %9s %9s\n",
            t->messages, t->others, "rule", "state", "score", "hits", "scored", "alone",
            "spam", "ham");
    }
    for (size_t i = 0; ok && i < t->n; i++) {
        const struct row *row = &t->v[i];
        if (cli->json) {
            ok = print_row_json(row);
        } else {
            printf("%-24s %-6s %6.2f %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64
                   " %9" PRIu64 "\n",
                   row->rule->name, rule_state(row->rule), row->rule->score, row->hits,
                   row->scored, row->alone, row->spam, row->ham);
        }
    }
    return ok ? CLI_CLEAN : EX_OSERR;
}

int cmd_rules(struct cli *cli, int argc, char **argv)
{
    const char *since = NULL;
    const struct cli_option table[] = {{"--since", &since, NULL, NULL}};
    struct errinfo why = {.code = ERR_OK};
    struct report_cases reports = {.v = NULL};
    struct journal_numbers numbers;
    struct rules_seen t = {.reports = &reports};
    struct journal_query q = {.fn = tally_record, .context = &t};
    int status = cli_arguments(CLI_FORM("rules", table, 0, 0, "it takes options only"),
                               &argc, argv);

    THEN(status, cli_config(cli));
    THEN(status, journal_period(since, NULL, &q));
    if (status != 0) {
        return status;
    }
    t.n = cli->config->nrules;
    t.v = calloc(t.n + 1, sizeof(*t.v));
    if (t.v == NULL) {
        return cli_nomem();
    }
    for (size_t i = 0; i < t.n; i++) {
        t.v[i].rule = &cli->config->rules[i];
        replay_symbol(t.v[i].rule, t.v[i].symbol);
    }
    q.state_dir = cli->config->state_dir;
    enum err e = report_cases_read(q.state_dir, &reports, &why);
    THEN(e, journal_read(&q, &numbers, &why));
    if (e == ERR_OK) {
        journal_say_damage(&numbers);
    }
    status = e == ERR_OK ? print_tally(cli, &t) : cli_fail(&why);
    report_cases_fini(&reports);
    free(t.v);
    return status;
}
