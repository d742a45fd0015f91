/*
 * parse_words - small readings that the formats share.
 */

#include "core/feed/parser_internal.h"
#include "core/message/url/host.h"

static bool is_word_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

struct slice feed_word(struct slice *s)
{
    size_t i = 0;
    while (i < s->n && is_word_space(s->p[i])) {
        i++;
    }
    size_t start = i;
    while (i < s->n && !is_word_space(s->p[i])) {
        i++;
    }
    struct slice word = slice_of(s->n == 0 ? NULL : s->p + start, i - start);
    *s = slice_from(*s, i);
    return word;
}

struct slice feed_without_comment(struct slice line)
{
    const char *p = line.n == 0 ? NULL : memchr(line.p, '#', line.n);
    while (p != NULL) {
        size_t i = (size_t)(p - line.p);
        if (i == 0 || is_word_space(line.p[i - 1])) {
            line.n = i;
            break;
        }
        p = memchr(p + 1, '#', line.n - i - 1);
    }
    return slice_trim(line);
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '.' || c == '_' || (unsigned char)c >= 0x80;
}

bool feed_looks_like_name(struct slice word)
{
    bool has_dot = false;
    if (slice_has_prefix(word, SLICE_LIT("*."))) {
        word = slice_from(word, 2);
    }
    for (size_t i = 0; i < word.n; i++) {
        if (!is_name_byte(word.p[i])) {
            return false;
        }
        has_dot = has_dot || (word.p[i] == '.' && i > 0 && i + 1 < word.n);
    }
    return has_dot;
}

bool feed_is_word_of(struct slice word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (slice_eq_nocase(word, slice_str(words[i]))) {
            return true;
        }
    }
    return false;
}

bool feed_is_hex(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (hex_digit_value(s.p[i]) < 0) {
            return false;
        }
    }
    return true;
}

static bool is_ip(struct slice word)
{
    uint8_t addr[16];
    return host_ip_parse(word, addr);
}

bool feed_looks_like_entry(struct slice word)
{
    for (size_t i = 0; i < word.n; i++) {
        if (is_word_space(word.p[i]) || (i == 0 && word.p[i] == '"') ||
            word.p[i] == '<') {
            return false;
        }
    }
    if (feed_looks_like_name(word) || (word.n == 64 && feed_is_hex(word))) {
        return true;
    }
    struct slice s = word;
    size_t scheme = slice_find_slice(s, SLICE_LIT("://"));
    if (scheme < s.n) {
        return scheme > 0 && scheme < 8;
    }
    struct slice before_slash = slice_head(s, slice_find(s, '/'));
    if (is_ip(before_slash)) {
        return true;
    }
    size_t at = slice_find(s, '@');
    if (at < s.n) {
        return at > 0 && feed_looks_like_name(slice_from(s, at + 1));
    }
    struct slice before_colon = slice_head(before_slash, slice_find(before_slash, ':'));
    return feed_looks_like_name(before_colon) ||
           (before_colon.n < before_slash.n &&
            feature_info_by_name(before_colon) != NULL);
}

bool feed_is_sink(struct slice word)
{
    static const uint8_t zero[15];
    uint8_t addr[16];
    if (!host_ip_parse(word, addr)) {
        return false;
    }
    if (host_ip_is_v4(addr)) {
        return addr[12] == 0 || addr[12] == 127;
    }
    return memcmp(addr, zero, sizeof(zero)) == 0 && addr[15] <= 1;
}

unsigned feed_column_rank(struct slice name, uint16_t *rethint)
{
    static const struct {
        const char *name;
        uint16_t hint;
    } columns[] = {
        {"url", FEATURE_url},          {"uri", FEATURE_url},
        {"link", FEATURE_url},         {"domain", FEATURE_NONE},
        {"domain_name", FEATURE_NONE}, {"hostname", FEATURE_NONE},
        {"host", FEATURE_NONE},        {"fqdn", FEATURE_NONE},
        {"ip", FEATURE_NONE},          {"ip_address", FEATURE_NONE},
        {"dst_ip", FEATURE_NONE},      {"src_ip", FEATURE_NONE},
        {"network", FEATURE_NONE},     {"cidr", FEATURE_NONE},
        {"email", FEATURE_NONE},       {"address", FEATURE_NONE},
        {"sha256_hash", FEATURE_NONE}, {"sha256", FEATURE_NONE},
        {"ioc_value", FEATURE_NONE},   {"ioc", FEATURE_NONE},
        {"indicator", FEATURE_NONE},   {"value", FEATURE_NONE},
        {"entry", FEATURE_NONE},
    };
    for (size_t i = 0; i < LENGTH(columns); i++) {
        if (slice_eq_nocase(name, slice_str(columns[i].name))) {
            *rethint = columns[i].hint;
            return (unsigned)i + 1;
        }
    }
    return 0;
}

char feed_csv_separator(struct slice line)
{
    static const char separators[] = {',', ';', '\t'};
    size_t counts[sizeof(separators)] = {0};
    bool is_quoted = false;

    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '"') {
            is_quoted = !is_quoted;
        }
        for (size_t k = 0; !is_quoted && k < sizeof(separators); k++) {
            counts[k] += line.p[i] == separators[k];
        }
    }
    size_t best = 0;
    for (size_t k = 1; k < sizeof(separators); k++) {
        if (counts[k] > counts[best]) {
            best = k;
        }
    }
    if (counts[best] == 0) {
        return '\0';
    }
    return separators[best];
}

bool feed_csv_field(struct slice *rest, char separator, struct slice *ret)
{
    size_t i = 0;

    if (rest->p == NULL) {
        return false;
    }
    while (i < rest->n && rest->p[i] == ' ' && separator != ' ') {
        i++; /* abuse.ch writes ", " */
    }
    if (i < rest->n && rest->p[i] == '"') {
        for (i++; i < rest->n; i++) {
            if (rest->p[i] != '"') {
                continue;
            }
            if (i + 1 >= rest->n || rest->p[i + 1] != '"') {
                break;
            }
            i++; /* a doubled quote */
        }
    }
    while (i < rest->n && rest->p[i] != separator) {
        i++;
    }
    *ret = slice_of(rest->p, i);
    *rest = i < rest->n ? slice_of(rest->p + i + 1, rest->n - i - 1) : SLICE_NONE;
    return true;
}

bool feed_csv_is_word_row(struct slice text, char separator)
{
    struct slice field;
    size_t n = 0;

    while (separator != '\0' && feed_csv_field(&text, separator, &field)) {
        struct slice rest = slice_trim(field);
        struct slice word = feed_word(&rest);
        if (word.n == 0 || rest.n > 0) {
            return false;
        }
        n++;
    }
    return n > 1;
}
