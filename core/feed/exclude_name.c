/*
 * exclude_name - the shipped tables: names as large as nobody may list them whole.
 */

#include "core/feed/exclude_internal.h"

enum kind { WHOLE, CUSTOMERS, HOST };

struct row {
    const char *name;
    enum kind kind;
};

/* Each part of the table is sorted. */
static const struct row major_domains[] = {
#define MAJOR_DOMAIN(name, who) {(name), who},
#include "core/feed/major_domain.def"
#undef MAJOR_DOMAIN
};
static const struct row hosts[] = {
#define HOSTING(name) {(name), HOST},
#include "core/feed/hosting.def"
#undef HOSTING
};
static const struct row shorteners[] = {
#define SHORTENER(name) {(name), HOST},
#include "core/message/url/shortener.def"
#undef SHORTENER
};

enum {
    MAJOR_DOMAINS = LENGTH(major_domains),
    HOSTS = LENGTH(hosts),
    SHORTENERS = LENGTH(shorteners)
};

static int compare(const void *key, const void *row)
{
    const struct slice *name = key;
    const struct row *r = row;
    return slice_cmp(*name, slice_str(r->name));
}

static const struct row *find(const struct row *v, size_t n, struct slice name)
{
    return bsearch(&name, v, n, sizeof(*v), compare);
}

static const struct row *find_giant(struct slice name)
{
    return find(major_domains, MAJOR_DOMAINS, name);
}

static bool is_shared(struct slice name)
{
    return find(hosts, HOSTS, name) || find(shorteners, SHORTENERS, name);
}

/* The major domain itself, its www, and names below one without customers there. */
static bool is_major_domain(struct slice host)
{
    struct slice rest = host;
    while (rest.n > 0) {
        const struct row *r = find_giant(rest);
        if (r) {
            struct slice before = slice_head(host, host.n - rest.n);
            return r->kind == WHOLE || before.n == 0 ||
                   slice_eq(before, SLICE_LIT("www."));
        }
        size_t dot = slice_find(rest, '.');
        rest = slice_from(rest, dot + 1);
    }
    return false;
}

enum name_kind name_kind_of(struct slice host)
{
    struct slice rest = host;
    if (is_shared(host)) {
        return NAME_SHARED;
    }
    if (slice_has_prefix(host, SLICE_LIT("www.")) && is_shared(slice_from(host, 4))) {
        return NAME_SHARED;
    }
    for (size_t dot = slice_find(rest, '.'); dot < rest.n;
         dot = slice_find(rest, '.')) {
        rest = slice_from(rest, dot + 1);
        if (is_shared(rest) && !find_giant(rest)) {
            return NAME_PLAIN; /* a customer's name */
        }
    }
    return is_major_domain(host) ? NAME_MAJOR : NAME_PLAIN;
}

const char *name_at(size_t i)
{
    if (i < MAJOR_DOMAINS) {
        return major_domains[i].name;
    }
    if (i < MAJOR_DOMAINS + HOSTS) {
        return hosts[i - MAJOR_DOMAINS].name;
    }
    return i < MAJOR_DOMAINS + HOSTS + SHORTENERS
               ? shorteners[i - MAJOR_DOMAINS - HOSTS].name
               : NULL;
}
