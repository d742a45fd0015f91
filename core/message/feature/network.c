#include "core/message/feature/network.h"

#include "core/message/url/host.h"

enum {
    V4_BITS = 32,
    V6_BITS = 128,
    V4_MAPPED_BITS = 96,
    NETWORK_TEXT = HOST_IP_TEXT + 8
};

static const uint8_t prefixes_v4[] = {32, 31, 30, 29, 28, 27, 26, 25, 24,
                                      23, 22, 21, 20, 19, 18, 17, 16, 15,
                                      14, 13, 12, 11, 10, 9,  8};
/* Lengths that registries and feeds use: /19 to /48, then nibbles down to a customer's /64. */
static const uint8_t prefixes_v6[] = {128, 64, 60, 56, 52, 48, 47, 46, 45, 44, 43, 42,
                                      41,  40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30,
                                      29,  28, 27, 26, 25, 24, 23, 22, 21, 20, 19};

const uint8_t *feature_prefixes_v4(size_t *retcount)
{
    *retcount = sizeof(prefixes_v4);
    return prefixes_v4;
}

const uint8_t *feature_prefixes_v6(size_t *retcount)
{
    *retcount = sizeof(prefixes_v6);
    return prefixes_v6;
}

struct slice feature_network_text(struct arena *arena, const uint8_t addr[16],
                                  unsigned length)
{
    bool v4 = host_ip_is_v4(addr);
    unsigned full = v4 ? V4_BITS : V6_BITS;
    unsigned kept = v4 ? length + V4_MAPPED_BITS : length;
    uint8_t masked[16];
    for (unsigned i = 0; i < sizeof(masked); i++) {
        unsigned bits = kept > i * 8 ? kept - i * 8 : 0;
        unsigned mask = bits >= 8 ? 0xff : 0xff & ~(0xffu >> bits);
        masked[i] = (uint8_t)(addr[i] & mask);
    }
    char dst[NETWORK_TEXT];
    /* A short IPv6 network may look like a mapped IPv4 one once masked; never below /19. */
    size_t n = host_ip_text(masked, dst).n;
    if (length < full) {
        int more = snprintf(dst + n, sizeof(dst) - n, "/%u", length);
        n += more > 0 ? (size_t)more : 0;
    }
    return arena_copy(arena, slice_of(dst, n));
}

static bool read_length(struct slice text, unsigned *ret)
{
    if (text.n == 0 || text.n > 3) {
        return false;
    }
    unsigned v = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return false;
        }
        v = v * 10 + (unsigned)(text.p[i] - '0');
    }
    *ret = v;
    return true;
}

static bool is_one_of(const uint8_t *lengths, size_t n, unsigned length)
{
    return memchr(lengths, (int)length, n) != NULL;
}

static enum err check_length(bool v4, unsigned length, struct errinfo *reterr)
{
    if (v4 && length > V4_BITS) {
        return errinfo_set(reterr, ERR_RANGE, "", 0,
                           "/%u is no prefix length of an IPv4 network (8 to 32)",
                           length);
    }
    if (v4 && length < prefixes_v4[sizeof(prefixes_v4) - 1]) {
        return errinfo_set(reterr, ERR_RANGE, "", 0,
                           "an IPv4 network wider than /8 would list too much of the "
                           "Internet; write the networks that are meant");
    }
    if (!v4 && length < prefixes_v6[sizeof(prefixes_v6) - 1]) {
        return errinfo_set(reterr, ERR_RANGE, "", 0,
                           "an IPv6 network wider than /19 would list too much of the "
                           "Internet; write the networks that are meant");
    }
    if (v4 ? !is_one_of(prefixes_v4, sizeof(prefixes_v4), length)
           : !is_one_of(prefixes_v6, sizeof(prefixes_v6), length)) {
        return errinfo_set(reterr, ERR_RANGE, "", 0,
                           "IPv6 networks may have the prefix lengths 19 to 48, 52, "
                           "56, 60, 64 and 128, not /%u; split or widen it",
                           length);
    }
    return ERR_OK;
}

enum err feature_network_parse(struct arena *arena, struct slice text,
                               struct slice *ret, struct errinfo *reterr)
{
    struct slice rest = text;
    struct slice ip = slice_cut(&rest, '/');
    uint8_t addr[16];
    if (!host_ip_parse(ip, addr)) {
        return errinfo_set(reterr, ERR_SYNTAX, "", 0,
                           "not an IP address or a network in CIDR form");
    }
    bool v4 = host_ip_is_v4(addr);
    unsigned length = v4 ? V4_BITS : V6_BITS;
    if (rest.p != NULL) {
        if (!read_length(rest, &length)) {
            return errinfo_set(reterr, ERR_SYNTAX, "", 0,
                               "no prefix length after the slash");
        }
        if (v4 && slice_find(ip, ':') < ip.n) { /* ::ffff:192.0.2.0/120 */
            length = length > V4_MAPPED_BITS ? length - V4_MAPPED_BITS : 0;
        }
    }
    static const uint8_t nobody[16] = {0};
    if (memcmp(addr + (v4 ? 12 : 0), nobody, v4 ? 4 : 16) == 0) {
        return errinfo_set(reterr, ERR_RANGE, "", 0,
                           "0.0.0.0 and :: are no host's address");
    }
    enum err e = check_length(v4, length, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct slice made = feature_network_text(arena, addr, length);
    if (made.p == NULL) {
        return errinfo_set(reterr, ERR_NOMEM, "", 0, "out of memory");
    }
    *ret = made;
    return ERR_OK;
}
