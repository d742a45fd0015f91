
#include "core/message/extract/extract_internal.h"
#include "core/message/url/host.h"

/* One "method=result" with its properties; slices point into the plain copy of the field. */
struct result {
    struct slice method;
    struct slice value;
    struct slice mailfrom;
    struct slice helo;
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
    } else if (slice_eq_nocase(name, SLICE_LIT("smtp.helo"))) {
        r->helo = value;
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
    METHOD_ARC = 8,
    METHOD_ALL = 15
};

static enum method method_of(struct slice name)
{
    static const struct {
        struct slice name;
        enum method method;
    } methods[] = {{{"spf", 3}, METHOD_SPF},
                   {{"dkim", 4}, METHOD_DKIM},
                   {{"dmarc", 5}, METHOD_DMARC},
                   {{"arc", 3}, METHOD_ARC}};

    for (size_t i = 0; i < LENGTH(methods); i++) {
        if (slice_eq_nocase(name, methods[i].name)) {
            return methods[i].method;
        }
    }
    return METHOD_NONE;
}

/* A word that RFC 8601 has not says that nothing was proved. */
static enum auth_result result_of(struct slice word)
{
    static const struct {
        struct slice word;
        enum auth_result result;
    } words[] = {
        {{"pass", 4}, AUTH_PASS},           {{"fail", 4}, AUTH_FAIL},
        {{"hardfail", 8}, AUTH_FAIL},       {{"softfail", 8}, AUTH_SOFTFAIL},
        {{"neutral", 7}, AUTH_NEUTRAL},     {{"policy", 6}, AUTH_POLICY},
        {{"temperror", 9}, AUTH_TEMPERROR}, {{"permerror", 9}, AUTH_PERMERROR}};

    for (size_t i = 0; i < LENGTH(words); i++) {
        if (slice_eq_nocase(word, words[i].word)) {
            return words[i].result;
        }
    }
    return AUTH_NONE;
}

/* A HELO name proves nothing about the sender: its result stands only where no other does. */
static void take_spf(struct extract *x, enum auth_result result, const struct result *r)
{
    struct extract_auth *auth = &x->auth;
    bool is_of_helo = r->helo.n > 0 && r->mailfrom.n == 0;

    if (is_of_helo && auth->spf != AUTH_ABSENT) {
        return;
    }
    auth->spf = result;
    auth->spf_pass = result == AUTH_PASS;
    auth->spf_domain = result == AUTH_PASS ? domain_of(x, r->mailfrom) : SLICE_NONE;
}

static void add_signer(struct extract_auth *auth, struct slice domain)
{
    for (unsigned i = 0; i < auth->nsigners; i++) {
        if (slice_eq(auth->signer[i], domain)) {
            return;
        }
    }
    if (domain.n > 0 && auth->nsigners < AUTH_SIGNATURES) {
        auth->signer[auth->nsigners++] = domain;
    }
}

static void take_dkim(struct extract *x, enum auth_result result,
                      const struct result *r)
{
    struct extract_auth *auth = &x->auth;

    if (result != AUTH_PASS) {
        auth->dkim = auth->dkim == AUTH_ABSENT ? result : auth->dkim;
        return;
    }
    auth->dkim = AUTH_PASS;
    auth->dkim_pass = true;
    auth->dkim_domain = domain_of(x, r->header_d.n > 0 ? r->header_d : r->header_i);
    add_signer(auth, auth->dkim_domain);
    featureset_add(x->set, FEATURE_dkim_domain, auth->dkim_domain);
}

static void take_result(struct extract *x, enum method method, const struct result *r)
{
    struct extract_auth *auth = &x->auth;
    enum auth_result result = result_of(r->value);

    switch (method) {
    case METHOD_SPF:
        take_spf(x, result, r);
        break;
    case METHOD_DKIM:
        take_dkim(x, result, r);
        break;
    case METHOD_DMARC:
        auth->dmarc = result;
        auth->dmarc_pass = result == AUTH_PASS;
        auth->dmarc_domain =
            result == AUTH_PASS ? domain_of(x, r->header_from) : SLICE_NONE;
        break;
    case METHOD_ARC:
        auth->arc = result;
        break;
    case METHOD_NONE:
    case METHOD_ALL:
        break;
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
    x->auth.has_results = true;
    while (rest.p != NULL) {
        struct result r;
        struct slice text = slice_cut(&rest, ';');
        if (slice_eq_nocase(slice_trim(text), SLICE_LIT("none"))) {
            seen = METHOD_ALL;
        }
        read_result(text, &r);
        enum method method = method_of(r.method);
        seen |= (unsigned)method;
        if ((x->auth_seen & (unsigned)method) == 0) {
            take_result(x, method, &r);
        }
    }
    x->auth_seen |= seen;
}
