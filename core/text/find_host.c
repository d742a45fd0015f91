/* find_host - asks libpsl with the name in lower case and A-labels. */
#include "core/text/find_host.h"

#include <libpsl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unicode/uidna.h>

#include "core/text/ascii.h"
#include "core/text/charset.h"
#include "core/text/host.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const psl_ctx_t *psl;
static const UIDNA *idna;

static void open_tables(void)
{
    UErrorCode status = U_ZERO_ERROR;

    psl = psl_latest(NULL);
    if (psl == NULL) {
        psl = psl_builtin();
    }
    idna = uidna_openUTS46(UIDNA_NONTRANSITIONAL_TO_ASCII | UIDNA_CHECK_BIDI, &status);
    if (U_FAILURE(status)) {
        idna = NULL;
    }
}

/* The name as the list has it, with a NUL; false when it is too long or no name. */
static bool list_form(struct slice name, char dst[HOST_NAME_MAX_BYTES + 1])
{
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    UErrorCode status = U_ZERO_ERROR;
    int32_t n = 0;
    size_t i = 0;

    (void)pthread_once(&once, open_tables);
    if (psl == NULL || name.n == 0) {
        return false;
    }
    if (charset_is_ascii(name)) {
        if (name.n > HOST_NAME_MAX_BYTES) {
            return false;
        }
        for (i = 0; i < name.n; i++) {
            dst[i] = ASCII_LOWER(name.p[i]);
        }
        dst[name.n] = '\0';
        return true;
    }
    if (idna == NULL) {
        return false;
    }
    n = uidna_nameToASCII_UTF8(idna, name.p, (int32_t)name.n, dst, HOST_NAME_MAX_BYTES,
                               &info, &status);
    if (U_FAILURE(status) || info.errors != 0 || n <= 0 || n > HOST_NAME_MAX_BYTES) {
        return false;
    }
    dst[n] = '\0';
    return true;
}

/* The last count labels of a name; all of it when it has not more. */
static const char *last_labels(const char *name, unsigned count)
{
    const char *p = name + strlen(name);

    while (p > name && (p[-1] != '.' || --count > 0)) {
        p--;
    }
    return p;
}

/* The list has a rule for this suffix; names of single organisations do not count. */
static bool is_listed(const char *suffix)
{
    return psl_is_public_suffix2(psl, suffix, PSL_TYPE_ICANN | PSL_TYPE_NO_STAR_RULE) ==
           1;
}

/* Top levels have letters only, or are A-labels. */
static bool may_be_top(const char *label)
{
    size_t i = 0;

    if (strncmp(label, "xn--", 4) == 0) {
        return true;
    }
    while (ASCII_IS(label[i], ASCII_ALPHA)) {
        i++;
    }
    return i >= 2 && label[i] == '\0';
}

/* Where the label that is registered begins, NULL when the name has no known suffix. */
static const char *registered(const char *name)
{
    const char *suffix = last_labels(name, 1);

    if (!may_be_top(suffix)) {
        return NULL;
    }
    if (!is_listed(suffix)) {
        suffix = last_labels(name, 2); /* some top levels register only below "co" */
        if (!is_listed(suffix)) {
            return NULL;
        }
    }
    do { /* the suffix may be longer: co.uk */
        if (suffix == name) {
            return NULL;
        }
        suffix--;
        while (suffix > name && suffix[-1] != '.') {
            suffix--;
        }
    } while (is_listed(suffix));
    return suffix[0] == '.' ? NULL : suffix;
}

bool find_host_has_suffix(struct slice name)
{
    char list[HOST_NAME_MAX_BYTES + 1];

    return list_form(name, list) && registered(list) != NULL;
}

bool find_host_is_top(struct slice text)
{
    char list[HOST_NAME_MAX_BYTES + 1];

    return list_form(text, list) && may_be_top(list) && is_listed(list);
}

bool find_host_is_impossible(struct slice name)
{
    char list[HOST_NAME_MAX_BYTES + 1];
    const char *reg = NULL;

    if (slice_find(name, '-') == name.n) {
        return false; /* most names */
    }
    reg = list_form(name, list) ? registered(list) : NULL;
    return reg != NULL && (reg[0] == '-' || reg[strcspn(reg, ".") - 1] == '-');
}

static bool is_one_of(const char *text, const char *const *names)
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

/* Hyphens at an end and empty labels are no host's; underscores not in what is registered. */
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

static bool is_digits(const char *p, size_t n)
{
    size_t i = 0;

    while (i < n && ASCII_IS(p[i], ASCII_DIGIT)) {
        i++;
    }
    return i == n;
}

/* "i.am", "No.1.in": short before a country's two letters. */
static bool is_short_label(const char *name, const char *reg, const char *top)
{
    size_t n = strcspn(reg, ".");

    return strlen(top) == 2 && (n == 1 || (reg == name && is_digits(reg, n)));
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
    /* top levels that are names of files first */
    static const char *const file_types[] = {"zip", "mov", "sh", "py", "rs", "md", "so",
                                             "ps",  "pm",  "mk", "bz", "tf", NULL};
    /* top levels that people write with a capital */
    static const char *const common[] = {"com", "net", "org",  "info", "biz",
                                         "edu", "gov", "name", NULL};
    char list[HOST_NAME_MAX_BYTES + 1];
    const char *reg = NULL;
    const char *top = NULL;

    if (slice_find(name, '.') == name.n || !list_form(name, list)) {
        return FIND_HOST_NONE;
    }
    reg = registered(list);
    if (reg == NULL || !has_good_labels(list, reg)) {
        return FIND_HOST_NONE;
    }
    top = last_labels(list, 1);
    if ((is_one_of(top, file_types) && reg == list) || is_short_label(list, reg, top) ||
        (!is_one_of(top, common) &&
         (is_title_case(last_label(name)) || is_odd_pair(name, top)))) {
        return FIND_HOST_DOUBTFUL;
    }
    return FIND_HOST_SURE;
}
