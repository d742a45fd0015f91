#include "core/verdict/bulk.h"

#include <stdio.h>

#include "core/base/clock.h"
#include "core/base/stats.h"

_Static_assert((int)RULE_WINDOWS == (int)COUNT_WINDOWS &&
                   (int)RULE_10M == (int)COUNT_10M && (int)RULE_14D == (int)COUNT_14D,
               "windows of rules are those of counts");
_Static_assert((int)RULE_DISTINCTS == (int)DISTINCT_KINDS &&
                   (int)RULE_RECIPIENTS == (int)DISTINCT_RCPT &&
                   (int)RULE_NETWORKS == (int)DISTINCT_NETWORK &&
                   (int)RULE_SENDERS == (int)DISTINCT_SENDER,
               "distinct ones of rules are those of counts");

enum { DETAIL_VALUE_MAX = 80, DETAIL_MAX = 320 };

/* What the exact counts say of one key. */
struct exact {
    size_t key; /* in counts->v */
    uint64_t windows[COUNT_WINDOWS];
    uint64_t now;    /* bucket */
    uint64_t most;   /* fullest bucket of the last day */
    uint64_t sum;    /* of its buckets */
    bool is_partial; /* a damaged run was left out: what it had may be no burst */
    bool is_counted; /* distinct ones were asked for */
    uint64_t distinct[DISTINCT_KINDS];
};

struct asking {
    const struct bulk_case *c;
    const struct config *config;
    const struct message_counts *counts;
    unsigned limits;
    bool is_newsletter_shown;
    bool is_burst_shown;
    size_t nexact;
    struct exact exact[BULK_EXACT_MAX];
};

/* ---- exact counts, each key once ---- */

static void read_exact(const struct asking *a, size_t key, struct exact *ret)
{
    const struct count_port *port = a->counts->port;
    struct count_history h = {.now = 0};

    port->exact(port->context, a->counts->v[key].digest, &h);
    *ret = (struct exact){.key = key, .now = h.now, .is_partial = h.ndamaged > 0};
    count_history_windows(&h, ret->windows);
    for (size_t i = 0; i < BULK_BUCKETS; i++) {
        ret->sum += h.bucket[i];
        ret->most = h.bucket[i] > ret->most ? h.bucket[i] : ret->most;
    }
}

/* NULL when no more can be asked: then nothing is confirmed. */
static struct exact *exact_of(struct asking *a, size_t key)
{
    for (size_t i = 0; i < a->nexact; i++) {
        if (a->exact[i].key == key) {
            return &a->exact[i];
        }
    }
    if (a->nexact == BULK_EXACT_MAX) {
        a->limits |= LIMIT_FLAG(features);
        return NULL;
    }
    if (a->c->deadline_mono_us != 0 && clock_mono_us() >= a->c->deadline_mono_us) {
        a->limits |= LIMIT_FLAG(deadline);
        return NULL;
    }
    read_exact(a, key, &a->exact[a->nexact]);
    return &a->exact[a->nexact++];
}

/* Of today or yesterday, the larger: a day that just began knows nobody yet. */
static void read_distinct(const struct asking *a, struct exact *e)
{
    const struct count_port *port = a->counts->port;
    const struct counted *counted = &a->counts->v[e->key];
    uint64_t today = e->now / COUNT_DAY_BUCKETS;

    e->is_counted = true;
    for (unsigned kind = 0; kind < DISTINCT_KINDS; kind++) {
        for (uint64_t day = today; day + 2 > today && day <= today; day--) {
            struct digest digest[KEYRING_MAX];
            struct count_history h = {.now = 0};
            uint64_t windows[COUNT_WINDOWS];

            count_distinct_digest(a->counts->keys, counted->digest,
                                  (enum count_distinct)kind, day, digest);
            port->exact(port->context, digest, &h);
            count_history_windows(&h, windows);
            if (windows[COUNT_14D] > e->distinct[kind]) {
                e->distinct[kind] = windows[COUNT_14D];
            }
        }
    }
}

static bool has_distinct(const struct asking *a, struct exact *e)
{
    if (!a->counts->v[e->key].has_distinct || a->counts->keys == NULL) {
        return false;
    }
    if (!e->is_counted) {
        read_distinct(a, e);
    }
    return true;
}

/* ---- one rule ---- */

/* By the sketch, which says at least the truth (of distinct ones nearly). */
static bool may_apply(const struct asking *a, const struct config_rule *rule,
                      uint16_t type, const struct counted *counted)
{
    if (counted->feature->type != type ||
        counted->value.w[rule->window] < rule->count ||
        a->c->is_exempt(a->c->context, counted->feature->text)) {
        return false;
    }
    for (unsigned kind = 0; kind < DISTINCT_KINDS; kind++) {
        if (rule->distinct[kind] > 0 &&
            (!counted->has_distinct ||
             counted->distinct[kind] < rule->distinct[kind])) {
            return false;
        }
    }
    return true;
}

/* The feature after `last` in the order of counts, the most seen first; n when there is none. */
static size_t next_candidate(const struct asking *a, const struct config_rule *rule,
                             uint16_t type, size_t last)
{
    size_t n = a->counts->n;
    size_t best = n;
    uint64_t bound = last < n ? a->counts->v[last].value.w[rule->window] : UINT64_MAX;

    for (size_t i = 0; i < n; i++) {
        uint64_t value = a->counts->v[i].value.w[rule->window];

        if (last < n && (value > bound || (value == bound && i <= last))) {
            continue;
        }
        if ((best == n || value > a->counts->v[best].value.w[rule->window]) &&
            may_apply(a, rule, type, &a->counts->v[i])) {
            best = i;
        }
    }
    return best;
}

static bool is_burst(const struct exact *e, double least)
{
    return !e->is_partial && (double)e->most * BULK_BUCKETS >= least * (double)e->sum;
}

static bool is_confirmed(const struct asking *a, const struct config_rule *rule,
                         struct exact *e)
{
    if (e->windows[rule->window] < rule->count ||
        (rule->burst > 0 && !is_burst(e, rule->burst))) {
        return false;
    }
    for (unsigned kind = 0; kind < DISTINCT_KINDS; kind++) {
        if (rule->distinct[kind] > 0 &&
            (!has_distinct(a, e) || e->distinct[kind] < rule->distinct[kind])) {
            return false;
        }
    }
    return true;
}

/* What one domain that proved itself sends, and hardly anyone else, somebody asked for; a robot
 * network sends under many names, or under names that it cannot prove. */
static bool is_newsletter(struct asking *a, const struct config_rule *rule,
                          struct exact *e)
{
    uint64_t seen = e->windows[rule->window];

    if (has_distinct(a, e) && e->distinct[DISTINCT_SENDER] == 1) {
        return true;
    }
    for (size_t i = 0; i < a->counts->n; i++) {
        if (a->counts->v[i].feature->type != FEATURE_template_sender) {
            continue;
        }
        const struct exact *template = exact_of(a, i);
        /* who cannot be asked any more may be one: nothing is scored for lack of time */
        if (template == NULL ||
            template->windows[rule->window] * 100 >= seen * BULK_NEWSLETTER) {
            return true;
        }
    }
    return false;
}

/* "shadow, text=12ab... seen 57 times in 1d, 12 networks" */
static struct slice make_detail(const struct asking *a, const char *note,
                                const struct config_rule *rule, struct exact *e)
{
    static const char *const words[DISTINCT_KINDS] = {"recipients", "networks",
                                                      "senders"};
    const struct feature *f = a->counts->v[e->key].feature;
    struct slice value = slice_head(f->text, DETAIL_VALUE_MAX);
    char text[DETAIL_MAX];
    int n = snprintf(text, sizeof text, "%s%s=%.*s%s seen %llu times in %s", note,
                     rule->type, SLICE_ARGS(value), value.n < f->text.n ? "..." : "",
                     (unsigned long long)e->windows[rule->window],
                     rule_window_name(rule->window));
    size_t used = n < 0 ? 0 : (size_t)n;

    for (unsigned kind = 0; e->is_counted && kind < DISTINCT_KINDS; kind++) {
        if (used < sizeof text && e->distinct[kind] > 1) {
            n = snprintf(text + used, sizeof text - used, ", %llu %s",
                         (unsigned long long)e->distinct[kind], words[kind]);
            used += n < 0 ? 0 : (size_t)n;
        }
    }
    return arena_copy(a->c->arena,
                      slice_of(text, used < sizeof text ? used : sizeof text - 1));
}

static void show(struct asking *a, const struct config_rule *rule, struct exact *e)
{
    const struct bulk_case *c = a->c;
    struct slice domain = SLICE_NONE;
    bool spares = rule->spares_newsletters && allow_proved_from(c->facts, &domain) &&
                  is_newsletter(a, rule, e);
    const char *note = rule->shadow ? "shadow, " : spares ? "newsletter, " : "";

    stats_add(STAT_bulk_confirmed, 1);
    c->on_symbol(c->context, "BULK_", rule->name,
                 rule->shadow || spares ? 0 : rule->score,
                 make_detail(a, note, rule, e));
    if (spares && !a->is_newsletter_shown) {
        a->is_newsletter_shown = true;
        c->on_symbol(c->context, "", "NEWSLETTER", 0, arena_copy(c->arena, domain));
    }
    if (rule->burst > 0 && !a->is_burst_shown) {
        char text[DETAIL_MAX];

        a->is_burst_shown = true;
        (void)snprintf(text, sizeof text, "%llu of %llu in ten minutes",
                       (unsigned long long)e->most, (unsigned long long)e->sum);
        c->on_symbol(c->context, "", "BURST", 0, arena_copy(c->arena, slice_str(text)));
    }
}

static void judge_rule(struct asking *a, const struct config_rule *rule)
{
    const struct feature_info *info = feature_info_by_name(slice_str(rule->type));
    const struct count_port *port = a->counts->port;
    size_t n = a->counts->n;
    size_t key = n;

    if (!rule->enabled || info == NULL) {
        return;
    }
    for (unsigned i = 0; i < BULK_TRIES_MAX; i++) {
        key = next_candidate(a, rule, (uint16_t)info->type, key);
        if (key == n) {
            return;
        }
        if (!port->is_sound(port->context, (enum count_window)rule->window,
                            a->config->count.noise_floor)) {
            a->limits |= LIMIT_FLAG(noise);
            stats_add(STAT_bulk_unsound, 1);
            return;
        }
        struct exact *e = exact_of(a, key);
        if (e == NULL) {
            return;
        }
        if (is_confirmed(a, rule, e)) {
            show(a, rule, e);
            return;
        }
        if (e->windows[rule->window] < rule->count) {
            stats_add(STAT_bulk_false_positive, 1);
        }
    }
}

unsigned bulk_judge(const struct bulk_case *c)
{
    struct asking a = {
        .c = c, .config = c->facts->config, .counts = c->facts->context->counts};

    if (a.counts == NULL || a.counts->port == NULL) {
        return 0;
    }
    if (a.counts->is_cut) {
        a.limits |= LIMIT_FLAG(counts);
    }
    for (size_t i = 0; i < a.config->nrules; i++) {
        judge_rule(&a, &a.config->rules[i]);
    }
    return a.limits;
}
