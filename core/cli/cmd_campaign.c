/* cmd_campaign - `gillnet campaign`: mailings by near replicas, links and templates. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/campaign/campaign_json.h"
#include "core/cli/cli.h"
#include "core/cli/print.h"
#include "core/cli/report_message.h"

enum { SUBJECT_SHOWN = 60, SENDER_SHOWN = 40, US_PER_S = 1000000 };

/* Campaigns and reports. */
struct mailings {
    struct campaign_list list;
    struct votes *votes; /* NULL: not known */
};

/* Returns 0 or an exit status after a message. */
static int read_mailings(struct cli *cli, struct mailings *ret)
{
    struct errinfo why = {.code = ERR_OK};
    int status = cli_config(cli);

    *ret = (struct mailings){.votes = NULL};
    THEN(status,
         cli_status(campaigns_read(cli->config->state_dir, &ret->list, &why), &why));
    if (status != 0 || ret->list.n == 0 || cli_keys(cli, false) != 0) {
        return status;
    }
    const struct reports_options options = {
        .state_dir = cli->config->state_dir, .keys = &cli->keys, .config = cli->config};
    if (reports_view(&options, &ret->votes, &why) != ERR_OK) {
        (void)cli_fail(&why);
        cli_say("what people reported is not known to this command");
    }
    return status;
}

static void free_mailings(struct mailings *m)
{
    campaign_list_fini(&m->list);
    votes_free(&m->votes);
}

/* ---- list ---- */

static void print_votes(const struct mailings *m, const struct campaign *c)
{
    struct votes_opinion v = {.standing = STANDING_OPEN};

    if (m->votes != NULL) {
        campaign_judge(m->votes, c, clock_wall_us() / US_PER_S, &v);
    }
    (void)printf("%-8s %3u spam %3u ham ", standing_name(v.standing), v.nspam, v.nham);
}

static void print_line(const struct cli *cli, const struct mailings *m,
                       const struct campaign *c)
{
    char id[CAMPAIGN_ID_SIZE];
    char last[TEXT_TIME_MAX];
    struct slice sender = campaign_sender(c, cli->config);
    struct slice subject = campaign_subject(c, cli->config);

    campaign_id_print(c->id, id);
    (void)printf("%s %s %6" PRIu64 " messages %4" PRIu64 " networks %6.1f ", id,
                 text_time(c->last_s, last), c->messages, c->networks, c->score);
    print_votes(m, c);
    text_print(stdout, sender, SENDER_SHOWN);
    (void)fputs(sender.n > 0 && subject.n > 0 ? ": " : "", stdout);
    text_print(stdout, subject, SUBJECT_SHOWN);
    (void)putchar('\n');
}

static int print_list(const struct cli *cli, const struct mailings *m, uint64_t limit)
{
    for (size_t i = 0; i < m->list.n && i < limit; i++) {
        if (!cli->json) {
            print_line(cli, m, &m->list.v[i]);
        } else if (!json_line(campaign_json(&m->list.v[i], cli->config, m->votes))) {
            return EX_OSERR;
        }
    }
    return CLI_CLEAN;
}

static int list_all(struct cli *cli, int argc, char **argv)
{
    const char *most = NULL;
    const struct cli_option table[] = {{"--limit", &most, NULL, NULL}};
    struct mailings m;
    uint64_t limit = UINT64_MAX;
    int status = cli_arguments(
        CLI_FORM("campaign", table, 0, 0, "list takes options only"), &argc, argv);

    if (status != 0) {
        return status;
    }
    if (most != NULL && !slice_to_u64(slice_str(most), 10, UINT64_MAX, &limit)) {
        return cli_error(EX_USAGE, "--limit takes a number of campaigns");
    }
    status = read_mailings(cli, &m);
    THEN(status, print_list(cli, &m, limit));
    free_mailings(&m);
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

static void print_campaign(const struct cli *cli, const struct mailings *m,
                           const struct campaign *c)
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
    (void)printf("; mean score %.1f\n  people say ", c->score);
    print_votes(m, c);
    (void)putchar('\n');
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
    struct mailings m = {.votes = NULL};
    int status = cli_arguments(
        CLI_WORDS("campaign", 1, CLI_MANY, "show: name a campaign by its id"), &argc,
        argv);

    THEN(status, read_mailings(cli, &m));
    for (int i = 1; status == 0 && i < argc; i++) {
        const struct campaign *c = find(&m.list, argv[i], &status);
        if (c != NULL && cli->json) {
            status = json_status(campaign_json(c, cli->config, m.votes));
        } else if (c != NULL) {
            print_campaign(cli, &m, c);
        }
    }
    free_mailings(&m);
    return status;
}

/* ---- mark ---- */

static int mark(struct cli *cli, int argc, char **argv)
{
    struct report_request request = {.way = "campaign"};
    uint64_t id = 0;
    json_t *answer = NULL;
    int status = cli_arguments(
        CLI_WORDS("campaign", 2, 2, "mark: say spam or ham, then an id"), &argc, argv);

    if (status != 0) {
        return status;
    }
    request.is_spam = strcmp(argv[1], "spam") == 0;
    request.campaign = argv[2];
    if (!request.is_spam && strcmp(argv[1], "ham") != 0) {
        return cli_usage("campaign", "mark: say spam or ham, then an id");
    }
    if (!campaign_id_read(slice_str(argv[2]), &id)) {
        return cli_error(EX_USAGE, "%s is no id of a campaign", argv[2]);
    }
    status = cli_report_message(cli, &request, SLICE_NONE, &answer);
    if (status == 0 && cli->json) {
        return json_status(answer);
    }
    if (status == 0) {
        (void)printf(
            "campaign %s is reported as %s; gillnet report undo %s ends that\n",
            argv[2], argv[1], json_text_of(answer, "id"));
    }
    json_decref(answer);
    return status;
}

int cmd_campaign(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner commands[] = {
        {"list", list_all}, {"show", show_each}, {"mark", mark}};

    return cli_subcommand(cli, "campaign", commands, LENGTH(commands), argc, argv);
}
