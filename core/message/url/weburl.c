/* weburl - the states of the standard's parser, as straight code over the pieces of url_split. */
#include "core/message/url/weburl.h"

#include "core/message/url/percent.h"
#include "core/message/url/url.h"
#include "core/message/url/url_split.h"

enum { PORT_TEXT = 16, PORT_NO_USUAL = 65536, ESCAPE_BYTES = 3, DELIMITERS_MAX = 32 };

/* href as it grows; room was reckoned before. */
struct out {
    char *p;
    size_t n;
};

/* The parts of a URL before it is written. */
struct draft {
    struct url_pieces pieces;  /* path, query and fragment as they stand in the text */
    const struct weburl *base; /* where authority comes from, or NULL */
    struct slice base_path;    /* precedes pieces.path; ends before its last '/' */
    bool keeps_path;           /* base_path is the whole path */
    struct slice base_query;   /* kept because the reference has none */
    struct weburl url;
};

static struct slice add_href(struct out *o, struct slice s)
{
    struct slice at = slice_of(o->p + o->n, s.n);

    if (s.n > 0) {
        memcpy(o->p + o->n, s.p, s.n);
        o->n += s.n;
    }
    return at;
}

static struct slice add_escaped(struct out *o, enum percent_set set, struct slice s)
{
    size_t from = o->n;

    o->n += percent_encode(set, s, o->p + from);
    return slice_of(o->p + from, o->n - from);
}

/* "." or "..", each dot also as %2e: the number of dots, else 0. */
static unsigned dots(struct slice segment)
{
    unsigned n = 0;

    while (segment.n > 0 && n < 3) {
        if (segment.p[0] == '.') {
            segment = slice_from(segment, 1);
        } else if (slice_has_prefix_nocase(segment, SLICE_LIT("%2e"))) {
            segment = slice_from(segment, 3);
        } else {
            return 0;
        }
        n++;
    }
    return n < 3 ? n : 0;
}

static void pop_segment(struct out *o, size_t from)
{
    while (o->n > from && o->p[--o->n] != '/') {
    }
}

/* Appends the segments of text, which stands after a slash, to the path that begins at from. */
static void add_segments(struct out *o, size_t from, struct slice text)
{
    bool is_last = false;

    while (!is_last) {
        struct slice segment;
        unsigned ndots = 0;
        size_t i = 0;

        while (i < text.n && !url_is_slash(text.p[i])) {
            i++;
        }
        is_last = i == text.n;
        segment = slice_head(text, i);
        text = slice_from(text, i + 1);
        ndots = dots(segment);
        if (ndots == 2) {
            pop_segment(o, from);
        }
        if (ndots == 0) {
            (void)add_href(o, SLICE_LIT("/"));
            (void)add_escaped(o, PERCENT_PATH, segment);
        } else if (is_last) {
            (void)add_href(o, SLICE_LIT("/"));
        }
    }
}

static void add_path(struct out *o, struct draft *d)
{
    size_t from = o->n;
    struct slice text = d->pieces.path;

    (void)add_href(o, d->base_path);
    if (!d->keeps_path) {
        if (text.n > 0 && url_is_slash(text.p[0])) {
            text = slice_from(text, 1);
        }
        add_segments(o, from, text);
    }
    d->url.path = slice_of(o->p + from, o->n - from);
}

static void add_query_and_fragment(struct out *o, struct draft *d)
{
    d->url.query = SLICE_NONE;
    d->url.fragment = SLICE_NONE;
    if (d->pieces.query.p != NULL || d->base_query.p != NULL) {
        (void)add_href(o, SLICE_LIT("?"));
        d->url.query = d->pieces.query.p != NULL
                           ? add_escaped(o, PERCENT_SPECIAL_QUERY, d->pieces.query)
                           : add_href(o, d->base_query);
    }
    if (d->pieces.fragment.p != NULL) {
        (void)add_href(o, SLICE_LIT("#"));
        d->url.fragment = add_escaped(o, PERCENT_FRAGMENT, d->pieces.fragment);
    }
}

static void add_user(struct out *o, struct draft *d)
{
    struct slice rest = d->pieces.user;
    struct slice name = slice_cut(&rest, ':');

    if (d->base != NULL) {
        d->url.username = add_href(o, d->base->username);
        rest = d->base->password;
    } else {
        d->url.username = add_escaped(o, PERCENT_USERINFO, name);
    }
    d->url.password = SLICE_NONE;
    if (rest.n > 0) {
        (void)add_href(o, SLICE_LIT(":"));
        d->url.password = d->base != NULL ? add_href(o, rest)
                                          : add_escaped(o, PERCENT_USERINFO, rest);
    }
    if (d->url.username.n + rest.n > 0) {
        (void)add_href(o, SLICE_LIT("@"));
    }
}

static size_t room_for(const struct draft *d)
{
    size_t base = d->base != NULL ? d->base->href.n : 0;

    return ESCAPE_BYTES * (d->pieces.user.n + d->pieces.path.n + d->pieces.query.n +
                           d->pieces.fragment.n) +
           base + d->url.host.text.n + PORT_TEXT + DELIMITERS_MAX;
}

static enum err write_out(struct arena *arena, struct draft *d, struct weburl *ret)
{
    struct out o = {.p = arena_bytes(arena, room_for(d))};
    char port[PORT_TEXT] = "";

    if (o.p == NULL) {
        return ERR_NOMEM;
    }
    (void)add_href(&o, d->url.scheme);
    (void)add_href(&o, SLICE_LIT("://"));
    add_user(&o, d);
    (void)add_href(&o, d->url.host.text);
    if (d->url.has_port) {
        (void)snprintf(port, sizeof(port), ":%u", d->url.port);
        (void)add_href(&o, slice_str(port));
    }
    add_path(&o, d);
    add_query_and_fragment(&o, d);
    d->url.href = slice_of(o.p, o.n);
    *ret = d->url;
    return ERR_OK;
}

/* The state "special authority ignore slashes" and all later ones. */
static enum err read_authority(struct arena *arena, struct slice text, struct draft *d)
{
    struct slice host;
    char *p = NULL;
    enum err err = ERR_OK;

    while (text.n > 0 && url_is_slash(text.p[0])) {
        text = slice_from(text, 1);
    }
    url_split(text, &d->pieces);
    err = url_read_port(d->pieces.port, PORT_NO_USUAL, &d->url.port);
    if (err != ERR_OK) {
        return err;
    }
    d->url.has_port =
        d->pieces.port.n > 0 && d->url.port != url_default_port(d->url.scheme);
    host = d->pieces.host;
    if (slice_find(host, '%') < host.n) {
        p = arena_bytes(arena, host.n);
        if (p == NULL) {
            return ERR_NOMEM;
        }
        host = slice_of(p, url_decode_once(host, p));
    }
    return host_parse_web(arena, host, &d->url.host);
}

/* A reference without a scheme, or with the base's and no "//". */
static enum err read_relative(struct arena *arena, struct slice text,
                              const struct weburl *base, struct draft *d)
{
    size_t at = base->path.n;

    d->url.scheme = base->scheme;
    if (text.n >= 2 && url_is_slash(text.p[0]) && url_is_slash(text.p[1])) {
        return read_authority(arena, text, d);
    }
    d->base = base;
    d->url.host = base->host;
    d->url.port = base->port;
    d->url.has_port = base->has_port;
    url_split_path(text, &d->pieces);
    if (d->pieces.path.n == 0) {
        d->base_path = base->path;
        d->keeps_path = true;
        d->base_query = base->query;
    } else if (!url_is_slash(d->pieces.path.p[0])) {
        while (at > 0 && base->path.p[at - 1] != '/') {
            at--;
        }
        d->base_path = slice_head(base->path, at > 0 ? at - 1 : 0);
    }
    return ERR_OK;
}

enum err weburl_parse(struct arena *arena, struct slice text, const struct weburl *base,
                      struct weburl *ret)
{
    struct draft d = {.base = NULL};
    enum err err = url_clean(arena, text, &text);
    size_t n = 0;

    if (err != ERR_OK) {
        return err;
    }
    n = url_scheme_length(text);
    if (n == 0) {
        if (base == NULL) {
            return ERR_SYNTAX;
        }
        err = read_relative(arena, text, base, &d);
    } else {
        err = url_known_scheme(slice_head(text, n), &d.url.scheme);
        if (err != ERR_OK) {
            return err;
        }
        text = slice_from(text, n + 1);
        if (base != NULL && slice_eq(d.url.scheme, base->scheme) &&
            !slice_has_prefix(text, SLICE_LIT("//"))) {
            err = read_relative(arena, text, base, &d);
        } else {
            err = read_authority(arena, text, &d);
        }
    }
    return err == ERR_OK ? write_out(arena, &d, ret) : err;
}
