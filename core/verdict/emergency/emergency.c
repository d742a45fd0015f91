#include "core/verdict/emergency/emergency.h"

#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/base/checksum.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/telemetry/stats.h"
#include "core/verdict/emergency/emergency_meter.h"
#include "core/verdict/emergency/escalation.h"

#define MAGIC UINT64_C(0x3159434e4752454e) /* "NERGNCY1" */

enum { MODE = 0640, DETAIL = 480, STAMP = 32 };

/* The file, in native byte order: it stays on the machine. */
struct saved {
    uint64_t magic;
    struct emergency_meter meter;
    uint64_t sum; /* of all before it */
};

struct emergency {
    atomic_bool is_on;
    atomic_bool has_domains; /* some domain was escalated, and may still be */
    pthread_mutex_t lock;    /* guards: all below */
    struct emergency_meter meter;
    struct escalation *domains; /* NULL: no memory for it */
    uint64_t last_checks;
    uint64_t last_s; /* of the last sample; 0: none */
    int fd;          /* -1: none */
};

/* ---- the file ---- */

static uint64_t saved_sum(const struct saved *s)
{
    return checksum64(slice_of((const char *)s, offsetof(struct saved, sum)));
}

static void load(struct emergency *e)
{
    struct saved s;

    if (file_read_at(e->fd, 0, &s, sizeof(s)) == sizeof(s) && s.magic == MAGIC &&
        s.sum == saved_sum(&s)) {
        e->meter = s.meter;
    }
}

static void save(const struct emergency *e)
{
    struct saved s = {.magic = MAGIC, .meter = e->meter};

    s.sum = saved_sum(&s);
    if (e->fd != -1 &&
        !file_write_at(e->fd, 0, slice_of((const char *)&s, sizeof(s)))) {
        log_debug("event=emergency error=%s: the mean is not kept",
                  strerrorname_np(errno));
    }
}

static void open_saved(struct emergency *e, const char *state_dir)
{
    char path[FILE_PATH_MAX];

    if (file_path(path, "%s/%s", state_dir, STATE_EMERGENCY_FILE) == ERR_OK) {
        e->fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, MODE);
    }
    if (e->fd == -1) {
        log_warn("event=emergency error=%s: %s cannot be opened; the mean of URL "
                 "checks is lost at each restart",
                 strerrorname_np(errno), path);
        return;
    }
    load(e);
}

struct emergency *emergency_new(const char *state_dir)
{
    struct emergency *e = calloc(1, sizeof(*e));

    if (e == NULL) {
        return NULL;
    }
    e->fd = -1;
    (void)pthread_mutex_init(&e->lock, NULL);
    e->domains = escalation_new();
    open_saved(e, state_dir);
    atomic_init(&e->is_on, e->meter.since_s != 0);
    atomic_init(&e->has_domains, false);
    stats_set(STAT_emergency, e->meter.since_s != 0);
    return e;
}

void emergency_free(struct emergency **e)
{
    if (*e != NULL) {
        fd_close(&(*e)->fd);
        escalation_free(&(*e)->domains);
        (void)pthread_mutex_destroy(&(*e)->lock);
        free(*e);
        *e = NULL;
    }
}

/* ---- the mode ---- */

bool emergency_is_on(const struct emergency *e)
{
    return e != NULL && atomic_load_explicit(&e->is_on, memory_order_relaxed);
}

bool emergency_trusts_filters(const struct emergency *e, const struct config *config)
{
    return config->emergency.unverified && emergency_is_on(e);
}

bool emergency_sheds(const struct emergency *e)
{
    bool is_on = emergency_is_on(e);

    if (is_on) {
        stats_add(STAT_emergency_shed, 1);
    }
    return is_on;
}

static void show_rate(const struct emergency *e, const struct config *config,
                      double rate, uint64_t now_s)
{
    double level = emergency_meter_level(&e->meter, &config->emergency, now_s);

    stats_set(STAT_emergency, e->meter.since_s != 0);
    stats_set(STAT_emergency_since_time, e->meter.since_s);
    stats_set(STAT_emergency_rate, (uint64_t)rate);
    stats_set(STAT_emergency_level, (uint64_t)level);
    stats_set(STAT_emergency_mean, (uint64_t)emergency_meter_mean(&e->meter, now_s));
    stats_set(STAT_escalated,
              e->domains == NULL ? 0 : escalation_list(e->domains, now_s, NULL, 0));
}

static void report(enum emergency_change change, double rate, double level)
{
    if (change == EMERGENCY_ENTERS) {
        stats_add(STAT_emergency_entered, 1);
        log_warn("event=emergency mode=on rate=%.0f level=%.0f: more URL checks a "
                 "second than emergency.enter allows; lists are looked up as always, "
                 "statistics are left out",
                 rate, level);
    } else if (change == EMERGENCY_LEAVES) {
        log_info("event=emergency mode=off rate=%.0f level=%.0f", rate, level);
    }
}

void emergency_tick(struct emergency *e, const struct config *config, uint64_t checks,
                    uint64_t now_s)
{
    if (e == NULL) {
        return;
    }
    pthread_mutex_lock(&e->lock);
    bool is_back = now_s < e->last_s; /* the clock was set back */
    bool has_sample = false;
    if (e->last_s == 0 || is_back) {
        e->last_s = now_s;
        e->last_checks = checks;
        show_rate(e, config, 0, now_s);
    } else if (now_s >= e->last_s + EMERGENCY_SAMPLE_S) {
        struct emergency_sample sample = {
            .checks = checks > e->last_checks ? checks - e->last_checks : 0,
            .seconds = now_s - e->last_s,
            .now_s = now_s};
        double level = emergency_meter_level(&e->meter, &config->emergency, now_s);
        double rate = (double)sample.checks / (double)sample.seconds;
        report(emergency_meter_add(&e->meter, &config->emergency, &sample), rate,
               level);
        atomic_store_explicit(&e->is_on, e->meter.since_s != 0, memory_order_relaxed);
        e->last_s = now_s;
        e->last_checks = checks;
        show_rate(e, config, rate, now_s);
        has_sample = true;
    }
    pthread_mutex_unlock(&e->lock);
    if (has_sample) {
        save(e); /* no message waits for the disk; only this thread changes the meter */
    }
}

/* ---- escalated domains ---- */

static void stamp(uint64_t unix_s, char ret[STAMP])
{
    time_t t = (time_t)unix_s;
    struct tm utc;

    (void)gmtime_r(&t, &utc);
    (void)strftime(ret, STAMP, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static void on_new(const struct escalated *d)
{
    char until[STAMP];

    stamp(d->until_s, until);
    stats_add(STAT_escalations, 1);
    log_warn("event=escalate domain=%s nurls=%u list=%s until=%s: counts as listed "
             "until then; gillnet emergency lift %s ends that",
             d->domain, d->nurls, d->list, until, d->domain);
}

void emergency_note(struct emergency *e, const struct config *config,
                    const struct featureset *features, const struct listset *lists,
                    const struct list_hits *hits, uint64_t now_s)
{
    const struct escalation_case c = {.config = config,
                                      .features = features,
                                      .lists = lists,
                                      .hits = hits,
                                      .now_s = now_s};

    if (!emergency_is_on(e) || hits->n == 0 || e->domains == NULL) {
        return;
    }
    pthread_mutex_lock(&e->lock);
    escalation_note(e->domains, &c, on_new);
    atomic_store_explicit(&e->has_domains,
                          escalation_list(e->domains, now_s, NULL, 0) > 0,
                          memory_order_relaxed);
    pthread_mutex_unlock(&e->lock);
}

/* A copy, for the lock is not held while the message is judged. */
static bool copy_entry(struct emergency *e, struct slice domain, uint64_t now_s,
                       struct escalated *ret)
{
    pthread_mutex_lock(&e->lock);
    const struct escalated *found = escalation_find(e->domains, domain, now_s);
    if (found != NULL) {
        *ret = *found;
    }
    pthread_mutex_unlock(&e->lock);
    return found != NULL;
}

void emergency_add_symbols(void *context, const struct config *config,
                           const struct featureset *features, struct arena *arena,
                           struct verdict *v)
{
    struct emergency *e = context;
    struct escalated d;
    char from[STAMP];
    char text[DETAIL];

    if (e == NULL || !atomic_load_explicit(&e->has_domains, memory_order_relaxed)) {
        return;
    }
    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        if (f->type != FEATURE_url_domain ||
            !copy_entry(e, f->text, clock_wall_us() / 1000000, &d)) {
            continue;
        }
        stamp(d.from_s, from);
        (void)snprintf(text, sizeof(text),
                       "url_domain=%s escalated from %u URLs of list %s (%s) at %s",
                       d.domain, d.nurls, d.list, d.category, from);
        verdict_add_symbol(v, "", "ESCALATED", config->emergency.escalate_weight,
                           arena_copy(arena, slice_str(text)));
        return; /* once a message, as a list */
    }
}

bool emergency_drop(struct emergency *e, struct slice domain)
{
    bool was_there = false;

    if (e != NULL && e->domains != NULL) {
        pthread_mutex_lock(&e->lock);
        was_there = escalation_drop(e->domains, domain);
        pthread_mutex_unlock(&e->lock);
    }
    return was_there;
}

static void print_entry(const struct escalated *d, struct buf *ret)
{
    json_t *row =
        json_pack("{s:s, s:i, s:s, s:s, s:I, s:I}", "domain", d->domain, "urls",
                  (int)d->nurls, "list", d->list, "category", d->category, "from_s",
                  (json_int_t)d->from_s, "until_s", (json_int_t)d->until_s);
    char *text = row == NULL ? NULL : json_dumps(row, JSON_COMPACT);

    if (text != NULL) {
        buf_printf(ret, "%s\n", text);
    }
    free(text);
    json_decref(row);
}

void emergency_print(struct emergency *e, uint64_t now_s, struct buf *ret)
{
    const struct escalated *at[ESCALATION_DOMAINS_MAX];

    if (e == NULL || e->domains == NULL) {
        return;
    }
    pthread_mutex_lock(&e->lock);
    size_t n = escalation_list(e->domains, now_s, at, LENGTH(at));
    for (size_t i = 0; i < n; i++) {
        print_entry(at[i], ret);
    }
    pthread_mutex_unlock(&e->lock);
}
