/* password_words - look-up of the words that announce a password (password_word.def). */

#include <assert.h>
#include <pthread.h>

#include "core/base/utf8.h"
#include "core/message/extract/password_internal.h"
#include "core/message/text/ascii.h"
#include "core/message/text/fold_table.h"

enum row_kind { ROW_WORD, ROW_STEM, ROW_DENSE, ROW_LINK };

enum { FOLDED_MOST = 48, HANGUL_FIRST = 0xac00, HANGUL_LAST = 0xd7a3 };

struct row {
    enum row_kind kind;
    const char *text;
};

#define WORD(text)  {ROW_WORD, text},
#define STEM(text)  {ROW_STEM, text},
#define DENSE(text) {ROW_DENSE, text},
#define LINK(text)  {ROW_LINK, text},
static const struct row rows[] = {
#include "core/message/extract/password_word.def"
};
#undef WORD
#undef STEM
#undef DENSE
#undef LINK

/* Rows by the hash of a pair of bytes: the last two of words, the first two of stems and dense
 * ones. Most places of a text have none of them. A row's number is one more than its index. */
enum { PAIRS = 4096, PAIR_FACTOR = 113 };

static struct {
    uint8_t n;
    uint8_t next; /* row of the same hash; 0: none */
    char text[FOLDED_MOST];
} folded[LENGTH(rows)];
static uint8_t by_last[PAIRS];
static uint8_t by_first[PAIRS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static size_t pair_at(const char *p)
{
    const size_t first = (unsigned char)p[0];
    return (first * PAIR_FACTOR + (unsigned char)p[1]) % PAIRS;
}

bool password_is_dense(uint32_t point)
{
    return point >= 0x80 && (fold_table_class(point) == FOLD_CLASS_ALONE ||
                             (point >= HANGUL_FIRST && point <= HANGUL_LAST));
}

bool password_is_letter(uint32_t point)
{
    return point >= 0x80 && fold_table_class(point) != FOLD_CLASS_BREAK;
}

size_t password_fold(uint32_t point, char dst[PASSWORD_CHARACTER])
{
    if (point < 0x80) {
        dst[0] = ASCII_LOWER((char)point);
        return 1;
    }
    const unsigned class = fold_table_class(point);
    if (class < FOLD_CLASSES) {
        return class == FOLD_CLASS_DROP ? 0 : utf8_put(dst, point);
    }
    const struct slice text = slice_head(fold_table_text(class), PASSWORD_CHARACTER);
    memcpy(dst, text.p, text.n);
    return text.n;
}

static void chain_row(size_t i)
{
    static_assert(LENGTH(rows) < UINT8_MAX, "a row has a number of 8 bits");
    if (rows[i].kind == ROW_LINK) {
        return;
    }
    assert(folded[i].n >= 2);
    uint8_t *head = rows[i].kind == ROW_WORD
                        ? &by_last[pair_at(folded[i].text + folded[i].n - 2)]
                        : &by_first[pair_at(folded[i].text)];
    folded[i].next = *head;
    *head = (uint8_t)(i + 1);
}

static void fold_rows(void)
{
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct slice rest = slice_str(rows[i].text);
        while (rest.n > 0) {
            uint32_t point = ' ';
            const size_t n = utf8_decode(rest.p, rest.n, &point);
            char text[PASSWORD_CHARACTER];
            const size_t nfolded = password_fold(point, text);
            assert(n > 0 && folded[i].n + nfolded <= FOLDED_MOST);
            memcpy(folded[i].text + folded[i].n, text, nfolded);
            folded[i].n = (uint8_t)(folded[i].n + nfolded);
            rest = slice_from(rest, n);
        }
        chain_row(i);
    }
}

static struct slice row_text(size_t i)
{
    return slice_of(folded[i].text, folded[i].n);
}

static bool ends_in(struct slice phrase, struct slice word)
{
    return phrase.n >= word.n &&
           slice_eq(slice_from(phrase, phrase.n - word.n), word) &&
           (phrase.n == word.n || phrase.p[phrase.n - word.n - 1] == ' ');
}

/* Where the last of the rows of this kind in text ends; 0: there is none. */
static size_t last_end(struct slice text, enum row_kind kind)
{
    size_t end = 0;

    for (size_t at = 0; at + 1 < text.n; at++) {
        const struct slice rest = slice_from(text, at);
        for (size_t i = by_first[pair_at(rest.p)]; i > 0; i = folded[i - 1].next) {
            const struct slice word = row_text(i - 1);
            if (rows[i - 1].kind == kind && slice_has_prefix(rest, word) &&
                at + word.n > end) {
                end = at + word.n;
            }
        }
    }
    return end;
}

bool password_ends_phrase(struct slice phrase)
{
    size_t word = phrase.n;

    (void)pthread_once(&once, fold_rows);
    if (phrase.n < 2) {
        return false;
    }
    for (size_t i = by_last[pair_at(phrase.p + phrase.n - 2)]; i > 0;
         i = folded[i - 1].next) {
        if (ends_in(phrase, row_text(i - 1))) {
            return true;
        }
    }
    while (word > 0 && phrase.p[word - 1] != ' ') {
        word--;
    }
    const struct slice last = slice_from(phrase, word);
    const size_t end = last_end(last, ROW_STEM);
    return end > 0 && last.n - end <= PASSWORD_ENDING;
}

size_t password_in_dense(struct slice text)
{
    (void)pthread_once(&once, fold_rows);
    return last_end(text, ROW_DENSE);
}

bool password_is_link(struct slice word)
{
    (void)pthread_once(&once, fold_rows);
    if (word.n == 0) {
        return false;
    }
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (rows[i].kind == ROW_LINK && slice_eq(word, row_text(i))) {
            return true;
        }
    }
    return false;
}
