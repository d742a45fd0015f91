/*
 * url_normal - the one form under which every spelling of a page's URL is listed and looked up.
 *
 * The form is made from the URL as url.h reads it. These are removed: the scheme, the ports 80 and
 * 443, a leading "www.", the slash at the end of the path, the fragment, the tracking parameters of
 * tracking.def, and parameters without name and value. "www." stays if the rest is a public suffix,
 * because anybody can register below one ("www.github.io" stays). The other parameters keep their
 * order. In the query, needless escapes are decoded, the others are written in one way, and '+' is
 * a space, as programs read forms:
 *   "https://www.evil.example/Pay/?utm_id=7&q=a+b#x" -> "evil.example/Pay?q=a%20b"
 * A URL in this form stays unchanged. A page is never a host: "evil.example" is only that host's
 * first page.
 * Source: RFC 3986, section 6; WHATWG application/x-www-form-urlencoded.   ADR 0045.
 * Threads: any.   Allocates: from the arena.
 */
#ifndef CORE_MESSAGE_URL_URL_NORMAL_H
#define CORE_MESSAGE_URL_URL_NORMAL_H

#include "core/base/arena.h"
#include "core/message/url/url.h"

/* Returns the text of the normal form, a part of url->canonical if nothing has to be rewritten.
 * {NULL, 0}: the arena is full. */
struct slice url_normal(struct arena *arena, const struct url *url);

#endif
