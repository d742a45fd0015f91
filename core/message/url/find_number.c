/* find_number - looks at each run of letters and digits, and at what begins with + or 00. */
#include "core/message/url/find_number.h"

#include "core/base/checksum.h"
#include "core/message/text/ascii.h"
#include "core/message/text/simd16.h"

enum {
    BASE58_MIN = 26,
    BASE58_MAX = 35,
    BASE58_BYTES = 25, /* version, hash, checksum */
    BASE58_HASHED = 21,
    BECH32_MIN = 14,
    BECH32_SUM = 6,
    NANP_DIGITS = 10
};

struct scan {
    struct slice text;
    find_number_fn *on_number;
    void *context;
};

static void report_number(const struct scan *s, enum find_number_kind kind,
                          struct slice text, size_t from, size_t to)
{
    struct find_number number = {
        .kind = kind, .text = text, .raw = slice_of(s->text.p + from, to - from)};

    s->on_number(s->context, &number);
}

static bool is_word_at(struct slice text, size_t i)
{
    return i < text.n &&
           (ASCII_IS(text.p[i], ASCII_ALPHA | ASCII_DIGIT) || text.p[i] == '_');
}

static bool is_digit(struct slice text, size_t i)
{
    return i < text.n && ASCII_IS(text.p[i], ASCII_DIGIT);
}

/* SHA-256 of bytes; false when there is no memory for it. */
static bool sha256_of(struct slice bytes, char ret[SHA256_BYTES])
{
    struct sha256 sum;
    char hex[SHA256_HEX + 1];
    size_t i = 0;

    if (sha256_init(&sum) != ERR_OK) {
        return false;
    }
    sha256_add(&sum, bytes);
    sha256_final_hex(&sum, hex);
    for (i = 0; i < SHA256_BYTES; i++) {
        ret[i] = (char)((ascii_hex[(unsigned char)hex[2 * i]] << 4) |
                        ascii_hex[(unsigned char)hex[2 * i + 1]]);
    }
    return true;
}

/* The 25 bytes that text stands for in base58; false when it does not. */
static bool base58_decode(struct slice text, char ret[BASE58_BYTES])
{
    static const char digits[] =
        "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    uint8_t number[BASE58_BYTES] = {0}; /* big-endian */
    size_t zeros = 0;
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        const char *digit = text.p[i] == '\0' ? NULL : strchr(digits, text.p[i]);
        uint32_t carry = 0;
        size_t k = BASE58_BYTES;

        if (digit == NULL) {
            return false;
        }
        carry = (uint32_t)(digit - digits);
        while (k-- > 0) {
            carry += 58U * number[k];
            number[k] = (uint8_t)(carry & 0xff);
            carry >>= 8;
        }
        if (carry != 0) {
            return false;
        }
    }
    /* as many zero bytes in front as there are ones: one way to write each wallet */
    while (zeros < text.n && text.p[zeros] == '1') {
        zeros++;
    }
    for (i = 0; i < BASE58_BYTES && number[i] == 0; i++) {
    }
    memcpy(ret, number, BASE58_BYTES);
    return i == zeros;
}

static bool is_base58_wallet(struct slice text)
{
    char bytes[BASE58_BYTES];
    char first[SHA256_BYTES];
    char second[SHA256_BYTES];

    return text.n >= BASE58_MIN && text.n <= BASE58_MAX && base58_decode(text, bytes) &&
           sha256_of(slice_of(bytes, BASE58_HASHED), first) &&
           sha256_of(slice_of(first, SHA256_BYTES), second) &&
           memcmp(second, bytes + BASE58_HASHED, BASE58_BYTES - BASE58_HASHED) == 0;
}

static uint32_t bech32_step(uint32_t sum, uint32_t value)
{
    static const uint32_t generator[] = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd,
                                         0x2a1462b3};
    uint32_t top = sum >> 25;
    size_t i = 0;

    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (i = 0; i < 5; i++) {
        sum ^= ((top >> i) & 1) != 0 ? generator[i] : 0;
    }
    return sum;
}

/* text in lower case, prefix: bytes before the "1". */
static bool bech32_is_right(struct slice text, size_t prefix)
{
    static const char digits[] = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    const uint32_t bech32 = 1;
    const uint32_t bech32m = 0x2bc830a3;
    uint32_t sum = 1;
    size_t i = 0;

    for (i = 0; i < prefix; i++) {
        sum = bech32_step(sum, (unsigned char)text.p[i] >> 5);
    }
    sum = bech32_step(sum, 0);
    for (i = 0; i < prefix; i++) {
        sum = bech32_step(sum, (unsigned char)text.p[i] & 31);
    }
    for (i = prefix + 1; i < text.n; i++) {
        const char *digit = strchr(digits, text.p[i]);

        if (digit == NULL) {
            return false;
        }
        sum = bech32_step(sum, (uint32_t)(digit - digits));
    }
    return sum == bech32 || sum == bech32m;
}

/* The wallet in lower case; mixed case is none. */
static bool is_bech32_wallet(struct slice text, char lower[WALLET_BYTES_MAX])
{
    static const struct slice prefixes[] = {{"bc1", 3}, {"tb1", 3}, {"ltc1", 4}};
    bool has_small = false;
    bool has_large = false;
    size_t i = 0;

    if (text.n < BECH32_MIN || text.n > WALLET_BYTES_MAX) {
        return false;
    }
    for (i = 0; i < text.n; i++) {
        lower[i] = ASCII_LOWER(text.p[i]);
        has_small = has_small || (text.p[i] >= 'a' && text.p[i] <= 'z');
        has_large = has_large || lower[i] != text.p[i];
    }
    for (i = 0; i < LENGTH(prefixes); i++) {
        if (!(has_small && has_large) &&
            slice_has_prefix(slice_of(lower, text.n), prefixes[i])) {
            return bech32_is_right(slice_of(lower, text.n), prefixes[i].n - 1);
        }
    }
    return false;
}

static void at_word(const struct scan *s, size_t from, size_t to)
{
    struct slice text = slice_of(s->text.p + from, to - from);
    char lower[WALLET_BYTES_MAX];

    if (text.n < BECH32_MIN) {
        return;
    }
    if (is_base58_wallet(text)) {
        report_number(s, FIND_WALLET, text, from, to);
    } else if (is_bech32_wallet(text, lower)) {
        report_number(s, FIND_WALLET, slice_of(lower, text.n), from, to);
    }
}

struct digits {
    char text[1 + PHONE_DIGITS_MAX]; /* "+" and the digits */
    size_t n;
    size_t end; /* after the last digit */
    bool too_many;
};

static void add_digit(struct digits *d, char c)
{
    if (d->n == sizeof(d->text)) {
        d->too_many = true;
    } else {
        d->text[d->n++] = c;
    }
}

/* Length of a separator between two groups of digits at i, 0 if the number ends there. */
static size_t gap(struct slice text, size_t i)
{
    size_t n = 0;

    /* the trunk prefix that is not dialled from abroad */
    if (slice_has_prefix(slice_from(text, i), SLICE_LIT("(0)"))) {
        n = 3;
    } else if (slice_has_prefix(slice_from(text, i), SLICE_LIT(" (0)"))) {
        n = 4;
    }
    while (n < 4 && i + n < text.n && text.p[i + n] != '\0' &&
           strchr(" -./()", text.p[i + n]) != NULL) {
        n++;
    }
    if (n == 4 && i + n < text.n && text.p[i + n] == ' ') {
        n++;
    }
    return is_digit(text, i + n) ? n : 0;
}

/* Reads groups of digits from i on; a group that runs into a word, or over the digits that a
 * number has, is no part of it. */
static void read_digits(struct slice text, size_t i, struct digits *d)
{
    do {
        size_t n = d->n;
        size_t begin = i;

        while (is_digit(text, i)) {
            add_digit(d, text.p[i++]);
        }
        if (d->too_many || is_word_at(text, i)) {
            d->n = n;
            d->end =
                begin == d->end ? i : d->end; /* the first group: nothing is left */
            return;
        }
        d->end = i;
        i += gap(text, i);
    } while (i > d->end);
}

/* "+49 ...", "0049 ..." with the code at i; returns where to go on. */
static size_t at_code(const struct scan *s, size_t from, size_t i)
{
    struct digits d = {.text = "+", .n = 1, .end = i};

    if (!is_digit(s->text, i) || s->text.p[i] == '0') {
        return i;
    }
    read_digits(s->text, i, &d);
    if (d.n > PHONE_DIGITS_MIN) {
        report_number(s, FIND_PHONE, slice_of(d.text, d.n), from, d.end);
    }
    return d.end;
}

/* Whether text matches pattern at i: 'N' is 2 to 9, '9' any digit, another byte itself. */
static bool matches(struct slice text, size_t i, const char *pattern)
{
    for (; *pattern != '\0'; pattern++, i++) {
        if (i >= text.n) {
            return false;
        }
        if (*pattern == 'N' || *pattern == '9') {
            if (!is_digit(text, i) || (*pattern == 'N' && text.p[i] < '2')) {
                return false;
            }
        } else if (text.p[i] != *pattern) {
            return false;
        }
    }
    return true;
}

/* A number of one of the patterns below may begin at i: its area code shows. */
static bool may_be_american(struct slice text, size_t i)
{
    if (text.p[i] == '1') {
        i += 2;
    }
    if (i < text.n && text.p[i] == '(') {
        i++;
    }
    return matches(text, i, "N99");
}

/* A North American number at i; returns where to go on, i when there is none. */
static size_t at_american(const struct scan *s, size_t i)
{
    static const char *const patterns[] = {
        "(N99) N99-9999", "(N99)N99-9999",    "(N99) N99.9999",   "(N99) N99 9999",
        "N99-N99-9999",   "N99.N99.9999",     "N99/N99-9999",     "1-N99-N99-9999",
        "1.N99.N99.9999", "1 (N99) N99-9999", "1-(N99) N99-9999", "1 N99 N99 9999",
        "1 N99-N99-9999", "1-(N99)-N99-9999"};
    size_t k = 0;

    if (!may_be_american(s->text, i)) {
        return i; /* most digits and brackets */
    }
    for (k = 0; k < LENGTH(patterns); k++) {
        size_t end = i + strlen(patterns[k]);
        char text[2 + NANP_DIGITS] = "+1";
        size_t n = 2;
        size_t at = i;

        if (!matches(s->text, i, patterns[k])) {
            continue;
        }
        /* part of a longer number or of an address */
        if (is_word_at(s->text, end) ||
            (end < s->text.n && strchr("-./", s->text.p[end]) != NULL &&
             is_digit(s->text, end + 1))) {
            return i;
        }
        for (at = i + (patterns[k][0] == '1' ? 1 : 0); at < end; at++) {
            if (is_digit(s->text, at)) {
                text[n++] = s->text.p[at];
            }
        }
        report_number(s, FIND_PHONE, slice_of(text, n), i, end);
        return end;
    }
    return i;
}

/* Whether the text before i belongs to the same number or word. */
static bool is_inside(struct slice text, size_t i)
{
    return i > 0 && (is_word_at(text, i - 1) || text.p[i - 1] == '+' ||
                     (strchr("-./%", text.p[i - 1]) != NULL && text.p[i - 1] != '\0' &&
                      i > 1 && is_word_at(text, i - 2)));
}

/* A number that begins at i; returns where to go on, i when there is none. */
static size_t at_number(const struct scan *s, size_t i)
{
    size_t end = i;

    if (is_inside(s->text, i)) {
        return i;
    }
    if (s->text.p[i] == '+') {
        end = at_code(s, i, i + 1);
        return end > i + 1 ? end : i;
    }
    if (slice_has_prefix(slice_from(s->text, i), SLICE_LIT("00")) &&
        is_digit(s->text, i + 2)) {
        size_t code = i + 2;

        while (is_digit(s->text, code)) {
            code++;
        }
        /* no mark between its digits: an order number */
        if (gap(s->text, code) > 0) {
            end = at_code(s, i, i + 2);
            return end > i + 2 ? end : i;
        }
        return i;
    }
    return at_american(s, i);
}

enum { WORD = 1, BEGIN = 2 };

/* Bytes of words, and those that a number begins with. */
#define FIVE(first, bits)                                             \
    [first] = (bits), [(first) + 1] = (bits), [(first) + 2] = (bits), \
    [(first) + 3] = (bits), [(first) + 4] = (bits)
static const unsigned char bytes[256] = {FIVE('0', WORD | BEGIN),
                                         FIVE('5', WORD | BEGIN),
                                         FIVE('A', WORD),
                                         FIVE('F', WORD),
                                         FIVE('K', WORD),
                                         FIVE('P', WORD),
                                         FIVE('U', WORD),
                                         FIVE('a', WORD),
                                         FIVE('f', WORD),
                                         FIVE('k', WORD),
                                         FIVE('p', WORD),
                                         FIVE('u', WORD),
                                         ['Z'] = WORD,
                                         ['z'] = WORD,
                                         ['_'] = WORD,
                                         ['+'] = BEGIN,
                                         ['('] = BEGIN};

/* One of sixteen bytes at p begins a number. */
static bool has_begin(const char *p)
{
    unsigned char v BLOCK_VECTOR;
    signed char at BLOCK_VECTOR;

    memcpy(&v, p, sizeof(v));
    at = ((v >= '0') & (v <= '9')) | (v == '+') | (v == '(');
    return block_is_any(&at);
}

/* The next byte of a word or number; i is where a word may begin. Skips short words without digits:
 * a word of BECH32_MIN bytes that begins within the next BECH32_MIN bytes covers the last of
 * them. */
static size_t skip(struct slice text, size_t i)
{
    while (i + BLOCK_BYTES <= text.n && !has_begin(text.p + i) &&
           (bytes[(unsigned char)text.p[i + BECH32_MIN - 1]] & WORD) == 0) {
        i += BECH32_MIN;
    }
    while (i < text.n && bytes[(unsigned char)text.p[i]] == 0) {
        i++;
    }
    return i;
}

static size_t word_end(struct slice text, size_t i)
{
    while (i < text.n && (bytes[(unsigned char)text.p[i]] & WORD) != 0) {
        i++;
    }
    return i;
}

void find_numbers_in_text(struct slice text, find_number_fn *on_number, void *context)
{
    struct scan s = {.text = text, .on_number = on_number, .context = context};
    size_t i = skip(text, 0);

    while (i < text.n) {
        size_t end = i;

        if ((bytes[(unsigned char)text.p[i]] & BEGIN) != 0) {
            end = at_number(&s, i);
        }
        if (end == i) {
            end = word_end(text, i);
            at_word(&s, i, end);
        }
        i = skip(text, end > i ? end : i + 1);
    }
}
