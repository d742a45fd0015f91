/*
 * html - HTML tokens for extraction: streaming, no tree, no recursion, linear.
 *
 * The tokenizer of the HTML standard: the same tags, attributes, comments and text, however the
 * input is cut. Two things it does differently, so that nothing is lost: a tag comes in pieces
 * (HTML_START_TAG, one HTML_ATTRIBUTE each, HTML_TAG_END), and the pieces of a tag that the input
 * ends in come too (browsers drop it, some mail clients do not). There is no tree, so no element is
 * foreign and "<![CDATA[" begins a comment. Scripting is off, so <noscript> holds tags. Line ends
 * become LF. Input is UTF-8, in chunks cut anywhere.
 * Files in reading order: html (states of text and tags), html_tag, html_raw, html_comment,
 * html_ref; then shown*.c: the text that a reader sees.
 * To add a way to hide text: a property in shown_value.c, its effect in shown_open.c, and a row in
 * tests/unit/html/test_shown.c.
 * Threads: one at a time.   Allocates: from the arena, once per tokenizer, less than
 * 2 * HTML_VALUE_MAX bytes.
 * Source: HTML standard, 13.2.3.5 and 13.2.5.
 */
#ifndef CORE_MESSAGE_HTML_HTML_H
#define CORE_MESSAGE_HTML_HTML_H

#include "core/base/arena.h"
#include "core/base/slice.h"

enum {
    HTML_ATTRIBUTES_MAX = 256,    /* names of a tag that are known, html_met_limit() */
    HTML_VALUE_MAX = 16384,       /* bytes of a value; a longer one comes in pieces */
    HTML_TAG_NAME_MAX = 32,       /* bytes of a name; it is cut there */
    HTML_ATTRIBUTE_NAME_MAX = 128 /* likewise */
};

enum html_token_kind {
    HTML_TEXT,
    HTML_START_TAG,
    HTML_ATTRIBUTE, /* of the start tag before; those of end tags are dropped */
    HTML_END_TAG,
    HTML_COMMENT,
    HTML_RAW_TEXT,
    HTML_TAG_END, /* '>' of a start or end tag; none when the input ends before it */
    HTML_DOCTYPE, /* its name and identifiers are dropped */
    HTML_NUL      /* a NUL in text: not shown, the text on both sides of it is joined */
};

struct html_token {
    enum html_token_kind kind;
    bool is_self_closing; /* HTML_TAG_END: "/>" */
    bool
        is_duplicate; /* HTML_ATTRIBUTE: browsers take an earlier one of this tag, as far as
                           * its names are known */
    bool is_cut;      /* HTML_COMMENT, HTML_ATTRIBUTE: the next token continues it */
    size_t at;        /* bytes fed before the text or tag that the token is of */
    struct slice tag;  /* lower-case name for tags, attributes and raw text */
    struct slice name; /* lower-case attribute name */
    struct slice
        value; /* text, comment, or attribute value, character references decoded */
};
/* Called for each token; slices are valid during the call only. Text comes in pieces: the next
 * token belongs to it if it is text too. A comment, empty or not, comes whole, or,
 * over HTML_VALUE_MAX, in pieces of just that size and a rest. Raw text: script, style, xmp,
 * iframe, noembed, noframes, plaintext, title and textarea (of the last two the references are
 * decoded). */
typedef void html_token_fn(void *context, const struct html_token *token);

/* The states that the standard lets a tokenizer begin in. */
enum html_content {
    HTML_CONTENT_DATA,
    HTML_CONTENT_RCDATA,
    HTML_CONTENT_RAWTEXT,
    HTML_CONTENT_SCRIPT,
    HTML_CONTENT_PLAINTEXT,
    HTML_CONTENT_CDATA
};

struct html;
/* NULL when the arena is full. */
struct html *html_new(struct arena *arena, html_token_fn *on_token, void *context);
/* Call this before the first byte. Begins inside of content, as after a start tag of this name
 * (may be empty). From then on no start tag changes the content: the caller does, as the tree does
 * in the standard. */
void html_set_content(struct html *h, enum html_content content, struct slice tag);
void html_feed(struct html *h, struct slice utf8);
/* Ends the input. The next html_feed begins another one. */
void html_end(struct html *h);
/* A tag had attributes of more than HTML_ATTRIBUTES_MAX names. */
bool html_met_limit(const struct html *h);

#endif
