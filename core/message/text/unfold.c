#include "core/message/text/unfold.h"

#include "core/message/text/ascii.h"

void unfold_init(struct unfold *u)
{
    u->nheld = 0;
    u->nname = 0;
    u->in_value = false;
    u->is_quoted_printable = false;
}

static bool names_quoted_printable(struct slice name)
{
    const struct slice word = SLICE_LIT("QUOTED-PRINTABLE");
    for (size_t i = 0; i + word.n <= name.n; i++) {
        if (slice_has_prefix_nocase(slice_from(name, i), word)) {
            return true;
        }
    }
    return false;
}

/* One byte of the text behind held line breaks and escapes. */
static void put_unfolded(struct unfold *u, char c, char *dst, size_t *n)
{
    dst[(*n)++] = c;
    if (c == '\n') {
        u->in_value = false;
        u->is_quoted_printable = false;
        u->nname = 0;
    } else if (!u->in_value && c == ':') {
        u->in_value = true;
        u->is_quoted_printable = names_quoted_printable(slice_of(u->name, u->nname));
    } else if (!u->in_value && u->nname < UNFOLD_NAME_MAX) {
        u->name[u->nname++] = c;
    }
}

static void flush_held(struct unfold *u, char *dst, size_t *n)
{
    size_t held = u->nheld;
    u->nheld = 0;
    for (size_t i = 0; i < held; i++) {
        put_unfolded(u, u->held[i], dst, n);
    }
}

/* c follows a held line break. False: it is not used up. */
static bool after_break(struct unfold *u, char c, char *dst, size_t *n)
{
    if (u->held[u->nheld - 1] == '\r' && c == '\n') {
        u->held[u->nheld++] = c;
        return true;
    }
    if (ASCII_IS(c, ASCII_BLANK)) {
        u->nheld = 0;
        return true;
    }
    flush_held(u, dst, n);
    return false;
}

/* c follows a backslash. */
static bool after_backslash(struct unfold *u, char c, char *dst, size_t *n)
{
    u->nheld = 0;
    if (c == 'n' || c == 'N') {
        dst[(*n)++] = ' '; /* a line of the value, not of the file */
        return true;
    }
    if (c != ',' && c != ';' && c != '\\' && c != ':' && c != '"') {
        dst[(*n)++] = '\\';
        return false;
    }
    dst[(*n)++] = c;
    return true;
}

/* c follows '=' and perhaps a digit or CR in quoted-printable. */
static bool after_equals(struct unfold *u, char c, char *dst, size_t *n)
{
    char last = u->held[u->nheld - 1];
    if (c == '\n') {
        u->nheld = 0;
        return true;
    }
    if (u->nheld == 2 && ASCII_IS(last, ASCII_HEX) && ASCII_IS(c, ASCII_HEX)) {
        u->nheld = 0;
        dst[(*n)++] = (char)(unsigned char)((ascii_hex[(unsigned char)last] << 4) |
                                            ascii_hex[(unsigned char)c]);
        return true;
    }
    if (u->nheld == 1 && (c == '\r' || ASCII_IS(c, ASCII_HEX))) {
        u->held[u->nheld++] = c;
        return true;
    }
    flush_held(u, dst, n);
    return false;
}

static bool decide_held(struct unfold *u, char c, char *dst, size_t *n)
{
    if (u->held[0] == '\\') {
        return after_backslash(u, c, dst, n);
    }
    return u->held[0] == '=' ? after_equals(u, c, dst, n) : after_break(u, c, dst, n);
}

size_t unfold_feed(struct unfold *u, struct slice in, char *dst)
{
    size_t n = 0;
    for (size_t i = 0; i < in.n; i++) {
        char c = in.p[i];
        if (u->nheld > 0 && decide_held(u, c, dst, &n)) {
            continue;
        }
        if (c == '\r' || c == '\n' || (c == '\\' && u->in_value) ||
            (c == '=' && u->is_quoted_printable)) {
            u->held[0] = c;
            u->nheld = 1;
        } else {
            put_unfolded(u, c, dst, &n);
        }
    }
    return n;
}

size_t unfold_end(struct unfold *u, char *dst)
{
    size_t n = 0;
    flush_held(u, dst, &n);
    return n;
}
