/* ham_keys - the keys of a good message that gillnet remembers. */
#include "core/message/feature/ham_keys.h"

#include "core/base/uninitialized.h"
#include "core/message/feature/list_keys.h"
#include "core/message/feature/network.h"
#include "core/message/url/host.h"

/* Classes of entries whose keys are remembered; of networks, those that feeds list. */
static const uint16_t kept[] = {FEATURE_domain, FEATURE_host, FEATURE_address,
                                FEATURE_url, FEATURE_attachment};

static void add(struct ham_log_message *m, uint64_t key)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->key[i] == key) {
            return;
        }
    }
    if (m->n < HAM_LOG_KEYS) {
        m->key[m->n++] = key;
    }
}

static uint64_t key_of(const struct hashkey *key, uint16_t class_type,
                       struct slice text)
{
    struct digest d;
    digest_make(key, class_type, text, &d);
    return ham_log_key(&d);
}

/* The address itself, and the networks round it of the lengths that feeds list. */
static void add_networks(struct ham_log_message *m, const struct hashkey *key,
                         struct arena *scratch, const uint8_t addr[16])
{
    static const uint8_t v4[] = {32, 24};
    static const uint8_t v6[] = {128, 64, 48};
    bool is_v4 = host_ip_is_v4(addr);
    const uint8_t *length = is_v4 ? v4 : v6;
    for (size_t i = 0; i < (is_v4 ? sizeof(v4) : sizeof(v6)); i++) {
        struct slice text = feature_network_text(scratch, addr, length[i]);
        if (text.n > 0) {
            add(m, key_of(key, FEATURE_network, text));
        }
    }
}

static bool is_address(const struct feature_info *info)
{
    return info->lookup == FEATURE_LOOKUP_IP || info->lookup == FEATURE_LOOKUP_HOST;
}

size_t ham_keys_gather(const struct featureset *features, size_t from,
                       const struct hashkey *key, struct arena *scratch,
                       struct ham_log_message *ret)
{
    struct feature_key keys[FEATURE_KEYS_MAX] UNINITIALIZED;
    struct feature_classes classes = {{0}};
    uint8_t addr[16];
    const struct feature *net = featureset_first(features, FEATURE_client_net);
    size_t i = from;
    for (size_t k = 0; k < LENGTH(kept); k++) {
        feature_classes_add(&classes, kept[k]);
    }
    ret->network = net != NULL ? key_of(key, net->type, net->text) : 0;
    for (; i < featureset_count(features) && ret->n < HAM_LOG_KEYS; i++) {
        const struct feature_info *info =
            feature_info((enum feature_type)featureset_at(features, i)->type);
        if (info == NULL || !info->counted) {
            continue; /* seen in good mail, it would not be a link there either */
        }
        struct slice text = featureset_at(features, i)->text;
        if (is_address(info) && host_ip_parse(text, addr)) {
            add_networks(ret, key, scratch, addr);
            continue;
        }
        size_t n = feature_keys(featureset_at(features, i), &classes, scratch, keys);
        for (size_t k = 0; k < n; k++) {
            add(ret, key_of(key, keys[k].class_type, keys[k].text));
        }
    }
    return i;
}
