/*
 * host_ip - the number forms of hosts, for host.c: IPv6 text and the loose IPv4 of browsers.
 *
 * Addresses are 16 bytes, IPv4 as ::ffff:a.b.c.d. Threads: pure.   Allocates: nothing.
 * Source: WHATWG URL standard, "IPv4 parser"; RFC 4291 2.2; RFC 5952.
 */
#ifndef CORE_MESSAGE_URL_HOST_IP_H
#define CORE_MESSAGE_URL_HOST_IP_H

#include "core/base/slice.h"
#include "core/message/url/host.h"

/* The last label is a number, so that the name can only be an IPv4 address. */
bool host_ends_in_number(struct slice name);
/* One to four numbers, decimal, octal or hexadecimal. */
bool host_ipv4_loose_parse(struct slice text, uint8_t retaddr[16]);
/* The same, but an octal number with a digit 8 or 9 is decimal ("089"). */
bool host_ipv4_decimal_parse(struct slice text, uint8_t retaddr[16]);
bool host_ipv6_parse(struct slice text, uint8_t retaddr[16]);
/* RFC 5952, also of an IPv4 address in IPv6. */
struct slice host_ipv6_text(const uint8_t addr[16], char dst[HOST_IP_TEXT]);

#endif
