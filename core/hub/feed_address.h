/*
 * feed_address - which addresses a feed may be fetched from.
 *
 * A feed's server says where it is, by DNS and by redirection: without `private` it must not lead into this network.
 * Not public: loopback, link-local, private, unique local, shared (RFC 6598), multicast, unspecified, reserved, and
 * documentation and benchmark networks; also where such an IPv4 address lies inside an IPv6 one (mapped, 6to4, NAT64).
 * Source: RFC 6890 and the registries that follow it.   Threads: pure.
 */
#ifndef CORE_HUB_FEED_ADDRESS_H
#define CORE_HUB_FEED_ADDRESS_H

#include <stdbool.h>

struct sockaddr;

/* False also for what is no address of the internet. */
bool feed_address_is_public(const struct sockaddr *a);
/* Whether a host is one that need not be looked up to be known as not public: a literal address, localhost. */
bool feed_host_is_private(const char *host);

#endif
