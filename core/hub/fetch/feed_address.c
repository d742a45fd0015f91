#include "core/hub/fetch/feed_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>

#include "core/base/std.h"

enum { HOST_MAX = 64 };

struct network4 {
    uint32_t address;
    unsigned bits;
    enum feed_reach reach;
};
#define V4(a, b, c, d) \
    (((uint32_t)(a) << 24) | ((uint32_t)(b) << 16) | ((uint32_t)(c) << 8) | (d))

static enum feed_reach reach4(uint32_t a)
{
    static const struct network4 closed[] = {
        {V4(0, 0, 0, 0), 8, FEED_REACH_MACHINE},
        {V4(127, 0, 0, 0), 8, FEED_REACH_MACHINE},
        {V4(169, 254, 0, 0), 16, FEED_REACH_LINK},
        {V4(10, 0, 0, 0), 8, FEED_REACH_PRIVATE},
        {V4(100, 64, 0, 0), 10, FEED_REACH_PRIVATE},
        {V4(172, 16, 0, 0), 12, FEED_REACH_PRIVATE},
        {V4(192, 0, 0, 0), 24, FEED_REACH_PRIVATE},
        {V4(192, 0, 2, 0), 24, FEED_REACH_PRIVATE},
        {V4(192, 88, 99, 0), 24, FEED_REACH_PRIVATE},
        {V4(192, 168, 0, 0), 16, FEED_REACH_PRIVATE},
        {V4(198, 18, 0, 0), 15, FEED_REACH_PRIVATE},
        {V4(198, 51, 100, 0), 24, FEED_REACH_PRIVATE},
        {V4(203, 0, 113, 0), 24, FEED_REACH_PRIVATE},
        {V4(224, 0, 0, 0), 3, FEED_REACH_PRIVATE}, /* multicast, reserved */
    };

    for (size_t i = 0; i < LENGTH(closed); i++) {
        if ((a ^ closed[i].address) >> (32 - closed[i].bits) == 0) {
            return closed[i].reach;
        }
    }
    return FEED_REACH_PUBLIC;
}

static uint32_t v4_at(const uint8_t *p)
{
    return V4(p[0], p[1], p[2], p[3]);
}

/* For addresses outside 2000::/3. */
static enum feed_reach reach6_closed(const uint8_t a[16])
{
    static const uint8_t zeros[12] = {0};

    if (memcmp(a, zeros, sizeof(zeros)) == 0) { /* ::, ::1, and old forms of IPv4 */
        return v4_at(a + 12) <= 1 || reach4(v4_at(a + 12)) == FEED_REACH_MACHINE
                   ? FEED_REACH_MACHINE
                   : FEED_REACH_PRIVATE;
    }
    return a[0] == 0xfe && (a[1] & 0xc0) == 0x80 ? FEED_REACH_LINK : FEED_REACH_PRIVATE;
}

static enum feed_reach reach6(const uint8_t a[16])
{
    static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    if (memcmp(a, nat64, sizeof(nat64)) == 0 ||
        memcmp(a, mapped, sizeof(mapped)) == 0) {
        return reach4(v4_at(a + 12));
    }
    if (a[0] == 0x20 && a[1] == 0x02) { /* 6to4 */
        return reach4(v4_at(a + 2));
    }
    if ((a[0] & 0xe0) != 0x20) {
        return reach6_closed(a);
    }
    if (a[0] == 0x20 && a[1] == 0x01 && (a[2] & 0xfe) == 0) {
        return FEED_REACH_PRIVATE; /* 2001::/23: protocols, Teredo among them */
    }
    return (a[0] == 0x20 && a[1] == 0x01 && a[2] == 0x0d && a[3] == 0xb8) ||
                   (a[0] == 0x3f && a[1] == 0xff && (a[2] & 0xf0) == 0)
               ? FEED_REACH_PRIVATE /* documentation */
               : FEED_REACH_PUBLIC;
}

enum feed_reach feed_address_reach(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, a, sizeof(in));
        return reach4(ntohl(in.sin_addr.s_addr));
    }
    if (a->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, a, sizeof(in6));
        return reach6(in6.sin6_addr.s6_addr);
    }
    return FEED_REACH_PRIVATE;
}

static bool is_localhost(const char *host)
{
    static const char name[] = "localhost";
    size_t n = strlen(host);
    size_t want = sizeof(name) - 1;

    n -= n > 0 && host[n - 1] == '.' ? 1 : 0;
    return n >= want && strncasecmp(host + n - want, name, want) == 0 &&
           (n == want || host[n - want - 1] == '.');
}

enum feed_reach feed_host_reach(const char *host)
{
    struct in_addr in;
    struct in6_addr in6;
    char bare[HOST_MAX] = "";
    size_t n = strlen(host);

    if (n > 2 && n < sizeof(bare) && host[0] == '[' && host[n - 1] == ']') {
        memcpy(bare, host + 1, n - 2);
        bare[strcspn(bare, "%")] = '\0'; /* the zone of a link-local one */
        return inet_pton(AF_INET6, bare, &in6) != 1
                   ? FEED_REACH_MACHINE /* nobody knows what it is */
                   : reach6(in6.s6_addr);
    }
    if (inet_aton(host, &in) != 0) { /* 0x7f.1, 2130706433 and the like too */
        return reach4(ntohl(in.s_addr));
    }
    return is_localhost(host) ? FEED_REACH_MACHINE : FEED_REACH_PUBLIC;
}
