/*
 * text_trait - traits of a text part or a script by its bytes.
 *
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_TRAIT_TEXT_TRAIT_H
#define CORE_MESSAGE_TRAIT_TEXT_TRAIT_H

#include "core/message/trait/trait.h"

enum {
    TEXT_BLANK_LINES = 12, /* on end; a page that is longer than a screen */
    TEXT_BASE64_LONG =
        400, /* bytes; programs choose by the first lines of short texts */
    TEXT_CHARSET_LONG = 40 /* bytes; less is a greeting */
};

/* What is known of a text part when it ends. */
struct text_bytes {
    struct slice charset; /* as declared */
    bool is_base64;
    bool is_ascii;
    uint64_t n;
};

void text_bytes_traits(const struct text_bytes *text, struct traits *ret);
/* Whether text_bytes_traits has to know is_ascii. */
bool text_needs_ascii(struct slice charset, bool is_base64);

/* A piece of plain text. */
void text_piece_traits(struct slice text, struct traits *ret);

/* True if the text of a script decodes strings and runs them. */
bool script_is_obfuscated(struct slice text);

#endif
