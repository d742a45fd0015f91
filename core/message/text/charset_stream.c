/* charset_stream - ICU's converter kept open from piece to piece. */

#include "core/message/text/charset.h"
#include "core/message/text/charset_internal.h"
#include "core/message/text/charset_name.h"

enum {
    PIECE = 1024,     /* UTF-16 units at a time: at most 3 bytes of UTF-8 each */
    ASCII_WORTH = 64, /* a shorter run of ASCII goes through the converter */
    WIDE_UNITS_MIN = 4,
    WIDE_SHARE =
        4, /* a quarter of the units is ASCII, a quarter of the others no pair */
    OTHER_SHARE = 16 /* at most a sixteenth has its zero in the other byte */
};
_Static_assert((PIECE + 1) * 3 <= CHARSET_STREAM_STEP, "a piece fits");

struct charset_stream {
    UConverter *converter;
    UChar held;         /* half of a pair */
    bool is_ascii_safe; /* bytes below 0x80 between two characters mean themselves */
    bool has_more;      /* ICU holds output that did not fit */
};

static bool is_ascii_safe(const char *icu)
{
    return strncmp(icu, "UTF-", 4) != 0 && strncmp(icu, "ISO-2022", 8) != 0 &&
           strcmp(icu, "HZ-GB-2312") != 0;
}

struct mark {
    struct slice bytes;
    struct slice charset;
};

/* Longer marks first: that of UTF-16 begins that of UTF-32. */
static const struct mark marks[] = {
    {{"\xff\xfe\0\0", 4}, {"utf-32le", 8}}, {{"\0\0\xfe\xff", 4}, {"utf-32be", 8}},
    {{"\xef\xbb\xbf", 3}, {"utf-8", 5}},    {{"\xff\xfe", 2}, {"utf-16le", 8}},
    {{"\xfe\xff", 2}, {"utf-16be", 8}},
};

/* ASCII in units of `unit` bytes has its zeros before (big-endian) or behind each byte. */
static bool is_big_endian(struct slice head, size_t unit)
{
    size_t first = 0;
    size_t last = 0;
    for (size_t i = 0; i + unit <= head.n; i += unit) {
        first += head.p[i] == '\0';
        last += head.p[i + unit - 1] == '\0';
    }
    return first > last;
}

static bool is_printable(char c)
{
    return (c >= ' ' && c <= '~') || c == '\t' || c == '\r' || c == '\n';
}

/* Whether the head is text in units of two bytes, under any name. Its ASCII has the zeros in one of
 * the two bytes. A quarter of the units without a zero are no pairs of ASCII characters; in text
 * with stray NULs nearly all are pairs. */
static bool is_wide(struct slice head, bool *ret_is_big)
{
    size_t zeros[2] = {0, 0};
    size_t without = 0;
    size_t pairs = 0;
    size_t units = head.n / 2;
    for (size_t i = 0; i < units * 2; i += 2) {
        const char *unit = head.p + i;
        bool has_zero = unit[0] == '\0' || unit[1] == '\0';
        zeros[0] += unit[0] == '\0';
        zeros[1] += unit[1] == '\0';
        without += !has_zero;
        pairs += is_printable(unit[0]) && is_printable(unit[1]);
    }
    *ret_is_big = zeros[0] > zeros[1];
    size_t most = *ret_is_big ? zeros[0] : zeros[1];
    size_t least = *ret_is_big ? zeros[1] : zeros[0];
    return units >= WIDE_UNITS_MIN && most >= units / WIDE_SHARE &&
           least <= units / OTHER_SHARE &&
           pairs * WIDE_SHARE <= without * (WIDE_SHARE - 1);
}

/* Two bytes of a mark begin many a text of one-byte units, too: the name or the zero byte of some
 * ASCII character, a blank or a line end at least, must say that the units are wide. */
static bool is_meant(struct slice mark, struct slice charset, struct slice head)
{
    const char *icu = NULL;
    if (mark.n != 2 || slice_find(head, '\0') < head.n) {
        return true;
    }
    return charset_name_kind(charset, &icu) == CHARSET_ICU &&
           (strncmp(icu, "UTF-16", 6) == 0 || strncmp(icu, "UTF-32", 6) == 0);
}

struct slice charset_by_head(struct slice charset, struct slice head, size_t *retmark)
{
    const char *icu = NULL;
    *retmark = 0;
    for (size_t i = 0; i < LENGTH(marks); i++) {
        if (slice_has_prefix(head, marks[i].bytes) &&
            is_meant(marks[i].bytes, charset, head)) {
            *retmark = marks[i].bytes.n;
            return marks[i].charset;
        }
    }
    bool is_big = false;
    bool is_named = charset_name_kind(charset, &icu) == CHARSET_ICU;
    bool is_utf32 = is_named && strncmp(icu, "UTF-32", 6) == 0;
    if (!is_utf32 && slice_find(head, '\0') < head.n && is_wide(head, &is_big)) {
        return is_big ? SLICE_LIT("utf-16be") : SLICE_LIT("utf-16le");
    }
    if (!is_named) {
        return charset;
    }
    if (strcmp(icu, "UTF-16") == 0) {
        return is_big_endian(head, 2) ? SLICE_LIT("utf-16be") : SLICE_LIT("utf-16le");
    }
    if (strcmp(icu, "UTF-32") == 0) {
        return is_big_endian(head, 4) ? SLICE_LIT("utf-32be") : SLICE_LIT("utf-32le");
    }
    return charset;
}

struct charset_stream *charset_stream_new(struct slice charset)
{
    const char *icu = NULL;
    UErrorCode status = U_ZERO_ERROR;
    if (charset_name_kind(charset, &icu) != CHARSET_ICU) {
        return NULL;
    }
    struct charset_stream *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return NULL;
    }
    s->converter = ucnv_open(icu, &status);
    if (U_FAILURE(status) || s->converter == NULL) {
        free(s);
        return NULL;
    }
    ucnv_setToUCallBack(s->converter, charset_on_malformed, NULL, NULL, NULL, &status);
    s->is_ascii_safe = is_ascii_safe(icu);
    return s;
}

/* As much of the beginning as means itself: IBM's code pages exchange three control bytes. */
static size_t plain_run(struct slice in)
{
    in = slice_head(in, CHARSET_STREAM_STEP);
    in = slice_head(in, charset_ascii_run(in));
    in = slice_head(in, slice_find(in, '\x1a'));
    in = slice_head(in, slice_find(in, '\x1c'));
    return slice_find(in, '\x7f');
}

/* Nothing of an earlier byte is left in the converter. */
static bool is_between(const struct charset_stream *s)
{
    UErrorCode status = U_ZERO_ERROR;
    return s->is_ascii_safe && s->held == 0 && !s->has_more &&
           ucnv_toUCountPending(s->converter, &status) == 0;
}

size_t charset_stream_feed(struct charset_stream *s, struct slice *in, bool is_last,
                           char *dst)
{
    UChar piece[PIECE];
    UChar *target = piece;
    UErrorCode status = U_ZERO_ERROR;
    if (is_between(s)) {
        size_t run = plain_run(*in);
        if (run >= ASCII_WORTH) {
            memcpy(dst, in->p, run);
            *in = slice_from(*in, run);
            return run;
        }
    }
    const char *source = in->p != NULL ? in->p : "";
    const char *end = source + in->n;
    ucnv_toUnicode(s->converter, &target, piece + PIECE, &source, end, NULL,
                   (UBool)(is_last && in->n == 0 ? 1 : 0), &status);
    s->has_more = status == U_BUFFER_OVERFLOW_ERROR;
    *in = slice_of(source, (size_t)(end - source));
    size_t n = charset_put_utf16(piece, (size_t)(target - piece), &s->held, dst);
    if (is_last && in->n == 0 && n == 0 && s->held != 0) {
        static const UChar replacement = 0xfffd;
        s->held = 0;
        n = charset_put_utf16(&replacement, 1, &s->held, dst);
    }
    return n;
}

void charset_stream_free(struct charset_stream **s)
{
    if (*s != NULL) {
        ucnv_close((*s)->converter);
        free(*s);
        *s = NULL;
    }
}
