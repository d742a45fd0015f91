/* html_ref - the reader of references, and the table of names in byte order. */
#include "core/text/html_ref.h"

#include <string.h>

#include "core/text/ascii.h"

enum {
    CODE_MAX = 0x10ffff,
    CODE_REPLACEMENT = 0xfffd,
    BARE_MAX = 6 /* longest name below that needs no ';' */
};

struct entity {
    const char *name;
    uint16_t code;
    bool bare; /* also without ';' */
};

static const struct entity entities[] = {
    /* clang-format off */
    {"AElig", 198, true}, {"AMP", 38, true}, {"Aacute", 193, true},
    {"Acirc", 194, true}, {"Agrave", 192, true}, {"Alpha", 913, false},
    {"Aring", 197, true}, {"Atilde", 195, true}, {"Auml", 196, true},
    {"Beta", 914, false}, {"COPY", 169, true}, {"Ccedil", 199, true},
    {"Chi", 935, false}, {"Dagger", 8225, false}, {"Delta", 916, false},
    {"ETH", 208, true}, {"Eacute", 201, true}, {"Ecirc", 202, true},
    {"Egrave", 200, true}, {"Epsilon", 917, false}, {"Eta", 919, false},
    {"Euml", 203, true}, {"GT", 62, true}, {"Gamma", 915, false}, {"Hat", 94, false},
    {"Iacute", 205, true}, {"Icirc", 206, true}, {"Igrave", 204, true},
    {"Iota", 921, false}, {"Iuml", 207, true}, {"Kappa", 922, false}, {"LT", 60, true},
    {"Lambda", 923, false}, {"Mu", 924, false}, {"NewLine", 10, false},
    {"NoBreak", 8288, false}, {"NonBreakingSpace", 160, false}, {"Ntilde", 209, true},
    {"Nu", 925, false}, {"OElig", 338, false}, {"Oacute", 211, true},
    {"Ocirc", 212, true}, {"Ograve", 210, true}, {"Omega", 937, false},
    {"Omicron", 927, false}, {"Oslash", 216, true}, {"Otilde", 213, true},
    {"Ouml", 214, true}, {"Phi", 934, false}, {"Pi", 928, false},
    {"Prime", 8243, false}, {"Psi", 936, false}, {"QUOT", 34, true}, {"REG", 174, true},
    {"Rho", 929, false}, {"Scaron", 352, false}, {"Sigma", 931, false},
    {"THORN", 222, true}, {"Tab", 9, false}, {"Tau", 932, false}, {"Theta", 920, false},
    {"Uacute", 218, true}, {"Ucirc", 219, true}, {"Ugrave", 217, true},
    {"UnderBar", 95, false}, {"Upsilon", 933, false}, {"Uuml", 220, true},
    {"Xi", 926, false}, {"Yacute", 221, true}, {"Yuml", 376, false},
    {"ZeroWidthSpace", 8203, false}, {"Zeta", 918, false}, {"aacute", 225, true},
    {"acirc", 226, true}, {"acute", 180, true}, {"aelig", 230, true},
    {"agrave", 224, true}, {"alefsym", 8501, false}, {"alpha", 945, false},
    {"amp", 38, true}, {"and", 8743, false}, {"ang", 8736, false}, {"apos", 39, false},
    {"aring", 229, true}, {"ast", 42, false}, {"asymp", 8776, false},
    {"atilde", 227, true}, {"auml", 228, true}, {"bdquo", 8222, false},
    {"beta", 946, false}, {"brvbar", 166, true}, {"bsol", 92, false},
    {"bull", 8226, false}, {"cap", 8745, false}, {"ccedil", 231, true},
    {"cedil", 184, true}, {"cent", 162, true}, {"chi", 967, false},
    {"circ", 710, false}, {"clubs", 9827, false}, {"colon", 58, false},
    {"comma", 44, false}, {"commat", 64, false}, {"cong", 8773, false},
    {"copy", 169, true}, {"crarr", 8629, false}, {"cup", 8746, false},
    {"curren", 164, true}, {"dArr", 8659, false}, {"dagger", 8224, false},
    {"darr", 8595, false}, {"dash", 8208, false}, {"deg", 176, true},
    {"delta", 948, false}, {"diams", 9830, false}, {"divide", 247, true},
    {"dollar", 36, false}, {"eacute", 233, true}, {"ecirc", 234, true},
    {"egrave", 232, true}, {"empty", 8709, false}, {"emsp", 8195, false},
    {"ensp", 8194, false}, {"epsilon", 949, false}, {"equals", 61, false},
    {"equiv", 8801, false}, {"eta", 951, false}, {"eth", 240, true},
    {"euml", 235, true}, {"euro", 8364, false}, {"excl", 33, false},
    {"exist", 8707, false}, {"fnof", 402, false}, {"forall", 8704, false},
    {"frac12", 189, true}, {"frac14", 188, true}, {"frac34", 190, true},
    {"frasl", 8260, false}, {"gamma", 947, false}, {"ge", 8805, false},
    {"grave", 96, false}, {"gt", 62, true}, {"hArr", 8660, false},
    {"harr", 8596, false}, {"hearts", 9829, false}, {"hellip", 8230, false},
    {"hyphen", 8208, false}, {"iacute", 237, true}, {"icirc", 238, true},
    {"iexcl", 161, true}, {"igrave", 236, true}, {"image", 8465, false},
    {"infin", 8734, false}, {"int", 8747, false}, {"iota", 953, false},
    {"iquest", 191, true}, {"isin", 8712, false}, {"iuml", 239, true},
    {"kappa", 954, false}, {"lArr", 8656, false}, {"lambda", 955, false},
    {"lang", 9001, false}, {"laquo", 171, true}, {"larr", 8592, false},
    {"lbrack", 91, false}, {"lceil", 8968, false}, {"lcub", 123, false},
    {"ldquo", 8220, false}, {"le", 8804, false}, {"lfloor", 8970, false},
    {"lowast", 8727, false}, {"lowbar", 95, false}, {"loz", 9674, false},
    {"lpar", 40, false}, {"lrm", 8206, false}, {"lsaquo", 8249, false},
    {"lsqb", 91, false}, {"lsquo", 8216, false}, {"lt", 60, true}, {"macr", 175, true},
    {"mdash", 8212, false}, {"micro", 181, true}, {"midast", 42, false},
    {"middot", 183, true}, {"minus", 8722, false}, {"mu", 956, false},
    {"nabla", 8711, false}, {"nbsp", 160, true}, {"ndash", 8211, false},
    {"ne", 8800, false}, {"ni", 8715, false}, {"not", 172, true},
    {"notin", 8713, false}, {"nsub", 8836, false}, {"ntilde", 241, true},
    {"nu", 957, false}, {"num", 35, false}, {"oacute", 243, true}, {"ocirc", 244, true},
    {"oelig", 339, false}, {"ograve", 242, true}, {"oline", 8254, false},
    {"omega", 969, false}, {"omicron", 959, false}, {"oplus", 8853, false},
    {"or", 8744, false}, {"ordf", 170, true}, {"ordm", 186, true},
    {"oslash", 248, true}, {"otilde", 245, true}, {"otimes", 8855, false},
    {"ouml", 246, true}, {"para", 182, true}, {"part", 8706, false},
    {"percnt", 37, false}, {"period", 46, false}, {"permil", 8240, false},
    {"perp", 8869, false}, {"phi", 966, false}, {"pi", 960, false}, {"piv", 982, false},
    {"plus", 43, false}, {"plusmn", 177, true}, {"pound", 163, true},
    {"prime", 8242, false}, {"prod", 8719, false}, {"prop", 8733, false},
    {"psi", 968, false}, {"quest", 63, false}, {"quot", 34, true},
    {"rArr", 8658, false}, {"radic", 8730, false}, {"rang", 9002, false},
    {"raquo", 187, true}, {"rarr", 8594, false}, {"rbrack", 93, false},
    {"rceil", 8969, false}, {"rcub", 125, false}, {"rdquo", 8221, false},
    {"real", 8476, false}, {"reg", 174, true}, {"rfloor", 8971, false},
    {"rho", 961, false}, {"rlm", 8207, false}, {"rpar", 41, false},
    {"rsaquo", 8250, false}, {"rsqb", 93, false}, {"rsquo", 8217, false},
    {"sbquo", 8218, false}, {"scaron", 353, false}, {"sdot", 8901, false},
    {"sect", 167, true}, {"semi", 59, false}, {"shy", 173, true}, {"sigma", 963, false},
    {"sigmaf", 962, false}, {"sim", 8764, false}, {"sol", 47, false},
    {"spades", 9824, false}, {"sub", 8834, false}, {"sube", 8838, false},
    {"sum", 8721, false}, {"sup", 8835, false}, {"sup1", 185, true},
    {"sup2", 178, true}, {"sup3", 179, true}, {"supe", 8839, false},
    {"szlig", 223, true}, {"tau", 964, false}, {"there4", 8756, false},
    {"theta", 952, false}, {"thetasym", 977, false}, {"thinsp", 8201, false},
    {"thorn", 254, true}, {"tilde", 732, false}, {"times", 215, true},
    {"trade", 8482, false}, {"uArr", 8657, false}, {"uacute", 250, true},
    {"uarr", 8593, false}, {"ucirc", 251, true}, {"ugrave", 249, true},
    {"uml", 168, true}, {"upsih", 978, false}, {"upsilon", 965, false},
    {"uuml", 252, true}, {"verbar", 124, false}, {"vert", 124, false},
    {"weierp", 8472, false}, {"xi", 958, false}, {"yacute", 253, true},
    {"yen", 165, true}, {"yuml", 255, true}, {"zeta", 950, false}, {"zwj", 8205, false},
    {"zwnj", 8204, false},
    /* clang-format on */
};

/* What numbers from 128 to 159 mean: windows-1252, 0 where it has nothing. */
static const uint16_t high_controls[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
    0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
    0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

void html_ref_init(struct html_ref *r)
{
    r->kind = HTML_REF_NAME;
    r->held[0] = '&';
    r->nheld = 1;
    r->digits = false;
    r->value = 0;
}

static void hold(struct html_ref *r, char c)
{
    r->held[r->nheld++] = c;
}

static bool add_digit(struct html_ref *r, char c)
{
    unsigned base = r->kind == HTML_REF_HEX ? 16 : 10;
    unsigned digit = ascii_hex[(unsigned char)c];

    if (digit >= base) {
        return false;
    }
    r->digits = true;
    if (r->value <= CODE_MAX) {
        r->value = r->value * base + digit;
    }
    return true;
}

bool html_ref_add(struct html_ref *r, char c, bool *retdone)
{
    *retdone = false;
    if (r->kind == HTML_REF_NAME) {
        if (r->nheld == 1 && c == '#') {
            r->kind = HTML_REF_DECIMAL;
            hold(r, c);
            return true;
        }
        if (c == ';' && r->nheld > 1) {
            hold(r, c);
            *retdone = true;
            return true;
        }
        if (!ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT) || r->nheld == HTML_REF_HELD - 1) {
            return false;
        }
        hold(r, c);
        return true;
    }
    if (r->kind == HTML_REF_DECIMAL && !r->digits && ASCII_LOWER(c) == 'x') {
        r->kind = HTML_REF_HEX;
        hold(r, c);
        return true;
    }
    if (c == ';' && r->digits) {
        *retdone = true;
        return true;
    }
    return add_digit(r, c);
}

/* UTF-8 of a code point of at most 16 bits or a supplementary one; returns its length. */
static size_t put_code(uint32_t c, char *dst)
{
    size_t n = 0;

    if (c < 0x80) {
        dst[n++] = (char)c;
        return n;
    }
    if (c < 0x800) {
        dst[n++] = (char)(unsigned char)(0xc0 | (c >> 6));
    } else if (c < 0x10000) {
        dst[n++] = (char)(unsigned char)(0xe0 | (c >> 12));
        dst[n++] = (char)(unsigned char)(0x80 | ((c >> 6) & 0x3f));
    } else {
        dst[n++] = (char)(unsigned char)(0xf0 | (c >> 18));
        dst[n++] = (char)(unsigned char)(0x80 | ((c >> 12) & 0x3f));
        dst[n++] = (char)(unsigned char)(0x80 | ((c >> 6) & 0x3f));
    }
    dst[n++] = (char)(unsigned char)(0x80 | (c & 0x3f));
    return n;
}

static uint32_t number_code(uint32_t value)
{
    if (value >= 0x80 && value < 0xa0 && high_controls[value - 0x80] != 0) {
        return high_controls[value - 0x80];
    }
    if (value == 0 || value > CODE_MAX || (value >= 0xd800 && value <= 0xdfff)) {
        return CODE_REPLACEMENT;
    }
    return value;
}

static const struct entity *find_entity(struct slice name)
{
    size_t low = 0;
    size_t high = sizeof(entities) / sizeof(entities[0]);

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = slice_cmp(name, slice_str(entities[middle].name));

        if (order == 0) {
            return &entities[middle];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

static struct slice name_text(const struct html_ref *r, bool in_value, char next,
                              char dst[HTML_REF_OUT])
{
    struct slice held = slice_of(r->held, r->nheld);
    bool closed = held.p[held.n - 1] == ';';
    struct slice name = slice_of(held.p + 1, held.n - 1 - (closed ? 1 : 0));
    const struct entity *e = closed ? find_entity(name) : NULL;
    size_t used = held.n;
    size_t n = 0;

    if (e == NULL) {
        size_t whole = name.n;

        name = slice_head(name, BARE_MAX);
        while (name.n >= 2 && (e == NULL || !e->bare)) {
            e = find_entity(name);
            used = name.n + 1;
            name.n--;
        }
        if (e == NULL || !e->bare ||
            (in_value && (used < whole + 1 ||
                          (!closed && (next == '=' ||
                                       ASCII_IS(next, ASCII_ALPHA | ASCII_DIGIT)))))) {
            memcpy(dst, held.p, held.n);
            return slice_of(dst, held.n);
        }
    }
    n = put_code(e->code, dst);
    memcpy(dst + n, held.p + used, held.n - used);
    return slice_of(dst, n + held.n - used);
}

struct slice html_ref_text(const struct html_ref *r, bool in_value, char next,
                           char dst[HTML_REF_OUT])
{
    if (r->kind == HTML_REF_NAME) {
        return name_text(r, in_value, next, dst);
    }
    if (r->digits) {
        return slice_of(dst, put_code(number_code(r->value), dst));
    }
    memcpy(dst, r->held, r->nheld);
    return slice_of(dst, r->nheld);
}
