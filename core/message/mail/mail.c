#include "core/message/mail/mail.h"

#include "core/message/mail/mail_internal.h"

static const char *const content_names[CONTENT_FIELDS] = {
    "Content-Type", "Content-Transfer-Encoding", "Content-Disposition"};

static bool grow(struct mail *m, struct grown *g, size_t need)
{
    size_t size = g->size > 0 ? g->size : MAIL_FIELD_START;
    while (size < need) {
        size *= 2;
    }
    char *p = arena_bytes(m->arena, size);
    if (p == NULL) {
        m->limits_met |= MAIL_LIMIT_MEMORY;
        return false;
    }
    if (g->n > 0) {
        memcpy(p, g->p, g->n);
    }
    g->p = p;
    g->size = size;
    return true;
}

void grown_add(struct mail *m, struct grown *g, struct slice bytes)
{
    if (bytes.n > g->max - g->n) {
        g->cut = true;
        bytes.n = g->max - g->n;
    }
    if (bytes.n == 0 || (g->n + bytes.n > g->size && !grow(m, g, g->n + bytes.n))) {
        return;
    }
    memcpy(g->p + g->n, bytes.p, bytes.n);
    g->n += bytes.n;
}

struct mail *mail_new(struct arena *arena, const struct mail_limits *limits,
                      const struct mail_events *events, void *context)
{
    struct mail *m = arena_alloc(arena, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    m->arena = arena;
    m->limits = *limits;
    m->events = events;
    m->context = context;
    m->out = arena_bytes(arena, MAIL_OUT_BYTES);
    /* transfer_end may give what the decoder held. */
    m->decoded =
        arena_bytes(arena, transfer_bound(MAIL_DECODE_STEP) + sizeof(m->transfer.held));
    m->field.max = (size_t)limits->header_field;
    for (unsigned i = 0; i < CONTENT_FIELDS; i++) {
        m->content[i].max = (size_t)limits->header_field;
        m->second[i].max = (size_t)limits->header_field;
    }
    if (m->out == NULL || m->decoded == NULL || !entity_open_root(m)) {
        return NULL;
    }
    return m;
}

/* In place: each line break with the white space after it becomes one space. */
static struct slice unfold(char *p, size_t n)
{
    size_t w = slice_find(slice_of(p, n), '\n');
    size_t cr = slice_find(slice_of(p, w), '\r');
    if (cr < w) {
        w = cr;
    }
    for (size_t i = w; i < n; i++) {
        if (p[i] != '\r' && p[i] != '\n') {
            p[w++] = p[i];
            continue;
        }
        while (i + 1 < n && (p[i + 1] == '\r' || p[i + 1] == '\n' || p[i + 1] == ' ' ||
                             p[i + 1] == '\t')) {
            i++;
        }
        p[w++] = ' ';
    }
    return slice_trim(slice_of(p, w));
}

static void keep_content_field(struct mail *m, struct slice name, struct slice value)
{
    if (!slice_has_prefix_nocase(name, SLICE_LIT("Content-"))) {
        return;
    }
    for (unsigned i = 0; i < CONTENT_FIELDS; i++) {
        if (!slice_eq_nocase(name, slice_str(content_names[i]))) {
            continue;
        }
        if (!m->has_content[i]) {
            m->has_content[i] = true;
            grown_add(m, &m->content[i], value);
        } else if (m->second[i].n == 0 &&
                   !slice_eq(value, slice_of(m->content[i].p, m->content[i].n))) {
            grown_add(m, &m->second[i], value);
        }
    }
}

/* Fields that a reader sees. No number of other fields may hide them. */
static bool is_shown_to_readers(struct slice name)
{
    static const char *const names[] = {"Subject",    "From",     "Sender",
                                        "Reply-To",   "To",       "Return-Path",
                                        "Message-ID", "List-Id",  "List-Unsubscribe",
                                        "User-Agent", "X-Mailer", NULL};
    size_t i = 0;
    while (names[i] != NULL && !slice_eq_nocase(name, slice_str(names[i]))) {
        i++;
    }
    return names[i] != NULL;
}

/* Over the limits of a header only fields that MIME needs, or a reader sees, are events. */
static bool may_show(struct mail *m, struct entity *e, struct slice name, size_t bytes)
{
    unsigned met = 0;
    e->nheaders++;
    e->header_bytes += bytes;
    if (e->nheaders > m->limits.headers) {
        met = MAIL_LIMIT_HEADERS;
    } else if (e->header_bytes > m->limits.header_bytes) {
        met = MAIL_LIMIT_HEADER_BYTES;
    } else {
        return true;
    }
    m->limits_met |= met;
    return is_shown_to_readers(name);
}

void field_start(struct mail *m, struct slice name)
{
    m->field.n = 0;
    m->field.cut = false;
    m->has_field = !m->skips_rest; /* nobody reads what this would become */
    if (!m->has_field) {
        return;
    }
    grown_add(m, &m->field, name);
    m->name_bytes = m->field.n;
}

/* Without the line's end and the value's leading white space: a field counts the same whoever
 * gives it. */
void field_add(struct mail *m, struct slice bytes)
{
    while (bytes.n > 0 &&
           (bytes.p[bytes.n - 1] == '\n' || bytes.p[bytes.n - 1] == '\r')) {
        bytes.n--;
    }
    while (m->field.n == m->name_bytes && bytes.n > 0 &&
           (bytes.p[0] == ' ' || bytes.p[0] == '\t' || bytes.p[0] == '\n')) {
        bytes = slice_from(bytes, 1);
    }
    if (m->has_field) {
        grown_add(m, &m->field, bytes);
    }
}

void field_continue(struct mail *m, struct slice bytes)
{
    if (m->has_field && m->field.n > m->name_bytes) {
        grown_add(m, &m->field, SLICE_LIT("\n"));
    }
    field_add(m, bytes);
}

void field_end(struct mail *m)
{
    if (!m->has_field) {
        return;
    }
    m->has_field = false;
    if (m->field.cut) {
        m->limits_met |= MAIL_LIMIT_HEADER_FIELD;
    }
    if (m->name_bytes == 0) {
        return; /* no name; perhaps not even a buffer to point into */
    }
    struct slice name = slice_of(m->field.p, m->name_bytes);
    struct slice value = unfold(m->field.p + m->name_bytes, m->field.n - m->name_bytes);
    struct entity *e = entity_top(m);
    keep_content_field(m, name, value);
    if (may_show(m, e, name, name.n + value.n)) {
        bool is_own = m->nstack == 1 && !m->rereads;
        m->events->header(m->context, is_own ? NULL : &e->part, name, value);
    }
}

void mail_header(struct mail *m, struct slice name, struct slice value)
{
    if (m->in_body || m->ended) {
        return;
    }
    field_start(m, slice_trim(name));
    field_add(m, value);
    field_end(m);
}

void mail_end_of_headers(struct mail *m)
{
    if (!m->in_body && !m->ended) {
        entity_end_headers(m);
    }
}

static void body_feed(struct mail *m, struct slice bytes)
{
    if (m->rereads) {
        (void)lines_feed(m, bytes);
        return;
    }
    m->events->body(m->context, bytes);
    if (m->skips_rest) {
        return;
    }
    (void)lines_feed(m, bytes);
}

void mail_flush(struct mail *m)
{
    struct slice bytes = slice_of(m->out, m->nout);
    m->nout = 0;
    if (!m->in_body) {
        bytes = lines_feed(m, bytes);
    }
    if (bytes.n > 0) {
        body_feed(m, bytes);
    }
}

static void put(struct mail *m, struct slice bytes)
{
    while (bytes.n > 0) {
        size_t room = MAIL_OUT_BYTES - m->nout;
        size_t n = bytes.n < room ? bytes.n : room;
        memcpy(m->out + m->nout, bytes.p, n);
        m->nout += n;
        bytes = slice_from(bytes, n);
        if (m->nout == MAIL_OUT_BYTES) {
            mail_flush(m);
        }
    }
}

static void put_line_ends(struct mail *m, size_t count)
{
    while (count > 0) {
        size_t room = (MAIL_OUT_BYTES - m->nout) / 2;
        size_t n = count < room ? count : room;
        for (size_t i = 0; i < n; i++) {
            m->out[m->nout + 2 * i] = '\r';
            m->out[m->nout + 2 * i + 1] = '\n';
        }
        m->nout += 2 * n;
        count -= n;
        if (MAIL_OUT_BYTES - m->nout < 2) {
            mail_flush(m);
        }
    }
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* How many single LF or CR the text begins with; 0: with CRLF. */
static size_t single_line_ends(struct slice text)
{
    size_t n = 1;
    while (n < text.n && text.p[n] == text.p[0]) {
        n++;
    }
    return text.p[0] == '\r' && n < text.n && text.p[n] == '\n' ? n - 1 : n;
}

/* LF, CRLF and CR become CRLF. Each of the two is sought once and remembered: a chunk of nothing
 * but CR must not look for its LF from every byte. */
void mail_stream(struct mail *m, struct slice chunk)
{
    if (chunk.n == 0) {
        return;
    }
    size_t lf = slice_find(chunk, '\n');
    size_t cr = slice_find(chunk, '\r');
    size_t at = m->last_was_cr && lf == 0 ? 1 : 0;
    m->last_was_cr = false;
    while (at < chunk.n) {
        if (!is_line_end(chunk.p[at])) {
            lf = lf < at ? at + slice_find(slice_from(chunk, at), '\n') : lf;
            cr = cr < at ? at + slice_find(slice_from(chunk, at), '\r') : cr;
            size_t end = cr < lf ? cr : lf;
            put(m, slice_of(chunk.p + at, end - at));
            at = end;
        }
        if (at < chunk.n) {
            size_t n = single_line_ends(slice_from(chunk, at));
            m->last_was_cr = n > 0 && chunk.p[at] == '\r' && at + n == chunk.n;
            put_line_ends(m, n > 0 ? n : 1);
            at += n > 0 ? n : 2;
        }
    }
}

void mail_body(struct mail *m, struct slice chunk)
{
    if (!m->ended) {
        mail_end_of_headers(m);
        mail_stream(m, chunk);
    }
}

void mail_raw(struct mail *m, struct slice chunk)
{
    if (!m->ended) {
        m->is_raw = true;
        mail_stream(m, chunk);
    }
}

void mail_end(struct mail *m)
{
    if (m->ended) {
        return;
    }
    mail_flush(m);
    lines_end(m);
    m->ended = true;
    entity_close_all(m);
    readings_run(m);
}

void mail_skip_rest(struct mail *m)
{
    m->skips_rest = true;
}

unsigned mail_limits_met(const struct mail *m)
{
    return m->limits_met;
}
