/* list_numbers - the numbers of a list's filters: sizes, errors estimated and seen, alarms. */
#include "core/base/clock.h"
#include "core/cli/open_lists.h"
#include "core/cli/print.h"
#include "core/list/confirm_cache.h"
#include "core/list/health.h"

enum { ALIVE_S = 180 }; /* gillnetd writes its sign every minute */

void list_numbers_get(const struct list_reader *r, const struct config *config,
                      const struct hits_view *hits, struct list_numbers *ret)
{
    struct slice name = slice_str(list_reader_name(r));
    struct list_numbers n = {.target = config_list_find(config, name)->filter_error};

    list_reader_stat(r, &n.stat);
    list_reader_filters(r, &n.filters);
    list_reader_peers(r, &n.peers, &n.peers_revoked);
    n.error_now = n.filters.error_bits > n.filters.error_formula
                      ? n.filters.error_bits
                      : n.filters.error_formula;
    n.memory_bytes = n.stat.filter_bytes + n.peers.filter.bits / CHAR_BIT +
                     n.peers_revoked.filter.bits / CHAR_BIT +
                     confirm_cache_bytes_for(config->limits.confirm_cache);
    n.is_over = n.error_now > n.target * LIST_HEALTH_SLACK;
    n.has_hits =
        hits != NULL && lookup_stats_view_find(hits, name, LOOKUP_STATS_WHOLE, &n.hits);
    if (n.has_hits &&
        lookup_stats_view_alive_s(hits) + ALIVE_S < clock_wall_us() / 1000000) {
        n.hits.number[LOOKUP_STATS_ALARMS] = 0; /* gillnetd does not run */
    }
    *ret = n;
}

/* Negative: unknown. */
static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? -1.0 : (double)part / (double)whole;
}

/* A share, null if it is not known. */
static json_t *share_json(double share)
{
    return share < 0 ? json_null() : json_real(share);
}

static json_t *hits_json(const struct lookup_stats_counts *c)
{
    char last[TEXT_TIME_MAX];
    char since[TEXT_TIME_MAX];
    const uint64_t *n = c->number;

    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:o, s:s, s:s}", "tested",
        (json_int_t)n[LOOKUP_STATS_TESTED], "filter_hits",
        (json_int_t)n[LOOKUP_STATS_FILTER], "confirmed",
        (json_int_t)n[LOOKUP_STATS_CONFIRMED], "false_positives",
        (json_int_t)n[LOOKUP_STATS_FALSE], "revoked_hits",
        (json_int_t)n[LOOKUP_STATS_REVOKED], "error_observed",
        share_json(lookup_stats_observed_error(c)), "canaries",
        (json_int_t)n[LOOKUP_STATS_CANARY_TESTED], "error_measured",
        share_json(share(n[LOOKUP_STATS_CANARY_HITS], n[LOOKUP_STATS_CANARY_TESTED])),
        "last_hit", text_time(c->last_hit_s, last), "counted_since",
        text_time(c->since_s, since));
}

/* Null: there is none. */
static json_t *peer_json(const struct list_peer_filter *p)
{
    const struct list_filters *f = &p->filter;
    if (f->bits == 0) {
        return json_null();
    }
    return json_pack("{s:I, s:I, s:f, s:f, s:f}", "entries", (json_int_t)p->entries,
                     "filter_bits", (json_int_t)f->bits, "fill", f->fill,
                     "error_formula", f->error_formula, "error_bits", f->error_bits);
}

json_t *list_numbers_json(json_t *object, json_t *updated, const struct list_numbers *n)
{
    const struct list_stat *s = &n->stat;
    json_t *state =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "entries",
                  (json_int_t)s->entries, "revoked", (json_int_t)s->revoked, "recent",
                  (json_int_t)s->recent, "generation", (json_int_t)s->generation,
                  "levels", (json_int_t)s->levels, "updated", updated, "filter_bytes",
                  (json_int_t)s->filter_bytes, "index_bytes",
                  (json_int_t)s->index_bytes, "log_bytes", (json_int_t)s->log_bytes);
    json_t *filters =
        json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:s?}", "filter_bits",
                  (json_int_t)n->filters.bits, "fill", n->filters.fill, "error_now",
                  n->error_now, "error_formula", n->filters.error_formula, "error_bits",
                  n->filters.error_bits, "error_target", n->target, "memory_bytes",
                  (json_int_t)n->memory_bytes, "alarm", list_numbers_trouble(n));
    json_t *seen = json_pack("{s:o, s:o, s:o}", "peers", peer_json(&n->peers),
                             "peers_revoked", peer_json(&n->peers_revoked), "seen",
                             n->has_hits ? hits_json(&n->hits) : json_null());

    return json_with(json_with(json_with(object, state), filters), seen);
}

bool list_is_old(const struct config *config, const struct list_reader *r)
{
    const struct config_list *l =
        config_list_find(config, slice_str(list_reader_name(r)));

    return l->max_age_s > 0 &&
           list_reader_changed_s(r) + l->max_age_s < clock_wall_us() / 1000000;
}

static void print_share(FILE *to, const char *what, double share)
{
    if (share < 0) {
        (void)fprintf(to, "%s not known yet", what);
    } else {
        (void)fprintf(to, "%s %.4f %%", what, share * 100);
    }
}

static void print_peer(FILE *to, const char *lead, const char *what,
                       const struct list_peer_filter *p)
{
    const struct list_filters *f = &p->filter;
    double error = f->error_bits > f->error_formula ? f->error_bits : f->error_formula;
    if (f->bits > 0) {
        (void)fprintf(to,
                      "%s%s by peers: %" PRIu64 " entries, filter of %" PRIu64
                      " bits, %.1f %% full, error %.4f %%\n",
                      lead, what, p->entries, f->bits, f->fill * 100, error * 100);
    }
}

void list_numbers_print(FILE *to, const char *lead, const struct list_numbers *n)
{
    const uint64_t *c = n->hits.number;
    const char *trouble = list_numbers_trouble(n);
    char last[TEXT_TIME_MAX];

    (void)fprintf(to,
                  "%sfilters of %" PRIu64
                  " bits, %.1f %% full, error %.4f %% (formula %.4f %%, target %.4f "
                  "%%), at most %" PRIu64 " bytes of memory\n",
                  lead, n->filters.bits, n->filters.fill * 100, n->error_now * 100,
                  n->filters.error_formula * 100, n->target * 100, n->memory_bytes);
    print_peer(to, lead, "listed", &n->peers);
    print_peer(to, lead, "revoked", &n->peers_revoked);
    if (n->has_hits) {
        (void)fprintf(to,
                      "%sseen by gillnetd: %" PRIu64 " keys tested, %" PRIu64
                      " filter hits, %" PRIu64 " confirmed (last %s), %" PRIu64
                      " false positives, %" PRIu64 " revoked;",
                      lead, c[LOOKUP_STATS_TESTED], c[LOOKUP_STATS_FILTER],
                      c[LOOKUP_STATS_CONFIRMED], text_time(n->hits.last_hit_s, last),
                      c[LOOKUP_STATS_FALSE], c[LOOKUP_STATS_REVOKED]);
        print_share(to, " error of traffic", lookup_stats_observed_error(&n->hits));
        print_share(to, ", of random keys",
                    share(c[LOOKUP_STATS_CANARY_HITS], c[LOOKUP_STATS_CANARY_TESTED]));
        (void)fputc('\n', to);
    }
    if (trouble != NULL) {
        (void)fprintf(to, "%salarm: %s\n", lead, trouble);
    }
}

const char *list_numbers_trouble(const struct list_numbers *n)
{
    uint64_t alarms = n->has_hits ? n->hits.number[LOOKUP_STATS_ALARMS] : 0;

    if ((alarms & LOOKUP_STATS_ALARM_CANARY) != 0) {
        return "the filters let too many random keys through: they are overfull or "
               "damaged";
    }
    if ((alarms & LOOKUP_STATS_ALARM_TRAFFIC) != 0) {
        return "mail asks for too many false positives: somebody may know "
               "keys/filter.key";
    }
    return n->is_over ? "the filters err more than their target" : NULL;
}
