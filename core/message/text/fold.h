/*
 * fold - running text -> folded words, for fingerprints that small changes do not break.
 *
 * Lower case, compatibility forms, look-alikes of other scripts and small capitals as the ASCII
 * letters they stand for, without combining marks of general use, zero-width characters, soft
 * hyphens and apostrophes; "v1agr@" is "viagra". A URL is one word whatever it says, an address
 * too. Each character of a script without spaces between words is a word. A word that is cut by
 * the end of a call stays open: fold_break() ends it.
 * Linear: every byte is looked at a bounded number of times. Input is UTF-8, broken sequences end
 * a word. Threads: one at a time.   Allocates: nothing.
 * Source: fold_table.h for characters outside ASCII (NFKC with case folding, UTS 39).
 */
#ifndef CORE_MESSAGE_TEXT_FOLD_H
#define CORE_MESSAGE_TEXT_FOLD_H

#include "core/base/arena.h"
#include "core/base/slice.h"

enum {
    FOLD_WORD_MAX = 64,    /* bytes of a folded word; a longer one comes in pieces */
    FOLD_ADDRESS_MAX = 255 /* bytes after an @ that are looked at */
};

enum fold_kind {
    FOLD_TEXT,    /* a word */
    FOLD_NUMBER,  /* digits */
    FOLD_MIXED,   /* digits and letters, or a piece of something long: an id */
    FOLD_ALONE,   /* one character of a script without spaces */
    FOLD_URL,     /* text is "://" */
    FOLD_ADDRESS, /* text is "@" */
};

struct fold_word {
    enum fold_kind kind;
    struct slice
        text; /* valid during the call only; FOLD_WORD_MAX bytes of it can be read */
};
typedef void fold_word_fn(void *context, const struct fold_word *word);

struct fold {
    fold_word_fn *on_word;
    void *context;
    bool is_subject; /* of few words: short ones in disguise are taken for such, too */
    /* words that nobody writes so by custom */
    unsigned nlookalike; /* letters of several scripts, or styled ones, in a word */
    unsigned nhidden;    /* zero-width characters between letters */
    unsigned nleet;      /* digits and signs in the place of letters */
    /* the word that is open */
    size_t n;
    unsigned marks;
    unsigned nstyled;
    char word[FOLD_WORD_MAX];
};

void fold_init(struct fold *f, fold_word_fn *on_word, void *context);
void fold_feed(struct fold *f, struct slice text);
/* Feeds text up to its first line feed, and this; returns how many bytes that is. */
size_t fold_line(struct fold *f, struct slice text);
/* Ends the open word: other text follows, or none. */
void fold_break(struct fold *f);

/* The skeleton of a word, to be read as text is: numbers are "0", ids "#", others themselves. */
struct slice fold_skeleton(const struct fold_word *word);

/* The part of a subject that stays in replies, forwards and with other numbers: skeletons of its
 * words, one space between them, without leading "Re:", "Fwd:" and the like. text is UTF-8 with
 * decoded encoded words. "V1agr@ n0w" is "viagra now". {NULL, 0} when the arena is full. */
struct slice fold_subject(struct arena *arena, struct slice text);

#endif
