#include "core/message/trait/mailer_trait.h"

#include "core/message/text/ascii.h"

enum { BOUNDARIES_MAX = 3 };

enum id_form {
    ID_ANY,
    ID_UUID, /* 8-4-4-4-12 hexadecimal digits */
    ID_DOLLARS, /* hexadecimal digits, '$', the same, '$', the same; or letters and digits alone */
    ID_NUMBERS /* digits, '.', digits */
};

/* A program by the beginning of its name. The first that fits counts. */
static const struct program {
    const char *name;
    const char *boundaries[BOUNDARIES_MAX]; /* none: any */
    enum id_form id;
    bool writes_mimeole;
} programs[] = {
    {"Microsoft Outlook Express Mac", {NULL}, ID_ANY, false},
    {"Microsoft Outlook Express", {"----=_NextPart_"}, ID_DOLLARS, true},
    {"Microsoft Windows Mail", {"----=_NextPart_"}, ID_ANY, true},
    {"Microsoft Windows Live Mail", {"----=_NextPart_"}, ID_ANY, true},
    {"Microsoft Outlook", {"----=_NextPart_", "----_=_NextPart_"}, ID_ANY, false},
    {"Microsoft Office Outlook",
     {"----=_NextPart_", "----_=_NextPart_"},
     ID_ANY,
     false},
    {"Internet Mail Service", {"----_=_NextPart_"}, ID_ANY, false},
    {"Apple Mail", {"Apple-Mail"}, ID_UUID, false},
    {"iPhone Mail", {"Apple-Mail"}, ID_UUID, false},
    {"iPad Mail", {"Apple-Mail"}, ID_UUID, false},
    {"The Bat!", {"----------"}, ID_NUMBERS, false},
};

static size_t skip_hex(struct slice s, size_t i)
{
    while (i < s.n && ASCII_IS(s.p[i], ASCII_HEX)) {
        i++;
    }
    return i;
}

static bool is_uuid(struct slice s)
{
    static const size_t ends[] = {8, 13, 18, 23, 36};
    size_t i = 0;
    for (size_t k = 0; k < LENGTH(ends); k++) {
        i = skip_hex(s, i);
        if (i != ends[k] || (i < 36 && (i >= s.n || s.p[i] != '-'))) {
            return false;
        }
        i++;
    }
    return s.n == 36;
}

static bool is_alnum_only(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (!ASCII_IS(s.p[i], ASCII_ALPHA | ASCII_DIGIT)) {
            return false;
        }
    }
    return s.n > 0;
}

static bool is_of_dollars(struct slice s)
{
    size_t one = skip_hex(s, 0);
    size_t two = one < s.n && s.p[one] == '$' ? skip_hex(s, one + 1) : 0;
    return (two > one && two < s.n && s.p[two] == '$' && skip_hex(s, two + 1) == s.n) ||
           is_alnum_only(s) || slice_has_prefix(s, SLICE_LIT("BAY")) ||
           slice_has_prefix(s, SLICE_LIT("BLU"));
}

static bool is_of_numbers(struct slice s)
{
    size_t dots = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '.' && !ASCII_IS(s.p[i], ASCII_DIGIT)) {
            return false;
        }
        dots += s.p[i] == '.';
    }
    return s.n > 2 && dots == 1;
}

static bool fits_id(enum id_form form, struct slice field)
{
    struct slice id = slice_trim(field);
    id = slice_from(id, id.n > 0 && id.p[0] == '<');
    id = slice_head(id, slice_find(id, '@'));
    switch (form) {
    case ID_UUID:
        return is_uuid(id);
    case ID_DOLLARS:
        return is_of_dollars(id);
    case ID_NUMBERS:
        return is_of_numbers(id);
    case ID_ANY:
        break;
    }
    return true;
}

static bool fits_boundary(const struct program *program, struct slice boundary)
{
    for (size_t i = 0; i < BOUNDARIES_MAX && program->boundaries[i] != NULL; i++) {
        if (slice_has_prefix(boundary, slice_str(program->boundaries[i]))) {
            return true;
        }
    }
    return false;
}

void mailer_traits(const struct mailer_facts *facts, struct traits *ret)
{
    for (size_t i = 0; i < LENGTH(programs); i++) {
        const struct program *p = &programs[i];
        if (slice_has_prefix_nocase(facts->mailer, slice_str(p->name))) {
            bool has_boundary = facts->boundary.n > 0 && !facts->is_of_list;
            traits_note(
                ret, TRAIT_mailer_lies,
                (p->writes_mimeole && !facts->has_mimeole) ||
                    (facts->message_id.n > 0 && !fits_id(p->id, facts->message_id)) ||
                    (has_boundary && !fits_boundary(p, facts->boundary)));
            return;
        }
    }
}
