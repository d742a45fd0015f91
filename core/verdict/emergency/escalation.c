#include "core/verdict/emergency/escalation.h"

#include "core/message/url/known_name.h"

struct seen {
    uint64_t url; /* hash of this process */
    uint64_t at_s;
};

/* A domain whose listed URLs are being counted. */
struct watched {
    uint64_t domain; /* hash; 0: free */
    uint64_t last_s;
    struct seen seen[ESCALATION_URLS_MAX];
};

struct escalation {
    size_t n;
    uint64_t hash[ESCALATION_DOMAINS_MAX]; /* of the domain */
    struct escalated domain[ESCALATION_DOMAINS_MAX];
    struct watched watched[ESCALATION_WATCHED_MAX];
};

struct escalation *escalation_new(void)
{
    return calloc(1, sizeof(struct escalation));
}

void escalation_free(struct escalation **e)
{
    free(*e);
    *e = NULL;
}

/* ---- entries ---- */

static const struct escalated *find_entry(const struct escalation *e,
                                          struct slice domain)
{
    uint64_t hash = e->n == 0 ? 0 : hash_local(domain);

    for (size_t i = 0; i < e->n; i++) {
        if (e->hash[i] == hash && slice_eq(slice_str(e->domain[i].domain), domain)) {
            return &e->domain[i];
        }
    }
    return NULL;
}

const struct escalated *escalation_find(const struct escalation *e, struct slice domain,
                                        uint64_t now_s)
{
    const struct escalated *found = find_entry(e, domain);
    return found != NULL && now_s < found->until_s ? found : NULL;
}

static void remove_at(struct escalation *e, size_t i)
{
    e->n--;
    e->domain[i] = e->domain[e->n];
    e->hash[i] = e->hash[e->n];
}

bool escalation_drop(struct escalation *e, struct slice domain)
{
    const struct escalated *found = find_entry(e, domain);

    if (found != NULL) {
        remove_at(e, (size_t)(found - e->domain));
    }
    return found != NULL;
}

size_t escalation_list(const struct escalation *e, uint64_t now_s,
                       const struct escalated **at, size_t most)
{
    size_t n = 0;

    for (size_t i = 0; i < e->n; i++) {
        if (now_s < e->domain[i].until_s) {
            if (n < most) {
                at[n] = &e->domain[i];
            }
            n++;
        }
    }
    return n;
}

/* Room for one more: without the expired ones, and if need be without the one that ends first. */
static struct escalated *make_room(struct escalation *e, uint64_t now_s)
{
    size_t first = 0;

    for (size_t i = e->n; i-- > 0;) {
        if (now_s >= e->domain[i].until_s) {
            remove_at(e, i);
        }
    }
    for (size_t i = 1; i < e->n; i++) {
        first = e->domain[i].until_s < e->domain[first].until_s ? i : first;
    }
    if (e->n == ESCALATION_DOMAINS_MAX) {
        remove_at(e, first);
    }
    return &e->domain[e->n];
}

/* ---- domains that are watched ---- */

/* The place of a domain; a new one takes a free place or that of the one seen longest ago. */
static struct watched *watch(struct escalation *e, uint64_t domain)
{
    struct watched *oldest = &e->watched[0];

    for (size_t i = 0; i < ESCALATION_WATCHED_MAX; i++) {
        struct watched *w = &e->watched[i];
        if (w->domain == domain) {
            return w;
        }
        oldest = w->last_s < oldest->last_s ? w : oldest;
    }
    *oldest = (struct watched){.domain = domain};
    return oldest;
}

/* Notes a URL; how many different ones came in the window. */
static unsigned add_url(struct watched *w, uint64_t url, uint64_t window_s,
                        uint64_t now_s)
{
    struct seen *place = &w->seen[0];
    unsigned n = 0;

    w->last_s = now_s;
    for (size_t i = 0; i < ESCALATION_URLS_MAX; i++) {
        struct seen *s = &w->seen[i];
        bool is_fresh = s->at_s != 0 && now_s < s->at_s + window_s;
        if (s->url == url && s->at_s != 0) {
            place = s;
            is_fresh = false;
        } else if (place->url != url && s->at_s < place->at_s) {
            place = s;
        }
        n += is_fresh;
    }
    *place = (struct seen){.url = url, .at_s = now_s};
    return n + 1;
}

/* ---- one message ---- */

static struct slice host_of(struct slice url)
{
    struct slice host = slice_head(url, slice_find(url, '/'));
    return slice_head(host, slice_find(host, ':'));
}

/* The registrable domain of the URL's host, as extraction found it. */
static struct slice domain_of(const struct featureset *features, struct slice url)
{
    struct slice host = host_of(url);

    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        if (f->type == FEATURE_url_domain && slice_is_at_or_below(host, f->text)) {
            return f->text;
        }
    }
    return SLICE_NONE;
}

static bool has_domain(const struct config_strings *names, struct slice asked)
{
    for (size_t i = 0; i < names->n; i++) {
        struct slice other = slice_str(names->v[i]);
        if (slice_is_at_or_below(asked, other) || slice_is_at_or_below(other, asked)) {
            return true;
        }
    }
    return false;
}

static bool is_exempt(const struct config *config, struct slice domain)
{
    return domain.n == 0 || domain.n > SUFFIX_NAME_MAX ||
           known_name_kind(domain) != KNOWN_NAME_NONE || suffix_is_public(domain) ||
           has_domain(&config->protected_domains, domain) ||
           has_domain(&config->allow_domains, domain);
}

/* A page that one of our own lists, whose hits score here, confirms. A whole domain that is listed
 * needs no escalation. */
static bool is_evidence(const struct escalation_case *c, const struct list_hit *hit)
{
    const struct config_list *list = hit->list < listset_count(c->lists)
                                         ? listset_config(c->lists, hit->list)
                                         : NULL;

    return list != NULL && listset_origin(c->lists, hit->list) == NULL &&
           hit->answer == LIST_CONFIRMED && hit->silence == LIST_NOT_SUPPRESSED &&
           !list->is_allow && !list->is_learnt && !list->shadow && list->weight > 0 &&
           slice_find(hit->value, '/') < hit->value.n &&
           slice_has_prefix(slice_str(feature_type_name(hit->report_type)),
                            SLICE_LIT("url"));
}

static void escalate(struct escalation *e, const struct escalation_case *c,
                     struct slice domain, const struct list_hit *hit, unsigned nurls,
                     escalation_fn *on_new)
{
    struct escalated *fresh = make_room(e, c->now_s);
    const char *list = list_reader_name(listset_reader(c->lists, hit->list));

    *fresh =
        (struct escalated){.nurls = nurls,
                           .from_s = c->now_s,
                           .until_s = c->now_s + c->config->emergency.escalate_for_s};
    memcpy(fresh->domain, domain.p, domain.n);
    (void)snprintf(fresh->list, sizeof(fresh->list), "%s", list);
    (void)snprintf(fresh->category, sizeof(fresh->category), "%s",
                   listset_config(c->lists, hit->list)->category);
    e->hash[e->n++] = hash_local(domain);
    on_new(fresh);
}

void escalation_note(struct escalation *e, const struct escalation_case *c,
                     escalation_fn *on_new)
{
    const struct config_emergency *o = &c->config->emergency;

    for (size_t i = 0; o->escalate > 0 && i < c->hits->n; i++) {
        const struct list_hit *hit = &c->hits->v[i];
        struct slice domain =
            is_evidence(c, hit) ? domain_of(c->features, hit->value) : SLICE_NONE;
        if (is_exempt(c->config, domain) ||
            escalation_find(e, domain, c->now_s) != NULL) {
            continue;
        }
        uint64_t hash = hash_local(domain);
        unsigned n = add_url(watch(e, hash == 0 ? 1 : hash), hash_local(hit->value),
                             o->escalate_window_s, c->now_s);
        if (n >= o->escalate) {
            (void)escalation_drop(e, domain); /* an expired one */
            escalate(e, c, domain, hit, n, on_new);
        }
    }
}
