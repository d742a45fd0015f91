#include "core/message/archive/uuencode.h"

enum { DATA_MAX = 63 }; /* bytes of one line */

void uuencode_init(struct uuencode *u, struct archive_budget *budget,
                   const struct archive_events *events, void *context)
{
    u->budget = budget;
    u->events = events;
    u->context = context;
    u->state = UUENCODE_OUTSIDE;
    u->wanted = false;
    u->skips = false;
    u->nline = 0;
    u->nname = 0;
}

/* "begin 644 name", three or four octal digits: keeps the name. */
static bool take_begin(struct uuencode *u, struct slice line)
{
    if (!slice_has_prefix(line, SLICE_LIT("begin "))) {
        return false;
    }
    size_t i = sizeof "begin " - 1;
    size_t digits = i;
    while (i < line.n && line.p[i] >= '0' && line.p[i] <= '7') {
        i++;
    }
    if (i - digits < 3 || i - digits > 4 || i >= line.n || line.p[i] != ' ') {
        return false;
    }
    struct slice name = slice_head(slice_trim(slice_from(line, i)), UUENCODE_NAME_MAX);
    if (name.n == 0) {
        return false;
    }
    memcpy(u->name, name.p, name.n);
    u->nname = name.n;
    return true;
}

/* How many bytes the line holds when it can be data; mailers cut blanks at its end, and some
 * encoders add a character. */
static bool is_data(struct slice line, size_t *retbytes)
{
    if (line.n == 0 || line.p[0] < ' ' || line.p[0] > '`') {
        return false;
    }
    size_t n = ((size_t)(unsigned char)line.p[0] - ' ') & DATA_MAX;
    if (line.n - 1 > (n + 2) / 3 * 4 + 2) {
        return false;
    }
    for (size_t i = 1; i < line.n; i++) {
        if (line.p[i] < ' ' || line.p[i] > '`') {
            return false;
        }
    }
    *retbytes = n;
    return true;
}

static unsigned value_at(struct slice line, size_t i)
{
    return i < line.n ? ((unsigned)(unsigned char)line.p[i] - ' ') & DATA_MAX : 0;
}

/* A line that is short may hold the zeros that its cut blanks were: bytes that nobody sent. */
static bool may_grow(struct archive_budget *budget, size_t bytes)
{
    if (bytes > budget->inflated) {
        budget->limits_met |= ARCHIVE_LIMIT_INFLATED;
        return false;
    }
    budget->inflated -= bytes;
    return true;
}

static bool give(struct uuencode *u, struct slice line, size_t n)
{
    char out[DATA_MAX + 3];
    size_t at = 0;
    if (n > line.n && !may_grow(u->budget, n - line.n)) {
        return false;
    }
    for (size_t i = 1; at < n; i += 4) {
        unsigned v = value_at(line, i) << 18 | value_at(line, i + 1) << 12 |
                     value_at(line, i + 2) << 6 | value_at(line, i + 3);
        out[at++] = (char)(unsigned char)(v >> 16);
        out[at++] = (char)(unsigned char)(v >> 8);
        out[at++] = (char)(unsigned char)v;
    }
    return u->events->data(u->context, slice_of(out, n));
}

static void open_file(struct uuencode *u)
{
    struct archive_file file = {.name = slice_of(u->name, u->nname)};
    u->state = UUENCODE_INSIDE;
    u->wanted = archive_budget_entry(u->budget) && u->events->begin(u->context, &file);
}

static void close_file(struct uuencode *u)
{
    if (u->state == UUENCODE_INSIDE && u->wanted) {
        u->events->end(u->context, true);
    }
    u->wanted = false;
    u->state = UUENCODE_OUTSIDE;
}

static void take_line(struct uuencode *u, struct slice line)
{
    size_t n = 0;
    while (line.n > 0 && line.p[line.n - 1] == '\r') {
        line.n--;
    }
    if (u->state != UUENCODE_OUTSIDE) {
        bool ends = slice_eq(slice_trim(line), SLICE_LIT("end"));
        if (!ends && is_data(line, &n)) {
            if (u->state == UUENCODE_BEGUN) {
                open_file(u);
            }
            if (n > 0 && u->wanted && !give(u, line, n)) {
                u->events->end(u->context, false);
                u->wanted = false;
            }
            return;
        }
        close_file(u);
    }
    if (take_begin(u, line)) {
        u->state = UUENCODE_BEGUN;
    }
}

/* Nothing but a line that begins with 'b' is of interest outside a file. */
static bool may_matter(const struct uuencode *u, char first)
{
    return u->state != UUENCODE_OUTSIDE || first == 'b';
}

void uuencode_feed(struct uuencode *u, struct slice text)
{
    while (text.n > 0) {
        if (u->nline == 0 && !u->skips && !may_matter(u, text.p[0])) {
            u->skips = true;
        }
        const char *nl = memchr(text.p, '\n', text.n);
        size_t n = nl != NULL ? (size_t)(nl - text.p) : text.n;
        if (!u->skips) {
            size_t room = sizeof(u->line) - u->nline;
            size_t take = n < room ? n : room;
            memcpy(u->line + u->nline, text.p, take);
            u->nline += take;
        }
        if (nl == NULL) {
            return;
        }
        if (!u->skips) {
            take_line(u, slice_of(u->line, u->nline));
        }
        u->nline = 0;
        u->skips = false;
        text = slice_from(text, n + 1);
    }
}

void uuencode_end(struct uuencode *u)
{
    if (u->nline > 0) {
        take_line(u, slice_of(u->line, u->nline));
    }
    close_file(u);
    u->nline = 0;
    u->skips = false;
}
