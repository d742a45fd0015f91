#include <string.h>

#include "core/mail/params.h"
#include "core/mail/parser.h"

struct entity *entity_top(struct mail *m)
{
    return &m->stack[m->nstack - 1];
}

void entity_push(struct mail *m)
{
    struct entity *e = &m->stack[m->nstack];
    memset(e, 0, sizeof *e);
    e->part.number = m->nparts++;
    e->part.depth = m->nstack;
    e->part.is_extra = m->rereads;
    e->state = ENTITY_HEADERS;
    m->nstack++;
    for (unsigned i = 0; i < CONTENT_FIELDS; i++) {
        m->content[i].n = 0;
        m->second[i].n = 0;
        m->has_content[i] = false;
    }
}

bool entity_open_root(struct mail *m)
{
    m->stack = arena_array(m->arena, (size_t)m->limits.depth + 1, sizeof *m->stack);
    if (m->stack == NULL) {
        return false;
    }
    entity_push(m);
    return true;
}

static struct slice content(const struct mail *m, enum content_field which)
{
    return slice_of(m->content[which].p, m->content[which].n);
}

/* A copy that outlives the field buffer; over the arena the value is as good as missing. */
struct slice entity_keep(struct mail *m, struct slice s, bool lower)
{
    if (s.n == 0) {
        return SLICE_NONE;
    }
    char *dst = arena_bytes(m->arena, s.n);
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
    bool in_digest = m->nstack >= 2 && m->stack[m->nstack - 2].is_digest;
    struct slice field = content(m, CONTENT_TYPE);
    struct slice type = param_main(field);
    if (!m->has_content[CONTENT_TYPE]) {
        type = in_digest ? SLICE_LIT("message/rfc822") : SLICE_LIT("text/plain");
    } else if (!is_media_type(type)) {
        type = SLICE_LIT("text/plain"); /* RFC 2045 5.2 */
    }
    part->type = entity_keep(m, type, true);
    if (part->type.n == 0) {
        part->type = SLICE_LIT("text/plain");
    }
    part->has_type = m->has_content[CONTENT_TYPE] && is_media_type(param_main(field));
    part->transfer = entity_keep(m, slice_trim(content(m, CONTENT_TRANSFER)), true);
    part->charset =
        entity_keep(m, param_token(m->arena, field, SLICE_LIT("charset")), false);
}

static void read_disposition(struct mail *m, struct mail_part *part)
{
    struct slice field = content(m, CONTENT_DISPOSITION);
    part->disposition = entity_keep(m, param_main(field), true);
    struct slice name = slice_trim(param_text(m->arena, field, SLICE_LIT("filename")));
    struct slice other =
        slice_trim(param_text(m->arena, content(m, CONTENT_TYPE), SLICE_LIT("name")));
    if (name.n == 0) {
        name = other;
    }
    part->filename = entity_keep(m, name, false);
    if (!slice_eq(name, other)) {
        part->other_name = entity_keep(m, other, false);
    }
}

static bool is_embedded_message(struct slice type)
{
    return slice_eq(type, SLICE_LIT("message/rfc822")) ||
           slice_eq(type, SLICE_LIT("message/global")) ||
           slice_eq(type, SLICE_LIT("message/news"));
}

/* Whether the top entity may have children; over the depth it stays a leaf, so that at least
 * its text is seen. */
static bool may_nest(struct mail *m)
{
    if (m->nstack > m->limits.depth) {
        m->limits_met |= MAIL_LIMIT_DEPTH;
        return false;
    }
    return true;
}

static struct slice read_boundary(struct mail *m)
{
    struct slice b = m->forced_boundary;
    if (b.n == 0) {
        b = param_token(m->arena, content(m, CONTENT_TYPE), SLICE_LIT("boundary"));
    }
    if (b.n > MAIL_BOUNDARY_MAX) {
        m->limits_met |= MAIL_LIMIT_BOUNDARY;
    }
    return b.n > MAIL_BOUNDARY_TAKEN ? SLICE_NONE : entity_keep(m, b, false);
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

bool entity_may_have_part(struct mail *m)
{
    if (m->nparts >= m->limits.parts) {
        m->limits_met |= MAIL_LIMIT_PARTS;
        return false;
    }
    return true;
}

void entity_end_headers(struct mail *m)
{
    field_end(m);
    struct entity *e = entity_top(m);
    read_type(m, &e->part);
    read_disposition(m, &e->part);
    if (m->nstack == 1) {
        m->in_body = true;
    }
    if (slice_has_prefix(e->part.type, SLICE_LIT("multipart/"))) {
        e->boundary = read_boundary(m);
        if (e->boundary.n > 0 && may_nest(m)) {
            begin_multipart(m, e);
            readings_of_headers(m);
            return;
        }
    } else if (is_embedded_message(e->part.type) &&
               transfer_kind_of(content(m, CONTENT_TRANSFER)) == TRANSFER_IDENTITY &&
               may_nest(m) && entity_may_have_part(m)) {
        e->state = ENTITY_MESSAGE;
        e->part.is_container = true;
        m->events->part_begin(m->context, &e->part);
        readings_of_headers(m);
        entity_push(m);
        return;
    }
    begin_leaf(m, e);
    readings_of_headers(m);
}

static void give_as(struct mail *m, const struct mail_part *part, struct slice bytes)
{
    uint64_t room = m->limits.decoded_bytes - m->decoded_bytes;
    if (bytes.n > room) {
        m->limits_met |= MAIL_LIMIT_DECODED_BYTES;
        bytes = slice_head(bytes, (size_t)room);
    }
    if (bytes.n > 0) {
        m->decoded_bytes += bytes.n;
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
    if (e->state != ENTITY_LEAF) {
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
    if (!closing && entity_may_have_part(m)) {
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
