#include "core/cli/worth_numbers.h"

#include "core/base/clock.h"
#include "core/cli/journal_commands.h"
#include "core/cli/print.h"

enum { US_PER_S = 1000000 };

static bool count_record(void *context, const struct record *r,
                         const struct journal_names *names)
{
    struct worth_numbers_read *w = context;

    (void)names;
    worth_add(w->worth, r);
    return true;
}

/* Days that reach back to the time, today included. */
static unsigned days_since(uint64_t today, uint64_t since_us)
{
    const uint64_t days = today + 1 - since_us / US_PER_S / WORTH_DAY_S;

    return days < WORTH_DAYS_MAX ? (unsigned)days : WORTH_DAYS_MAX;
}

static enum err count_all(const struct cli *cli, struct journal_query *q,
                          struct worth_numbers_read *ret, struct errinfo *reterr)
{
    struct report_cases reports = {.v = NULL};
    struct journal_numbers numbers;

    q->state_dir = cli->config->state_dir;
    q->fn = count_record;
    q->context = ret;
    enum err e = report_cases_read(q->state_dir, &reports, reterr);
    if (e == ERR_OK && !worth_set_reports(ret->worth, &reports)) {
        e = errinfo_nomem(reterr, q->state_dir);
    }
    report_cases_fini(&reports);
    THEN(e, journal_read(q, &numbers, reterr));
    if (e == ERR_OK) {
        journal_say_damage(&numbers);
    }
    return e;
}

int worth_numbers_read(struct cli *cli, const char *since,
                       struct worth_numbers_read *ret)
{
    struct errinfo why = {.code = ERR_OK};
    struct journal_query q = {.since_us = 0};
    int status = journal_period(since, NULL, &q);

    ret->today = clock_wall_us() / US_PER_S / WORTH_DAY_S;
    if (status != 0) {
        return status;
    }
    if (since == NULL) {
        q.since_us = (ret->today + 1 - WORTH_DAYS) * WORTH_DAY_S * US_PER_S;
    }
    ret->worth = worth_new(days_since(ret->today, q.since_us));
    if (ret->worth == NULL) {
        return cli_nomem();
    }
    if (count_all(cli, &q, ret, &why) != ERR_OK) {
        worth_numbers_free(ret);
        return cli_fail(&why);
    }
    return 0;
}

void worth_numbers_free(struct worth_numbers_read *r)
{
    worth_free(&r->worth);
}

void worth_numbers_head(const struct worth_numbers_read *r, const char *lead)
{
    struct worth_totals t;
    char first[TEXT_TIME_MAX];

    worth_totals(r->worth, r->today, &t);
    printf("%" PRIu64 " judged messages; %" PRIu64
           " more are outgoing or were not examined; the oldest is of %s\n"
           "%s %7s %7s %8s %8s %8s %8s %8s\n",
           t.judged, t.others, text_time(t.first_s, first), lead, "today", "7 days",
           "hits", "scored", "alone", "spam", "ham");
    if (t.is_cut) {
        cli_say("some rules, lists or reported messages are too many to be counted");
    }
}

void worth_numbers_print(const json_t *row)
{
    const char *useless = json_string_value(json_object_get(row, "useless"));

    printf(" %7" PRIu64 " %7" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
           " %8" PRIu64 "%s%s\n",
           json_number_of(row, "hits_today"), json_number_of(row, "hits_7d"),
           json_number_of(row, "hits"), json_number_of(row, "scored"),
           json_number_of(row, "alone"), json_number_of(row, "reported_spam"),
           json_number_of(row, "reported_ham"), useless == NULL ? "" : "  ",
           useless == NULL ? "" : useless);
}

bool worth_numbers_skip(const json_t *row, bool only_useless)
{
    return only_useless && !json_is_string(json_object_get(row, "useless"));
}
