
#include "core/message/mail/mail_internal.h"
#include "core/message/mail/params.h"

static struct slice grown_slice(const struct grown *g)
{
    return slice_of(g->p, g->n);
}

/* A copy for as long as the parser lives; over the arena the value is as good as missing. */
static struct slice keep(struct mail *m, struct slice s)
{
    struct slice copy = s.n > 0 ? arena_copy(m->arena, s) : SLICE_NONE;
    m->limits_met |= copy.n < s.n ? MAIL_LIMIT_MEMORY : 0U;
    return copy;
}

/* A reading that takes the bytes of stack[level] from here on; NULL: there are enough. */
static struct reading *open_reading(struct mail *m, enum reading_kind kind,
                                    unsigned level)
{
    for (unsigned i = 0; i < MAIL_READINGS_MAX; i++) {
        struct reading *r = &m->readings[i];
        if (r->state != READING_FREE) {
            continue;
        }
        memset(r, 0, sizeof(*r));
        r->state = READING_OPEN;
        r->kind = kind;
        r->level = level;
        r->text.max = MAIL_READING_BYTES;
        m->nopen_readings++;
        return r;
    }
    m->limits_met |= MAIL_LIMIT_READINGS;
    return NULL;
}

/* False: there are enough. */
static bool open_fields(struct mail *m, struct slice type, struct slice transfer,
                        struct slice boundary)
{
    struct reading *r = open_reading(m, READING_FIELDS, m->nstack - 1);
    if (r == NULL) {
        return false;
    }
    r->content[CONTENT_TYPE] = keep(m, type);
    r->content[CONTENT_TRANSFER] = keep(m, transfer);
    r->content[CONTENT_DISPOSITION] =
        keep(m, grown_slice(&m->content[CONTENT_DISPOSITION]));
    r->boundary = keep(m, boundary);
    return true;
}

static bool is_multipart(struct slice type)
{
    return slice_has_prefix_nocase(type, SLICE_LIT("multipart/"));
}

/* Each Content-Type with each transfer encoding that makes a difference, but the first with the
 * first: that is the reading which everybody sees. */
static void open_second_fields(struct mail *m)
{
    struct slice types[2] = {grown_slice(&m->content[CONTENT_TYPE]),
                             grown_slice(&m->second[CONTENT_TYPE])};
    struct slice transfers[3] = {grown_slice(&m->content[CONTENT_TRANSFER]),
                                 grown_slice(&m->second[CONTENT_TRANSFER]), SLICE_NONE};
    enum transfer_kind first = transfer_kind_of(transfers[0]);
    enum transfer_kind second = transfer_kind_of(transfers[1]);
    bool two = transfers[1].n > 0 && first != second;
    bool raw = two && first != TRANSFER_IDENTITY && second != TRANSFER_IDENTITY;
    for (unsigned t = 0; t < 2; t++) {
        if (t == 1 && types[1].n == 0) {
            break;
        }
        unsigned n = is_multipart(param_main(types[t])) || !two ? 1 : 2 + (raw ? 1 : 0);
        for (unsigned i = t == 0 ? 1 : 0; i < n; i++) {
            (void)open_fields(m, types[t], transfers[i], SLICE_NONE);
        }
    }
}

static bool is_first_fragment(struct mail *m, struct slice field)
{
    struct slice number = param_token(m->arena, field, SLICE_LIT("number"));
    return number.n == 0 || slice_eq(number, SLICE_LIT("1"));
}

/* A leaf whose data some readers take for a message: encoded against the standard, or the first
 * fragment of one. */
static bool may_be_message(struct mail *m, const struct mail_part *part)
{
    if (slice_eq(part->type, SLICE_LIT("message/partial"))) {
        return is_first_fragment(m, grown_slice(&m->content[CONTENT_TYPE]));
    }
    return !m->limits.keeps_messages &&
           (slice_eq(part->type, SLICE_LIT("message/rfc822")) ||
            slice_eq(part->type, SLICE_LIT("message/global")) ||
            slice_eq(part->type, SLICE_LIT("message/news"))) &&
           m->transfer.kind != TRANSFER_IDENTITY;
}

/* With the fields of the top. */
static void open_top(struct mail *m, enum reading_kind kind)
{
    struct reading *r = open_reading(m, kind, m->nstack - 1);
    if (r != NULL) {
        r->content[CONTENT_TYPE] = keep(m, grown_slice(&m->content[CONTENT_TYPE]));
        r->content[CONTENT_TRANSFER] =
            keep(m, grown_slice(&m->content[CONTENT_TRANSFER]));
    }
}

static void open_multipart_readings(struct mail *m)
{
    struct slice type = grown_slice(&m->content[CONTENT_TYPE]);
    struct slice transfer = grown_slice(&m->content[CONTENT_TRANSFER]);
    struct arena_mark mark = arena_mark(m->arena);
    struct slice other = param_token_other(m->arena, type, SLICE_LIT("boundary"));
    if (other.n == 0 || other.n > MAIL_BOUNDARY_TAKEN || m->forced_boundary.n > 0 ||
        !open_fields(m, type, transfer, other)) {
        arena_rewind(m->arena, &mark);
    }
    if (transfer_kind_of(transfer) != TRANSFER_IDENTITY) {
        open_top(m, READING_DECODED);
    }
}

void readings_of_headers(struct mail *m)
{
    const struct entity *e = entity_top(m);
    if (m->second[CONTENT_TYPE].n > 0 || m->second[CONTENT_TRANSFER].n > 0) {
        open_second_fields(m);
    }
    if (e->part.is_container && e->state == ENTITY_PREAMBLE) {
        open_multipart_readings(m);
    } else if (is_multipart(e->part.type) && e->boundary.n == 0 &&
               m->forced_boundary.n == 0) {
        open_top(m, READING_GUESSED);
    } else if (e->state == ENTITY_LEAF && may_be_message(m, &e->part)) {
        (void)open_reading(m, READING_MESSAGE, m->nstack - 1);
    }
}

static bool has_open(const struct mail *m, enum reading_kind kind, unsigned level)
{
    for (unsigned i = 0; i < MAIL_READINGS_MAX; i++) {
        const struct reading *r = &m->readings[i];
        if (r->state == READING_OPEN && r->kind == kind && r->level == level) {
            return true;
        }
    }
    return false;
}

void readings_of_dashes(struct mail *m)
{
    unsigned level = m->nstack - 1;
    if (has_open(m, READING_GUESSED, level)) {
        return;
    }
    struct reading *r = open_reading(m, READING_GUESSED, level);
    if (r != NULL) {
        r->content[CONTENT_TYPE] = keep(m, entity_top(m)->part.type);
    }
}

void readings_of_line(struct mail *m, unsigned level)
{
    if (has_open(m, READING_PREFIX, level)) {
        return;
    }
    const struct entity *e = &m->stack[level];
    struct reading *r = open_reading(m, READING_PREFIX, level);
    if (r != NULL) {
        r->content[CONTENT_TYPE] = keep(m, e->part.type);
        r->boundary = keep(m, e->boundary);
    }
}

/* Bytes over the bound are left out, the flag says so. */
static void keep_bytes(struct mail *m, struct reading *r, struct slice bytes)
{
    uint64_t room = MAIL_READING_BYTES - m->reading_bytes;
    if (bytes.n > room) {
        m->limits_met |= MAIL_LIMIT_READINGS;
        bytes = slice_head(bytes, (size_t)room);
    }
    m->reading_bytes += bytes.n;
    grown_add(m, &r->text, bytes);
}

void readings_of_junk(struct mail *m, struct slice bytes)
{
    struct reading *r = open_reading(m, READING_FIELDS, m->nstack - 1);
    if (r != NULL) {
        r->content[CONTENT_TYPE] = keep(m, grown_slice(&m->content[CONTENT_TYPE]));
        keep_bytes(m, r, bytes);
    }
}

void readings_raw(struct mail *m, struct slice bytes)
{
    for (unsigned i = 0; m->nopen_readings > 0 && i < MAIL_READINGS_MAX; i++) {
        struct reading *r = &m->readings[i];
        if (r->state == READING_OPEN && r->kind != READING_MESSAGE) {
            keep_bytes(m, r, bytes);
        }
    }
}

void readings_data(struct mail *m, struct slice bytes)
{
    for (unsigned i = 0; m->nopen_readings > 0 && i < MAIL_READINGS_MAX; i++) {
        struct reading *r = &m->readings[i];
        if (r->state == READING_OPEN && r->kind == READING_MESSAGE) {
            keep_bytes(m, r, bytes);
        }
    }
}

void readings_close(struct mail *m)
{
    for (unsigned i = 0; m->nopen_readings > 0 && i < MAIL_READINGS_MAX; i++) {
        struct reading *r = &m->readings[i];
        if (r->state != READING_OPEN || r->level != m->nstack - 1) {
            continue;
        }
        m->nopen_readings--;
        r->state = READING_READY;
        /* A multipart with boundary lines of its own is not encoded as a whole, and has no other
         * boundary. */
        enum entity_state state = entity_top(m)->state;
        if ((r->kind == READING_DECODED || r->kind == READING_GUESSED) &&
            (state == ENTITY_BETWEEN || state == ENTITY_EPILOGUE)) {
            r->state = READING_FREE;
            m->reading_bytes -= r->text.n;
        }
    }
}

static struct slice decoded_whole(struct mail *m, const struct reading *r)
{
    struct transfer t;
    transfer_init(&t, transfer_kind_of(r->content[CONTENT_TRANSFER]));
    char *p = arena_bytes(m->arena, transfer_bound(r->text.n) + sizeof(t.held));
    if (p == NULL) {
        m->limits_met |= MAIL_LIMIT_MEMORY;
        return SLICE_NONE;
    }
    size_t n = transfer_feed(&t, grown_slice(&r->text), p);
    n += transfer_end(&t, p + n);
    return slice_of(p, n);
}

/* The boundary of the first line that begins with dashes and continues. */
static struct slice guess_boundary(struct slice text)
{
    while (text.n > 0) {
        struct slice line = slice_trim(slice_cut(&text, '\n'));
        if (slice_has_prefix(line, SLICE_LIT("--")) && line.n > 2 &&
            line.n <= MAIL_BOUNDARY_TAKEN && line.p[line.n - 1] != '-') {
            return slice_from(line, 2);
        }
    }
    return SLICE_NONE;
}

/* The entity has the content fields of the reading, and its headers have ended. */
static void begin_entity(struct mail *m, const struct reading *r, struct slice boundary)
{
    for (unsigned i = 0; i < CONTENT_FIELDS; i++) {
        bool encodes = r->kind != READING_DECODED || i != CONTENT_TRANSFER;
        if (r->content[i].n > 0 && encodes) {
            m->has_content[i] = true;
            grown_add(m, &m->content[i], r->content[i]);
        }
    }
    m->forced_boundary = boundary;
    entity_end_headers(m);
    m->forced_boundary = SLICE_NONE;
    m->stack[0].by_prefix = m->stack[0].by_prefix || r->kind == READING_PREFIX;
}

static void run(struct mail *m, const struct reading *r)
{
    struct slice text = grown_slice(&r->text);
    if (r->kind == READING_DECODED) {
        text = decoded_whole(m, r);
    }
    struct slice boundary = r->boundary;
    if (r->kind == READING_GUESSED) {
        boundary = guess_boundary(text);
        if (boundary.n == 0) {
            return;
        }
    }
    if (text.n == 0) {
        return;
    }
    m->line = LINE_START;
    m->nhold = 0;
    m->nout = 0;
    m->last_was_cr = false;
    m->held_crlf = false;
    m->open_multiparts = 0;
    m->has_field = false;
    entity_push(m);
    if (r->kind != READING_MESSAGE) {
        begin_entity(m, r, boundary);
    }
    mail_stream(m, text);
    mail_flush(m);
    lines_end(m);
    entity_close_all(m);
}

static struct reading *next_ready(struct mail *m)
{
    for (unsigned i = 0; i < MAIL_READINGS_MAX; i++) {
        if (m->readings[i].state == READING_READY) {
            return &m->readings[i];
        }
    }
    return NULL;
}

/* A reading may open others; each takes a place for good, so there is an end. */
void readings_run(struct mail *m)
{
    struct reading *r = NULL;
    m->rereads = true;
    while (!m->skips_rest && (r = next_ready(m)) != NULL) {
        r->state = READING_DONE;
        run(m, r);
    }
}
