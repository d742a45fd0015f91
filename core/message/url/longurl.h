/*
 * longurl - a URL of any length, read byte by byte and stored without its padding.
 *
 * A URL may have any amount of padding and still open the same page. The reader drops white space
 * that browsers drop, slashes after the scheme except two, the user before an '@', characters that
 * no host has, dot segments and repeated slashes, escapes of escapes, and tracking parameters. It
 * stores the scheme, the host, the path and the query, each up to a bound, and the fragment in the
 * remaining room. url.h reads the stored text as the same URL. A URL of another scheme is stored
 * unchanged, up to the bound.
 * The stored text may be added again with more text behind it. The result is that of the whole URL.
 * Linear. Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_URL_LONGURL_H
#define CORE_MESSAGE_URL_LONGURL_H

#include "core/base/slice.h"

enum {
    LONGURL_MAX = 8000,           /* bytes stored in all */
    LONGURL_AUTHORITY_MAX = 2048, /* of host and port; no host is as long */
    LONGURL_PATH_MAX = 4096,      /* of the path, resolved */
    LONGURL_SEGMENT = 24,         /* of a path segment beyond it */
    LONGURL_SCHEME_MAX = 32       /* letters before ':' */
};

enum longurl_state {
    LONGURL_START,
    LONGURL_SCHEME,
    LONGURL_SLASHES,
    LONGURL_AUTHORITY,
    LONGURL_PATH,
    LONGURL_QUERY,
    LONGURL_FRAGMENT,
    LONGURL_OTHER /* of another scheme, stored unchanged */
};

struct longurl {
    enum longurl_state state;
    bool is_cut;      /* bytes that belong to the URL were left out */
    bool is_over;     /* the authority is longer than its bound */
    bool is_long;     /* the same for the current path segment or parameter */
    size_t n;         /* bytes stored */
    size_t begin;     /* start of the current authority, path or parameter */
    size_t segment;   /* start of the current path segment */
    size_t nslashes;  /* after the scheme */
    size_t nsegments; /* of the path, not stored */
    size_t max;       /* end of the room for the current parameter */
    char bytes[LONGURL_MAX];
};

void longurl_begin(struct longurl *u);
void longurl_add(struct longurl *u, struct slice text);
/* Returns the stored text. It is valid until u ends or text is added. */
struct slice longurl_text(const struct longurl *u);
/* Ends the URL. */
void longurl_end(struct longurl *u);
/* Returns the start of a URL that reaches the end of text, at its scheme or "www.". text.n: there
 * is no such URL. */
size_t longurl_at_end(struct slice text);
/* Shortens the URL text in place; the URL may continue later. Returns the new length. */
size_t longurl_shorten(char *text, size_t n);

#endif
