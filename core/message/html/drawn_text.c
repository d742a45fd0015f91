/* drawn_text - rows of block characters: each line is two rows, each character two columns. */
#include "core/message/html/drawn_internal.h"

enum {
    UPPER_LEFT = 1,
    UPPER_RIGHT = 2,
    LOWER_LEFT = 4,
    LOWER_RIGHT = 8,
    ALL = 15,
    NO_BLOCK = -1,
    LINE_MIN = 10, /* characters: half of the smallest code, if each had two columns */
    BLANK_LINES_MAX = 2,
    GLYPH_FIRST = 0x2580,
    GLYPH_LAST = 0x259f
};

static const char inks[] = "#@XxMW%*8&1HO";
static const char blanks[] = " .-_0";

static bool is_in_set(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* Quarters of the block elements from U+2580 on that have whole quarters. */
static int quarters(unsigned code)
{
    static const int8_t table[GLYPH_LAST - GLYPH_FIRST + 1] = {
        [0x00] = UPPER_LEFT | UPPER_RIGHT,
        [0x04] = LOWER_LEFT | LOWER_RIGHT,
        [0x08] = ALL,
        [0x0c] = UPPER_LEFT | LOWER_LEFT,
        [0x10] = UPPER_RIGHT | LOWER_RIGHT,
        [0x12] = ALL, /* medium and dark shade */
        [0x13] = ALL,
        [0x16] = LOWER_LEFT,
        [0x17] = LOWER_RIGHT,
        [0x18] = UPPER_LEFT,
        [0x19] = UPPER_LEFT | LOWER_LEFT | LOWER_RIGHT,
        [0x1a] = UPPER_LEFT | LOWER_RIGHT,
        [0x1b] = UPPER_LEFT | UPPER_RIGHT | LOWER_LEFT,
        [0x1c] = UPPER_LEFT | UPPER_RIGHT | LOWER_RIGHT,
        [0x1d] = UPPER_RIGHT,
        [0x1e] = UPPER_RIGHT | LOWER_LEFT,
        [0x1f] = UPPER_RIGHT | LOWER_LEFT | LOWER_RIGHT,
    };

    if (code < GLYPH_FIRST || code > GLYPH_LAST) {
        switch (code) {
        case 0x25a0: /* black squares */
        case 0x25fc:
        case 0x2b1b:
            return ALL;
        case 0xa0:
        case 0x25a1: /* white squares */
        case 0x25fb:
        case 0x2b1c:
        case 0x3000: /* ideographic space */
            return 0;
        default:
            return code >= 0x2000 && code <= 0x200a ? 0 : NO_BLOCK; /* spaces */
        }
    }
    if (table[code - GLYPH_FIRST] == 0) {
        return code == 0x2591 ? 0 : NO_BLOCK; /* light shade */
    }
    return table[code - GLYPH_FIRST];
}

/* The quarters of the character that text begins with, and its bytes. */
static int block_of(struct drawn *d, struct slice text, size_t *retn)
{
    const unsigned char *p = (const unsigned char *)text.p;

    if (p[0] < 0x80) {
        *retn = 1;
        if (is_in_set(text.p[0], blanks)) {
            return 0;
        }
        if (d->ink == '\0' && is_in_set(text.p[0], inks)) {
            d->ink = text.p[0];
        }
        return text.p[0] == d->ink ? ALL : NO_BLOCK;
    }
    if ((p[0] & 0xe0) == 0xc0 && text.n >= 2) {
        *retn = 2;
        return quarters((p[0] & 0x1fU) << 6 | (p[1] & 0x3fU));
    }
    if ((p[0] & 0xf0) == 0xe0 && text.n >= 3) {
        *retn = 3;
        return quarters((p[0] & 0xfU) << 12 | (p[1] & 0x3fU) << 6 | (p[2] & 0x3fU));
    }
    return NO_BLOCK;
}

static void add_half(struct drawn_row *row, bool is_left_dark, bool is_right_dark)
{
    drawn_row_add(row, (struct drawn_run){.units = 1, .is_dark = is_left_dark});
    drawn_row_add(row, (struct drawn_run){.units = 1, .is_dark = is_right_dark});
}

/* The two rows of a line; false: it has other characters, or too few. */
static bool read_glyphs(struct drawn *d, struct slice line, struct drawn_row *upper,
                        struct drawn_row *lower)
{
    size_t nchars = 0;

    while (line.n > 0) {
        size_t n = 0;
        const int block = block_of(d, line, &n);

        if (block == NO_BLOCK) {
            return false;
        }
        add_half(upper, (block & UPPER_LEFT) != 0, (block & UPPER_RIGHT) != 0);
        add_half(lower, (block & LOWER_LEFT) != 0, (block & LOWER_RIGHT) != 0);
        line = slice_from(line, n);
        nchars++;
    }
    return nchars >= LINE_MIN && !upper->is_over && !lower->is_over;
}

static void finish_text(struct drawn *d)
{
    if (d->kind == DRAWN_TEXT) {
        drawn_finish(d);
    }
}

/* Few empty lines between two rows are wide line spacing, or white space of HTML. */
static void take_blank_line(struct drawn *d)
{
    if (d->kind == DRAWN_TEXT && ++d->nblank_lines > BLANK_LINES_MAX) {
        drawn_finish(d);
    }
}

static void read_row_line(struct drawn *d, struct slice line)
{
    struct drawn_row upper = {.n = 0};
    struct drawn_row lower = {.n = 0};

    if (line.n > 0 && line.p[line.n - 1] == '\r') {
        line.n--;
    }
    if (slice_trim(line).n == 0) {
        take_blank_line(d);
        return;
    }
    const char ink = d->ink;
    if (d->kind != DRAWN_TEXT) {
        d->ink = '\0';
    }
    if (!read_glyphs(d, line, &upper, &lower)) {
        d->ink = ink;
        finish_text(d);
    } else if (d->kind == DRAWN_TEXT || upper.n >= DRAWN_BEGIN_RUNS ||
               lower.n >= DRAWN_BEGIN_RUNS) {
        d->nblank_lines = 0;
        const char found = d->ink;
        drawn_add_row(d, DRAWN_TEXT, &upper, 0);
        drawn_add_row(d, DRAWN_TEXT, &lower, 0);
        d->ink = found;
    } else {
        /* a rule */
    }
}

/* Whether a line may be a row, by its first character: that is a block, or the next is the same. */
static bool may_begin(struct slice line)
{
    size_t i = 0;

    while (i < line.n && line.p[i] == ' ') {
        i++;
    }
    if (i + 1 >= line.n || (unsigned char)line.p[i] >= 0x80) {
        return true;
    }
    return line.p[i] == line.p[i + 1] &&
           (is_in_set(line.p[i], inks) || is_in_set(line.p[i], blanks));
}

static void add_to_line(struct drawn *d, struct slice piece)
{
    if (piece.n > DRAWN_LINE_MAX - d->nline) {
        finish_text(d);
        d->skips_line = true;
        d->nline = 0;
    } else if (piece.n > 0) {
        memcpy(d->line + d->nline, piece.p, piece.n);
        d->nline += piece.n;
    } else {
        /* an empty line */
    }
}

static void end_line(struct drawn *d)
{
    const size_t n = d->nline;

    d->nline = 0;
    if (!d->skips_line && (n > 0 || d->kind == DRAWN_TEXT)) {
        read_row_line(d, slice_of(d->line, n));
    }
    d->skips_line = false;
}

void drawn_line_end(struct drawn *d)
{
    if (d->nline > 0 || d->skips_line) {
        end_line(d);
    }
}

void drawn_text(struct drawn *d, struct slice text)
{
    while (text.n > 0) {
        /* most lines end here */
        if (d->nline == 0 && d->kind != DRAWN_TEXT && !may_begin(text)) {
            d->skips_line = true;
        }
        const size_t n = slice_find(text, '\n');

        if (!d->skips_line) {
            add_to_line(d, slice_head(text, n));
        }
        if (n < text.n) {
            end_line(d);
        }
        text = slice_from(text, n + 1);
    }
}
