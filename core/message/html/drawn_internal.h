/*
 * drawn_internal - inside of core/message/html/drawn.h, shared by its files only.
 *
 *   drawn.c       the grid, its modules, its picture
 *   drawn_text.c  rows of block characters
 *   drawn_box.c   rows of boxes
 */
#ifndef CORE_MESSAGE_HTML_DRAWN_INTERNAL_H
#define CORE_MESSAGE_HTML_DRAWN_INTERNAL_H

#include "core/message/html/drawn.h"

enum {
    DRAWN_ROWS_MAX = 2 * DRAWN_SIDE_MAX, /* a line of text has two */
    DRAWN_RUNS_MAX =
        DRAWN_SIDE_MAX * (DRAWN_SIDE_MAX + 2), /* of one colour, in all rows */
    DRAWN_ROW_RUNS_MAX = DRAWN_SIDE_MAX + 2,
    DRAWN_STYLE_MAX =
        400, /* bytes of the attributes of a box; longer ones are left out */
    DRAWN_BEGIN_RUNS =
        3, /* of the first row; the mark of a code at each end, light between */
    DRAWN_LINE_MAX =
        4 * DRAWN_SIDE_MAX * 3, /* bytes: two characters a module, of three bytes */
    DRAWN_WIDTH_MAX = 60000     /* units of a row */
};

/* Neighbours of one colour. Units are half characters, or columns. Pixels are 0 where they are
 * unknown. */
struct drawn_run {
    uint16_t units;
    bool is_dark;
    uint16_t pixels;
};

/* A row that is not yet in the grid. */
struct drawn_row {
    struct drawn_run run[DRAWN_ROW_RUNS_MAX];
    size_t n;
    bool is_over; /* it has more runs than a grid */
};

enum drawn_kind { DRAWN_NOTHING, DRAWN_TEXT, DRAWN_BOXES };

struct drawn_grid {
    struct drawn_run run[DRAWN_RUNS_MAX];
    struct {
        uint16_t n; /* runs */
        uint16_t height;
    } row[DRAWN_ROWS_MAX];
    size_t nruns;
    size_t nrows;
};

/* Declarations of attributes, unread. */
struct drawn_style {
    size_t n;
    char text[DRAWN_STYLE_MAX];
};

/* An HTML box that is open. */
enum drawn_box_kind { BOX_NONE, BOX_CELL, BOX_OTHER };
struct drawn_box {
    enum drawn_box_kind kind;
    unsigned blanks; /* characters in it */
    unsigned ninner; /* elements in a cell */
    bool is_inner_open;
    struct drawn_style style;
};

struct drawn {
    struct arena *arena;
    drawn_fn *on_picture;
    void *context;
    unsigned npictures;

    enum drawn_kind kind; /* of the rows in the grid */
    struct drawn_grid *grid;
    bool is_failed; /* no memory for a grid */

    /* text */
    char *line; /* DRAWN_LINE_MAX bytes */
    size_t nline;
    bool skips_line;       /* it is too long */
    unsigned nblank_lines; /* since the last row */
    char ink;              /* the character that is dark, of a grid of ASCII */

    /* boxes */
    struct drawn_row boxes;
    bool has_text;        /* the row has some: it is none of a grid */
    struct drawn_box box; /* that is open */
    struct drawn_style
        *open_style; /* of the start tag that is read; NULL: it draws nothing */
    struct drawn_style table_style;
    struct drawn_style row_style; /* with that of the table, or of the box around */
    bool is_row_read;             /* the next two are known */
    bool is_row_dark;
    unsigned row_height;
    unsigned height; /* pixels of the row; 0: unknown */
};

/* drawn.c */
/* Widens the last run of the row, or begins one. */
void drawn_row_add(struct drawn_row *row, struct drawn_run run);
/* Puts a row below those of this kind; rows of another kind are finished first. */
void drawn_add_row(struct drawn *d, enum drawn_kind kind, const struct drawn_row *row,
                   unsigned height);
/* Gives out the grid when it is a picture, and forgets it. */
void drawn_finish(struct drawn *d);

#endif
