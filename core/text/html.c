/* html - one function per state; each uses up bytes or goes on to a state that will. */
#include "core/text/html.h"

#include <string.h>

#include "core/text/ascii.h"
#include "core/text/html_ref.h"
#include "core/text/html_state.h"

struct slice html_text_slice(const struct html_text *t)
{
    return slice_of(t->p, t->n);
}

void html_text_add(struct html_text *t, struct slice s)
{
    s = slice_head(s, t->size - t->n);
    if (s.n > 0) {
        memcpy(t->p + t->n, s.p, s.n);
        t->n += s.n;
    }
}

void html_emit(struct html *h, enum html_token_kind kind, struct slice name,
               struct slice value)
{
    struct html_token token = {.kind = kind, .name = name, .value = value};

    if (kind != HTML_TEXT && kind != HTML_COMMENT) {
        token.tag = html_text_slice(&h->tag);
    }
    h->on_token(h->context, &token);
}

void html_skip(struct slice *in, size_t n)
{
    *in = slice_from(*in, n);
}

/* Text or raw text, without NULs (which browsers drop). */
static void emit_text(struct html *h, struct slice s)
{
    while (s.n > 0) {
        struct slice piece = slice_head(s, slice_find(s, '\0'));

        if (piece.n > 0) {
            html_emit(h, h->is_raw ? HTML_RAW_TEXT : HTML_TEXT, SLICE_NONE, piece);
        }
        s = slice_from(s, piece.n + 1);
    }
}

static void begin_ref(struct html *h)
{
    html_ref_init(&h->ref);
    h->after_ref = h->state;
    h->state = HTML_STATE_REF;
}

/* Length of the run before the next stop (and, if wanted, before '&'). A text of nothing but
 * '&' must not look for the same stop again and again. */
static size_t run_before(struct html *h, struct slice s, char stop, bool ref)
{
    size_t n = 0;

    if (h->stop == NULL || h->stop < s.p || h->stop_byte != stop) {
        h->stop = s.p + slice_find(s, stop);
        h->stop_byte = stop;
    }
    n = (size_t)(h->stop - s.p);
    return ref ? slice_find(slice_head(s, n), '&') : n;
}

static void on_text(struct html *h, struct slice *in)
{
    size_t n = run_before(h, *in, '<', true);

    emit_text(h, slice_head(*in, n));
    if (n < in->n) {
        if (in->p[n] == '<') {
            h->state = HTML_STATE_TAG_OPEN;
        } else {
            begin_ref(h);
        }
        n++;
    }
    html_skip(in, n);
}

static void on_raw(struct html *h, struct slice *in)
{
    size_t n = run_before(h, *in, '<', h->may_ref);

    emit_text(h, slice_head(*in, n));
    if (n < in->n) {
        if (in->p[n] == '<') {
            h->raw_end[0] = '<';
            h->nraw_end = 1;
            h->state = HTML_STATE_RAW_END;
        } else {
            begin_ref(h);
        }
        n++;
    }
    html_skip(in, n);
}

/* The state after the '>' of a tag. */
static void end_tag(struct html *h)
{
    static const struct slice raw[] = {
        {"script", 6}, {"style", 5}, {"title", 5}, {"textarea", 8}};
    size_t i = 0;

    h->state = HTML_STATE_TEXT;
    for (i = 0; i < sizeof(raw) / sizeof(raw[0]) && !h->is_end_tag; i++) {
        if (slice_eq(html_text_slice(&h->tag), raw[i])) {
            h->state = HTML_STATE_RAW;
            h->is_raw = true;
            h->may_ref = i >= 2;
        }
    }
}

static void on_raw_end(struct html *h, struct slice *in)
{
    struct slice tag = html_text_slice(&h->tag);
    char c = in->p[0];

    if (h->nraw_end == tag.n + 2) {
        if (ASCII_IS(c, ASCII_SPACE) || c == '/' || c == '>') {
            h->is_raw = false;
            h->is_end_tag = true;
            html_emit(h, HTML_END_TAG, SLICE_NONE, SLICE_NONE);
            h->state = HTML_STATE_BEFORE_NAME;
            return;
        }
    } else if (h->nraw_end == 1 ? c == '/' : ASCII_LOWER(c) == tag.p[h->nraw_end - 2]) {
        h->raw_end[h->nraw_end++] = c;
        html_skip(in, 1);
        return;
    } else {
        /* something else than the end */
    }
    emit_text(h, slice_of(h->raw_end, h->nraw_end));
    h->state = HTML_STATE_RAW;
}

/* next: the byte after the reference, 0 at the end. */
static void end_ref(struct html *h, char next)
{
    char out[HTML_REF_OUT];
    bool in_value = h->after_ref == HTML_STATE_VALUE;
    struct slice text = html_ref_text(&h->ref, in_value, next, out);

    h->state = h->after_ref;
    if (in_value) {
        html_text_add(&h->value, text);
    } else {
        emit_text(h, text);
    }
}

static void on_ref(struct html *h, struct slice *in)
{
    bool done = false;
    bool used = true;

    while (in->n > 0 && used && !done) {
        used = html_ref_add(&h->ref, in->p[0], &done);
        if (used) {
            html_skip(in, 1);
        }
    }
    if (!used) {
        end_ref(h, in->p[0]);
    } else if (done) {
        end_ref(h, ';');
    } else {
        /* goes on in the next chunk */
    }
}

static void begin_tag(struct html *h, bool is_end_tag)
{
    h->is_end_tag = is_end_tag;
    h->tag.n = 0;
    h->nattributes = 0;
    h->state = HTML_STATE_TAG_NAME;
}

static void on_tag_open(struct html *h, struct slice *in)
{
    char c = in->p[0];

    if (ASCII_IS(c, ASCII_ALPHA)) {
        begin_tag(h, false);
    } else if (c == '/') {
        h->state = HTML_STATE_END_TAG_OPEN;
        html_skip(in, 1);
    } else if (c == '!') {
        html_begin_comment(h, HTML_STATE_MARKUP);
        html_skip(in, 1);
    } else if (c == '?') {
        html_begin_comment(h, HTML_STATE_BOGUS);
    } else {
        h->state = HTML_STATE_TEXT;
        emit_text(h, SLICE_LIT("<"));
    }
}

static void on_end_tag_open(struct html *h, struct slice *in)
{
    char c = in->p[0];

    if (ASCII_IS(c, ASCII_ALPHA)) {
        begin_tag(h, true);
    } else if (c == '>') {
        h->state = HTML_STATE_TEXT;
        html_skip(in, 1);
    } else {
        html_begin_comment(h, HTML_STATE_BOGUS);
    }
}

static bool ends_name(char c)
{
    return ASCII_IS(c, ASCII_SPACE) || c == '/' || c == '>';
}

static void add_lower(struct html_text *t, char c)
{
    if (c == '\0') {
        html_text_add(t, SLICE_LIT("\xef\xbf\xbd"));
    } else if (t->n < t->size) {
        t->p[t->n++] = ASCII_LOWER(c);
    } else {
        /* cut */
    }
}

static void on_tag_name(struct html *h, struct slice *in)
{
    size_t n = 0;

    while (n < in->n && !ends_name(in->p[n])) {
        add_lower(&h->tag, in->p[n]);
        n++;
    }
    html_skip(in, n);
    if (in->n > 0) {
        html_emit(h, h->is_end_tag ? HTML_END_TAG : HTML_START_TAG, SLICE_NONE,
                  SLICE_NONE);
        h->state = HTML_STATE_BEFORE_NAME;
    }
}

static void on_before_name(struct html *h, struct slice *in)
{
    char c = in->p[0];

    if (c == '>') {
        html_skip(in, 1);
        end_tag(h);
    } else if (ends_name(c)) {
        html_skip(in, 1);
    } else {
        h->name.n = 0;
        h->value.n = 0;
        add_lower(&h->name, c); /* even '=' begins a name here */
        html_skip(in, 1);
        h->state = HTML_STATE_NAME;
    }
}

static void emit_attribute(struct html *h)
{
    h->state = HTML_STATE_BEFORE_NAME;
    if (h->is_end_tag) {
        return;
    }
    if (h->nattributes == HTML_ATTRIBUTES_MAX) {
        h->met_limit = true;
        return;
    }
    h->nattributes++;
    html_emit(h, HTML_ATTRIBUTE, html_text_slice(&h->name), html_text_slice(&h->value));
}

static void on_name(struct html *h, struct slice *in)
{
    size_t n = 0;

    while (n < in->n && in->p[n] != '=' && !ends_name(in->p[n])) {
        add_lower(&h->name, in->p[n]);
        n++;
    }
    html_skip(in, n);
    if (in->n > 0) {
        h->state = HTML_STATE_AFTER_NAME;
    }
}

static void on_after_name(struct html *h, struct slice *in)
{
    char c = in->p[0];

    if (ASCII_IS(c, ASCII_SPACE)) {
        html_skip(in, 1);
    } else if (c == '=') {
        html_skip(in, 1);
        h->state = HTML_STATE_BEFORE_VALUE;
    } else {
        emit_attribute(h);
    }
}

static void on_before_value(struct html *h, struct slice *in)
{
    char c = in->p[0];

    if (ASCII_IS(c, ASCII_SPACE)) {
        html_skip(in, 1);
        return;
    }
    if (c == '>') {
        emit_attribute(h);
        return;
    }
    h->quote = '\0';
    if (c == '"' || c == '\'') {
        h->quote = c;
        html_skip(in, 1);
    }
    h->state = HTML_STATE_VALUE;
}

/* Adds to an attribute value; browsers show a NUL as U+FFFD. */
static void add_value(struct html *h, struct slice s)
{
    while (s.n > 0) {
        size_t n = slice_find(s, '\0');

        html_text_add(&h->value, slice_head(s, n));
        if (n < s.n) {
            html_text_add(&h->value, SLICE_LIT("\xef\xbf\xbd"));
        }
        s = slice_from(s, n + 1);
    }
}

static size_t unquoted_run(struct slice s)
{
    size_t n = 0;

    while (n < s.n && s.p[n] != '>' && s.p[n] != '&' &&
           !ASCII_IS(s.p[n], ASCII_SPACE)) {
        n++;
    }
    return n;
}

static void on_value(struct html *h, struct slice *in)
{
    size_t n =
        h->quote == '\0' ? unquoted_run(*in) : run_before(h, *in, h->quote, true);

    add_value(h, slice_head(*in, n));
    html_skip(in, n);
    if (in->n == 0) {
        return;
    }
    if (in->p[0] == '&') {
        html_skip(in, 1);
        begin_ref(h);
        return;
    }
    if (h->quote != '\0') {
        html_skip(in, 1);
    }
    emit_attribute(h);
}

static html_state_fn *const state_fns[HTML_STATE_COUNT] = {
    [HTML_STATE_TEXT] = on_text,
    [HTML_STATE_RAW] = on_raw,
    [HTML_STATE_RAW_END] = on_raw_end,
    [HTML_STATE_REF] = on_ref,
    [HTML_STATE_TAG_OPEN] = on_tag_open,
    [HTML_STATE_END_TAG_OPEN] = on_end_tag_open,
    [HTML_STATE_TAG_NAME] = on_tag_name,
    [HTML_STATE_BEFORE_NAME] = on_before_name,
    [HTML_STATE_NAME] = on_name,
    [HTML_STATE_AFTER_NAME] = on_after_name,
    [HTML_STATE_BEFORE_VALUE] = on_before_value,
    [HTML_STATE_VALUE] = on_value,
    [HTML_STATE_MARKUP] = html_on_markup,
    [HTML_STATE_MARKUP_DASH] = html_on_markup_dash,
    [HTML_STATE_BOGUS] = html_on_bogus,
    [HTML_STATE_COMMENT_START] = html_on_comment_start,
    [HTML_STATE_COMMENT_START_DASH] = html_on_comment_start_dash,
    [HTML_STATE_COMMENT] = html_on_comment,
    [HTML_STATE_COMMENT_DASH] = html_on_comment_dash,
    [HTML_STATE_COMMENT_END] = html_on_comment_end,
    [HTML_STATE_COMMENT_BANG] = html_on_comment_bang,
};

struct html *html_new(struct arena *arena, html_token_fn *on_token, void *context)
{
    struct html *h = arena_alloc(arena, sizeof(*h));
    char *value = arena_bytes(arena, HTML_VALUE_MAX);

    if (h == NULL || value == NULL) {
        return NULL;
    }
    h->on_token = on_token;
    h->context = context;
    h->tag = (struct html_text){.p = h->tag_bytes, .size = sizeof(h->tag_bytes)};
    h->name = (struct html_text){.p = h->name_bytes, .size = sizeof(h->name_bytes)};
    h->value = (struct html_text){.p = value, .size = HTML_VALUE_MAX};
    return h;
}

void html_feed(struct html *h, struct slice utf8)
{
    h->stop = NULL;
    while (utf8.n > 0) {
        state_fns[h->state](h, &utf8);
    }
}

void html_end(struct html *h)
{
    if (h->state == HTML_STATE_REF) {
        end_ref(h, '\0');
    }
    switch (h->state) {
    case HTML_STATE_RAW_END:
        emit_text(h, slice_of(h->raw_end, h->nraw_end));
        break;
    case HTML_STATE_TAG_OPEN:
        emit_text(h, SLICE_LIT("<"));
        break;
    case HTML_STATE_END_TAG_OPEN:
        emit_text(h, SLICE_LIT("</"));
        break;
    case HTML_STATE_NAME:
    case HTML_STATE_AFTER_NAME:
    case HTML_STATE_BEFORE_VALUE:
    case HTML_STATE_VALUE:
        emit_attribute(h); /* browsers drop it, some mail clients do not */
        break;
    case HTML_STATE_MARKUP:
    case HTML_STATE_MARKUP_DASH:
    case HTML_STATE_BOGUS:
    case HTML_STATE_COMMENT_START:
    case HTML_STATE_COMMENT_START_DASH:
    case HTML_STATE_COMMENT:
    case HTML_STATE_COMMENT_DASH:
    case HTML_STATE_COMMENT_END:
    case HTML_STATE_COMMENT_BANG:
        html_emit_comment(h);
        break;
    case HTML_STATE_TEXT:
    case HTML_STATE_RAW:
    case HTML_STATE_REF:
    case HTML_STATE_TAG_NAME:
    case HTML_STATE_BEFORE_NAME:
    case HTML_STATE_COUNT:
        break;
    }
    h->state = HTML_STATE_TEXT;
    h->is_raw = false;
}

bool html_met_limit(const struct html *h)
{
    return h->met_limit;
}
