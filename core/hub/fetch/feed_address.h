/*
 * feed_address - classes of network addresses, for the check of a feed's server.
 *
 * A feed's server says where it is, by DNS and by redirection: without `private` it must not lead
 * into this network. Not public: loopback, link-local, private, unique local, shared (RFC 6598),
 * multicast, unspecified, reserved, and documentation and benchmark networks; also where such an
 * IPv4 address lies inside an IPv6 one (mapped, 6to4, NAT64).
 * Source: RFC 6890 and the registries that follow it.   Threads: pure.
 */
#ifndef CORE_HUB_FETCH_FEED_ADDRESS_H
#define CORE_HUB_FETCH_FEED_ADDRESS_H

struct sockaddr;

enum feed_reach {
    FEED_REACH_PUBLIC,
    FEED_REACH_PRIVATE,
    FEED_REACH_LINK,   /* link-local: clouds have the metadata service there */
    FEED_REACH_MACHINE /* loopback, unspecified */
};
/* PRIVATE also for other families. */
enum feed_reach feed_address_reach(const struct sockaddr *a);
/* Known without DNS: literal addresses and localhost. Else PUBLIC. */
enum feed_reach feed_host_reach(const char *host);

#endif
