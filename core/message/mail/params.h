/*
 * params - structured MIME header fields: "main; name=value; name*0*=utf-8''..." read leniently.
 *
 * Quoted strings, comments, RFC 2231 continuations and charsets, missing quotes and semicolons.
 * Linear in the field. Threads: pure.   Allocates: from the arena.   Depends: text (charset,
 * encoded_word).
 */
#ifndef CORE_MESSAGE_MAIL_PARAMS_H
#define CORE_MESSAGE_MAIL_PARAMS_H

#include "core/base/arena.h"
#include "core/base/slice.h"

/* RFC 2231 pieces of one value; later ones are not taken. */
enum { PARAM_PIECES_MAX = 100 };

/* The text before the first parameter, without quotes and comments: "text/html". */
struct slice param_main(struct slice field);

/* The value of a parameter that is a name or a token (boundary, charset): the first plain one,
 * else the RFC 2231 one. Without a trailing comment. {NULL, 0} when there is none. */
struct slice param_token(struct arena *arena, struct slice field, struct slice name);

/* The value that another reader may take: a second plain parameter or the RFC 2231 one, when it
 * differs from param_token. {NULL, 0}: readers agree. */
struct slice param_token_other(struct arena *arena, struct slice field,
                               struct slice name);

/* The value of a parameter that people read (filename, name): the RFC 2231 one, else the first
 * plain one with its encoded words decoded; UTF-8. {NULL, 0} when there is none. */
struct slice param_text(struct arena *arena, struct slice field, struct slice name);

#endif
