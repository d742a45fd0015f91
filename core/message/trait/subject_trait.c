#include "core/message/trait/subject_trait.h"

#include "core/message/text/ascii.h"
#include "core/message/text/charset.h"
#include "core/message/text/fold.h"
#include "core/message/trait/look.h"

static void ignore_word(void *context, const struct fold_word *word)
{
    (void)context, (void)word;
}

bool subject_is_folded(struct slice text)
{
    struct fold fold;
    fold_init(&fold, ignore_word, NULL);
    fold_feed(&fold, text);
    fold_break(&fold);
    return fold.nlookalike + fold.nhidden > 0;
}

bool subject_is_reply(struct slice text)
{
    return slice_has_prefix_nocase(slice_trim(text), SLICE_LIT("Re:"));
}

static bool is_in_capitals(struct slice text)
{
    size_t upper = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (ASCII_IS(text.p[i], ASCII_ALPHA)) {
            if (text.p[i] == ASCII_LOWER(text.p[i])) {
                return false;
            }
            upper++;
        }
    }
    return upper >= SUBJECT_CAPS_MIN;
}

static bool is_spacing(char c)
{
    return c == ' ' || c == '.' || c == '-' || c == '_' || c == '*';
}

/* The same sign between letters that stand alone: "l i k e", "V.I.P.S". */
static bool is_spaced(struct slice text)
{
    size_t alone = 0;
    for (size_t i = 0; i < text.n; i++) {
        bool begins = i == 0 || !ASCII_IS(text.p[i - 1], ASCII_ALPHA | ASCII_DIGIT);
        bool is_alone = begins && ASCII_IS(text.p[i], ASCII_ALPHA) &&
                        (i + 1 == text.n || is_spacing(text.p[i + 1]));
        if (is_alone && i > 1 && is_spacing(text.p[i - 1])) {
            alone++;
        } else if (is_alone) {
            alone = 1;
        } else if (!is_spacing(text.p[i])) {
            alone = 0;
        }
        if (alone >= SUBJECT_SPACED_MIN && text.p[i] != '.') {
            return true;
        }
    }
    return false;
}

static bool has_gap(struct slice raw)
{
    size_t run = 0;
    for (size_t i = 0; i < raw.n && run < SUBJECT_GAP_MIN; i++) {
        run = raw.p[i] == ' ' || raw.p[i] == '\t' ? run + 1 : 0;
    }
    return run >= SUBJECT_GAP_MIN;
}

/* The last of several words. */
static struct slice last_word(struct slice text)
{
    size_t i = text.n;
    while (i > 0 && ASCII_IS(text.p[i - 1], ASCII_ALPHA | ASCII_DIGIT)) {
        i--;
    }
    return i > 0 && text.p[i - 1] == ' ' ? slice_from(text, i) : SLICE_NONE;
}

void subject_traits(struct slice raw, struct slice text, struct traits *ret)
{
    text = slice_trim(text);
    bool is_ascii = charset_is_ascii(text);
    traits_note(ret, TRAIT_subject_caps, is_in_capitals(text));
    traits_note(ret, TRAIT_subject_spaced, is_spaced(text));
    traits_note(ret, TRAIT_subject_gap, has_gap(text));
    traits_note(ret, TRAIT_subject_random, look_is_random(last_word(text)));
    traits_note(ret, TRAIT_subject_encoded,
                is_ascii && slice_find_slice(raw, SLICE_LIT("=?")) < raw.n);
    traits_note(ret, TRAIT_subject_folded, !is_ascii && subject_is_folded(text));
}
