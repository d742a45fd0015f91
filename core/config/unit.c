#include "core/config/unit.h"

#include <arpa/inet.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit sizes[] = {{"G", UINT64_C(1) << 30},
                                    {"M", UINT64_C(1) << 20},
                                    {"K", UINT64_C(1) << 10},
                                    {"B", 1}};

static const struct unit times[] = {
    {"w", UINT64_C(604800000000)}, {"d", UINT64_C(86400000000)},
    {"h", UINT64_C(3600000000)},   {"m", UINT64_C(60000000)},
    {"s", UINT64_C(1000000)},      {"ms", 1000}};

static bool read_unit(const struct unit *units, size_t nunits, const char *text,
                      uint64_t *ret)
{
    uint64_t v = 0;
    const char *p = text;

    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v)) {
            return false;
        }
    }
    if (p == text) {
        return false;
    }
    for (size_t i = 0; i < nunits; i++) {
        if (strcmp(p, units[i].name) == 0) {
            return !__builtin_mul_overflow(v, units[i].factor, ret);
        }
    }
    return false;
}

static void write_unit(const struct unit *units, size_t nunits, uint64_t v,
                       char dst[UNIT_TEXT_MAX])
{
    for (size_t i = 0; i < nunits; i++) {
        if (v != 0 && v % units[i].factor == 0) {
            (void)snprintf(dst, UNIT_TEXT_MAX, "%llu%s",
                           (unsigned long long)(v / units[i].factor), units[i].name);
            return;
        }
    }
    (void)snprintf(dst, UNIT_TEXT_MAX, "%s", units == sizes ? "0B" : "0s");
}

bool unit_size(const char *text, uint64_t *ret)
{
    return read_unit(sizes, LENGTH(sizes), text, ret);
}

void unit_size_text(uint64_t bytes, char dst[UNIT_TEXT_MAX])
{
    write_unit(sizes, LENGTH(sizes), bytes, dst);
}

bool unit_time_us(const char *text, uint64_t *ret)
{
    return read_unit(times, LENGTH(times), text, ret);
}

void unit_time_us_text(uint64_t us, char dst[UNIT_TEXT_MAX])
{
    write_unit(times, LENGTH(times), us, dst);
}

bool unit_mode(const char *text, unsigned *ret)
{
    const struct slice digits = slice_str(text);
    uint64_t v = 0;

    if (digits.n < 3 || digits.n > 4 || !slice_to_u64(digits, 8, 0777, &v)) {
        return false;
    }
    *ret = (unsigned)v;
    return true;
}

/* Prefix length after the slash: 1 to 3 digits, at most max. */
static bool read_prefix(const char *text, unsigned max, unsigned *ret)
{
    const struct slice digits = slice_str(text);
    uint64_t v = 0;

    if (digits.n > 3 || !slice_to_u64(digits, 10, max, &v)) {
        return false;
    }
    *ret = (unsigned)v;
    return true;
}

static bool has_host_bits(const struct ipnet *net)
{
    for (unsigned bit = net->prefix; bit < 128; bit++) {
        if ((net->addr[bit / 8] >> (7 - bit % 8) & 1) != 0) {
            return true;
        }
    }
    return false;
}

bool unit_network(const char *text, struct ipnet *ret, const char **retwhy)
{
    char addr[INET6_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
    struct ipnet net = {.prefix = 128};
    unsigned max = 128;

    *retwhy =
        "write an address or network such as \"192.0.2.0/24\" or \"2001:db8::/32\"";
    if (n >= sizeof(addr)) {
        return false;
    }
    memcpy(addr, text, n);
    addr[n] = '\0';
    if (inet_pton(AF_INET, addr, net.addr + 12) == 1) {
        net.addr[10] = 0xff;
        net.addr[11] = 0xff;
        max = 32;
    } else if (inet_pton(AF_INET6, addr, net.addr) != 1) {
        return false;
    }
    if (slash != NULL) {
        if (!read_prefix(slash + 1, max, &net.prefix)) {
            *retwhy = max == 32 ? "write a prefix length from 0 to 32 after the slash"
                                : "write a prefix length from 0 to 128 after the slash";
            return false;
        }
        net.prefix += 128 - max;
    }
    if (has_host_bits(&net)) {
        *retwhy = "the address has bits after the prefix length; write the network's "
                  "first address, or a longer prefix";
        return false;
    }
    *ret = net;
    return true;
}

static bool is_v4(const uint8_t addr[16])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    return memcmp(addr, mapped, sizeof(mapped)) == 0;
}

void unit_network_text(const struct ipnet *net, char dst[UNIT_TEXT_MAX])
{
    char addr[INET6_ADDRSTRLEN] = "?";
    bool v4 = net->prefix >= 96 && is_v4(net->addr);

    inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? net->addr + 12 : net->addr, addr,
              sizeof(addr));
    (void)snprintf(dst, UNIT_TEXT_MAX, "%s/%u", addr,
                   v4 ? net->prefix - 96 : net->prefix);
}

bool ipnet_contains(const struct ipnet *net, const uint8_t addr[16])
{
    unsigned whole = net->prefix / 8;
    unsigned rest = net->prefix % 8;

    /* "::/0" speaks of IPv6 and must not take in every IPv4 client */
    if (net->prefix < 96 && is_v4(addr)) {
        return false;
    }
    if (memcmp(net->addr, addr, whole) != 0) {
        return false;
    }
    return rest == 0 || (net->addr[whole] ^ addr[whole]) >> (8 - rest) == 0;
}

bool unit_date(const char *text, uint64_t *ret)
{
    struct tm day = {0};
    char again[UNIT_TEXT_MAX];
    uint64_t end = 0;

    if (*text != '\0') {
        const char *rest = strptime(text, "%Y-%m-%d", &day);
        time_t begin = rest != NULL && *rest == '\0' ? timegm(&day) : -1;

        if (begin < 0) {
            return false;
        }
        end = (uint64_t)begin + UNIT_DAY_S;
        unit_date_text(end, again);
        if (strcmp(again, text) != 0) { /* "2027-02-30", "2027-6-1" */
            return false;
        }
    }
    *ret = end;
    return true;
}

void unit_date_text(uint64_t end_s, char dst[UNIT_TEXT_MAX])
{
    time_t begin = (time_t)(end_s - UNIT_DAY_S);
    struct tm day;

    if (end_s == 0 || gmtime_r(&begin, &day) == NULL ||
        strftime(dst, UNIT_TEXT_MAX, "%Y-%m-%d", &day) == 0) {
        *dst = '\0';
    }
}
