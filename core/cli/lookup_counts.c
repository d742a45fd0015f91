/* lookup_counts - the exact counts of values, by server. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/count_source.h"
#include "core/cli/humanize.h"
#include "core/cli/lookup.h"
#include "core/cli/print.h"
#include "core/config/unit.h"
#include "core/count/count_json.h"
#include "core/message/feature/feature_value.h"

enum { US_PER_S = 1000000, VALUE_ARENA = 1 << 20, HALF_DAY = COUNT_BUCKETS / 2 };

/* One feature that a value may stand for. */
struct one {
    struct slice value; /* as given */
    enum feature_type type;
    struct slice text;
    struct count_history history;  /* of this server */
    struct count_breakdown shares; /* of all */
    uint64_t first_s;              /* seen anywhere; 0: nowhere */
    uint64_t last_s;
    uint64_t w[COUNT_WINDOWS]; /* of all together */
    bool has_distinct;
    uint64_t distinct[DISTINCT_KINDS][COUNT_DAYS + 1]; /* [0] today */
    struct judged judged;
    struct lookup_range range; /* the edges of what is kept; to_s 0: none is wanted */
    uint64_t in_range;
    uint64_t judged_in_range[JUDGEMENTS];
};

struct show {
    struct cli *cli;
    struct count_publisher counts;
    const struct lookup_range *range;
    bool is_utf8;
    bool is_output_bad;
};

/* ---- asking ---- */

static bool has_distinct(const struct config *config, enum feature_type type)
{
    const struct config_strings *types = &config->count.distinct_types;

    return name_index(slice_str(feature_info(type)->name),
                      (const char *const *)types->v, types->n) >= 0;
}

static void ask_distinct(struct show *s, const struct digest key[KEYRING_MAX],
                         struct one *o)
{
    const struct count_port *port = counts_port(&s->counts);
    uint64_t today = o->history.now / COUNT_DAY_BUCKETS;

    for (unsigned kind = 0; kind < DISTINCT_KINDS; kind++) {
        for (unsigned back = 0; back <= COUNT_DAYS && back <= today; back++) {
            struct digest digest[KEYRING_MAX];
            struct count_history h;

            if (o->history.day[back] == 0) {
                continue; /* it was not counted on that day */
            }
            count_distinct_digest(&s->cli->keys, key, (enum count_distinct)kind,
                                  today - back, digest);
            port->exact(port->context, digest, &h);
            for (unsigned i = 0; i <= COUNT_DAYS; i++) {
                o->distinct[kind][back] += h.day[i];
            }
        }
    }
}

/* Counts of this server: peers do not send their periods. */
static void ask_range(struct show *s, const struct digest key[KEYRING_MAX],
                      struct one *o)
{
    const struct count_port *port = counts_port(&s->counts);

    o->range = *s->range;
    o->in_range = count_history_range(&o->history, &o->range.from_s, &o->range.to_s);
    for (unsigned kind = 0; kind < JUDGEMENTS; kind++) {
        struct lookup_range edges = *s->range;
        struct digest digest[KEYRING_MAX];
        struct count_history h;

        if (o->judged.n[COUNT_14D][kind] == 0) {
            continue;
        }
        if (kind == CALLED_SPAM || kind == CALLED_GOOD) {
            struct count_called called = {.spam = 0};
            port->called(port->called_context, key, edges.from_s, edges.to_s, &called);
            o->judged_in_range[kind] = kind == CALLED_SPAM ? called.spam : called.good;
            continue;
        }
        judged_digest(&s->cli->keys, key, (enum judgement)kind, digest);
        port->exact(port->context, digest, &h);
        o->judged_in_range[kind] = count_history_range(&h, &edges.from_s, &edges.to_s);
    }
}

static void take_shares(struct one *o)
{
    memset(&o->history, 0, sizeof(o->history));
    if (o->shares.n > 0) {
        o->history = o->shares.v[0].history;
    }
    count_breakdown_seen(&o->shares, clock_wall_us() / US_PER_S, &o->first_s,
                         &o->last_s);
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        o->w[w] = count_breakdown_sum(&o->shares, w);
    }
}

static void ask_counts(struct show *s, struct one *o)
{
    const struct count_port *port = counts_port(&s->counts);
    struct digest digest[KEYRING_MAX];

    count_digest(&s->cli->keys, s->cli->config, (uint16_t)o->type, o->text, digest);
    o->shares = (struct count_breakdown){.n = 0};
    port->shares(port->context, digest, &o->shares);
    count_breakdown_limit(&o->shares, s->cli->config->peers.cap,
                          s->cli->config->peers.quorum, s->cli->config->store.fresh_s);
    take_shares(o);
    o->has_distinct = has_distinct(s->cli->config, o->type);
    memset(o->distinct, 0, sizeof(o->distinct));
    if (o->has_distinct && o->history.first_s != 0) {
        ask_distinct(s, digest, o);
    }
    judged_exact(port, &s->cli->keys, digest, &o->judged);
    if (s->range->to_s != 0) {
        ask_range(s, digest, o);
    }
}

/* ---- JSON ---- */

static json_t *range_json(const struct one *o)
{
    char from[TEXT_TIME_MAX];
    char to[TEXT_TIME_MAX];
    json_t *judged = json_object();

    for (unsigned kind = 0; kind < JUDGEMENTS; kind++) {
        (void)json_object_set_new(judged, judgement_name(kind),
                                  json_integer((json_int_t)o->judged_in_range[kind]));
    }
    return json_pack("{s:s, s:s, s:I, s:o}", "from", text_time(o->range.from_s, from),
                     "to", text_time(o->range.to_s, to), "count",
                     (json_int_t)o->in_range, "judged", judged);
}

static json_t *one_json(const struct one *o)
{
    const struct count_history *h = &o->history;
    char first[TEXT_TIME_MAX];
    char last[TEXT_TIME_MAX];
    json_t *windows = count_json_windows(o->w);
    json_t *object = json_pack(
        "{s:o, s:s, s:o, s:b, s:s, s:s, s:I, s:o, s:o, s:I}", "value",
        json_text(o->value), "counted_as", feature_type_name((uint16_t)o->type), "key",
        json_text(o->text), "exact", 1, "first_seen", text_time(o->first_s, first),
        "last_seen", text_time(o->last_s, last), "bucket",
        (json_int_t)h->now * COUNT_BUCKET_S, "buckets",
        count_json_row(h->bucket, COUNT_BUCKETS + 1), "days",
        count_json_row(h->day, COUNT_DAYS + 1), "damaged_runs",
        (json_int_t)h->ndamaged);

    object = json_with(object, windows);
    if (object != NULL) {
        count_json_add_shares(object, &o->shares);
    }
    if (object != NULL && o->has_distinct) {
        json_t *distinct = json_object();
        for (unsigned kind = 0; kind < DISTINCT_KINDS; kind++) {
            (void)json_object_set_new(
                distinct, count_distinct_name(kind),
                count_json_row(o->distinct[kind], COUNT_DAYS + 1));
        }
        (void)json_object_set_new(object, "distinct", distinct);
    }
    if (object != NULL) {
        (void)json_object_set_new(object, "judged", count_json_judged(&o->judged));
    }
    if (object != NULL && o->range.to_s != 0) {
        (void)json_object_set_new(object, "range", range_json(o));
    }
    return object;
}

/* ---- for people ---- */

static uint64_t max_of(const uint64_t *v, size_t n)
{
    uint64_t max = 0;

    for (size_t i = 0; i < n; i++) {
        max = v[i] > max ? v[i] : max;
    }
    return max;
}

static void print_bars(const struct show *s, const struct count_history *h)
{
    uint64_t most = max_of(h->bucket, COUNT_BUCKETS + 1);
    uint64_t most_day = max_of(h->day, COUNT_DAYS + 1);
    char number[HUMANIZE_MAX];

    if (most > 0) {
        (void)fputs("  24 h to 12 h ago  ", stdout);
        sparkline_print(stdout, h->bucket + HALF_DAY + 1, HALF_DAY, most, s->is_utf8);
        (void)fputs("\n  12 h ago to now   ", stdout);
        sparkline_print(stdout, h->bucket, HALF_DAY + 1, most, s->is_utf8);
        printf("\n                    at most %s in 10 minutes\n",
               humanize_count(most, number));
    }
    (void)fputs("  14 days to today  ", stdout);
    sparkline_print(stdout, h->day, COUNT_DAYS + 1, most_day, s->is_utf8);
    printf("  at most %s in a day\n", humanize_count(most_day, number));
}

static void print_distinct(const struct one *o)
{
    for (unsigned kind = 0; kind < DISTINCT_KINDS; kind++) {
        printf("  distinct %-10s", count_distinct_name(kind));
        for (unsigned back = 0; back <= COUNT_DAYS; back++) {
            if (o->history.day[back] == 0) {
                continue;
            }
            printf(back == 0 ? " %" PRIu64 " today" : " %" PRIu64 " %u d ago",
                   o->distinct[kind][back], back);
        }
        (void)putchar('\n');
    }
}

/* "  own: 1 in 10m, ..." and a line for each peer. */
static void print_shares(const struct one *o)
{
    const struct count_breakdown *s = &o->shares;
    uint64_t bounded[COUNT_WINDOWS];

    for (unsigned i = 0; i < s->n; i++) {
        printf("  %s: ", s->v[i].origin == NULL ? "own" : s->v[i].origin->name);
        counted_print_windows(s->v[i].w);
        (void)putchar('\n');
    }
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        bounded[w] = count_breakdown_bounded(s, w);
    }
    (void)fputs("  of these count against it: ", stdout);
    counted_print_windows(bounded);
    (void)putchar('\n');
}

static const char *const judgement_words[JUDGEMENTS] = {
    "judged good", "judged bad", "called spam", "called good", "first contacts"};

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

static void print_judged(const struct one *o)
{
    const uint64_t *n = o->judged.n[COUNT_14D];
    uint64_t all = 0;

    for (unsigned kind = 0; kind < JUDGEMENTS; kind++) {
        uint64_t w[COUNT_WINDOWS];

        all += n[kind];
        for (unsigned i = 0; i < COUNT_WINDOWS; i++) {
            w[i] = o->judged.n[i][kind];
        }
        if (n[kind] > 0) {
            printf("  %-15s ", judgement_words[kind]);
            counted_print_windows(w);
            (void)putchar('\n');
        }
    }
    if (all > 0) {
        uint64_t seen = o->shares.n > 0 ? o->shares.v[0].w[COUNT_14D] : 0;
        printf("  shares in 14d   %.1f %% bad of those judged, %.1f %% complaints, "
               "%.1f %% first contacts\n",
               percent(n[JUDGED_BAD], n[JUDGED_BAD] + n[JUDGED_GOOD]),
               percent(n[CALLED_SPAM], seen), percent(n[FIRST_CONTACTS], seen));
    }
}

static void print_range(const struct one *o)
{
    char from[TEXT_TIME_MAX];
    char to[TEXT_TIME_MAX];

    printf("  from %s to %s: %" PRIu64, text_time(o->range.from_s, from),
           text_time(o->range.to_s, to), o->in_range);
    for (unsigned kind = 0; kind < JUDGEMENTS; kind++) {
        if (o->judged_in_range[kind] > 0) {
            printf(", %s %" PRIu64, judgement_words[kind], o->judged_in_range[kind]);
        }
    }
    (void)putchar('\n');
}

static void print_counted(const struct show *s, const struct one *o)
{
    const struct count_history *h = &o->history;
    char first[TEXT_TIME_MAX];
    char last[TEXT_TIME_MAX];

    text_print(stdout, o->text, EVIDENCE_SHOWN);
    printf(": counted as %s: ", feature_type_name((uint16_t)o->type));
    counted_print_windows(o->w);
    printf(", first seen %s, last seen %s\n", text_time(o->first_s, first),
           text_time(o->last_s, last));
    if (o->shares.n > 1) {
        print_shares(o);
    }
    if (h->first_s != 0) {
        print_bars(s, h); /* of this server: peers do not send their periods */
    }
    if (o->has_distinct) {
        print_distinct(o);
    }
    print_judged(o);
    if (o->range.to_s != 0) {
        print_range(o);
    }
    if (h->ndamaged > 0) {
        printf(
            "  %u damaged runs could not be read, so the true counts may be higher; see "
            "`gillnet count verify`\n",
            h->ndamaged);
    }
}

/* ---- each value ---- */

static void show_one(struct show *s, struct one *o, bool is_typed, unsigned *retshown)
{
    ask_counts(s, o);
    if (o->first_s == 0 && !is_typed) {
        count_breakdown_fini(&o->shares);
        return;
    }
    ++*retshown;
    if (s->cli->json) {
        s->is_output_bad = !json_line(one_json(o));
    } else if (o->first_s == 0) {
        text_print(stdout, o->text, EVIDENCE_SHOWN);
        printf(": not counted as %s in the last 14 days\n",
               feature_type_name((uint16_t)o->type));
    } else {
        print_counted(s, o);
    }
    count_breakdown_fini(&o->shares);
}

static int show_value(struct show *s, struct arena *arena, struct slice value)
{
    struct value_features features;
    struct errinfo why = {.code = ERR_OK};
    unsigned nshown = 0;

    arena_reset(arena);
    if (value_features_of(value, arena, &features, &why) != ERR_OK) {
        if (!value_is_only_counted(value)) {
            return 0; /* the look-up in lists has reported it */
        }
        (void)fputs("gillnet: ", stderr);
        text_print(stderr, value, EVIDENCE_SHOWN);
        (void)fprintf(stderr, ": %s\n", why.text);
        return EX_DATAERR;
    }
    for (size_t i = 0; i < features.n && !s->is_output_bad; i++) {
        struct one o = {
            .value = value, .type = features.v[i].type, .text = features.v[i].text};
        show_one(s, &o, features.is_typed, &nshown);
    }
    if (nshown == 0 && !s->cli->json) {
        text_print(stdout, value, EVIDENCE_SHOWN);
        (void)puts(": not counted in the last 14 days");
    }
    return 0;
}

/* Seconds since 1970; false: no time. */
static bool read_time(const char *text, uint64_t now_s, uint64_t *ret)
{
    static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%MZ",
                                        "%Y-%m-%dT%H:%M:%SZ"};
    uint64_t us = 0;

    for (size_t i = 0; i < LENGTH(forms); i++) {
        struct tm tm = {.tm_sec = 0};
        const char *end = strptime(text, forms[i], &tm);
        if (end != NULL && *end == '\0' && tm.tm_year >= 70) {
            *ret = (uint64_t)timegm(&tm);
            return true;
        }
    }
    if (!unit_time_us(text, &us) || us / US_PER_S > now_s) {
        return false;
    }
    *ret = now_s - us / US_PER_S;
    return true;
}

int lookup_range_read(const char *from, const char *to, struct lookup_range *ret)
{
    uint64_t now_s = clock_wall_us() / US_PER_S;

    if (from == NULL && to == NULL) {
        return 0;
    }
    *ret = (struct lookup_range){.to_s = now_s};
    if ((from != NULL && !read_time(from, now_s, &ret->from_s)) ||
        (to != NULL && !read_time(to, now_s, &ret->to_s))) {
        return cli_usage("lookup",
                         "--from, --to: write a time ago such as 6h, or a time "
                         "(UTC) such as 2026-11-21 or 2026-11-21T14:30Z");
    }
    return ret->from_s < ret->to_s ? 0
                                   : cli_usage("lookup", "--from must be before --to");
}

int lookup_counts(struct cli *cli, const struct lookup_range *range, char **values)
{
    struct show s = {.cli = cli, .range = range, .is_utf8 = sparkline_is_utf8()};
    int status = counts_open(cli, false, &s.counts);

    if (status == 0 && counts_port(&s.counts) != NULL) {
        struct arena *arena = arena_new(VALUE_ARENA);
        if (arena == NULL) {
            status = cli_nomem();
        }
        for (size_t i = 0; arena != NULL && values[i] != NULL; i++) {
            int one = show_value(&s, arena, slice_str(values[i]));
            status = one > status ? one : status;
        }
        arena_free(&arena);
    } else if (status == 0) {
        for (size_t i = 0; values[i] != NULL; i++) {
            if (value_is_only_counted(slice_str(values[i]))) {
                cli_say("nothing was counted yet");
                break;
            }
        }
    }
    int closed = counts_close(&s.counts);
    status = closed > status ? closed : status;
    return s.is_output_bad ? EX_OSERR : status;
}
