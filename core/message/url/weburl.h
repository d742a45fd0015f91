/*
 * weburl - a URL exactly as browsers read it: parts, relative references, href.
 *
 * Unlike url.h it rejects text without a scheme, and hosts that browsers refuse. Ports, dot
 * segments, slashes and escapes as the standard has them; nothing is decoded but the host.
 * Threads: any.   Allocates: from the arena.
 * Source: WHATWG URL standard, basic URL parser, special schemes but file.
 */
#ifndef CORE_MESSAGE_URL_WEBURL_H
#define CORE_MESSAGE_URL_WEBURL_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/slice.h"
#include "core/message/url/host.h"

struct weburl {
    struct slice scheme;   /* http, https or ftp */
    struct slice username; /* escaped; empty when there is none */
    struct slice password;
    struct host host; /* by host_parse_web: a final dot stays, IPv6 has brackets */
    bool has_port;    /* and it is not the scheme's default */
    unsigned port;
    struct slice path;
    struct slice query;    /* without '?'; p == NULL when there is none */
    struct slice fragment; /* without '#'; p == NULL when there is none */
    struct slice href;     /* all of it */
};

/* base: the URL that a relative reference refers to, or NULL. Of a text longer than URL_BYTES_MAX,
 * the parts that longurl.h keeps are read. ERR_SYNTAX: no URL; ERR_UNSUPPORTED: another scheme. */
enum err weburl_parse(struct arena *arena, struct slice text, const struct weburl *base,
                      struct weburl *ret);

#endif
