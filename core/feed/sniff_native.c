/*
 * sniff_native - the form of which provider a table or JSON is in, by the names of its fields.
 */
#include "core/feed/parser_internal.h"

enum { NAMES_MAX = 2 };

struct native {
    enum feed_format format;
    const char *names[NAMES_MAX]; /* all of them must be there */
};

bool feed_looks_like_json(struct slice beginning)
{
    struct slice s = slice_trim(beginning);

    if (s.n == 0 || (s.p[0] != '{' && s.p[0] != '[')) {
        return false;
    }
    struct slice rest = slice_trim(slice_from(s, 1));
    if (rest.n == 0) {
        return true;
    }
    return s.p[0] == '{' ? rest.p[0] == '"' || rest.p[0] == '}'
                         : rest.p[0] == '{' || rest.p[0] == ']';
}

enum feed_format feed_sniff_columns(struct slice header, char separator)
{
    static const struct native natives[] = {
        {FEED_PHISHTANK, {"phish_id", "url"}},
        {FEED_URLHAUS, {"urlhaus_link", "url"}},
        {FEED_THREATFOX, {"ioc_value", "ioc_type"}},
        {FEED_MALWAREBAZAAR, {"sha256_hash", "first_seen_utc"}},
        {FEED_MISP, {"to_ids", "value"}},
    };
    for (size_t i = 0; i < LENGTH(natives); i++) {
        unsigned found = 0;
        struct slice rest = header;
        struct slice field;
        while (separator != '\0' && feed_csv_field(&rest, separator, &field)) {
            field = slice_trim(field);
            if (field.n >= 2 && field.p[0] == '"') {
                field = slice_of(field.p + 1, field.n - 2);
            }
            for (size_t k = 0; k < NAMES_MAX; k++) {
                found |= slice_eq(field, slice_str(natives[i].names[k])) ? 1U << k : 0;
            }
        }
        if (found == (1U << NAMES_MAX) - 1) {
            return natives[i].format;
        }
    }
    return FEED_CSV;
}

enum feed_format feed_sniff_json(struct slice beginning)
{
    static const struct native natives[] = {
        {FEED_PHISHTANK, {"\"phish_id\"", "\"url\""}},
        {FEED_URLHAUS, {"\"urlhaus_", "\"url\""}},
        {FEED_THREATFOX, {"\"ioc", "\"ioc_type\""}},
        {FEED_MALWAREBAZAAR, {"\"sha256_hash\"", "\"first_seen\""}},
        {FEED_DROP, {"\"cidr\"", "\"sblid\""}},
        {FEED_SAFEBROWSING, {"\"listUpdateResponses\"", "\"additions\""}},
        {FEED_SAFEBROWSING, {"\"matches\"", "\"threatType\""}},
        {FEED_SAFEBROWSING, {"\"fullHashes\"", "\"fullHash\""}},
        {FEED_SAFEBROWSING, {"\"hashLists\"", "\"version\""}},
        {FEED_MISP, {"\"Attribute\"", "\"to_ids\""}},
        {FEED_STIX, {"\"objects\"", "\"spec_version\""}},
        {FEED_STIX, {"\"objects\"", "\"indicator\""}},
    };
    for (size_t i = 0; i < LENGTH(natives); i++) {
        size_t k = 0;
        while (k < NAMES_MAX &&
               slice_find_slice(beginning, slice_str(natives[i].names[k])) <
                   beginning.n) {
            k++;
        }
        if (k == NAMES_MAX) {
            return natives[i].format;
        }
    }
    return FEED_AUTO;
}
