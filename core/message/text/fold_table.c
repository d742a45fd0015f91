#include "core/message/text/fold_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include "core/base/utf8.h"

enum {
    PAGE_BITS = 7,
    PAGE = 1 << PAGE_BITS,
    TABLE_END = 0x20000,
    FOLDED_MAX = 11, /* bytes; a character with a longer text stays as it is */
    LOOKS_MAX = 48,  /* letters in a row of fold_look.def */
    LOOK_MAX = 3,    /* bytes of the text of a row */
    PARTS_MAX = 32,  /* UTF-16 units of one character, decomposed */
    TEXT_MAX = PARTS_MAX * LOOK_MAX * 3,
    UNICODE = 14 /* a character of a later version is unassigned: all servers agree */
};

struct range {
    uint32_t first;
    uint32_t last;
};

/* Combining marks of general use. */
static const struct range marks[] = {{0x300, 0x36f},   {0x1ab0, 0x1aff},
                                     {0x1dc0, 0x1dff}, {0x20d0, 0x20ff},
                                     {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
/* Scripts without spaces between words, except those of fold_table_class. */
static const struct range no_spaces[] = {
    {0xe00, 0xeff},   {0x1000, 0x109f}, {0x1780, 0x17ff}, {0x3005, 0x3007},
    {0x3040, 0x30ff}, {0x3105, 0x312f}, {0x31a0, 0x31ff}, {0x3400, 0x4dbf},
    {0xa000, 0xa4cf}, {0xaa60, 0xaa7f}, {0xf900, 0xfaff}};

/* Latin small capitals from A to Z; Unicode has no X. */
static const uint16_t small_capitals[26] = {
    0x1d00, 0x299,  0x1d04, 0x1d05, 0x1d07, 0xa730, 0x262,  0x29c,  0x26a,
    0x1d0a, 0x1d0b, 0x29f,  0x1d0d, 0x274,  0x1d0f, 0x1d18, 0xa7af, 0x280,
    0xa731, 0x1d1b, 0x1d1c, 0x1d20, 0x1d21, 0,      0x28f,  0x1d22};

static const struct look {
    char text[LOOK_MAX + 1];
    uint32_t letters[LOOKS_MAX]; /* 0 ends them */
} looks[] = {
#define LOOK(text, ...) {text, {__VA_ARGS__}},
#include "core/message/text/fold_look.def"
#undef LOOK
};

static struct page {
    uint8_t class[PAGE];
    char text[PAGE][FOLDED_MAX + 1];
} pages[TABLE_END / PAGE]; /* each is made at its first use and never changes then */
static _Atomic(bool) is_made[TABLE_END / PAGE];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* guards: making a page */

static bool is_within(uint32_t point, const struct range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (point >= ranges[i].first && point <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

#define IS_WITHIN(point, ranges) is_within(point, ranges, LENGTH(ranges))

/* The ASCII text that the letter looks like; NULL: none. */
static const char *look_of(uint32_t letter)
{
    for (size_t i = 0; i < LENGTH(looks); i++) {
        for (size_t j = 0; j < LOOKS_MAX && looks[i].letters[j] != 0; j++) {
            if (looks[i].letters[j] == letter) {
                return looks[i].text;
            }
        }
    }
    return NULL;
}

/* The letter of a small capital; 0: it is another character. */
static char small_capital_letter(uint32_t point)
{
    for (size_t i = 0; i < LENGTH(small_capitals); i++) {
        if (point == small_capitals[i]) {
            return (char)('a' + i);
        }
    }
    return '\0';
}

static unsigned class_of(uint32_t point)
{
    const uint32_t category = U_GET_GC_MASK((UChar32)point);
    UVersionInfo age;
    u_charAge((UChar32)point, age);
    if (age[0] == 0 || age[0] > UNICODE ||
        (category & (U_GC_CS_MASK | U_GC_CO_MASK)) != 0) {
        return FOLD_CLASS_BREAK;
    }
    if (IS_WITHIN(point, marks) ||
        u_hasBinaryProperty((UChar32)point, UCHAR_DEFAULT_IGNORABLE_CODE_POINT)) {
        return FOLD_CLASS_DROP;
    }
    if ((category & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK)) == 0) {
        return FOLD_CLASS_BREAK;
    }
    return IS_WITHIN(point, no_spaces) ? FOLD_CLASS_ALONE : FOLD_CLASS_LETTER;
}

/* NFKC with case folding, without marks, look-alikes replaced, composed again. Returns the length;
 * 0: the text is empty. */
static int32_t fold_point(uint32_t point, char ret[TEXT_MAX])
{
    UErrorCode status = U_ZERO_ERROR;
    UChar text[PARTS_MAX * LOOK_MAX];
    UChar folded[PARTS_MAX * LOOK_MAX];
    UChar32 parts[PARTS_MAX] = {(UChar32)point};
    UChar32 out[PARTS_MAX * LOOK_MAX];
    int32_t n = 1;
    int32_t nout = 0;
    u_strFromUTF32(text, PARTS_MAX, &n, parts, n, &status);
    n = unorm2_normalize(unorm2_getNFKCCasefoldInstance(&status), text, n, folded,
                         PARTS_MAX, &status);
    n = unorm2_normalize(unorm2_getNFDInstance(&status), folded, n, text, PARTS_MAX,
                         &status);
    u_strToUTF32(parts, PARTS_MAX, &n, text, n, &status);
    for (int32_t i = 0; U_SUCCESS(status) && i < n; i++) {
        const char *look = look_of((uint32_t)parts[i]);
        for (; look != NULL && *look != '\0'; look++) {
            out[nout++] = (unsigned char)*look;
        }
        if (look == NULL && !IS_WITHIN((uint32_t)parts[i], marks)) {
            out[nout++] = parts[i];
        }
    }
    u_strFromUTF32(text, PARTS_MAX * LOOK_MAX, &n, out, nout, &status);
    n = unorm2_normalize(unorm2_getNFCInstance(&status), text, n, folded,
                         PARTS_MAX * LOOK_MAX, &status);
    u_strToUTF8(ret, TEXT_MAX, &nout, folded, n, &status);
    return U_SUCCESS(status) ? nout : 0;
}

/* The class of a character, and its text if that differs from the character. */
static unsigned make_class(uint32_t point, char ret[FOLDED_MAX + 1])
{
    char text[TEXT_MAX] = {small_capital_letter(point)};
    char own[UTF8_MAX];
    int32_t n = text[0] != '\0';
    const unsigned class = class_of(point);
    if (class == FOLD_CLASS_BREAK || class == FOLD_CLASS_DROP) {
        return class;
    }
    if (u_charType((UChar32)point) == U_DECIMAL_DIGIT_NUMBER) {
        text[n++] = (char)('0' + u_charDigitValue((UChar32)point));
    } else if (n == 0) {
        n = fold_point(point, text);
    }
    const struct slice folded = slice_of(text, (size_t)n);
    if (n == 0 || n > FOLDED_MAX ||
        slice_eq(folded, slice_of(own, utf8_put(own, point)))) {
        return class;
    }
    memcpy(ret, text, folded.n);
    return FOLD_CLASSES;
}

static void make_page(uint32_t at)
{
    pthread_mutex_lock(&making);
    if (!atomic_load_explicit(&is_made[at], memory_order_relaxed)) {
        for (uint32_t i = 0; i < PAGE; i++) {
            pages[at].class[i] =
                (uint8_t)make_class((at << PAGE_BITS) + i, pages[at].text[i]);
        }
        atomic_store_explicit(&is_made[at], true, memory_order_release);
    }
    pthread_mutex_unlock(&making);
}

unsigned fold_table_class(uint32_t point)
{
    const uint32_t at = point >> PAGE_BITS;
    if (point >= 0x4e00 && point <= 0x9fff) { /* ideographs: no page is needed */
        return FOLD_CLASS_ALONE;
    }
    if (point >= 0xac00 && point <= 0xd7a3) { /* Hangul syllables stay composed */
        return FOLD_CLASS_LETTER;
    }
    if (point >= TABLE_END) {
        return point < 0x40000                       ? FOLD_CLASS_ALONE /* ideographs */
               : point >= 0xe0000 && point < 0xe1000 ? FOLD_CLASS_DROP
                                                     : FOLD_CLASS_BREAK;
    }
    if (!atomic_load_explicit(&is_made[at], memory_order_acquire)) {
        make_page(at);
    }
    const unsigned class = pages[at].class[point % PAGE];
    return class < FOLD_CLASSES ? class : FOLD_CLASSES + point;
}

bool fold_table_is_styled(uint32_t point)
{
    return (point >= 0x262 && point < 0x300 && small_capital_letter(point) != '\0') ||
           (point >= 0x1d00 && point < 0x1d80) || (point >= 0x24b6 && point < 0x24ea) ||
           (point >= 0x1d400 && point < 0x1d7ce) ||
           (point >= 0x1f110 && point < 0x1f18a);
}

bool fold_table_is_other_script(uint32_t point)
{
    return (point >= 0x370 && point < 0x1d00) || (point >= 0x2c80 && point < 0x2e00) ||
           (point >= 0xa4d0 && point < 0xa6a0) || (point >= 0xab70 && point < 0xabc0) ||
           point >= 0x10000;
}

bool fold_table_is_zero_width(uint32_t point)
{
    return (point >= 0x200b && point <= 0x200d) || point == 0x2060 || point == 0xfeff ||
           point == 0x180e;
}

struct slice fold_table_text(unsigned class)
{
    const uint32_t point = class - FOLD_CLASSES;
    const char *text = pages[point >> PAGE_BITS].text[point % PAGE];
    return slice_of(text, strnlen(text, FOLDED_MAX));
}
