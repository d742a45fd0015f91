
#include "core/message/mail/mail_internal.h"
#include "core/message/mail/params.h"

struct entity *entity_top(struct mail *m)
{
    return &m->stack[m->nstack - 1];
}

/* The header of the entity on top is to come. */
static void begin_headers(struct mail *m)
{
    struct entity *e = entity_top(m);
    e->state = ENTITY_HEADERS;
    e->nheaders = 0;
    e->header_bytes = 0;
    m->strings[m->nstack - 1].n = 0;
    for (unsigned i = 0; i < CONTENT_FIELDS; i++) {
        m->content[i].n = 0;
        m->second[i].n = 0;
        m->has_content[i] = false;
    }
}

void entity_push(struct mail *m)
{
    if (m->nparts >= m->limits.parts) {
        m->limits_met |= MAIL_LIMIT_PARTS;
    }

    struct entity *e = &m->stack[m->nstack];
    memset(e, 0, sizeof(*e));
    e->part.number = m->nparts++;
    e->part.depth = m->nstack;
    e->part.is_extra = m->rereads;
    e->part.is_over = m->nparts > m->limits.parts;
    m->nstack++;
    begin_headers(m);
}

/* The deepest container that may be, and a part of it. */
static size_t levels(const struct mail *m)
{
    return (size_t)m->limits.depth + 2;
}

bool entity_open_root(struct mail *m)
{
    m->stack = arena_array(m->arena, levels(m), sizeof(*m->stack));
    m->strings = arena_array(m->arena, levels(m), sizeof(*m->strings));
    if (m->stack == NULL || m->strings == NULL) {
        return false;
    }
    entity_push(m);
    return true;
}

static struct slice content(const struct mail *m, enum content_field which)
{
    return slice_of(m->content[which].p, m->content[which].n);
}

/* Room for n bytes that live as long as the entity on top. A buffer that is too small stays in the
 * arena; the next entity of the level inherits the larger one, so the waste is bounded. */
static char *room_on_top(struct mail *m, size_t n)
{
    struct grown *g = &m->strings[m->nstack - 1];
    if (n > g->size - g->n) {
        size_t size = g->size > 0 ? 2 * g->size : MAIL_STRINGS_START;
        size = size > n ? size : n;
        m->strings_grew = true;
        *g = (struct grown){.p = arena_bytes(m->arena, size), .size = size};
        if (g->p == NULL) {
            *g = (struct grown){.p = NULL};
            return NULL;
        }
    }
    char *p = g->p + g->n;
    g->n += n;
    return p;
}

/* A copy for the entity on top; over the arena the value is as good as missing. */
static struct slice keep(struct mail *m, struct slice s, bool lower)
{
    if (s.n == 0) {
        return SLICE_NONE;
    }
    char *dst = room_on_top(m, s.n);
    if (dst == NULL) {
        m->limits_met |= MAIL_LIMIT_MEMORY;
        return SLICE_NONE;
    }
    memcpy(dst, s.p, s.n);
    for (size_t i = 0; lower && i < s.n; i++) {
        if (dst[i] >= 'A' && dst[i] <= 'Z') {
            dst[i] = (char)(dst[i] + 32);
        }
    }
    return slice_of(dst, s.n);
}

/* "type/subtype" with something on both sides and one slash. */
static bool is_media_type(struct slice s)
{
    size_t slash = slice_find(s, '/');
    return slash > 0 && slash + 1 < s.n &&
           slice_find(slice_from(s, slash + 1), '/') == s.n - slash - 1;
}

static void read_type(struct mail *m, struct mail_part *part)
{
    bool in_digest = m->nstack >= 2 && m->stack[m->nstack - 2].is_digest &&
                     !entity_top(m)->is_message;
    struct slice field = content(m, CONTENT_TYPE);
    struct slice type = param_main(field);
    if (!m->has_content[CONTENT_TYPE]) {
        type = in_digest ? SLICE_LIT("message/rfc822") : SLICE_LIT("text/plain");
    } else if (!is_media_type(type)) {
        type = SLICE_LIT("text/plain"); /* RFC 2045 5.2 */
    }
    part->type = keep(m, type, true);
    if (part->type.n == 0) {
        part->type = SLICE_LIT("text/plain");
    }
    part->has_type = m->has_content[CONTENT_TYPE] && is_media_type(param_main(field));
    part->transfer = keep(m, slice_trim(content(m, CONTENT_TRANSFER)), true);
    part->charset = keep(m, param_token(m->arena, field, SLICE_LIT("charset")), false);
}

static void read_disposition(struct mail *m, struct mail_part *part)
{
    struct slice field = content(m, CONTENT_DISPOSITION);
    part->disposition = keep(m, param_main(field), true);
    struct slice name = slice_trim(param_text(m->arena, field, SLICE_LIT("filename")));
    struct slice other =
        slice_trim(param_text(m->arena, content(m, CONTENT_TYPE), SLICE_LIT("name")));
    if (name.n == 0) {
        name = other;
    }
    part->filename = keep(m, name, false);
    if (!slice_eq(name, other)) {
        part->other_name = keep(m, other, false);
    }
}

static bool is_embedded_message(struct slice type)
{
    return slice_eq(type, SLICE_LIT("message/rfc822")) ||
           slice_eq(type, SLICE_LIT("message/global")) ||
           slice_eq(type, SLICE_LIT("message/news"));
}

static bool is_multipart(const struct entity *e)
{
    return slice_has_prefix(e->part.type, SLICE_LIT("multipart/"));
}

static void read_boundary(struct mail *m, struct entity *e)
{
    struct slice b = m->forced_boundary;
    if (b.n == 0) {
        b = param_token(m->arena, content(m, CONTENT_TYPE), SLICE_LIT("boundary"));
    }
    if (b.n > MAIL_BOUNDARY_MAX) {
        m->limits_met |= MAIL_LIMIT_BOUNDARY;
    }
    e->by_prefix = b.n > MAIL_BOUNDARY_TAKEN;
    e->boundary = keep(m, slice_head(b, MAIL_BOUNDARY_TAKEN), false);
}

/* Reads the MIME fields of the entity on top. The memory for that is freed at once. */
static void read_content(struct mail *m, struct entity *e)
{
    struct arena_mark mark = arena_mark(m->arena);
    m->strings_grew = false;
    read_type(m, &e->part);
    read_disposition(m, &e->part);
    if (is_multipart(e)) {
        read_boundary(m, e);
    }
    if (!m->strings_grew) {
        arena_rewind(m->arena, &mark);
    }
}

static void begin_leaf(struct mail *m, struct entity *e)
{
    e->state = ENTITY_LEAF;
    transfer_init(&m->transfer, transfer_kind_of(content(m, CONTENT_TRANSFER)));
    m->held_crlf = false;
    m->events->part_begin(m->context, &e->part);
}

static void begin_multipart(struct mail *m, struct entity *e)
{
    e->state = ENTITY_PREAMBLE;
    e->part.is_container = true;
    e->is_digest = slice_eq(e->part.type, SLICE_LIT("multipart/digest"));
    m->open_multiparts++;
    m->events->part_begin(m->context, &e->part);
}

static uint64_t hash_of(struct slice s)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < s.n; i++) {
        hash = (hash ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
    }
    return hash ^ hash >> 32;
}

static bool is_known_flat(const struct mail *m, struct slice boundary)
{
    uint64_t hash = hash_of(boundary);
    return m->flat[hash % MAIL_FLAT_SLOTS] == hash;
}

bool entity_is_flat_boundary(const struct mail *m, struct slice line, bool *retclosing)
{
    if (m->nflat == 0 || line.n == 0) {
        return false;
    }
    *retclosing = false;
    if (is_known_flat(m, line)) {
        return true;
    }
    *retclosing = true;
    return slice_has_suffix_nocase(line, SLICE_LIT("--")) &&
           is_known_flat(m, slice_head(line, line.n - 2));
}

/* A multipart that is too deep: its parts are those of the container that it stands in. */
static void flatten(struct mail *m, struct entity *e)
{
    if (m->flat == NULL) {
        m->flat = arena_array(m->arena, MAIL_FLAT_SLOTS, sizeof(*m->flat));
    }
    if (m->flat == NULL) {
        m->limits_met |= MAIL_LIMIT_MEMORY;
    } else {
        uint64_t hash = hash_of(e->boundary);
        m->flat[hash % MAIL_FLAT_SLOTS] = hash;
        m->nflat++;
    }
    m->nstack--;
    entity_top(m)->state = ENTITY_PREAMBLE;
}

/* The deepest container has ended, and with it those that took its place. */
static void forget_flat(struct mail *m)
{
    if (m->nflat > 0) {
        memset(m->flat, 0, MAIL_FLAT_SLOTS * sizeof(*m->flat));
        m->nflat = 0;
    }
}

static void open_multipart(struct mail *m, struct entity *e)
{
    if (m->nstack > m->limits.depth) {
        m->limits_met |= MAIL_LIMIT_DEPTH;
    }
    if (m->nstack == levels(m)) {
        flatten(m, e);
        return;
    }
    begin_multipart(m, e);
    readings_of_headers(m);
}

/* Too deep: its header takes the place of that of its part. */
static void open_message(struct mail *m, struct entity *e)
{
    if (m->nstack > m->limits.depth) {
        m->limits_met |= MAIL_LIMIT_DEPTH;
        e->is_message = true;
        begin_headers(m);
        return;
    }
    e->state = ENTITY_MESSAGE;
    e->part.is_container = true;
    m->events->part_begin(m->context, &e->part);
    readings_of_headers(m);
    entity_push(m);
}

void entity_end_headers(struct mail *m)
{
    field_end(m);
    struct entity *e = entity_top(m);
    read_content(m, e);
    if (m->nstack == 1) {
        m->in_body = true;
    }
    if (is_multipart(e) && e->boundary.n > 0) {
        open_multipart(m, e);
    } else if (is_embedded_message(e->part.type) && !m->limits.keeps_messages &&
               transfer_kind_of(content(m, CONTENT_TRANSFER)) == TRANSFER_IDENTITY) {
        open_message(m, e);
    } else {
        begin_leaf(m, e);
        readings_of_headers(m);
    }
}

static bool is_text(struct mail *m, const struct mail_part *part)
{
    if (m->events->is_text != NULL) {
        return m->events->is_text(m->context, part);
    }
    return slice_has_prefix(part->type, SLICE_LIT("text/")) ||
           slice_has_prefix(part->type, SLICE_LIT("message/")) ||
           slice_has_prefix(part->type, SLICE_LIT("multipart/"));
}

/* Of an attachment over a limit nothing is decoded or given. */
static bool is_skipped(struct mail *m, struct mail_part *part, size_t bytes)
{
    if (is_text(m, part)) {
        return false;
    }
    m->attachment_raw += bytes;
    if (m->attachment_raw > m->limits.message_bytes) {
        m->limits_met |= MAIL_LIMIT_MESSAGE_BYTES;
    } else if (!part->is_over) {
        return false;
    }
    part->is_cut = true;
    return true;
}

static void give_as(struct mail *m, struct mail_part *part, struct slice bytes)
{
    uint64_t *used = is_text(m, part) ? &m->text_bytes : &m->attachment_bytes;
    uint64_t room = m->limits.decoded_bytes - *used;
    if (bytes.n > room) {
        m->limits_met |= MAIL_LIMIT_DECODED_BYTES;
        part->is_cut = true;
        bytes = slice_head(bytes, (size_t)room);
    }
    if (bytes.n > 0) {
        *used += bytes.n;
        m->events->part_data(m->context, part, bytes);
    }
}

static void give(struct mail *m, struct slice bytes)
{
    readings_data(m, bytes);
    give_as(m, &entity_top(m)->part, bytes);
}

/* Text of a multipart outside its parts: some readers show it. */
static void stray_data(struct mail *m, struct entity *e, struct slice bytes)
{
    if (!e->has_stray) {
        while (bytes.n > 0 && (unsigned char)bytes.p[0] <= ' ') {
            bytes = slice_from(bytes, 1);
        }
        if (bytes.n == 0) {
            return;
        }
        m->stray = (struct mail_part){.number = e->part.number,
                                      .depth = e->part.depth + 1,
                                      .type = SLICE_LIT("text/plain"),
                                      .is_extra = true,
                                      .is_stray = true};
        e->has_stray = true;
        m->events->part_begin(m->context, &m->stray);
    }
    give_as(m, &m->stray, bytes);
}

static void stray_end(struct mail *m, struct entity *e)
{
    if (e->has_stray) {
        e->has_stray = false;
        m->events->part_end(m->context, &m->stray);
    }
}

static void decode(struct mail *m, struct slice bytes)
{
    if (m->transfer.kind == TRANSFER_IDENTITY) {
        give(m, bytes);
        return;
    }
    while (bytes.n > 0) {
        struct slice step = slice_head(bytes, MAIL_DECODE_STEP);
        bytes = slice_from(bytes, step.n);
        size_t n = transfer_feed(&m->transfer, step, m->decoded);
        give(m, slice_of(m->decoded, n));
    }
}

void entity_data(struct mail *m, struct slice bytes)
{
    struct entity *e = entity_top(m);
    if (bytes.n == 0) {
        return;
    }
    if (e->state == ENTITY_PREAMBLE || e->state == ENTITY_EPILOGUE) {
        stray_data(m, e, bytes);
        return;
    }
    if (e->state != ENTITY_LEAF || is_skipped(m, &e->part, bytes.n)) {
        return;
    }
    if (m->held_crlf) {
        m->held_crlf = false;
        decode(m, SLICE_LIT("\r\n"));
    }
    if (m->open_multiparts > 0 && bytes.p[bytes.n - 1] == '\n') {
        m->held_crlf = true;
        bytes.n -= 2;
    }
    decode(m, bytes);
    if (m->transfer.has_junk && !e->has_raw &&
        slice_has_prefix(e->part.type, SLICE_LIT("text/"))) {
        e->has_raw = true;
        readings_of_junk(m, bytes);
    }
}

/* by_boundary: the last line end belongs to the boundary line. */
static void close_top(struct mail *m, bool by_boundary)
{
    struct entity *e = entity_top(m);
    stray_end(m, e);
    if (e->state == ENTITY_LEAF) {
        if (m->held_crlf && !by_boundary) {
            decode(m, SLICE_LIT("\r\n"));
        }
        m->held_crlf = false;
        give(m, slice_of(m->decoded, transfer_end(&m->transfer, m->decoded)));
    } else if (e->state != ENTITY_MESSAGE) {
        m->open_multiparts--;
    }
    m->events->part_end(m->context, &e->part);
    readings_close(m);
    m->nstack--;
    if (m->nstack == m->limits.depth) {
        forget_flat(m);
    }
}

/* Entities whose headers end with the text: each may turn out to hold another message. */
static void end_open_headers(struct mail *m)
{
    while (entity_top(m)->state == ENTITY_HEADERS) {
        entity_end_headers(m);
    }
}

void entity_boundary(struct mail *m, unsigned level, bool closing)
{
    struct entity *top = entity_top(m);
    if (m->nstack == level + 2 && top->state == ENTITY_HEADERS && !m->has_field &&
        top->nheaders == 0) {
        /* Two boundary lines with nothing between: nobody sees a part there. */
        m->nstack--;
        m->nparts--;
    }
    end_open_headers(m);
    while (m->nstack > level + 1) {
        close_top(m, true);
    }
    struct entity *e = entity_top(m);
    readings_raw(m, slice_of(m->hold, m->nhold));
    stray_end(m, e);
    e->state = closing ? ENTITY_EPILOGUE : ENTITY_BETWEEN;
    if (!closing) {
        entity_push(m);
    }
}

void entity_close_all(struct mail *m)
{
    end_open_headers(m);
    while (m->nstack > 0) {
        close_top(m, false);
    }
}
