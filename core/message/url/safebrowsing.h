/*
 * safebrowsing - URLs and their expressions as Safe Browsing lists name them.
 *
 * The canonical form of the published rules, split by these rules and not as browsers do: each
 * slash and backslash counts, a missing scheme is http, hosts that browsers refuse are escaped. The
 * query is kept: the project's Go client drops it in this form, but keeps it in the expressions.
 * For the URL that a browser opens use url.h, and the expressions of its host and path.
 * Threads: any.   Allocates: from the arena.
 * Source: Safe Browsing "URLs and hashing"; google/safebrowsing for the number of suffixes.
 */
#ifndef CORE_MESSAGE_URL_SAFEBROWSING_H
#define CORE_MESSAGE_URL_SAFEBROWSING_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/slice.h"
#include "core/message/url/url.h"

enum { SAFEBROWSING_EXPRESSIONS_MAX = 30 };

struct safebrowsing {
    struct slice scheme;
    struct slice host; /* IPv6 with brackets, as it stood; no port */
    bool is_address;
    struct slice path;      /* begins with '/' */
    struct slice query;     /* p == NULL when there is none */
    struct slice canonical; /* "http://host/path?query" */
};

/* ERR_SYNTAX: no URL. Of a text longer than URL_BYTES_MAX, the parts that longurl.h keeps are
 * read. */
enum err safebrowsing_parse(struct arena *arena, struct slice text,
                            struct safebrowsing *ret);

/* The same form of a URL that was read as browsers read it: this is what people open. ERR_NOMEM. */
enum err safebrowsing_of_url(struct arena *arena, const struct url *url,
                             struct safebrowsing *ret);

/* Host suffixes joined with path prefixes, longest first. Suffixes: the host itself and, unless it
 * is an address, up to six of its suffixes of two labels and more, the last ones first. Prefixes:
 * the path with query, the path, and up to four folders from the root. Over 30 the longest suffixes
 * go. Returns their number; 0 also when the arena is full. */
size_t safebrowsing_expressions(struct arena *arena, const struct safebrowsing *url,
                                struct slice ret[SAFEBROWSING_EXPRESSIONS_MAX]);

#endif
