/* cmd_lookup - `gillnet lookup`: values in the lists, and their counts. */
#include <sysexits.h>

#include "core/cli/cli.h"
#include "core/cli/lookup.h"
#include "core/cli/print.h"
#include "core/message/feature/feature_value.h"

struct query {
    struct cli *cli;
    const char *file; /* values line by line, or NULL */
    bool wants_all;   /* of a file: also the values that are not listed */
    bool is_quiet;    /* only the counts */
    struct lookup *lookup;
    struct slice last; /* value of the last match: a value is counted once */
    uint64_t values;
    uint64_t listed; /* values with a confirmed match */
    uint64_t not_listed;
    uint64_t other; /* only revoked or possible ones */
    uint64_t bad;
    bool is_unsure; /* an index could not be read */
    bool is_output_bad;
    enum list_answer best; /* of the current value */
    enum err failed;       /* the error that ended it early, or ERR_OK */
};

static void count_value(struct query *q)
{
    if (q->last.p == NULL) {
        return;
    }
    q->values++;
    q->listed += q->best == LIST_CONFIRMED;
    q->not_listed += q->best == LIST_NO;
    q->other += q->best != LIST_CONFIRMED && q->best != LIST_NO;
}

/* Adds the rating of the value by all lists; takes object. */
static json_t *with_standing(json_t *object, const struct rating_result *s)
{
    return json_with(object,
                     json_pack("{s:s, s:b, s:f}", "standing", rating_name(s->standing),
                               "requires_blocking", (int)s->requires_blocking,
                               "confidence", s->confidence));
}

/* The reason why the match makes nothing listed; NULL: it does. */
static const char *silent_because(const struct lookup_match *m)
{
    if (m->silence != LIST_NOT_SUPPRESSED) {
        return list_suppression_name(m->silence);
    }
    return m->has_weight ? NULL : "weighs nothing here";
}

static json_t *match_json(const struct lookup_match *m)
{
    char first[TEXT_TIME_MAX];
    char expiry[TEXT_TIME_MAX];

    if (m->list == NULL) {
        return with_standing(json_pack("{s:o, s:s}", "value", json_text(m->value),
                                       "status", "not_listed"),
                             m->standing);
    }
    json_t *object = json_pack(
        "{s:o, s:s, s:s, s:s*, s:s*, s:s, s:o, s:s, s:s, s:o, s:b}", "value",
        json_text(m->value), "status", list_answer_name(m->answer), "list", m->list,
        "origin", m->origin, "silent", silent_because(m), "type",
        feature_type_name(m->class_type), "key", json_text(m->key), "first_seen",
        text_time(m->from->first_seen_s, first), "expiry",
        text_time(m->from->expiry_s, expiry), "source",
        json_text(slice_str(m->from->source)), "explicit", (int)m->from->is_explicit);
    return with_standing(object, m->standing);
}

static void print_standing(const struct rating_result *s)
{
    printf("%s%s, confidence %.4f", rating_name(s->standing),
           s->requires_blocking ? ", requires blocking" : "", s->confidence);
}

static void print_match(const struct lookup_match *m)
{
    char first[TEXT_TIME_MAX];
    char expiry[TEXT_TIME_MAX];

    text_print(stdout, m->value, EVIDENCE_SHOWN);
    if (m->list == NULL) {
        (void)fputs(": not listed (", stdout);
        print_standing(m->standing);
        (void)puts(")");
        return;
    }
    const char *silent = silent_because(m);
    printf(": %s%s%s: %s%s%s %s ", m->list, m->origin == NULL ? "" : " of ",
           m->origin == NULL ? "" : m->origin, list_answer_name(m->answer),
           silent == NULL ? "" : ", ", silent == NULL ? "" : silent,
           feature_type_name(m->class_type));
    text_print(stdout, m->key, EVIDENCE_SHOWN);
    printf(", first seen %s, expires %s, source ",
           text_time(m->from->first_seen_s, first),
           text_time(m->from->expiry_s, expiry));
    text_print(stdout, slice_str(m->from->source), LIST_SOURCE_MAX);
    (void)putchar('\n');
    if (m->is_last) {
        text_print(stdout, m->value, EVIDENCE_SHOWN);
        (void)fputs(": ", stdout);
        print_standing(m->standing);
        (void)putchar('\n');
    }
}

static bool on_match(void *context, const struct lookup_match *m)
{
    struct query *q = context;

    if (q->last.p != m->value.p) {
        count_value(q);
        q->last = m->value;
        q->best = LIST_NO;
    }
    bool is_heard = m->list != NULL && silent_because(m) == NULL;
    q->is_unsure =
        q->is_unsure || (is_heard && m->answer == LIST_POSSIBLE && !m->from->is_member);
    if (is_heard && q->best != LIST_CONFIRMED) {
        q->best = m->answer;
    }
    if (q->is_quiet || (m->list == NULL && q->file != NULL && !q->wants_all)) {
        return true;
    }
    if (q->cli->json) {
        q->is_output_bad = !json_line(match_json(m));
    } else {
        print_match(m);
    }
    return !q->is_output_bad && !ferror(stdout);
}

/* A value of the command line (line 0) or of the file. False stops. */
static bool add_value(void *context, struct slice value, unsigned line)
{
    struct query *q = context;
    struct errinfo info = {.code = ERR_OK};
    enum err e = lookup_add(q->lookup, value, &info);

    if (e == ERR_OK || e == ERR_TIMEOUT) {
        return e == ERR_OK;
    }
    if (e == ERR_NOMEM) {
        q->failed = e;
        return false;
    }
    q->bad++;
    (void)fputs("gillnet: ", stderr);
    if (line != 0) {
        (void)fprintf(stderr, "%s:%u: ", q->file, line);
    }
    text_print(stderr, value, EVIDENCE_SHOWN);
    (void)fprintf(stderr, ": %s\n", info.text[0] == '\0' ? err_text(e) : info.text);
    return true;
}

static bool print_counts(const struct query *q)
{
    if (!q->cli->json) {
        printf("%" PRIu64 " values: %" PRIu64 " listed, %" PRIu64
               " not listed, %" PRIu64 " revoked or unsure, %" PRIu64 " bad\n",
               q->values, q->listed, q->not_listed, q->other, q->bad);
        return true;
    }
    return json_line(json_pack("{s:I, s:I, s:I, s:I, s:I}", "values",
                               (json_int_t)q->values, "listed", (json_int_t)q->listed,
                               "not_listed", (json_int_t)q->not_listed, "other",
                               (json_int_t)q->other, "bad", (json_int_t)q->bad));
}

static int look_up(struct query *q, char **values)
{
    int status = 0;

    if (q->file != NULL) {
        status = text_each_line(q->file, add_value, q, &q->bad);
    }
    for (size_t i = 0; q->file == NULL && values[i] != NULL; i++) {
        if (!value_is_only_counted(slice_str(values[i])) &&
            !add_value(q, slice_str(values[i]), 0)) {
            break;
        }
    }
    if (q->failed == ERR_OK && lookup_finish(q->lookup) == ERR_NOMEM) {
        q->failed = ERR_NOMEM;
    }
    if (q->failed != ERR_OK) {
        return cli_error(EX_OSERR, "%s", err_text(q->failed));
    }
    count_value(q);
    if (q->is_quiet && !q->is_output_bad) {
        q->is_output_bad = !print_counts(q);
    }
    if (status == 0) {
        status = q->listed > 0 ? CLI_HIT : CLI_CLEAN;
        status = q->bad > 0 || q->is_unsure ? EX_DATAERR : status;
    }
    return q->is_output_bad ? EX_OSERR : status;
}

static int run_query(struct query *q, char **values)
{
    char *none[] = {NULL};
    struct state_lists lists;
    int status = state_open_lists(q->cli, none, &lists);

    THEN(status, state_open_peers(q->cli, &lists));
    if (status == 0 && lists.nlists == 0) {
        cli_say(
            "there are no lists in %s/lists, so nothing is listed; see that state_dir is right, or import one with `gillnet list import`",
            q->cli->config->state_dir);
    }
    if (status == 0) {
        q->lookup = lookup_new(&lists, on_match, q);
        if (q->lookup == NULL) {
            status = cli_nomem();
        } else {
            status = look_up(q, values);
        }
        if (q->file == NULL && !q->is_quiet && q->failed == ERR_OK &&
            !q->is_output_bad) {
            int below = lookup_below(q->cli, &lists, values);
            status = below > status ? below : status;
        }
        if (lists.status > status) { /* a list that was not read may hold more */
            status = lists.status;
        }
    }
    lookup_free(&q->lookup);
    state_close_lists(&lists);
    return status;
}

int cmd_lookup(struct cli *cli, int argc, char **argv)
{
    struct query q = {.cli = cli};
    const struct cli_option table[] = {
        {"--file", &q.file, NULL, NULL},
        {"--all", NULL, &q.wants_all, NULL},
        {"--quiet", NULL, &q.is_quiet, NULL},
    };
    if (program_has_option(argv, "--counts")) {
        return program_exec(cli, PROGRAM_LAB, argv);
    }
    int status = cli_options(cli_command("lookup"), table, LENGTH(table), &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc == 2 && strcmp(argv[1], "-") == 0 && q.file == NULL) {
        q.file = "-";
        argc = 1;
    }
    if ((argc < 2) == (q.file == NULL)) {
        return cli_usage("lookup", "give values, or one file of values (- for standard "
                                   "input)");
    }
    status = run_query(&q, argv + 1);
    if (q.file == NULL && !q.is_quiet && !q.is_output_bad) {
        int counted = lookup_counts(cli, argv + 1);
        status = counted > status ? counted : status;
    }
    return status;
}
