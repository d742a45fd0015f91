/*
 * url - one URL read as mail clients and browsers read it, and its canonical form.
 *
 * Canonical form (what `url_match = "exact"` lists; url_normal.h has the form that others list): no scheme, no user info, no fragment;
 * host in normal form; port only when not the scheme's default; path with dot segments and
 * repeated slashes resolved, percent-escapes decoded repeatedly and re-encoded (bytes <= 0x20,
 * >= 0x7f, '#', '%'); query kept as it is. "http://EVIL.example:80/a/../b?x#y" ->
 * "evil.example/b?x". An empty path is "/".
 * This is the kindest of our readings: it takes what browsers take (weburl.h says how they write
 * it), and what only some mail program opens: no scheme, empty labels in a host, host_parse_odd.
 * Source: WHATWG URL parsing; Google Safe Browsing canonicalisation (query kept, and the port,
 * which safebrowsing.h drops as its rules say).
 * Threads: any.   Allocates: from the arena.
 */
#ifndef CORE_MESSAGE_URL_URL_H
#define CORE_MESSAGE_URL_URL_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/slice.h"
#include "core/message/url/host.h"

enum { URL_BYTES_MAX = 8192 };

struct url {
    struct slice scheme; /* lower case, without ':' */
    struct host host;
    unsigned port;      /* 0: the scheme's default */
    struct slice path;  /* canonical, begins with '/' */
    struct slice query; /* without '?'; p == NULL when there is none */
    struct slice canonical;
};

/* http, https and ftp; text without a scheme is read as http. Tabs, CR and LF inside are dropped
 * and backslashes read as slashes, as browsers do. A text longer than URL_BYTES_MAX is read as
 * what longurl.h keeps of it. ERR_SYNTAX: no URL; ERR_UNSUPPORTED: another scheme. */
enum err url_parse(struct arena *arena, struct slice text, struct url *ret);

#endif
