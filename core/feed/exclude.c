/*
 * exclude - rules for each class of entries, by the names that an entry would cover.
 */
#include "core/feed/exclude.h"

#include "core/base/clock.h"
#include "core/feed/exclude_internal.h"
#include "core/list/listset.h"
#include "core/message/url/host.h"
#include "core/message/url/known_name.h"

/* SHA-256 of nothing: every empty attachment has it. */
#define SUM_OF_NOTHING \
    SLICE_LIT("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")

enum { ENTRY_ARENA = 128 * 1024 };

/* ---- making ---- */

static void open_allow_lists(struct feed_exclude *g, const struct keyring *keys)
{
    const struct config *c = g->config;
    for (size_t i = 0; i < c->nlists && g->nallow < GUARD_ALLOW_MAX; i++) {
        const struct config_list *l = &c->lists[i];
        if (l->is_allow && l->enabled &&
            list_reader_open(c->state_dir, slice_str(l->name), keys,
                             &g->allow[g->nallow], NULL) == ERR_OK) {
            g->nallow++;
        }
    }
}

enum err feed_exclude_new(const struct config *config, const struct config_feed *feed,
                          const struct keyring *keys, struct feed_exclude **ret,
                          struct errinfo *reterr)
{
    struct feed_exclude *g = calloc(1, sizeof(*g));
    if (!g) {
        return errinfo_nomem(reterr, feed->name);
    }
    g->config = config;
    g->arena = arena_new(ENTRY_ARENA);
    enum err e = g->arena ? ERR_OK : errinfo_nomem(reterr, feed->name);
    THEN(e, ham_read(&g->ham, config->state_dir, keys, reterr));
    THEN(e, exclude_hashes_make(&g->hashes, config, reterr));
    if (e != ERR_OK) {
        feed_exclude_free(&g);
        return e;
    }
    g->ham.share = feed->ham;
    open_allow_lists(g, keys);
    exclude_local_find(g);
    *ret = g;
    return ERR_OK;
}

void feed_exclude_free(struct feed_exclude **g)
{
    if (*g) {
        arena_free(&(*g)->arena);
        ham_free(&(*g)->ham);
        exclude_hashes_free(&(*g)->hashes);
        for (size_t i = 0; i < (*g)->nallow; i++) {
            list_reader_close(&(*g)->allow[i]);
        }
        free(*g);
    }
    *g = NULL;
}

/* ---- our own ---- */

/* True: domain is one of our names, or above one. */
static bool covers_any(struct slice domain, const struct config_strings *names)
{
    for (size_t i = 0; i < names->n; i++) {
        if (slice_is_at_or_below(slice_str(names->v[i]), domain)) {
            return true;
        }
    }
    return false;
}

static bool is_confirmed(const struct list_reader *r, uint16_t class_type,
                         struct slice text)
{
    struct digest d;
    digest_make(list_reader_key(r), class_type, text, &d);
    return list_reader_confirm(r, &d, clock_wall_us() / 1000000) == LIST_CONFIRMED;
}

/* A list holds the entry, however its URLs match. */
static bool is_held(const struct feed_exclude *g, const struct list_reader *r,
                    const struct feature_entry *e)
{
    bool is_there = false;
    arena_reset(g->arena);
    for (int match = URL_MATCH_EXACT; !is_there && match <= URL_MATCH_FOLDED; match++) {
        struct feature_entry own =
            feature_entry_matched(e, (enum url_match)match, g->arena);
        is_there = own.text.p != NULL && is_confirmed(r, own.class_type, own.text);
    }
    return is_there;
}

/* An allow list holds the entry, or a domain that it lies in. */
static bool is_allowed(const struct feed_exclude *g, const struct feature_entry *e,
                       struct slice host)
{
    for (size_t i = 0; i < g->nallow; i++) {
        struct slice rest = host;
        if (is_held(g, g->allow[i], e)) {
            return true;
        }
        while (rest.n > 0) {
            if (is_confirmed(g->allow[i], FEATURE_domain, rest)) {
                return true;
            }
            rest = slice_from(rest, slice_find(rest, '.') + 1);
        }
    }
    return false;
}

static const char *refuse_own(const struct feed_exclude *g,
                              const struct feature_entry *e, struct slice host,
                              const char **retwhy)
{
    const struct config *c = g->config;
    bool is_domain = e->class_type == FEATURE_domain;
    if (list_is_protected(c, e->text) ||
        (is_domain && (covers_any(host, &c->protected_domains) ||
                       covers_any(host, &c->allow_domains)))) {
        *retwhy = "one of our own names, or above one (protected, allow.domains, "
                  "allow.addresses)";
        return "protected";
    }
    if (g->nallow > 0 && is_allowed(g, e, host)) {
        *retwhy = "an allow list of ours holds it";
        return "allowed";
    }
    return NULL;
}

/* ---- names ---- */

/* The whole of a host. */
static const char *refuse_host(struct slice host, const char **retwhy)
{
    if (host_is_public_suffix(host)) {
        *retwhy = "a public suffix, below which anybody can register";
        return "suffix";
    }
    switch (known_name_kind(host)) {
    case KNOWN_NAME_MAJOR:
        *retwhy = "a name so large that listing it whole is a mistake; a page there "
                  "can be listed by its path";
        return "major_domain";
    case KNOWN_NAME_SHARED:
        *retwhy = "a host that many strangers share; a page there can be listed by "
                  "its path";
        return "shared";
    case KNOWN_NAME_NONE:
        break;
    }
    return NULL;
}

/* ---- URLs ---- */

/* The host of a URL without its scheme, and the text behind it. */
static struct slice url_host(struct slice url, struct slice *retrest)
{
    size_t end = 0;
    while (end < url.n && url.p[end] != '/' && url.p[end] != '?') {
        end++;
    }
    *retrest = slice_from(url, end);
    struct slice host = slice_head(url, end);
    if (host.n > 0 && host.p[0] == '[') {
        size_t close = slice_find(host, ']');
        return slice_head(host, close < host.n ? close + 1 : close);
    }
    return slice_head(host, slice_find(host, ':'));
}

static const char *refuse_url(const struct feed_exclude *g, struct slice host,
                              struct slice rest, const char **retwhy)
{
    struct ipnet n;
    if (exclude_network_parse(host, &n)) {
        return exclude_network(g, host, retwhy);
    }
    bool is_bare = rest.n == 0 || slice_eq(rest, SLICE_LIT("/"));
    return is_bare ? refuse_host(host, retwhy) : NULL;
}

/* ---- all ---- */

static struct slice entry_host(const struct feature_entry *e, struct slice *retrest)
{
    *retrest = SLICE_NONE;
    switch (e->class_type) {
    case FEATURE_domain:
    case FEATURE_host:
        return e->text;
    case FEATURE_address:
        return slice_from(e->text, slice_find(e->text, '@') + 1);
    case FEATURE_url:
    case FEATURE_url_exact:
    case FEATURE_url_folded:
    case FEATURE_url_template:
    case FEATURE_url_expression:
        return url_host(e->text, retrest);
    default:
        return SLICE_NONE;
    }
}

static const char *refuse_by_class(const struct feed_exclude *g,
                                   const struct feature_entry *e, struct slice host,
                                   struct slice rest, const char **retwhy)
{
    switch (e->class_type) {
    case FEATURE_domain:
    case FEATURE_host:
        return refuse_host(host, retwhy);
    case FEATURE_network:
        return exclude_network(g, e->text, retwhy);
    case FEATURE_url:
    case FEATURE_url_exact:
    case FEATURE_url_folded:
    case FEATURE_url_template:
    case FEATURE_url_expression:
        return refuse_url(g, host, rest, retwhy);
    case FEATURE_url_hash:
        if (exclude_hashes_have(&g->hashes, e->text)) {
            *retwhy = "the sum of a whole host that no feed may list";
            return "major_domain";
        }
        return NULL;
    case FEATURE_attachment:
    case FEATURE_body:
        if (slice_eq(e->text, SUM_OF_NOTHING)) {
            *retwhy = "the checksum of nothing, which every empty file has";
            return "empty";
        }
        return NULL;
    default:
        return NULL;
    }
}

const char *feed_exclude_refuses(const struct feed_exclude *g,
                                 const struct feature_entry *e, const char **retwhy)
{
    struct slice rest;
    struct slice host = entry_host(e, &rest);
    *retwhy = NULL;
    const char *reason = refuse_own(g, e, host, retwhy);
    if (!reason) {
        reason = refuse_by_class(g, e, host, rest, retwhy);
    }
    return reason ? reason : ham_refuses(&g->ham, e, retwhy);
}

uint64_t feed_exclude_ham(const struct feed_exclude *g)
{
    return g->ham.hash ? g->ham.messages : 0;
}

/* Good mail is known by the normal form of its URLs, a version of a feed by the URLs as they were
 * written. */
uint64_t feed_exclude_mark(struct feed_exclude *g, const struct feature_entry *e)
{
    struct feature_entry again = *e;
    bool is_url = e->class_type == FEATURE_url || e->class_type == FEATURE_url_exact ||
                  e->class_type == FEATURE_url_folded;
    arena_reset(g->arena);
    if (is_url || e->class_type == FEATURE_address) {
        (void)feature_entry_parse(e->text, is_url ? FEATURE_url : FEATURE_address,
                                  g->arena, &again, NULL);
    }
    return ham_mark(&g->ham, &again);
}

bool feed_exclude_is_too_much(const struct feed_exclude *g)
{
    double most = FEED_REPLAY_TIMES * g->ham.share * (double)g->ham.messages;
    return g->ham.marked >= FEED_REPLAY_TIMES && (double)g->ham.marked > most;
}
