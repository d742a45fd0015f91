#include "core/message/url/known_name.h"

#include "core/base/word_table.h"

enum { CUSTOMERS = '!' }; /* mark of a major domain with customers below it */

static const struct slice majors[] = {
#define MAJOR_DOMAINS(row) WORD_ROW(row),
#include "core/message/url/major_domain.def"
#undef MAJOR_DOMAINS
};
static const struct slice shared[] = {
#define HOSTINGS(row) WORD_ROW(row),
#include "core/message/url/hosting.def"
#undef HOSTINGS
};
static const struct slice shorteners[] = {
#define SHORTENERS(row) WORD_ROW(row),
#include "core/message/url/shortener.def"
#undef SHORTENERS
};

static bool is_major(struct slice name)
{
    struct word unused;
    return word_find(majors, LENGTH(majors), name, &unused);
}

static bool is_shared(struct slice name)
{
    struct word unused;
    return word_find(shared, LENGTH(shared), name, &unused) ||
           word_find(shorteners, LENGTH(shorteners), name, &unused);
}

/* Whether host is a major domain, its www, or a name below one without customers. */
static bool is_major_domain(struct slice host)
{
    struct slice rest = host;
    while (rest.n > 0) {
        struct word major;
        if (word_find(majors, LENGTH(majors), rest, &major)) {
            struct slice before = slice_head(host, host.n - rest.n);
            return major.mark != CUSTOMERS || before.n == 0 ||
                   slice_eq(before, SLICE_LIT("www."));
        }
        size_t dot = slice_find(rest, '.');
        rest = slice_from(rest, dot + 1);
    }
    return false;
}

enum known_name known_name_kind(struct slice host)
{
    struct slice rest = host;
    if (is_shared(host)) {
        return KNOWN_NAME_SHARED;
    }
    if (slice_has_prefix(host, SLICE_LIT("www.")) && is_shared(slice_from(host, 4))) {
        return KNOWN_NAME_SHARED;
    }
    for (size_t dot = slice_find(rest, '.'); dot < rest.n;
         dot = slice_find(rest, '.')) {
        rest = slice_from(rest, dot + 1);
        if (is_shared(rest) && !is_major(rest)) {
            return KNOWN_NAME_NONE; /* a customer's name */
        }
    }
    return is_major_domain(host) ? KNOWN_NAME_MAJOR : KNOWN_NAME_NONE;
}

bool known_name_is_below(struct slice host)
{
    while (host.n > 0 && !is_shared(host) && !is_major(host)) {
        (void)slice_cut(&host, '.');
    }
    return host.n > 0;
}

size_t known_name_rows(size_t table, const struct slice **ret)
{
    static const struct {
        const struct slice *rows;
        size_t n;
    } tables[] = {{majors, LENGTH(majors)},
                  {shared, LENGTH(shared)},
                  {shorteners, LENGTH(shorteners)}};
    if (table >= LENGTH(tables)) {
        return 0;
    }
    *ret = tables[table].rows;
    return tables[table].n;
}
