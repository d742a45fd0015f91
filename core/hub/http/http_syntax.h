/*
 * http_syntax - the small parts of HTTP heads and of addresses, read strictly.
 *
 * Depends: base.   Threads: pure.   Allocates: nothing.   Source: RFC 9110, 9112.
 */
#ifndef CORE_HUB_HTTP_HTTP_SYNTAX_H
#define CORE_HUB_HTTP_HTTP_SYNTAX_H

#include "core/base/slice.h"

enum { HTTP_ADDRESS_MAX = 300 };

/* Length of the head at the begin of bytes, with its empty line; 0: there is more to come. */
size_t http_head_length(struct slice bytes);
bool http_is_token(struct slice s);
bool http_is_value(struct slice s); /* no control byte except tabs */
/* Decimal, without leading zeros. */
bool http_take_number(struct slice s, uint64_t *ret);
/* Cuts off a line that ends in CR LF. False: no line ends here. */
bool http_take_line(struct slice *rest, struct slice *ret);

/* Splits "HOST:PORT" or "[IPV6]:PORT". False: malformed, or the host has a byte that a URL cannot
 * have. */
bool http_address_split(struct slice address, char host[HTTP_ADDRESS_MAX],
                        unsigned *retport);

#endif
