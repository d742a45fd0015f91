/*
 * health - canaries, alarms and target; the scrub is in health_scrub.c.
 */
#include <stdarg.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/list/health_internal.h"
#include "core/telemetry/stats.h"

enum { TEXT_MAX = STATS_FAULT_TEXT };

struct list_health *list_health_new(struct list_manager *lists,
                                    struct lookup_stats *hits)
{
    struct list_health *g = calloc(1, sizeof(*g));
    if (g) {
        g->lists = lists;
        g->hits = hits;
    }
    return g;
}

static void set_fault(const char *list, const char *text)
{
    char key[LIST_NAME_MAX + 8];
    (void)snprintf(key, sizeof(key), "filter:%s", list);
    stats_fault(key, text);
}

static void forget(struct list_health_entry *w)
{
    if (w->alarms != 0) {
        set_fault(w->name, NULL);
    }
}

void list_health_free(struct list_health **g)
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

static bool has_same_lists(const struct list_health *g, const struct listset *set)
{
    size_t n = listset_count(set);
    for (size_t i = 0; i < n && i < g->n; i++) {
        if (strcmp(g->list[i].name, list_reader_name(listset_reader(set, i))) != 0) {
            return false;
        }
    }
    return n == g->n;
}

static struct list_health_entry *find_entry(struct list_health *g, const char *name)
{
    for (size_t i = 0; i < g->n; i++) {
        if (strcmp(g->list[i].name, name) == 0) {
            return &g->list[i];
        }
    }
    return NULL;
}

/* One struct list_health_entry for each list of the set, in its order. False without memory: as
 * before. */
static bool take_over(struct list_health *g, const struct listset *set)
{
    size_t n = listset_count(set);
    struct list_health_entry *fresh = calloc(n + 1, sizeof(*fresh));
    if (!fresh) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const char *name = list_reader_name(listset_reader(set, i));
        struct list_health_entry *was = find_entry(g, name);
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

/* Adds the new false positives of the list to the window of this minute. */
static void count_traffic(struct list_health_entry *w, struct lookup_stats_row *row)
{
    struct lookup_stats_counts c;
    if (!row) {
        return;
    }
    lookup_stats_row_read(row, &c);
    if (w->has_counts) {
        error_window_add(&w->traffic, c.number[LOOKUP_STATS_TESTED] - w->tested,
                         c.number[LOOKUP_STATS_FALSE_NEW] - w->false_new);
    }
    w->has_counts = true;
    w->tested = c.number[LOOKUP_STATS_TESTED];
    w->false_new = c.number[LOOKUP_STATS_FALSE_NEW];
    uint64_t tested = 0;
    uint64_t events = 0;
    error_window_sums(&w->canary, &tested, &events);
    lookup_stats_set(row, LOOKUP_STATS_CANARY_TESTED, tested);
    lookup_stats_set(row, LOOKUP_STATS_CANARY_HITS, events);
}

/* Resets the canary window after an alarm, when the filters were replaced. Without an alarm the
 * window stays valid for the new filters. */
static void note_files(struct list_health_entry *w, const struct list_reader *r)
{
    struct reader_part part[READER_PARTS_MAX];
    size_t n = list_reader_parts(r, part, READER_PARTS_MAX);
    uint64_t files = 0;
    for (size_t i = 0; i < n; i++) {
        files += part[i].number;
    }
    if (files != w->files && (w->alarms & LOOKUP_STATS_ALARM_CANARY) != 0) {
        w->canary = (struct error_window){.at = 0};
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

/* The most important alarm as text for people, with the next step. */
static void describe(const struct list_health_entry *w, unsigned alarms,
                     char text[TEXT_MAX])
{
    const struct error_window *window =
        (alarms & LOOKUP_STATS_ALARM_CANARY) != 0 ? &w->canary : &w->traffic;
    uint64_t tested = 0;
    uint64_t events = 0;
    char is[32];
    char should[32];
    error_window_sums(window, &tested, &events);
    double share = tested == 0 ? 0.0 : (double)events / (double)tested;
    percent(w->target, should);
    if ((alarms & LOOKUP_STATS_ALARM_CANARY) != 0) {
        (void)snprintf(text, TEXT_MAX,
                       "the filters let %s of random keys through, designed for %s: "
                       "they are overfull or damaged; run `gillnet list rebuild %s`",
                       percent(share, is), should, w->name);
    } else if ((alarms & LOOKUP_STATS_ALARM_TRAFFIC) != 0) {
        (void)snprintf(
            text, TEXT_MAX,
            "%s of the look-ups of mail are false positives, designed for %s: "
            "somebody may know keys/filter.key; replace it and run `gillnet "
            "list rebuild %s`",
            percent(share, is), should, w->name);
    } else {
        (void)snprintf(text, TEXT_MAX,
                       "the filters err for %s of strange keys, the target is %s; run "
                       "`gillnet list rebuild %s` or wait for the next import",
                       percent(w->error, is), should, w->name);
    }
}

static void report_alarms(struct list_health_entry *w, unsigned alarms)
{
    char text[TEXT_MAX];
    if (alarms == w->alarms) {
        return;
    }
    if (alarms == 0) {
        set_fault(w->name, NULL);
        log_info("event=filter_alarm list=%s result=over", w->name);
    } else {
        describe(w, alarms, text);
        set_fault(w->name, text);
        log_warn("event=filter_alarm list=%s canary=%d traffic=%d target=%d: %s",
                 w->name, (alarms & LOOKUP_STATS_ALARM_CANARY) != 0,
                 (alarms & LOOKUP_STATS_ALARM_TRAFFIC) != 0,
                 (alarms & LOOKUP_STATS_ALARM_TARGET) != 0, text);
    }
    w->alarms = alarms;
}

/* was_on: about the filters that are in use now. */
static bool is_alarmed(const struct list_health_entry *w,
                       const struct error_window *window, bool was_on)
{
    uint64_t tested = 0;
    uint64_t events = 0;
    double design = w->target > w->error_formula ? w->target : w->error_formula;
    error_window_sums(window, &tested, &events);
    return error_alarm(was_on, design, tested, events);
}

static void judge_list(struct list_health *g, struct list_health_entry *w,
                       const struct list_reader *r, const struct config_list *config)
{
    struct lookup_stats_row *row =
        g->hits ? lookup_stats_row_find(g->hits, slice_str(w->name), LOOKUP_STATS_WHOLE)
                : NULL;
    struct list_filters f;
    unsigned alarms = 0;
    list_reader_filters(r, &f);
    w->bits = f.bits;
    w->target = config->filter_error;
    w->error_formula = f.error_formula;
    w->error = f.error_bits > f.error_formula ? f.error_bits : f.error_formula;
    count_traffic(w, row);
    bool was_canary = (w->alarms & LOOKUP_STATS_ALARM_CANARY) != 0 && !w->is_unblamed;
    bool was_traffic = (w->alarms & LOOKUP_STATS_ALARM_TRAFFIC) != 0;
    alarms |= is_alarmed(w, &w->canary, was_canary) ? LOOKUP_STATS_ALARM_CANARY : 0;
    alarms |= is_alarmed(w, &w->traffic, was_traffic) ? LOOKUP_STATS_ALARM_TRAFFIC : 0;
    w->is_unblamed = false;
    alarms |= w->error > w->target * LIST_HEALTH_SLACK ? LOOKUP_STATS_ALARM_TARGET : 0;
    report_alarms(w, alarms);
    if (row) {
        lookup_stats_set(row, LOOKUP_STATS_ALARMS, alarms);
    }
    error_window_turn(&w->canary);
    error_window_turn(&w->traffic);
}

/* ---- canaries ---- */

/* How many of the digests a list's filters let through. Nobody inserted them: 128 random bits. */
static unsigned canaries(const struct list_reader *r, const struct digest *d)
{
    uint8_t hit[LIST_HEALTH_CANARIES];
    unsigned n = 0;
    list_reader_test_own(r, d, LIST_HEALTH_CANARIES, hit);
    for (unsigned i = 0; i < LIST_HEALTH_CANARIES; i++) {
        n += hit[i];
    }
    return n;
}

/* A mapped file was cut in place, or the disk failed: not to wait for the scrub. */
static void look_for_cuts(struct list_health *g, struct list_health_entry *w,
                          const struct list_reader *r)
{
    bool is_cut = list_reader_is_damaged(r);

    if (is_cut && !w->is_cut) {
        log_warn("event=mapped_file list=%s result=opened_again: a file of the list "
                 "was cut short, or the disk failed, while it was in use; its keys "
                 "count as possible hits meanwhile; if the list reports a fault now, "
                 "run `gillnet list rebuild %s`; find what changes its files, or check "
                 "the disk",
                 w->name, w->name);
        list_manager_reopen(g->lists, slice_str(w->name));
        g->has_cut = true;
    }
    w->is_cut = is_cut;
}

static void look_at(struct list_health *g, const struct listset *set, size_t i,
                    const struct digest *d)
{
    struct list_health_entry *w = &g->list[i];
    const struct list_reader *r = listset_reader(set, i);
    unsigned hits = 0;
    note_files(w, r);
    look_for_cuts(g, w, r);
    /* with a fault filters may be missing, which is said elsewhere; remote ones are not asked */
    if (!list_reader_fault(r) && !r->has_remote) {
        hits = canaries(r, d);
        error_window_add(&w->canary, LIST_HEALTH_CANARIES, hits);
    }
    /* new or newly configured, suddenly bad, or due */
    bool is_new = w->judge_at == 0 || w->target != listset_config(set, i)->filter_error;
    bool is_broken =
        hits >= ERROR_ALARM_EVENTS && (w->alarms & LOOKUP_STATS_ALARM_CANARY) == 0;
    if (is_new || is_broken || g->look >= w->judge_at) {
        judge_list(g, w, r, listset_config(set, i));
        /* not all at the same time */
        w->judge_at = g->look + LIST_HEALTH_LOOKS_A_MINUTE -
                      (is_new ? i % (LIST_HEALTH_LOOKS_A_MINUTE / 2) : 0);
    }
}

static void tell_numbers(const struct list_health *g)
{
    uint64_t bits = 0;
    uint64_t alarms = 0;
    double worst = 0;
    for (size_t i = 0; i < g->n; i++) {
        uint64_t tested = 0;
        uint64_t events = 0;
        error_window_sums(&g->list[i].canary, &tested, &events);
        double share = tested == 0 ? 0.0 : (double)events / (double)tested;
        worst = share > worst ? share : worst;
        bits += g->list[i].bits;
        alarms += g->list[i].alarms != 0;
    }
    stats_set(STAT_filter_bits, bits);
    stats_set(STAT_filter_error_ppb, (uint64_t)(worst * 1e9));
    stats_set(STAT_filter_alarms, alarms);
}

bool list_health_look(struct list_health *g)
{
    struct digest d[LIST_HEALTH_CANARIES];
    const struct listset *set = list_manager_acquire(g->lists);
    random_bytes(d, sizeof(d));
    g->has_cut = false;
    if (g->hits && g->look % LIST_HEALTH_LOOKS_A_MINUTE == 0) {
        lookup_stats_alive(g->hits, clock_wall_us() / 1000000);
    }
    if (has_same_lists(g, set) || take_over(g, set)) {
        for (size_t i = 0; i < g->n; i++) {
            look_at(g, set, i, d);
        }
        tell_numbers(g);
        list_health_scrub(g, set);
    }
    list_manager_release(g->lists, &set);
    g->look++;
    return g->has_cut;
}
