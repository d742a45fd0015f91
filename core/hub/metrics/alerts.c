#include "core/hub/metrics/alerts.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/hub/metrics/alerts_internal.h"
#include "core/hub/metrics/metrics_internal.h"

enum {
    SAMPLES = ALERTS_WINDOW_S / ALERTS_SAMPLE_PAUSE_S + 1,
    MESSAGE_MAX = 512,
};

enum severity { SEVERITY_WARNING, SEVERITY_CRITICAL };

static const struct {
    const char *name;
    enum severity severity;
    alert_fn *look;
    const char *message;
    const char *action;
} table[] = {
#define ALERT(name, severity, look, message, action) \
    {#name, SEVERITY_##severity, alert_##look, message, action},
#include "core/hub/metrics/alert.def"
#undef ALERT
};
enum { ALERTS = LENGTH(table) };

static const char *const severities[] = {
    [SEVERITY_WARNING] = "warning", [SEVERITY_CRITICAL] = "critical"};

struct alert_state {
    bool is_firing;
    unsigned looks; /* in a row that speak against it */
    uint64_t since_s;
};

struct alerts {
    struct status_board *board;
    uint64_t looked_us; /* 0: not yet */
    struct alert_state state[ALERTS];
    struct alerts_sample sample[SAMPLES]; /* a ring */
    size_t nsamples;
    size_t newest;
};

struct alerts *alerts_new(struct status_board *board)
{
    struct alerts *a = calloc(1, sizeof(*a));

    if (a != NULL) {
        a->board = board;
    }
    return a;
}

void alerts_free(struct alerts **a)
{
    free(*a);
    *a = NULL;
}

bool alerts_are_due(const struct alerts *a, uint64_t interval_s)
{
    return a->looked_us == 0 || clock_mono_us() - a->looked_us >= interval_s * 1000000;
}

/* ---- what happened within the window ---- */

static void read_sample(const struct metrics_snapshot *s, struct alerts_sample *ret)
{
    ret->at_s = s->now_s;
    ret->has_times = s->has_history;
    memcpy(ret->value, s->stats.value, sizeof(ret->value));
    ret->store_lost = (uint64_t)metrics_number(
        json_object_get(s->section[STATUS_BOARD_STORE], "counts"), "updates_lost");
    ret->message = s->history.time[HISTORY_MESSAGE];
}

/* The oldest sample of the window; those before are forgotten. */
static const struct alerts_sample *oldest(struct alerts *a, uint64_t now_s)
{
    const struct alerts_sample *o = NULL;

    while (a->nsamples > 0) {
        o = &a->sample[(a->newest + SAMPLES + 1 - a->nsamples) % SAMPLES];
        if (a->nsamples == 1 ||
            (o->at_s <= now_s && now_s - o->at_s <= ALERTS_WINDOW_S)) {
            break;
        }
        a->nsamples--;
    }
    return o;
}

static void keep(struct alerts *a, const struct alerts_sample *now)
{
    uint64_t last_s = a->nsamples > 0 ? a->sample[a->newest].at_s : 0;

    if (a->nsamples > 0 && now->at_s >= last_s &&
        now->at_s - last_s < ALERTS_SAMPLE_PAUSE_S) {
        return;
    }
    a->newest = (a->newest + 1) % SAMPLES;
    a->sample[a->newest] = *now;
    a->nsamples += a->nsamples < SAMPLES ? 1 : 0;
}

/* A counter that is less than before was reset. */
static void subtract(uint64_t *now, uint64_t before)
{
    *now -= *now >= before ? before : 0;
}

static void make_times_rise(struct alerts_sample *now,
                            const struct alerts_sample *before)
{
    if (!now->has_times || !before->has_times) {
        now->message = (struct history_times){.n = 0};
    } else if (now->message.n >= before->message.n) {
        now->message.n -= before->message.n;
        for (size_t i = 0; i < HISTORY_TIMES; i++) {
            subtract(&now->message.count[i], before->message.count[i]);
        }
    }
}

/* Subtracts the former numbers from now. */
static void make_rise(struct alerts_sample *now, const struct alerts_sample *before)
{
    for (size_t i = 0; i < STAT_COUNT; i++) {
        subtract(&now->value[i], before->value[i]);
    }
    subtract(&now->store_lost, before->store_lost);
    make_times_rise(now, before);
}

/* ---- one alert ---- */

static bool is_bad(const struct alerts_sight *s)
{
    return s->value > s->threshold;
}

static void say(size_t i, const struct alerts_sight *sight, bool is_firing,
                const char *message)
{
    if (!is_firing) {
        log_info("event=alert state=over name=%s value=%.4g threshold=%.4g",
                 table[i].name, sight->value, sight->threshold);
        return;
    }
    (table[i].severity == SEVERITY_CRITICAL ? log_error : log_warn)(
        "event=alert state=firing name=%s severity=%s value=%.4g threshold=%.4g: %s; %s",
        table[i].name, severities[table[i].severity], sight->value, sight->threshold,
        message, table[i].action);
}

static void judge(struct alert_state *a, size_t i, const struct alerts_sight *sight,
                  uint64_t now_s, const char *message)
{
    a->looks = is_bad(sight) != a->is_firing ? a->looks + 1 : 0;
    if (a->looks < ALERTS_LOOKS) {
        return;
    }
    a->looks = 0;
    a->is_firing = !a->is_firing;
    a->since_s = now_s;
    say(i, sight, a->is_firing, message);
}

static json_t *alert_row(size_t i, const struct alert_state *a,
                         const struct alerts_sight *sight, const char *message)
{
    return json_pack("{s:s, s:s, s:b, s:I, s:f, s:f, s:s, s:s}", "name", table[i].name,
                     "severity", severities[table[i].severity], "firing",
                     (int)a->is_firing, "since_s", (json_int_t)a->since_s, "value",
                     sight->value, "threshold", sight->threshold, "message", message,
                     "action", table[i].action);
}

void alerts_look(struct alerts *a, const struct metrics_snapshot *s)
{
    struct alerts_sample now;
    struct alerts_sample rise;
    const struct alerts_sample *before = NULL;
    json_t *rows = json_array();

    a->looked_us = clock_mono_us();
    read_sample(s, &now);
    before = oldest(a, s->now_s);
    rise = now;
    make_rise(&rise, before != NULL && s->has_stats ? before : &now);
    for (size_t i = 0; i < ALERTS; i++) {
        struct alerts_sight sight = {.value = 0};
        char message[MESSAGE_MAX];

        table[i].look(&(struct alerts_case){.now = s, .rise = &rise}, &sight);
        (void)snprintf(message, sizeof(message), "%s%s%s", table[i].message,
                       sight.subjects[0] != '\0' ? ": " : "", sight.subjects);
        judge(&a->state[i], i, &sight, s->now_s, message);
        (void)json_array_append_new(rows, alert_row(i, &a->state[i], &sight, message));
    }
    if (s->has_stats) {
        keep(a, &now);
    }
    status_board_put(a->board, STATUS_BOARD_ALERTS, rows);
}
