/*
 * shown_internal - inside of core/message/html/shown.h, shared by its files only.
 *
 *   shown.c       runs of text, links, conditional comments
 *   shown_open.c  open elements
 *   shown_value.c attributes: URLs, styles
 *   shown_long.c  attributes whose value comes in pieces
 */
#ifndef CORE_MESSAGE_HTML_SHOWN_INTERNAL_H
#define CORE_MESSAGE_HTML_SHOWN_INTERNAL_H

#include "core/message/html/shown.h"
#include "core/message/url/longurl.h"

/* Properties of a tag that matter here. */
enum shown_tag_flag {
    SHOWN_TAG_VOID = 1,     /* has no end */
    SHOWN_TAG_INLINE = 2,   /* the words before and after it are one run */
    SHOWN_TAG_ENDS_P = 4,   /* its start ends a paragraph */
    SHOWN_TAG_SCOPE = 8,    /* end tags inside of it end nothing outside */
    SHOWN_TAG_HIDES = 0x10, /* its content is not shown */
    SHOWN_TAG_LIST = 0x20,  /* its items are its own */
    SHOWN_TAG_ROOT = 0x40,  /* its end tag ends nothing */
    /* parts of a table, from the outside */
    SHOWN_TAG_GROUP = 0x100,
    SHOWN_TAG_ROW = 0x200,
    SHOWN_TAG_CELL = 0x400,
    SHOWN_TAG_TABLE = 0x800,
    /* what it is, where that matters */
    SHOWN_TAG_P = 0x1000,
    SHOWN_TAG_LINK = 0x2000,
    SHOWN_TAG_ITEM = 0x4000,
    SHOWN_TAG_TERM = 0x8000,
    SHOWN_TAG_OPTION = 0x10000
};

enum {
    SHOWN_TAG_TABLE_PART = SHOWN_TAG_GROUP | SHOWN_TAG_ROW | SHOWN_TAG_CELL,
    /* one ends the other */
    SHOWN_TAG_ENDS_OWN =
        SHOWN_TAG_LINK | SHOWN_TAG_ITEM | SHOWN_TAG_TERM | SHOWN_TAG_OPTION
};

/* Tags without a row in the table of shown_open.c are identified by a hash of their name. */
struct shown_tag {
    uint32_t id;
    uint32_t flags; /* enum shown_tag_flag */
};
struct shown_tag shown_tag_of(struct slice name);

/* Elements that a tag may end or that keep it from ending others, by their place on the stack plus
 * one; 0: there is none. Each open element knows those up to it, so that no tag looks for them. */
enum { SHOWN_OWN_KINDS = 4, SHOWN_PART_KINDS = 3 };
struct shown_near {
    uint16_t paragraph;            /* innermost that is in scope */
    uint16_t own[SHOWN_OWN_KINDS]; /* in scope, of SHOWN_TAG_ENDS_OWN in order */
    uint16_t scope;                /* innermost */
    uint16_t table;                /* innermost */
    uint16_t
        parts[SHOWN_PART_KINDS]; /* of that, outermost of this kind or further in */
};

struct shown_open {
    struct shown_tag tag;
    unsigned flags; /* of the text in it */
    struct shown_near near;
    uint16_t same; /* next one of its slot, further out */
};

enum {
    SHOWN_SLOTS = 256,       /* that open elements are found by, by their tag */
    SHOWN_SAME_SLOT_MAX = 8, /* of one slot that are looked at */
    SHOWN_REFRESH = 3        /* "url" */
};

/* Properties that the attributes of a tag set; bits. */
enum shown_property {
    SHOWN_DISPLAY = 1,
    SHOWN_VISIBILITY = 2,
    SHOWN_OPACITY = 4,
    SHOWN_FONT_SIZE = 8,
    SHOWN_OVERFLOW = 0x10,
    SHOWN_EXTENT = 0x20 /* height or width */
};
struct shown_style {
    unsigned hides;     /* properties that do */
    unsigned shows;     /* that do not */
    unsigned important; /* that no later declaration changes */
    bool is_hidden;     /* attribute hidden */
};

struct shown_run {
    enum shown_where where;
    unsigned flags;
    size_t at;
    size_t n;
    char *bytes; /* SHOWN_RUN_MAX */
};

struct shown_open_link {
    bool is_open;
    bool has_image;
    bool is_cut;
    size_t at;
    size_t ntarget;
    size_t ntext;
    char target[SHOWN_LINK_TARGET_MAX];
    char text[SHOWN_LINK_TEXT_MAX];
};

/* How the further pieces of a long value are read. */
enum shown_long {
    SHOWN_LONG_NOT,
    SHOWN_LONG_PIECES,  /* each for itself, as a text or a list */
    SHOWN_LONG_URL,     /* all are one URL */
    SHOWN_LONG_REFRESH, /* "url=" may still come, then it is one */
    SHOWN_LONG_TEXT     /* each is a text in which URLs may stand */
};

struct shown {
    const struct shown_events *events;
    void *context;
    struct arena *arena;
    bool met_limit;
    size_t at; /* of the token at hand, or of the conditional comment that it is in */

    /* the start tag that is read */
    struct shown_tag tag;
    struct shown_style style;
    bool is_start;
    bool has_href;

    /* a value that comes in pieces */
    enum shown_long long_value;
    struct longurl *long_url; /* made for the first */
    char refresh
        [SHOWN_REFRESH]; /* the bytes before the one at hand, without white space */
    bool met_value;

    struct shown_open open[SHOWN_DEPTH_MAX];
    uint16_t innermost[SHOWN_SLOTS]; /* open element of each slot, plus one */
    size_t nopen;
    size_t nover; /* open elements over the limit */
    size_t floor; /* a conditional comment ends no element outside of it */

    struct shown_run seen;
    struct shown_run unseen; /* hidden, no body text, or of a conditional comment */
    struct shown_open_link links[2]; /* the second is of conditional comments */

    struct html *outlook; /* of conditional comments */
    bool in_outlook;
    bool is_cut; /* the next comment token continues this comment */
    bool is_conditional;
    size_t nover_outside;
};

/* shown.c */
struct shown_open_link *shown_link_of(struct shown *s);

/* shown_open.c */
unsigned shown_flags(const struct shown *s); /* of text here */
/* Leaves the first n elements. */
void shown_close_from(struct shown *s, size_t n);
void shown_open_tag(struct shown *s); /* s->tag, with s->style */
void shown_close_tag(struct shown *s, struct shown_tag tag);

/* shown_value.c */
void shown_attribute(struct shown *s, const struct html_token *t);
/* One that is whole, or a piece that is read as if it were. */
void shown_whole_attribute(struct shown *s, const struct html_token *t);
/* The value is one URL. */
bool shown_is_url(const struct html_token *t);

/* shown_long.c: an attribute that comes in pieces; all of them, and the last. */
void shown_long_attribute(struct shown *s, const struct html_token *t);
/* Each url() in a style sheet. */
void shown_css_urls(struct shown *s, struct slice css);
/* Reports a value, unless it is empty. */
static inline void shown_tell(struct shown *s, enum shown_value_kind kind,
                              struct slice value)
{
    if (value.n > 0) {
        s->events->value(s->context, kind, value);
    }
}

#endif
