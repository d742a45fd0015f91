/*
 * rbldnsd - zone files of the DNS list server rbldnsd, as SURBL and others give them by rsync.
 *
 * Entries of ip4set, ip4tset, ip4trie, ip6tset, ip6trie and dnset, alone or behind $DATASET; other
 * datasets are left out. Exclusions ("!") make no entry, and the entry above them stays listed;
 * `gillnet allow` can exempt them. Values (":127.0.0.2:text") are dropped; entries with the value
 * of a server error (127.255.255.0/24) are left out.
 * Source: rbldnsd(8), "Zone file formats".
 */

#include "core/feed/parser_internal.h"
#include "core/message/url/host.h"

enum { IP4_TEXT = 20 };

/* A value ":A:text" or ":text": whether the A says "over quota", "open resolver" and so on. */
static bool is_error_value(struct slice value)
{
    struct slice rest = slice_from(value, 1);
    return slice_has_prefix(rest, SLICE_LIT("127.255.255."));
}

static void directive(struct feed *f, struct slice line)
{
    static const char *const known[] = {"ip4set",  "ip4tset", "ip4trie", "ip6tset",
                                        "ip6trie", "dnset",   "dnhash",  "combined"};
    struct slice rest = line;
    struct slice word = feed_word(&rest);

    feed_ignored(f);
    if (slice_eq_nocase(word, SLICE_LIT("$TIMESTAMP"))) {
        f->counts.made_s = feed_time(feed_word(&rest));
        return;
    }
    if (!slice_eq_nocase(word, SLICE_LIT("$DATASET"))) {
        return;
    }
    struct slice type = feed_word(&rest);
    type = slice_head(type, slice_find(type, ':'));
    f->rbldnsd.is_other = !feed_is_word_of(type, known, LENGTH(known));
    f->rbldnsd.is_error = false;
}

/* "192.0" -> 192.0.0.0 to 192.0.255.255. Returns how many numbers there are; 0: another form. */
static unsigned ip4_range_of(struct slice text, uint32_t *retfirst, uint32_t *retlast)
{
    uint32_t v = 0;
    unsigned n = 0;

    while (text.p != NULL) {
        struct slice part = slice_cut(&text, '.');
        uint32_t octet = 0;
        for (size_t i = 0; i < part.n; i++) {
            if (part.p[i] < '0' || part.p[i] > '9' || octet > 255) {
                return 0;
            }
            octet = octet * 10 + (uint32_t)(part.p[i] - '0');
        }
        if (part.n == 0 || octet > 255 || n == 4) {
            return 0;
        }
        v = v << 8 | octet;
        n++;
    }
    unsigned rest = 8 * (4 - n);
    *retfirst = n == 0 ? 0 : (uint32_t)((uint64_t)v << rest);
    *retlast = *retfirst | (uint32_t)((UINT64_C(1) << rest) - 1);
    return n;
}

/* The networks that make up a range: at most 62. */
static void emit_range(struct feed *f, uint32_t first, uint32_t last)
{
    uint64_t at = first;

    while (at <= last && f->failed == ERR_OK) {
        unsigned bits = 0;
        while (bits < 32 && (at & ((UINT64_C(2) << bits) - 1)) == 0 &&
               at + (UINT64_C(2) << bits) - 1 <= last) {
            bits++;
        }
        char text[IP4_TEXT];
        (void)snprintf(text, sizeof(text), "%u.%u.%u.%u/%u", (unsigned)(at >> 24) & 255,
                       (unsigned)(at >> 16) & 255, (unsigned)(at >> 8) & 255,
                       (unsigned)at & 255, 32 - bits);
        feed_emit(f, slice_str(text), FEATURE_network);
        at += UINT64_C(1) << bits;
    }
}

/* "192.0.2.1-192.0.2.9", "192.0.2.1-9", "192.0.2"; false: another form. */
static bool ip4_entry(struct feed *f, struct slice word)
{
    struct slice rest = word;
    struct slice from = slice_cut(&rest, '-');
    uint32_t first;
    uint32_t first_end;
    uint32_t last;
    uint32_t last_end;

    if (ip4_range_of(from, &first, &first_end) < 2) {
        return false; /* a single number would be a whole /8 */
    }
    if (rest.p == NULL) {
        emit_range(f, first, first_end);
        return true;
    }
    unsigned n = ip4_range_of(rest, &last, &last_end);
    if (n == 0) {
        return false;
    }
    if (n == 1) {
        /* "192.0.2.1-9": the last number alone */
        uint32_t step = first_end - first + 1;
        uint32_t base = first / step & ~UINT32_C(255);
        last_end = (base | last >> 24) * step + (step - 1);
    }
    if (last_end < first) {
        feed_bad(f, "the range ends before it begins", word);
    } else {
        emit_range(f, first, last_end);
    }
    return true;
}

static void name_entry(struct feed *f, struct slice word)
{
    if (slice_has_prefix(word, SLICE_LIT("*."))) {
        feed_emit(f, slice_from(word, 2), FEATURE_domain);
    } else if (word.n > 1 && word.p[0] == '.') {
        feed_emit(f, slice_from(word, 1), FEATURE_domain);
    } else {
        feed_emit(f, word, FEATURE_host);
    }
}

/* Cuts the value behind an entry: after white space or at a ':' that no IPv6 address has. */
static struct slice cut_value(struct slice *entry)
{
    struct slice rest = *entry;
    struct slice word = feed_word(&rest);
    struct slice value = slice_trim(rest);
    uint8_t addr[16];

    size_t colon = slice_find(word, ':');
    if (colon < word.n &&
        !host_ip_parse(slice_head(word, slice_find(word, '/')), addr)) {
        value = slice_from(word, colon);
        word = slice_head(word, colon);
    }
    *entry = word;
    return value;
}

void feed_line_rbldnsd(struct feed *f, struct slice line)
{
    struct slice text = slice_trim(line);
    uint8_t addr[16];

    if (text.n == 0 || text.p[0] == '#' || text.p[0] == ';') {
        feed_ignored(f);
        return;
    }
    if (text.p[0] == '$') {
        directive(f, text);
        return;
    }
    if (f->rbldnsd.is_other) {
        feed_unused(f, FEED_UNUSED_other);
        return;
    }
    if (text.p[0] == ':' && !slice_has_prefix(text, SLICE_LIT("::"))) {
        f->rbldnsd.is_error = is_error_value(text); /* of the entries that follow */
        feed_ignored(f);
        return;
    }
    if (text.p[0] == '!') {
        feed_unused(f, FEED_UNUSED_revoked);
        return;
    }
    struct slice value = cut_value(&text);
    if (value.n > 0 && value.p[0] == ':' ? is_error_value(value)
                                         : f->rbldnsd.is_error) {
        feed_unused(f, FEED_UNUSED_doubtful);
    } else if (slice_find(text, '/') < text.n || host_ip_parse(text, addr)) {
        feed_emit(f, text, FEATURE_network);
    } else if (!ip4_entry(f, text)) {
        name_entry(f, text);
    }
}
