/*
 * html_internal - inside of the HTML tokenizer, shared by its files only.
 *
 *   html.c          text, references, the loop, the end of the input
 *   html_tag.c      tags and attributes
 *   html_raw.c      raw text: script, style, title, ..., CDATA
 *   html_comment.c  comments, bogus comments and doctypes
 *   html_ref.c      character references
 *
 * States that differ in the standard by parse errors only are one state here.
 */
#ifndef CORE_MESSAGE_HTML_HTML_INTERNAL_H
#define CORE_MESSAGE_HTML_HTML_INTERNAL_H

#include "core/message/html/html.h"
#include "core/message/html/html_ref.h"
#include "core/message/text/ascii.h"

enum {
    HTML_RAW_END_MAX = HTML_TAG_NAME_MAX + 2, /* "</" and the name */
    HTML_SEEN_SLOTS = 2 * HTML_ATTRIBUTES_MAX /* a power of 2, at most half full */
};

#define HTML_REPLACEMENT SLICE_LIT("\xef\xbf\xbd")

enum html_state {
    HTML_STATE_TEXT,
    HTML_STATE_REF,
    /* html_raw.c */
    HTML_STATE_RAW,
    HTML_STATE_SCRIPT,
    HTML_STATE_RAW_END,
    HTML_STATE_PLAINTEXT,
    HTML_STATE_CDATA,
    HTML_STATE_CDATA_BRACKET,
    HTML_STATE_CDATA_END,
    /* html_tag.c */
    HTML_STATE_TAG_OPEN,
    HTML_STATE_END_TAG_OPEN,
    HTML_STATE_TAG_NAME,
    HTML_STATE_BEFORE_NAME,
    HTML_STATE_SELF_CLOSING,
    HTML_STATE_NAME,
    HTML_STATE_AFTER_NAME,
    HTML_STATE_BEFORE_VALUE,
    HTML_STATE_VALUE,
    /* html_comment.c */
    HTML_STATE_MARKUP,
    HTML_STATE_MARKUP_DASH,
    HTML_STATE_BOGUS,
    HTML_STATE_COMMENT_START,
    HTML_STATE_COMMENT_START_DASH,
    HTML_STATE_COMMENT,
    HTML_STATE_COMMENT_DASH,
    HTML_STATE_COMMENT_END,
    HTML_STATE_COMMENT_BANG,
    HTML_STATE_DOCTYPE,
    HTML_STATE_COUNT
};

/* Where in a script: "<!--" escapes, "<script" in it escapes twice, and there "</script>" does
 * not end the element. In this order: plain, escaped, escaped twice. */
enum html_script {
    HTML_SCRIPT_PLAIN,
    HTML_SCRIPT_LT,             /* < */
    HTML_SCRIPT_ESCAPE,         /* <! */
    HTML_SCRIPT_ESCAPE_DASH,    /* <!- */
    HTML_SCRIPT_ESCAPED,        /* in <!-- */
    HTML_SCRIPT_ESCAPED_DASH,   /* - */
    HTML_SCRIPT_ESCAPED_DASHES, /* -- */
    HTML_SCRIPT_ESCAPED_LT,     /* < */
    HTML_SCRIPT_ESCAPED_NAME,   /* <scr */
    HTML_SCRIPT_TWICE,          /* in <!--<script> */
    HTML_SCRIPT_TWICE_DASH,     /* - */
    HTML_SCRIPT_TWICE_DASHES,   /* -- */
    HTML_SCRIPT_TWICE_LT,       /* < */
    HTML_SCRIPT_TWICE_NAME      /* </scr */
};

/* A string that is cut at its size. */
struct html_text {
    char *p;
    size_t n;
    size_t size;
};

/* An attribute name of the tag with this number, by its hash: names of one hash count as the
 * same, which tells a false duplicate at worst. */
struct html_seen {
    uint64_t hash;
    uint64_t tag_number;
};

struct html {
    html_token_fn *on_token;
    void *context;
    struct slice chunk; /* as fed */
    size_t before;      /* bytes fed before it */
    size_t mark;        /* where the text or tag begins, of all that was fed */
    enum html_state state;
    enum html_state after_ref;
    struct html_ref ref;
    struct html_text tag;
    struct html_text name;
    struct html_text value; /* attribute value or comment */
    bool was_cr;            /* the last chunk ended in it */
    bool met_limit;

    /* tags */
    char quote; /* of the value: '"', '\'' or 0 */
    bool is_end_tag;
    bool is_self_closing;
    bool is_content_fixed; /* html_set_content */
    bool is_begun;         /* pieces of this value were reported */
    bool is_duplicate;     /* the attribute at hand */
    size_t nnames;         /* of the tag, in seen */
    uint64_t tag_number;   /* of start tags, from 1 */
    struct html_seen seen[HTML_SEEN_SLOTS];

    /* raw text; tag is its name */
    bool is_raw;
    bool may_ref;        /* references count in it */
    enum html_state raw; /* the state in it */
    enum html_script script;
    unsigned nscript;               /* letters that are like "script" */
    char raw_end[HTML_RAW_END_MAX]; /* "</scr": may become its end */
    size_t nraw_end;

    const char *stop; /* next stop_byte of this chunk, or its end; found only once */
    char stop_byte;
    char tag_bytes[HTML_TAG_NAME_MAX];
    char name_bytes[HTML_ATTRIBUTE_NAME_MAX];
};

/* White space of the standard, CR being gone; ASCII_SPACE has VT as well. */
static inline bool html_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\f';
}

/* Whether c ends the name of a tag or an attribute. */
static inline bool html_ends_name(char c)
{
    return html_is_space(c) || c == '/' || c == '>';
}

static inline struct slice html_text_slice(const struct html_text *t)
{
    return slice_of(t->p, t->n);
}

void html_text_add(struct html_text *t, struct slice s);
/* One byte in lower case, U+FFFD for NUL. */
static inline void html_text_add_lower(struct html_text *t, char c)
{
    if (c == '\0') {
        html_text_add(t, HTML_REPLACEMENT);
    } else if (t->n < t->size) {
        t->p[t->n++] = ASCII_LOWER(c);
    } else {
        /* cut */
    }
}

/* Calls back with one token. */
void html_emit(struct html *h, enum html_token_kind kind, struct slice name,
               struct slice value);
/* Text or raw text. */
void html_emit_text(struct html *h, struct slice s);
static inline void html_skip(struct slice *in, size_t n)
{
    *in = slice_from(*in, n);
}

/* Length of the run before the next stop (and, if wanted, before '&'). */
size_t html_run_before(struct html *h, struct slice s, char stop, bool ref);
/* After a '&', which is used up. */
void html_begin_ref(struct html *h);

/* After the '>' of a start tag: raw text, if the tag holds it. */
void html_begin_raw(struct html *h);
/* An attribute is complete. */
void html_emit_attribute(struct html *h);
/* Appends s to h->value, U+FFFD for NUL; emit takes the value whenever it is full. */
typedef void html_piece_fn(struct html *h, bool is_last);
void html_collect(struct html *h, struct slice s, html_piece_fn *emit);
/* Appends to the value of an attribute. */
void html_add_value(struct html *h, struct slice s);
/* Comments collect in h->value. */
void html_begin_comment(struct html *h, enum html_state state);

/* One function per state: each uses up bytes or goes on to a state that will. */
typedef void html_state_fn(struct html *h, struct slice *in);
html_state_fn html_on_raw;
html_state_fn html_on_script;
html_state_fn html_on_raw_end;
html_state_fn html_on_plaintext;
html_state_fn html_on_cdata;
html_state_fn html_on_cdata_bracket;
html_state_fn html_on_cdata_end;
html_state_fn html_on_tag_open;
html_state_fn html_on_end_tag_open;
html_state_fn html_on_tag_name;
html_state_fn html_on_before_name;
html_state_fn html_on_self_closing;
html_state_fn html_on_name;
html_state_fn html_on_after_name;
html_state_fn html_on_before_value;
html_state_fn html_on_value;
html_state_fn html_on_markup;
html_state_fn html_on_markup_dash;
html_state_fn html_on_bogus;
html_state_fn html_on_comment_start;
html_state_fn html_on_comment_start_dash;
html_state_fn html_on_comment;
html_state_fn html_on_comment_dash;
html_state_fn html_on_comment_end;
html_state_fn html_on_comment_bang;
html_state_fn html_on_doctype;

/* Emits the rest of a state when the input ends in it. */
typedef void html_end_fn(struct html *h);
html_end_fn html_end_raw;
html_end_fn html_end_cdata;
html_end_fn html_end_tag_open;
html_end_fn html_end_comment;
html_end_fn html_end_doctype;

#endif
