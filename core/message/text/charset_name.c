#include "core/message/text/charset_name.h"

#include "core/message/text/ascii.h"

enum { CHARSET_NAME_MAX = 19 }; /* longest key below */

/* The keys of a charset, each between blanks, in lower case, letters and digits only. */
static const struct {
    enum charset_kind kind;
    const char *icu;
    const char *keys;
} charset_rows[] = {
    /* clang-format off: the name, then the keys */
    {CHARSET_UTF8, NULL,
     " cp65001 csutf8 unicode11utf8 unicode20utf8 utf8 utf8mb4 utf8sig "
     "xunicode20utf8 "},
    {CHARSET_WESTERN, NULL,
     " 1252 646 ansi ansix341968 ansix341986 ascii cp1252 cp367 cp819 csascii "
     "csisolatin1 ibm367 ibm819 iso646irv1991 iso646us iso88591 iso885911987 "
     "isoir100 isoir6 l1 latin1 us usascii win1252 windows1252 xcp1252 "},
    {CHARSET_ICU, "Big5-HKSCS",
     " 950 big5 big5hk big5hkscs cnbig5 cp950 csbig5 windows950 xxbig5 "},
    {CHARSET_ICU, "EUC-JP", " cseucpkdfmtjapanese eucjp ujis xeucjp "},
    {CHARSET_ICU, "EUC-TW", " euctw xeuctw "},
    {CHARSET_ICU, "gb18030",
     " 936 chinese cp936 csgb2312 csiso58gb231280 euccn gb18030 gb2312 "
     "gb231280 gbk isoir58 ms936 windows936 xgbk "},
    {CHARSET_ICU, "HZ-GB-2312", " hz hzgb hzgb2312 "},
    {CHARSET_ICU, "ibm-437", " 437 cp437 dos437 ibm437 pc437 "},
    {CHARSET_ICU, "ibm-737", " 737 cp737 dos737 ibm737 pc737 "},
    {CHARSET_ICU, "ibm-775", " 775 cp775 dos775 ibm775 pc775 "},
    {CHARSET_ICU, "ibm-850", " 850 cp850 dos850 ibm850 pc850 "},
    {CHARSET_ICU, "ibm-852", " 852 cp852 dos852 ibm852 pc852 "},
    {CHARSET_ICU, "ibm-855", " 855 cp855 dos855 ibm855 pc855 "},
    {CHARSET_ICU, "ibm-857", " 857 cp857 dos857 ibm857 pc857 "},
    {CHARSET_ICU, "ibm-858", " 858 cp858 dos858 ibm858 pc858 "},
    {CHARSET_ICU, "ibm-860", " 860 cp860 dos860 ibm860 pc860 "},
    {CHARSET_ICU, "ibm-861", " 861 cp861 dos861 ibm861 pc861 "},
    {CHARSET_ICU, "ibm-862", " 862 cp862 dos862 ibm862 pc862 "},
    {CHARSET_ICU, "ibm-863", " 863 cp863 dos863 ibm863 pc863 "},
    {CHARSET_ICU, "ibm-864", " 864 cp864 dos864 ibm864 pc864 "},
    {CHARSET_ICU, "ibm-865", " 865 cp865 dos865 ibm865 pc865 "},
    {CHARSET_ICU, "ibm-866", " 866 cp866 csibm866 dos866 ibm866 pc866 "},
    {CHARSET_ICU, "ibm-869", " 869 cp869 dos869 ibm869 pc869 "},
    {CHARSET_ICU, "ibm-943_P15A-2003",
     " 932 cp932 csshiftjis ms932 mskanji shiftjis sjis windows31j windows932 "
     "xsjis "},
    {CHARSET_ICU, "ISO-2022-CN", " iso2022cn iso2022cnext "},
    {CHARSET_ICU, "ISO-2022-JP", " cp50220 cp50221 csiso2022jp iso2022jp iso2022jpms "},
    {CHARSET_ICU, "ISO-2022-JP-1", " iso2022jp1 "},
    {CHARSET_ICU, "ISO-2022-JP-2", " iso2022jp2 iso2022jp3 iso2022jpext "},
    {CHARSET_ICU, "ISO-2022-KR", " csiso2022kr iso2022kr "},
    {CHARSET_ICU, "iso-8859-10", " 885910 csisolatin6 iso885910 l6 latin6 "},
    {CHARSET_ICU, "iso-8859-13", " 885913 iso885913 "},
    {CHARSET_ICU, "iso-8859-14", " 885914 iso885914 "},
    {CHARSET_ICU, "iso-8859-15", " 885915 csisolatin9 iso885915 l9 latin9 "},
    {CHARSET_ICU, "iso-8859-2", " 88592 csisolatin2 iso88592 iso885921987 l2 latin2 "},
    {CHARSET_ICU, "iso-8859-3", " 88593 csisolatin3 iso88593 l3 latin3 "},
    {CHARSET_ICU, "iso-8859-4", " 88594 csisolatin4 iso88594 l4 latin4 "},
    {CHARSET_ICU, "iso-8859-5", " 88595 csisolatincyrillic cyrillic iso88595 "},
    {CHARSET_ICU, "iso-8859-6",
     " 88596 arabic asmo708 csisolatinarabic ecma114 iso88596 iso88596e "
     "iso88596i "},
    {CHARSET_ICU, "iso-8859-7",
     " 88597 csisolatingreek ecma118 elot928 greek greek8 iso88597 "},
    {CHARSET_ICU, "iso-8859-8",
     " 88598 csisolatinhebrew hebrew iso88598 iso88598e iso88598i logical "
     "visual "},
    {CHARSET_ICU, "KOI8-R", " cskoi8r koi koi8 koi8r "},
    {CHARSET_ICU, "KOI8-U", " koi8ru koi8u "},
    {CHARSET_ICU, "macintosh", " csmacintosh mac macintosh macroman xmacroman "},
    {CHARSET_ICU, "UTF-16", " csutf16 iso10646ucs2 ucs2 utf16 "},
    {CHARSET_ICU, "UTF-16BE", " unicodefffe utf16be "},
    {CHARSET_ICU, "UTF-16LE", " csunicode unicode unicodefeff utf16le "},
    {CHARSET_ICU, "UTF-32", " iso10646ucs4 ucs4 utf32 "},
    {CHARSET_ICU, "UTF-32BE", " utf32be "},
    {CHARSET_ICU, "UTF-32LE", " utf32le "},
    {CHARSET_ICU, "UTF-7",
     " csunicode11utf7 unicode11utf7 unicode20utf7 utf7 xunicode20utf7 "},
    {CHARSET_ICU, "windows-1250", " cp1250 win1250 windows1250 xcp1250 "},
    {CHARSET_ICU, "windows-1251", " ansi1251 cp1251 win1251 windows1251 xcp1251 "},
    {CHARSET_ICU, "windows-1253", " cp1253 win1253 windows1253 xcp1253 "},
    {CHARSET_ICU, "windows-1254",
     " cp1254 csisolatin5 iso88599 l5 latin5 win1254 windows1254 xcp1254 "},
    {CHARSET_ICU, "windows-1255", " cp1255 win1255 windows1255 xcp1255 "},
    {CHARSET_ICU, "windows-1256", " cp1256 win1256 windows1256 xcp1256 "},
    {CHARSET_ICU, "windows-1257", " cp1257 win1257 windows1257 xcp1257 "},
    {CHARSET_ICU, "windows-1258", " cp1258 win1258 windows1258 xcp1258 "},
    {CHARSET_ICU, "windows-874", " cp874 dos874 iso885911 tis620 windows874 "},
    {CHARSET_ICU, "windows-949-2000",
     " 949 cp949 cseuckr csksc56011987 euckr isoir149 korean ksc5601 "
     "ksc56011987 ksc56011989 uhc windows949 "},
    {CHARSET_ICU, "x-mac-cyrillic", " maccyrillic xmaccyrillic xmacukrainian "},
    /* clang-format on */
};

/* Puts the key of name between blanks; false when it is empty or longer than every known one. */
static bool make_key(struct slice name, char key[CHARSET_NAME_MAX + 3])
{
    size_t n = 0;

    key[n++] = ' ';
    for (size_t i = 0; i < name.n; i++) {
        if (!ASCII_IS(name.p[i], ASCII_ALPHA | ASCII_DIGIT)) {
            continue;
        }
        if (n > CHARSET_NAME_MAX) {
            return false;
        }
        key[n++] = ASCII_LOWER(name.p[i]);
    }
    key[n] = ' ';
    key[n + 1] = '\0';
    return n > 1;
}

enum charset_kind charset_name_kind(struct slice name, const char **reticu)
{
    char key[CHARSET_NAME_MAX + 3];

    if (!make_key(name, key)) {
        return CHARSET_UNKNOWN;
    }
    for (size_t i = 0; i < LENGTH(charset_rows); i++) {
        if (strstr(charset_rows[i].keys, key) != NULL) {
            if (charset_rows[i].kind == CHARSET_ICU) {
                *reticu = charset_rows[i].icu;
            }
            return charset_rows[i].kind;
        }
    }
    return CHARSET_UNKNOWN;
}
