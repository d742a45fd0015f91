#include "core/message/url/mailbox.h"

#include "core/message/text/ascii.h"
#include "core/message/url/address.h"

struct provider {
    struct slice domain;
    struct slice mailbox_domain;
    struct slice ignored;
    char tag; /* '\0': none */
};

enum { MAILBOX_DOMAIN_MAX = 32 };

static const struct provider providers[] = {
#define MAILBOX(domain, to, ignored, tag) \
    {{domain, sizeof(domain) - 1},        \
     {to, sizeof(to) - 1},                \
     {ignored, sizeof(ignored) - 1},      \
     tag},
#include "core/message/url/mailbox.def"
#undef MAILBOX
};

#define MAILBOX(domain, to, ignored, tag) \
    _Static_assert(sizeof(to) <= MAILBOX_DOMAIN_MAX, "it fits");
#include "core/message/url/mailbox.def"
#undef MAILBOX

static const struct provider *provider_of(struct slice domain)
{
    size_t low = 0;
    size_t high = LENGTH(providers);

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = slice_cmp(domain, providers[middle].domain);

        if (order == 0) {
            return &providers[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

static size_t local_length(struct slice address)
{
    size_t n = address.n;

    while (n > 0 && address.p[n - 1] != '@') {
        n--;
    }
    return n > 0 ? n - 1 : 0;
}

static bool is_lower(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != ASCII_LOWER(s.p[i])) {
            return false;
        }
    }
    return true;
}

/* Writes the part of a local part that the provider (NULL: none) looks at. Returns its length, 0 if
 * nothing is left. */
static size_t put_local(char *dst, struct slice local, const struct provider *p)
{
    size_t n = 0;
    bool is_quoted = local.p[0] == '"';

    for (size_t i = 0; i < local.n; i++) {
        char c = local.p[i];

        if (p != NULL && !is_quoted) {
            if (c == p->tag && n > 0) {
                break;
            }
            if (slice_find(p->ignored, c) < p->ignored.n) {
                continue;
            }
        }
        dst[n++] = ASCII_LOWER(c);
    }
    return n;
}

/* dst holds mailbox_size bytes. Returns how many were written. */
static size_t put_mailbox(char *dst, struct slice address)
{
    struct slice local = slice_head(address, local_length(address));
    struct slice domain = slice_from(address, local.n + 1);
    const struct provider *provider = provider_of(domain);
    size_t n = 0;

    if (local.n == 0) {
        memcpy(dst, address.p, address.n);
        return address.n;
    }
    n = put_local(dst, local, provider);
    if (n == 0) {
        n = put_local(dst, local, NULL);
    }
    if (provider != NULL) {
        domain = provider->mailbox_domain;
    }
    dst[n++] = '@';
    memcpy(dst + n, domain.p, domain.n);
    return n + domain.n;
}

/* In place of the longest domain of the table. */
static size_t mailbox_size(struct slice address)
{
    return address.n + MAILBOX_DOMAIN_MAX;
}

struct slice mailbox_of(struct arena *arena, struct slice address)
{
    size_t at = local_length(address) + 1;

    if (address.n == 0 || (provider_of(slice_from(address, at)) == NULL &&
                           is_lower(slice_head(address, at)))) {
        return address;
    }
    char *p = arena_bytes(arena, mailbox_size(address));

    if (p == NULL) {
        return SLICE_NONE;
    }
    struct slice mailbox = slice_of(p, put_mailbox(p, address));

    return slice_eq(mailbox, address) ? address : mailbox;
}

bool mailbox_eq(struct slice a, struct slice b)
{
    char x[ADDRESS_BYTES_MAX + MAILBOX_DOMAIN_MAX];
    char y[ADDRESS_BYTES_MAX + MAILBOX_DOMAIN_MAX];

    if (a.n == 0 || b.n == 0 || a.n > ADDRESS_BYTES_MAX || b.n > ADDRESS_BYTES_MAX) {
        return slice_eq(a, b);
    }
    return slice_eq(slice_of(x, put_mailbox(x, a)), slice_of(y, put_mailbox(y, b)));
}
