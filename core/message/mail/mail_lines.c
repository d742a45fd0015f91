
#include "core/message/mail/mail_internal.h"

static struct slice held(const struct mail *m)
{
    return slice_of(m->hold, m->nhold);
}

static bool held_is_complete(const struct mail *m)
{
    return m->nhold > 0 && m->hold[m->nhold - 1] == '\n';
}

/* Moves bytes into the hold, up to the line's end or until it is full; returns the rest. */
static struct slice hold_more(struct mail *m, struct slice bytes)
{
    size_t nl = slice_find(bytes, '\n');
    size_t want = nl < bytes.n ? nl + 1 : bytes.n;
    size_t room = sizeof(m->hold) - m->nhold;
    size_t n = want < room ? want : room;
    /* Never between CR and LF. */
    if (n < want && n > 0 && bytes.p[n - 1] == '\r') {
        n--;
    }
    memcpy(m->hold + m->nhold, bytes.p, n);
    m->nhold += n;
    return slice_from(bytes, n);
}

static bool begins_with(struct slice line, struct slice boundary)
{
    return memcmp(line.p, boundary.p, boundary.n) == 0;
}

/* A boundary line of a reading that looks at the beginning of a line only. */
static bool matches_prefix(const struct entity *e, struct slice line, bool *retclosing)
{
    if (line.n < e->boundary.n || !begins_with(line, e->boundary)) {
        return false;
    }
    *retclosing = slice_has_prefix(slice_from(line, e->boundary.n), SLICE_LIT("--"));
    return true;
}

/* Does the line (without the leading dashes and white space at its end) belong to stack[level]?
 * Lengths first: a line may have to be compared with every level. */
static bool matches(const struct mail *m, unsigned level, struct slice line,
                    bool *retclosing)
{
    struct slice boundary = m->stack[level].boundary;
    if (boundary.n == 0) {
        return false;
    }
    if (m->stack[level].by_prefix) {
        return matches_prefix(&m->stack[level], line, retclosing);
    }
    if (line.n == boundary.n && begins_with(line, boundary)) {
        *retclosing = false;
        return true;
    }
    if (line.n == boundary.n + 2 && begins_with(line, boundary) &&
        line.p[line.n - 2] == '-' && line.p[line.n - 1] == '-') {
        *retclosing = true;
        return true;
    }
    return false;
}

/* A line that is longer than is held may be a boundary that is as long. The innermost multipart
 * that is still open wins; one that was closed is opened again only
 * when nobody else claims the line. */
static bool find_boundary(const struct mail *m, bool is_whole, unsigned *retlevel,
                          bool *retclosing)
{
    if (!slice_has_prefix(held(m), SLICE_LIT("--"))) {
        return false;
    }
    struct slice line = slice_from(held(m), 2);
    while (line.n > 0 && (unsigned char)line.p[line.n - 1] <= ' ') {
        line.n--;
    }
    bool closing = false;
    if (is_whole && entity_is_flat_boundary(m, line, &closing)) {
        *retlevel = m->limits.depth;
        *retclosing = closing;
        return true;
    }
    bool found = false;
    for (unsigned i = m->nstack; i-- > 0;) {
        bool is_closed = m->stack[i].state == ENTITY_EPILOGUE;
        if ((found && is_closed) || !m->stack[i].part.is_container ||
            !(is_whole || m->stack[i].by_prefix) || !matches(m, i, line, &closing)) {
            continue;
        }
        found = true;
        *retlevel = i;
        *retclosing = closing;
        if (!is_closed) {
            break;
        }
    }
    return found;
}

/* Another reader may take the held line, which nobody claims, for a boundary line with something
 * behind it. */
static void look_for_prefix(struct mail *m)
{
    struct slice line = slice_from(held(m), 2);
    if (entity_top(m)->state == ENTITY_PREAMBLE) {
        readings_of_dashes(m);
    }
    for (unsigned i = m->nstack; i-- > 0;) {
        const struct entity *e = &m->stack[i];
        bool closing = false;
        if (e->boundary.n > 0 && e->part.is_container && !e->by_prefix &&
            matches_prefix(e, line, &closing)) {
            readings_of_line(m, i);
            return;
        }
    }
}

static bool is_blank_char(char c)
{
    return c == ' ' || c == '\t';
}

enum header_line {
    HEADER_UNDECIDED,
    HEADER_FIELD,
    HEADER_CONTINUED,
    HEADER_END,  /* an empty line */
    HEADER_SKIP, /* an mbox line */
    HEADER_NONE  /* no header line: the body begins without an empty line */
};

/* An mbox line may stand before a message in a file or in a message/rfc822 part. */
static bool begins_message(const struct mail *m)
{
    return m->nstack == 1 ? m->is_raw : m->stack[m->nstack - 2].state == ENTITY_MESSAGE;
}

/* Where the colon is in *retcolon, for HEADER_FIELD. The rules are those of GMime (spaces before
 * the colon) and of Python's email (a line that is no field ends the header and is body). */
static enum header_line classify(const struct mail *m, bool is_last, size_t *retcolon)
{
    struct slice line = held(m);
    if (line.n == 0) {
        return is_last ? HEADER_END : HEADER_UNDECIDED;
    }
    if (is_blank_char(line.p[0])) {
        return HEADER_CONTINUED;
    }
    if (slice_eq(line, SLICE_LIT("\r\n"))) {
        return HEADER_END;
    }
    size_t i = 0;
    while (i < line.n && line.p[i] > ' ' && line.p[i] < 0x7f && line.p[i] != ':') {
        i++;
    }
    size_t gap = i;
    while (gap < line.n && is_blank_char(line.p[gap])) {
        gap++;
    }
    if (gap < line.n && line.p[gap] == ':') {
        *retcolon = gap;
        return HEADER_FIELD;
    }
    bool is_mbox = begins_message(m) && (slice_has_prefix(line, SLICE_LIT("From ")) ||
                                         slice_has_prefix(line, SLICE_LIT(">From ")));
    if (gap == line.n && !is_last && line.n < MAIL_NAME_MAX) {
        return HEADER_UNDECIDED;
    }
    if (is_mbox) {
        return held_is_complete(m) || is_last || line.n >= MAIL_NAME_MAX
                   ? HEADER_SKIP
                   : HEADER_UNDECIDED;
    }
    return HEADER_NONE;
}

/* The held line is body of the entity on top, or is looked at again as a header of the one that
 * has just been opened. */
static void held_is_data(struct mail *m)
{
    bool complete = held_is_complete(m);
    readings_raw(m, held(m));
    entity_data(m, held(m));
    m->nhold = 0;
    m->line = complete ? LINE_START : LINE_DATA;
}

static void start_field(struct mail *m, size_t colon)
{
    struct slice line = held(m);
    readings_raw(m, line);
    field_end(m);
    field_start(m, slice_trim(slice_head(line, colon)));
    field_add(m, slice_from(line, colon + 1));
    m->line = held_is_complete(m) ? LINE_START : LINE_FIELD;
    m->nhold = 0;
}

static void continue_field(struct mail *m)
{
    readings_raw(m, held(m));
    field_continue(m, held(m)); /* one of nothing is dropped with its line */
    m->line = held_is_complete(m) ? LINE_START : LINE_FIELD;
    m->nhold = 0;
}

static void end_header(struct mail *m, bool line_is_body)
{
    bool was_own = !m->in_body;
    if (!line_is_body) {
        readings_raw(m, held(m));
    }
    entity_end_headers(m);
    if (!line_is_body) {
        m->nhold = 0;
    } else if (was_own) {
        m->events->body(m->context, held(m));
    }
}

/* One step with the held bytes as a line of a header; false: more bytes are needed. */
static bool header_step(struct mail *m, bool is_last)
{
    size_t colon = 0;
    switch (classify(m, is_last, &colon)) {
    case HEADER_UNDECIDED:
        return false;
    case HEADER_FIELD:
        start_field(m, colon);
        return true;
    case HEADER_CONTINUED:
        continue_field(m);
        return true;
    case HEADER_END:
        end_header(m, false);
        return true;
    case HEADER_SKIP:
        readings_raw(m, held(m));
        field_end(m);
        m->line = held_is_complete(m) ? LINE_START : LINE_FIELD;
        m->nhold = 0;
        return true;
    case HEADER_NONE:
        end_header(m, true);
        return true;
    }
    return false;
}

/* Decides about the held bytes if it can; is_last: these are the last bytes. */
static void try_held(struct mail *m, bool is_last)
{
    for (;;) {
        bool whole = held_is_complete(m) || is_last;
        bool may_be_boundary = m->open_multiparts > 0 && m->nhold > 0 &&
                               m->hold[0] == '-' && (m->nhold < 2 || m->hold[1] == '-');
        bool is_full = m->nhold + 1 >= sizeof(m->hold);
        if (may_be_boundary && !whole && !is_full) {
            return;
        }
        unsigned level = 0;
        bool closing = false;
        if (may_be_boundary && (whole || is_full) &&
            find_boundary(m, whole, &level, &closing)) {
            entity_boundary(m, level, closing);
            m->line =
                whole ? LINE_START : LINE_FIELD; /* of no field: nobody reads it */
            m->nhold = 0;
            return;
        }
        if (may_be_boundary && m->nhold > 2) {
            look_for_prefix(m);
        }
        if (entity_top(m)->state != ENTITY_HEADERS) {
            held_is_data(m);
            return;
        }
        /* A line that ended a header without being part of it is looked at again: it is the
         * first of the body. */
        if (!header_step(m, is_last || is_full) || m->nhold == 0) {
            return;
        }
    }
}

/* A line that begins with a blank continues the field, so none of it is held. */
static struct slice continued(struct mail *m, struct slice bytes)
{
    size_t nl = slice_find(bytes, '\n');
    size_t n = nl < bytes.n ? nl + 1 : bytes.n;
    field_continue(m, slice_head(bytes, n));
    m->line = nl < bytes.n ? LINE_START : LINE_FIELD;
    return slice_from(bytes, n);
}

static struct slice at_start(struct mail *m, struct slice bytes)
{
    bool is_header = entity_top(m)->state == ENTITY_HEADERS;
    if (!is_header && m->nhold == 0 && (m->open_multiparts == 0 || bytes.p[0] != '-')) {
        m->line = LINE_DATA;
        return bytes;
    }
    if (is_header && m->nhold == 0 && is_blank_char(bytes.p[0])) {
        return continued(m, bytes);
    }
    bytes = hold_more(m, bytes);
    try_held(m, false);
    return bytes;
}

static struct slice in_field(struct mail *m, struct slice bytes)
{
    size_t nl = slice_find(bytes, '\n');
    size_t n = nl < bytes.n ? nl + 1 : bytes.n;
    readings_raw(m, slice_head(bytes, n));
    field_add(m, slice_head(bytes, n));
    if (nl < bytes.n) {
        m->line = LINE_START;
    }
    return slice_from(bytes, n);
}

/* Goes over as many lines as cannot be boundaries. */
static struct slice in_data(struct mail *m, struct slice bytes)
{
    size_t at = 0;
    if (m->open_multiparts == 0) {
        at = bytes.n;
    }
    while (at < bytes.n) {
        const char *nl = memchr(bytes.p + at, '\n', bytes.n - at);
        if (nl == NULL) {
            at = bytes.n;
            break;
        }
        at = (size_t)(nl - bytes.p) + 1;
        if (at < bytes.n && bytes.p[at] == '-') {
            break;
        }
    }
    readings_raw(m, slice_head(bytes, at));
    entity_data(m, slice_head(bytes, at));
    m->line = bytes.p[at - 1] == '\n' ? LINE_START : LINE_DATA;
    return slice_from(bytes, at);
}

struct slice lines_feed(struct mail *m, struct slice bytes)
{
    bool was_in_body = m->in_body;
    while (bytes.n > 0 && m->in_body == was_in_body) {
        switch (m->line) {
        case LINE_START:
            bytes = at_start(m, bytes);
            break;
        case LINE_FIELD:
            bytes = in_field(m, bytes);
            break;
        case LINE_DATA:
            bytes = in_data(m, bytes);
            break;
        }
    }
    return bytes;
}

void lines_end(struct mail *m)
{
    while (m->nhold > 0) {
        try_held(m, true);
    }
}
