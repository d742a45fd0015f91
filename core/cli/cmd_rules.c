/* cmd_rules - `gillnet rules`: what each rule did, by the messages of the journal. */
#include <sysexits.h>

#include "core/cli/print.h"
#include "core/cli/worth_numbers.h"

/* Takes the row. */
static bool print_rule(const struct cli *cli, json_t *row, bool only_useless)
{
    if (row != NULL && worth_numbers_skip(row, only_useless)) {
        json_decref(row);
        return true;
    }
    if (row == NULL || cli->json) {
        return json_line(row);
    }
    printf("%-32s %-6s %6.2f", json_text_of(row, "rule"), json_text_of(row, "state"),
           json_number_value(json_object_get(row, "score")));
    worth_numbers_print(row);
    json_decref(row);
    return true;
}

static int print_rules(const struct cli *cli, const struct worth_numbers_read *r,
                       bool only_useless)
{
    char lead[64];
    bool ok = true;

    if (!cli->json) {
        (void)snprintf(lead, sizeof(lead), "%-32s %-6s %6s", "rule", "state", "score");
        worth_numbers_head(r, lead);
    }
    for (size_t i = 0; ok && i < cli->config->nrules; i++) {
        ok =
            print_rule(cli, worth_rule_json(r->worth, &cli->config->rules[i], r->today),
                       only_useless);
    }
    return ok ? CLI_CLEAN : EX_OSERR;
}

int cmd_rules(struct cli *cli, int argc, char **argv)
{
    const char *since = NULL;
    bool only_useless = false;
    const struct cli_option table[] = {{"--since", &since, NULL, NULL},
                                       {"--useless", NULL, &only_useless, NULL}};
    struct worth_numbers_read r = {.worth = NULL};
    int status = cli_arguments(CLI_FORM("rules", table, 0, 0, "it takes options only"),
                               &argc, argv);

    THEN(status, cli_config(cli));
    THEN(status, worth_numbers_read(cli, since, &r));
    THEN(status, print_rules(cli, &r, only_useless));
    worth_numbers_free(&r);
    return status;
}
