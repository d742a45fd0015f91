#include "core/base/clock.h"
#include "core/telemetry/history.h"
#include "core/telemetry/stats.h"
#include "core/verdict/rule/rule.h"

#include "milter/message_log.h"
#include "milter/service.h"

enum { US_PER_S = 1000000, NS_PER_US = 1000, TYPES_MAX = 8 };

_Static_assert((int)RATING_COUNT <= (int)HISTORY_STATUSES, "raise HISTORY_STATUSES");

/* ---- URLs ---- */

/* A value that lists know, and what it is called. */
struct called {
    struct slice value;
    enum rating rating;
};

static bool is_of_urls(uint16_t type)
{
    return slice_has_prefix(slice_str(feature_type_name(type)), SLICE_LIT("url"));
}

static size_t name_values(const struct config *config, const struct listset *lists,
                          const struct list_hits *hits,
                          struct called ret[HISTORY_RECORD_URL_HITS])
{
    struct rating_sources voices;
    size_t n = 0;

    service_voices(config, &voices);
    for (size_t i = 0; i < hits->n && n < HISTORY_RECORD_URL_HITS; i++) {
        if (is_of_urls(hits->v[i].report_type)) {
            ret[n++] = (struct called){
                .value = hits->v[i].value,
                .rating = rating_of_hit(&voices, lists, hits, i).rating};
        }
    }
    return n;
}

/* "evil.example/a/b" begins with the value "evil.example/a", or is of its host, or of one below. */
static bool is_covered(struct slice url, struct slice value)
{
    if (slice_find(value, '/') < value.n) {
        return slice_has_prefix_nocase(url, value);
    }
    struct slice host = slice_head(url, slice_find(url, '/'));
    host = slice_head(host, slice_find(host, ':'));
    return slice_has_suffix_nocase(host, value) &&
           (host.n == value.n || host.p[host.n - value.n - 1] == '.');
}

static void count_urls(const struct config *config, const struct featureset *features,
                       const struct listset *lists, const struct list_hits *hits)
{
    uint64_t n[RATING_COUNT] = {0};
    struct called called[HISTORY_RECORD_URL_HITS];
    size_t ncalled = name_values(config, lists, hits, called);

    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        enum rating worst = RATING_CLEAN;
        for (size_t k = 0; f->type == FEATURE_url && k < ncalled; k++) {
            if (called[k].rating > worst && is_covered(f->text, called[k].value)) {
                worst = called[k].rating;
            }
        }
        n[worst] += f->type == FEATURE_url;
    }
    for (unsigned i = 0; i < RATING_COUNT; i++) {
        history_url_checks(i, n[i]);
    }
}

/* ---- keys ---- */

/* Of each type the most seen: a text has many keys, which say the same. What no rule counts is not
 * bulk where it is frequent. */
static size_t find_heavy(const struct config *config,
                         const struct message_counts *counts,
                         const struct counted *ret[TYPES_MAX])
{
    uint64_t least = history_key_floor();
    size_t n = 0;

    for (size_t i = 0; i < counts->n; i++) {
        const struct counted *c = &counts->v[i];
        size_t at = 0;
        if (c->value.w[COUNT_1D] < least ||
            !ruleset_counts_type(config->ruleset, c->feature->type)) {
            continue;
        }
        while (at < n && ret[at]->feature->type != c->feature->type) {
            at++;
        }
        if (at == n && n < TYPES_MAX) {
            ret[n++] = c;
        } else if (at < n && ret[at]->value.w[COUNT_1D] < c->value.w[COUNT_1D]) {
            ret[at] = c;
        }
    }
    return n;
}

static void note_keys(const struct config *config, const struct message_counts *counts)
{
    const struct counted *heavy[TYPES_MAX];
    size_t n = find_heavy(config, counts, heavy);
    uint64_t now_s = n > 0 ? clock_wall_us() / US_PER_S : 0;

    for (size_t i = 0; i < n; i++) {
        const struct feature *f = heavy[i]->feature;
        const struct feature_info *info = feature_info((enum feature_type)f->type);
        struct history_key k = {
            .type = f->type, .day = heavy[i]->value.w[COUNT_1D], .at_s = now_s};
        memcpy(k.digest, heavy[i]->digest, sizeof(k.digest));
        if (info != NULL && info->shown) {
            struct slice text = slice_head(f->text, HISTORY_KEY_TEXT);
            memcpy(k.text, text.p, text.n);
            k.n = text.n;
        }
        history_key(&k);
    }
}

void history_record_evidence(const struct message *m, const struct featureset *features,
                             const struct listset *lists, const struct list_hits *hits,
                             const struct message_counts *counts,
                             const struct verdict *v)
{
    size_t nurls = featureset_count_type(features, FEATURE_url);

    stats_add(STAT_urls_checked, nurls);
    if (nurls > 0) {
        history_time(HISTORY_URL, v->lookup_us * NS_PER_US / featureset_count(features),
                     nurls);
        count_urls(m->config, features, lists, hits);
    }
    if (!emergency_sheds(service_emergency())) {
        note_keys(m->config, counts);
    }
}

/* ---- the message ---- */

static enum history_number url_number_of(enum action done)
{
    switch (done) {
    case ACTION_HEADER:
        return HISTORY_HEADER;
    case ACTION_QUARANTINE:
        return HISTORY_QUARANTINE;
    case ACTION_DEFER:
        return HISTORY_DEFER;
    case ACTION_REJECT:
        return HISTORY_REJECT;
    case ACTION_DISCARD:
        return HISTORY_DISCARD;
    case ACTION_ACCEPT:
    case ACTION_COUNT:
        break;
    }
    return HISTORY_ACCEPT;
}

static void note_verdict(const struct message *m, const struct verdict *v,
                         uint64_t now_s)
{
    history_time(HISTORY_PARSE, m->parse_us * NS_PER_US, 1);
    history_time(HISTORY_COUNT, m->count_us * NS_PER_US, 1);
    history_time(HISTORY_LOOKUP, v->lookup_us * NS_PER_US, 1);
    history_time(HISTORY_VERDICT, v->judge_us * NS_PER_US, 1);
    for (size_t i = 0; i < v->nsymbols; i++) {
        history_symbol(now_s, slice_str(v->symbols[i].name));
    }
}

void history_record_message(const struct message *m, const struct verdict *v,
                            const struct outcome *o, uint64_t bytes, uint64_t us)
{
    uint64_t number[HISTORY_NUMBERS] = {
        [HISTORY_MESSAGES] = 1, [HISTORY_BYTES] = bytes};
    uint64_t now_s = clock_wall_us() / US_PER_S;

    number[HISTORY_SKIPPED] = m->skip != SKIP_NONE || (v != NULL && v->allow != NULL);
    if (m->skip == SKIP_NONE && v == NULL) {
        number[HISTORY_ON_ERROR] = 1;
    } else {
        number[url_number_of(o->done)] = 1;
    }
    history_message(now_s, number, v != NULL ? &v->score : NULL);
    history_time(HISTORY_MESSAGE, us * NS_PER_US, 1);
    if (v != NULL) {
        note_verdict(m, v, now_s);
    }
}
