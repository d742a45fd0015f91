/* find_host - asks the suffix list with the name in lower case and A-labels. */
#include "core/message/url/find_host.h"

#include "core/base/uninitialized.h"
#include "core/message/text/ascii.h"
#include "core/message/text/charset.h"
#include "core/message/url/host.h"
#include "core/message/url/host_idna.h"
#include "core/message/url/suffix.h"

/* The name as the list has it, with a NUL; false when it is too long or no name. */
static bool list_form(struct slice name, char dst[HOST_NAME_MAX_BYTES + 1])
{
    char mapped[HOST_INPUT_MAX] UNINITIALIZED;
    size_t i = 0;

    if (name.n == 0) {
        return false;
    }
    if (charset_is_ascii(name)) {
        if (name.n > HOST_NAME_MAX_BYTES) {
            return false;
        }
        do {
            dst[i] = ASCII_LOWER(name.p[i]);
        } while (++i < name.n);
        dst[name.n] = '\0';
        return true;
    }
    name = slice_of(mapped, host_to_ascii(name, mapped));
    if (name.n == 0 || name.n > HOST_NAME_MAX_BYTES) {
        return false;
    }
    memcpy(dst, mapped, name.n);
    dst[name.n] = '\0';
    return true;
}

/* The last label. */
static const char *top_of(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot != NULL ? dot + 1 : name;
}

/* Top levels have letters only, or are A-labels. */
static bool may_be_top(const char *label)
{
    size_t n = strlen(label);
    size_t i = 0;

    if (strncmp(label, "xn--", 4) == 0) {
        return true;
    }
    while (i < n && ASCII_IS(label[i], ASCII_ALPHA)) {
        i++;
    }
    return i >= 2 && i == n;
}

/* Where the label that is registered begins, NULL when the name has no known suffix. */
static const char *registered(const char *name)
{
    size_t n = strlen(name);
    size_t tail = may_be_top(top_of(name)) ? suffix_registered(slice_of(name, n)) : 0;

    return tail > 0 ? name + (n - tail) : NULL;
}

bool find_host_has_suffix(struct slice name)
{
    char list[HOST_NAME_MAX_BYTES + 1] = "";

    return list_form(name, list) && registered(list) != NULL;
}

bool find_host_is_top(struct slice text)
{
    char list[HOST_NAME_MAX_BYTES + 1] = "";

    return list_form(text, list) && may_be_top(list) && suffix_is_top(slice_str(list));
}

bool find_host_is_impossible(struct slice name)
{
    char list[HOST_NAME_MAX_BYTES + 1] = "";
    const char *reg = NULL;

    if (slice_find(name, '-') == name.n) {
        return false; /* most names */
    }
    reg = list_form(name, list) ? registered(list) : NULL;
    return reg != NULL && (reg[0] == '-' || reg[strcspn(reg, ".") - 1] == '-');
}

static bool is_one_of_labels(const char *text, const char *const *names)
{
    while (*names != NULL && strcmp(text, *names) != 0) {
        names++;
    }
    return *names != NULL;
}

/* "ends.Next": a capital, then small letters. */
static bool is_title_case(struct slice label)
{
    size_t i = 1;

    while (i < label.n && label.p[i] >= 'a' && label.p[i] <= 'z') {
        i++;
    }
    return label.n > 1 && i == label.n && label.p[0] >= 'A' && label.p[0] <= 'Z';
}

static bool is_digits(const char *p, size_t n)
{
    size_t i = 0;

    while (i < n && ASCII_IS(p[i], ASCII_DIGIT)) {
        i++;
    }
    return i == n;
}

/* No label is empty or has a hyphen at an end, and the registrable part has no underscore. */
static bool has_good_labels(const char *name, const char *reg)
{
    const char *p = name;

    for (p = name; *p != '\0'; p++) {
        bool begins = p == name || p[-1] == '.';
        bool ends = p[1] == '.' || p[1] == '\0';

        if ((*p == '-' && (begins || ends)) || (*p == '_' && p >= reg) ||
            (*p == '.' && begins)) {
            return false;
        }
    }
    return true;
}

/* "i.am", "No.1.in": short before a country's two letters. */
static bool is_short_label(const char *name, const char *reg, const char *top)
{
    size_t n = strcspn(reg, ".");

    return strlen(top) == 2 && (n == 1 || (reg == name && is_digits(reg, n)));
}

/* Top levels of letters that are neither words nor suffixes of files: the old ones, acronyms and
 * places. Sorted. Registries have a thousand more, and nearly all are words ("app", "security"). */
static const char *const plain_tops[] = {
    "abudhabi",   "aero",     "africa",  "alsace",    "amsterdam", "asia",
    "barcelona",  "bayern",   "berlin",  "biz",       "boston",    "brussels",
    "bzh",        "capetown", "cfd",     "cologne",   "com",       "coop",
    "corsica",    "cymru",    "cyou",    "dubai",     "durban",    "edu",
    "eus",        "frl",      "gent",    "gov",       "hamburg",   "helsinki",
    "icu",        "info",     "int",     "istanbul",  "joburg",    "koeln",
    "kyoto",      "london",   "madrid",  "melbourne", "miami",     "mil",
    "mobi",       "moscow",   "museum",  "nagoya",    "net",       "ngo",
    "nrw",        "nyc",      "okinawa", "ong",       "ooo",       "org",
    "osaka",      "ovh",      "paris",   "qpon",      "quebec",    "ruhr",
    "ryukyu",     "saarland", "sbs",     "scot",      "stockholm", "sydney",
    "taipei",     "tatar",    "tirol",   "tokyo",     "travel",    "vegas",
    "vlaanderen", "wales",    "wang",    "wien",      "xin",       "xxx",
    "xyz",        "yokohama", "zuerich"};

/* Countries whose two letters are a common English word, or the suffix of files that people write
 * about: sources, scripts, configuration, documents. Sorted. */
static const char word_countries[][3] = {
    "ad", "ai", "al", "am", "as", "at", "be", "by", "bz", "cc", "cf",
    "cl", "do", "gs", "id", "in", "is", "it", "la", "mc", "md", "me",
    "mk", "ml", "mm", "mo", "ms", "my", "no", "pl", "pm", "ps", "py",
    "re", "rs", "sc", "sh", "sl", "so", "ss", "st", "tf", "to"};

static int compare_name(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *)row);
}

static int compare_country(const void *key, const void *row)
{
    return strcmp(key, row);
}

/* More often a word or a file's suffix than the end of a host. */
static bool is_word_top(const char *top)
{
    if (strncmp(top, "xn--", 4) == 0) {
        return false;
    }
    if (strlen(top) == 2) {
        return bsearch(top, word_countries, LENGTH(word_countries),
                       sizeof(word_countries[0]), compare_country) != NULL;
    }
    return bsearch(top, plain_tops, LENGTH(plain_tops), sizeof(plain_tops[0]),
                   compare_name) == NULL;
}

/* "2.0.9-sf.net": two numbers and a word that begins with one are a version. */
static bool is_version(const char *name, const char *reg)
{
    size_t n = strcspn(name, ".");
    const char *second = name + n + 1;

    return name < reg && second < reg && is_digits(name, n) &&
           is_digits(second, strcspn(second, ".")) && ASCII_IS(reg[0], ASCII_DIGIT);
}

/* "yiez7too": a digit amid letters makes no word, and hardly the name of a file. */
static bool is_no_word(const char *label)
{
    for (; label[0] != '\0' && label[1] != '\0' && label[1] != '.'; label++) {
        if (ASCII_IS(label[0], ASCII_ALPHA) && ASCII_IS(label[1], ASCII_DIGIT) &&
            ASCII_IS(label[2], ASCII_ALPHA)) {
            return true;
        }
    }
    return false;
}

/* The suffix has more than the top level: "co.in" of a registry, "github.io" of a hoster. No word
 * ends so by chance. */
static bool has_long_suffix(const char *name, const char *reg)
{
    const char *dot = strchr(reg, '.');

    return strchr(dot + 1, '.') != NULL ||
           suffix_registrable(slice_str(name)) > strlen(reg);
}

/* "...SENTENCE.mba": a script without spaces touches a top level that is not much used with it. */
static bool is_odd_pair(struct slice name, const char *top)
{
    size_t i = 0;

    while (i < name.n && (unsigned char)name.p[i] < 0xe0) { /* from U+0800 on */
        i++;
    }
    return i < name.n && strlen(top) > 2 && strncmp(top, "xn--", 4) != 0;
}

static struct slice last_label(struct slice name)
{
    size_t i = name.n;

    while (i > 0 && name.p[i - 1] != '.') {
        i--;
    }
    return slice_from(name, i);
}

enum find_host find_host_check(struct slice name)
{
    /* top levels that people write with a capital */
    static const char *const common[] = {"com", "net", "org",  "info", "biz",
                                         "edu", "gov", "name", NULL};
    char list[HOST_NAME_MAX_BYTES + 1] = "";
    const char *reg = NULL;
    const char *top = NULL;

    if (slice_find(name, '.') == name.n || !list_form(name, list)) {
        return FIND_HOST_NONE;
    }
    reg = registered(list);
    if (reg == NULL || !has_good_labels(list, reg)) {
        return FIND_HOST_NONE;
    }
    top = top_of(list);
    if ((is_word_top(top) && !is_no_word(reg) && !has_long_suffix(list, reg)) ||
        is_version(list, reg) || is_short_label(list, reg, top) ||
        (!is_one_of_labels(top, common) &&
         (is_title_case(last_label(name)) || is_odd_pair(name, top)))) {
        return FIND_HOST_DOUBTFUL;
    }
    return FIND_HOST_SURE;
}
