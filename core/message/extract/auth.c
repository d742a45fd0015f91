
#include "core/message/extract/extract_internal.h"
#include "core/message/url/host.h"

/* One "method=result" with its properties; slices point into the plain copy of the field. */
struct result {
    struct slice method;
    struct slice value;
    struct slice mailfrom;
    struct slice header_d;
    struct slice header_i;
    struct slice header_from;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The plain copy of a field, while it is made. */
struct plain {
    char *p;
    size_t n;
};

/* White space round '=' goes, other white space becomes one space. */
static void add_bare(struct plain *d, char c)
{
    if (is_space(c)) {
        if (d->n > 0 && d->p[d->n - 1] != ' ' && d->p[d->n - 1] != '=') {
            d->p[d->n++] = ' ';
        }
        return;
    }
    if (c == '=' && d->n > 0 && d->p[d->n - 1] == ' ') {
        d->n--;
    }
    d->p[d->n++] = c;
}

/* Inside quotes, characters with a meaning become blanks. */
static void add_quoted(struct plain *d, char c)
{
    bool is_structure = c == ';' || c == '=' || is_space(c);
    if (is_structure) {
        c = '_';
    }
    d->p[d->n++] = c;
}

/* Copies the field without comments and quotes. Linear; d has room for field.n. */
static void make_plain(struct plain *d, struct slice field)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < field.n; i++) {
        char c = field.p[i];
        if (c == '\\' && (quoted || depth > 0)) {
            i++;
        } else if (c == '"' && depth == 0) {
            quoted = !quoted;
        } else if (quoted) {
            add_quoted(d, c);
        } else if (c == '(') {
            depth++;
        } else if (c == ')' && depth > 0) {
            depth--;
        } else if (depth == 0) {
            add_bare(d, c);
        }
    }
}

static void read_property(struct result *r, struct slice name, struct slice value)
{
    if (slice_eq_nocase(name, SLICE_LIT("smtp.mailfrom"))) {
        r->mailfrom = value;
    } else if (slice_eq_nocase(name, SLICE_LIT("header.d"))) {
        r->header_d = value;
    } else if (slice_eq_nocase(name, SLICE_LIT("header.i"))) {
        r->header_i = value;
    } else if (slice_eq_nocase(name, SLICE_LIT("header.from"))) {
        r->header_from = value;
    }
}

static void read_result(struct slice text, struct result *ret)
{
    memset(ret, 0, sizeof(*ret));
    struct slice rest = slice_trim(text);
    while (rest.n > 0) {
        struct slice value = slice_cut(&rest, ' ');
        struct slice name = slice_cut(&value, '=');
        if (value.p == NULL) {
            continue;
        }
        if (ret->method.n == 0) {
            ret->method = slice_head(name, slice_find(name, '/')); /* "spf/1" */
            ret->value = value;
        } else {
            read_property(ret, name, value);
        }
    }
}

/* The host behind the last @, in normal form. */
static struct slice domain_of(struct extract *x, struct slice identity)
{
    size_t at = identity.n;
    while (at > 0 && identity.p[at - 1] != '@') {
        at--;
    }
    struct slice name = slice_from(identity, at);
    struct host host;
    if (host_parse(x->scratch, name, &host) != ERR_OK || host.kind != HOST_NAME) {
        return SLICE_NONE;
    }
    return arena_copy(x->arena, host.text);
}

enum method {
    METHOD_NONE = 0,
    METHOD_SPF = 1,
    METHOD_DKIM = 2,
    METHOD_DMARC = 4,
    METHOD_ALL = 7
};

static enum method method_of(struct slice name)
{
    if (slice_eq_nocase(name, SLICE_LIT("spf"))) {
        return METHOD_SPF;
    }
    if (slice_eq_nocase(name, SLICE_LIT("dkim"))) {
        return METHOD_DKIM;
    }
    return slice_eq_nocase(name, SLICE_LIT("dmarc")) ? METHOD_DMARC : METHOD_NONE;
}

static void take_pass(struct extract *x, enum method method, const struct result *r)
{
    if (method == METHOD_SPF) {
        x->auth.spf_pass = true;
        x->auth.spf_domain = domain_of(x, r->mailfrom);
    } else if (method == METHOD_DKIM) {
        x->auth.dkim_pass = true;
        x->auth.dkim_domain =
            domain_of(x, r->header_d.n > 0 ? r->header_d : r->header_i);
        featureset_add(x->set, FEATURE_dkim_domain, x->auth.dkim_domain);
    } else if (method == METHOD_DMARC) {
        x->auth.dmarc_pass = true;
        x->auth.dmarc_domain = domain_of(x, r->header_from);
    }
}

static bool is_trusted(const struct extract *x, struct slice authserv)
{
    for (size_t i = 0; i < x->ntrusted; i++) {
        if (slice_eq_nocase(authserv, slice_str(x->trusted[i]))) {
            return true;
        }
    }
    return false;
}

void extract_auth_field(struct extract *x, struct slice value)
{
    if (x->ntrusted == 0 || value.n == 0) {
        return;
    }
    struct plain plain = {.p = arena_bytes(x->scratch, value.n)};
    if (plain.p == NULL) {
        return;
    }
    make_plain(&plain, value);
    struct slice rest = slice_of(plain.p, plain.n);
    struct slice head = slice_trim(slice_cut(&rest, ';'));
    if (!is_trusted(x, slice_head(head, slice_find(head, ' ')))) {
        return;
    }
    /* Our server puts its field above those that came with the message: the first field that
     * says anything about a method, good or bad, is the only one believed about it; "none" says
     * that nothing was tested. */
    unsigned seen = 0;
    while (rest.p != NULL) {
        struct result r;
        struct slice text = slice_cut(&rest, ';');
        if (slice_eq_nocase(slice_trim(text), SLICE_LIT("none"))) {
            seen = METHOD_ALL;
        }
        read_result(text, &r);
        enum method method = method_of(r.method);
        seen |= (unsigned)method;
        if ((x->auth_seen & (unsigned)method) == 0 &&
            slice_eq_nocase(r.value, SLICE_LIT("pass"))) {
            take_pass(x, method, &r);
        }
    }
    x->auth_seen |= seen;
}
