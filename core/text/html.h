/*
 * html - HTML tokens for extraction: streaming, no tree, no recursion, linear.
 *
 * First cut: tags with attributes, text, comments (their content too: MSO conditional comments
 * are shown by Outlook), raw text of script and style kept apart, character references decoded
 * in attribute values and text. The full tokenizer of the HTML standard comes with the next
 * issue behind this same interface. Input is UTF-8, in chunks cut anywhere.
 * Threads: one at a time.   Allocates: from the arena, per tokenizer, bounded.
 */
#ifndef CORE_TEXT_HTML_H
#define CORE_TEXT_HTML_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/slice.h"

enum { HTML_ATTRIBUTES_MAX = 256, HTML_VALUE_MAX = 16384 };

enum html_token_kind {
    HTML_TEXT,
    HTML_START_TAG,
    HTML_ATTRIBUTE,
    HTML_END_TAG,
    HTML_COMMENT,
    HTML_RAW_TEXT
};

struct html_token {
    enum html_token_kind kind;
    struct slice tag;  /* lower-case name for tags, attributes and raw text */
    struct slice name; /* lower-case attribute name */
    struct slice
        value; /* text, comment, or attribute value, character references decoded */
};
/* Called for each token; slices are valid during the call only. Text comes in pieces: what
 * follows with no other token between belongs to it. A comment comes whole, or, over
 * HTML_VALUE_MAX, in pieces of just that size and a rest. Raw text: script, style, title and
 * textarea (the last two are shown, so references are decoded). */
typedef void html_token_fn(void *context, const struct html_token *token);

struct html;
struct html *html_new(struct arena *arena, html_token_fn *on_token, void *context);
void html_feed(struct html *h, struct slice utf8);
void html_end(struct html *h);
/* A tag had more than HTML_ATTRIBUTES_MAX attributes. */
bool html_met_limit(const struct html *h);

#endif
