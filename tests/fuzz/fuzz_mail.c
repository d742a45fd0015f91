/*
 * fuzz_mail - any bytes as a message: events are well nested, and the same however it was cut.
 */
#include "core/base/arena.h"
#include "core/base/checksum.h"
#include "core/message/mail/mail.h"

#include "tests/fuzz/fuzz.h"

enum { ARENA = 1 << 22 };

struct seen {
    uint64_t sum; /* of all events */
    unsigned open;
    unsigned open_leaf; /* number of the leaf that is open, plus 1 */
    unsigned limits;
};

static void mix(struct seen *s, char what, struct slice bytes)
{
    s->sum = s->sum * 31 + (unsigned char)what;
    for (size_t i = 0; i < bytes.n; i++) {
        s->sum = s->sum * 31 + (unsigned char)bytes.p[i];
    }
}

static void on_header(void *context, const struct mail_part *part, struct slice name,
                      struct slice value)
{
    struct seen *s = context;
    FUZZ_CHECK(name.n > 0 && (part == NULL || part->number > 0));
    mix(s, 'h', name);
    mix(s, '=', value);
}

static void on_begin(void *context, const struct mail_part *part)
{
    struct seen *s = context;
    FUZZ_CHECK(s->open_leaf == 0 && part->depth == s->open && part->type.n > 0);
    s->open++;
    s->open_leaf = part->is_container ? 0 : part->number + 1;
    mix(s, 'b', part->type);
    mix(s, 'c', part->charset);
    mix(s, 'd', part->disposition);
    mix(s, 'f', part->filename);
}

static void on_data(void *context, const struct mail_part *part, struct slice bytes)
{
    struct seen *s = context;
    FUZZ_CHECK(s->open_leaf == part->number + 1 && bytes.n > 0);
    for (size_t i = 0; i < bytes.n; i++) { /* the same for any pieces */
        s->sum = s->sum * 31 + (unsigned char)bytes.p[i];
    }
}

static void on_end(void *context, const struct mail_part *part)
{
    struct seen *s = context;
    FUZZ_CHECK(s->open > 0 && (part->is_container || s->open_leaf == part->number + 1));
    s->open--;
    s->open_leaf = 0;
    mix(s, 'e', SLICE_NONE);
}

static void on_body(void *context, struct slice bytes)
{
    (void)context, (void)bytes;
}

static const struct mail_events events = {.header = on_header,
                                          .part_begin = on_begin,
                                          .part_data = on_data,
                                          .part_end = on_end,
                                          .body = on_body};

static struct seen run(struct slice text, size_t step)
{
    static const struct mail_limits limits = {.message_bytes = 1 << 20,
                                              .decoded_bytes = 1 << 16,
                                              .headers = 50,
                                              .header_bytes = 4096,
                                              .header_field = 1500,
                                              .parts = 40,
                                              .depth = 6};
    struct seen s = {0};
    struct arena *arena = arena_new(ARENA);
    struct mail *m = arena != NULL ? mail_new(arena, &limits, &events, &s) : NULL;
    FUZZ_CHECK(m != NULL);
    while (text.n > 0) {
        struct slice piece = slice_head(text, step);
        mail_raw(m, piece);
        text = slice_from(text, piece.n);
    }
    mail_end(m);
    FUZZ_CHECK(s.open == 0);
    s.limits = mail_limits_met(m);
    arena_free(&arena);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data, size);
    struct seen whole = run(text, size > 0 ? size : 1);
    struct seen cut = run(text, size % 13 + 1);
    FUZZ_CHECK(whole.sum == cut.sum && whole.limits == cut.limits);
    return 0;
}
