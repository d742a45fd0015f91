#include "core/report/report_items.h"

#include "core/base/le.h"
#include "core/count/message.h"
#include "core/message/url/known_name.h"
#include "core/message/url/suffix.h"

/* Whether strangers share the host, or everybody links to it. */
static bool is_of_all(struct slice host)
{
    return host.n == 0 || known_name_is_below(host) || suffix_is_public(host);
}

static bool is_own_link(struct slice url)
{
    struct slice path = url;
    struct slice host = slice_cut(&path, '/');

    host = slice_cut(&host, ':');
    return path.n > 0 && !is_of_all(host);
}

enum report_proof report_proof(uint16_t type, struct slice value)
{
    switch (type) {
    case FEATURE_text_band:
        return REPORT_BAND;
    case FEATURE_url:
    case FEATURE_url_template:
        return is_own_link(value) ? REPORT_LINK : REPORT_NO_PROOF;
    case FEATURE_body:
    case FEATURE_text:
    case FEATURE_attachment:
        return REPORT_EXACT;
    default:
        return REPORT_NO_PROOF;
    }
}

bool report_may_revoke(uint16_t type)
{
    const struct feature_info *info = feature_info((enum feature_type)type);

    switch (type) {
    case FEATURE_url_exact:
    case FEATURE_url_template:
    case FEATURE_text_address:
    case FEATURE_phone:
    case FEATURE_wallet:
    case FEATURE_body:
    case FEATURE_attachment:
    case FEATURE_html_structure:
    case FEATURE_link_set:
    case FEATURE_text:
        return true;
    default:
        return info != NULL && (info->lookup == FEATURE_LOOKUP_URL ||
                                info->lookup == FEATURE_LOOKUP_ADDRESS);
    }
}

bool report_is_proved_by(uint16_t type)
{
    return report_may_revoke(type) || type == FEATURE_url_host ||
           type == FEATURE_url_domain;
}

uint64_t report_digest(const struct digest *d)
{
    return le_get(d->b, sizeof(uint64_t));
}

bool report_add_item(const struct report_naming *how, uint16_t type, struct slice value,
                     struct report *ret)
{
    const struct feature_info *info = feature_info((enum feature_type)type);
    struct digest digest[KEYRING_MAX];

    if (info == NULL || !info->counted || type == FEATURE_trait ||
        ret->nitems == REPORT_ITEMS_MAX) {
        return false;
    }
    count_digest(how->keys, how->config, type, value, digest);
    ret->items[ret->nitems++] =
        (struct report_item){.digest = report_digest(&digest[0]),
                             .type = type,
                             .proof = (uint8_t)report_proof(type, value)};
    return true;
}

/* "epoch.band.value", the first in hexadecimal. */
uint64_t report_epoch(struct slice band)
{
    uint64_t epoch = 0;

    (void)slice_to_u64(slice_cut(&band, '.'), 16, UINT64_MAX, &epoch);
    return epoch;
}

static uint64_t newest_epoch(const struct featureset *features)
{
    uint64_t newest = 0;

    for (size_t i = 0; i < featureset_count(features); i++) {
        const struct feature *f = featureset_at(features, i);
        uint64_t epoch = f->type == FEATURE_text_band ? report_epoch(f->text) : 0;
        newest = epoch > newest ? epoch : newest;
    }
    return newest;
}

void report_add_features(const struct report_naming *how,
                         const struct featureset *features, struct report *ret)
{
    uint64_t newest = newest_epoch(features);

    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < featureset_count(features); i++) {
            const struct feature *f = featureset_at(features, i);
            bool is_own = report_proof(f->type, f->text) != REPORT_NO_PROOF;
            if (is_own == (pass == 0) &&
                (f->type != FEATURE_text_band || report_epoch(f->text) == newest)) {
                (void)report_add_item(how, f->type, f->text, ret);
            }
        }
    }
}
