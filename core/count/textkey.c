/* textkey - read from its end, because a prefix may contain what stands between the parts. */
#include "core/count/textkey.h"

#include "core/base/hash256.h"

enum { NUMBER_DIGITS = 12, TYPE_DIGITS = 5, BUCKET_S = 600, DAY_S = 86400 };

static const char *const period_names[] = {[TEXTKEY_10M] = "10m", [TEXTKEY_1D] = "1d"};

static enum err wrong(struct errinfo *reterr, enum err code, const char *why)
{
    return errinfo_set(reterr, code, "text key", 0, "%s", why);
}

/* Takes the part behind the last underscore off text; all of it where there is none. */
static struct slice take_last(struct slice *text)
{
    const char *at = text->n > 0 ? memrchr(text->p, '_', text->n) : NULL;
    struct slice part = *text;

    *text = SLICE_NONE;
    if (at != NULL) {
        *text = slice_of(part.p, (size_t)(at - part.p));
        part = slice_from(part, text->n + 1);
    }
    return part;
}

/* False: no digits, too many, or a zero in front. */
static bool read_decimal(struct slice s, size_t most, uint64_t *ret)
{
    return s.n <= most && (s.n == 1 || (s.n > 1 && s.p[0] != '0')) &&
           slice_to_u64(s, 10, UINT64_MAX, ret);
}

static bool read_digest(struct slice s, struct textkey *key)
{
    key->digest_bytes = (unsigned)(s.n / 2);
    return (s.n == (size_t)2 * DIGEST_BYTES || s.n == (size_t)2 * TEXTKEY_HALF_BYTES) &&
           hex_parse_lower(s, key->digest.b, key->digest_bytes);
}

static bool read_period(struct slice s, struct textkey *key)
{
    int i = name_index(s, period_names, LENGTH(period_names));

    key->period = (enum textkey_period)(i < 0 ? 0 : i);
    return i >= 0;
}

static bool is_prefix(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_')) {
            return false;
        }
    }
    return s.n <= TEXTKEY_PREFIX_MAX;
}

static bool is_in_time(const struct textkey *key)
{
    return key->number < TEXTKEY_END_S / textkey_period_s(key->period);
}

enum err textkey_parse(struct slice text, struct textkey *ret, struct errinfo *reterr)
{
    struct textkey key = {.number = 0};
    uint64_t type = 0;

    if (text.n >= TEXTKEY_MAX) {
        return wrong(reterr, ERR_SYNTAX, "longer than any text key");
    }
    if (!read_decimal(take_last(&text), NUMBER_DIGITS, &key.number)) {
        return wrong(reterr, ERR_SYNTAX,
                     "behind the last underscore stands the number of the period");
    }
    if (!read_period(take_last(&text), &key)) {
        return wrong(reterr, ERR_SYNTAX, "the period before the number is 10m or 1d");
    }
    if (!read_decimal(take_last(&text), TYPE_DIGITS, &type)) {
        return wrong(reterr, ERR_SYNTAX,
                     "before the period stands the type's number, 0 to 65535");
    }
    if (type > UINT16_MAX || !is_in_time(&key)) {
        return wrong(reterr, ERR_RANGE,
                     "types end at 65535, periods before the year 10000");
    }
    bool has_prefix = memchr(text.p != NULL ? text.p : "", '_', text.n) != NULL;
    if (!read_digest(take_last(&text), &key)) {
        return wrong(reterr, ERR_SYNTAX,
                     "before the type stand 32 or 16 hex digits, lower case");
    }
    if (!is_prefix(text) || (has_prefix && text.n == 0)) {
        return wrong(reterr, ERR_SYNTAX,
                     "a prefix has up to 64 letters, digits, '-', '.' and '_'");
    }
    key.prefix = text;
    key.type = (uint16_t)type;
    *ret = key;
    return ERR_OK;
}

enum err textkey_print(const struct textkey *key, char ret[TEXTKEY_MAX])
{
    char hex[2 * DIGEST_BYTES + 1];

    if (!is_prefix(key->prefix) || (key->digest_bytes != DIGEST_BYTES &&
                                    key->digest_bytes != TEXTKEY_HALF_BYTES)) {
        return ERR_SYNTAX;
    }
    if (!is_in_time(key)) {
        return ERR_RANGE;
    }
    hex_print(key->digest.b, key->digest_bytes, hex);
    (void)snprintf(ret, TEXTKEY_MAX, "%.*s%s%s_%u_%s_%" PRIu64, (int)key->prefix.n,
                   key->prefix.n > 0 ? key->prefix.p : "", key->prefix.n > 0 ? "_" : "",
                   hex, key->type, period_names[key->period], key->number);
    return ERR_OK;
}

uint64_t textkey_period_s(enum textkey_period period)
{
    return period == TEXTKEY_10M ? BUCKET_S : DAY_S;
}

uint64_t textkey_begin_s(const struct textkey *key)
{
    return key->number * textkey_period_s(key->period);
}

uint64_t textkey_key64(const struct textkey *key)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < TEXTKEY_HALF_BYTES; i++) {
        v = v << 8 | key->digest.b[i];
    }
    return v != 0 ? v : 1;
}
