/*
 * listset_peers - ignores peers' hits on protected names and on values that were revoked or allowed
 * here, and all hits on values that another server of this owner revoked.
 */

#include "core/list/listset_internal.h"

enum {
    VETOES_MAX = 256 /* values of one message that suppress hits of peers */
};

const char *list_suppression_name(enum list_suppression s)
{
    static const char *const names[] = {
        [LIST_NOT_SUPPRESSED] = "",
        [LIST_SUPPRESSED_REVOKED] = "revoked here",
        [LIST_SUPPRESSED_ALLOWED] = "allowed here",
        [LIST_SUPPRESSED_PROTECTED] = "protected here",
        [LIST_SUPPRESSED_ELSEWHERE] = "revoked by another server",
    };
    return names[s];
}

/* ---- protected names ---- */

/* The host in a value of any type: of an address what follows its last @, of a URL what stands
 * before path, query and port, after scheme and user. Where a value has none it is compared whole,
 * which does no harm. */
static struct slice value_host(struct slice value)
{
    struct slice rest = value;
    for (size_t i = 0; i + 2 < rest.n; i++) {
        if (rest.p[i] == ':' && rest.p[i + 1] == '/' && rest.p[i + 2] == '/') {
            rest = slice_from(rest, i + 3);
            break;
        }
    }
    size_t end = 0;
    while (end < rest.n && !strchr("/?#", rest.p[end])) {
        end++;
    }
    rest = slice_head(rest, end);
    size_t at = rest.n;
    while (at > 0 && rest.p[at - 1] != '@') {
        at--;
    }
    rest = slice_from(rest, at);
    return slice_head(rest, slice_find(rest, ':'));
}

static bool is_below_any(struct slice host, const struct config_strings *domains)
{
    for (size_t i = 0; i < domains->n; i++) {
        if (slice_is_at_or_below(host, slice_str(domains->v[i]))) {
            return true;
        }
    }
    return false;
}

bool list_is_protected(const struct config *c, struct slice value)
{
    struct slice host = value_host(value);
    if (is_below_any(host, &c->protected_domains) ||
        is_below_any(host, &c->allow_domains)) {
        return true;
    }
    for (size_t i = 0; i < c->allow_addresses.n; i++) {
        if (feature_same_mailbox(value, slice_str(c->allow_addresses.v[i]))) {
            return true;
        }
    }
    return false;
}

bool list_is_allowed(const struct config *c, struct slice value)
{
    return list_is_protected(c, value) || config_allows_address(c, value);
}

/* ---- local decisions ---- */

struct veto {
    const struct list_hit *hit;
    enum list_suppression silence;
};

static enum list_suppression veto_of(const struct listset *s, const struct list_hit *h)
{
    const struct config_list *c = s->item[h->list].config;
    if (h->list >= s->nown) {
        return h->answer == LIST_REVOKED && s->item[h->list].may_revoke
                   ? LIST_SUPPRESSED_ELSEWHERE
                   : LIST_NOT_SUPPRESSED;
    }
    if (h->answer == LIST_CONFIRMED && c->is_allow && !c->shadow) {
        return LIST_SUPPRESSED_ALLOWED;
    }
    return h->answer == LIST_REVOKED && h->is_explicit ? LIST_SUPPRESSED_REVOKED
                                                       : LIST_NOT_SUPPRESSED;
}

static size_t vetoes_find(const struct listset *s, const struct list_hits *hits,
                          struct veto *ret)
{
    size_t n = 0;
    for (size_t i = 0; i < hits->n && n < VETOES_MAX; i++) {
        enum list_suppression silence = veto_of(s, &hits->v[i]);
        if (silence != LIST_NOT_SUPPRESSED) {
            ret[n++] = (struct veto){&hits->v[i], silence};
        }
    }
    return n;
}

/* A revocation suppresses hits of peers' lists of that name, an allow list those of all. */
static bool is_meant(const struct listset *s, const struct veto *v,
                     const struct list_hit *h)
{
    const bool is_elsewhere = v->silence == LIST_SUPPRESSED_ELSEWHERE;
    if (!slice_eq(v->hit->value, h->value) ||
        (is_elsewhere && h->answer == LIST_REVOKED) ||
        (!is_elsewhere && h->list < s->nown)) {
        return false;
    }
    return v->silence == LIST_SUPPRESSED_ALLOWED ||
           strcmp(list_reader_name(listset_reader(s, v->hit->list)),
                  list_reader_name(listset_reader(s, h->list))) == 0;
}

static enum list_suppression silence_of(const struct listset *s, const struct veto *v,
                                        size_t n, const struct list_hit *h)
{
    for (size_t i = 0; i < n; i++) {
        if (is_meant(s, &v[i], h)) {
            return v[i].silence;
        }
    }
    return h->list >= s->nown && list_is_protected(s->config, h->value)
               ? LIST_SUPPRESSED_PROTECTED
               : LIST_NOT_SUPPRESSED;
}

void listset_silence(const struct listset *s, struct list_hits *hits)
{
    struct veto veto[VETOES_MAX];
    bool has_peers = false;
    for (size_t i = 0; i < hits->n && !has_peers; i++) {
        has_peers = hits->v[i].list >= s->nown;
    }
    const size_t n = has_peers ? vetoes_find(s, hits, veto) : 0;
    for (size_t i = 0; has_peers && i < hits->n; i++) {
        hits->v[i].silence = (uint8_t)silence_of(s, veto, n, &hits->v[i]);
    }
    for (size_t i = 0; has_peers && i < hits->n; i++) { /* vetoes point at hits */
        struct list_hit *h = &hits->v[i];
        if (h->list < s->nown && h->silence != LIST_NOT_SUPPRESSED) {
            h->answer = LIST_REVOKED;
            h->is_explicit = false;
        }
    }
}
