/*
 * record - the events of core/message/mail as text, for tests that compare them.
 *
 *   H NUMBER NAME=VALUE        number "-" for a field of the message
 *   + NUMBER DEPTH TYPE [charset=C] [disposition=D] [filename=F] [name=N] [extra]
 *                              a container is "TYPE/"
 *   = DATA                     of the leaf, in one piece
 *   - NUMBER
 */
#ifndef TESTS_UNIT_MAIL_RECORD_H
#define TESTS_UNIT_MAIL_RECORD_H

#include "core/base/buf.h"
#include "core/message/mail/mail.h"

#include "tests/unit/unit.h"

#define UNUSED __attribute__((unused))

enum { RECORD_CAP = 64 << 20, RECORD_ARENA = 64 << 20 };

struct record {
    struct buf events;
    struct buf body;
    bool in_data;
    unsigned limits;
};

static const struct mail_limits record_limits = {.message_bytes = 16 << 20,
                                                 .decoded_bytes = 32 << 20,
                                                 .headers = 1000,
                                                 .header_bytes = 256 << 10,
                                                 .header_field = 64 << 10,
                                                 .parts = 500,
                                                 .depth = 32};

static void record_break(struct record *r)
{
    if (r->in_data) {
        buf_add_str(&r->events, "\n");
        r->in_data = false;
    }
}

static void record_header(void *context, const struct mail_part *part,
                          struct slice name, struct slice value)
{
    struct record *r = context;
    record_break(r);
    if (part == NULL) {
        buf_add_str(&r->events, "H - ");
    } else {
        buf_printf(&r->events, "H %u ", part->number);
    }
    buf_add(&r->events, name);
    buf_add_str(&r->events, "=");
    buf_add(&r->events, value);
    buf_add_str(&r->events, "\n");
}

static void record_word(struct record *r, const char *label, struct slice value)
{
    if (value.n > 0) {
        buf_add_str(&r->events, label);
        buf_add(&r->events, value);
    }
}

static void record_begin(void *context, const struct mail_part *part)
{
    struct record *r = context;
    record_break(r);
    buf_printf(&r->events, "+ %u %u ", part->number, part->depth);
    buf_add(&r->events, part->type);
    buf_add_str(&r->events, part->is_container ? "/" : "");
    record_word(r, " charset=", part->charset);
    record_word(r, " disposition=", part->disposition);
    record_word(r, " filename=", part->filename);
    record_word(r, " name=", part->other_name);
    buf_add_str(&r->events, part->is_extra ? " extra" : "");
    buf_add_str(&r->events, "\n");
}

static void record_data(void *context, const struct mail_part *part, struct slice bytes)
{
    struct record *r = context;
    (void)part;
    if (!r->in_data) {
        buf_add_str(&r->events, "= ");
        r->in_data = true;
    }
    buf_add(&r->events, bytes);
}

static void record_end(void *context, const struct mail_part *part)
{
    struct record *r = context;
    record_break(r);
    buf_printf(&r->events, "- %u\n", part->number);
}

static void record_body(void *context, struct slice bytes)
{
    struct record *r = context;
    buf_add(&r->body, bytes);
}

static const struct mail_events record_events = {.header = record_header,
                                                 .part_begin = record_begin,
                                                 .part_data = record_data,
                                                 .part_end = record_end,
                                                 .body = record_body};

static void record_init(struct record *r)
{
    memset(r, 0, sizeof(*r));
    buf_init(&r->events, RECORD_CAP);
    buf_init(&r->body, RECORD_CAP);
}

static void record_fini(struct record *r)
{
    buf_fini(&r->events);
    buf_fini(&r->body);
}

/* Raw, in pieces of step bytes (0: one piece). */
static UNUSED void record_raw(struct record *r, struct slice text, size_t step,
                              const struct mail_limits *limits)
{
    record_init(r);
    struct arena *arena = arena_new(RECORD_ARENA);
    struct mail *m = mail_new(arena, limits, &record_events, r);
    assert_non_null(m);
    step = step > 0 ? step : text.n;
    while (text.n > 0) {
        struct slice piece = slice_head(text, step);
        mail_raw(m, piece);
        text = slice_from(text, piece.n);
    }
    mail_end(m);
    r->limits = mail_limits_met(m);
    arena_free(&arena);
}

static UNUSED const char *record_text(struct record *r)
{
    return r->events.p != NULL ? r->events.p : "";
}

static UNUSED void record_assert_same(const struct record *a, const struct record *b)
{
    assert_int_equal(a->limits, b->limits);
    assert_int_equal(a->events.n, b->events.n);
    assert_int_equal(a->body.n, b->body.n);
    if (a->events.n > 0) {
        assert_memory_equal(a->events.p, b->events.p, a->events.n);
    }
    if (a->body.n > 0) {
        assert_memory_equal(a->body.p, b->body.p, a->body.n);
    }
}

#endif
