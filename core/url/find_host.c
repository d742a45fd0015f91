/* find_host - asks the suffix list with the name in lower case and A-labels. */
#include "core/url/find_host.h"

#include <stddef.h>
#include <string.h>

#include "core/base/unfilled.h"
#include "core/text/ascii.h"
#include "core/text/charset.h"
#include "core/url/host.h"
#include "core/url/host_idna.h"
#include "core/url/suffix.h"

/* The name as the list has it, with a NUL; false when it is too long or no name. */
static bool list_form(struct slice name, char dst[HOST_NAME_MAX_BYTES + 1])
{
    char mapped[HOST_INPUT_MAX] UNFILLED;
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
    if ((is_one_of(top, file_types) && reg == list) || is_short_label(list, reg, top) ||
        (!is_one_of(top, common) &&
         (is_title_case(last_label(name)) || is_odd_pair(name, top)))) {
        return FIND_HOST_DOUBTFUL;
    }
    return FIND_HOST_SURE;
}
