/* slice - comparing and cutting runs of bytes. */
#include "core/base/slice.h"

static unsigned char lower(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 'A' && u <= 'Z' ? (unsigned char)(u | 0x20u) : u;
}

bool slice_eq_nocase(struct slice a, struct slice b)
{
    if (a.n != b.n) {
        return false;
    }
    for (size_t i = 0; i < a.n; i++) {
        if (lower(a.p[i]) != lower(b.p[i])) {
            return false;
        }
    }
    return true;
}

bool slice_has_prefix_nocase(struct slice s, struct slice prefix)
{
    return s.n >= prefix.n && slice_eq_nocase(slice_head(s, prefix.n), prefix);
}

bool slice_has_suffix_nocase(struct slice s, struct slice suffix)
{
    return s.n >= suffix.n && slice_eq_nocase(slice_from(s, s.n - suffix.n), suffix);
}

bool slice_is_at_or_below(struct slice name, struct slice domain)
{
    return domain.n > 0 && slice_has_suffix_nocase(name, domain) &&
           (name.n == domain.n || name.p[name.n - domain.n - 1] == '.');
}

int slice_cmp(struct slice a, struct slice b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    if (order != 0) {
        return order;
    }
    return (a.n > b.n) - (a.n < b.n);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct slice slice_trim(struct slice s)
{
    while (s.n && is_space(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n && is_space(s.p[s.n - 1])) {
        s.n--;
    }
    return s;
}

size_t slice_find(struct slice s, char c)
{
    const char *found = s.n ? memchr(s.p, c, s.n) : NULL;
    return found ? (size_t)(found - s.p) : s.n;
}

size_t slice_find_slice(struct slice s, struct slice needle)
{
    if (needle.n == 0) {
        return 0;
    }
    const char *found = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;
    return found ? (size_t)(found - s.p) : s.n;
}

struct slice slice_cut(struct slice *s, char sep)
{
    size_t at = slice_find(*s, sep);
    struct slice before = slice_head(*s, at);
    *s = at < s->n ? slice_from(*s, at + 1) : SLICE_NONE;
    return before;
}

bool slice_to_u64(struct slice s, unsigned base, uint64_t most, uint64_t *ret)
{
    uint64_t v = 0;

    for (size_t i = 0; i < s.n; i++) {
        const int digit = hex_digit_value(s.p[i]);
        if (digit < 0 || (unsigned)digit >= base || (unsigned)digit > most ||
            v > (most - (unsigned)digit) / base) {
            return false;
        }
        v = v * base + (unsigned)digit;
    }
    if (s.n > 0) {
        *ret = v;
    }
    return s.n > 0;
}

int name_index(struct slice s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (names[i] != NULL && slice_eq(s, slice_str(names[i]))) {
            return (int)i;
        }
    }
    return -1;
}
