#include "core/verdict/rule/counted.h"

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
    OTHERS = 100 - COUNTED_NEWSLETTER,
    US_PER_S = 1000000
};

static const uint64_t window_s[COUNT_WINDOWS] = {600, 3600, COUNT_DAY_S,
                                                 UINT64_C(14) * COUNT_DAY_S};

void counted_begin(struct counting *a, const struct rule_case *c)
{
    a->c = c;
    a->counts = c->counts != NULL && c->counts->port != NULL ? c->counts : NULL;
    a->limits = 0;
    a->nexact = 0;
    a->njudged = 0;
    memset(a->first, 0, sizeof(a->first));
    if (a->counts == NULL) {
        return;
    }
    if (a->counts->is_cut) {
        a->limits |= LIMIT_FLAG(counts);
    }
    for (size_t i = a->counts->n < COUNT_FEATURES_MAX ? a->counts->n
                                                      : COUNT_FEATURES_MAX;
         i-- > 0;) {
        uint16_t type = a->counts->v[i].feature->type;

        if (type < VALUE_TABLE_TYPES) {
            a->next[i] = a->first[type];
            a->first[type] = (uint16_t)(i + 1);
        }
    }
}

void counted_end(struct counting *a)
{
    for (size_t i = 0; i < a->nexact; i++) {
        count_breakdown_fini(&a->exact[i].shares);
    }
}

/* ---- exact counts, each key once ---- */

/* The counts of each server, within the caps of this one. */
static void read_shares(const struct counting *a,
                        const struct digest digest[KEYRING_MAX],
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
    count_breakdown_limit(ret, a->c->config->peers.cap, a->c->config->peers.quorum,
                          a->c->config->store.fresh_s);
}

static void read_exact(const struct counting *a, size_t key, struct exact *ret)
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
    for (size_t i = 0; i < COUNTED_BUCKETS; i++) {
        ret->sum += h->bucket[i];
        ret->most = h->bucket[i] > ret->most ? h->bucket[i] : ret->most;
    }
}

/* NULL when the limit or the deadline is met: then the key is not confirmed. */
static struct exact *exact_of(struct counting *a, size_t key)
{
    for (size_t i = 0; i < a->nexact; i++) {
        if (a->exact[i].key == key) {
            return &a->exact[i];
        }
    }
    if (a->nexact == COUNTED_EXACT_MAX) {
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
static void read_distinct(const struct counting *a, struct exact *e)
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

static bool has_distinct(const struct counting *a, struct exact *e)
{
    if (!a->counts->v[e->key].has_distinct || a->counts->keys == NULL) {
        return false;
    }
    if (!e->is_counted) {
        read_distinct(a, e);
    }
    return true;
}

/* ---- one condition ---- */

/* By the sketch, which never counts too low (distinct counts: hardly). */
static bool may_apply(const struct counting *a, const struct config_condition *v,
                      const struct counted *counted)
{
    if (counted->value.w[v->window] < v->least ||
        a->c->is_exempt(a->c->context, counted->feature->text)) {
        return false;
    }
    for (unsigned kind = 0; kind < DISTINCT_KINDS; kind++) {
        if (v->distinct[kind] > 0 &&
            (!counted->has_distinct || counted->distinct[kind] < v->distinct[kind])) {
            return false;
        }
    }
    return true;
}

/* The feature after `last` in the order of counts, the most seen first; n when there is none. */
static size_t next_candidate(const struct counting *a, const struct atom *atom,
                             size_t last)
{
    const struct config_condition *v = atom->from;
    const struct counted *all = a->counts->v;
    size_t n = a->counts->n;
    size_t best = n;
    uint64_t bound = last < n ? all[last].value.w[v->window] : UINT64_MAX;

    for (size_t at = a->first[atom->type]; at > 0; at = a->next[at - 1]) {
        size_t i = at - 1;
        uint64_t value = all[i].value.w[v->window];

        if (last < n && (value > bound || (value == bound && i <= last))) {
            continue;
        }
        if ((best == n || value > all[best].value.w[v->window]) &&
            may_apply(a, v, &all[i])) {
            best = i;
        }
    }
    return best;
}

enum truth counted_sketch(const struct counting *a, const struct atom *atom)
{
    if (a->counts == NULL) {
        return IS_UNDECIDED;
    }
    for (size_t at = a->first[atom->type]; at > 0; at = a->next[at - 1]) {
        if (atom->kind == CONDITION_JUDGED ||
            may_apply(a, atom->from, &a->counts->v[at - 1])) {
            return IS_UNDECIDED;
        }
    }
    return IS_FALSE;
}

static bool is_burst(const struct exact *e, double least)
{
    return !e->is_partial &&
           (double)e->most * COUNTED_BUCKETS >= least * (double)e->sum;
}

/* The rate in the window, over that in the longer one. */
static bool is_rising(const struct exact *e, const struct config_condition *v)
{
    const uint64_t *own = e->shares.v[0].w;

    return !e->is_partial && own[v->window] > 0 &&
           (double)own[v->window] * (double)window_s[v->against] >=
               v->ratio * (double)own[v->against] * (double)window_s[v->window];
}

/* End of the last period in which this server counted the key before the message; 0: none. The
 * message itself is in the running bucket. */
static uint64_t own_last_s(const struct counting *a, const struct exact *e,
                           uint64_t now_s)
{
    const struct count_history *h = &e->shares.v[0].history;

    if (h->bucket[0] > a->counts->amount) {
        return now_s;
    }
    for (uint64_t i = 1; i < COUNTED_BUCKETS; i++) {
        if (h->bucket[i] > 0) {
            return (h->now - i + 1) * COUNT_BUCKET_S;
        }
    }
    for (uint64_t i = 1; i <= COUNT_DAYS; i++) {
        if (h->day[i] > 0) {
            return (h->now / COUNT_DAY_BUCKETS - i + 1) * COUNT_DAY_S;
        }
    }
    return 0;
}

static bool was_silent(const struct counting *a, const struct exact *e,
                       uint64_t least_s)
{
    uint64_t now_s = clock_wall_us() / US_PER_S;
    uint64_t last = own_last_s(a, e, now_s);

    for (unsigned i = 1; i < e->shares.n; i++) {
        uint64_t theirs = e->shares.v[i].history.last_s;

        last = theirs > last ? theirs : last;
    }
    return !e->is_partial && last + least_s <= now_s;
}

static bool is_new(const struct exact *e, uint64_t most_s)
{
    uint64_t now_s = clock_wall_us() / US_PER_S;
    uint64_t first = 0;
    uint64_t last = 0;

    count_breakdown_seen(&e->shares, now_s, &first, &last);
    return !e->is_partial && (first == 0 || first + most_s >= now_s);
}

static bool is_in_time(const struct counting *a, const struct exact *e,
                       const struct config_condition *v)
{
    return (v->burst <= 0 || is_burst(e, v->burst)) &&
           (v->ratio <= 0 || is_rising(e, v)) &&
           (v->first_seen_s == 0 || is_new(e, v->first_seen_s)) &&
           (v->last_seen_s == 0 || was_silent(a, e, v->last_seen_s));
}

static bool is_confirmed(const struct counting *a, const struct config_condition *v,
                         struct exact *e)
{
    if (e->shares.n == 0 || e->windows[v->window] < v->least ||
        (v->most < CONDITION_UNBOUNDED &&
         count_breakdown_all(&e->shares, v->window) > v->most) ||
        !is_in_time(a, e, v)) {
        return false;
    }
    for (unsigned kind = 0; kind < DISTINCT_KINDS; kind++) {
        if (v->distinct[kind] > 0 &&
            (!has_distinct(a, e) || e->distinct[kind] < v->distinct[kind])) {
            return false;
        }
    }
    return true;
}

static enum truth confirm_count(struct counting *a, const struct atom *atom,
                                uint32_t *ret)
{
    const struct config_condition *v = atom->from;
    size_t n = a->counts != NULL ? a->counts->n : 0;
    size_t key = n;

    for (unsigned i = 0; a->counts != NULL && i < COUNTED_TRIES_MAX; i++) {
        const struct count_port *port = a->counts->port;

        key = next_candidate(a, atom, key);
        if (key == n) {
            return IS_FALSE;
        }
        if (!port->is_sound(port->context, (enum count_window)v->window,
                            a->c->config->count.noise_floor)) {
            a->limits |= LIMIT_FLAG(noise);
            stats_add(STAT_bulk_skipped_noisy, 1);
            return IS_UNDECIDED;
        }
        struct exact *e = exact_of(a, key);
        if (e == NULL) {
            return IS_UNDECIDED;
        }
        if (is_confirmed(a, v, e)) {
            *ret = (uint32_t)(e - a->exact);
            return IS_TRUE;
        }
        if (count_breakdown_sum(&e->shares, v->window) < v->least) {
            stats_add(STAT_bulk_false_positive, 1);
        }
    }
    return IS_UNDECIDED;
}

/* ---- judgements ---- */

struct judgements {
    uint64_t bad;
    uint64_t all;
};

/* Reports of people are added to the judgements of gillnetd. */
static struct judgements judgements_of(const struct counting *a, uint32_t i,
                                       enum rule_window window)
{
    const uint64_t *n = a->judged[i].of.n[window];
    uint64_t bad = n[JUDGED_BAD] + n[CALLED_SPAM];

    return (struct judgements){bad, bad + n[JUDGED_GOOD] + n[CALLED_GOOD]};
}

/* The place of a key's judgements; RULE_NONE when a limit is met. */
static uint32_t judged_of(struct counting *a, size_t key)
{
    uint32_t i = 0;

    for (; i < a->njudged; i++) {
        if (a->judged[i].key == key) {
            return i;
        }
    }
    if (i == COUNTED_JUDGED_MAX) {
        a->limits |= LIMIT_FLAG(features);
        return RULE_NONE;
    }
    if (a->c->deadline_mono_us != 0 && clock_mono_us() >= a->c->deadline_mono_us) {
        a->limits |= LIMIT_FLAG(deadline);
        return RULE_NONE;
    }
    a->judged[i].key = key;
    judged_exact(a->counts->port, a->counts->keys, a->counts->v[key].digest,
                 &a->judged[i].of);
    a->njudged++;
    return i;
}

static bool has_share(struct judgements n, const struct config_condition *v)
{
    return n.all > 0 && n.all >= v->least &&
           (double)n.bad >= v->bad_share * (double)n.all &&
           (double)(n.all - n.bad) >= v->good_share * (double)n.all;
}

static enum truth confirm_judged(struct counting *a, const struct atom *atom,
                                 uint32_t *ret)
{
    const struct config_condition *v = atom->from;
    bool is_open = a->counts == NULL;
    unsigned tries = 0;

    for (size_t at = is_open ? 0 : a->first[atom->type]; at > 0; at = a->next[at - 1]) {
        uint32_t i = tries++ < COUNTED_TRIES_MAX ? judged_of(a, at - 1) : RULE_NONE;

        if (i == RULE_NONE || a->judged[i].of.is_partial) {
            is_open = true;
        } else if (!a->c->is_exempt(a->c->context,
                                    a->counts->v[at - 1].feature->text) &&
                   has_share(judgements_of(a, i, v->window), v)) {
            *ret = i;
            return IS_TRUE;
        }
    }
    return is_open ? IS_UNDECIDED : IS_FALSE;
}

enum truth counted_confirm(struct counting *a, const struct atom *atom, uint32_t *ret)
{
    return atom->kind == CONDITION_JUDGED ? confirm_judged(a, atom, ret)
                                          : confirm_count(a, atom, ret);
}

/* ---- newsletters ---- */

/* One sender; or no new one here, because a peer had seen it first. */
static bool has_one_sender(const struct counting *a, struct exact *e)
{
    return has_distinct(a, e) &&
           (e->distinct[DISTINCT_SENDER] == 1 ||
            (e->distinct[DISTINCT_SENDER] == 0 && e->shares.n > 1));
}

/* A text that one proved domain sends, and hardly any other sender, is wanted mail: a botnet sends
 * under many names, or under names that it cannot prove. This exemption trusts the counts of all
 * peers: a peer that lies can only exempt more mail. */
bool counted_is_newsletter(struct counting *a, const struct atom *atom, uint32_t i)
{
    struct exact *e = &a->exact[i];
    enum rule_window window = atom->from->window;
    uint64_t seen = e->windows[window];

    if (has_one_sender(a, e)) {
        return true;
    }
    for (size_t at = a->first[FEATURE_template_sender]; at > 0; at = a->next[at - 1]) {
        const struct exact *template = exact_of(a, at - 1);
        /* without its exact count it may be a newsletter: lack of time never scores */
        if (template == NULL ||
            count_breakdown_all(&template->shares, window) >=
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

static void add_judged(const struct counting *a, const struct atom *atom, uint32_t i,
                       struct detail *d)
{
    struct judgements n = judgements_of(a, i, atom->from->window);
    struct slice text = a->counts->v[a->judged[i].key].feature->text;
    struct slice value = slice_head(text, DETAIL_VALUE_MAX);
    bool is_bad = atom->from->bad_share > 0;

    add_detail(d, "%s=%.*s%s judged %s %llu of %llu times in %s",
               feature_type_name(atom->type), SLICE_ARGS(value),
               value.n < text.n ? "..." : "", is_bad ? "bad" : "good",
               (unsigned long long)(is_bad ? n.bad : n.all - n.bad),
               (unsigned long long)n.all, rule_window_name(atom->from->window));
}

static void add_counted(const struct counting *a, const struct atom *atom,
                        const struct exact *e, struct detail *d)
{
    static const char *const words[DISTINCT_KINDS] = {"recipients", "networks",
                                                      "senders"};
    const struct feature *f = a->counts->v[e->key].feature;
    enum rule_window window = atom->from->window;
    struct slice value = slice_head(f->text, DETAIL_VALUE_MAX);

    add_detail(d, "%s=%.*s%s seen %llu times in %s", feature_type_name(atom->type),
               SLICE_ARGS(value), value.n < f->text.n ? "..." : "",
               (unsigned long long)count_breakdown_sum(&e->shares, window),
               rule_window_name(window));
    add_servers(d, e, window);
    for (unsigned kind = 0; e->is_counted && kind < DISTINCT_KINDS; kind++) {
        if (e->distinct[kind] > 1) {
            add_detail(d, ", %llu %s", (unsigned long long)e->distinct[kind],
                       words[kind]);
        }
    }
}

struct slice counted_detail(const struct counting *a, const struct atom *atom,
                            uint32_t i)
{
    struct detail d = {.used = 0};

    if (atom->kind == CONDITION_JUDGED) {
        add_judged(a, atom, i, &d);
    } else {
        add_counted(a, atom, &a->exact[i], &d);
    }
    return arena_copy(a->c->arena, slice_of(d.text, d.used));
}
