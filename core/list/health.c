/*
 * health - canaries, alarms and target; the scrub is in guard_scrub.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/list/health_internal.h"
#include "core/telemetry/stats.h"

enum { TEXT_MAX = STATS_FAULT_TEXT };

struct guard *guard_new(struct listhold *lists, struct hits *hits)
{
    struct guard *g = calloc(1, sizeof(*g));
    if (g) {
        g->lists = lists;
        g->hits = hits;
    }
    return g;
}

static void fault(const char *list, const char *text)
{
    char key[LIST_NAME_MAX + 8];
    (void)snprintf(key, sizeof(key), "filter:%s", list);
    stats_fault(key, text);
}

static void forget(struct guarded *w)
{
    if (w->alarms != 0) {
        fault(w->name, NULL);
    }
}

void guard_free(struct guard **g)
{
    if (*g) {
        for (size_t i = 0; i < (*g)->n; i++) {
            forget(&(*g)->list[i]);
        }
        free((*g)->list);
        free(*g);
    }
    *g = NULL;
}

/* ---- which lists there are ---- */

static bool is_same(const struct guard *g, const struct listset *set)
{
    size_t n = listset_count(set);
    for (size_t i = 0; i < n && i < g->n; i++) {
        if (strcmp(g->list[i].name, list_reader_name(listset_reader(set, i))) != 0) {
            return false;
        }
    }
    return n == g->n;
}

static struct guarded *find(struct guard *g, const char *name)
{
    for (size_t i = 0; i < g->n; i++) {
        if (strcmp(g->list[i].name, name) == 0) {
            return &g->list[i];
        }
    }
    return NULL;
}

/* One struct guarded for each list of the set, in its order. False without memory: as before. */
static bool take_over(struct guard *g, const struct listset *set)
{
    size_t n = listset_count(set);
    struct guarded *fresh = calloc(n + 1, sizeof(*fresh));
    if (!fresh) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const char *name = list_reader_name(listset_reader(set, i));
        struct guarded *was = find(g, name);
        if (was) {
            fresh[i] = *was;
            was->alarms = 0; /* taken along */
        } else {
            (void)snprintf(fresh[i].name, sizeof(fresh[i].name), "%s", name);
        }
    }
    for (size_t i = 0; i < g->n; i++) {
        forget(&g->list[i]);
    }
    free(g->list);
    g->list = fresh;
    g->n = n;
    return true;
}

/* ---- judging ---- */

/* What is new of the list's false positives goes to the window of this minute. */
static void count_traffic(struct guarded *w, struct hits_row *row)
{
    struct hits_counts c;
    if (!row) {
        return;
    }
    hits_row_read(row, &c);
    if (w->has_counts) {
        alarm_window_add(&w->traffic, c.number[HITS_TESTED] - w->tested,
                         c.number[HITS_FALSE_NEW] - w->false_new);
    }
    w->has_counts = true;
    w->tested = c.number[HITS_TESTED];
    w->false_new = c.number[HITS_FALSE_NEW];
    uint64_t tested = 0;
    uint64_t events = 0;
    alarm_window_sums(&w->canary, &tested, &events);
    hits_set(row, HITS_CANARY_TESTED, tested);
    hits_set(row, HITS_CANARY_HITS, events);
}

/* What canaries found out about filters that are not in use any more is forgotten once it has
 * been acted on; without an alarm it is as good for the next ones. */
static void note_files(struct guarded *w, const struct list_reader *r)
{
    struct reader_part part[READER_PARTS_MAX];
    size_t n = list_reader_parts(r, part, READER_PARTS_MAX);
    uint64_t files = 0;
    for (size_t i = 0; i < n; i++) {
        files += part[i].number;
    }
    if (files != w->files && (w->alarms & HITS_ALARM_CANARY) != 0) {
        w->canary = (struct alarm_window){.at = 0};
        w->is_unblamed = true;
    }
    w->files = files;
}

/* "0.1 %" of a share. */
static const char *percent(double share, char dst[32])
{
    (void)snprintf(dst, 32, "%.4g %%", share * 100);
    return dst;
}

/* What a person reads, most telling first, and the next step. */
static void describe(const struct guarded *w, unsigned alarms, char text[TEXT_MAX])
{
    const struct alarm_window *window =
        (alarms & HITS_ALARM_CANARY) != 0 ? &w->canary : &w->traffic;
    uint64_t tested = 0;
    uint64_t events = 0;
    char is[32];
    char should[32];
    alarm_window_sums(window, &tested, &events);
    double share = tested == 0 ? 0.0 : (double)events / (double)tested;
    percent(w->target, should);
    if ((alarms & HITS_ALARM_CANARY) != 0) {
        (void)snprintf(text, TEXT_MAX,
                       "the filters let %s of random keys through, designed for %s: "
                       "they are overfull or damaged; run `gillnet list rebuild %s`",
                       percent(share, is), should, w->name);
    } else if ((alarms & HITS_ALARM_TRAFFIC) != 0) {
        (void)snprintf(text, TEXT_MAX,
                       "%s of what mail asks for is a false positive, designed for %s: "
                       "somebody may know keys/node.key; replace it and run `gillnet "
                       "list rebuild %s`",
                       percent(share, is), should, w->name);
    } else {
        (void)snprintf(text, TEXT_MAX,
                       "the filters err for %s of strange keys, the target is %s; run "
                       "`gillnet list rebuild %s` or wait for the next import",
                       percent(w->error, is), should, w->name);
    }
}

static void say(struct guarded *w, unsigned alarms)
{
    char text[TEXT_MAX];
    if (alarms == w->alarms) {
        return;
    }
    if (alarms == 0) {
        fault(w->name, NULL);
        log_info("event=filter_alarm list=%s result=over", w->name);
    } else {
        describe(w, alarms, text);
        fault(w->name, text);
        log_warn("event=filter_alarm list=%s canary=%d traffic=%d target=%d: %s",
                 w->name, (alarms & HITS_ALARM_CANARY) != 0,
                 (alarms & HITS_ALARM_TRAFFIC) != 0, (alarms & HITS_ALARM_TARGET) != 0,
                 text);
    }
    w->alarms = alarms;
}

/* was_on: about the filters that are in use now. */
static bool is_alarmed(const struct guarded *w, const struct alarm_window *window,
                       bool was_on)
{
    uint64_t tested = 0;
    uint64_t events = 0;
    double design = w->target > w->error_formula ? w->target : w->error_formula;
    alarm_window_sums(window, &tested, &events);
    return hits_alarm(was_on, design, tested, events);
}

static void judge(struct guard *g, struct guarded *w, const struct list_reader *r,
                  const struct config_list *config)
{
    struct hits_row *row =
        g->hits ? hits_row_find(g->hits, slice_str(w->name), HITS_WHOLE) : NULL;
    struct list_filters f;
    unsigned alarms = 0;
    list_reader_filters(r, &f);
    w->bits = f.bits;
    w->target = config->filter_error;
    w->error_formula = f.error_formula;
    w->error = f.error_bits > f.error_formula ? f.error_bits : f.error_formula;
    count_traffic(w, row);
    bool was_canary = (w->alarms & HITS_ALARM_CANARY) != 0 && !w->is_unblamed;
    bool was_traffic = (w->alarms & HITS_ALARM_TRAFFIC) != 0;
    alarms |= is_alarmed(w, &w->canary, was_canary) ? HITS_ALARM_CANARY : 0;
    alarms |= is_alarmed(w, &w->traffic, was_traffic) ? HITS_ALARM_TRAFFIC : 0;
    w->is_unblamed = false;
    alarms |= w->error > w->target * GUARD_SLACK ? HITS_ALARM_TARGET : 0;
    say(w, alarms);
    if (row) {
        hits_set(row, HITS_ALARMS, alarms);
    }
    alarm_window_turn(&w->canary);
    alarm_window_turn(&w->traffic);
}

/* ---- canaries ---- */

/* How many of the digests a list's filters let through. Nobody inserted them: 128 random bits. */
static unsigned canaries(const struct list_reader *r, const struct digest *d)
{
    uint8_t hit[GUARD_CANARIES];
    unsigned n = 0;
    list_reader_test_own(r, d, GUARD_CANARIES, hit);
    for (unsigned i = 0; i < GUARD_CANARIES; i++) {
        n += hit[i];
    }
    return n;
}

static void look_at(struct guard *g, const struct listset *set, size_t i,
                    const struct digest *d)
{
    struct guarded *w = &g->list[i];
    const struct list_reader *r = listset_reader(set, i);
    unsigned hits = 0;
    note_files(w, r);
    if (!list_reader_fault(
            r)) { /* else filters may be missing, which is said elsewhere */
        hits = canaries(r, d);
        alarm_window_add(&w->canary, GUARD_CANARIES, hits);
    }
    /* new or newly configured, gone bad of a sudden, or its minute is over */
    bool is_new = w->judge_at == 0 || w->target != listset_config(set, i)->filter_error;
    bool is_broken = hits >= ALARM_EVENTS && (w->alarms & HITS_ALARM_CANARY) == 0;
    if (is_new || is_broken || g->look >= w->judge_at) {
        judge(g, w, r, listset_config(set, i));
        /* not all at the same time */
        w->judge_at = g->look + GUARD_LOOKS_A_MINUTE -
                      (is_new ? i % (GUARD_LOOKS_A_MINUTE / 2) : 0);
    }
}

static void tell_numbers(const struct guard *g)
{
    uint64_t bits = 0;
    uint64_t alarms = 0;
    double worst = 0;
    for (size_t i = 0; i < g->n; i++) {
        uint64_t tested = 0;
        uint64_t events = 0;
        alarm_window_sums(&g->list[i].canary, &tested, &events);
        double share = tested == 0 ? 0.0 : (double)events / (double)tested;
        worst = share > worst ? share : worst;
        bits += g->list[i].bits;
        alarms += g->list[i].alarms != 0;
    }
    stats_set(STAT_filter_bits, bits);
    stats_set(STAT_filter_error_ppb, (uint64_t)(worst * 1e9));
    stats_set(STAT_filter_alarms, alarms);
}

void guard_look(struct guard *g)
{
    struct digest d[GUARD_CANARIES];
    const struct listset *set = listhold_acquire(g->lists);
    random_bytes(d, sizeof(d));
    if (g->hits && g->look % GUARD_LOOKS_A_MINUTE == 0) {
        hits_alive(g->hits, clock_wall_us() / 1000000);
    }
    if (is_same(g, set) || take_over(g, set)) {
        for (size_t i = 0; i < g->n; i++) {
            look_at(g, set, i, d);
        }
        tell_numbers(g);
        guard_scrub(g, set);
    }
    listhold_release(g->lists, &set);
    g->look++;
}
