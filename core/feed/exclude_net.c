/*
 * exclude_net - addresses that no host of the Internet has, and our own.
 */
#include <ifaddrs.h>
#include <netinet/in.h>

#include "core/feed/exclude_internal.h"
#include "core/message/url/host.h"

enum { V4_BITS = 96, ALL_BITS = 128, ADDR_BYTES = 16 };

/* Private, local, shared, multicast, reserved; of documentation only what was never given out is
 * not here. */
static const char *const special[] = {
    "0.0.0.0/8",      "10.0.0.0/8",    "100.64.0.0/10", "127.0.0.0/8",
    "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",  "192.168.0.0/16",
    "198.18.0.0/15",  "224.0.0.0/4",   "240.0.0.0/4",   "::/96",
    "64:ff9b::/96",   "fc00::/7",      "fe80::/10",     "ff00::/8",
};

static bool is_v4(const struct ipnet *n)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    return n->prefix >= V4_BITS && memcmp(n->addr, mapped, sizeof(mapped)) == 0;
}

bool exclude_network_parse(struct slice text, struct ipnet *ret)
{
    size_t slash = slice_find(text, '/');
    struct slice address = slice_head(text, slash);
    unsigned bits = 0;
    if (address.n > 1 && address.p[0] == '[') {
        address = slice_of(address.p + 1, address.n - 2);
    }
    if (!host_ip_parse(address, ret->addr)) {
        return false;
    }
    ret->prefix = ALL_BITS;
    bool is_short = is_v4(ret);
    if (slash == text.n) {
        return true;
    }
    for (size_t i = slash + 1; i < text.n && text.p[i] >= '0' && text.p[i] <= '9';
         i++) {
        bits = bits * 10 + (unsigned)(text.p[i] - '0');
        if (bits > ALL_BITS) {
            return false;
        }
    }
    ret->prefix = is_short ? V4_BITS + bits : bits;
    return ret->prefix <= ALL_BITS;
}

static bool overlap(const struct ipnet *a, const struct ipnet *b)
{
    return ipnet_contains(a, b->addr) || ipnet_contains(b, a->addr);
}

static bool is_special(const struct ipnet *n)
{
    for (size_t i = 0; i < LENGTH(special); i++) {
        struct ipnet s;
        if (exclude_network_parse(slice_str(special[i]), &s) && is_v4(&s) == is_v4(n) &&
            overlap(&s, n)) {
            return true;
        }
    }
    return false;
}

static bool overlaps_any(const struct ipnet *n, const struct ipnet *v, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (overlap(n, &v[i])) {
            return true;
        }
    }
    return false;
}

const char *exclude_network(const struct feed_exclude *g, struct slice text,
                            const char **retwhy)
{
    const struct config *c = g->config;
    struct ipnet n;
    if (!exclude_network_parse(text, &n)) {
        return NULL;
    }
    if (n.prefix < (is_v4(&n) ? V4_BITS + FEED_NETWORK_V4 : FEED_NETWORK_V6)) {
        *retwhy = "a network wider than a feed may list (/16, IPv6 /32)";
        return "network";
    }
    if (overlaps_any(&n, c->trusted_networks, c->ntrusted_networks) ||
        overlaps_any(&n, c->allow_networks, c->nallow_networks) ||
        overlaps_any(&n, g->local, g->nlocal)) {
        *retwhy = "one of our own networks or addresses (trusted_networks, "
                  "allow.networks, this machine)";
        return "protected";
    }
    if (is_special(&n)) {
        *retwhy = "an address that is local, private or nobody's";
        return "network";
    }
    return NULL;
}

static bool address_of(const struct sockaddr *sa, uint8_t ret[ADDR_BYTES])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (sa->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, sa, sizeof(in));
        memcpy(ret, mapped, sizeof(mapped));
        memcpy(ret + sizeof(mapped), &in.sin_addr, 4);
        return true;
    }
    if (sa->sa_family == AF_INET6) {
        struct sockaddr_in6 in;
        memcpy(&in, sa, sizeof(in));
        memcpy(ret, &in.sin6_addr, ADDR_BYTES);
        return true;
    }
    return false;
}

/* Those of our interfaces; without them what the configuration names is protected. */
void exclude_local_find(struct feed_exclude *g)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) {
        return;
    }
    for (const struct ifaddrs *i = all; i && g->nlocal < GUARD_LOCAL_MAX;
         i = i->ifa_next) {
        struct ipnet *n = &g->local[g->nlocal];
        if (i->ifa_addr && address_of(i->ifa_addr, n->addr)) {
            n->prefix = ALL_BITS;
            g->nlocal++;
        }
    }
    freeifaddrs(all);
}
