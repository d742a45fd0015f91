/*
 * feed_safebrowsing - hash lists of Safe Browsing: a text of hexadecimal or base64 hashes, or the
 * JSON of the Update API (versions 4 and 5).
 *
 * Entries are whole hashes of URL expressions. Most entries of such lists are prefixes of hashes;
 * these are left out, because each hit of one would need a query to the provider (ADR 0041).
 */
#include "core/base/base64.h"
#include "core/base/checksum.h"
#include "core/base/hash256.h"
#include "core/feed/parser_internal.h"

enum { PREFIX_MIN = 4, PREFIX_HEX_MIN = 8, BASE64_QUAD = 4, BASE64_BYTES = 3 };

struct base64 {
    struct slice rest;
    uint32_t bits;
    unsigned nbits;
};

/* The next n bytes; false: fewer are left, or a digit is none. */
static bool base64_take(struct base64 *b, uint8_t *ret, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        while (b->nbits < 8) {
            unsigned digit = b->rest.n == 0 ? BASE64_NONE : base64_digit(b->rest.p[0]);
            if (digit == BASE64_NONE) {
                return false;
            }
            b->rest = slice_from(b->rest, 1);
            b->bits = (b->bits << 6 | digit) & 0xffffff;
            b->nbits += 6;
        }
        b->nbits -= 8;
        ret[i] = (uint8_t)(b->bits >> b->nbits);
    }
    return true;
}

static void emit_hash(struct feed *f, const uint8_t hash[SHA256_BYTES])
{
    char hex[SHA256_HEX + 1];
    hex_print(hash, SHA256_BYTES, hex);
    feed_emit(f, slice_of(hex, SHA256_HEX), FEATURE_url_hash);
}

/* Whole hashes in base64, one behind the other. */
static void emit_base64(struct feed *f, struct slice text)
{
    struct base64 b = {.rest = text};
    uint8_t hash[SHA256_BYTES];
    bool has_any = false;

    while (base64_take(&b, hash, sizeof(hash)) && f->failed == ERR_OK) {
        has_any = true;
        emit_hash(f, hash);
    }
    while (b.rest.n > 0 && b.rest.p[0] == '=') {
        b.rest = slice_from(b.rest, 1);
    }
    if (!has_any || b.rest.n > 0) {
        feed_bad(f, "this is no hash of 32 bytes", text);
    }
}

void feed_line_safebrowsing(struct feed *f, struct slice line)
{
    struct slice text = feed_without_comment(line);

    if (text.n == 0) {
        feed_ignored(f);
    } else if (feed_is_hex(text) && text.n == SHA256_HEX) {
        feed_emit(f, text, FEATURE_url_hash);
    } else if (feed_is_hex(text) && text.n % 2 == 0 && text.n >= PREFIX_HEX_MIN &&
               text.n < SHA256_HEX) {
        feed_unused(f, FEED_UNUSED_prefix);
    } else {
        emit_base64(f, text);
    }
}

bool feed_place_safebrowsing(const struct feed_json_path *path)
{
    static const char *const keys[] = {"additions", "matches", "fullHashes",
                                       "hashLists"};
    unsigned n = path->depth;

    if (n < 2 || path->level[n - 1].open != '[') {
        return false;
    }
    for (size_t i = 0; i < LENGTH(keys); i++) {
        if (feed_path_is(path, n - 1, keys[i])) {
            return true;
        }
    }
    return false;
}

static void read_raw(struct feed *f, const json_t *raw)
{
    json_int_t size = json_integer_value(json_object_get(raw, "prefixSize"));
    const json_t *hashes = json_object_get(raw, "rawHashes");
    struct slice text = slice_of(json_string_value(hashes), json_string_length(hashes));

    if (size == SHA256_BYTES) {
        emit_base64(f, text);
    } else if (size >= PREFIX_MIN && size < SHA256_BYTES) {
        size_t n = text.n / BASE64_QUAD * BASE64_BYTES / (size_t)size;
        f->counts.unused[FEED_UNUSED_prefix] += n;
        f->counts.ignored += n > 0 ? n : 1;
    } else {
        feed_bad(f, "the size of its hashes is none", text);
    }
}

void feed_fields_safebrowsing(struct feed *f, struct feed_fields *r)
{
    const json_t *raw = json_object_get(r->object, "rawHashes");
    const json_t *details = json_object_get(r->object, "fullHashDetails");
    const json_t *threat = json_object_get(r->object, "threat");
    const json_t *attributes =
        json_object_get(json_array_get(details, 0), "attributes");
    struct slice kind = feed_field(r, "threatEntryType");
    struct slice hash = feed_field(r, "fullHash");

    if (hash.n == 0) {
        const json_t *text = json_object_get(threat, "hash");
        hash = slice_of(json_string_value(text), json_string_length(text));
    }
    if (json_is_object(raw)) {
        read_raw(f, raw);
    } else if (hash.n ==
               0) { /* a list in Rice coding: of beginnings, or of safe sites */
        feed_unused(f, FEED_UNUSED_prefix);
    } else if (kind.n > 0 && !slice_eq(kind, SLICE_LIT("URL"))) {
        feed_unused(f, FEED_UNUSED_other);
    } else if (json_array_size(attributes) > 0) { /* CANARY, FRAME_ONLY */
        feed_unused(f, FEED_UNUSED_doubtful);
    } else {
        emit_base64(f, hash);
    }
}
