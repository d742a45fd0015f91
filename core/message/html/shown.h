/*
 * shown - text, links and loaded URLs of HTML, as a reader sees them.
 *
 * Reads the tokens of core/message/html/html.h. Reports text in runs (over inline tags, up to the
 * next block), every URL attribute, and each link with its text, so that a caller can find
 * "http://bank.example" over another target. Text that browsers do not show has flags; no text is
 * dropped. It follows the open elements on a bounded stack, with the
 * implied ends of the HTML standard that matter for it; it builds no tree. Not followed: style
 * sheets (classes), colours, positions off the screen.
 * Threads: one at a time.   Depends: text, url (longurl).
 * Allocates from the arena less than SHOWN_BYTES, a tokenizer at the first conditional comment, and
 * a longurl at the first value that is too long.
 */
#ifndef CORE_MESSAGE_HTML_SHOWN_H
#define CORE_MESSAGE_HTML_SHOWN_H

#include "core/base/arena.h"
#include "core/base/slice.h"
#include "core/message/html/html.h"

enum {
    SHOWN_DEPTH_MAX = 512, /* open elements; a deeper one has the state of its parent */
    SHOWN_RUN_MAX = 16384, /* bytes of a run; a longer one is cut at white space, and a
                                 * URL in it to the parts that longurl.h keeps */
    SHOWN_LINK_TEXT_MAX = 1024,   /* bytes kept of the text of a link */
    SHOWN_LINK_TARGET_MAX = 2048, /* bytes kept of its target */
    SHOWN_BYTES = 65536
};

enum shown_where {
    SHOWN_BODY,
    SHOWN_TITLE,
    SHOWN_SCRIPT,
    SHOWN_STYLE,   /* of <style> */
    SHOWN_COMMENT, /* but conditional ones, which are read as HTML */
    SHOWN_FALLBACK /* of <iframe>, <noembed>, <noframes> */
};

/* Why text is not seen; 0 when it is. */
enum shown_flag {
    SHOWN_NONE =
        1, /* display:none, hidden, opacity:0, no height or width to overflow */
    SHOWN_INVISIBLE = 2, /* visibility:hidden */
    SHOWN_TINY = 4,      /* a font size of at most one pixel */
    SHOWN_OUTLOOK = 8    /* in a conditional comment: by Outlook only */
};

struct shown_text {
    enum shown_where where;
    unsigned flags;
    size_t at; /* html_token.at of its first piece; of a conditional comment: its own */
    struct slice text;
};

enum shown_value_kind {
    SHOWN_VALUE_LINK, /* href of a, area; xlink:href */
    SHOWN_VALUE_FORM, /* action, formaction */
    SHOWN_VALUE_LOAD, /* src, srcset, background, poster, url() of styles, href of link, ... */
    SHOWN_VALUE_REFRESH, /* meta refresh */
    SHOWN_VALUE_BASE,    /* href of base */
    SHOWN_VALUE_OTHER, /* cite, longdesc, ping, ...: URLs that nobody follows by a click */
    SHOWN_VALUE_TEXT /* any other attribute; URLs may stand in it */
};

/* A link that has ended. */
struct shown_link {
    struct slice target; /* value of href */
    struct slice text;   /* its visible text */
    bool has_image;
    bool is_cut; /* text or target was longer than is kept */
    size_t at;   /* html_token.at of its start tag */
};

/* Slices are valid during the call only. A URL is as the attribute has it, or shortened by
 * longurl.h if it is longer than HTML_VALUE_MAX. A longer text or list comes in pieces. link may be
 * NULL: its target comes as a value too, and its text as text. */
struct shown_events {
    void (*text)(void *context, const struct shown_text *text);
    void (*value)(void *context, enum shown_value_kind kind, struct slice value);
    void (*link)(void *context, const struct shown_link *link);
};

struct shown;
/* events is borrowed for the life of the result. NULL when the arena is full. */
struct shown *shown_new(struct arena *arena, const struct shown_events *events,
                        void *context);
/* The next token. */
void shown_take(struct shown *s, const struct html_token *token);
/* After the last token. */
void shown_end(struct shown *s);
/* More than SHOWN_DEPTH_MAX elements were open, or there was no memory to read a conditional
 * comment (it was reported as SHOWN_COMMENT). */
bool shown_met_limit(const struct shown *s);
/* A URL in an attribute was longer than longurl.h keeps. */
bool shown_met_value(const struct shown *s);

#endif
