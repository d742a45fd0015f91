/*
 * url - one URL read as mail clients and browsers read it, and its canonical form.
 *
 * Lists with `url_match = "exact"` have the canonical form, other lists that of url_normal.h. It is
 * the host in normal form, the port unless it is the scheme's default, the path and the query. In
 * the path, dot segments and repeated slashes are resolved, percent-escapes decoded repeatedly and
 * encoded again (bytes <= 0x20, >= 0x7f, '#', '%'); an empty path is "/". The query stays as it is.
 * "http://EVIL.example:80/a/../b?x#y" -> "evil.example/b?x".
 * This is the most tolerant parser: it accepts URLs that browsers accept (weburl.h has their form
 * of it), and those that only some mail program opens, without a scheme, with empty labels in a
 * host, and with the hosts of host_parse_odd.
 * Source: WHATWG URL parsing; Google Safe Browsing canonicalisation (query kept, and the port,
 * which safebrowsing.h drops as its rules say).
 * Files of the room in reading order: find, find_* (URLs and numbers in text), url, url_split,
 * url_path, percent (the parser), host* (names and addresses), suffix, address, mailbox;
 * url_normal, urlkey, safebrowsing (the forms under which lists have them), unwrap* (redirectors),
 * weburl, longurl. To add a tracking parameter: a row in tracking.def. To add a shortener: a word
 * in shortener.def.
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
 * and backslashes read as slashes, as browsers do. Of a text longer than URL_BYTES_MAX, the parts
 * that longurl.h keeps are read. ERR_SYNTAX: no URL; ERR_UNSUPPORTED: another scheme. */
enum err url_parse(struct arena *arena, struct slice text, struct url *ret);

#endif
