/* witness - what of a message is remembered. */
#include "core/feature/witness.h"

#include "core/feature/lookup.h"

/* Of the networks that an address lies in, those that feeds list. */
static bool is_common_length(struct slice network)
{
    size_t slash = slice_find(network, '/');
    struct slice length = slice_from(network, slash);
    return length.n == 0 || slice_eq(length, SLICE_LIT("/24")) ||
           slice_eq(length, SLICE_LIT("/48")) || slice_eq(length, SLICE_LIT("/64"));
}

static bool is_kept(const struct feature_key *k)
{
    switch (k->class_type) {
    case FEATURE_domain:
    case FEATURE_host:
    case FEATURE_address:
    case FEATURE_url:
    case FEATURE_attachment:
        return true;
    case FEATURE_network:
        return is_common_length(k->text);
    default:
        return false;
    }
}

static void add(struct journal_message *m, uint64_t key)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->key[i] == key) {
            return;
        }
    }
    if (m->n < JOURNAL_KEYS) {
        m->key[m->n++] = key;
    }
}

static uint64_t key_of(const struct hashkey *key, uint16_t class_type,
                       struct slice text)
{
    struct digest d;
    digest_make(key, class_type, text, &d);
    return journal_key(&d);
}

size_t witness_gather(const struct featureset *features, size_t from,
                      const struct hashkey *key, struct arena *scratch,
                      struct journal_message *ret)
{
    struct feature_key keys[FEATURE_KEYS_MAX];
    const struct feature *net = featureset_first(features, FEATURE_client_net);
    size_t i = from;
    ret->network = net != NULL ? key_of(key, net->type, net->text) : 0;
    for (; i < featureset_count(features) && ret->n < JOURNAL_KEYS; i++) {
        size_t n = feature_keys(featureset_at(features, i), scratch, keys);
        for (size_t k = 0; k < n; k++) {
            if (is_kept(&keys[k])) {
                add(ret, key_of(key, keys[k].class_type, keys[k].text));
            }
        }
    }
    return i;
}
