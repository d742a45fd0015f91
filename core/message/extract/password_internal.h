/*
 * password_internal - words and forms, for the files password*.c.
 *
 * Threads: safe.   Allocates: nothing (one table of words, folded at first use).
 * Depends: base, text.
 */
#ifndef CORE_MESSAGE_EXTRACT_PASSWORD_INTERNAL_H
#define CORE_MESSAGE_EXTRACT_PASSWORD_INTERNAL_H

#include "core/message/extract/password.h"

enum {
    PASSWORD_CHARACTER = 16, /* folded bytes of one character, at most */
    PASSWORD_ENDING = 8      /* folded bytes that may follow a stem */
};

/* Whether text without spaces between words has this character. */
bool password_is_dense(uint32_t point);
/* Whether it is a letter or digit of another script. */
bool password_is_letter(uint32_t point);
/* Writes the folded character and returns its bytes.
 * Accents and characters without width have none. */
size_t password_fold(uint32_t point, char dst[PASSWORD_CHARACTER]);

/* Whether the folded words, one space between them, end in a word for password. */
bool password_ends_phrase(struct slice phrase);
/* Where the last word for password in folded dense text ends; 0: there is none. */
size_t password_in_dense(struct slice text);
/* Whether the folded word only links a word for password and the password. */
bool password_is_link(struct slice word);

/* A character of the text. */
enum password_kind {
    PASSWORD_OTHER, /* of a token */
    PASSWORD_DENSE, /* of a token in a script without spaces */
    PASSWORD_SPACE,
    PASSWORD_LINE,
    PASSWORD_DROP /* it has no width */
};
enum password_kind password_kind(uint32_t point);

/* Bytes of the colon, arrow and the like at the head of s; 0: none. */
size_t password_separator(struct slice s);
bool password_ends_separated(struct slice s);
/* Bytes of the dash at the head of s; 0: none. */
size_t password_dash(struct slice s);
/* Bytes of the quote or bracket at the head of s; 0: none. */
size_t password_opening(struct slice s);
/* Without all punctuation around it. */
struct slice password_bare(struct slice s);
/* Without the stops behind it and the quotes on both sides. */
struct slice password_unquoted(struct slice s);

enum { PASSWORD_LIKELY = 3 /* bytes of a password that no colon announces */ };
/* Whether the form of a token alone says that it is no plain word. */
bool password_is_likely(struct slice s);

#endif
