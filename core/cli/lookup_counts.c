/* lookup_counts - the exact counts of values, by server. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/count_source.h"
#include "core/cli/humanize.h"
#include "core/cli/lookup.h"
#include "core/cli/print.h"
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
};

struct show {
    struct cli *cli;
    struct count_publisher counts;
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
                          s->cli->config->peers.quorum);
    take_shares(o);
    o->has_distinct = has_distinct(s->cli->config, o->type);
    memset(o->distinct, 0, sizeof(o->distinct));
    if (o->has_distinct && o->history.first_s != 0) {
        ask_distinct(s, digest, o);
    }
}

/* ---- JSON ---- */

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

int lookup_counts(struct cli *cli, char **values)
{
    struct show s = {.cli = cli, .is_utf8 = sparkline_is_utf8()};
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
