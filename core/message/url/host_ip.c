/* host_ip - reading and writing of IP addresses; also the host_ip_ functions of host.h. */
#include "core/message/url/host_ip.h"

#include <arpa/inet.h>

#include "core/message/text/ascii.h"
#include "core/message/url/host.h"

static const uint8_t v4_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static void put_v4(uint32_t value, uint8_t addr[16])
{
    memcpy(addr, v4_prefix, sizeof(v4_prefix));
    addr[12] = (uint8_t)(value >> 24);
    addr[13] = (uint8_t)(value >> 16);
    addr[14] = (uint8_t)(value >> 8);
    addr[15] = (uint8_t)value;
}

static bool has_octal_digits(struct slice digits)
{
    size_t i = 0;

    while (i < digits.n && digits.p[i] != '8' && digits.p[i] != '9') {
        i++;
    }
    return i == digits.n;
}

/* One number of a loose IPv4 address; values past 32 bits stay above them. */
static bool read_ipv4_number(struct slice digits, bool is_lenient, uint64_t *ret)
{
    const uint64_t too_big = UINT64_C(1) << 32;
    unsigned base = 10;
    uint64_t value = 0;
    size_t i = 0;

    if (digits.n == 0) {
        return false;
    }
    if (digits.n >= 2 && digits.p[0] == '0') {
        if (ASCII_LOWER(digits.p[1]) == 'x') {
            base = 16;
            i = 2;
        } else if (!is_lenient || has_octal_digits(digits)) {
            base = 8;
            i = 1;
        }
    }
    for (; i < digits.n; i++) {
        unsigned digit = ascii_hex[(unsigned char)digits.p[i]];

        if (digit >= base) {
            return false;
        }
        value = value * base + digit;
        if (value > too_big) {
            value = too_big;
        }
    }
    *ret = value;
    return true;
}

bool host_ends_in_number(struct slice name)
{
    uint64_t value = 0;
    size_t i = name.n;
    size_t k = 0;

    if (i > 0 && name.p[i - 1] == '.') {
        name.n--;
        i--;
    }
    while (i > 0 && name.p[i - 1] != '.') {
        i--;
    }
    name = slice_from(name, i);
    for (k = 0; k < name.n && ASCII_IS(name.p[k], ASCII_DIGIT); k++) {
    }
    if (name.n > 0 && k == name.n) {
        return true;
    }
    return name.n >= 2 && name.p[0] == '0' && ASCII_LOWER(name.p[1]) == 'x' &&
           read_ipv4_number(name, false, &value);
}

static bool parse_v4(struct slice text, bool is_lenient, uint8_t retaddr[16])
{
    uint64_t parts[4];
    uint64_t value = 0;
    size_t n = 0;
    size_t i = 0;

    if (text.n > 0 && text.p[text.n - 1] == '.') {
        text.n--;
    }
    do {
        if (n == 4 || !read_ipv4_number(slice_cut(&text, '.'), is_lenient, &parts[n])) {
            return false;
        }
        n++;
    } while (text.p != NULL);
    for (i = 0; i + 1 < n; i++) {
        if (parts[i] > 255) {
            return false;
        }
        value |= parts[i] << (8 * (3 - i));
    }
    if (parts[n - 1] >= UINT64_C(1) << (8 * (5 - n))) {
        return false;
    }
    put_v4((uint32_t)(value | parts[n - 1]), retaddr);
    return true;
}

bool host_ipv4_loose_parse(struct slice text, uint8_t retaddr[16])
{
    return parse_v4(text, false, retaddr);
}

bool host_ipv4_decimal_parse(struct slice text, uint8_t retaddr[16])
{
    return parse_v4(text, true, retaddr);
}

/* inet_pton of a slice; false also when text has a NUL or is longer than any address. */
static bool system_parse(int family, struct slice text, void *retaddr)
{
    char copy[HOST_IP_TEXT];

    if (text.n == 0 || text.n >= sizeof(copy) || memchr(text.p, '\0', text.n) != NULL) {
        return false;
    }
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    return inet_pton(family, copy, retaddr) == 1;
}

bool host_ipv6_parse(struct slice text, uint8_t retaddr[16])
{
    uint8_t addr[16];

    if (!system_parse(AF_INET6, text, addr)) {
        return false;
    }
    memcpy(retaddr, addr, sizeof(addr));
    return true;
}

bool host_ip_parse(struct slice text, uint8_t retaddr[16])
{
    struct in_addr v4;

    if (slice_find(text, ':') < text.n) {
        return host_ipv6_parse(text, retaddr);
    }
    if (!system_parse(AF_INET, text, &v4)) {
        return false;
    }
    put_v4(ntohl(v4.s_addr), retaddr);
    return true;
}

bool host_ip_is_v4(const uint8_t addr[16])
{
    return memcmp(addr, v4_prefix, sizeof(v4_prefix)) == 0;
}

/* The longest run of two or more zero groups, the first of equal ones (RFC 5952 4.2). */
static void find_zero_run(const unsigned group[8], size_t *retfrom, size_t *retcount)
{
    size_t i = 0;

    *retfrom = 8;
    *retcount = 1;
    while (i < 8) {
        size_t end = i;

        while (end < 8 && group[end] == 0) {
            end++;
        }
        if (end - i > *retcount) {
            *retfrom = i;
            *retcount = end - i;
        }
        i = end + 1;
    }
}

struct slice host_ipv6_text(const uint8_t addr[16], char dst[HOST_IP_TEXT])
{
    unsigned group[8];
    size_t zero_from = 0;
    size_t zero_count = 0;
    size_t n = 0;
    size_t i = 0;

    for (i = 0; i < 8; i++) {
        group[i] = ((unsigned)addr[2 * i] << 8) | addr[2 * i + 1];
    }
    find_zero_run(group, &zero_from, &zero_count);
    i = 0;
    while (i < 8) {
        if (i == zero_from) {
            i += zero_count;
            n += (size_t)snprintf(dst + n, HOST_IP_TEXT - n, i == 8 ? "::" : ":");
            continue;
        }
        n += (size_t)snprintf(dst + n, HOST_IP_TEXT - n, i == 0 ? "%x" : ":%x",
                              group[i]);
        i++;
    }
    return slice_of(dst, n);
}

struct slice host_ip_text(const uint8_t addr[16], char dst[HOST_IP_TEXT])
{
    size_t n = 0;

    if (!host_ip_is_v4(addr)) {
        return host_ipv6_text(addr, dst);
    }
    n = (size_t)snprintf(dst, HOST_IP_TEXT, "%u.%u.%u.%u", addr[12], addr[13], addr[14],
                         addr[15]);
    return slice_of(dst, n);
}
