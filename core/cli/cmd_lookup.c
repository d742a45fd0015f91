/* cmd_lookup - `gillnet lookup`: values in the lists, and their counts. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/lookup.h"
#include "core/cli/print.h"
#include "core/list/query.h"
#include "core/list/rating_input.h"
#include "core/message/feature/feature_value.h"

struct lookup {
    struct cli *cli;
    const char *file; /* values line by line, or NULL */
    bool wants_all;   /* of a file: also the values that are not listed */
    bool is_quiet;    /* only the counts */
    struct query *batch;
    struct query_lists lists;
    struct query_list *v; /* the lists */
    uint64_t values;
    uint64_t listed; /* values with a confirmed match */
    uint64_t not_listed;
    uint64_t other; /* only revoked or possible ones */
    uint64_t bad;
    bool is_unsure; /* an index could not be read */
    bool is_output_bad;
    enum err failed; /* the error that ended it early, or ERR_OK */
};

/* One value on one list. */
struct match {
    const struct query_result *value;
    const struct query_match *found; /* NULL: the value is on no list */
    const struct query_list *list;
    bool is_last; /* of this value */
};

/* Adds the rating of the value by all lists; takes object. */
static json_t *with_rating(json_t *object, const struct rating_result *s)
{
    return json_with(object,
                     json_pack("{s:s, s:b, s:f}", "rating", rating_name(s->rating),
                               "requires_blocking", (int)s->requires_blocking,
                               "confidence", s->confidence));
}

/* The reason why the match makes nothing listed; NULL: it does. */
static const char *silent_because(const struct match *m)
{
    if (m->found->silence != LIST_NOT_SUPPRESSED) {
        return list_suppression_name(m->found->silence);
    }
    return m->list->share > 0 ? NULL : "weighs nothing here";
}

static json_t *match_json(const struct match *m)
{
    const struct query_match *f = m->found;
    json_t *value = json_text(m->value->value);
    char first[TEXT_TIME_MAX];
    char expiry[TEXT_TIME_MAX];

    if (f == NULL) {
        return with_rating(
            json_pack("{s:o, s:s}", "value", value, "status", "not_listed"),
            &m->value->result);
    }
    json_t *object = json_pack(
        "{s:o, s:s, s:s, s:s*, s:s*, s:s, s:o, s:s, s:s, s:o, s:b}", "value", value,
        "status", list_answer_name(f->answer), "list",
        list_reader_name(m->list->reader), "origin", m->list->origin, "silent",
        silent_because(m), "type", feature_type_name(f->key->class_type), "key",
        json_text(f->key->text), "first_seen", text_time(f->from.first_seen_s, first),
        "expiry", text_time(f->from.expiry_s, expiry), "source",
        json_text(slice_str(f->from.source)), "explicit", (int)f->from.is_explicit);
    return with_rating(object, &m->value->result);
}

static void print_rating(const struct rating_result *s)
{
    printf("%s%s, confidence %.4f", rating_name(s->rating),
           s->requires_blocking ? ", requires blocking" : "", s->confidence);
}

static void print_match(const struct match *m)
{
    const struct query_match *f = m->found;
    char first[TEXT_TIME_MAX];
    char expiry[TEXT_TIME_MAX];

    text_print(stdout, m->value->value, EVIDENCE_SHOWN);
    if (f == NULL) {
        (void)fputs(": not listed (", stdout);
        print_rating(&m->value->result);
        (void)puts(")");
        return;
    }
    const char *silent = silent_because(m);
    const char *origin = m->list->origin;
    printf(": %s%s%s: %s%s%s %s ", list_reader_name(m->list->reader),
           origin == NULL ? "" : " of ", origin == NULL ? "" : origin,
           list_answer_name(f->answer), silent == NULL ? "" : ", ",
           silent == NULL ? "" : silent, feature_type_name(f->key->class_type));
    text_print(stdout, f->key->text, EVIDENCE_SHOWN);
    printf(", first seen %s, expires %s, source ",
           text_time(f->from.first_seen_s, first), text_time(f->from.expiry_s, expiry));
    text_print(stdout, slice_str(f->from.source), LIST_SOURCE_MAX);
    (void)putchar('\n');
    if (m->is_last) {
        text_print(stdout, m->value->value, EVIDENCE_SHOWN);
        (void)fputs(": ", stdout);
        print_rating(&m->value->result);
        (void)putchar('\n');
    }
}

/* False stops. */
static bool print_or_skip(struct lookup *l, const struct match *m)
{
    if (l->is_quiet || (m->found == NULL && l->file != NULL && !l->wants_all)) {
        return true;
    }
    if (l->cli->json) {
        l->is_output_bad = !json_line(match_json(m));
    } else {
        print_match(m);
    }
    return !l->is_output_bad && !ferror(stdout);
}

static bool is_shown(const struct query_match *f)
{
    return f->answer != LIST_FALSE_POSITIVE;
}

/* Counts the value and prints its matches, or that it has none. False stops. */
static bool show_value(struct lookup *l, const struct query_result *r)
{
    struct match m = {.value = r};
    enum list_answer best = LIST_NO;
    size_t left = 0;
    bool goes_on = true;

    for (size_t i = 0; i < r->n; i++) {
        left += is_shown(&r->v[i]);
    }
    if (left == 0) {
        goes_on = print_or_skip(l, &m);
    }
    for (size_t i = 0; goes_on && i < r->n; i++) {
        const struct query_match *f = &r->v[i];

        if (!is_shown(f)) {
            continue;
        }
        m = (struct match){r, f, &l->v[f->list], --left == 0};
        if (silent_because(&m) == NULL) {
            l->is_unsure =
                l->is_unsure || (f->answer == LIST_POSSIBLE && !f->from.is_member);
            best = best != LIST_CONFIRMED ? f->answer : best;
        }
        goes_on = print_or_skip(l, &m);
    }
    l->values++;
    l->listed += best == LIST_CONFIRMED;
    l->not_listed += best == LIST_NO;
    l->other += best != LIST_CONFIRMED && best != LIST_NO;
    return goes_on;
}

/* Tests the batch. ERR_TIMEOUT: the output stopped it. ERR_NOMEM: some values were not answered. */
static enum err test_batch(struct lookup *l)
{
    uint64_t now_s = clock_wall_us() / 1000000;
    enum err e = ERR_OK;

    query_test(l->batch);
    for (size_t i = 0; i < query_count(l->batch) && e == ERR_OK; i++) {
        struct query_result r;

        e = query_answer(l->batch, i, now_s, &r);
        if (e == ERR_OK && !show_value(l, &r)) {
            e = ERR_TIMEOUT;
        }
    }
    query_begin(l->batch, &l->lists);
    return e;
}

/* A value of the command line (line 0) or of the file. False stops. */
static bool add_value(void *context, struct slice value, unsigned line)
{
    struct lookup *l = context;
    struct errinfo info = {.code = ERR_OK};
    enum err e = query_add(l->batch, value, FEATURE_NONE, &info);

    if (e == ERR_OK && query_is_full(l->batch)) {
        e = test_batch(l);
    }
    if (e == ERR_OK || e == ERR_TIMEOUT) {
        return e == ERR_OK;
    }
    if (e == ERR_NOMEM) {
        l->failed = e;
        return false;
    }
    l->bad++;
    (void)fputs("gillnet: ", stderr);
    if (line != 0) {
        (void)fprintf(stderr, "%s:%u: ", l->file, line);
    }
    text_print(stderr, value, EVIDENCE_SHOWN);
    (void)fprintf(stderr, ": %s\n", info.text[0] == '\0' ? err_text(e) : info.text);
    return true;
}

static bool print_counts(const struct lookup *l)
{
    if (!l->cli->json) {
        printf("%" PRIu64 " values: %" PRIu64 " listed, %" PRIu64
               " not listed, %" PRIu64 " revoked or unsure, %" PRIu64 " bad\n",
               l->values, l->listed, l->not_listed, l->other, l->bad);
        return true;
    }
    return json_line(json_pack("{s:I, s:I, s:I, s:I, s:I}", "values",
                               (json_int_t)l->values, "listed", (json_int_t)l->listed,
                               "not_listed", (json_int_t)l->not_listed, "other",
                               (json_int_t)l->other, "bad", (json_int_t)l->bad));
}

static int look_up(struct lookup *l, char **values)
{
    int status = 0;

    if (l->file != NULL) {
        status = text_each_line(l->file, add_value, l, &l->bad);
    }
    for (size_t i = 0; l->file == NULL && values[i] != NULL; i++) {
        if (!value_is_only_counted(slice_str(values[i])) &&
            !add_value(l, slice_str(values[i]), 0)) {
            break;
        }
    }
    if (l->failed == ERR_OK && query_count(l->batch) > 0 &&
        test_batch(l) == ERR_NOMEM) {
        l->failed = ERR_NOMEM;
    }
    if (l->failed != ERR_OK) {
        return cli_error(EX_OSERR, "%s", err_text(l->failed));
    }
    if (l->is_quiet && !l->is_output_bad) {
        l->is_output_bad = !print_counts(l);
    }
    if (status == 0) {
        status = l->listed > 0 ? CLI_HIT : CLI_CLEAN;
        status = l->bad > 0 || l->is_unsure ? EX_DATAERR : status;
    }
    return l->is_output_bad ? EX_OSERR : status;
}

/* False: no memory. */
static bool open_batch(struct lookup *l, const struct state_lists *lists)
{
    const struct rating_sources voices = {.config = lists->config, .view = lists->hits};

    l->batch = query_new();
    l->v = calloc(lists->n + 1, sizeof(*l->v));
    if (l->batch == NULL || l->v == NULL) {
        return false;
    }
    for (size_t i = 0; i < lists->n; i++) {
        const struct list_reader *r = lists->v[i];
        const char *origin = i < lists->nown ? NULL : lists->origin[i];

        l->v[i] = (struct query_list){
            .reader = r,
            .origin = origin,
            .share = ask_share(lists->config, slice_str(list_reader_name(r)), origin),
            .may_revoke = origin != NULL && lists->is_same_owner[i],
            .voice = rating_input_of(&voices, r)};
    }
    l->lists = (struct query_lists){.v = l->v,
                                    .n = lists->n,
                                    .nown = lists->nown,
                                    .nlists = lists->nlists,
                                    .config = lists->config,
                                    .derived = lists->derived};
    query_begin(l->batch, &l->lists);
    return true;
}

static int run_lookup(struct lookup *l, char **values)
{
    char *none[] = {NULL};
    struct state_lists lists;
    int status = state_open_lists(l->cli, none, &lists);

    THEN(status, state_open_peers(l->cli, &lists));
    if (status == 0 && lists.nlists == 0) {
        cli_say("there are no lists in %s/lists, so nothing is listed; see that "
                "state_dir is right, or import one with `gillnet list import`",
                l->cli->config->state_dir);
    }
    if (status == 0) {
        status = open_batch(l, &lists) ? look_up(l, values) : cli_nomem();
        if (l->file == NULL && !l->is_quiet && l->failed == ERR_OK &&
            !l->is_output_bad) {
            int below = lookup_below(l->cli, &lists, values);
            status = below > status ? below : status;
        }
        if (lists.status > status) { /* a list that was not read may hold more */
            status = lists.status;
        }
    }
    query_free(&l->batch);
    free(l->v);
    state_close_lists(&lists);
    return status;
}

int cmd_lookup(struct cli *cli, int argc, char **argv)
{
    struct lookup l = {.cli = cli};
    struct lookup_range range = {.to_s = 0};
    const char *from = NULL;
    const char *to = NULL;
    const struct cli_option table[] = {
        {"--from", &from, NULL, NULL},        {"--to", &to, NULL, NULL},
        {"--file", &l.file, NULL, NULL},      {"--all", NULL, &l.wants_all, NULL},
        {"--quiet", NULL, &l.is_quiet, NULL},
    };
    if (program_has_option(argv, "--counts")) {
        return program_exec(cli, PROGRAM_LAB, argv);
    }
    int status = cli_options(cli_command("lookup"), table, LENGTH(table), &argc, argv);

    if (status != 0) {
        return status;
    }
    if (argc == 2 && strcmp(argv[1], "-") == 0 && l.file == NULL) {
        l.file = "-";
        argc = 1;
    }
    if ((argc < 2) == (l.file == NULL)) {
        return cli_usage("lookup", "give values, or one file of values (- for standard "
                                   "input)");
    }
    status = lookup_range_read(from, to, &range);
    if (status != 0) {
        return status;
    }
    status = run_lookup(&l, argv + 1);
    if (l.file == NULL && !l.is_quiet && !l.is_output_bad) {
        int counted = lookup_counts(cli, &range, argv + 1);
        status = counted > status ? counted : status;
    }
    return status;
}
