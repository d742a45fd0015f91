/* mbox - line by line in the buffer. */
#include "core/cli/mbox.h"

enum { WORDS_MAX = 24 };

/* ---- From_ lines ---- */

static bool is_name_in(struct slice word, const char *names)
{
    for (size_t i = 0; names[i] != '\0'; i += 3) {
        if (word.n == 3 && memcmp(word.p, names + i, 3) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_time(struct slice word)
{
    size_t colon = slice_find(word, ':');
    return (colon == 1 || colon == 2) && is_digit(word.p[0]) && word.n >= colon + 3 &&
           is_digit(word.p[colon + 1]) && is_digit(word.p[colon + 2]);
}

static bool is_year(struct slice word)
{
    return word.n == 4 && is_digit(word.p[0]) && is_digit(word.p[1]) &&
           is_digit(word.p[2]) && is_digit(word.p[3]);
}

/* A weekday, a month, a time and a year, as ctime(3) or RFC 5322 have them. */
static bool is_date(struct slice text)
{
    bool has_day = false;
    bool has_month = false;
    bool has_time = false;
    bool has_year = false;

    for (unsigned i = 0; i < WORDS_MAX && text.n > 0; i++) {
        size_t end = slice_find(text, ' ');
        struct slice word = slice_head(text, end);
        text = slice_from(text, end < text.n ? end + 1 : end);
        if (word.n == 4 && word.p[3] == ',') {
            word.n = 3;
        }
        has_day = has_day || is_name_in(word, "MonTueWedThuFriSatSun");
        has_month =
            has_month ||
            (has_day && is_name_in(word, "JanFebMarAprMayJunJulAugSepOctNovDec"));
        has_time = has_time || (has_day && is_time(word));
        has_year = has_year || (has_day && is_year(word));
    }
    return has_day && has_month && has_time && has_year;
}

static bool is_from_line(struct slice line)
{
    return slice_has_prefix(line, SLICE_LIT("From ")) &&
           is_date(slice_trim(slice_from(line, 5)));
}

static bool is_quoted_from(struct slice line)
{
    size_t n = 0;
    while (n < line.n && line.p[n] == '>') {
        n++;
    }
    return n > 0 && slice_has_prefix(slice_from(line, n), SLICE_LIT("From "));
}

static bool is_empty_line(struct slice line)
{
    return (line.n == 1 && line.p[0] == '\n') ||
           (line.n == 2 && line.p[0] == '\r' && line.p[1] == '\n');
}

/* ---- reading ---- */

/* Reads more bytes into the buffer; 0 or an errno. */
static int fill_mailbox(struct mailbox *m)
{
    if (m->at > 0) {
        memmove(m->bytes, m->bytes + m->at, m->n - m->at);
        m->n -= m->at;
        m->at = 0;
    }
    while (!m->is_over && m->n < MAILBOX_BYTES) {
        ssize_t n = read(m->fd, m->bytes + m->n, MAILBOX_BYTES - m->n);
        if (n > 0) {
            m->n += (size_t)n;
            return 0;
        }
        if (n < 0 && errno != EINTR) {
            return errno;
        }
        m->is_over = n == 0;
    }
    return 0;
}

/* The line at hand with its end, or its first MAILBOX_FROM_MAX bytes. */
static int line_at(struct mailbox *m, struct slice *ret)
{
    for (;;) {
        struct slice rest = slice_of(m->bytes + m->at, m->n - m->at);
        size_t end = slice_find(rest, '\n');
        if (end < rest.n || rest.n >= MAILBOX_FROM_MAX || m->is_over) {
            *ret = slice_head(rest, end < rest.n ? end + 1 : rest.n);
            return 0;
        }
        int errnum = fill_mailbox(m);
        if (errnum != 0) {
            return errnum;
        }
    }
}

void mailbox_init(struct mailbox *m, int fd, bool may_be_mbox)
{
    m->fd = fd;
    m->is_mbox = may_be_mbox;
    m->is_begun = m->is_over = m->is_in_body = false;
    m->is_line_begun = m->follows_empty = false;
    m->messages = m->at = m->n = m->nheld = 0;
}

static int begin_mailbox(struct mailbox *m)
{
    struct slice line = SLICE_NONE;
    int errnum = line_at(m, &line);

    m->is_begun = true;
    m->is_mbox = m->is_mbox && errnum == 0 && is_from_line(line);
    return errnum;
}

/* Passes one message alone, unchanged. */
static int pass(struct mailbox *m, mailbox_sink *sink, void *context)
{
    while (m->at < m->n || !m->is_over) {
        sink(context, slice_of(m->bytes + m->at, m->n - m->at));
        m->at = m->n;
        int errnum = fill_mailbox(m);
        if (errnum != 0) {
            return errnum;
        }
    }
    return 0;
}

/* An empty line goes out once another line stands behind it. */
static void release(struct mailbox *m, mailbox_sink *sink, void *context)
{
    if (m->nheld > 0) {
        sink(context, slice_of(m->held, m->nheld));
        m->nheld = 0;
    }
}

/* A line within a message. */
static void take_body_line(struct mailbox *m, struct slice line, mailbox_sink *sink,
                           void *context)
{
    bool is_start = !m->is_line_begun;

    release(m, sink, context);
    m->is_line_begun = line.p[line.n - 1] != '\n';
    m->follows_empty = is_start && is_empty_line(line);
    if (m->follows_empty) {
        m->is_in_body = true;
        memcpy(m->held, line.p, line.n);
        m->nheld = line.n;
    } else {
        bool is_quoted = is_start && m->is_in_body && is_quoted_from(line);
        sink(context, slice_from(line, is_quoted));
    }
    m->at += line.n;
}

int mailbox_next(struct mailbox *m, mailbox_sink *sink, void *context, bool *retmore)
{
    struct slice line = SLICE_NONE;
    int errnum = m->is_begun ? 0 : begin_mailbox(m);

    *retmore = false;
    m->messages++;
    if (errnum != 0 || !m->is_mbox) {
        return errnum != 0 ? errnum : pass(m, sink, context);
    }
    errnum = line_at(m, &line); /* the From_ line */
    m->at += line.n;
    m->is_line_begun = line.n > 0 && line.p[line.n - 1] != '\n';
    m->is_in_body = m->follows_empty = false;
    while (errnum == 0) {
        errnum = line_at(m, &line);
        if (errnum != 0 || line.n == 0) {
            break;
        }
        if (!m->is_line_begun && m->follows_empty && is_from_line(line)) {
            m->nheld = 0;
            *retmore = true;
            return 0;
        }
        take_body_line(m, line, sink, context);
    }
    if (m->messages == 1) { /* alone: its last empty line is its own */
        release(m, sink, context);
    }
    return errnum;
}
