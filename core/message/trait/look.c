#include "core/message/trait/look.h"

#include "core/base/utf8.h"
#include "core/message/text/ascii.h"
#include "core/message/text/fold_table.h"
#include "core/message/url/host_idna.h"

/* Figures of a word of ASCII letters and digits. */
struct figures {
    size_t digits;
    size_t letters;
    size_t vowels;
    size_t changes;
    size_t consonants; /* the longest run */
    bool is_hex;
};

static bool is_vowel(char lower)
{
    return lower == 'a' || lower == 'e' || lower == 'i' || lower == 'o' ||
           lower == 'u' || lower == 'y';
}

/* False: another byte stands in it. */
static bool count_figures(struct slice word, struct figures *f)
{
    size_t run = 0;
    *f = (struct figures){.is_hex = true};
    for (size_t i = 0; i < word.n; i++) {
        char c = ASCII_LOWER(word.p[i]);
        bool is_digit = ASCII_IS(c, ASCII_DIGIT);
        if (!is_digit && !ASCII_IS(c, ASCII_ALPHA)) {
            return false;
        }
        bool is_consonant = !is_digit && !is_vowel(c);
        run = is_consonant ? run + 1 : 0;
        f->consonants = run > f->consonants ? run : f->consonants;
        f->digits += is_digit;
        f->letters += !is_digit;
        f->vowels += is_vowel(c);
        f->is_hex = f->is_hex && ASCII_IS(c, ASCII_HEX);
        f->changes += i > 0 && is_digit != ASCII_IS(word.p[i - 1], ASCII_DIGIT);
    }
    return true;
}

bool look_is_random(struct slice word)
{
    struct figures f;
    if (word.n < LOOK_RANDOM_MIN || !count_figures(word, &f)) {
        return false;
    }
    return f.changes >= LOOK_CHANGES_MIN ||
           (f.consonants >= LOOK_CONSONANTS_MIN &&
            f.vowels * LOOK_VOWEL_SHARE < f.letters) ||
           (f.is_hex && word.n >= LOOK_HEX_MIN && f.digits >= LOOK_HEX_DIGITS_MIN &&
            f.letters > 0);
}

static bool is_label_char(char c)
{
    return ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT) || c == '-';
}

bool look_is_lookalike(struct slice label)
{
    bool has_other = false;
    size_t i = 0;
    while (i < label.n) {
        uint32_t point = 0;
        size_t n = utf8_decode(label.p + i, label.n - i, &point);
        if (n == 0) {
            return false;
        }
        if (n == 1) {
            if (!is_label_char(label.p[i])) {
                return false;
            }
        } else {
            unsigned class = fold_table_class(point);
            if (class < FOLD_CLASSES || !is_label_char(fold_table_text(class).p[0])) {
                return false;
            }
            has_other = has_other || fold_table_is_other_script(point);
        }
        i += n;
    }
    return has_other;
}

bool look_is_lookalike_host(struct slice host)
{
    const struct slice mark = SLICE_LIT("xn--");
    char text[HOST_INPUT_MAX];
    while (host.p != NULL) {
        struct slice label = slice_cut(&host, '.');
        if (slice_has_prefix(label, mark) &&
            look_is_lookalike(slice_of(text, host_to_unicode(label, text)))) {
            return true;
        }
    }
    return false;
}

struct slice look_owner_label(struct slice domain)
{
    return slice_head(domain, slice_find(domain, '.'));
}

bool look_is_same_owner(struct slice domain, struct slice other)
{
    return slice_eq_nocase(look_owner_label(domain), look_owner_label(other));
}
