/*
 * slice - a run of bytes that somebody else owns.
 *
 * Mail is bytes with NULs and no terminator; every text in core/ is a slice. A slice never
 * owns; its bytes live as long as the arena, buffer or mapping they lie in.
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_BASE_SLICE_H
#define CORE_BASE_SLICE_H

#include "core/base/std.h"

struct slice {
    const char *p; /* may be NULL only when n is 0 */
    size_t n;
};

#define SLICE_LIT(literal) ((struct slice){"" literal, sizeof(literal) - 1})
#define SLICE_NONE         ((struct slice){NULL, 0})
/* for "%.*s" of bytes known to be printable */
#define SLICE_ARGS(s) (int)(s).n, (s).p

static inline struct slice slice_of(const char *p, size_t n)
{
    return (struct slice){p, n};
}

/* NULL gives the empty slice */
static inline struct slice slice_str(const char *cstr)
{
    return cstr ? (struct slice){cstr, strlen(cstr)} : SLICE_NONE;
}

/* The part from byte `from` on; empty when from is past the end. */
static inline struct slice slice_from(struct slice s, size_t from)
{
    if (from >= s.n) {
        return (struct slice){s.n ? s.p + s.n : s.p, 0};
    }
    return (struct slice){s.p + from, s.n - from};
}

/* The first n bytes, or all of them. */
static inline struct slice slice_head(struct slice s, size_t n)
{
    return (struct slice){s.p, n < s.n ? n : s.n};
}

static inline bool slice_eq(struct slice a, struct slice b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool slice_has_prefix(struct slice s, struct slice prefix)
{
    return s.n >= prefix.n && slice_eq(slice_head(s, prefix.n), prefix);
}

bool slice_eq_nocase(struct slice a, struct slice b); /* ASCII case only */
bool slice_has_prefix_nocase(struct slice s, struct slice prefix);
bool slice_has_suffix_nocase(struct slice s, struct slice suffix);

/* Whether name is the domain or lies below it, ASCII case ignored: "a.evil.example" of
 * "evil.example". False for an empty domain. */
bool slice_is_at_or_below(struct slice name, struct slice domain);

/* memcmp order, then length. */
int slice_cmp(struct slice a, struct slice b);

/* Without ASCII white space (space, tab, CR, LF, VT, FF) at both ends. */
struct slice slice_trim(struct slice s);

/* Index of the first byte c (of the first `needle`), or s.n when there is none. */
size_t slice_find(struct slice s, char c);
size_t slice_find_slice(struct slice s, struct slice needle);

/* Cuts *s at the first sep: returns what lies before and leaves what lies after. Without sep
 * the whole is returned and *s becomes empty with p == NULL (so a loop can end on s->p). */
struct slice slice_cut(struct slice *s, char sep);

/* The value of a hexadecimal digit of either case, or -1. */
static inline int hex_digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= ' '; /* lower case; no other byte becomes a letter from a to f */
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads all of s as one number: nothing but digits of base (2 to 16), at least one, leading zeros
 * allowed, and no value above `most`. False leaves *ret as it was. */
bool slice_to_u64(struct slice s, unsigned base, uint64_t most, uint64_t *ret);

/* Index of s among n names (NULL: a hole), or -1; in a table of words an enum's value. */
int name_index(struct slice s, const char *const *names, size_t n);

#endif
