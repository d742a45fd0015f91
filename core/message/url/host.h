/*
 * host - host names and IP addresses as people, browsers and spammers write them.
 *
 * Normal form of a name: lower-case A-labels (UTS 46 through ICU, ASCII fast path), no final dot,
 * no empty label, at most 253 bytes. Normal form of an address: dotted quad, or RFC 5952.
 * The odd IPv4 forms that browsers accept (0x7f.1, 2130706433, octal) are read as browsers do.
 * Source: WHATWG URL host parsing; libpsl for registrable domains (private section included).
 * Threads: any.   Allocates: from the arena.
 */
#ifndef CORE_MESSAGE_URL_HOST_H
#define CORE_MESSAGE_URL_HOST_H

#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/base/slice.h"

enum host_kind { HOST_NAME, HOST_IPV4, HOST_IPV6 };

struct host {
    enum host_kind kind;
    struct slice text; /* normal form; IPv6 without brackets */
    uint8_t addr[16];  /* for IPs; IPv4 as ::ffff:a.b.c.d */
};

enum { HOST_NAME_MAX_BYTES = 253, HOST_LABEL_MAX = 63, HOST_IP_TEXT = 46 };
/* Soft hyphens and other characters that vanish may make a name longer than it will be. */
enum { HOST_INPUT_MAX = 1024 };

/* Parses a host as it stands in a URL (percent-decoded, brackets round IPv6 allowed).
 * ERR_SYNTAX: not a host. */
enum err host_parse(struct arena *arena, struct slice text, struct host *ret);

/* Exactly what the WHATWG host parser gives for http: names keep empty labels, a final dot and
 * any length up to HOST_INPUT_MAX; text of IPv6 has its brackets. For readings that must agree
 * with a browser's; features and lists use host_parse. */
enum err host_parse_web(struct arena *arena, struct slice text, struct host *ret);
/* Parses hosts that host_parse rejects and some mail program reads: a name or an IPv4 address in
 * brackets, an IPv4 number with the digits 8 or 9 after a 0 (decimal then). ERR_SYNTAX. */
enum err host_parse_odd(struct arena *arena, struct slice text, struct host *ret);

/* Strict dotted quad or IPv6 text, nothing else (client addresses, list entries). */
bool host_ip_parse(struct slice text, uint8_t retaddr[16]);
/* Normal text form of an address; dst gets a NUL; returns the slice in dst. */
struct slice host_ip_text(const uint8_t addr[16], char dst[HOST_IP_TEXT]);
bool host_ip_is_v4(const uint8_t addr[16]);

/* The registrable domain of a normal-form name ("a.b.co.uk" -> "b.co.uk"); points into it.
 * Empty for public suffixes, single labels, IP addresses. */
struct slice host_registrable(struct slice name);
bool host_is_public_suffix(struct slice name);
/* The name lies below a suffix that the list names (not only its rule for unknown ones). */
bool host_has_listed_suffix(struct slice name);

#endif
