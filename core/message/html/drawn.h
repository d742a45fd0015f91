/*
 * drawn - pictures of two colours that text or HTML draws: codes of block characters, of table
 * cells, of coloured boxes.
 *
 * Lines of text whose characters are all blocks or blanks, and rows of HTML boxes without text,
 * are the rows of a grid. Each character has four quarters; each box has its columns and, where all
 * boxes say so, its pixels. What divides all borders without a rest is one module. A grid becomes a
 * picture when it has two colours and both its sides DRAWN_SIDE_MIN to DRAWN_SIDE_MAX modules: a
 * picture is dark on light, with a light margin. Not followed: style sheets (classes), rowspan,
 * boxes that are placed freely, stretched images.
 * Files in reading order: drawn (the grid and its picture), drawn_text, drawn_box.
 * Threads: one at a time.   Depends: text, html.
 * Allocates from the arena: itself at drawn_new, and at most DRAWN_BYTES for the grid at the first
 * row that may be one. On the heap: a picture while it is given out.
 */
#ifndef CORE_MESSAGE_HTML_DRAWN_H
#define CORE_MESSAGE_HTML_DRAWN_H

#include "core/base/arena.h"
#include "core/base/slice.h"
#include "core/message/html/html.h"

enum {
    DRAWN_SIDE_MIN = 21,     /* modules: of the smallest QR code */
    DRAWN_SIDE_MAX = 200,    /* the largest has 177, and a margin */
    DRAWN_SCALE = 4,         /* pixels of a module, across and down */
    DRAWN_MARGIN = 4,        /* modules around a picture */
    DRAWN_PICTURES_MAX = 16, /* of one part; later grids are dropped */
    DRAWN_BYTES = 248 * 1024
};

/* A picture: binary PGM (P5) of 8 bits. */
typedef void drawn_fn(void *context, struct slice pgm);

struct drawn;

/* NULL when the arena is full. */
struct drawn *drawn_new(struct arena *arena, drawn_fn *on_picture, void *context);
/* Text as a person sees it, in pieces cut anywhere. LF ends a line. */
void drawn_text(struct drawn *d, struct slice text);
/* The text that follows stands below. */
void drawn_line_end(struct drawn *d);
/* The tokens of an HTML part, for its boxes. HTML_TAG_END may be left out. Shown text goes to
 * drawn_text, too. */
void drawn_token(struct drawn *d, const struct html_token *token);
/* The part is over; the next one may begin. */
void drawn_end(struct drawn *d);

#endif
