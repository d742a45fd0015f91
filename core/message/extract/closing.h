/*
 * closing - the lines at the end of a text that do not belong to its message.
 *
 * Takes a text line by line, with the shingles of each line. The last lines are held back until the
 * text has ended. Older lines are handed on, and quoted lines at once. The form alone shows these:
 *   quoted     "> ..." and "JM> ...", with the paragraph before it if that ends in a colon
 *   signature  short text after "-- " on a separate line
 *   disclaimer a paragraph at the end with three different words of disclaimers
 * A ubiquity guard shows the footer: lines that the same mailing list put at the end of other
 * messages. The caller decides about their omission, because it knows their share of the message.
 * Linear; at most CLOSING_LINES lines and CLOSING_SHINGLES shingles are held.
 * Threads: one at a time.   Allocates: nothing.   Depends: base.   ADR 0050.
 */
#ifndef CORE_MESSAGE_EXTRACT_CLOSING_H
#define CORE_MESSAGE_EXTRACT_CLOSING_H

#include "core/base/slice.h"
#include "core/message/extract/boilerplate.h"

enum {
    CLOSING_LINES = 48,
    CLOSING_SHINGLES = 384,
    CLOSING_LONG_WORD = 8,     /* bytes */
    CLOSING_FOOTER_LINES = 16, /* at the end: no footer is longer */
    CLOSING_FOOTER_WORDS = 32, /* of one line of a footer, at most */
    CLOSING_SIGNATURE_LINES = 16,
    CLOSING_SIGNATURE_WORDS = 80,
    CLOSING_DISCLAIMER_WORDS = 250, /* of one paragraph */
    CLOSING_DISCLAIMER_MARKS = 3,
    CLOSING_ATTRIBUTION_WORDS = 32,
    CLOSING_ATTRIBUTION_LINES = 3
};

enum closing_kind {
    CLOSING_OWN,    /* the message's own text */
    CLOSING_QUOTED, /* text of another author */
    CLOSING_LEFT    /* signature, disclaimer or footer */
};

struct closing_line {
    uint64_t hash;  /* of its words, at any place */
    uint64_t marks; /* words of disclaimers, a bit for each (two may share one) */
    uint32_t nwords;
    uint16_t nshingles;
    uint8_t kind;
    bool begins_paragraph;
    bool follows_quote;
    bool follows_delimiter; /* "-- " */
    bool ends_in_colon;
};

/* Takes the n shingles of a line that is no longer held. */
typedef void closing_fn(void *context, enum closing_kind kind, const uint64_t *shingles,
                        size_t n);

struct closing {
    closing_fn *take;
    void *context;
    uint32_t nquoted;    /* words of quoted lines so far */
    bool is_after_blank; /* the next line begins a paragraph */
    bool is_after_quote;
    bool is_after_delimiter;
    size_t nlines;    /* complete lines held; the open line is behind them */
    size_t nshingles; /* of these lines and of the open line */
    struct closing_line line[CLOSING_LINES + 1];
    uint64_t shingle[CLOSING_SHINGLES];
};

void closing_init(struct closing *c, closing_fn *take, void *context);

/* Begins a line. text: the beginning of the line, or the line and the text after it. True if quoted
 * text begins or ends here: no shingle may span this line and the last one. */
bool closing_begin(struct closing *c, struct slice text);
/* Adds a folded word of the open line, of CLOSING_LONG_WORD bytes or more. Shorter words have no
 * marks. */
void closing_long_word(struct closing *c, struct slice word);
/* Hands on the oldest lines until there is room for lines and shingles again. */
void closing_make_room(struct closing *c);
static inline void closing_shingle(struct closing *c, uint64_t shingle)
{
    if (c->nshingles == CLOSING_SHINGLES) {
        closing_make_room(c);
    }
    c->shingle[c->nshingles++] = shingle;
    c->line[c->nlines].nshingles++;
}
/* Ends the open line. line is its text, hash that of its words. */
void closing_end(struct closing *c, struct slice line, uint64_t hash, size_t nwords);

/* Sets the kind of the held lines at the end of the text. guard may be NULL. list: a hash of the
 * mailing list and of the source of its mail; 0: no list. Returns the number of words of
 * CLOSING_LEFT lines. */
size_t closing_mark(struct closing *c, const struct boilerplate *guard, uint64_t list);
/* Hands the held shingles of this kind to take. */
void closing_give(const struct closing *c, enum closing_kind kind);

/* Writes the hashes under which a guard learns the lines of a possible footer; returns their
 * number. */
size_t closing_footer(const struct closing *c, uint64_t list,
                      uint64_t ret[CLOSING_FOOTER_LINES]);

#endif
