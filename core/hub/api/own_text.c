#include "core/hub/api/own_text.h"

static const char *const languages[] = {"en", "de", "fr", "es", "ja"};
static const char *const texts[OWN_TEXTS][LENGTH(languages)] = {
#define OWN_TEXT(name, en, de, fr, es, ja) {en, de, fr, es, ja},
#include "core/hub/api/own_text.def"
#undef OWN_TEXT
};

size_t own_language(struct slice field)
{
    while (field.n > 0) {
        const struct slice one = slice_trim(slice_cut(&field, ','));

        for (size_t i = 0; i < LENGTH(languages); i++) {
            if (slice_has_prefix_nocase(one, slice_str(languages[i])) &&
                (one.n == 2 || one.p[2] == '-' || one.p[2] == ';')) {
                return i;
            }
        }
    }
    return 0;
}

const char *own_language_name(size_t language)
{
    return languages[language];
}

const char *own_text(enum own_text text, size_t language)
{
    return texts[text][language];
}
