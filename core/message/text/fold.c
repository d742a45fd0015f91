#include "core/message/text/fold.h"

#include "core/base/utf8.h"
#include "core/message/text/ascii.h"
#include "core/message/text/fold_table.h"

enum { /* letters of a word that counts */
       DISGUISED_MIN = 5,
       END_LETTERS_MIN = 3,
       LOOKALIKE_MIN = 4,
       STYLED_MIN = 3, /* of which are styled */
       SIGN_REACH = 4, /* letters after a sign in the place of one */
       SHORT_WORD_MAX = 16
};

/* Properties of the open word. */
enum {
    MARK_LETTER = 1, /* an ASCII letter as it stands in the text */
    MARK_DIGIT = 2,
    MARK_OTHER = 4,     /* a letter outside ASCII that is folded to ASCII */
    MARK_LOOKALIKE = 8, /* one of another script that is folded to ASCII */
    MARK_SIGN = 16,     /* a sign in the place of a letter */
    MARK_HIDDEN = 32,
    MARK_PIECE = 64,     /* of a word that was too long */
    MARK_ANY_CASE = 128, /* "aB": in no word, but in ids */
    MARK_KEPT = 256      /* a letter that is outside ASCII folded, too */
};

/* Actions of ASCII bytes; letters and digits stand for themselves, in lower case. */
enum { DO_BREAK, DO_SKIP, DO_SIGN, DO_COLON, DO_DOT, DO_HIGH, DO_LAST = DO_HIGH };
enum { LETTER_BIT = 0x40 }; /* which no digit has */

#define ROW_AZ(base)                                                                \
    [(base) + 0] = 'a', [(base) + 1] = 'b', [(base) + 2] = 'c', [(base) + 3] = 'd', \
              [(base) + 4] = 'e', [(base) + 5] = 'f', [(base) + 6] = 'g',           \
              [(base) + 7] = 'h', [(base) + 8] = 'i', [(base) + 9] = 'j',           \
              [(base) + 10] = 'k', [(base) + 11] = 'l', [(base) + 12] = 'm',        \
              [(base) + 13] = 'n', [(base) + 14] = 'o', [(base) + 15] = 'p',        \
              [(base) + 16] = 'q', [(base) + 17] = 'r', [(base) + 18] = 's',        \
              [(base) + 19] = 't', [(base) + 20] = 'u', [(base) + 21] = 'v',        \
              [(base) + 22] = 'w', [(base) + 23] = 'x', [(base) + 24] = 'y',        \
              [(base) + 25] = 'z'
#define ROW_HIGH(base)                                                                \
    [(base) + 0] = DO_HIGH, [(base) + 1] = DO_HIGH, [(base) + 2] = DO_HIGH,           \
              [(base) + 3] = DO_HIGH, [(base) + 4] = DO_HIGH, [(base) + 5] = DO_HIGH, \
              [(base) + 6] = DO_HIGH, [(base) + 7] = DO_HIGH

static const uint8_t ascii_does[256] = {
    ROW_AZ('A'),      ROW_AZ('a'),     ['0'] = '0',     ['1'] = '1',
    ['2'] = '2',      ['3'] = '3',     ['4'] = '4',     ['5'] = '5',
    ['6'] = '6',      ['7'] = '7',     ['8'] = '8',     ['9'] = '9',
    ['\''] = DO_SKIP, ['@'] = DO_SIGN, ['$'] = DO_SIGN, ['!'] = DO_SIGN,
    [':'] = DO_COLON, ['.'] = DO_DOT,  ROW_HIGH(0x80),  ROW_HIGH(0x88),
    ROW_HIGH(0x90),   ROW_HIGH(0x98),  ROW_HIGH(0xa0),  ROW_HIGH(0xa8),
    ROW_HIGH(0xb0),   ROW_HIGH(0xb8),  ROW_HIGH(0xc0),  ROW_HIGH(0xc8),
    ROW_HIGH(0xd0),   ROW_HIGH(0xd8),  ROW_HIGH(0xe0),  ROW_HIGH(0xe8),
    ROW_HIGH(0xf0),   ROW_HIGH(0xf8),
};

/* As long as words may be read, see fold.h. */
static const char url_text[FOLD_WORD_MAX] = "://";
static const char address_text[FOLD_WORD_MAX] = "@";
static const char number_text[FOLD_WORD_MAX] = "0";
static const char mixed_text[FOLD_WORD_MAX] = "#";

static bool is_alnum(char c)
{
    return ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT);
}

void fold_init(struct fold *f, fold_word_fn *on_word, void *context)
{
    *f = (struct fold){.on_word = on_word, .context = context};
}

/* The letter that a digit or sign stands for; 0: none. */
static char letter_for(char c)
{
    switch (c) {
    case '0':
        return 'o';
    case '1':
    case '!':
        return 'i';
    case '3':
        return 'e';
    case '4':
    case '@':
        return 'a';
    case '5':
    case '$':
        return 's';
    case '7':
        return 't';
    case '8':
        return 'b';
    default:
        return '\0';
    }
}

/* Letters that words double: "oo", "ee", "ss". */
static bool may_be_double(char digit)
{
    return digit == '0' || digit == '3' || digit == '5';
}

/* A digit at an end of a word of a subject: "Casin0", "5ale"; not "mp3" and "2nd". */
static bool may_be_at_end(const struct fold *f)
{
    size_t nletters = 0;
    for (size_t i = 0; i < f->n; i++) {
        nletters += !ASCII_IS(f->word[i], ASCII_DIGIT);
    }
    return f->is_subject && nletters >= END_LETTERS_MIN;
}

/* Digits in the place of letters: few, between letters, each of a likeness and alone; in a subject,
 * where ids are rare and words short, also "n0w", "b00k" and "Casin0". */
static bool is_leet(const struct fold *f)
{
    size_t ndigits = 0;
    size_t nletters = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (!ASCII_IS(f->word[i], ASCII_DIGIT)) {
            nletters++;
            continue;
        }
        bool is_second = i > 0 && ASCII_IS(f->word[i - 1], ASCII_DIGIT);
        bool is_double = is_second && f->is_subject && f->word[i - 1] == f->word[i] &&
                         may_be_double(f->word[i]) &&
                         !(i > 1 && ASCII_IS(f->word[i - 2], ASCII_DIGIT));
        ndigits += !is_double;
        bool is_end = i == 0 || i + 1 == f->n;
        if (letter_for(f->word[i]) == '\0' || (is_end && !may_be_at_end(f)) ||
            (is_second && !is_double)) {
            return false;
        }
    }
    return nletters >= (f->is_subject ? 2 : 3) && nletters >= 2 * ndigits;
}

/* A word that somebody disguised, not the name of a thing. */
static void count_leet(struct fold *f)
{
    if (f->n >= DISGUISED_MIN && (f->marks & (MARK_ANY_CASE | MARK_KEPT)) == 0) {
        f->nleet++;
    }
}

/* The open word is one of digits and letters. */
static enum fold_kind fold_mixed(struct fold *f)
{
    if (!is_leet(f)) {
        return FOLD_MIXED;
    }
    bool has_consonant = false;
    for (size_t i = 0; i < f->n; i++) {
        if (ASCII_IS(f->word[i], ASCII_DIGIT)) {
            f->word[i] = letter_for(f->word[i]);
            has_consonant |=
                f->word[i] == 's' || f->word[i] == 't' || f->word[i] == 'b';
        }
    }
    if (!has_consonant) { /* those stand in the names of things more often */
        count_leet(f);
    }
    return FOLD_TEXT;
}

static void tell_word(struct fold *f, enum fold_kind kind, struct slice text)
{
    struct fold_word word = {.kind = kind, .text = text};
    f->on_word(f->context, &word);
}

static void forget_word(struct fold *f)
{
    f->n = 0;
    f->marks = 0;
    f->nstyled = 0;
}

/* Marks that are not those of a usual word. */
static enum fold_kind look_at_marks(struct fold *f)
{
    unsigned marks = f->marks;
    if (((marks & MARK_LOOKALIKE) != 0 &&
         (marks & (MARK_LETTER | MARK_KEPT)) == MARK_LETTER && f->n >= LOOKALIKE_MIN) ||
        f->nstyled >= STYLED_MIN) {
        f->nlookalike++;
    }
    if ((marks & MARK_HIDDEN) != 0) {
        f->nhidden++;
    }
    if ((marks & MARK_PIECE) != 0) {
        return FOLD_MIXED;
    }
    if ((marks & MARK_DIGIT) != 0) {
        return (marks & (MARK_LETTER | MARK_OTHER | MARK_KEPT)) != 0 ? fold_mixed(f)
                                                                     : FOLD_NUMBER;
    }
    if ((marks & MARK_SIGN) != 0) {
        count_leet(f);
    }
    return FOLD_TEXT;
}

void fold_break(struct fold *f)
{
    if (f->n == 0) {
        f->marks = 0; /* the mark of a piece whose word ends just there */
        return;
    }
    enum fold_kind kind = FOLD_TEXT;
    if (f->marks != MARK_LETTER) {
        kind = look_at_marks(f);
    }
    tell_word(f, kind, slice_of(f->word, f->n));
    forget_word(f);
}

/* A character that is a word, after the one that is open. */
static void tell_alone(struct fold *f, struct slice character)
{
    fold_break(f);
    memcpy(f->word, character.p, character.n);
    tell_word(f, FOLD_ALONE, slice_of(f->word, character.n));
}

/* Room for n bytes more in the word. */
static void make_word_room(struct fold *f, size_t n)
{
    if (f->n + n > FOLD_WORD_MAX) {
        tell_word(f, FOLD_MIXED, slice_of(f->word, f->n));
        forget_word(f);
        f->marks = MARK_PIECE;
    }
}

static void append_letters(struct fold *f, struct slice bytes, unsigned mark)
{
    make_word_room(f, bytes.n);
    memcpy(f->word + f->n, bytes.p, bytes.n);
    f->n += bytes.n;
    f->marks |= mark;
}

static void take_folded(struct fold *f, struct slice rest, unsigned mark)
{
    while (rest.n > 0) {
        uint32_t point = 0;
        size_t n = 1;
        if ((unsigned char)rest.p[0] < 0x80) {
            if (is_alnum(rest.p[0])) {
                bool is_digit = ASCII_IS(rest.p[0], ASCII_DIGIT);
                append_letters(f, slice_head(rest, 1), is_digit ? MARK_DIGIT : mark);
            } else {
                fold_break(f);
            }
        } else {
            n = utf8_decode(rest.p, rest.n, &point);
            if (fold_table_class(point) == FOLD_CLASS_ALONE) {
                tell_alone(f, slice_head(rest, n));
            } else if (fold_table_class(point) == FOLD_CLASS_LETTER) {
                append_letters(f, slice_head(rest, n), MARK_KEPT);
            } else {
                fold_break(f);
            }
        }
        rest = slice_from(rest, n);
    }
}

/* Takes a character outside ASCII; returns its length. */
static size_t take_high(struct fold *f, struct slice text)
{
    uint32_t point = 0;
    size_t n = utf8_decode(text.p, text.n, &point);
    if (n == 0) {
        fold_break(f);
        return 1;
    }
    unsigned class = fold_table_class(point);
    if (class >= FOLD_CLASSES) {
        f->nstyled += fold_table_is_styled(point);
        take_folded(f, fold_table_text(class),
                    MARK_OTHER |
                        (fold_table_is_other_script(point) ? MARK_LOOKALIKE : 0));
    } else if (class == FOLD_CLASS_LETTER) {
        append_letters(f, slice_head(text, n), MARK_KEPT);
    } else if (class == FOLD_CLASS_ALONE) {
        tell_alone(f, slice_head(text, n));
    } else if (class == FOLD_CLASS_BREAK) {
        if (point == 0x2019) { /* the apostrophe that is typeset */
            return n;
        }
        fold_break(f);
    } else if (fold_table_is_zero_width(point) && (f->marks & MARK_LETTER) != 0 &&
               text.n > n && ASCII_IS(text.p[n], ASCII_ALPHA)) {
        f->marks |= MARK_HIDDEN;
    }
    return n;
}

/* After an @: the length of a host name with a dot in it; 0: none. */
static size_t host_length(struct slice text)
{
    size_t n = 0;
    bool has_dot = false;
    while (n < text.n && n < FOLD_ADDRESS_MAX) {
        char c = text.p[n];
        if (c == '.') {
            if (n == 0 || n + 1 == text.n || !is_alnum(text.p[n + 1])) {
                break;
            }
            has_dot = true;
        } else if (!is_alnum(c) && c != '-') {
            break;
        }
        n++;
    }
    return has_dot ? n : 0;
}

/* "vi@gra", not "root@host". */
static bool ends_soon(struct slice text)
{
    size_t n = 0;
    while (n < text.n && n <= SIGN_REACH && is_alnum(text.p[n])) {
        n++;
    }
    return n <= SIGN_REACH;
}

/* A sign; text begins with it. Returns how many bytes are taken. */
static size_t take_sign(struct fold *f, struct slice text)
{
    char sign = text.p[0];
    struct slice rest = slice_from(text, 1);
    bool has_letter = rest.n > 0 && ASCII_IS(rest.p[0], ASCII_ALPHA);
    bool has_end = rest.n == 0 || !is_alnum(rest.p[0]);
    if (f->n == 0) {
        return 1;
    }
    if (sign == '@') {
        size_t n = host_length(rest);
        if (n > 0) {
            forget_word(f);
            tell_word(f, FOLD_ADDRESS, slice_of(address_text, 1));
            return n + 1;
        }
    }
    /* "v!agra"; at the end, as in "v1agr@", only where the word is one of these already */
    bool is_within = has_letter && (f->marks & MARK_LETTER) != 0 && ends_soon(rest) &&
                     (sign != '!' || f->n < SIGN_REACH); /* "free!you" is two words */
    bool is_last = has_end && sign != '!' && (f->marks & MARK_LETTER) != 0 &&
                   (f->marks & (MARK_DIGIT | MARK_SIGN)) != 0;
    if (is_within || is_last) {
        char letter = letter_for(sign);
        append_letters(f, slice_of(&letter, 1), MARK_SIGN);
    } else {
        fold_break(f);
    }
    return 1;
}

static bool ends_url(char c)
{
    return (unsigned char)c <= ' ' || c == '<' || c == '>' || c == '"';
}

static size_t take_url(struct fold *f, struct slice text)
{
    size_t n = 0;
    while (n < text.n && !ends_url(text.p[n])) {
        n++;
    }
    forget_word(f);
    tell_word(f, FOLD_URL, slice_of(url_text, 3));
    return n;
}

static size_t take_mark(struct fold *f, unsigned does, struct slice text)
{
    switch (does) {
    case DO_HIGH:
        return take_high(f, text);
    case DO_SKIP:
        return 1;
    case DO_SIGN:
        return take_sign(f, text);
    case DO_COLON:
        if (f->n > 0 && slice_has_prefix(text, SLICE_LIT("://"))) {
            return take_url(f, text);
        }
        break;
    case DO_DOT:
        if (slice_eq(slice_of(f->word, f->n), SLICE_LIT("www")) && text.n > 1 &&
            is_alnum(text.p[1])) {
            return take_url(f, text);
        }
        break;
    default:
        break;
    }
    fold_break(f);
    return 1;
}

/* Upper and lower case after the first letter. */
static bool has_any_case(struct slice word)
{
    bool has_upper = false;
    bool has_lower = false;
    for (size_t i = 1; i < word.n; i++) {
        has_upper |= word.p[i] >= 'A' && word.p[i] <= 'Z';
        has_lower |= word.p[i] >= 'a' && word.p[i] <= 'z';
    }
    return has_upper && has_lower;
}

/* Of a run of ASCII letters and digits in which there are digits. */
static unsigned marks_of(struct slice run)
{
    unsigned marks = MARK_DIGIT;
    for (size_t i = 0; i < run.n; i++) {
        if (ASCII_IS(run.p[i], ASCII_ALPHA)) {
            marks |= MARK_LETTER;
            break;
        }
    }
    return has_any_case(run) ? marks | MARK_ANY_CASE : marks;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "take_letters takes the lowest byte for the first");

/* The bytes of *word, eight of a text, that are no ASCII letter, the highest bit of each set; *word
 * becomes lower case. */
static uint64_t others_of(uint64_t *word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t high = ones * 0x80;
    uint64_t lower = *word | (ones * 0x20);
    uint64_t low7 = lower & ~high;
    uint64_t from_a = low7 + (ones * (0x80 - 'a'));
    uint64_t past_z = low7 + (ones * (0x7f - 'z'));
    uint64_t others = ~(from_a & ~past_z & ~*word) & high;
    *word = lower;
    return others;
}

/* ASCII letters that p begins with, in lower case into to: eight bytes at a time, as words are
 * short and a step for each byte is most of the cost of folding. p and to have 8 bytes. */
static size_t take_letters(const unsigned char *p, char *to)
{
    uint64_t v = 0;
    memcpy(&v, p, sizeof(v));
    uint64_t others = others_of(&v);
    memcpy(to, &v, sizeof(v));
    return others != 0 ? (size_t)__builtin_ctzll(others) / 8 : sizeof(v);
}

/* Sixteen bytes in one store, so that a load of all of them need not wait for two stores. */
typedef uint64_t wide __attribute__((vector_size(16)));

/* The same for 16 bytes, and without a branch, which could not be guessed. */
static size_t take_short_word(const unsigned char *p, char *to)
{
    const uint64_t lower = UINT64_C(0x2020202020202020);
    uint64_t v[2];
    wide both;
    memcpy(v, p, sizeof(v));
    memcpy(&both, p, sizeof(both));
    both |= (wide){lower, lower};
    memcpy(to, &both, sizeof(both));
    uint64_t first = others_of(&v[0]);
    uint64_t second = others_of(&v[1]);
    /* __builtin_ctzll(0) is undefined */
    size_t n = (size_t)__builtin_ctzll(second | UINT64_C(1) << 63) / 8 + sizeof(v[0]);
    n += second == 0;
    return first != 0 ? (size_t)__builtin_ctzll(first) / 8 : n;
}

/* The ASCII letters and digits that text begins with go into the word, as far as there is room.
 * Returns how many they are. */
static size_t take_ascii(struct fold *f, struct slice text)
{
    const unsigned char *p = (const unsigned char *)text.p;
    char *to = f->word + f->n;
    size_t room = FOLD_WORD_MAX - f->n;
    size_t end = text.n < room ? text.n : room;
    size_t i = 0;
    unsigned all = LETTER_BIT; /* kept by letters only */
    while (end - i >= sizeof(uint64_t)) {
        size_t n = take_letters(p + i, to + i);
        i += n;
        if (n < sizeof(uint64_t)) {
            break;
        }
    }
    for (; i < end; i++) {
        unsigned does = ascii_does[p[i]];
        if (does <= DO_LAST) {
            break;
        }
        to[i] = (char)does;
        all &= does;
    }
    if (i > 0) {
        f->n += i;
        f->marks |= all != 0 ? MARK_LETTER : marks_of(slice_head(text, i));
    }
    return i;
}

/* Most words are of few ASCII letters, most have a space behind. Takes such a word that text begins
 * with, and the space, when no word is open; returns how many bytes that is, 0: it is another. */
static size_t take_plain_word(struct fold *f, struct slice text)
{
    const unsigned char *p = (const unsigned char *)text.p;
    if (f->n > 0 || f->marks != 0 || text.n <= SHORT_WORD_MAX) {
        return 0;
    }
    size_t n = take_short_word(p, f->word);
    unsigned does = ascii_does[p[n]];
    if (n == 0 || does > DO_LAST) {
        return 0;
    }
    if (does != DO_BREAK) { /* the word may go on */
        f->n = n;
        f->marks = MARK_LETTER;
        return n;
    }
    tell_word(f, FOLD_TEXT, slice_of(f->word, n));
    return p[n] == '\n' ? n : n + 1;
}

/* Up to the end, or behind the first byte that is stop. */
static size_t fold_up_to(struct fold *f, struct slice text, int stop)
{
    size_t i = 0;
    while (i < text.n) {
        unsigned char c = (unsigned char)text.p[i];
        unsigned does = ascii_does[c];
        if (does > DO_LAST) {
            size_t n = take_plain_word(f, slice_from(text, i));
            if (n > 0) {
                i += n;
                continue;
            }
            i += take_ascii(f, slice_from(text, i));
            if (f->n == FOLD_WORD_MAX) {
                make_word_room(f, 1);
            }
        } else if (does == DO_BREAK) {
            if (f->n > 0) {
                fold_break(f);
            }
            f->marks = 0; /* those of a piece whose word ends just here */
            i++;
            if (c == stop) {
                break;
            }
        } else {
            i += take_mark(f, does, slice_from(text, i));
        }
    }
    return i;
}

void fold_feed(struct fold *f, struct slice text)
{
    (void)fold_up_to(f, text, -1);
}

size_t fold_line(struct fold *f, struct slice text)
{
    return fold_up_to(f, text, '\n');
}

struct slice fold_skeleton(const struct fold_word *word)
{
    switch (word->kind) {
    case FOLD_NUMBER:
        return slice_of(number_text, 1);
    case FOLD_MIXED:
        return slice_of(mixed_text, 1);
    default:
        return word->text;
    }
}
