/* cmd_check - `gillnet check`: the verdict of gillnetd on messages, with reasons. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/count_source.h"
#include "core/cli/explain_print.h"
#include "core/cli/messages.h"
#include "core/cli/open_lists.h"
#include "core/cli/print.h"
#include "core/verdict/explain.h"
#include "core/verdict/journal/journal_gather.h"
#include "core/verdict/user/user_verdict.h"

struct check {
    struct cli *cli;
    struct messages_envelope envelope;
    struct list_manager *hold;
    struct contacts *contacts; /* NULL: there is no key */
    struct hits_view *hits;    /* gillnetd's counters of look-ups, or NULL */
    struct rating_sources voices;
    struct users *users; /* their settings */
    struct model *model; /* NULL: nothing was learnt */
    bool is_counting;
    struct explain_sources *sources; /* of `gillnet explain --file`; NULL: check */
    const struct journal_names *names;
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
    struct identity identity;
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
                                         .identity = &o->identity,
                                         .counts_are_exact =
                                             counts_are_exact(&c->counts),
                                         .time_us = clock_mono_us() - m->start_mono_us};
    return json_line(explain_json(&explain));
}

static void print_identity(const struct identity *identity)
{
    const char *before = "  sender: ";

    for (unsigned w = 0; w < IDENTITY_WORDS; w++) {
        if (identity_has(identity, (enum identity_word)w)) {
            printf("%s%s", before, identity_name(w));
            before = ", ";
        }
    }
    if (identity->words != 0) {
        (void)putchar('\n');
    }
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
    print_identity(&o->identity);
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

static void identify(const struct check *c, const struct message *m,
                     const struct message_counts *counts, struct identity *ret)
{
    const struct identity_case sender = {.features = m->features,
                                         .auth = m->auth,
                                         .conversation = m->conversation,
                                         .counts = counts,
                                         .contacts = c->contacts,
                                         .rcpt = m->rcpt,
                                         .nrcpt = m->nrcpt,
                                         .has_empty_sender =
                                             c->envelope.from != NULL &&
                                             strcmp(c->envelope.from, "<>") == 0};

    identity_make(&sender, ret);
}

/* The record that gillnetd would have written. */
static int explain_outcome(const struct check *c, const struct journal_case *found,
                           struct arena *arena, const struct message *m)
{
    struct record *r = arena_alloc(arena, sizeof(*r));
    const struct explained e = {.record = r, .names = c->names, .file = m->file};

    if (r == NULL) {
        return cli_nomem();
    }
    record_init(r, RECORD_MESSAGE);
    journal_gather(found, arena, r);
    journal_gather_verdict(found->config, found->verdict, r);
    r->done = r->wanted;
    r->bytes = m->bytes;
    r->nrcpt = (uint32_t)m->nrcpt;
    r->from = slice_str(c->envelope.from);
    r->has_addr = found->context->client_addr != NULL;
    if (r->has_addr) {
        memcpy(r->addr, found->context->client_addr, sizeof(r->addr));
    }
    return explain_print(c->sources, &e);
}

/* The answer of the model; NULL: there is none. */
static const struct model_answer *ask_model(const struct check *c,
                                            const struct message *m,
                                            struct model_answer *ret)
{
    struct model_options options;
    if (c->model == NULL || m->vector == NULL) {
        return NULL;
    }
    verdict_model_options(c->cli->config, &options);
    model_judge(model_data(c->model), &options, m->vector, ret);
    return ret;
}

static int check_message(void *context, struct arena *arena, const struct message *m)
{
    struct check *c = context;
    struct outcome o = {.hits = {.n = 0}};
    struct model_answer answer;
    struct verdict_context facts = {
        .is_trusted_network = is_trusted(c),
        .is_authenticated = c->envelope.is_authenticated,
        .client_addr = c->envelope.client == NULL ? NULL : c->envelope.addr,
        .auth = m->auth,
        .counts = &o.counts,
        .identity = &o.identity,
        .votes = c->counts.votes,
        .vote_keys = &c->cli->keys,
        .model = ask_model(c, m, &answer),
        .text = m->text,
        .bytes = m->bytes};

    count_or_look(c, arena, m, &o.counts);
    identify(c, m, &o.counts, &o.identity);
    const struct listset *lists = list_manager_acquire(c->hold);
    verdict_evaluate(c->cli->config, lists, m->features, &facts, 0, arena, &o.verdict,
                     &o.hits);
    judged_add(c->cli->config, &o.counts,
               verdict_judgements(c->cli->config, &o.verdict, &facts));
    users_judge(&(struct user_case){.config = c->cli->config,
                                    .users = c->users,
                                    .features = m->features,
                                    .context = &facts,
                                    .rcpt = m->rcpt,
                                    .nrcpt = m->nrcpt,
                                    .nall = c->envelope.rcpt.n,
                                    .arena = arena},
                &o.verdict);
    bool is_printed = true;
    if (c->sources != NULL) {
        const struct journal_case found = {c->cli->config, m->features, lists,
                                           &o.hits,        &facts,      &o.verdict};
        is_printed = explain_outcome(c, &found, arena, m) == 0;
    } else if (c->cli->json) {
        is_printed = print_outcome_json(c, lists, m, &o);
    } else {
        print_outcome_text(c, lists, m, &o);
    }
    list_manager_release(c->hold, &lists);
    if (!is_printed) {
        return EX_OSERR;
    }
    if (c->sources != NULL) {
        return CLI_CLEAN;
    }
    return o.verdict.action == ACTION_ACCEPT ? CLI_CLEAN : CLI_HIT;
}

/* Without lists every message is clean. */
static void say_no_lists(const struct check *c)
{
    const struct listset *lists = list_manager_acquire(c->hold);
    if (listset_total(lists) == 0) {
        cli_say(
            "no lists: links, senders and attachments are looked up nowhere; make one by "
            "`gillnet list import` or a feed");
    }
    list_manager_release(c->hold, &lists);
}

/* Without the store the sender is judged by its results alone. */
static int open_contacts(struct check *c)
{
    struct errinfo info = {.code = ERR_OK};

    if (contacts_view(c->cli->config->state_dir, &c->cli->keys, &c->contacts, &info) !=
        ERR_OK) {
        (void)cli_fail(&info);
        cli_say("correspondents are not known to this command");
    }
    return 0;
}

/* Without it messages are judged as if nothing was learnt. */
static void open_model(struct check *c)
{
    const struct config *config = c->cli->config;
    char path[FILE_PATH_MAX];
    struct errinfo info = {.code = ERR_OK};
    if (config->model.enabled &&
        (path_make(path, &info, "%s/%s", config->state_dir, STATE_MODEL_FILE) !=
             ERR_OK ||
         model_open(path, config->model.prior, &c->model, &info) != ERR_OK)) {
        (void)cli_fail(&info);
        cli_say("messages are judged without what was learnt");
    }
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
    open_model(c);
    c->users = users_new(c->cli->config->state_dir);
    if (c->users == NULL) {
        return cli_nomem();
    }
    status = cli_status(users_refresh(c->users, &info), &info);
    return status == 0 && has_keys ? open_contacts(c) : status;
}

static int check_files(struct check *c, char **paths)
{
    int status = cli_rules(c->cli);

    THEN(status, open_lists(c));
    THEN(status, counts_open(c->cli, c->is_counting, &c->counts));
    THEN(status, messages_each(c->cli, &c->envelope, paths, check_message, c));
    int closed = counts_close(&c->counts);
    say_uncounted(c);
    list_manager_free(&c->hold);
    contacts_close(&c->contacts);
    users_free(&c->users);
    model_close(&c->model);
    lookup_stats_view_free(&c->hits);
    return closed > status ? closed : status;
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

    return status != 0 ? status : check_files(&c, argv + 1);
}

int explain_files(struct cli *cli, char **paths)
{
    struct explain_sources sources;
    struct journal_names *names = calloc(1, sizeof(*names));
    struct check c = {.cli = cli, .sources = &sources, .names = names};
    struct buf head;

    int status = cli_rules(cli);
    buf_init(&head, JOURNAL_HEAD);
    journal_head_print(0, &head);
    if (status == 0 && (names == NULL || journal_head_parse(buf_slice(&head), "", names,
                                                            NULL) != ERR_OK)) {
        status = cli_nomem();
    }
    if (status == 0) {
        explain_sources_open(cli, &sources);
        status = check_files(&c, paths);
        explain_sources_close(&sources);
    }
    buf_fini(&head);
    free(names);
    return status;
}
