/* fuzz_html - any bytes as HTML, whole and in pieces of one to seven bytes: the same tokens, and
 * the same text, URLs and links shown. */
#include "core/message/html/html.h"
#include "core/message/html/shown.h"

#include "tests/fuzz/fuzz.h"

/* A running sum that does not see where text was cut into pieces. */
struct sum {
    uint64_t value;
    enum html_token_kind kind;
    bool open;
    struct shown *shown;
    uint64_t value_shown; /* its own, as runs end where pieces do not */
};

static void add_to(uint64_t *value, struct slice bytes)
{
    size_t i = 0;

    for (i = 0; i < bytes.n; i++) {
        *value = (*value ^ (unsigned char)bytes.p[i]) * UINT64_C(0x100000001b3);
    }
}

static void add(struct sum *s, struct slice bytes)
{
    add_to(&s->value, bytes);
}

static void add_shown(struct sum *s, struct slice bytes)
{
    add_to(&s->value_shown, bytes);
}

static void on_text(void *context, const struct shown_text *t)
{
    FUZZ_CHECK(t->text.n > 0 && t->text.n <= SHOWN_RUN_MAX);
    add_shown(context, slice_of((const char *)&t->flags, sizeof(t->flags)));
    add_shown(context, slice_of((const char *)&t->where, sizeof(t->where)));
    add_shown(context, t->text);
}

static void on_shown_value(void *context, enum shown_value_kind kind,
                           struct slice value)
{
    FUZZ_CHECK(value.n > 0);
    add_shown(context, slice_of((const char *)&kind, sizeof(kind)));
    add_shown(context, value);
}

static void on_link(void *context, const struct shown_link *link)
{
    add_shown(context, link->target);
    add_shown(context, SLICE_LIT("|"));
    add_shown(context, link->text);
    add_shown(context,
              link->has_image || link->is_cut ? SLICE_LIT("1") : SLICE_LIT("0"));
}

static void on_token(void *context, const struct html_token *t)
{
    struct sum *s = context;
    bool text = t->kind == HTML_TEXT || t->kind == HTML_RAW_TEXT;

    FUZZ_CHECK(t->value.n == 0 || t->value.p != NULL);
    if (!(text && s->open && s->kind == t->kind)) {
        s->value = (s->value ^ (0x100U + (unsigned)t->kind)) * UINT64_C(0x100000001b3);
        add(s, t->tag);
        add(s, SLICE_LIT("|"));
        add(s, t->name);
        add(s, SLICE_LIT("|"));
        add(s, t->is_self_closing || t->is_duplicate ? SLICE_LIT("1") : SLICE_LIT("0"));
    }
    add(s, t->value);
    s->open = text;
    s->kind = t->kind;
    shown_take(s->shown, t);
}

static uint64_t parse(struct slice in, size_t step)
{
    static const struct shown_events events = {
        .text = on_text, .value = on_shown_value, .link = on_link};
    struct arena *arena = arena_new(FUZZ_ARENA);
    struct sum sum = {0};
    struct html *h = NULL;
    size_t i = 0;

    FUZZ_CHECK(arena != NULL);
    h = html_new(arena, on_token, &sum);
    FUZZ_CHECK(h != NULL);
    sum.shown = shown_new(arena, &events, &sum);
    FUZZ_CHECK(sum.shown != NULL);
    for (i = 0; i < in.n; i += step) {
        html_feed(h, slice_head(slice_from(in, i), step));
    }
    html_end(h);
    shown_end(sum.shown);
    arena_free(&arena);
    return sum.value ^ (sum.value_shown << 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of((const char *)data, size);
    uint64_t whole = parse(in, size > 0 ? size : 1);

    FUZZ_CHECK(parse(in, 1) == whole);
    FUZZ_CHECK(parse(in, 1 + size % 7) == whole);
    return 0;
}
