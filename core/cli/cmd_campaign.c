/* cmd_campaign - `gillnet campaign`: mailings by near replicas, links and templates. */
#include <sysexits.h>

#include "core/campaign/campaign_json.h"
#include "core/cli/cli.h"
#include "core/cli/print.h"
#include "core/config/unit.h"

enum { SUBJECT_SHOWN = 60, SENDER_SHOWN = 40 };

/* ---- list ---- */

static void print_line(const struct cli *cli, const struct campaign *c)
{
    char id[CAMPAIGN_ID_SIZE];
    char last[TEXT_TIME_MAX];
    struct slice sender = campaign_sender(c, cli->config);
    struct slice subject = campaign_subject(c, cli->config);

    campaign_id_print(c->id, id);
    (void)printf("%s %s %6" PRIu64 " messages %4" PRIu64 " networks %6.1f ", id,
                 text_time(c->last_s, last), c->messages, c->networks, c->score);
    text_print(stdout, sender, SENDER_SHOWN);
    (void)fputs(sender.n > 0 && subject.n > 0 ? ": " : "", stdout);
    text_print(stdout, subject, SUBJECT_SHOWN);
    (void)putchar('\n');
}

static int print_list(const struct cli *cli, const struct campaign_list *list,
                      uint64_t limit)
{
    for (size_t i = 0; i < list->n && i < limit; i++) {
        if (!cli->json) {
            print_line(cli, &list->v[i]);
        } else if (!json_line(campaign_json(&list->v[i], cli->config))) {
            return EX_OSERR;
        }
    }
    return CLI_CLEAN;
}

static int list_all(struct cli *cli, int argc, char **argv)
{
    const char *most = NULL;
    const struct cli_option table[] = {{"--limit", &most, NULL, NULL}};
    struct campaign_list list = {.n = 0};
    struct errinfo why = {.code = ERR_OK};
    uint64_t limit = UINT64_MAX;
    int status = cli_arguments(
        CLI_FORM("campaign", table, 0, 0, "list takes options only"), &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    if (most != NULL && !slice_to_u64(slice_str(most), 10, UINT64_MAX, &limit)) {
        return cli_error(EX_USAGE, "--limit takes a number of campaigns");
    }
    status = cli_status(campaigns_read(cli->config->state_dir, &list, &why), &why);
    THEN(status, print_list(cli, &list, limit));
    campaign_list_fini(&list);
    return status;
}

/* ---- show ---- */

static void print_text(const char *name, struct slice text)
{
    if (text.n > 0) {
        (void)printf("  %s ", name);
        text_print(stdout, text, EVIDENCE_SHOWN);
        (void)putchar('\n');
    }
}

static void print_campaign(const struct cli *cli, const struct campaign *c)
{
    char id[CAMPAIGN_ID_SIZE];
    char first[TEXT_TIME_MAX];
    char last[TEXT_TIME_MAX];

    campaign_id_print(c->id, id);
    (void)printf("campaign %s\n", id);
    print_text("sender", campaign_sender(c, cli->config));
    print_text("subject", campaign_subject(c, cli->config));
    (void)printf("  messages %" PRIu64 ", about %" PRIu64 " networks and %" PRIu64
                 " sender domains\n",
                 c->messages, c->networks, c->senders);
    (void)printf("  first %s, last %s\n", text_time(c->first_s, first),
                 text_time(c->last_s, last));
    (void)printf("  verdict");
    for (unsigned i = 0; i < CAMPAIGN_DONE_COUNT; i++) {
        (void)printf("%s %" PRIu64 " %s", i == 0 ? "" : ",", c->done[i],
                     campaign_done_name((enum campaign_done)i));
    }
    (void)printf("; mean score %.1f\n", c->score);
}

/* The campaign of an argument; NULL after a message, with an exit status. */
static const struct campaign *find(const struct campaign_list *list, const char *word,
                                   int *retstatus)
{
    uint64_t id = 0;

    if (!campaign_id_read(slice_str(word), &id)) {
        *retstatus = cli_error(EX_USAGE,
                               "%s is no id of a campaign; gillnet campaign list shows "
                               "them",
                               word);
        return NULL;
    }
    const struct campaign *c = campaign_find(list, id);
    if (c == NULL) {
        *retstatus = cli_error(EX_DATAERR,
                               "there is no campaign %s; it may have ended, because "
                               "none of its messages came for 14 days",
                               word);
    }
    return c;
}

static int show_each(struct cli *cli, int argc, char **argv)
{
    struct campaign_list list = {.n = 0};
    struct errinfo why = {.code = ERR_OK};
    int status = cli_arguments(
        CLI_WORDS("campaign", 1, CLI_MANY, "show: name a campaign by its id"), &argc,
        argv);

    THEN(status, cli_config(cli));
    THEN(status, cli_status(campaigns_read(cli->config->state_dir, &list, &why), &why));
    for (int i = 1; status == 0 && i < argc; i++) {
        const struct campaign *c = find(&list, argv[i], &status);
        if (c != NULL && cli->json) {
            status = json_status(campaign_json(c, cli->config));
        } else if (c != NULL) {
            print_campaign(cli, c);
        }
    }
    campaign_list_fini(&list);
    return status;
}

int cmd_campaign(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner commands[] = {{"list", list_all},
                                                 {"show", show_each}};

    return cli_subcommand(cli, "campaign", commands, LENGTH(commands), argc, argv);
}
