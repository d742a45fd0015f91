/* cmd_replay - `gillnet replay`: the messages of the journal under other settings. */
#include <math.h>
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/humanize.h"
#include "core/cli/journal_commands.h"
#include "core/cli/print.h"
#include "core/report/report_cases.h"
#include "core/verdict/journal/replay_tally.h"

enum {
    SENDERS_MAX =
        1 << 16, /* different ones whose changes are counted apart; a power of two */
    SENDERS_SHOWN = 10,
    SENDER_TEXT = 96,
    BAR = 50
};

struct sender {
    char name[SENDER_TEXT];
    uint64_t changed;
    uint64_t harsher;
};

/* Messages with a report. */
struct reported {
    uint64_t spam_marked;
    uint64_t spam_passed;
    uint64_t ham_marked;
    uint64_t ham_passed;
};

struct replaying {
    struct replay_tally tally;
    struct report_cases reports;
    struct reported before;
    struct reported after;
    struct sender *senders; /* SENDERS_MAX slots */
    size_t nsenders;
    uint64_t other_senders; /* changed messages of those without a slot */
};

/* ---- one message ---- */

static void note_reported(struct reported *j, enum report_opinion o, enum action action)
{
    bool is_marked = action != ACTION_ACCEPT;

    j->spam_marked += o == REPORT_SPAM && is_marked;
    j->spam_passed += o == REPORT_SPAM && !is_marked;
    j->ham_marked += o == REPORT_HAM && is_marked;
    j->ham_passed += o == REPORT_HAM && !is_marked;
}

static struct slice sender_of(const struct record *r)
{
    struct slice s = r->from.n > 0 ? r->from : r->header_from;
    return s.n > 0 ? slice_head(s, SENDER_TEXT - 1) : SLICE_LIT("(not kept)");
}

static void note_sender(struct replaying *p, const struct record *r, bool is_harsher)
{
    struct slice name = sender_of(r);
    size_t at = (size_t)hash_local(name) & (SENDERS_MAX - 1);

    while (p->senders[at].changed > 0 &&
           !slice_eq(slice_str(p->senders[at].name), name)) {
        at = (at + 1) & (SENDERS_MAX - 1);
    }
    struct sender *s = &p->senders[at];
    if (s->changed == 0) {
        if (p->nsenders >= SENDERS_MAX / 2) {
            p->other_senders++;
            return;
        }
        p->nsenders++;
        memcpy(s->name, name.p, name.n);
    }
    s->changed++;
    s->harsher += is_harsher;
}

static bool replay_record(void *context, const struct record *r,
                          const struct journal_names *names)
{
    struct replaying *p = context;
    struct replay_result result;

    if (r->kind != RECORD_MESSAGE || !replay_tally_add(&p->tally, r, names, &result)) {
        return true;
    }
    enum report_opinion opinion = report_of_case(&p->reports, r->case_id);
    note_reported(&p->before, opinion, result.before);
    note_reported(&p->after, opinion, result.after);
    if (result.before != result.after) {
        note_sender(p, r, result.after > result.before);
    }
    return true;
}

/* ---- the result ---- */

static int by_changes(const void *a, const void *b)
{
    const struct sender *x = a;
    const struct sender *y = b;

    if (x->changed != y->changed) {
        return x->changed > y->changed ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

static double share_of(uint64_t n, uint64_t of)
{
    return of == 0 ? 0 : (double)n / (double)of;
}

static void print_reported(const char *when, const struct reported *j)
{
    uint64_t spam = j->spam_marked + j->spam_passed;
    uint64_t ham = j->ham_marked + j->ham_passed;

    printf("  %s: %" PRIu64 " of %" PRIu64 " reported spam marked, %" PRIu64
           " of %" PRIu64 " reported ham",
           when, j->spam_marked, spam, j->ham_marked, ham);
    if (j->spam_marked + j->ham_marked > 0) {
        printf("; precision %.4f",
               share_of(j->spam_marked, j->spam_marked + j->ham_marked));
    }
    if (spam > 0) {
        printf("; recall %.4f", share_of(j->spam_marked, spam));
    }
    (void)putchar('\n');
}

static void print_actions(const struct replay_tally *p)
{
    printf("%-12s %12s %12s\n", "action", "before", "after");
    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        uint64_t before = replay_total(p, (enum action)a, false);
        uint64_t after = replay_total(p, (enum action)a, true);
        if (before > 0 || after > 0) {
            printf("%-12s %12" PRIu64 " %12" PRIu64 "\n", action_name((enum action)a),
                   before, after);
        }
    }
    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        for (unsigned b = 0; b < ACTION_COUNT; b++) {
            if (a != b && p->moved[a][b] > 0) {
                printf("  %" PRIu64 " from %s to %s\n", p->moved[a][b],
                       action_name((enum action)a), action_name((enum action)b));
            }
        }
    }
}

static void print_senders(const struct replaying *p)
{
    for (size_t i = 0; i < p->nsenders && i < SENDERS_SHOWN; i++) {
        (void)fputs("  sender ", stdout);
        text_print(stdout, slice_str(p->senders[i].name), SENDER_TEXT);
        printf(": %" PRIu64 " changed, %" PRIu64 " of them to a harsher action\n",
               p->senders[i].changed, p->senders[i].harsher);
    }
    if (p->nsenders > SENDERS_SHOWN) {
        printf("  and %zu more senders\n", p->nsenders - SENDERS_SHOWN);
    }
    if (p->other_senders > 0) {
        printf("  %" PRIu64 " changes of senders beyond the first %d\n",
               p->other_senders, SENDERS_MAX / 2);
    }
}

static void print_text(const struct replaying *p)
{
    const struct replay_tally *t = &p->tally;

    printf("%" PRIu64 " messages, %" PRIu64 " would get another action\n", t->messages,
           replay_changed(t));
    print_actions(&p->tally);
    print_senders(p);
    if (t->estimates > 0) {
        printf("  %" PRIu64
               " of the changes follow from estimated counts, which are never "
               "too low\n",
               t->estimates);
    }
    for (size_t i = 0; i < REPLAY_REASONS && t->reason[i].n > 0; i++) {
        printf("  %" PRIu64 " messages are left out: %s\n", t->reason[i].n,
               t->reason[i].why);
    }
    if (t->outgoing > 0) {
        printf("  besides %" PRIu64 " outgoing messages, which are never marked\n",
               t->outgoing);
    }
    if (p->reports.n == 0) {
        puts("nobody has reported a message, so precision and recall are not known");
    } else {
        puts("of the reported messages, marked or harsher:");
        print_reported("before", &p->before);
        print_reported("after", &p->after);
    }
}

/* ---- plot ---- */

static double threshold_of(const struct replay_tally *p, enum action a)
{
    return p->settings.has_threshold[a] ? p->settings.threshold[a]
                                        : p->settings.config->threshold[a];
}

static void print_bin(const struct replay_tally *p, size_t i, uint64_t most)
{
    double from = REPLAY_BIN_FIRST + (double)i;
    uint64_t n = p->bin_after[i];
    size_t bar = n == 0 ? 0 : 1 + (size_t)((double)n / (double)most * (BAR - 1));

    printf("%s%5.0f %-*.*s %" PRIu64, i == 0 ? "<" : " ", from, BAR, (int)bar,
           "##################################################", n);
    if (p->bin_before[i] != n) {
        printf(" (was %" PRIu64 ")", p->bin_before[i]);
    }
    for (unsigned a = ACTION_HEADER; a < ACTION_COUNT; a++) {
        double t = threshold_of(p, (enum action)a);
        if (t >= from && t < from + 1) {
            printf("  <- %s from %g", action_name((enum action)a), t);
        }
    }
    (void)putchar('\n');
}

static void print_plot(const struct replay_tally *p)
{
    uint64_t most = 1;
    size_t first = REPLAY_BINS;
    size_t last = 0;

    for (size_t i = 0; i < REPLAY_BINS; i++) {
        most = p->bin_after[i] > most ? p->bin_after[i] : most;
        if (p->bin_after[i] > 0 || p->bin_before[i] > 0) {
            first = i < first ? i : first;
            last = i;
        }
    }
    for (unsigned a = ACTION_HEADER; a < ACTION_COUNT; a++) {
        double t = threshold_of(p, (enum action)a);
        size_t bin = isfinite(t) ? replay_bin(t) : 0;
        last = bin > last ? bin : last;
    }
    puts("messages by score, after the change:");
    for (size_t i = first; i <= last; i++) {
        print_bin(p, i, most);
    }
}

/* ---- JSON ---- */

static json_t *reported_json(const struct reported *j)
{
    return json_pack("{s:f, s:f, s:I, s:I, s:I, s:I}", "precision",
                     share_of(j->spam_marked, j->spam_marked + j->ham_marked), "recall",
                     share_of(j->spam_marked, j->spam_marked + j->spam_passed),
                     "spam_marked", (json_int_t)j->spam_marked, "spam_passed",
                     (json_int_t)j->spam_passed, "ham_marked",
                     (json_int_t)j->ham_marked, "ham_passed",
                     (json_int_t)j->ham_passed);
}

static json_t *senders_json(const struct replaying *p)
{
    json_t *array = json_array();

    for (size_t i = 0; i < p->nsenders && i < SENDERS_SHOWN; i++) {
        const struct sender *s = &p->senders[i];
        (void)json_array_append_new(
            array, json_pack("{s:o, s:I, s:I}", "sender", json_text(slice_str(s->name)),
                             "changed", (json_int_t)s->changed, "harsher",
                             (json_int_t)s->harsher));
    }
    return array;
}

static json_t *replay_json(const struct replaying *p)
{
    return json_with(replay_tally_json(&p->tally),
                     json_pack("{s:o, s:o, s:o}", "senders", senders_json(p), "before",
                               reported_json(&p->before), "after",
                               reported_json(&p->after)));
}

/* ---- the command ---- */

static int run_replay(struct cli *cli, struct replaying *p, struct journal_query *q,
                      bool is_plot)
{
    struct errinfo why = {.code = ERR_OK};
    struct journal_numbers numbers;

    q->state_dir = cli->config->state_dir;
    q->fn = replay_record;
    q->context = p;
    p->senders = calloc(SENDERS_MAX, sizeof(*p->senders));
    if (p->senders == NULL) {
        return cli_nomem();
    }
    enum err e = report_cases_read(q->state_dir, &p->reports, &why);
    THEN(e, journal_read(q, &numbers, &why));
    if (e == ERR_OK) {
        journal_say_damage(&numbers);
        qsort(p->senders, SENDERS_MAX, sizeof(*p->senders), by_changes);
    }
    int status = cli_status(e, &why);
    if (status == 0 && cli->json) {
        status = json_status(replay_json(p));
    } else if (status == 0) {
        print_text(p);
        if (is_plot) {
            print_plot(&p->tally);
        }
    }
    report_cases_fini(&p->reports);
    free(p->senders);
    return status;
}

int cmd_replay(struct cli *cli, int argc, char **argv)
{
    struct cli_values settings = {.n = 0};
    struct journal_query q = {.since_us = 0};
    const char *since = NULL;
    const char *until = NULL;
    bool is_plot = false;
    const struct cli_option table[] = {
        {"--since", &since, NULL, NULL},
        {"--until", &until, NULL, NULL},
        {"--set", NULL, NULL, &settings},
        {"--plot", NULL, &is_plot, NULL},
    };
    int status = cli_arguments(
        CLI_FORM("replay", table, 0, 0, "it takes options only: --set KEY=VALUE"),
        &argc, argv);

    THEN(status, cli_config(cli));
    THEN(status, journal_period(since, until, &q));
    struct replaying *p = status == 0 ? calloc(1, sizeof(*p)) : NULL;
    if (p == NULL) {
        return status == 0 ? cli_nomem() : status;
    }
    replay_init(&p->tally.settings, cli->config);
    for (size_t i = 0; status == 0 && i < settings.n; i++) {
        struct errinfo why = {.code = ERR_OK};
        status = cli_status(replay_set(&p->tally.settings, settings.v[i], &why), &why);
    }
    if (status == 0) {
        struct errinfo why = {.code = ERR_OK};
        status = cli_status(replay_check(&p->tally.settings, &why), &why);
    }
    THEN(status, run_replay(cli, p, &q, is_plot));
    free(p);
    return status;
}
