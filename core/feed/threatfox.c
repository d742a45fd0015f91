/*
 * threatfox - the exports of abuse.ch ThreatFox: CSV with the header as a comment, or JSON.
 *
 * ip:port is a URL of that server and port, not the address: others may share it. Indicators
 * whose reporter himself gave less than half of his confidence are left out.
 */
#include "core/feed/parser_internal.h"

enum { CONFIDENCE_MIN = 50 };

/* "75" -> 75; without the field the indicator counts. */
static unsigned confidence_of(struct slice text)
{
    unsigned v = 0;
    for (size_t i = 0; i < text.n && i < 3; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return 0;
        }
        v = v * 10 + (unsigned)(text.p[i] - '0');
    }
    return text.n == 0 ? CONFIDENCE_MIN : v;
}

void feed_fields_threatfox(struct feed *f, struct feed_fields *r)
{
    static const struct {
        const char *type;
        uint16_t hint;
    } types[] = {
        {"url", FEATURE_url},
        {"domain", FEATURE_domain},
        {"ip:port", FEATURE_url},
        {"sha256_hash", FEATURE_attachment},
        {"envelope_from", FEATURE_address},
        {"body_from", FEATURE_address},
    };
    struct slice type = feed_field(r, "ioc_type");
    struct slice value = feed_field(r, "ioc_value");
    struct slice first = feed_field(r, "first_seen_utc");
    if (value.n == 0) { /* as the API names it */
        value = feed_field(r, "ioc");
    }
    if (first.n == 0) {
        first = feed_field(r, "first_seen");
    }
    struct feed_times times = {.first_seen_s = feed_time(first)};

    if (confidence_of(feed_field(r, "confidence_level")) < CONFIDENCE_MIN) {
        feed_unused(f, FEED_UNUSED_doubtful);
        return;
    }
    for (size_t i = 0; i < LENGTH(types); i++) {
        if (slice_eq(type, slice_str(types[i].type))) {
            feed_emit_timed(f, value, types[i].hint, &times);
            return;
        }
    }
    bool is_sum = slice_find_slice(type, SLICE_LIT("_hash")) < type.n;
    feed_unused(f, is_sum ? FEED_UNUSED_checksum : FEED_UNUSED_other);
}
