#include "core/verdict/embargo/embargo_keys.h"

#include "core/base/le.h"
#include "core/message/extract/shingle.h"

/* Types of digests that no feature has. */
enum { TYPE_PIECE = 0xe000, TYPE_COPY, TYPE_KIND };
enum { PIECES = 3 };

/* Pieces of any length, as one number that is not 0. */
static uint64_t hash(const struct hashkey *key, uint16_t type,
                     const struct slice piece[PIECES])
{
    struct digest part[PIECES];
    struct digest whole;

    for (size_t i = 0; i < PIECES; i++) {
        digest_make(key, TYPE_PIECE, piece[i], &part[i]);
    }
    digest_make(key, type, slice_of((const char *)part, sizeof(part)), &whole);
    uint64_t n = le_get(whole.b, sizeof(n));
    return n == 0 ? 1 : n;
}

static struct slice text_of(const struct embargo_case *c, enum feature_type type)
{
    const struct feature *f = featureset_first(c->features, type);
    return f == NULL ? SLICE_NONE : f->text;
}

static struct slice first_of(struct slice a, struct slice b)
{
    return a.n > 0 ? a : b;
}

size_t embargo_copies(const struct hashkey *key, const struct embargo_case *c,
                      uint64_t ret[EMBARGO_COPIES_MAX])
{
    struct slice from =
        first_of(text_of(c, FEATURE_from), text_of(c, FEATURE_envelope_from));
    struct slice body = first_of(text_of(c, FEATURE_body), text_of(c, FEATURE_subject));

    if (body.n == 0 || c->nrcpt < c->ndeliveries || c->nrcpt > EMBARGO_COPIES_MAX) {
        return 0;
    }
    for (size_t i = 0; i < c->nrcpt; i++) {
        ret[i] = hash(key, TYPE_COPY, (struct slice[PIECES]){from, body, c->rcpt[i]});
    }
    return c->nrcpt;
}

/* Large senders use many networks, so the network of a proved domain does not matter. */
static bool is_proved(const struct embargo_case *c, struct slice *retdomain)
{
    const struct identity *i = c->context->identity;

    *retdomain = i == NULL ? SLICE_NONE : i->domain;
    return identity_has(i, IDENTITY_proved) && retdomain->n > 0;
}

/* NOLINTNEXTLINE(readability-function-size): what a hash is made of, and where it goes */
static size_t hash_bands(const struct hashkey *key, const struct embargo_case *c,
                         struct slice domain, struct slice net, uint64_t *ret)
{
    size_t n = 0;
    size_t nbands = 0;

    for (size_t i = 0; i < featureset_count(c->features); i++) {
        const struct feature *f = featureset_at(c->features, i);
        if (f->type != FEATURE_text_band) {
            continue;
        }
        if (nbands++ % SHINGLE_BANDS < EMBARGO_BANDS && n < EMBARGO_KINDS_MAX) {
            ret[n++] =
                hash(key, TYPE_KIND, (struct slice[PIECES]){domain, net, f->text});
        }
    }
    return n;
}

size_t embargo_kinds(const struct hashkey *key, const struct embargo_case *c,
                     uint64_t ret[EMBARGO_KINDS_MAX], size_t *retnew)
{
    struct slice domain;
    struct slice net = SLICE_NONE;

    if (!is_proved(c, &domain)) {
        domain = first_of(text_of(c, FEATURE_envelope_domain),
                          text_of(c, FEATURE_from_domain));
        net = text_of(c, FEATURE_client_net);
    }
    *retnew = 0;
    if (domain.n == 0) {
        return 0;
    }
    size_t n = hash_bands(key, c, domain, net, ret);
    if (n == 0) { /* too short a text */
        struct slice text =
            first_of(text_of(c, FEATURE_text), text_of(c, FEATURE_body));
        ret[n++] = hash(key, TYPE_KIND, (struct slice[PIECES]){domain, net, text});
    }
    *retnew = n < EMBARGO_BANDS ? n : EMBARGO_BANDS;
    return n;
}
