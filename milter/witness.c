#include "milter/witness.h"

#include "core/base/clock.h"
#include "core/feature/lookup.h"

enum { SCRATCH_BYTES = 256 * 1024, US_PER_S = 1000000 };

/* Constant while messages are examined. */
static struct {
    struct journal *journal;
    const struct hashkey *key;
} witness;

void witness_use(struct journal *j, const struct hashkey *key)
{
    witness.journal = j;
    witness.key = key;
}

/* Nothing spoke against it. */
static bool is_good(const struct verdict *v)
{
    for (size_t i = 0; i < v->nsymbols; i++) {
        if (v->symbols[i].score > 0) {
            return false;
        }
    }
    return v->action == ACTION_ACCEPT;
}

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

static uint64_t key_of(uint16_t class_type, struct slice text)
{
    struct digest d;
    digest_make(witness.key, class_type, text, &d);
    return journal_key(&d);
}

static void gather(const struct featureset *features, struct arena *scratch,
                   struct journal_message *ret)
{
    struct feature_key keys[FEATURE_KEYS_MAX];
    for (size_t i = 0; i < featureset_count(features) && ret->n < JOURNAL_KEYS; i++) {
        size_t n = feature_keys(featureset_at(features, i), scratch, keys);
        for (size_t k = 0; k < n; k++) {
            if (is_kept(&keys[k])) {
                add(ret, key_of(keys[k].class_type, keys[k].text));
            }
        }
    }
}

void witness_message(const struct featureset *features, const struct verdict *v)
{
    if (!witness.journal || !journal_wants(witness.journal, clock_mono_us())) {
        return;
    }
    struct arena *scratch = arena_new(SCRATCH_BYTES);
    if (!scratch) {
        return;
    }
    const struct feature *net = featureset_first(features, FEATURE_client_net);
    struct journal_message m = {.time_s = (uint32_t)(clock_wall_us() / US_PER_S),
                                .is_good = is_good(v),
                                .network = net ? key_of(net->type, net->text) : 0};
    gather(features, scratch, &m);
    journal_add(witness.journal, &m);
    arena_free(&scratch);
}
