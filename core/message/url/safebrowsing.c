/* safebrowsing - the published steps in their order: unescape, split, clean, escape. */
#include "core/message/url/safebrowsing.h"

#include "core/message/text/ascii.h"
#include "core/message/text/charset.h"
#include "core/message/url/host.h"
#include "core/message/url/host_ip.h"
#include "core/message/url/url_path.h"
#include "core/message/url/url_split.h"

enum {
    SUFFIXES_MAX = 7,  /* the whole host and those of at most 7 labels */
    SUFFIX_LABELS = 7, /* of the longest suffix */
    PREFIXES_MAX = 6   /* with query, without, four folders */
};

/* "scheme://" and *text becomes what follows; without one it is http. */
static enum err take_scheme(struct slice *text, struct slice *ret)
{
    size_t n = url_scheme_length(*text);

    *ret = SLICE_LIT("http");
    if (n == 0) {
        return ERR_OK;
    }
    if (slice_has_prefix(slice_from(*text, n + 1), SLICE_LIT("//"))) {
        *ret = slice_head(*text, n);
        *text = slice_from(*text, n + 3);
        return ERR_OK;
    }
    return url_looks_like_port(slice_from(*text, n + 1)) ? ERR_OK : ERR_SYNTAX;
}

/* Without user and port. */
static struct slice host_of_authority(struct slice authority)
{
    size_t at = authority.n;
    size_t end = 0;

    while (at > 0 && authority.p[at - 1] != '@') {
        at--;
    }
    authority = slice_from(authority, at);
    end = authority.n;
    while (end > 0 && ASCII_IS(authority.p[end - 1], ASCII_DIGIT)) {
        end--;
    }
    return end > 0 && authority.p[end - 1] == ':' ? slice_head(authority, end - 1)
                                                  : authority;
}

/* Lower case, without dots at the ends and repeated ones; dst holds text.n bytes. */
static size_t clean_host(struct slice text, char *dst)
{
    size_t n = 0;
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        if (text.p[i] != '.' || (n > 0 && dst[n - 1] != '.')) {
            dst[n++] = ASCII_LOWER(text.p[i]);
        }
    }
    return n > 0 && dst[n - 1] == '.' ? n - 1 : n;
}

static enum err read_host(struct arena *arena, struct slice text,
                          struct safebrowsing *ret)
{
    char ip[HOST_IP_TEXT];
    uint8_t addr[16];
    struct host host = {0};
    char *p = NULL;
    char *escaped = NULL;
    size_t n = 0;

    if (!charset_is_ascii(text) && host_parse(arena, text, &host) == ERR_OK) {
        text = host.text;
    }
    p = arena_bytes(arena, text.n);
    if (p == NULL) {
        return ERR_NOMEM;
    }
    n = clean_host(text, p);
    text = slice_of(p, n);
    if (n == 0) {
        return ERR_SYNTAX;
    }
    ret->is_address = p[0] == '[';
    if (p[0] == '[' && p[n - 1] != ']') {
        return ERR_SYNTAX;
    }
    if (host_ipv4_loose_parse(text, addr)) {
        text = host_ip_text(addr, ip);
        ret->is_address = true;
    }
    escaped = arena_bytes(arena, url_escaped_size(text));
    if (escaped == NULL) {
        return ERR_NOMEM;
    }
    ret->host = slice_of(escaped, url_escape(text, escaped));
    return ERR_OK;
}

/* text begins with '/' or is empty. */
static enum err read_path(struct arena *arena, struct slice text, struct slice *ret)
{
    char *p = NULL;
    char *escaped = NULL;
    size_t n = 0;

    if (text.n == 0) {
        *ret = SLICE_LIT("/");
        return ERR_OK;
    }
    p = arena_bytes(arena, text.n);
    if (p == NULL) {
        return ERR_NOMEM;
    }
    memcpy(p, text.p, text.n);
    n = url_resolve_dots(p, text.n);
    escaped = arena_bytes(arena, url_escaped_size(slice_of(p, n)));
    if (escaped == NULL) {
        return ERR_NOMEM;
    }
    *ret = slice_of(escaped, url_escape(slice_of(p, n), escaped));
    return ERR_OK;
}

static enum err read_query(struct arena *arena, struct slice text, struct slice *ret)
{
    char *p = NULL;

    *ret = SLICE_NONE;
    if (text.p == NULL) {
        return ERR_OK;
    }
    p = arena_bytes(arena, url_escaped_size(text));
    if (p == NULL) {
        return ERR_NOMEM;
    }
    *ret = slice_of(p, url_escape(text, p));
    return ERR_OK;
}

static size_t put_slice(char *dst, struct slice s)
{
    if (s.n > 0) {
        memcpy(dst, s.p, s.n);
    }
    return s.n;
}

static enum err join(struct arena *arena, struct safebrowsing *u)
{
    char *p =
        arena_bytes(arena, u->scheme.n + 3 + u->host.n + u->path.n + 1 + u->query.n);
    size_t n = 0;

    if (p == NULL) {
        return ERR_NOMEM;
    }
    n += put_slice(p + n, u->scheme);
    n += put_slice(p + n, SLICE_LIT("://"));
    n += put_slice(p + n, u->host);
    n += put_slice(p + n, u->path);
    if (u->query.p != NULL) {
        p[n++] = '?';
        n += put_slice(p + n, u->query);
    }
    u->canonical = slice_of(p, n);
    return ERR_OK;
}

static enum err read_canonical(struct arena *arena, struct slice text,
                               struct safebrowsing *u)
{
    struct slice query = SLICE_NONE;
    enum err err = take_scheme(&text, &u->scheme);
    size_t at = slice_find(text, '?');

    if (err != ERR_OK) {
        return err;
    }
    if (at < text.n) {
        query = slice_of(text.p + at + 1, text.n - at - 1);
        text = slice_head(text, at);
    }
    at = slice_find(text, '/');
    err = read_host(arena, host_of_authority(slice_head(text, at)), u);
    if (err == ERR_OK) {
        err = read_path(arena, slice_from(text, at), &u->path);
    }
    if (err == ERR_OK) {
        err = read_query(arena, query, &u->query);
    }
    return err == ERR_OK ? join(arena, u) : err;
}

enum err safebrowsing_parse(struct arena *arena, struct slice text,
                            struct safebrowsing *ret)
{
    struct safebrowsing u = {.is_address = false};
    char *p = NULL;
    enum err err = url_clean(arena, text, &text);

    if (err != ERR_OK) {
        return err;
    }
    text = slice_head(text, slice_find(text, '#'));
    p = arena_bytes(arena, text.n);
    if (p == NULL) {
        return ERR_NOMEM;
    }
    err = read_canonical(arena, slice_of(p, url_decode_fully(text, '\\', p)), &u);
    if (err == ERR_OK) {
        *ret = u;
    }
    return err;
}

enum err safebrowsing_of_url(struct arena *arena, const struct url *url,
                             struct safebrowsing *ret)
{
    struct safebrowsing u = {.scheme = url->scheme,
                             .host = url->host.text,
                             .is_address = url->host.kind != HOST_NAME,
                             .path = url->path};
    struct slice query = url->query;
    char *p = arena_bytes(arena, query.n + u.host.n + 2);
    enum err err = ERR_OK;

    if (p == NULL) {
        return ERR_NOMEM;
    }
    if (url->host.kind == HOST_IPV6) {
        p[0] = '[';
        (void)put_slice(p + 1, u.host);
        p[u.host.n + 1] = ']';
        u.host = slice_of(p, u.host.n + 2);
        p += u.host.n;
    }
    if (query.p != NULL) {
        query = slice_of(p, url_decode_fully(query, '\\', p));
    }
    err = read_query(arena, query, &u.query);
    if (err == ERR_OK) {
        err = join(arena, &u);
    }
    if (err == ERR_OK) {
        *ret = u;
    }
    return err;
}

/* The host and its suffixes of at most SUFFIX_LABELS labels, longest first. */
static size_t suffixes(const struct safebrowsing *u, struct slice ret[SUFFIXES_MAX])
{
    struct slice host = u->host;
    size_t starts[SUFFIX_LABELS];
    size_t labels = 1;
    size_t n = 0;
    size_t i = host.n;

    ret[n++] = host;
    if (u->is_address) {
        return n;
    }
    while (i > 0 && labels <= SUFFIX_LABELS) {
        if (host.p[--i] == '.') {
            starts[labels++ - 1] = i + 1;
        }
    }
    /* starts[k]: where the suffix of k + 1 labels begins; one label is no name to list */
    for (i = labels - 1; i > 1; i--) {
        ret[n++] = slice_from(host, starts[i - 1]);
    }
    return n;
}

/* The path prefixes, longest first; all is the path with the query. */
static size_t prefixes(struct slice all, struct slice path,
                       struct slice ret[PREFIXES_MAX])
{
    size_t ends[PREFIXES_MAX];
    size_t nends = 0;
    size_t n = 0;
    size_t i = 0;

    if (all.n > path.n) {
        ret[n++] = all;
    }
    ret[n++] = slice_head(all, path.n);
    for (i = 0; i + 1 < path.n && nends < PREFIXES_MAX - 2; i++) {
        if (path.p[i] == '/') {
            ends[nends++] = i + 1;
        }
    }
    while (nends > 0) {
        ret[n++] = slice_head(all, ends[--nends]);
    }
    return n;
}

static struct slice whole_path(struct arena *arena, const struct safebrowsing *u)
{
    char *p = NULL;
    size_t n = 0;

    if (u->query.n == 0) {
        return u->path;
    }
    p = arena_bytes(arena, u->path.n + 1 + u->query.n);
    if (p == NULL) {
        return SLICE_NONE;
    }
    n = put_slice(p, u->path);
    p[n++] = '?';
    n += put_slice(p + n, u->query);
    return slice_of(p, n);
}

size_t safebrowsing_expressions(struct arena *arena, const struct safebrowsing *url,
                                struct slice ret[SAFEBROWSING_EXPRESSIONS_MAX])
{
    struct slice hosts[SUFFIXES_MAX];
    struct slice paths[PREFIXES_MAX];
    struct slice all = whole_path(arena, url);
    size_t nhosts = suffixes(url, hosts);
    size_t npaths = prefixes(all, url->path, paths);
    size_t skip = 0;
    size_t n = 0;
    size_t i = 0;

    if (all.p == NULL) {
        return 0;
    }
    while ((nhosts - skip) * npaths > SAFEBROWSING_EXPRESSIONS_MAX) {
        skip++;
    }
    for (i = 0; i < nhosts; i++) {
        size_t k = 0;

        if (i > 0 && i <= skip) {
            continue;
        }
        for (k = 0; k < npaths; k++) {
            char *p = arena_bytes(arena, hosts[i].n + paths[k].n);

            if (p == NULL) {
                return 0;
            }
            (void)put_slice(p + put_slice(p, hosts[i]), paths[k]);
            ret[n++] = slice_of(p, hosts[i].n + paths[k].n);
        }
    }
    return n;
}
