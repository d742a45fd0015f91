/* simulate_mail - `gillnet simulate mail`: errors of the counts with a site's own mail. */
#include <math.h>
#include <sysexits.h>

#include "core/base/prng.h"
#include "core/cli/cli.h"
#include "core/cli/humanize.h"
#include "core/cli/messages.h"
#include "core/cli/print.h"
#include "core/count/size.h"
#include "core/count/traffic.h"
#include "core/lab/simulate.h"
#include "core/message/feature/feature.h"

enum {
    EVENTS_MAX = 1 << 24, /* 256 MB of events, and twice that for the exact count */
    EVENTS_FIRST = 1 << 16,
    MESSAGES_MOST = 1000000,
    MODEL_PER_DAY = 5000, /* of the model: errors do not depend on it */
    THRESHOLD_USUAL = 10,
    THRESHOLD_MOST = 1000000,
    STREAM_RING = 3
};

/* The gathered keys. */
struct site {
    struct simulation_mail mail;
    struct hashkey key; /* of the features' digests, for this run */
    size_t room;        /* of mail.events */
    bool is_full;       /* EVENTS_MAX, or no memory: the rest was left out */
};

/* How a type repeats. */
struct type_row {
    uint64_t features;
    uint64_t distinct;
    uint64_t again; /* distinct ones that came more than once */
};

static bool add_event(struct site *s, uint64_t key, uint16_t type)
{
    struct simulation_mail *m = &s->mail;

    if (m->nevents == s->room) {
        size_t room = s->room == 0 ? EVENTS_FIRST : 2 * s->room;
        void *grown =
            room <= EVENTS_MAX ? realloc(m->events, room * sizeof(m->events[0])) : NULL;
        if (grown == NULL) {
            s->is_full = true;
            return false;
        }
        m->events = grown;
        s->room = room;
    }
    m->events[m->nevents++] = (struct simulation_event){
        .key = key != 0 ? key : 1, .message = (uint32_t)m->messages, .type = type};
    return true;
}

static uint64_t number_of(const struct digest *d)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < sizeof(v); i++) {
        v = v << 8 | d->b[i];
    }
    return v;
}

static int take_message(void *context, struct arena *arena,
                        const struct message *message)
{
    struct site *s = context;
    size_t n = featureset_count(message->features);
    bool has_room = true;

    (void)arena;
    if (s->is_full || s->mail.messages == MESSAGES_MOST) {
        s->is_full = true;
        return CLI_CLEAN;
    }
    for (size_t i = 0; i < n && has_room; i++) {
        const struct feature *f = featureset_at(message->features, i);
        const struct feature_info *info = feature_info((enum feature_type)f->type);
        struct digest d;
        if (info == NULL || !info->counted) {
            continue;
        }
        digest_make(&s->key, f->type, f->text, &d);
        has_room = add_event(s, number_of(&d), f->type);
    }
    s->mail.messages++;
    return CLI_CLEAN;
}

static void take_model(struct site *s, uint64_t messages)
{
    uint64_t a_day = (messages + TRAFFIC_DAYS - 1) / TRAFFIC_DAYS;
    struct traffic t;

    traffic_init(&t, a_day, s->mail.seed);
    while (s->mail.messages < messages && !s->is_full) {
        uint64_t keys[TRAFFIC_KEYS];
        traffic_message(&t, keys);
        for (unsigned i = 0; i < TRAFFIC_KEYS; i++) {
            struct digest d;
            traffic_digest(keys[i], &d);
            (void)add_event(s, number_of(&d), FEATURE_NONE);
        }
        s->mail.messages++;
    }
}

/* ---- what is shown ---- */

/* Rows by type; the events are sorted by key, and a key has one type. */
static void sum_types(const struct simulation_mail *m, struct type_row *rows,
                      size_t nrows)
{
    for (size_t i = 0; i < m->nevents;) {
        uint64_t key = m->events[i].key;
        uint16_t type = m->events[i].type;
        size_t n = 0;
        for (; i < m->nevents && m->events[i].key == key; i++) {
            n++;
        }
        if (type < nrows) {
            rows[type].features += n;
            rows[type].distinct++;
            rows[type].again += n > 1;
        }
    }
}

static bool show_types(const struct simulation_mail *m, bool json)
{
    size_t ninfos = 0;
    const struct feature_info *infos = feature_table(&ninfos);
    size_t nrows = 1;
    bool is_good = true;

    for (size_t i = 0; i < ninfos; i++) {
        nrows = (size_t)infos[i].type >= nrows ? (size_t)infos[i].type + 1 : nrows;
    }
    struct type_row *rows = calloc(nrows, sizeof(*rows));
    if (rows == NULL) {
        return json_line(NULL);
    }
    sum_types(m, rows, nrows);
    if (!json) {
        printf("  %-18s %10s %10s %10s %12s\n", "type", "a message", "features",
               "different", "came again");
    }
    for (size_t i = 0; i < ninfos && is_good; i++) {
        const struct type_row *r = &rows[infos[i].type];
        if (r->features == 0) {
            continue;
        }
        if (json) {
            is_good = json_line(json_pack("{s:s, s:I, s:I, s:I}", "type", infos[i].name,
                                          "features", (json_int_t)r->features,
                                          "distinct", (json_int_t)r->distinct, "again",
                                          (json_int_t)r->again));
        } else {
            printf("  %-18s %10.2f %10llu %10llu %10.1f %%\n", infos[i].name,
                   (double)r->features / (double)m->messages,
                   (unsigned long long)r->features, (unsigned long long)r->distinct,
                   100 * (double)r->again / (double)r->distinct);
        }
    }
    free(rows);
    return is_good;
}

static json_t *windows_json(const double v[3])
{
    return json_pack("{s:f, s:f, s:f}", "1h", v[0], "1d", v[1], "14d", v[2]);
}

static bool show_json(const struct site *s, const struct simulation_counts *c,
                      bool is_model)
{
    const struct simulation_mail *m = &s->mail;

    return json_line(json_pack(
        "{s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:I, "
        "s:f, s:I, s:I}",
        "model", (int)is_model, "cut", (int)s->is_full, "messages_per_day",
        (json_int_t)m->messages_per_day, "messages", (json_int_t)m->messages, "keys",
        (json_int_t)m->nevents, "distinct", (json_int_t)c->distinct, "again",
        (json_int_t)c->again, "seed", (json_int_t)m->seed, "first_share",
        c->first_share, "model_first_share", c->model_share, "doorkeeper_fill",
        c->doorkeeper_fill, "cells_used", c->cells_used, "wrong_share", c->wrong_share,
        "too_high", windows_json(c->too_high), "noise_floor",
        windows_json(c->noise_floor), "threshold", (json_int_t)m->threshold,
        "false_threshold_share", c->false_share, "undercounts",
        (json_int_t)c->undercounts, "suggested_messages_per_day",
        (json_int_t)c->suggested));
}

static void show_text(const struct site *s, const struct simulation_counts *c)
{
    static const char *const windows[] = {"1h", "1d", "14d"};
    const struct simulation_mail *m = &s->mail;
    char a[HUMANIZE_MAX];
    char b[HUMANIZE_MAX];

    printf(
        "\n%s counted keys, %.1f a message; first occurrences %.1f %% (the model: 40, %.1f "
        "%%)\n\n",
        humanize_count(m->nevents, a), (double)m->nevents / (double)m->messages,
        100 * c->first_share, 100 * c->model_share);
    printf("  doorkeeper filled to %.1f %%, lines of cells in use %.1f %%\n",
           100 * c->doorkeeper_fill, 100 * c->cells_used);
    printf("  wrong when counted: %s of keys; ever too low: %llu\n",
           humanize_share(c->wrong_share, a), (unsigned long long)c->undercounts);
    printf("  seemed to reach %llu: %s of keys that had not, before the runs are "
           "asked\n\n",
           (unsigned long long)m->threshold, humanize_share(c->false_share, a));
    printf("  %-8s %26s %14s\n", "window", "too high by 2 or more", "noise floor");
    for (unsigned w = 0; w < 3; w++) {
        printf("  %-8s %26s %14s\n", windows[w], humanize_share(c->too_high[w], a),
               humanize_share(c->noise_floor[w], b));
    }
    printf(
        "\nFor mail like this plan counting for %s messages a day (messages_per_day of "
        "`count`).\n",
        humanize_count(c->suggested, a));
    if (s->is_full) {
        (void)puts("Not all messages were taken: there were too many.");
    }
}

static bool show(struct site *s, bool is_model, bool json,
                 const struct simulation_counts *c)
{
    char a[HUMANIZE_MAX];
    char b[HUMANIZE_MAX];

    if (!json) {
        printf("%s messages %s, over 14 days, at the density of the preset for %s a "
               "day:\n\n",
               humanize_count(s->mail.messages, a),
               is_model ? "of the model" : "of yours",
               humanize_count(s->mail.messages_per_day, b));
    }
    if (!is_model && !show_types(&s->mail, json)) {
        return false;
    }
    if (json) {
        return show_json(s, c, is_model);
    }
    show_text(s, c);
    return true;
}

/* ---- the command ---- */

struct words {
    const char *messages_per_day;
    const char *messages;
    const char *threshold;
    const char *seed;
};

static int read_whole(const char *option, const char *text, double least, double most,
                      uint64_t *ret)
{
    struct errinfo why;
    double v = 0;

    if (text == NULL) {
        return 0;
    }
    if (!humanize_read(text, &v) || !(v >= least && v <= most) || floor(v) != v) {
        (void)errinfo_set(&why, ERR_RANGE, option, 0,
                          "%.60s: give a whole number from %.0f to %.0f", text, least,
                          most);
        return cli_fail(&why);
    }
    *ret = (uint64_t)v;
    return 0;
}

static int read_words(const struct cli *cli, const struct words *w, bool is_model,
                      struct site *s, uint64_t *retmessages)
{
    struct simulation_mail *m = &s->mail;
    int status = 0;

    m->messages_per_day = cli->config->count.messages_per_day;
    m->messages_per_day = m->messages_per_day > 0 ? m->messages_per_day : 10000;
    m->seed = 1;
    m->threshold = THRESHOLD_USUAL;
    status = read_whole("--messages-per-day", w->messages_per_day, 1,
                        (double)COUNT_SIZE_MESSAGES_MOST, &m->messages_per_day);
    *retmessages =
        TRAFFIC_DAYS *
        (m->messages_per_day < MODEL_PER_DAY ? m->messages_per_day : MODEL_PER_DAY);
    if (status == 0) {
        status = read_whole("--messages", w->messages, 1, MESSAGES_MOST, retmessages);
    }
    if (status == 0) {
        status =
            read_whole("--threshold", w->threshold, 2, THRESHOLD_MOST, &m->threshold);
    }
    if (status == 0) {
        status = read_whole("--seed", w->seed, 0, 0x1p53, &m->seed);
    }
    if (status == 0 && w->messages != NULL && !is_model) {
        status =
            cli_usage("simulate", "--messages is for the model; files are taken whole");
    }
    return status;
}

static int run(struct cli *cli, struct site *s, uint64_t messages, char **paths)
{
    struct messages_envelope envelope = {.client = NULL};
    struct simulation_counts counts;
    struct errinfo why = {0};
    bool is_model = *paths == NULL;
    struct prng p;
    int status = CLI_CLEAN;

    prng_init(&p, s->mail.seed, STREAM_RING);
    for (unsigned i = 0; i < HASHKEY_BYTES; i++) {
        s->key.bytes[i] = (uint8_t)prng_next(&p);
    }
    if (is_model) {
        take_model(s, messages);
    } else {
        status = messages_each(cli, &envelope, paths, take_message, s);
    }
    if (s->mail.nevents == 0) {
        (void)errinfo_set(&why, ERR_NOT_FOUND, "simulate mail", 0,
                          "no message with counted features was read");
        return status > CLI_HIT ? status : cli_fail(&why);
    }
    if (simulation_count(&s->mail, &counts, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    return show(s, is_model, cli->json, &counts) ? status : EX_OSERR;
}

int simulate_mail(struct cli *cli, int argc, char **argv)
{
    struct words w = {0};
    struct site s = {.room = 0};
    uint64_t messages = 0;
    const struct cli_option table[] = {
        {"--messages-per-day", &w.messages_per_day, NULL, NULL},
        {"--messages", &w.messages, NULL, NULL},
        {"--threshold", &w.threshold, NULL, NULL},
        {"--seed", &w.seed, NULL, NULL},
    };
    int status =
        cli_options(cli_command("simulate"), table, LENGTH(table), &argc, argv);

    if (status == 0) {
        status = cli_config(cli);
    }
    if (status == 0) {
        status = read_words(cli, &w, argc < 2, &s, &messages);
    }
    if (status == 0) {
        status = run(cli, &s, messages, argv + 1);
    }
    free(s.mail.events);
    return status;
}
