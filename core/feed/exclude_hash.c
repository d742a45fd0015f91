/*
 * exclude_hash - entries that are SHA-256 sums of URL expressions. It knows the sums of whole hosts
 * that must not be listed, so a feed of sums cannot list more than a feed of names.
 */

#include "core/base/checksum.h"
#include "core/feed/exclude_internal.h"

enum { EXPRESSION_MAX = 300, FORMS = 2 };

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, SHA256_HEX);
}

/* "NAME/" and "www.NAME/". */
static bool add(struct exclude_hashes *h, const char *name)
{
    for (size_t i = 0; i < FORMS; i++) {
        char text[EXPRESSION_MAX];
        struct sha256 sum;
        int n = snprintf(text, sizeof(text), "%s%s/", i == 0 ? "" : "www.", name);
        if (n <= 0 || (size_t)n >= sizeof(text) || sha256_init(&sum) != ERR_OK) {
            return false;
        }
        sha256_add(&sum, slice_of(text, (size_t)n));
        sha256_final_hex(&sum, h->v[h->n++]);
    }
    return true;
}

enum err exclude_hashes_make(struct exclude_hashes *h, const struct config *c,
                             struct errinfo *reterr)
{
    size_t n = 0;
    while (name_at(n)) {
        n++;
    }
    size_t room = FORMS * (n + c->protected_domains.n + c->allow_domains.n) + 1;
    bool is_right = true;
    h->v = calloc(room, sizeof(*h->v));
    for (size_t i = 0; h->v && is_right && i < n; i++) {
        is_right = add(h, name_at(i));
    }
    for (size_t i = 0; h->v && is_right && i < c->protected_domains.n; i++) {
        is_right = add(h, c->protected_domains.v[i]);
    }
    for (size_t i = 0; h->v && is_right && i < c->allow_domains.n; i++) {
        is_right = add(h, c->allow_domains.v[i]);
    }
    if (!h->v || !is_right) {
        return errinfo_set(reterr, ERR_NOMEM, "", 0, "no memory for checks");
    }
    qsort(h->v, h->n, sizeof(*h->v), compare);
    return ERR_OK;
}

bool exclude_hashes_have(const struct exclude_hashes *h, struct slice hex)
{
    return hex.n == SHA256_HEX && h->n > 0 &&
           bsearch(hex.p, h->v, h->n, sizeof(*h->v), compare);
}

void exclude_hashes_free(struct exclude_hashes *h)
{
    free(h->v);
    h->v = NULL;
    h->n = 0;
}
