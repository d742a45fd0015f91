/* cmd_check - `gillnet check`: the verdict of gillnetd on messages, with reasons. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/count_source.h"
#include "core/cli/messages.h"
#include "core/cli/open_lists.h"
#include "core/cli/print.h"
#include "core/verdict/explain.h"

struct check {
    struct cli *cli;
    struct messages_envelope envelope;
    struct list_manager *hold;
    struct hits_view *hits; /* gillnetd's counters of look-ups, or NULL */
    struct rating_sources voices;
    bool is_counting;
    struct count_publisher counts;
    uint64_t nasked;
    uint64_t nuncounted;           /* since gillnetd stopped answering */
    char uncounted[FILE_PATH_MAX]; /* the first of them */
};

/* The result of a message. */
struct outcome {
    struct verdict verdict;
    struct list_hits hits;
    struct message_counts counts;
};

static const char *silence_name(const struct list_hit *h)
{
    return list_suppression_name((enum list_suppression)h->silence);
}

static bool print_outcome_json(const struct check *c, const struct listset *set,
                               const struct message *m, const struct outcome *o)
{
    const struct explain_case explain = {.file = m->file,
                                         .verdict = &o->verdict,
                                         .features = m->features,
                                         .lists = set,
                                         .hits = &o->hits,
                                         .voices = &c->voices,
                                         .counts = &o->counts,
                                         .counts_are_exact =
                                             counts_are_exact(&c->counts),
                                         .time_us = clock_mono_us() - m->start_mono_us};
    return json_line(explain_json(&explain));
}

static void print_outcome_text(const struct check *c, const struct listset *set,
                               const struct message *m, const struct outcome *o)
{
    const struct verdict *v = &o->verdict;
    const struct list_hits *hits = &o->hits;

    text_print(stdout, m->file, FILENAME_MAX);
    printf(": %s, score %g%s%s\n", action_name(v->action), v->score,
           v->allow == NULL ? "" : ", let through by ",
           v->allow == NULL ? "" : v->allow);
    if (v->unproved.n > 0) {
        printf("  allowed, but not authenticated: ");
        text_print(stdout, v->unproved, EVIDENCE_SHOWN);
        printf(" (%s)\n", c->cli->config->trusted_authserv.n == 0
                              ? "trusted_authserv is empty: nothing can prove a sender"
                              : "no Authentication-Results field of a server in "
                                "trusted_authserv proves it");
    }
    for (size_t i = 0; i < v->nsymbols; i++) {
        printf("  %s %g ", v->symbols[i].name, v->symbols[i].score);
        text_print(stdout, v->symbols[i].detail, EVIDENCE_SHOWN);
        (void)putchar('\n');
    }
    for (size_t i = 0; i < hits->n; i++) {
        const struct list_hit *h = &hits->v[i];
        const char *origin = listset_origin(set, h->list);
        const char *silence = silence_name(h);
        printf("  list %s%s%s: %s ", list_reader_name(listset_reader(set, h->list)),
               origin == NULL ? "" : " of ", origin == NULL ? "" : origin,
               feature_type_name(h->report_type));
        text_print(stdout, h->value, EVIDENCE_SHOWN);
        struct rating_result s = rating_of_hit(&c->voices, set, hits, i);
        printf(" %s%s%s (%s%s, confidence %.4f)\n", list_answer_name(h->answer),
               *silence == '\0' ? "" : ", ", silence, rating_name(s.rating),
               s.requires_blocking ? ", requires blocking" : "", s.confidence);
    }
    counted_print(&o->counts);
    evidence_print_limits(v->limits);
    evidence_print_features(m->features, false);
}

static bool is_trusted(const struct check *c)
{
    const struct config *config = c->cli->config;
    for (size_t i = 0; c->envelope.client != NULL && i < config->ntrusted_networks;
         i++) {
        if (ipnet_contains(&config->trusted_networks[i], c->envelope.addr)) {
            return true;
        }
    }
    return false;
}

/* Counts the message, or reads its counts. */
static void count_or_look(struct check *c, struct arena *arena, const struct message *m,
                          struct message_counts *ret)
{
    const struct message_facts facts = {
        .rcpt = m->rcpt,
        .nrcpt = m->nrcpt,
        .ndeliveries = c->envelope.rcpt.n > 0 ? c->envelope.rcpt.n : 1};

    count_message(counts_port(&c->counts), &c->cli->keys, c->cli->config, m->features,
                  &facts, !c->is_counting, arena, ret);
    c->nasked++;
    if (c->is_counting && c->counts.failed.code != ERR_OK) {
        if (c->nuncounted == 0) {
            (void)snprintf(c->uncounted, sizeof(c->uncounted), "%.*s",
                           SLICE_ARGS(m->file));
        }
        c->nuncounted++;
    }
}

/* Names the messages that were not counted because gillnetd stopped. */
static void say_uncounted(const struct check *c)
{
    if (c->nuncounted == 0) {
        return;
    }
    (void)fprintf(
        stderr, "gillnet: %" PRIu64 " of %" PRIu64 " messages were not counted, from ",
        c->nuncounted, c->nasked);
    text_print(stderr, slice_str(c->uncounted), sizeof(c->uncounted));
    (void)fputs(
        " on; see to gillnetd and give these again to `gillnet check --count`\n",
        stderr);
}

static int check_message(void *context, struct arena *arena, const struct message *m)
{
    struct check *c = context;
    struct outcome o = {.hits = {.n = 0}};
    struct verdict_context facts = {
        .is_trusted_network = is_trusted(c),
        .is_authenticated = c->envelope.is_authenticated,
        .client_addr = c->envelope.client == NULL ? NULL : c->envelope.addr,
        .auth = m->auth,
        .counts = &o.counts};

    count_or_look(c, arena, m, &o.counts);
    const struct listset *lists = list_manager_acquire(c->hold);
    verdict_evaluate(c->cli->config, lists, m->features, &facts, 0, arena, &o.verdict,
                     &o.hits);
    bool is_printed = !c->cli->json || print_outcome_json(c, lists, m, &o);
    if (!c->cli->json) {
        print_outcome_text(c, lists, m, &o);
    }
    list_manager_release(c->hold, &lists);
    if (!is_printed) {
        return EX_OSERR;
    }
    return o.verdict.action == ACTION_ACCEPT ? CLI_CLEAN : CLI_HIT;
}

/* Without lists every message is clean. */
static void say_no_lists(const struct check *c)
{
    const struct listset *lists = list_manager_acquire(c->hold);
    if (listset_total(lists) == 0) {
        cli_say("no lists: no link, address or attachment can be found; make one by "
                "`gillnet list import` or a feed");
    }
    list_manager_release(c->hold, &lists);
}

static int open_lists(struct check *c)
{
    struct errinfo info = {.code = ERR_OK};
    bool has_keys = false;
    int status = state_read_keys(c->cli, &has_keys);

    if (status != 0) {
        return status;
    }
    c->hits = state_hits(c->cli->config);
    c->voices = (struct rating_sources){.config = c->cli->config, .view = c->hits};
    c->hold = list_manager_new(c->cli->config->state_dir, &c->cli->keys);
    c->envelope.lists = c->hold;
    if (c->hold == NULL) {
        return cli_nomem();
    }
    if (has_keys && list_manager_refresh(c->hold, c->cli->config, &info) != ERR_OK) {
        return cli_fail(&info);
    }
    say_no_lists(c);
    return 0;
}

int cmd_check(struct cli *cli, int argc, char **argv)
{
    struct check c = {.cli = cli};
    const struct cli_option table[] = {
        {"--count", NULL, &c.is_counting, NULL},
        {"--client", &c.envelope.client, NULL, NULL},
        {"--helo", &c.envelope.helo, NULL, NULL},
        {"--from", &c.envelope.from, NULL, NULL},
        {"--rcpt", NULL, NULL, &c.envelope.rcpt},
        {"--auth", NULL, &c.envelope.is_authenticated, NULL},
    };
    int status =
        cli_arguments(CLI_FORM("check", table, 1, CLI_MANY,
                               "name a file, a folder, or - for standard input"),
                      &argc, argv);

    THEN(status, open_lists(&c));
    THEN(status, counts_open(cli, c.is_counting, &c.counts));
    THEN(status, messages_each(cli, &c.envelope, argv + 1, check_message, &c));
    int closed = counts_close(&c.counts);
    say_uncounted(&c);
    list_manager_free(&c.hold);
    lookup_stats_view_free(&c.hits);
    return closed > status ? closed : status;
}
