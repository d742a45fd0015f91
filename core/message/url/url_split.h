/*
 * url_split - the pieces of a URL as they stand in its text, for url.c and weburl.c.
 *
 * Threads: pure.   Allocates: from the arena, only when something had to be dropped.   Depends:
 * longurl.
 * Source: WHATWG URL standard, basic URL parser, for special schemes.
 */
#ifndef CORE_MESSAGE_URL_URL_SPLIT_H
#define CORE_MESSAGE_URL_URL_SPLIT_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/slice.h"

struct url_pieces {
    struct slice user; /* p == NULL when there is no '@' */
    struct slice host;
    struct slice port;     /* without ':' */
    struct slice path;     /* empty, or begins with a slash of either kind */
    struct slice query;    /* without '?'; p == NULL when there is none */
    struct slice fragment; /* without '#'; p == NULL when there is none */
};

/* Either kind of slash: browsers read both alike. */
bool url_is_slash(char c);

/* Without control bytes and spaces at both ends, and without tab, CR and LF inside. A text longer
 * than URL_BYTES_MAX also loses its padding and the parts over the bounds of longurl.h. */
enum err url_clean(struct arena *arena, struct slice text, struct slice *ret);

/* Length of the scheme before ':' at the beginning of text, 0 when there is none. */
size_t url_scheme_length(struct slice text);
/* Whether the text after "name:" is a port: "host:8080/", "host:8080". */
bool url_looks_like_port(struct slice rest);
/* http, https or ftp in any case, as a constant in lower case. ERR_UNSUPPORTED. */
enum err url_known_scheme(struct slice scheme, struct slice *ret);
unsigned url_default_port(struct slice known_scheme);

/* text begins with the authority (after "http://"). */
void url_split(struct slice text, struct url_pieces *ret);
/* The path, query and fragment only: text stands where the path begins. */
void url_split_path(struct slice text, struct url_pieces *ret);

/* Digits to a port; *ret 0 when it is the usual one or empty. ERR_SYNTAX. */
enum err url_read_port(struct slice digits, unsigned usual, unsigned *ret);

/* Percent-decodes once; dst holds text.n bytes. Returns the length. */
size_t url_decode_once(struct slice text, char *dst);

#endif
