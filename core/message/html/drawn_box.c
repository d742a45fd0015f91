/* drawn_box - rows of boxes: cells of tables, and elements with a colour of their own. */
#include "core/message/html/drawn_internal.h"
#include "core/message/text/ascii.h"

enum {
    PIXELS_MAX = 1000, /* of one box; a wider one is layout */
    COLUMNS_MAX = DRAWN_SIDE_MAX,
    DARK_BELOW = 128,
    RED_WEIGHT = 77, /* of 256: brightness */
    GREEN_WEIGHT = 150,
    BLUE_WEIGHT = 29
};

enum element { OTHER, CELL, ROW, TABLE, BLOCK, INLINE, BREAK };

static bool is_tag(struct slice tag, const char *name)
{
    return memcmp(tag.p, name, tag.n) == 0;
}

/* Tags of one and two letters. */
static enum element short_element_of(struct slice tag)
{
    const char last = tag.p[tag.n - 1];

    if (tag.n == 1) {
        return last == 'p' ? BLOCK : (last == 'i' || last == 'b' ? INLINE : OTHER);
    }
    if (tag.p[0] == 't') {
        return last == 'r' ? ROW : (last == 'd' || last == 'h' ? CELL : OTHER);
    }
    return is_tag(tag, "br") ? BREAK : OTHER;
}

/* By length first: every tag of a message comes here. */
static enum element element_of(struct slice tag)
{
    switch (tag.n) {
    case 1:
    case 2:
        return short_element_of(tag);
    case 3:
        return is_tag(tag, "div") ? BLOCK : OTHER;
    case 4:
        return is_tag(tag, "span") || is_tag(tag, "font") ? INLINE : OTHER;
    case 5:
        return is_tag(tag, "table") ? TABLE : OTHER;
    default:
        return OTHER;
    }
}

/* A number before "px" or alone; 0: none. */
static unsigned pixels_of(struct slice value)
{
    unsigned n = 0;
    size_t i = 0;

    value = slice_trim(value);
    while (i < value.n && ASCII_IS(value.p[i], ASCII_DIGIT) && n <= PIXELS_MAX) {
        n = n * 10 + (unsigned)(value.p[i] - '0');
        i++;
    }
    const struct slice unit = slice_from(value, i);
    const bool is_known = unit.n == 0 || slice_has_prefix_nocase(unit, SLICE_LIT("px"));

    return is_known && n <= PIXELS_MAX ? n : 0;
}

static bool is_dark(unsigned red, unsigned green, unsigned blue)
{
    return RED_WEIGHT * red + GREEN_WEIGHT * green + BLUE_WEIGHT * blue <
           DARK_BELOW * 256;
}

/* "#rgb" or "#rrggbb", the mark may be missing. */
static bool hex_colour(struct slice value, bool *retdark)
{
    unsigned part[6];

    if (value.n != 3 && value.n != 6) {
        return false;
    }
    for (size_t i = 0; i < value.n; i++) {
        const int digit = hex_digit_value(value.p[i]);

        if (digit < 0) {
            return false;
        }
        part[i] = (unsigned)digit;
    }
    *retdark = value.n == 3 ? is_dark(part[0] * 17, part[1] * 17, part[2] * 17)
                            : is_dark(part[0] * 16 + part[1], part[2] * 16 + part[3],
                                      part[4] * 16 + part[5]);
    return true;
}

/* "rgb(0, 0, 0)"; one that lets everything through is no colour. */
static bool rgb_colour(struct slice value, bool *retdark)
{
    unsigned part[3] = {0};

    if (!slice_has_prefix_nocase(value, SLICE_LIT("rgb"))) {
        return false;
    }
    value = slice_from(value, slice_find(value, '(') + 1);
    for (size_t i = 0; i < LENGTH(part); i++) {
        const struct slice one = slice_trim(slice_cut(&value, ','));

        for (size_t k = 0; k < one.n && ASCII_IS(one.p[k], ASCII_DIGIT); k++) {
            part[i] = part[i] < 256 ? part[i] * 10 + (unsigned)(one.p[k] - '0') : 256;
        }
    }
    *retdark = is_dark(part[0], part[1], part[2]);
    value = slice_trim(value);
    return !slice_has_prefix(value, SLICE_LIT("0)"));
}

/* Names of colours; all that are missing here are light. */
static bool named_colour(struct slice value, bool *retdark)
{
    static const char *const dark[] = {
        "black",   "navy",      "darkblue",     "mediumblue",    "blue",
        "maroon",  "darkgreen", "green",        "teal",          "purple",
        "indigo",  "darkred",   "midnightblue", "darkslategray", "dimgray",
        "dimgrey", "brown",     "darkmagenta",  "red",           "darkslateblue"};
    static const char *const none[] = {"transparent", "none",        "inherit",
                                       "initial",     "unset",       "no-repeat",
                                       "repeat",      "currentcolor"};
    const size_t n = value.n;

    for (size_t i = 0; i < LENGTH(none); i++) {
        if (slice_eq_nocase(value, slice_str(none[i]))) {
            return false;
        }
    }
    *retdark = false;
    for (size_t i = 0; i < LENGTH(dark); i++) {
        *retdark = *retdark || slice_eq_nocase(value, slice_str(dark[i]));
    }
    for (size_t i = 0; i < n; i++) {
        if (!ASCII_IS(value.p[i], ASCII_ALPHA)) {
            return false;
        }
    }
    return n > 0;
}

static bool colour_of(struct slice value, bool *retdark)
{
    value = slice_trim(value);
    if (value.n > 0 && value.p[0] == '#') {
        return hex_colour(slice_from(value, 1), retdark);
    }
    return hex_colour(value, retdark) || rgb_colour(value, retdark) ||
           named_colour(slice_head(value, slice_find(value, ' ')), retdark);
}

/* What declarations say of a box. */
struct look {
    bool has_colour;
    bool is_dark;
    unsigned columns;
    unsigned width; /* pixels; 0: unknown */
    unsigned height;
};

static void read_colour(struct look *look, struct slice value)
{
    bool dark = false;

    value = slice_trim(slice_head(value, slice_find(value, '!')));
    if (colour_of(value, &dark) ||
        colour_of(slice_head(value, slice_find(value, ' ')), &dark)) {
        look->has_colour = true;
        look->is_dark = dark;
    }
}

static void read_declaration(struct look *look, struct slice one)
{
    const size_t colon = slice_find(one, ':');
    const struct slice name = slice_trim(slice_head(one, colon));
    const struct slice value = slice_from(one, colon + 1);

    if (slice_eq_nocase(name, SLICE_LIT("background")) ||
        slice_eq_nocase(name, SLICE_LIT("background-color"))) {
        read_colour(look, value);
    } else if (slice_eq_nocase(name, SLICE_LIT("width"))) {
        look->width = pixels_of(value);
    } else if (slice_eq_nocase(name, SLICE_LIT("height"))) {
        look->height = pixels_of(value);
    } else if (slice_eq(name, SLICE_LIT("colspan"))) {
        const unsigned n = pixels_of(value);

        look->columns = n > 0 && n <= COLUMNS_MAX ? n : 1;
    } else {
        /* it draws nothing */
    }
}

static struct look look_of(const struct drawn_style *style)
{
    struct look look = {.columns = 1};
    struct slice rest = slice_of(style->text, style->n);

    while (rest.n > 0) {
        read_declaration(&look, slice_cut(&rest, ';'));
    }
    return look;
}

static void append_text(struct drawn_style *style, struct slice text)
{
    if (text.n > 0) {
        memcpy(style->text + style->n, text.p, text.n);
        style->n += text.n;
    }
}

/* Keeps a declaration, unread: most boxes turn out to have text in them. */
static void add_declaration(struct drawn_style *style, struct slice name,
                            struct slice value)
{
    if (value.n > 0 && name.n + value.n + 1 <= DRAWN_STYLE_MAX - style->n) {
        append_text(style, name);
        append_text(style, value);
        append_text(style, SLICE_LIT(";"));
    }
}

/* An attribute as the declaration that it is. */
static void take_attribute(struct drawn_style *style, const struct html_token *t)
{
    switch (t->name.n) {
    case 5:
        if (is_tag(t->name, "style")) {
            add_declaration(style, SLICE_NONE, t->value);
        } else if (is_tag(t->name, "width")) {
            add_declaration(style, SLICE_LIT("width:"), t->value);
        } else {
            /* it draws nothing */
        }
        break;
    case 6:
        if (is_tag(t->name, "height")) {
            add_declaration(style, SLICE_LIT("height:"), t->value);
        }
        break;
    case 7:
        if (is_tag(t->name, "bgcolor")) {
            add_declaration(style, SLICE_LIT("background:"), t->value);
        } else if (is_tag(t->name, "colspan")) {
            add_declaration(style, SLICE_LIT("colspan:"), t->value);
        } else {
            /* it draws nothing */
        }
        break;
    default:
        break;
    }
}

/* Rows of a layout have few boxes and tell their columns or nothing. */
static bool may_be_row(const struct drawn_row *row)
{
    unsigned units = 0;
    bool in_pixels = true;

    for (size_t i = 0; i < row->n; i++) {
        units += row->run[i].units;
        in_pixels = in_pixels && row->run[i].pixels > 0;
    }
    return units >= DRAWN_SIDE_MIN || in_pixels;
}

static void end_row(struct drawn *d)
{
    const bool is_first = d->kind != DRAWN_BOXES;

    if (d->boxes.n >= (is_first ? DRAWN_BEGIN_RUNS : 1) && may_be_row(&d->boxes)) {
        drawn_add_row(d, DRAWN_BOXES, &d->boxes, d->height);
    } else if (d->boxes.n > 0 && d->kind == DRAWN_BOXES) {
        drawn_finish(d);
    } else {
        /* a row without boxes is none */
    }
    d->boxes.n = 0;
    d->boxes.is_over = false;
    d->has_text = false;
    d->height = 0;
}

/* Colour and height that the cells of the row have if they do not say otherwise. */
static void read_row_style(struct drawn *d)
{
    const struct look look = look_of(&d->row_style);

    d->is_row_read = true;
    d->is_row_dark = look.has_colour && look.is_dark;
    d->row_height = look.height;
}

static void end_box(struct drawn *d)
{
    const bool is_cell = d->box.kind == BOX_CELL;

    if (d->box.kind == BOX_NONE) {
        return;
    }
    const struct look look = look_of(&d->box.style);
    const unsigned units = !is_cell && d->box.blanks > 0 ? d->box.blanks : look.columns;
    if (is_cell && !d->is_row_read) {
        read_row_style(d);
    }
    if (is_cell || look.has_colour || look.width > 0 || d->box.blanks > 0) {
        const unsigned height =
            look.height > 0 || !is_cell ? look.height : d->row_height;

        drawn_row_add(&d->boxes,
                      (struct drawn_run){.units = (uint16_t)units,
                                         .pixels = (uint16_t)look.width,
                                         .is_dark = look.has_colour
                                                        ? look.is_dark
                                                        : is_cell && d->is_row_dark});
        d->height = height > d->height ? height : d->height;
    }
    d->box.kind = BOX_NONE;
}

/* The open box has boxes in it: it is what stands behind them. */
static void leave_container(struct drawn *d)
{
    if (d->box.kind != BOX_NONE && d->box.style.n > 0) {
        d->row_style = d->box.style;
        d->is_row_read = false;
    }
    d->box.kind = BOX_NONE;
}

static void begin_box(struct drawn *d, enum drawn_box_kind kind)
{
    d->box.kind = kind;
    d->box.blanks = 0;
    d->box.ninner = 0;
    d->box.is_inner_open = false;
    d->box.style.n = 0;
    d->open_style = &d->box.style;
}

static void begin_row(struct drawn *d)
{
    end_box(d);
    end_row(d);
    d->row_style.n = 0;
    append_text(&d->row_style, slice_of(d->table_style.text, d->table_style.n));
    d->is_row_read = false;
    d->open_style = &d->row_style;
}

static void begin_table(struct drawn *d)
{
    leave_container(d);
    end_row(d);
    d->table_style.n = 0;
    append_text(&d->table_style, slice_of(d->row_style.text, d->row_style.n));
    d->open_style = &d->table_style;
}

static void end_table(struct drawn *d)
{
    end_box(d);
    end_row(d);
    d->table_style.n = 0;
    d->row_style.n = 0;
    d->is_row_read = false;
}

static void begin_inner(struct drawn *d)
{
    if (d->box.kind == BOX_CELL && d->box.ninner == 0) {
        d->box.ninner = 1; /* what gives the cell its size or colour */
        d->box.is_inner_open = true;
        d->open_style = &d->box.style;
        return;
    }
    if (d->box.kind == BOX_CELL && !d->box.is_inner_open) {
        d->box.kind = BOX_OTHER; /* the first of several boxes in a cell */
        end_box(d);
    }
    leave_container(d);
    begin_box(d, BOX_OTHER);
}

static void begin_element(struct drawn *d, enum element element)
{
    d->open_style = NULL;
    switch (element) {
    case CELL:
        if (!d->has_text) {
            end_box(d);
            begin_box(d, BOX_CELL);
        }
        break;
    case ROW:
        begin_row(d);
        break;
    case TABLE:
        begin_table(d);
        break;
    case BLOCK:
    case INLINE:
        if (!d->has_text) {
            begin_inner(d);
        }
        break;
    case BREAK:
        end_box(d);
        end_row(d);
        break;
    case OTHER:
        break;
    }
}

static void end_element(struct drawn *d, enum element element)
{
    d->open_style = NULL;
    switch (element) {
    case CELL:
        if (d->box.kind == BOX_CELL) {
            end_box(d);
        } else if (!d->has_text) {
            end_row(d); /* boxes in the cell */
        } else {
            /* the next cell is of no use either */
        }
        break;
    case ROW:
        end_box(d);
        end_row(d);
        break;
    case TABLE:
        end_table(d);
        break;
    case BLOCK:
    case INLINE:
        if (d->box.kind == BOX_CELL) {
            d->box.is_inner_open = false;
        } else if (d->box.kind == BOX_OTHER) {
            end_box(d);
        } else if (element == BLOCK) {
            end_row(d);
        } else {
            /* it stands in a row */
        }
        break;
    case BREAK:
    case OTHER:
        break;
    }
}

/* No-break spaces at the beginning of text, which take room; other white space takes none here. */
static unsigned count_blanks(struct slice *text)
{
    unsigned n = 0;
    size_t i = 0;

    while (i < text->n) {
        if ((unsigned char)text->p[i] <= ' ') {
            i++;
        } else if (slice_has_prefix(slice_from(*text, i), SLICE_LIT("\xc2\xa0"))) {
            i += 2;
            n++;
        } else {
            break;
        }
    }
    *text = slice_from(*text, i);
    return n;
}

static void take_box_text(struct drawn *d, struct slice text)
{
    if (d->has_text ||
        (d->box.kind == BOX_NONE && d->boxes.n == 0 && d->kind != DRAWN_BOXES)) {
        return;
    }
    const unsigned n = count_blanks(&text);

    if (text.n > 0) {
        if (d->kind == DRAWN_BOXES) {
            drawn_finish(d);
        }
        d->boxes.n = 0;
        d->box.kind = BOX_NONE;
        d->has_text = true;
    } else if (d->box.kind != BOX_NONE) {
        d->box.blanks += n < COLUMNS_MAX - d->box.blanks ? n : 0;
    } else if (n > 0 && n < COLUMNS_MAX && d->boxes.n > 0) {
        drawn_row_add(&d->boxes, (struct drawn_run){.units = (uint16_t)n});
    } else {
        /* nothing to see */
    }
}

void drawn_token(struct drawn *d, const struct html_token *t)
{
    switch (t->kind) {
    case HTML_START_TAG:
        begin_element(d, element_of(t->tag));
        break;
    case HTML_ATTRIBUTE:
        if (d->open_style != NULL && !t->is_duplicate && !t->is_cut) {
            take_attribute(d->open_style, t);
        }
        break;
    case HTML_END_TAG:
        end_element(d, element_of(t->tag));
        break;
    case HTML_TEXT:
    case HTML_RAW_TEXT:
        take_box_text(d, t->value);
        break;
    case HTML_TAG_END:
    case HTML_COMMENT:
    case HTML_DOCTYPE:
    case HTML_NUL:
        break;
    }
}
