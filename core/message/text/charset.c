/* charset - the paths by cost: ASCII, UTF-8, windows-1252 by table, everything else by ICU. */
#include "core/message/text/charset.h"

#include <unicode/ucnv.h>
#include <unicode/ucnv_cb.h>
#include <unicode/ucnv_err.h>

#include "core/base/utf8.h"
#include "core/message/text/charset_internal.h"
#include "core/message/text/charset_name.h"

enum {
    ICU_PIECE = 1024,
    MALFORMED_MAX = 8 /* UTF-16 units for malformed bytes; no escape has more */
};

/* windows-1252 from 0x80 to 0x9f, with the holes as browsers fill them. */
static const uint16_t western_high[32] = {
    0x20ac, 0x0081, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
    0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008d, 0x017d, 0x008f,
    0x0090, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x009d, 0x017e, 0x0178};

size_t charset_ascii_run(struct slice bytes)
{
    const uint64_t high_bits = UINT64_C(0x8080808080808080);
    size_t i = 0;

    while (i + sizeof(uint64_t) <= bytes.n) {
        uint64_t word = 0;

        memcpy(&word, bytes.p + i, sizeof(word));
        if ((word & high_bits) != 0) {
            break;
        }
        i += sizeof(word);
    }
    while (i < bytes.n && (unsigned char)bytes.p[i] < 0x80) {
        i++;
    }
    return i;
}

bool charset_is_ascii(struct slice bytes)
{
    return charset_ascii_run(bytes) == bytes.n;
}

/* Length of the run of well-formed UTF-8 at the beginning. */
static size_t utf8_run(struct slice bytes)
{
    const unsigned char *p = (const unsigned char *)bytes.p;
    size_t i = 0;

    while (i < bytes.n) {
        size_t step = 0;

        if (p[i] >= 0x80) {
            step = utf8_length(p + i, bytes.n - i);
            if (step == 0) {
                break;
            }
        } else if (i + 1 < bytes.n && p[i + 1] >= 0x80) {
            step = 1; /* a space between words that are not ASCII */
        } else {
            step = charset_ascii_run((struct slice){bytes.p + i, bytes.n - i});
        }
        i += step;
    }
    return i;
}

bool charset_is_utf8(struct slice bytes)
{
    return utf8_run(bytes) == bytes.n;
}

/* UTF-8 of a code point; dst may be NULL to count only. */
static size_t put_code(uint32_t code, char *dst)
{
    char unused[UTF8_MAX];
    return utf8_put(dst != NULL ? dst : unused, code);
}

uint32_t charset_western(unsigned char byte)
{
    return byte >= 0x80 && byte < 0xa0 ? western_high[byte - 0x80] : byte;
}

/* windows-1252 -> UTF-8. keep_utf8: bytes that are UTF-8 stay. dst NULL counts. */
static size_t western(struct slice bytes, bool keep_utf8, char *dst)
{
    size_t n = 0;
    size_t i = 0;

    while (i < bytes.n) {
        struct slice rest = slice_from(bytes, i);
        size_t run = keep_utf8 ? utf8_run(rest) : charset_ascii_run(rest);

        if (dst != NULL && run > 0) {
            memcpy(dst + n, rest.p, run);
        }
        n += run;
        i += run;
        while (i < bytes.n && (unsigned char)bytes.p[i] >= 0x80) {
            n += put_code(charset_western((unsigned char)bytes.p[i++]),
                          dst == NULL ? NULL : dst + n);
            if (keep_utf8) {
                break; /* what follows may be UTF-8 again */
            }
        }
    }
    return n;
}

static struct slice western_to_utf8(struct arena *arena, struct slice bytes,
                                    bool keep_utf8)
{
    size_t n = western(bytes, keep_utf8, NULL);
    char *p = arena_bytes(arena, n);

    if (p == NULL) {
        return SLICE_NONE;
    }
    western(bytes, keep_utf8, p);
    return slice_of(p, n);
}

/* The one byte that GBK has more than GB 18030. */
static bool is_euro_of_gbk(const UConverter *converter, struct slice units)
{
    UErrorCode status = U_ZERO_ERROR;

    return slice_eq(units, SLICE_LIT("\x80")) &&
           strcmp(ucnv_getName(converter, &status), "gb18030") == 0;
}

/* ASCII behind a lead byte or an escape that means nothing. */
static bool is_text_behind(const UConverter *converter, struct slice units,
                           UConverterCallbackReason reason)
{
    if (ucnv_getMinCharSize(converter) != 1 || reason == UCNV_IRREGULAR) {
        return false;
    }
    return units.p[0] == '\x1b' || (units.n == 2 && (unsigned char)units.p[0] >= 0x80);
}

void charset_on_malformed(const void *context, UConverterToUnicodeArgs *args,
                          const char *units, int32_t length,
                          UConverterCallbackReason reason, UErrorCode *status)
{
    UChar text[MALFORMED_MAX] = {0xfffd};
    int32_t n = 1;

    (void)context;
    if (reason > UCNV_IRREGULAR) {
        return;
    }
    if (is_euro_of_gbk(args->converter, slice_of(units, (size_t)length))) {
        text[0] = 0x20ac;
    }
    if (is_text_behind(args->converter, slice_of(units, (size_t)length), reason)) {
        while (n < length && n < MALFORMED_MAX && (unsigned char)units[n] < 0x80) {
            text[n] = (UChar)units[n];
            n++;
        }
    }
    *status = U_ZERO_ERROR;
    ucnv_cbToUWriteUChars(args, text, n, 0, status);
}

size_t charset_put_utf16(const UChar *text, size_t count, UChar *held, char *dst)
{
    size_t n = 0;
    size_t i = 0;

    for (i = 0; i < count; i++) {
        uint32_t c = text[i];

        if (*held != 0 && c >= 0xdc00 && c <= 0xdfff) {
            c = 0x10000 + (((uint32_t)*held - 0xd800) << 10) + (c - 0xdc00);
        } else if (*held != 0 || (c >= 0xdc00 && c <= 0xdfff)) {
            n += put_code(0xfffd, dst == NULL ? NULL : dst + n);
            if (*held == 0) {
                continue;
            }
        }
        *held = 0;
        if (c >= 0xd800 && c <= 0xdbff) {
            *held = (UChar)c;
            continue;
        }
        n += put_code(c, dst == NULL ? NULL : dst + n);
    }
    return n;
}

/* Converts all bytes; dst NULL counts. */
static size_t icu_run(UConverter *converter, struct slice bytes, char *dst)
{
    const char *source = bytes.p;
    const char *end = bytes.p + bytes.n;
    UErrorCode status = U_BUFFER_OVERFLOW_ERROR;
    UChar held = 0;
    bool first = true;
    size_t n = 0;
    UChar piece[ICU_PIECE] = {0};

    ucnv_resetToUnicode(converter);
    while (status == U_BUFFER_OVERFLOW_ERROR) {
        UChar *target = piece;
        size_t skip = 0;

        status = U_ZERO_ERROR;
        ucnv_toUnicode(converter, &target, piece + ICU_PIECE, &source, end, NULL, true,
                       &status);
        skip = first && target > piece && piece[0] == 0xfeff ? 1 : 0; /* a BOM */
        first = false;
        n += charset_put_utf16(piece + skip, (size_t)(target - piece) - skip, &held,
                               dst == NULL ? NULL : dst + n);
    }
    if (held != 0) {
        n += put_code(0xfffd, dst == NULL ? NULL : dst + n);
    }
    return n;
}

/* {NULL,0} with *retopened false: ICU does not have the charset. */
static struct slice icu_to_utf8(struct arena *arena, const char *name,
                                struct slice bytes, bool *retopened)
{
    UErrorCode status = U_ZERO_ERROR;
    UConverter *converter = ucnv_open(name, &status);
    struct slice out = SLICE_NONE;
    char *p = NULL;
    size_t n = 0;

    *retopened = U_SUCCESS(status) && converter != NULL;
    if (!*retopened) {
        return out;
    }
    ucnv_setToUCallBack(converter, charset_on_malformed, NULL, NULL, NULL, &status);
    n = icu_run(converter, bytes, NULL);
    p = arena_bytes(arena, n);
    if (p != NULL) {
        out = slice_of(p, icu_run(converter, bytes, p));
    }
    ucnv_close(converter);
    return out;
}

/* ASCII bytes mean themselves in every charset of the table but those that shift or pair. */
static bool ascii_means_itself(const char *icu, struct slice bytes)
{
    if (strncmp(icu, "UTF-16", 6) == 0 || strncmp(icu, "UTF-32", 6) == 0) {
        return false;
    }
    if (strncmp(icu, "ISO-2022", 8) == 0) {
        return slice_find(bytes, '\x1b') == bytes.n &&
               slice_find(bytes, '\x0e') == bytes.n;
    }
    if (strcmp(icu, "UTF-7") == 0) {
        return slice_find(bytes, '+') == bytes.n;
    }
    if (strcmp(icu, "HZ-GB-2312") == 0) {
        return slice_find(bytes, '~') == bytes.n;
    }
    return true;
}

struct slice charset_to_utf8(struct arena *arena, struct slice charset,
                             struct slice bytes, bool *retknown)
{
    const char *icu = NULL;
    enum charset_kind kind = charset_name_kind(charset, &icu);
    bool ascii = charset_is_ascii(bytes);
    bool known = kind != CHARSET_UNKNOWN;
    struct slice out = bytes;

    if (bytes.n == 0) {
        out = SLICE_LIT("");
    } else if (kind == CHARSET_ICU) {
        if (!ascii || !ascii_means_itself(icu, bytes)) {
            out = icu_to_utf8(arena, icu, bytes, &known);
            if (!known) {
                out = western_to_utf8(arena, bytes, true);
            }
        }
    } else if (!ascii) {
        bool utf8 = charset_is_utf8(bytes);

        known = known && utf8 == (kind == CHARSET_UTF8);
        if (!utf8) {
            out = western_to_utf8(arena, bytes, kind != CHARSET_WESTERN);
        }
    }
    if (retknown != NULL) {
        *retknown = known;
    }
    return out;
}
