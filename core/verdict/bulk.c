#include "core/verdict/bulk.h"

#include <stdarg.h>

#include "core/base/clock.h"
#include "core/telemetry/stats.h"

_Static_assert((int)RULE_WINDOWS == (int)COUNT_WINDOWS &&
                   (int)RULE_10M == (int)COUNT_10M && (int)RULE_14D == (int)COUNT_14D,
               "windows of rules are those of counts");
_Static_assert((int)RULE_DISTINCTS == (int)DISTINCT_KINDS &&
                   (int)RULE_RECIPIENTS == (int)DISTINCT_RCPT &&
                   (int)RULE_NETWORKS == (int)DISTINCT_NETWORK &&
                   (int)RULE_SENDERS == (int)DISTINCT_SENDER,
               "distinct ones of rules are those of counts");

enum {
    DETAIL_VALUE_MAX = 80,
    DETAIL_MAX = 320,
    DETAIL_NAMES_MAX = 5, /* of servers */
    OTHERS = 100 - BULK_NEWSLETTER
};

/* The exact counts of one key. */
struct exact {
    size_t key;                      /* in counts->v */
    struct count_breakdown shares;   /* by server; empty without memory */
    uint64_t windows[COUNT_WINDOWS]; /* within the caps: count_breakdown_bounded */
    uint64_t now;                    /* bucket */
    uint64_t most;   /* fullest bucket of the last day, of this server */
    uint64_t sum;    /* of its buckets */
    bool is_partial; /* a damaged run is missing, so a burst is not certain */
    bool is_counted; /* distinct counts were read */
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

/* The counts of each server, within the caps of this one. */
static void read_shares(const struct asking *a, const struct digest digest[KEYRING_MAX],
                        struct count_breakdown *ret)
{
    const struct count_port *port = a->counts->port;

    *ret = (struct count_breakdown){.n = 0};
    if (port->shares != NULL) {
        port->shares(port->context, digest, ret);
    } else if (count_breakdown_init(ret, 0)) {
        port->exact(port->context, digest, &ret->v[0].history);
        count_breakdown_end(ret);
    }
    count_breakdown_limit(ret, a->config->peers.cap, a->config->peers.quorum);
}

static void read_exact(const struct asking *a, size_t key, struct exact *ret)
{
    *ret = (struct exact){.key = key};
    read_shares(a, a->counts->v[key].digest, &ret->shares);
    if (ret->shares.n == 0) {
        return;
    }
    /* only our own counts show a burst: those of peers may arrive late, all at once */
    const struct count_history *h = &ret->shares.v[0].history;
    ret->now = h->now;
    ret->is_partial = h->ndamaged > 0;
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        ret->windows[w] = count_breakdown_bounded(&ret->shares, w);
    }
    for (size_t i = 0; i < BULK_BUCKETS; i++) {
        ret->sum += h->bucket[i];
        ret->most = h->bucket[i] > ret->most ? h->bucket[i] : ret->most;
    }
}

/* NULL when the limit or the deadline is met: then the key is not confirmed. */
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

/* The larger one of today and yesterday: a day that just began has seen few senders. */
static void read_distinct(const struct asking *a, struct exact *e)
{
    const struct counted *counted = &a->counts->v[e->key];
    uint64_t today = e->now / COUNT_DAY_BUCKETS;

    e->is_counted = true;
    for (unsigned kind = 0; kind < DISTINCT_KINDS; kind++) {
        for (uint64_t day = today; day + 2 > today && day <= today; day--) {
            struct digest digest[KEYRING_MAX];
            struct count_breakdown shares;

            count_distinct_digest(a->counts->keys, counted->digest,
                                  (enum count_distinct)kind, day, digest);
            read_shares(a, digest, &shares);
            uint64_t n = count_breakdown_bounded(&shares, COUNT_14D);
            e->distinct[kind] = n > e->distinct[kind] ? n : e->distinct[kind];
            count_breakdown_fini(&shares);
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

/* By the sketch, which never counts too low (distinct counts: hardly). */
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

/* One sender; or no new one here, because a peer had seen it first. */
static bool has_one_sender(struct asking *a, struct exact *e)
{
    return has_distinct(a, e) &&
           (e->distinct[DISTINCT_SENDER] == 1 ||
            (e->distinct[DISTINCT_SENDER] == 0 && e->shares.n > 1));
}

/* A text that one proved domain sends, and hardly any other sender, is wanted mail: a botnet sends
 * under many names, or under names that it cannot prove. This exemption trusts the counts of all
 * peers: a peer that lies can only exempt more mail. */
static bool is_newsletter(struct asking *a, const struct config_rule *rule,
                          struct exact *e)
{
    uint64_t seen = e->windows[rule->window];

    if (has_one_sender(a, e)) {
        return true;
    }
    for (size_t i = 0; i < a->counts->n; i++) {
        if (a->counts->v[i].feature->type != FEATURE_template_sender) {
            continue;
        }
        const struct exact *template = exact_of(a, i);
        /* without its exact count it may be a newsletter: lack of time never scores */
        if (template == NULL ||
            count_breakdown_all(&template->shares, rule->window) >=
                seen - seen / 100 * OTHERS - seen % 100 * OTHERS / 100) {
            return true;
        }
    }
    return false;
}

struct detail {
    char text[DETAIL_MAX];
    size_t used;
};

static void add_detail(struct detail *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_detail(struct detail *d, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(d->text + d->used, sizeof(d->text) - d->used, format, args);
    va_end(args);
    d->used += n < 0 ? 0 : (size_t)n;
    d->used = d->used < sizeof(d->text) ? d->used : sizeof(d->text) - 1;
}

/* The share after the one of `last` (v[0] at first), the largest first; n: none. */
static unsigned next_share(const struct count_breakdown *s, unsigned window,
                           unsigned last)
{
    unsigned best = s->n;
    uint64_t bound = last == 0 ? UINT64_MAX : s->v[last].w[window];

    for (unsigned i = 1; i < s->n; i++) {
        uint64_t w = s->v[i].w[window];
        bool is_after = last == 0 || w < bound || (w == bound && i > last);
        if (w > 0 && is_after && (best == s->n || w > s->v[best].w[window])) {
            best = i;
        }
    }
    return best;
}

/* " (own 1, alpha 12, beta 3, and 2 more servers; 14 of them count)" */
static void add_servers(struct detail *d, const struct exact *e, unsigned window)
{
    const struct count_breakdown *s = &e->shares;
    unsigned next = next_share(s, window, 0);
    unsigned n = 0;

    if (next >= s->n) {
        return;
    }
    add_detail(d, " (own %llu", (unsigned long long)s->v[0].w[window]);
    for (; next < s->n; next = next_share(s, window, next)) {
        if (n++ < DETAIL_NAMES_MAX) {
            add_detail(d, ", %s %llu", s->v[next].origin->name,
                       (unsigned long long)s->v[next].w[window]);
        }
    }
    if (n > DETAIL_NAMES_MAX) {
        add_detail(d, ", and %u more servers", n - DETAIL_NAMES_MAX);
    }
    if (count_breakdown_sum(s, window) != e->windows[window]) {
        add_detail(d, "; %llu of them count", (unsigned long long)e->windows[window]);
    }
    add_detail(d, ")");
}

/* "shadow, text=12ab... seen 57 times in 1d (own 1, alpha 56), 12 networks" */
static struct slice make_detail(const struct asking *a, const char *note,
                                const struct config_rule *rule, const struct exact *e)
{
    static const char *const words[DISTINCT_KINDS] = {"recipients", "networks",
                                                      "senders"};
    const struct feature *f = a->counts->v[e->key].feature;
    struct slice value = slice_head(f->text, DETAIL_VALUE_MAX);
    struct detail d = {.used = 0};

    add_detail(&d, "%s%s=%.*s%s seen %llu times in %s", note, rule->type,
               SLICE_ARGS(value), value.n < f->text.n ? "..." : "",
               (unsigned long long)count_breakdown_sum(&e->shares, rule->window),
               rule_window_name(rule->window));
    add_servers(&d, e, rule->window);
    for (unsigned kind = 0; e->is_counted && kind < DISTINCT_KINDS; kind++) {
        if (e->distinct[kind] > 1) {
            add_detail(&d, ", %llu %s", (unsigned long long)e->distinct[kind],
                       words[kind]);
        }
    }
    return arena_copy(a->c->arena, slice_of(d.text, d.used));
}

static void show_rule(struct asking *a, const struct config_rule *rule, struct exact *e)
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
        (void)snprintf(text, sizeof(text), "%llu of %llu in ten minutes",
                       (unsigned long long)e->most, (unsigned long long)e->sum);
        c->on_symbol(c->context, "", "BURST", 0, arena_copy(c->arena, slice_str(text)));
    }
}

bool bulk_has_trait(const struct allow_case *facts, const struct config_rule *rule)
{
    return *rule->trait == '\0' ||
           featureset_has(facts->features, FEATURE_trait, slice_str(rule->trait));
}

static void judge_rule(struct asking *a, const struct config_rule *rule)
{
    const struct feature_info *info = feature_info_by_name(slice_str(rule->type));
    const struct count_port *port = a->counts->port;
    size_t n = a->counts->n;
    size_t key = n;

    if (!rule->enabled || info == NULL || !bulk_has_trait(a->c->facts, rule)) {
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
            stats_add(STAT_bulk_skipped_noisy, 1);
            return;
        }
        struct exact *e = exact_of(a, key);
        if (e == NULL) {
            return;
        }
        if (is_confirmed(a, rule, e)) {
            show_rule(a, rule, e);
            return;
        }
        if (count_breakdown_sum(&e->shares, rule->window) < rule->count) {
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
    for (size_t i = 0; i < a.nexact; i++) {
        count_breakdown_fini(&a.exact[i].shares);
    }
    return a.limits;
}
