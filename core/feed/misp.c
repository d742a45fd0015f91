/*
 * misp - attributes of MISP: the JSON of events (as feeds and the API give them), the CSV
 * export, and hashes.csv of feeds.
 *
 * Listed are attributes that are for detection (to_ids), by their type. hashes.csv has MD5
 * sums of values, which no mail is asked for.
 */
#include "core/base/checksum.h"
#include "core/feed/parser_internal.h"

/* The class of each type of attribute. Of "a|b" the first half counts, or with is_second the
 * other. */
static const struct attribute {
    const char *type;
    uint16_t hint; /* FEATURE_NONE: a checksum that mail has not */
    bool is_second;
} attributes[] = {
    {"url", FEATURE_url, false},
    {"domain", FEATURE_domain, false},
    {"domain|ip", FEATURE_domain, false},
    {"hostname", FEATURE_host, false},
    {"hostname|port", FEATURE_host, false},
    {"ip-src", FEATURE_network, false},
    {"ip-dst", FEATURE_network, false},
    {"email", FEATURE_address, false},
    {"email-src", FEATURE_address, false},
    {"email-reply-to", FEATURE_address, false},
    {"sha256", FEATURE_attachment, false},
    {"filename|sha256", FEATURE_attachment, true},
    {"btc", FEATURE_wallet, false},
    {"phone-number", FEATURE_phone, false},
    {"md5", FEATURE_NONE, false},
    {"sha1", FEATURE_NONE, false},
    {"sha512", FEATURE_NONE, false},
    {"filename|md5", FEATURE_NONE, false},
    {"filename|sha1", FEATURE_NONE, false},
    {"malware-sample", FEATURE_NONE, false},
    {"ssdeep", FEATURE_NONE, false},
    {"imphash", FEATURE_NONE, false},
};

static const struct attribute *attribute_of(struct slice type)
{
    for (size_t i = 0; i < LENGTH(attributes); i++) {
        if (slice_eq(type, slice_str(attributes[i].type))) {
            return &attributes[i];
        }
    }
    return NULL;
}

bool feed_place_misp(const struct feed_json_path *path)
{
    static const char *const keys[] = {"response", "Event", "Object", "Attribute"};
    enum { KEYS = LENGTH(keys) };
    unsigned n = path->depth;

    if (n < 2 || path->level[n - 1].open != '[' ||
        !feed_path_is(path, n - 1, "Attribute")) {
        return false;
    }
    for (unsigned i = 1; i < n; i++) { /* not those of other events that it names */
        unsigned k = 0;
        while (k < KEYS && !feed_path_is(path, i, keys[k])) {
            k++;
        }
        if (path->level[i - 1].open == '{' && k == KEYS) {
            return false;
        }
    }
    return true;
}

static bool is_true(struct slice s)
{
    return slice_eq_nocase(s, SLICE_LIT("true")) || slice_eq(s, SLICE_LIT("1"));
}

void feed_fields_misp(struct feed *f, struct feed_fields *r)
{
    struct slice first = feed_field(r, "first_seen");
    if (first.n == 0) {
        first = feed_field(r, r->object != NULL ? "timestamp" : "date");
    }
    struct feed_times times = {.first_seen_s = feed_time(first)};
    const struct attribute *a = attribute_of(feed_field(r, "type"));
    struct slice value = feed_field(r, "value");

    if (is_true(feed_field(r, "deleted"))) {
        feed_unused(f, FEED_UNUSED_revoked);
    } else if (!is_true(feed_field(r, "to_ids"))) {
        feed_unused(f, FEED_UNUSED_doubtful);
    } else if (a == NULL) {
        feed_unused(f, FEED_UNUSED_other);
    } else if (a->hint == FEATURE_NONE) {
        feed_unused(f, FEED_UNUSED_checksum);
    } else {
        struct slice half = value;
        if (a->hint != FEATURE_url) {
            half = slice_cut(&value, '|');
        }
        feed_emit_timed(f, a->is_second ? value : half, a->hint, &times);
    }
}

void feed_line_misp(struct feed *f, struct slice line)
{
    struct slice rest = line;
    struct slice sum = slice_cut(&rest, ',');

    if (!f->csv.is_ready && sum.n == MD5_HEX && feed_is_hex(sum)) {
        feed_unused(f, FEED_UNUSED_checksum);
    } else {
        feed_line_csv(f, line);
    }
}
