/*
 * html_state - inside of the HTML tokenizer, shared by html.c and html_comment.c only.
 */
#ifndef CORE_TEXT_HTML_STATE_H
#define CORE_TEXT_HTML_STATE_H

#include "core/text/html.h"
#include "core/text/html_ref.h"

enum { HTML_TAG_NAME_MAX = 32, HTML_ATTRIBUTE_NAME_MAX = 64, HTML_RAW_END_MAX = 16 };

enum html_state {
    HTML_STATE_TEXT,
    HTML_STATE_RAW,
    HTML_STATE_RAW_END,
    HTML_STATE_REF,
    HTML_STATE_TAG_OPEN,
    HTML_STATE_END_TAG_OPEN,
    HTML_STATE_TAG_NAME,
    HTML_STATE_BEFORE_NAME,
    HTML_STATE_NAME,
    HTML_STATE_AFTER_NAME,
    HTML_STATE_BEFORE_VALUE,
    HTML_STATE_VALUE,
    HTML_STATE_MARKUP,
    HTML_STATE_MARKUP_DASH,
    HTML_STATE_BOGUS,
    HTML_STATE_COMMENT_START,
    HTML_STATE_COMMENT_START_DASH,
    HTML_STATE_COMMENT,
    HTML_STATE_COMMENT_DASH,
    HTML_STATE_COMMENT_END,
    HTML_STATE_COMMENT_BANG,
    HTML_STATE_COUNT
};

/* A string that is cut at its size. */
struct html_text {
    char *p;
    size_t n;
    size_t size;
};

struct html {
    html_token_fn *on_token;
    void *context;
    enum html_state state;
    enum html_state after_ref;
    struct html_ref ref;
    struct html_text tag;
    struct html_text name;
    struct html_text value; /* attribute value or comment */
    char quote;             /* of the value: '"', '\'' or 0 */
    bool is_end_tag;
    bool is_raw;     /* inside script, style, title or textarea: tag is its name */
    bool may_ref;    /* references count in this raw text */
    bool is_doctype; /* the declaration is one, and dropped */
    bool is_first;   /* nothing of this declaration was emitted yet */
    bool met_limit;
    size_t nattributes;
    const char *stop; /* next stop_byte of this chunk, or its end; found only once */
    char stop_byte;
    char raw_end[HTML_RAW_END_MAX]; /* "</scr": may become the end of raw text */
    size_t nraw_end;
    char tag_bytes[HTML_TAG_NAME_MAX];
    char name_bytes[HTML_ATTRIBUTE_NAME_MAX];
};

struct slice html_text_slice(const struct html_text *t);
void html_text_add(struct html_text *t, struct slice s);
/* Calls back with one token. */
void html_emit(struct html *h, enum html_token_kind kind, struct slice name,
               struct slice value);
void html_skip(struct slice *in, size_t n);

/* Comments, doctypes and other declarations; their text collects in h->value. */
void html_begin_comment(struct html *h, enum html_state state);
/* Emits what is collected; a doctype is dropped. */
void html_emit_comment(struct html *h);

/* One function per state: each uses up bytes or goes on to a state that will. */
typedef void html_state_fn(struct html *h, struct slice *in);
html_state_fn html_on_markup;
html_state_fn html_on_markup_dash;
html_state_fn html_on_bogus;
html_state_fn html_on_comment_start;
html_state_fn html_on_comment_start_dash;
html_state_fn html_on_comment;
html_state_fn html_on_comment_dash;
html_state_fn html_on_comment_end;
html_state_fn html_on_comment_bang;

#endif
