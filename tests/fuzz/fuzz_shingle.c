/* fuzz_shingle - any bytes as text: words are short, folded and in order; a message of that text
 * has the keys of both epochs or none, the same ones where it comes in two parts. */
#include <string.h>

#include "core/base/base.h"
#include "core/message/extract/fingerprint.h"
#include "core/message/text/ascii.h"

#include "tests/fuzz/fuzz.h"

enum { FEATURES = 100 };

static const struct hashkey ring = {1, "key of this test"};

static void on_word(void *context, const struct fold_word *word)
{
    size_t *nwords = context;

    FUZZ_CHECK(word->text.n > 0 && word->text.n <= FOLD_WORD_MAX);
    for (size_t i = 0; i < word->text.n; i++) {
        unsigned char c = (unsigned char)word->text.p[i];
        bool is_sign = word->kind == FOLD_URL || word->kind == FOLD_ADDRESS;
        FUZZ_CHECK(c >= 0x80 || is_sign || ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT));
        FUZZ_CHECK(c < 'A' || c > 'Z');
    }
    (*nwords)++;
}

static const struct featureset *imprint_of(struct arena *arena, struct slice a,
                                           struct slice b)
{
    static struct fingerprint_options options;
    struct featureset *set = featureset_new(arena, FEATURES);
    struct arena *scratch = arena_new(FUZZ_ARENA);
    if (!options.keys.is_set) {
        shingle_keys_make(&ring, 1000000000, &options.keys);
    }
    struct fingerprint *p = fingerprint_new(arena, &options);
    FUZZ_CHECK(p != NULL && set != NULL && scratch != NULL);
    fingerprint_text(p, a);
    fingerprint_text(p, b);
    for (size_t i = 0; i < a.n; i++) {
        fingerprint_tag(p, slice_of(a.p + i, 1));
    }
    fingerprint_finish(p, set, scratch, 0, false);
    arena_free(&scratch);
    return set;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_ready;
    struct slice text = slice_of((const char *)data, size);
    struct arena *arena = arena_new(FUZZ_ARENA);
    struct fold fold;
    size_t nwords = 0;
    size_t nwords_again = 0;

    if (!is_ready) {
        FUZZ_CHECK(base_init() == ERR_OK);
        is_ready = true;
    }
    fold_init(&fold, on_word, &nwords);
    fold_feed(&fold, text);
    fold_break(&fold);
    size_t half = slice_find(text, '\n'); /* where no word and no line is cut */
    half += half < text.n;
    fold_init(&fold, on_word, &nwords_again);
    fold_feed(&fold, slice_head(text, half));
    fold_feed(&fold, slice_from(text, half));
    fold_break(&fold);
    FUZZ_CHECK(nwords == nwords_again && nwords <= 6 * size);
    FUZZ_CHECK(fold_subject(arena, text).p != NULL);

    const struct featureset *whole = imprint_of(arena, text, SLICE_NONE);
    const struct featureset *parts =
        imprint_of(arena, slice_head(text, half), slice_from(text, half));
    size_t nbands = featureset_count_type(whole, FEATURE_text_band);
    FUZZ_CHECK(nbands == 0 || nbands == (size_t)SHINGLE_EPOCHS * SHINGLE_BANDS);
    for (size_t i = 0; i < featureset_count(whole); i++) {
        const struct feature *f = featureset_at(whole, i);
        FUZZ_CHECK(f->type == FEATURE_html_structure ||
                   featureset_has(parts, (enum feature_type)f->type, f->text));
    }
    arena_free(&arena);
    return 0;
}
