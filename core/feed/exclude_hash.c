/*
 * exclude_hash - entries that are SHA-256 sums of URL expressions. It knows the sums of whole hosts
 * that must not be listed, so a feed of sums cannot list more than a feed of names.
 */
#include "core/base/array.h"
#include "core/base/checksum.h"
#include "core/base/word_table.h"
#include "core/feed/exclude_internal.h"
#include "core/message/url/known_name.h"

enum { EXPRESSION_MAX = 300, FORMS = 2, HASHES_MAX = 1 << 24 };

static int compare_sums(const void *a, const void *b)
{
    return memcmp(a, b, SHA256_HEX);
}

/* "NAME/" and "www.NAME/". */
static bool add_sum(struct exclude_hashes *h, struct slice name)
{
    for (size_t i = 0; i < FORMS; i++) {
        char text[EXPRESSION_MAX];
        struct sha256 sum;
        int n = snprintf(text, sizeof(text), "%s%.*s/", i == 0 ? "" : "www.",
                         SLICE_ARGS(name));
        if (n <= 0 || (size_t)n >= sizeof(text) ||
            !array_room(&h->v, &h->room, h->n + 1, HASHES_MAX, sizeof(*h->v)) ||
            sha256_init(&sum) != ERR_OK) {
            return false;
        }
        sha256_add(&sum, slice_of(text, (size_t)n));
        sha256_final_hex(&sum, h->v[h->n++]);
    }
    return true;
}

static bool add_sums(struct exclude_hashes *h, struct slice row)
{
    struct word word;
    while (word_cut(&row, &word)) {
        if (!add_sum(h, word.key)) {
            return false;
        }
    }
    return true;
}

static bool add_domains(struct exclude_hashes *h, const struct config_strings *domains)
{
    for (size_t i = 0; i < domains->n; i++) {
        if (!add_sum(h, slice_str(domains->v[i]))) {
            return false;
        }
    }
    return true;
}

enum err exclude_hashes_make(struct exclude_hashes *h, const struct config *c,
                             struct errinfo *reterr)
{
    const struct slice *rows = NULL;
    bool is_right =
        add_domains(h, &c->protected_domains) && add_domains(h, &c->allow_domains);
    size_t n = 0;
    for (size_t table = 0; is_right && (n = known_name_rows(table, &rows)) > 0;
         table++) {
        for (size_t i = 0; is_right && i < n; i++) {
            is_right = add_sums(h, rows[i]);
        }
    }
    if (!is_right) {
        return errinfo_set(reterr, ERR_NOMEM, "", 0, "no memory for checks");
    }
    qsort(h->v, h->n, sizeof(*h->v), compare_sums);
    return ERR_OK;
}

bool exclude_hashes_have(const struct exclude_hashes *h, struct slice hex)
{
    return hex.n == SHA256_HEX && h->n > 0 &&
           bsearch(hex.p, h->v, h->n, sizeof(*h->v), compare_sums);
}

void exclude_hashes_free(struct exclude_hashes *h)
{
    free(h->v);
    *h = (struct exclude_hashes){0};
}
