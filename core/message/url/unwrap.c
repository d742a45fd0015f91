/* unwrap - a list of targets that grows while it is read, instead of recursion. */
#include "core/message/url/unwrap.h"

#include "core/base/word_table.h"
#include "core/message/text/ascii.h"
#include "core/message/url/host.h"
#include "core/message/url/unwrap_decode.h"
#include "core/message/url/url.h"
#include "core/message/url/url_split.h"
#include "core/message/url/weburl.h"

enum { ESCAPED_TIMES_MAX = 4, SHORTENER_LABELS = 4 /* of a name in the table */ };

/* How a wrapper hides its target. */
enum method {
    METHOD_PARAMETER, /* argument: the parameter's name; percent-encoded */
    METHOD_V2,        /* argument: the parameter's name */
    METHOD_V3,        /* after the path's prefix */
    METHOD_BASE64,    /* argument: the parameter's name; "a1" before the base64 */
    METHOD_HOST,      /* a host and path after the path's prefix, perhaps after "s/" */
    METHOD_SEGMENT,   /* the same after one more segment */
    METHOD_TRANSLATE  /* in the host's first label */
};

struct wrapper {
    struct slice
        domain; /* the host or one above it; "google." is Google of any country */
    struct slice prefix; /* of the path */
    struct slice argument;
    enum method method;
    enum unwrap_kind kind;
};

#define TEXT(literal)                \
    {                                \
        literal, sizeof(literal) - 1 \
    }

static const struct wrapper wrappers[] = {
    {TEXT("safelinks.protection.outlook.com"), TEXT("/"), TEXT("url"), METHOD_PARAMETER,
     UNWRAP_SAFELINKS},
    {TEXT("safelinks.protection.office365.us"), TEXT("/"), TEXT("url"),
     METHOD_PARAMETER, UNWRAP_SAFELINKS},
    {TEXT("urldefense.proofpoint.com"), TEXT("/v1/"), TEXT("u"), METHOD_PARAMETER,
     UNWRAP_URLDEFENSE},
    {TEXT("urldefense.proofpoint.com"), TEXT("/v2/"), TEXT("u"), METHOD_V2,
     UNWRAP_URLDEFENSE},
    {TEXT("urldefense.proofpoint.com"), TEXT("/v3/"), TEXT(""), METHOD_V3,
     UNWRAP_URLDEFENSE},
    {TEXT("urldefense.com"), TEXT("/v1/"), TEXT("u"), METHOD_PARAMETER,
     UNWRAP_URLDEFENSE},
    {TEXT("urldefense.com"), TEXT("/v2/"), TEXT("u"), METHOD_V2, UNWRAP_URLDEFENSE},
    {TEXT("urldefense.com"), TEXT("/v3/"), TEXT(""), METHOD_V3, UNWRAP_URLDEFENSE},
    {TEXT("urldefense.us"), TEXT("/v3/"), TEXT(""), METHOD_V3, UNWRAP_URLDEFENSE},
    {TEXT("google."), TEXT("/url?"), TEXT("q"), METHOD_PARAMETER, UNWRAP_GOOGLE},
    {TEXT("google."), TEXT("/url?"), TEXT("url"), METHOD_PARAMETER, UNWRAP_GOOGLE},
    {TEXT("google."), TEXT("/amp/"), TEXT(""), METHOD_HOST, UNWRAP_AMP},
    {TEXT("translate.goog"), TEXT("/"), TEXT(""), METHOD_TRANSLATE, UNWRAP_GOOGLE},
    {TEXT("cdn.ampproject.org"), TEXT("/c/"), TEXT(""), METHOD_HOST, UNWRAP_AMP},
    {TEXT("cdn.ampproject.org"), TEXT("/v/"), TEXT(""), METHOD_HOST, UNWRAP_AMP},
    {TEXT("bing.com"), TEXT("/ck/a"), TEXT("u"), METHOD_BASE64, UNWRAP_BING},
    {TEXT("nate.com"), TEXT("/r/"), TEXT(""), METHOD_SEGMENT, UNWRAP_NATE},
};

/* Parameters whose value redirectors also take without a scheme. */
static const struct slice redirect_names[] = {
    TEXT("url"),  TEXT("u"),    TEXT("r"),    TEXT("redirect"),     TEXT("redir"),
    TEXT("goto"), TEXT("dest"), TEXT("link"), TEXT("redirect_url"), TEXT("target"),
};

/* The list of targets, and the URL that is being read. */
struct work {
    struct arena *arena;
    struct unwrap_target *targets;
    size_t n;
    bool is_cut;
    unsigned depth; /* of what is found now */
    unsigned from;
    struct weburl url;
    struct slice host; /* normal form */
    struct slice rest; /* of href from the path on */
};

static bool is_absolute(struct slice text)
{
    return slice_has_prefix_nocase(text, SLICE_LIT("http:/")) ||
           slice_has_prefix_nocase(text, SLICE_LIT("https:/")) ||
           slice_has_prefix_nocase(text, SLICE_LIT("http:\\")) ||
           slice_has_prefix_nocase(text, SLICE_LIT("https:\\"));
}

/* Keeps a target that is one and that is new. */
static void found(struct work *w, struct slice text, enum unwrap_kind kind)
{
    struct url url;
    enum err err = ERR_OK;
    size_t i = 0;

    if (text.n == 0) {
        return;
    }
    for (i = 0; i < w->n; i++) {
        if (slice_eq(w->targets[i].url, text)) {
            return;
        }
    }
    err = url_parse(w->arena, text, &url);
    if (err == ERR_NOMEM || (err == ERR_OK && (w->n == UNWRAP_TARGETS_MAX ||
                                               w->depth > UNWRAP_DEPTH_MAX))) {
        w->is_cut = true;
        return;
    }
    if (err == ERR_OK) {
        w->targets[w->n++] = (struct unwrap_target){
            .url = text, .depth = w->depth, .from = w->from, .kind = kind};
    }
}

static char *room(struct work *w, size_t n)
{
    char *p = arena_bytes(w->arena, n);

    w->is_cut = w->is_cut || p == NULL;
    return p;
}

static struct slice decode_target(struct work *w, struct slice text)
{
    char *p = room(w, text.n);

    return p == NULL ? SLICE_NONE : slice_of(p, url_decode_once(text, p));
}

static bool is_escaped_absolute(struct slice text)
{
    return slice_has_prefix_nocase(text, SLICE_LIT("http%")) ||
           slice_has_prefix_nocase(text, SLICE_LIT("https%"));
}

/* A parameter's value, also when it was escaped more than once or is base64. */
static struct slice decode_value(struct work *w, struct slice value)
{
    struct slice text = decode_target(w, value);
    char *p = NULL;
    size_t i = 0;

    for (i = 1; i < ESCAPED_TIMES_MAX && is_escaped_absolute(text); i++) {
        text = decode_target(w, text);
    }
    while (text.n > 0 && (unsigned char)text.p[0] <= 0x20) {
        text = slice_from(text, 1);
    }
    if (slice_has_prefix(text, SLICE_LIT("aHR0c"))) { /* "http" in base64 */
        p = room(w, text.n);
        text = p == NULL ? SLICE_NONE : slice_of(p, unwrap_base64(text, p));
    }
    return text;
}

/* Whether the bare value can only be meant as a host, perhaps with a path. */
static bool is_bare_host(struct work *w, struct slice value)
{
    struct url url;

    if (slice_has_prefix(value, SLICE_LIT("//"))) {
        return true;
    }
    return slice_find(value, '.') < value.n && slice_find(value, '@') == value.n &&
           value.n > 0 && ASCII_IS(value.p[0], ASCII_ALPHA | ASCII_DIGIT) &&
           url_parse(w->arena, value, &url) == ERR_OK && url.host.kind == HOST_NAME &&
           host_has_listed_suffix(url.host.text);
}

static bool is_redirect_name(struct slice name)
{
    size_t i = 0;

    for (i = 0; i < LENGTH(redirect_names); i++) {
        if (slice_eq_nocase(redirect_names[i], name)) {
            return true;
        }
    }
    return false;
}

/* Reads a value that stands in the place of a name: "?http://...", "#aHR0c...". rest is the pair
 * and the text behind it. */
static bool read_nameless(struct work *w, struct slice pair, struct slice rest)
{
    struct slice decoded;

    if (!slice_has_prefix_nocase(pair, SLICE_LIT("http")) &&
        !slice_has_prefix(pair, SLICE_LIT("aHR0c"))) {
        return false;
    }
    decoded = decode_value(w, pair);
    if (!is_absolute(decoded)) {
        return false;
    }
    found(w, decoded, UNWRAP_PARAMETER);
    if (rest.n > pair.n && is_absolute(pair)) {
        found(w, decode_target(w, rest), UNWRAP_PARAMETER);
    }
    return true;
}

/* Every parameter of any host. The first value that was not encoded may have lost what follows
 * its first '&': both readings, for the reader's program takes one of them. */
static void read_parameters(struct work *w, struct slice query)
{
    bool has_plain = false;

    while (query.n > 0 && !w->is_cut) {
        struct slice whole = query;
        struct slice value = slice_cut(&query, '&');
        struct slice pair = value;
        struct slice name = slice_cut(&value, '=');
        struct slice decoded;

        if (read_nameless(w, pair, has_plain ? pair : whole)) {
            has_plain = true;
            continue;
        }
        if (value.n == 0) {
            continue;
        }
        decoded = decode_value(w, value);
        if (is_absolute(decoded)) {
            found(w, decoded, UNWRAP_PARAMETER);
            if (!has_plain && is_absolute(value) && query.n > 0) {
                has_plain = true;
                found(w, decode_target(w, slice_from(whole, name.n + 1)),
                      UNWRAP_PARAMETER);
            }
        } else if (is_redirect_name(name) && is_bare_host(w, decoded)) {
            found(w, decoded, UNWRAP_PARAMETER);
        }
    }
}

/* The first "http:/" or "http%3A" within the path, not at the beginning of a word. */
static void read_path(struct work *w)
{
    struct slice path = w->url.path;
    size_t i = 0;

    for (i = 1; i < path.n; i++) {
        struct slice here = slice_from(path, i);
        struct slice after;
        bool is_encoded = false;

        if ((path.p[i] | 0x20) != 'h' ||
            ASCII_IS(path.p[i - 1], ASCII_ALPHA | ASCII_DIGIT) ||
            !slice_has_prefix_nocase(here, SLICE_LIT("http"))) {
            continue;
        }
        after = slice_from(here, here.n > 4 && (here.p[4] | 0x20) == 's' ? 5 : 4);
        is_encoded = slice_has_prefix_nocase(after, SLICE_LIT("%3a")) ||
                     slice_has_prefix_nocase(after, SLICE_LIT(":%2f"));
        if (is_encoded) { /* then its slashes are encoded too, and a plain one ends it */
            found(w, decode_target(w, slice_head(here, slice_find(here, '/'))),
                  UNWRAP_PATH);
            return;
        }
        if (slice_has_prefix(after, SLICE_LIT(":/"))) {
            found(w, slice_from(w->rest, i), UNWRAP_PATH);
            return;
        }
    }
}

/* The raw value of a parameter; empty when there is none. */
static struct slice parameter(struct slice query, struct slice name)
{
    while (query.p != NULL) {
        struct slice value = slice_cut(&query, '&');

        if (slice_eq_nocase(slice_cut(&value, '='), name)) {
            return value;
        }
    }
    return SLICE_NONE;
}

/* A host and path, after "s/" when the target is https. */
static void found_host(struct work *w, struct slice text, enum unwrap_kind kind)
{
    bool is_https = slice_has_prefix(text, SLICE_LIT("s/"));
    struct slice scheme = is_https ? SLICE_LIT("https://") : SLICE_LIT("http://");
    char *p = NULL;

    text = slice_from(text, is_https ? 2 : 0);
    p = room(w, scheme.n + text.n);
    if (p == NULL || text.n == 0) {
        return;
    }
    memcpy(p, scheme.p, scheme.n);
    memcpy(p + scheme.n, text.p, text.n);
    found(w, slice_of(p, scheme.n + text.n), kind);
}

/* A page in translation: of its host "a-b.c.com" is made "a--b-c-com.translate.goog". */
static void found_translated(struct work *w, enum unwrap_kind kind)
{
    struct slice label = slice_head(w->host, slice_find(w->host, '.'));
    /* the translator's own parameters are the last */
    size_t own = slice_find_slice(w->rest, SLICE_LIT("_x_tr_"));
    struct slice rest = slice_head(w->rest, own < w->rest.n && own > 0 ? own - 1 : own);
    char *p = room(w, label.n + rest.n);
    size_t n = 0;
    size_t i = 0;

    if (p == NULL || label.n + sizeof(".translate.goog") - 1 != w->host.n) {
        return;
    }
    for (i = 0; i < label.n; i++) {
        if (label.p[i] != '-') {
            p[n++] = label.p[i];
        } else if (i + 1 < label.n && label.p[i + 1] == '-') {
            p[n++] = '-';
            i++;
        } else {
            p[n++] = '.';
        }
    }
    memcpy(p + n, rest.p, rest.n);
    if (slice_find(slice_of(p, n), '.') < n) {
        found_host(w, slice_of(p, n + rest.n), kind);
    }
}

static void apply_wrapper(struct work *w, const struct wrapper *wrapper)
{
    struct slice value = parameter(w->url.query, wrapper->argument);
    struct slice rest = slice_from(w->rest, wrapper->prefix.n);
    char *p = NULL;
    size_t n = 0;

    switch (wrapper->method) {
    case METHOD_PARAMETER:
        value = decode_value(w, value);
        if (is_absolute(value) || is_bare_host(w, value)) {
            found(w, value, wrapper->kind);
        }
        return;
    case METHOD_HOST:
        found_host(w, rest, wrapper->kind);
        return;
    case METHOD_TRANSLATE:
        found_translated(w, wrapper->kind);
        return;
    case METHOD_SEGMENT:
        found_host(w, slice_from(rest, slice_find(rest, '/') + 1), wrapper->kind);
        return;
    case METHOD_V2:
        p = room(w, value.n);
        n = p == NULL ? 0 : unwrap_urldefense_v2(value, p);
        break;
    case METHOD_V3:
        p = room(w, rest.n);
        n = p == NULL ? 0 : unwrap_urldefense_v3(rest, p);
        break;
    case METHOD_BASE64:
        p = room(w, value.n);
        n = p == NULL ? 0 : unwrap_base64(slice_from(value, 2), p);
        break;
    }
    if (is_absolute(slice_of(p, n))) {
        found(w, slice_of(p, n), wrapper->kind);
    }
}

static bool is_wrapped_by(const struct work *w, const struct wrapper *wrapper)
{
    struct slice domain = wrapper->domain;
    bool is_host = domain.p[domain.n - 1] == '.'
                       ? slice_has_prefix(host_registrable(w->host), domain)
                       : slice_is_at_or_below(w->host, domain);

    return is_host && slice_has_prefix(w->rest, wrapper->prefix);
}

static void read_one(struct work *w, struct slice text)
{
    struct host host;
    size_t before = w->n;
    size_t i = 0;
    enum err err = weburl_parse(w->arena, text, NULL, &w->url);

    if (err == ERR_SYNTAX || err == ERR_UNSUPPORTED) { /* perhaps without a scheme */
        struct slice scheme = SLICE_LIT("http://");
        char *p = room(w, text.n + scheme.n);

        if (p == NULL) {
            return;
        }
        memcpy(p, scheme.p, scheme.n);
        if (text.n > 0) {
            memcpy(p + scheme.n, text.p, text.n);
        }
        err = weburl_parse(w->arena, slice_of(p, text.n + scheme.n), NULL, &w->url);
    }
    if (err == ERR_NOMEM) {
        w->is_cut = true;
    }
    if (err != ERR_OK || host_parse(w->arena, w->url.host.text, &host) != ERR_OK) {
        return;
    }
    w->host = host.text;
    w->rest = slice_of(w->url.path.p,
                       w->url.href.n - (size_t)(w->url.path.p - w->url.href.p));
    for (i = 0; i < LENGTH(wrappers); i++) {
        if (is_wrapped_by(w, &wrappers[i])) {
            apply_wrapper(w, &wrappers[i]);
        }
    }
    if (w->n == before || w->targets[w->n - 1].kind != UNWRAP_URLDEFENSE) {
        read_parameters(w, w->url.query);
        read_parameters(w, w->url.fragment); /* for the page's script */
        read_path(w);
    }
}

/* Hosts whose paths carry targets without a mark that any path may have. */
static bool is_path_wrapper(struct slice host)
{
    static const struct slice names[] = {
        TEXT("urldefense."), TEXT("google."),        TEXT("ampproject."),
        TEXT("nate."),       TEXT("translate.goog"),
    };
    size_t i = 0;

    for (i = 0; i < LENGTH(names); i++) {
        if (slice_find_slice(host, names[i]) < host.n) {
            return true;
        }
    }
    return false;
}

/* Whether a query may hold a URL, escaped or not, a host, or base64 of one. */
static bool may_hold_url(struct slice query)
{
    size_t i = 0;

    for (i = 0; i < query.n; i++) {
        char c = query.p[i];

        if (c == '.' || c == '%' || c == ':' || c == '/' || c == '\\') {
            return true;
        }
    }
    return slice_find_slice(query, SLICE_LIT("aHR0c")) < query.n;
}

static bool has_byte(struct slice text, char c)
{
    return slice_find(text, c) < text.n;
}

/* "http" in a path, which a colon follows, escaped or not. */
static bool has_scheme_within(struct slice path)
{
    size_t i = 0;

    if (!has_byte(path, ':') && !has_byte(path, '%')) {
        return false;
    }
    for (i = 0; i + 4 < path.n; i++) {
        if ((path.p[i] | 0x20) == 'h' &&
            slice_has_prefix_nocase(slice_from(path, i), SLICE_LIT("http"))) {
            return true;
        }
    }
    return false;
}

static struct slice after_scheme(struct slice text)
{
    if (slice_has_prefix_nocase(text, SLICE_LIT("http:"))) {
        return slice_from(text, sizeof("http:") - 1);
    }
    if (slice_has_prefix_nocase(text, SLICE_LIT("https:"))) {
        return slice_from(text, sizeof("https:") - 1);
    }
    return text;
}

bool unwrap_may_carry(struct slice text, struct slice host)
{
    size_t question = slice_find(text, '?');
    struct slice path = slice_head(text, slice_find(slice_head(text, question), '#'));

    /* what a browser leaves out may stand within "http" */
    if (is_path_wrapper(host) || has_byte(text, '\t') || has_byte(text, '\n') ||
        has_byte(text, '\r')) {
        return true;
    }
    return has_scheme_within(after_scheme(path)) ||
           may_hold_url(slice_from(text, path.n + 1));
}

size_t unwrap_url(struct arena *arena, struct slice text,
                  struct unwrap_target ret[UNWRAP_TARGETS_MAX], bool *retcut)
{
    struct work w = {.arena = arena, .targets = ret, .depth = 1};
    size_t i = 0;

    read_one(&w, text);
    for (i = 0; i < w.n; i++) {
        w.depth = ret[i].depth + 1;
        w.from = (unsigned)i + 1;
        read_one(&w, ret[i].url);
    }
    *retcut = w.is_cut;
    return w.n;
}

const char *unwrap_kind_name(enum unwrap_kind kind)
{
    static const char *const names[] = {
        [UNWRAP_PARAMETER] = "parameter", [UNWRAP_PATH] = "path",
        [UNWRAP_SAFELINKS] = "safelinks", [UNWRAP_URLDEFENSE] = "urldefense",
        [UNWRAP_GOOGLE] = "google",       [UNWRAP_AMP] = "amp",
        [UNWRAP_BING] = "bing",           [UNWRAP_NATE] = "nate",
    };

    return names[kind];
}

static const struct slice shorteners[] = {
#define SHORTENERS(row) WORD_ROW(row),
#include "core/message/url/shortener.def"
#undef SHORTENERS
};

bool unwrap_is_shortener(struct slice host)
{
    size_t i = host.n;
    unsigned labels = 0;
    struct word unused;

    /* the suffixes of two labels and more, the shortest first */
    while (i > 0 && labels < SHORTENER_LABELS) {
        i--;
        if ((i == 0 || host.p[i - 1] == '.') && ++labels >= 2 &&
            word_find(shorteners, LENGTH(shorteners), slice_from(host, i), &unused)) {
            return true;
        }
    }
    return false;
}
