/*
 * password - texts of a message that may be the password of its attachments.
 *
 * Senders of encrypted archives write the password in the message. The finder looks for a word for
 * "password" (password_word.def) and takes what stands after it, on the same line or one of the
 * next; a number, a mixed word or a quoted one also stands before it ("1234 is the password").
 * Each candidate is spelled as written, without the punctuation around it; where that may belong to
 * the password, both forms are candidates. A wrong candidate costs a try.
 * Linear in the text; text comes in pieces that are cut anywhere. Input is UTF-8; other bytes are
 * spaces.
 * Threads: one at a time.   Allocates: nothing.   Depends: base, text.   ADR 0095.
 */
#ifndef CORE_MESSAGE_EXTRACT_PASSWORD_H
#define CORE_MESSAGE_EXTRACT_PASSWORD_H

#include "core/base/slice.h"
#include "core/base/utf8.h"

enum {
    PASSWORD_CANDIDATES = 16,
    PASSWORD_BYTES = 64,  /* of a candidate; a longer one is none */
    PASSWORD_TOKEN = 128, /* bytes of a run without spaces; a longer one is skipped */
    PASSWORD_PHRASE = 64, /* folded bytes of the last words */
    PASSWORD_WORDS = 8,   /* after a word for password in which a candidate stands */
    PASSWORD_LINES = 3,   /* ends of lines between them */
    /* words between a candidate and a word for password behind it */
    PASSWORD_BEFORE = 6
};

struct password_candidate {
    uint8_t n;
    bool is_likely; /* kept before those that are not */
    char bytes[PASSWORD_BYTES];
};

struct password_finder {
    size_t ncandidates;
    struct password_candidate candidate[PASSWORD_CANDIDATES];
    /* the open token */
    size_t ntoken;
    bool is_dense; /* of a script without spaces */
    bool is_long;
    size_t npart; /* bytes of a character that the end of a piece cut */
    char part[UTF8_MAX];
    char token[PASSWORD_TOKEN];
    /* what stands before it */
    size_t nphrase;
    char phrase[PASSWORD_PHRASE];
    unsigned line_tokens;             /* in this line */
    struct password_candidate first;  /* of this line */
    struct password_candidate before; /* the last token that looks like a password */
    unsigned before_age;              /* tokens since */
    /* after a word for password */
    unsigned words; /* that may still be a candidate; 0: no such word is near */
    unsigned lines;
    bool is_next;      /* nothing but links stands between */
    bool is_separated; /* by a colon and the like */
    size_t nrest;      /* of the line after the separator, with the spaces; 0: none */
    unsigned rest_tokens;
    char rest[PASSWORD_BYTES];
};

void password_finder_init(struct password_finder *f);
/* The next piece of the text that a person sees. */
void password_finder_text(struct password_finder *f, struct slice piece);
/* Other text follows: after the subject, after a part. */
void password_finder_break(struct password_finder *f);
/* Ends the text. Writes the candidates, the likely ones first, and returns their number. Their
 * bytes lie in f. */
size_t password_finder_end(struct password_finder *f,
                           struct slice ret[PASSWORD_CANDIDATES]);

#endif
