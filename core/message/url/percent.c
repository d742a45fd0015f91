/* percent - the sets as strings, and the queries of pages that are not UTF-8. */
#include "core/message/url/percent.h"

#include <unicode/ucnv.h>
#include <unicode/ucnv_err.h>
#include <unicode/ustring.h>

#include "core/message/text/charset_name.h"
#include "core/message/url/url.h"

enum {
    ESCAPE_BYTES = 3,
    CHARACTER_BYTES = 16, /* of one character in a charset, shift sequences included */
    REFERENCE_BYTES = 16  /* "%26%231114111%3B" */
};

bool percent_has(enum percent_set set, char c)
{
    static const struct slice members[] = {
        [PERCENT_FRAGMENT] = {" \"<>`", 5},
        [PERCENT_SPECIAL_QUERY] = {" \"#<>'", 6},
        [PERCENT_PATH] = {" \"#<>?^`{}", 10},
        [PERCENT_USERINFO] = {" \"#<>?^`{}/:;=@[\\]|", 19},
    };
    unsigned char u = (unsigned char)c;

    return u < 0x20 || u >= 0x7f || memchr(members[set].p, c, members[set].n) != NULL;
}

size_t percent_encode(enum percent_set set, struct slice text, char *dst)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t n = 0;
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (percent_has(set, text.p[i])) {
            dst[n++] = '%';
            dst[n++] = digits[c >> 4];
            dst[n++] = digits[c & 15];
        } else {
            dst[n++] = text.p[i];
        }
    }
    return n;
}

/* What the encoders of the Encoding standard do and ICU's do not. */
static UChar32 adjusted(const char *icu, UChar32 c, bool *retmissing)
{
    bool is_jis = strcmp(icu, "ISO-2022-JP") == 0;
    bool is_japanese =
        is_jis || strcmp(icu, "EUC-JP") == 0 || strcmp(icu, "ibm-943_P15A-2003") == 0;

    *retmissing = false;
    if (is_jis && (c == 0x0e || c == 0x0f || c == 0x1b)) {
        *retmissing = true; /* shift characters would change what follows */
        return 0xfffd;
    }
    if (strcmp(icu, "gb18030") == 0 && c == 0xe5e5) {
        *retmissing = true;
    }
    return is_japanese && c == 0x2212 ? 0xff0d : c;
}

/* One character through the converter; 0 when the charset does not have it. */
static size_t convert(UConverter *cnv, UChar32 c, char dst[CHARACTER_BYTES])
{
    UChar text[2] = {(UChar)c, 0};
    const UChar *from = text;
    char *to = dst;
    size_t n = 1;
    UErrorCode status = U_ZERO_ERROR;

    if (c >= 0x10000) {
        text[0] = (UChar)(0xd800 + (c - 0x10000) / 0x400);
        text[1] = (UChar)(0xdc00 + (c - 0x10000) % 0x400);
        n = 2;
    }
    ucnv_fromUnicode(cnv, &to, dst + CHARACTER_BYTES, &from, text + n, NULL, false,
                     &status);
    return U_FAILURE(status) ? 0 : (size_t)(to - dst);
}

/* What the converter still has to say: the way back to ASCII. */
static size_t finish(UConverter *cnv, char dst[CHARACTER_BYTES])
{
    UChar none = 0;
    const UChar *from = &none;
    char *to = dst;
    UErrorCode status = U_ZERO_ERROR;

    ucnv_fromUnicode(cnv, &to, dst + CHARACTER_BYTES, &from, &none, NULL, true,
                     &status);
    ucnv_resetFromUnicode(cnv);
    return U_FAILURE(status) ? 0 : (size_t)(to - dst);
}

static UConverter *open_converter(struct slice charset, const char **reticu)
{
    UErrorCode status = U_ZERO_ERROR;
    UConverter *cnv = NULL;
    enum charset_kind kind = charset_name_kind(charset, reticu);

    if (kind == CHARSET_WESTERN) {
        *reticu = "windows-1252";
    } else if (kind != CHARSET_ICU) {
        return NULL;
    }
    cnv = ucnv_open(*reticu, &status);
    if (cnv != NULL) {
        ucnv_setFromUCallBack(cnv, UCNV_FROM_U_CALLBACK_STOP, NULL, NULL, NULL,
                              &status);
    }
    if (U_FAILURE(status)) {
        ucnv_close(cnv);
        return NULL;
    }
    return cnv;
}

static size_t encode_as(UConverter *cnv, const char *icu, const UChar *text,
                        int32_t count, char *dst)
{
    char piece[CHARACTER_BYTES] = "";
    size_t n = 0;
    size_t rest = 0;
    int32_t i = 0;

    while (i < count) {
        UChar32 c = text[i++];
        bool is_missing = false;
        size_t npiece = 0;

        if (c >= 0xd800 && c < 0xdc00 && i < count) { /* pairs are always whole here */
            c = 0x10000 + (c - 0xd800) * 0x400 + (text[i++] - 0xdc00);
        }
        c = adjusted(icu, c, &is_missing);
        npiece = is_missing ? 0 : convert(cnv, c, piece);
        if (npiece == 0) {
            npiece = finish(cnv, piece);
            n +=
                percent_encode(PERCENT_SPECIAL_QUERY, slice_of(piece, npiece), dst + n);
            n += (size_t)snprintf(dst + n, REFERENCE_BYTES + 1, "%%26%%23%d%%3B",
                                  (int)c);
            continue;
        }
        n += percent_encode(PERCENT_SPECIAL_QUERY, slice_of(piece, npiece), dst + n);
    }
    rest = finish(cnv, piece);
    return n + percent_encode(PERCENT_SPECIAL_QUERY, slice_of(piece, rest), dst + n);
}

/* text through cnv; {NULL, 0} when the arena is full. */
static struct slice encode(struct arena *arena, UConverter *cnv, const char *icu,
                           struct slice text)
{
    const size_t each = ESCAPE_BYTES * CHARACTER_BYTES + REFERENCE_BYTES;
    UChar *wide = arena_array(arena, text.n + 1, sizeof(*wide));
    char *p = arena_bytes(arena, (text.n + 1) * each + 1);
    UErrorCode status = U_ZERO_ERROR;
    int32_t count = 0;

    if (wide == NULL || p == NULL) {
        return SLICE_NONE;
    }
    (void)u_strFromUTF8WithSub(wide, (int32_t)text.n + 1, &count, text.p,
                               (int32_t)text.n, 0xfffd, NULL, &status);
    return slice_of(p, U_FAILURE(status) ? 0 : encode_as(cnv, icu, wide, count, p));
}

struct slice percent_encode_query(struct arena *arena, struct slice text,
                                  struct slice charset)
{
    const char *icu = "";
    UConverter *cnv = NULL;
    struct slice encoded;
    char *p = NULL;

    if (text.n > URL_BYTES_MAX) {
        text.n = URL_BYTES_MAX; /* no longer URL is read */
    }
    cnv = open_converter(charset, &icu);
    if (cnv != NULL) {
        encoded = encode(arena, cnv, icu, text);
        ucnv_close(cnv);
        return encoded;
    }
    p = arena_bytes(arena, ESCAPE_BYTES * text.n);
    return p == NULL ? SLICE_NONE
                     : slice_of(p, percent_encode(PERCENT_SPECIAL_QUERY, text, p));
}
