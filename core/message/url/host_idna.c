/* host_idna - ICU's UTS 46 with the options that browsers use, and newer mappings before it. */
#include "core/message/url/host_idna.h"

#include <pthread.h>
#include <unicode/uidna.h>

#include "core/base/uninitialized.h"
#include "core/base/utf8.h"
#include "core/message/text/charset.h"

static pthread_once_t idna_once = PTHREAD_ONCE_INIT;
static const UIDNA *idna;

static void idna_open(void)
{
    UErrorCode status = U_ZERO_ERROR;

    idna = uidna_openUTS46(UIDNA_NONTRANSITIONAL_TO_ASCII |
                               UIDNA_NONTRANSITIONAL_TO_UNICODE | UIDNA_CHECK_BIDI |
                               UIDNA_CHECK_CONTEXTJ,
                           &status);
    if (U_FAILURE(status)) {
        idna = NULL;
    }
}

/* The mapping of a character since Unicode 15.1 and 16, because ICU's data may be older. 0: it is
 * dropped; c itself: no change. Every row stays true with newer data. */
static uint32_t mapped(uint32_t c)
{
    static const struct {
        uint32_t from;
        uint32_t to;
    } rows[] = {
        {0x04c0, 0x04cf},   {0x115f, 0},       {0x1160, 0},       {0x17b4, 0},
        {0x17b5, 0},        {0x180e, 0},       {0x1e9e, 0x00df},  {0x2132, 0x214e},
        {0x2183, 0x2184},   {0xf951, 0x964b},  {0x2f868, 0x36fc}, {0x2f874, 0x5f53},
        {0x2f91f, 0x243ab}, {0x2f95f, 0x7aee}, {0x2f9bf, 0x45d7},
    };
    size_t i = 0;

    if ((c >= 0x10a0 && c <= 0x10c5) || c == 0x10c7 || c == 0x10cd) {
        return c - 0x10a0 + 0x2d00; /* Georgian capitals */
    }
    for (i = 0; i < LENGTH(rows); i++) {
        if (rows[i].from == c) {
            return rows[i].to;
        }
    }
    return c;
}

/* The two ligatures of whole phrases: they map to 18 and 8 characters, blanks among them, and no
 * host has a blank. Refused at once, as a host of them would cost ICU the most by far. */
static bool is_phrase(uint32_t c)
{
    return c == 0xfdfa || c == 0xfdfb;
}

/* With the newer mappings; text is well-formed and not longer than dst. No mapping is longer. 0
 * when nothing is left, or no host can have it. */
static size_t map_newer(struct slice text, char dst[HOST_INPUT_MAX])
{
    size_t n = 0;
    size_t i = 0;

    while (i < text.n) {
        uint32_t c = 0;
        size_t step = utf8_decode(text.p + i, text.n - i, &c);
        uint32_t to = step > 1 ? mapped(c) : c;

        if (is_phrase(c)) {
            return 0;
        }
        if (to == c) {
            memcpy(dst + n, text.p + i, step);
            n += step;
        } else if (to != 0) {
            n += utf8_put(dst + n, to);
        }
        i += step;
    }
    return n;
}

size_t host_to_ascii(struct slice text, char dst[HOST_INPUT_MAX])
{
    /* lengths and empty labels are checked later; hyphens may stand anywhere (WHATWG) */
    const uint32_t tolerated = UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG |
                               UIDNA_ERROR_DOMAIN_NAME_TOO_LONG |
                               UIDNA_ERROR_LEADING_HYPHEN |
                               UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;
    char newer[HOST_INPUT_MAX] UNINITIALIZED;
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    UErrorCode status = U_ZERO_ERROR;
    int32_t n = 0;

    (void)pthread_once(&idna_once, idna_open);
    if (idna == NULL || text.n > HOST_INPUT_MAX || !charset_is_utf8(text)) {
        return 0;
    }
    text = slice_of(newer, map_newer(text, newer));
    n = uidna_nameToASCII_UTF8(idna, text.p, (int32_t)text.n, dst, HOST_INPUT_MAX,
                               &info, &status);
    if (U_FAILURE(status) || (info.errors & ~tolerated) != 0 || n <= 0 ||
        n > HOST_INPUT_MAX) {
        return 0;
    }
    return (size_t)n;
}

size_t host_to_unicode(struct slice label, char dst[HOST_INPUT_MAX])
{
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    UErrorCode status = U_ZERO_ERROR;

    (void)pthread_once(&idna_once, idna_open);
    if (idna == NULL || label.n > HOST_LABEL_MAX) {
        return 0;
    }
    int32_t n = uidna_labelToUnicodeUTF8(idna, label.p, (int32_t)label.n, dst,
                                         HOST_INPUT_MAX, &info, &status);
    return U_FAILURE(status) || info.errors != 0 || n <= 0 || n > HOST_INPUT_MAX
               ? 0
               : (size_t)n;
}
